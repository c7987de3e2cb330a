//! An HTTP proxy: `CONNECT`, and requests with whole addresses passed on. It knows where the hosts of a test really are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

#[derive(Clone, Default)]
pub struct Rules {
    /// Host and port, and the port on this machine that it stands for.
    pub hosts: HashMap<String, u16>,
    /// The only accepted `Proxy-Authorization`.
    pub login: Option<String>,
    /// What a 407 offers.
    pub offers: &'static str,
    /// Sent instead of doing what is asked.
    pub refusal: Option<&'static str>,
}

pub struct HttpProxy {
    pub port: u16,
    heads: Arc<Mutex<Vec<String>>>,
}

impl HttpProxy {
    pub async fn start(rules: Rules) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = Self {
            port: listener.local_addr().unwrap().port(),
            heads: Arc::default(),
        };
        let heads = Arc::clone(&proxy.heads);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, rules.clone(), Arc::clone(&heads)));
            }
        });
        proxy
    }

    /// Passes requests to `host` (with its port) on to a port of this machine.
    pub async fn to(host: &str, port: u16) -> Self {
        Self::start(Rules::to(host, port)).await
    }

    /// The heads of all requests, as they came.
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Rules {
    pub fn to(host: &str, port: u16) -> Self {
        Self {
            hosts: HashMap::from([(host.to_string(), port)]),
            ..Self::default()
        }
    }
}

async fn serve(mut client: TcpStream, rules: Rules, heads: Arc<Mutex<Vec<String>>>) -> Option<()> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.push(client.read_u8().await.ok()?);
    }
    let head = String::from_utf8(bytes).unwrap();
    heads.lock().unwrap().push(head.clone());
    if let Some(refusal) = rules.refusal {
        return client.write_all(refusal.as_bytes()).await.ok();
    }
    if let Some(login) = &rules.login
        && !head.contains(&format!("proxy-authorization: {login}\r\n"))
    {
        let answer = format!(
            "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            rules.offers
        );
        return client.write_all(answer.as_bytes()).await.ok();
    }
    let mut words = head.split(' ');
    let (method, address) = (words.next()?, words.next()?);
    let host = match method {
        "CONNECT" => address.to_string(),
        _ => address.strip_prefix("http://")?.split('/').next()?.to_string(),
    };
    let Some(port) = rules.hosts.get(&host) else {
        return client
            .write_all(b"HTTP/1.1 502 Host unknown\r\nContent-Length: 0\r\n\r\n")
            .await
            .ok();
    };
    let mut server = TcpStream::connect(("127.0.0.1", *port)).await.ok()?;
    if method == "CONNECT" {
        client
            .write_all(b"HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n")
            .await
            .ok()?;
    } else {
        let own = head.replacen(&format!("http://{host}"), "", 1);
        server.write_all(own.as_bytes()).await.ok()?;
    }
    copy_bidirectional(&mut client, &mut server)
        .await
        .ok()
        .map(|_| ())
}
