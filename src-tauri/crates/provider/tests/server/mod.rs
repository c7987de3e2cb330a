//! A model server of raw bytes: each request takes the next reply, which is sent piece by piece, with pauses, and may be cut.

use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What is sent for one request. Unless said otherwise, the connection is closed at the end.
#[derive(Clone, Default)]
pub struct Reply {
    pieces: Vec<Piece>,
    chunked: bool,
    open: bool,
    reset: bool,
    hang_up_on_next: bool,
}

#[derive(Clone)]
enum Piece {
    Head(Vec<u8>),
    Body(Vec<u8>),
    Wait(u64),
}

impl Reply {
    /// Nothing at all.
    pub fn empty() -> Self {
        Self::default()
    }

    fn head(head: &str) -> Self {
        Self {
            pieces: vec![Piece::Head(format!("HTTP/1.1 {head}\r\n\r\n").into_bytes())],
            ..Self::default()
        }
    }

    /// An event stream that ends with the connection.
    pub fn stream() -> Self {
        Self::head("200 OK\r\nContent-Type: text/event-stream\r\nConnection: close")
    }

    /// An event stream in chunks, one for each piece.
    pub fn chunked() -> Self {
        let mut reply = Self::head("200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked");
        reply.chunked = true;
        reply
    }

    pub fn status(status: u16, headers: &[(&str, &str)], body: &str) -> Self {
        let headers: String = headers
            .iter()
            .map(|(name, value)| format!("\r\n{name}: {value}"))
            .collect();
        Self::head(&format!(
            "{status} Status\r\nContent-Length: {}\r\nConnection: close{headers}",
            body.len()
        ))
        .bytes(body)
    }

    /// A whole JSON body after which the connection stays open.
    pub fn kept_open(body: &str) -> Self {
        Self::head(&format!(
            "200 OK\r\nContent-Type: application/json\r\nContent-Length: {}",
            body.len()
        ))
        .bytes(body)
        .keep_open()
    }

    pub fn bytes(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.pieces.push(Piece::Body(bytes.as_ref().to_vec()));
        self
    }

    /// Milliseconds of silence.
    pub fn wait(mut self, millis: u64) -> Self {
        self.pieces.push(Piece::Wait(millis));
        self
    }

    pub fn keep_open(mut self) -> Self {
        self.open = true;
        self
    }

    /// The connection is closed after all, and the answer did not say so.
    pub fn then_close_unsaid(mut self) -> Self {
        self.open = false;
        self
    }

    /// The next request on this connection is read and not answered.
    pub fn then_hang_up_on_next(mut self) -> Self {
        self.hang_up_on_next = true;
        self
    }

    /// Ends without the end of the chunks.
    pub fn reset(mut self) -> Self {
        self.reset = true;
        self
    }
}

#[derive(Clone, Debug)]
pub struct Seen {
    pub line: String,
    head: String,
    pub body: String,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<String> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim().to_string())
        })
    }
}

#[derive(Default)]
struct Book {
    replies: std::collections::VecDeque<Reply>,
    seen: Vec<Seen>,
    connections: usize,
    hung_up: bool,
}

pub struct Server {
    port: u16,
    book: Arc<Mutex<Book>>,
}

impl Server {
    pub async fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let book = Arc::new(Mutex::new(Book {
            replies: replies.into(),
            ..Book::default()
        }));
        let server = Self {
            port: listener.local_addr().unwrap().port(),
            book: Arc::clone(&book),
        };
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                book.lock().unwrap().connections += 1;
                tokio::spawn(serve(socket, Arc::clone(&book)));
            }
        });
        server
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn requests(&self) -> Vec<Seen> {
        self.book.lock().unwrap().seen.clone()
    }

    pub fn connections(&self) -> usize {
        self.book.lock().unwrap().connections
    }

    /// Whether the client closed a connection while bytes were being sent.
    pub fn was_hung_up(&self) -> bool {
        self.book.lock().unwrap().hung_up
    }
}

async fn serve(mut socket: TcpStream, book: Arc<Mutex<Book>>) {
    let mut hang_up = false;
    while let Some(seen) = read_request(&mut socket).await {
        book.lock().unwrap().seen.push(seen);
        if hang_up {
            return;
        }
        let Some(reply) = book.lock().unwrap().replies.pop_front() else {
            return;
        };
        hang_up = reply.hang_up_on_next;
        if send(&mut socket, &reply).await.is_err() {
            book.lock().unwrap().hung_up = true;
            return;
        }
        if !reply.open {
            return;
        }
    }
}

async fn send(socket: &mut TcpStream, reply: &Reply) -> std::io::Result<()> {
    for piece in &reply.pieces {
        match piece {
            Piece::Head(bytes) => socket.write_all(bytes).await?,
            Piece::Body(bytes) if reply.chunked => {
                socket
                    .write_all(format!("{:x}\r\n", bytes.len()).as_bytes())
                    .await?;
                socket.write_all(bytes).await?;
                socket.write_all(b"\r\n").await?;
            }
            Piece::Body(bytes) => socket.write_all(bytes).await?,
            Piece::Wait(millis) => tokio::time::sleep(Duration::from_millis(*millis)).await,
        }
        socket.flush().await?;
    }
    if reply.chunked && !reply.reset {
        socket.write_all(b"0\r\n\r\n").await?;
    }
    Ok(())
}

async fn read_request(socket: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).ok()?;
    let mut seen = Seen {
        line: head.lines().next()?.to_string(),
        head,
        body: String::new(),
    };
    let length: usize = seen
        .header("content-length")
        .and_then(|length| length.parse().ok())
        .unwrap_or(0);
    while bytes.len() < head_end + 4 + length {
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    seen.body = String::from_utf8(bytes[head_end + 4..head_end + 4 + length].to_vec()).ok()?;
    Some(seen)
}
