//! Connections of a running command: asked for once per host, answered by the rules of the loop or by the person. Threads of the
//! sandbox wait here; the loop itself never does.

use super::input::Back;
use paddock_protocol::{Access, ApprovalBody, CallId, HostReach};
use paddock_sandbox::{AddressReach, Admission, HostGate, HostTarget};
use std::collections::HashMap;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::UnboundedSender;

pub struct CallGate {
    call: CallId,
    command: String,
    back: UnboundedSender<Back>,
    /// Questions that an earlier run of the same call asked: a late one must not meet the answer to another.
    before: u32,
    asked: Mutex<Asked>,
}

#[derive(Default)]
struct Asked {
    hosts: HashMap<Question, Answer>,
    /// Questions by their number, which begins with 1 after those before.
    numbers: Vec<Question>,
}

/// What an answer holds for: a name, or, apart from it, a name that turned out to lead to this machine or its network.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Question {
    host: String,
    reach: HostReach,
}

enum Answer {
    Given(bool),
    Awaited(Vec<SyncSender<bool>>),
}

impl CallGate {
    pub fn new(call: CallId, command: String, back: UnboundedSender<Back>, before: u32) -> Self {
        Self {
            call,
            command,
            back,
            before,
            asked: Mutex::default(),
        }
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn answer(&self, number: u32, allowed: bool) {
        let mut asked = self.asked();
        let place = number.checked_sub(self.before + 1).map(|place| place as usize);
        let Some(question) = place.and_then(|place| asked.numbers.get(place)).cloned() else {
            return;
        };
        let before = asked.hosts.insert(question, Answer::Given(allowed));
        tell(before, allowed);
    }

    /// Questions so far, with those before.
    pub fn count(&self) -> u32 {
        self.before + u32::try_from(self.asked().numbers.len()).unwrap_or(u32::MAX)
    }

    /// Nobody will answer any longer what waits now.
    pub fn refuse_waiting(&self) {
        let mut asked = self.asked();
        for answer in asked.hosts.values_mut() {
            if matches!(answer, Answer::Awaited(_)) {
                tell(Some(std::mem::replace(answer, Answer::Given(false))), false);
            }
        }
    }

    /// Waits for the answer, which an earlier connection may have got already.
    fn answer_to(&self, question: Question, port: u16, request: Option<&String>) -> Admission {
        let answered = {
            let mut asked = self.asked();
            // Room for one, so that an answer never waits for a thread that has gone.
            let (answer, answered) = sync_channel(1);
            match asked.hosts.get_mut(&question) {
                Some(Answer::Given(allowed)) => return admission(*allowed),
                Some(Answer::Awaited(waiting)) => waiting.push(answer),
                None => {
                    asked
                        .hosts
                        .insert(question.clone(), Answer::Awaited(vec![answer]));
                    asked.numbers.push(question.clone());
                    let number = self.before + u32::try_from(asked.numbers.len()).unwrap_or(u32::MAX);
                    self.ask(question, port, request.cloned(), number);
                }
            }
            answered
        };
        admission(answered.recv().unwrap_or(false))
    }

    fn ask(&self, question: Question, port: u16, request: Option<String>, number: u32) {
        let Question { host, reach } = question;
        let access = Access::Network { host: host.clone() };
        let body = ApprovalBody::Connect {
            host,
            port,
            reach,
            request,
            command: Some(self.command.clone()),
        };
        let _ = self.back.send(Back::CallAsks {
            call: self.call.clone(),
            number,
            access,
            body: Box::new(body),
        });
    }
}

fn tell(waiting: Option<Answer>, allowed: bool) {
    if let Some(Answer::Awaited(waiting)) = waiting {
        for one in waiting {
            let _ = one.send(allowed);
        }
    }
}

impl HostGate for CallGate {
    /// A look-up alone tells the name to others: it is asked for before.
    fn admit_name(&self, host: &str, port: u16) -> Admission {
        // Nothing is looked up for these; where they lead is asked for.
        if host == "localhost" || host.parse::<std::net::IpAddr>().is_ok() {
            return Admission::Allow;
        }
        let question = Question {
            host: host.to_owned(),
            reach: HostReach::Unknown,
        };
        self.answer_to(question, port, None)
    }

    /// A name that leads to this machine or its network is another thing than the one that was allowed.
    fn admit(&self, target: &HostTarget) -> Admission {
        let reach = match target.reach {
            AddressReach::Public if target.host.parse::<std::net::IpAddr>().is_ok() => HostReach::Public,
            AddressReach::Public => HostReach::Unknown,
            AddressReach::Private => HostReach::Private,
            AddressReach::Loopback => HostReach::Loopback,
        };
        let question = Question {
            host: target.host.clone(),
            reach,
        };
        self.answer_to(question, target.port, target.first_line.as_ref())
    }
}

fn admission(allowed: bool) -> Admission {
    if allowed {
        Admission::Allow
    } else {
        Admission::Refuse
    }
}

/// Refuses what waits when the call ends, however it ends.
pub struct OpenGate(pub std::sync::Arc<CallGate>);

impl Drop for OpenGate {
    fn drop(&mut self) {
        self.0.refuse_waiting();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tokio::sync::mpsc::unbounded_channel;

    fn target(host: &str, reach: AddressReach) -> HostTarget {
        HostTarget {
            host: host.to_owned(),
            port: 443,
            reach,
            first_line: None,
        }
    }

    #[test]
    fn a_host_is_asked_for_once_and_a_rebound_name_again() {
        let (back, mut heard) = unbounded_channel();
        let gate = Arc::new(CallGate::new(
            CallId::new("t1.i1.c1"),
            "curl x".to_owned(),
            back,
            0,
        ));
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let gate = gate.clone();
                std::thread::spawn(move || {
                    assert_eq!(gate.admit_name("x.example", 443), Admission::Allow);
                    gate.admit(&target("x.example", AddressReach::Public))
                })
            })
            .collect();
        let Some(Back::CallAsks { number, .. }) = heard.blocking_recv() else {
            panic!("not asked");
        };
        gate.answer(number, true);
        for thread in waiting {
            assert_eq!(thread.join().unwrap(), Admission::Allow);
        }
        assert_eq!(
            gate.admit(&target("x.example", AddressReach::Public)),
            Admission::Allow
        );
        assert!(heard.try_recv().is_err(), "asked once");
        let rebound = {
            let gate = gate.clone();
            std::thread::spawn(move || gate.admit(&target("x.example", AddressReach::Loopback)))
        };
        let Some(Back::CallAsks { number, body, .. }) = heard.blocking_recv() else {
            panic!("not asked");
        };
        assert_eq!(number, 2);
        assert!(matches!(
            *body,
            ApprovalBody::Connect {
                reach: HostReach::Loopback,
                ..
            }
        ));
        drop(OpenGate(gate));
        assert_eq!(rebound.join().unwrap(), Admission::Refuse);
    }
}
