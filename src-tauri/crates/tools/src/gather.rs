//! Output of a command while it comes: the beginning for the model, and always the end, because that is what counts of a
//! process that runs for hours.

use crate::terminal::Decoder;
use paddock_sandbox::OutputChunk;
use tokio::sync::mpsc;

/// Bytes of the beginning that are kept.
const MAX_FIRST: usize = 16 * 1024 * 1024;
/// Bytes of the end that are kept.
const MAX_LAST: usize = 256 * 1024;

/// The output of one command as text, in the pieces in which it comes.
pub(crate) struct Source {
    chunks: mpsc::Receiver<OutputChunk>,
    decoder: Option<Decoder>,
}

impl Source {
    pub(crate) fn new(chunks: mpsc::Receiver<OutputChunk>) -> Self {
        Self {
            chunks,
            decoder: Some(Decoder::default()),
        }
    }

    /// The next text; `None` when the command has closed its output. Dropping the returned future loses nothing.
    pub(crate) async fn next(&mut self) -> Option<String> {
        let Some(chunk) = self.chunks.recv().await else {
            return Some(self.decoder.take()?.finish());
        };
        let mut bytes = chunk.bytes;
        while let Ok(more) = self.chunks.try_recv() {
            bytes.extend_from_slice(&more.bytes);
        }
        Some(self.decoder.as_mut()?.push(&bytes))
    }
}

/// What a command wrote so far.
#[derive(Default)]
pub(crate) struct Gathered {
    first: String,
    /// Bytes after the beginning that is kept.
    beyond: u64,
    tail: Tail,
}

impl Gathered {
    pub(crate) fn push(&mut self, text: &str) {
        let room = if self.beyond > 0 {
            0
        } else {
            MAX_FIRST - self.first.len()
        };
        let taken = text.floor_char_boundary(room);
        self.first.push_str(&text[..taken]);
        self.beyond += (text.len() - taken) as u64;
        self.tail.push(text);
    }

    /// The beginning, as far as it is kept.
    pub(crate) fn first(&self) -> &str {
        &self.first
    }

    /// Bytes that came after the beginning that is kept.
    pub(crate) fn beyond(&self) -> u64 {
        self.beyond
    }

    pub(crate) fn into_tail(self) -> Tail {
        self.tail
    }
}

/// The end of a text that grows.
#[derive(Clone, Default)]
pub(crate) struct Tail {
    text: String,
    dropped: u64,
}

impl Tail {
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        if self.text.len() > 2 * MAX_LAST {
            let cut = self.cut();
            self.text.drain(..cut);
            self.dropped += cut as u64;
        }
    }

    /// Text that begins on a line of its own.
    pub(crate) fn push_line(&mut self, text: &str) {
        if !text.is_empty() && !self.text.is_empty() && !self.text.ends_with('\n') {
            self.push("\n");
        }
        self.push(text);
    }

    /// What is kept, at most 256 KiB of whole lines where there are lines, and the bytes that were before it.
    pub(crate) fn kept(&self) -> (String, u64) {
        let cut = self.cut();
        (self.text[cut..].to_owned(), self.dropped + cut as u64)
    }

    fn cut(&self) -> usize {
        let Some(over) = self.text.len().checked_sub(MAX_LAST).filter(|over| *over > 0) else {
            return 0;
        };
        let at = self.text.ceil_char_boundary(over);
        let next_line = self.text[at..].find('\n').map(|end| at + end + 1);
        next_line.filter(|start| *start < self.text.len()).unwrap_or(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_keeps_the_end_in_whole_lines() {
        let mut tail = Tail::default();
        let mut all = String::new();
        for number in 0..100_000 {
            let line = format!("line {number} é\n");
            tail.push(&line);
            all.push_str(&line);
        }
        let (kept, dropped) = tail.kept();
        assert!(kept.len() <= MAX_LAST && kept.len() > MAX_LAST - 40);
        assert!(kept.starts_with("line ") && all.ends_with(&kept));
        assert_eq!(dropped as usize + kept.len(), all.len());
        let mut one_line = Tail::default();
        one_line.push(&"é".repeat(MAX_LAST));
        assert_eq!(one_line.kept(), ("é".repeat(MAX_LAST / 2), MAX_LAST as u64));
    }

    #[test]
    fn the_beginning_is_bounded_and_the_end_stays() {
        let mut gathered = Gathered::default();
        let piece = format!("{}é\n", "x".repeat(998));
        let pieces = MAX_FIRST / piece.len() + 10;
        (0..pieces).for_each(|_| gathered.push(&piece));
        gathered.push("end\n");
        let all = (pieces * piece.len() + 4) as u64;
        let first = gathered.first().len();
        assert!(first <= MAX_FIRST && first > MAX_FIRST - 4);
        assert_eq!(first as u64 + gathered.beyond(), all);
        assert!(gathered.into_tail().kept().0.ends_with("é\nend\n"));
    }

    #[tokio::test]
    async fn characters_that_come_in_two_pieces_are_whole() {
        let (sender, chunks) = mpsc::channel(4);
        let mut source = Source::new(chunks);
        let feed = tokio::spawn(async move {
            for bytes in [
                "é日".as_bytes()[..3].to_vec(),
                "é日".as_bytes()[3..].to_vec(),
                vec![0xe6],
            ] {
                let stream = paddock_sandbox::Stream::Stdout;
                sender.send(OutputChunk { stream, bytes }).await.unwrap();
            }
        });
        let mut text = String::new();
        while let Some(more) = source.next().await {
            text.push_str(&more);
        }
        feed.await.unwrap();
        assert_eq!(text, "é日\u{fffd}");
        assert_eq!(source.next().await, None);
    }
}
