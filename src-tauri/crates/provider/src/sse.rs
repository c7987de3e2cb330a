//! Server-sent events: bytes in, events out.
//!
//! The wall stands here so that framing is decided on bytes, before any text is decoded: line ends of all three kinds in
//! any mix, characters cut by a read, a byte order mark, comments, and a cap on the size of one event. Deliberately
//! absent: what an event means, reconnecting (a completion is never asked for twice on its own), timers.

/// Highest size of one event in bytes.
pub(crate) const EVENT_LIMIT: usize = 16 * 1024 * 1024;

/// One event with data. Events without data are not reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SseEvent {
    /// Value of the last `event:` line, empty when there was none.
    pub name: String,
    /// All `data:` lines, joined with line feeds.
    pub data: String,
}

/// An event grew above [`EVENT_LIMIT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("one event of the stream is larger than {} MiB", EVENT_LIMIT / (1024 * 1024))]
pub(crate) struct EventTooLarge;

/// Cuts a byte stream into events.
#[derive(Debug, Default)]
pub(crate) struct SseFramer {
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    /// The last byte was a carriage return: a line feed that follows belongs to it.
    after_return: bool,
    past_first_line: bool,
}

impl SseFramer {
    pub fn push(&mut self, mut bytes: &[u8], events: &mut Vec<SseEvent>) -> Result<(), EventTooLarge> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_return) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.line.extend_from_slice(bytes);
                return self.check_size();
            };
            self.line.extend_from_slice(&bytes[..end]);
            self.check_size()?;
            self.after_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            self.end_line(events);
        }
        Ok(())
    }

    /// The end of the stream: what was not followed by a blank line is reported too.
    pub fn finish(&mut self, events: &mut Vec<SseEvent>) {
        if !self.line.is_empty() {
            self.end_line(events);
        }
        self.end_event(events);
    }

    fn check_size(&self) -> Result<(), EventTooLarge> {
        if self.line.len() + self.event.data.len() > EVENT_LIMIT {
            return Err(EventTooLarge);
        }
        Ok(())
    }

    fn end_line(&mut self, events: &mut Vec<SseEvent>) {
        let bytes = std::mem::take(&mut self.line);
        let mut line = bytes.as_slice();
        if !std::mem::replace(&mut self.past_first_line, true) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            self.end_event(events);
        } else {
            self.field(line);
        }
        // The buffer keeps its size for the next line, unless it was an unusual one.
        if bytes.capacity() <= 64 * 1024 {
            self.line = bytes;
            self.line.clear();
        }
    }

    fn field(&mut self, line: &[u8]) {
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (name, rest) = line.split_at(colon);
        let value = rest.strip_prefix(b":").unwrap_or(rest);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.has_data = true;
                self.event.data.push_str(&String::from_utf8_lossy(value));
            }
            b"event" => self.event.name = String::from_utf8_lossy(value).into_owned(),
            _ => {}
        }
    }

    fn end_event(&mut self, events: &mut Vec<SseEvent>) {
        let event = std::mem::take(&mut self.event);
        self.has_data = false;
        if !event.data.trim().is_empty() {
            events.push(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events(pieces: &[&[u8]]) -> Vec<(String, String)> {
        let mut framer = SseFramer::default();
        let mut events = Vec::new();
        for piece in pieces {
            framer.push(piece, &mut events).unwrap();
        }
        framer.finish(&mut events);
        events.into_iter().map(|event| (event.name, event.data)).collect()
    }

    fn data(bytes: &[u8]) -> Vec<String> {
        events(&[bytes]).into_iter().map(|(_, data)| data).collect()
    }

    #[test]
    fn all_line_ends_in_any_mix_end_a_line() {
        for bytes in [
            &b"data: a\n\ndata: b\n\n"[..],
            b"data: a\r\n\r\ndata: b\r\n\r\n",
            b"data: a\r\rdata: b\r\r",
            b"data: a\r\n\ndata: b\n\r\n",
        ] {
            assert_eq!(data(bytes), ["a", "b"], "{:?}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn a_line_end_that_is_split_over_two_reads_is_one_line_end() {
        assert_eq!(
            events(&[b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n"])[0].1,
            "a\nb"
        );
    }

    #[test]
    fn a_character_that_is_split_over_two_reads_stays_whole() {
        let bytes = "data: für 🦊\n\n".as_bytes();
        for cut in 0..bytes.len() {
            assert_eq!(events(&[&bytes[..cut], &bytes[cut..]])[0].1, "für 🦊");
        }
    }

    #[test]
    fn comments_and_empty_data_are_no_events() {
        assert_eq!(
            data(b": ping\n\n:\n\ndata: \n\ndata\n\ndata: \"\"\n\n: OPENROUTER PROCESSING\n\ndata: x\n\n"),
            ["\"\"", "x"]
        );
    }

    #[test]
    fn data_lines_are_joined_and_the_space_is_optional() {
        assert_eq!(
            events(&[b"id: 7\nretry: 5\nevent: delta\ndata:{\"a\":\ndata:  1}\n\n"]),
            [("delta".to_string(), "{\"a\":\n 1}".to_string())]
        );
    }

    #[test]
    fn a_byte_order_mark_is_skipped_and_only_at_the_start() {
        assert_eq!(data(b"\xef\xbb\xbfdata: a\n\n"), ["a"]);
        assert_eq!(events(&[b"\xef", b"\xbb\xbfda", b"ta: a\n\n"])[0].1, "a");
        assert_eq!(data(b"data: \xef\xbb\xbfa\n\n"), ["\u{feff}a"]);
    }

    #[test]
    fn an_invalid_byte_spoils_its_own_line_only() {
        assert_eq!(data(b"data: a\xffb\n\ndata: c\n\n"), ["a\u{fffd}b", "c"]);
    }

    #[test]
    fn the_last_event_needs_no_blank_line() {
        assert_eq!(data(b"data: a\n\ndata: b"), ["a", "b"]);
        assert_eq!(data(b"data: a\r\n\r\ndata: b\r\n"), ["a", "b"]);
    }

    #[test]
    fn an_event_above_the_limit_is_an_error() {
        let mut framer = SseFramer::default();
        let mut events = Vec::new();
        let mebibyte = vec![b'x'; 1024 * 1024];
        framer.push(b"data: ", &mut events).unwrap();
        let mut pushed = 0;
        let result = loop {
            match framer.push(&mebibyte, &mut events) {
                Ok(()) => pushed += 1,
                error => break error,
            }
        };
        assert_eq!(result, Err(EventTooLarge));
        assert_eq!(pushed, 15);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

        #[test]
        fn any_split_gives_the_same_events(
            pieces in proptest::collection::vec(proptest::sample::select(vec![
                &b"\r"[..], b"\n", b"\r\n", b"data", b":", b" ", b"data: {\"a\":1}", b"event: x", b"\xef\xbb\xbf", b"\xff",
                "🦊".as_bytes(), b": ping", b"id: 1", b"data:",
            ]), 0..40),
            cuts in proptest::collection::vec(0usize..200, 0..12),
        ) {
            let whole: Vec<u8> = pieces.concat();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(whole.len())).collect();
            cuts.sort_unstable();
            let mut split = Vec::new();
            let mut from = 0;
            for cut in cuts {
                split.push(&whole[from..cut]);
                from = cut;
            }
            split.push(&whole[from..]);
            prop_assert_eq!(events(&split), events(&[&whole]));
        }
    }
}
