//! An answer in a dialect while it streams: prose at once, calls as calls, nothing of a call as prose.

use super::lines::{Found, LineReader};
use super::read::ProseJoiner;
use super::scan::Glimpse;
use crate::ModelEvent;

/// Turns the text of an answer into events. What the answer means is decided by the complete text.
pub(crate) struct LiveText<'a> {
    reader: LineReader<'a>,
    prose: ProseJoiner,
    /// Calls that are complete.
    complete: u32,
    /// Calls that were announced since.
    announced: u32,
}

impl<'a> LiveText<'a> {
    /// `tools` are the names that may be called.
    pub fn new(tools: Vec<&'a str>) -> Self {
        Self {
            reader: LineReader::new(tools),
            prose: ProseJoiner::default(),
            complete: 0,
            announced: 0,
        }
    }

    /// Takes more text; `ended` says that nothing follows.
    pub fn push(&mut self, text: &str, ended: bool, events: &mut dyn FnMut(ModelEvent)) {
        for found in self.reader.push(text, ended) {
            match found {
                Found::Prose(text) => {
                    self.announced = 0;
                    if let Some(text) = self.prose.push(&text) {
                        events(ModelEvent::Text(text));
                    }
                }
                Found::Glimpse(Glimpse::Started(name)) => {
                    let slot = self.complete + self.announced;
                    self.announced += 1;
                    events(ModelEvent::CallStarted { slot, name });
                }
                Found::Glimpse(Glimpse::Arguments(text)) => {
                    let slot = (self.complete + self.announced).saturating_sub(1);
                    events(ModelEvent::CallArguments { slot, text });
                }
                Found::Call(_) | Found::Broken(_) => {
                    self.prose = ProseJoiner::default();
                    self.complete += 1;
                    self.announced = 0;
                }
            }
        }
    }
}
