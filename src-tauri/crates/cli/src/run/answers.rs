//! What is answered to an approval or a question, by the mode of --approve.

use super::wish::Approve;
use paddock_protocol::*;

/// What to do about something that waits.
pub enum Answer {
    Decide(Decision),
    AskPerson,
    /// Nobody can be asked here.
    Nobody,
}

#[derive(Clone, Copy)]
pub struct Answers {
    mode: Approve,
    has_person: bool,
}

impl Answers {
    /// `may_prompt`: standard output is for people.
    pub fn new(mode: Approve, may_prompt: bool) -> Self {
        Self {
            mode,
            has_person: may_prompt && super::has_person(),
        }
    }

    pub fn has_person(self) -> bool {
        self.has_person
    }

    pub fn to_approval(self, request: &ApprovalRequest) -> Answer {
        let approve = Decision::approve(AnswerScope::Once);
        let reject = Decision::Reject {
            reason: Some(format!(
                "not allowed in this run (--approve {})",
                self.mode.word()
            )),
            pause: false,
        };
        match self.mode {
            Approve::Ask if self.has_person => Answer::AskPerson,
            Approve::Ask => Answer::Nobody,
            Approve::All => Answer::Decide(approve),
            Approve::Edits if is_edit(&request.classes) => Answer::Decide(approve),
            Approve::Edits | Approve::Reads | Approve::Never => Answer::Decide(reject),
        }
    }

    /// Without a person a question is skipped, unless the mode says to ask.
    pub fn to_question(self) -> Option<Answer> {
        match self.mode {
            _ if self.has_person => Some(Answer::AskPerson),
            Approve::Ask => Some(Answer::Nobody),
            _ => None,
        }
    }
}

/// Whether the strictest that a call does is to change files.
fn is_edit(classes: &[RiskClass]) -> bool {
    classes.iter().max() <= Some(&RiskClass::Write) && !classes.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_beside_anything_stricter_is_no_edit() {
        assert!(is_edit(&[RiskClass::Write]));
        assert!(is_edit(&[RiskClass::Read, RiskClass::Write]));
        assert!(!is_edit(&[RiskClass::Write, RiskClass::Command]));
        assert!(!is_edit(&[RiskClass::Write, RiskClass::Protected]));
        assert!(!is_edit(&[RiskClass::Delete]));
        assert!(!is_edit(&[]));
    }
}
