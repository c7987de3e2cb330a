//! Logs written event by event.

use paddock_protocol::*;
use paddock_store::{Durability, Home, LogWriter};

pub struct Desk {
    _place: tempfile::TempDir,
    pub home: Home,
}

impl Desk {
    pub fn new() -> Desk {
        let place = tempfile::tempdir().unwrap();
        let home = Home::open(Some(place.path().join("home"))).unwrap();
        Desk { _place: place, home }
    }

    /// Appends to the log of the events' session, which is begun when there is none.
    pub fn write(&self, events: &[Event]) {
        let Some(first) = events.first() else { return };
        let mut log = match LogWriter::open(&self.home, &first.session) {
            Ok((log, _)) => log,
            Err(_) => LogWriter::create(&self.home, &first.session).unwrap(),
        };
        for event in events {
            log.append(event, Durability::Written).unwrap();
        }
    }

    pub fn metrics(&self, query: &MetricsQuery, now: u64) -> Metrics {
        paddock_store::index::metrics(&self.home, query, Timestamp(now)).unwrap()
    }

    pub fn decisions(&self, query: &MetricsQuery, now: u64) -> Vec<DecisionLine> {
        paddock_store::index::decisions(&self.home, query, 10_000, Timestamp(now)).unwrap()
    }

    pub fn index(&self) -> std::path::PathBuf {
        self.home.path().join("index.sqlite")
    }
}

pub fn config(project: &str, model: &str, parent: Option<(&str, &str)>) -> SessionConfig {
    SessionConfig {
        done_when: None,
        project: project.into(),
        title: String::new(),
        model: ModelChoice {
            provider: ProviderId::new("local"),
            model: model.into(),
        },
        role: Role::Act,
        autonomy: Autonomy::Careful,
        limits: Limits::default(),
        format: CallFormat::Native,
        own_role: None,
        fallback: None,
        parent: parent.map(|(session, call)| ParentCall {
            session: SessionId::new(session),
            call: CallId::new(call),
        }),
        demo: false,
        budget: Budget::default(),
        facts: ModelFacts::default(),
        small: None,
    }
}

/// One session's events in the making.
pub struct Log {
    pub session: SessionId,
    pub events: Vec<Event>,
    pub now: u64,
    pub turn: u32,
    pub iteration: u32,
    items: u32,
}

impl Log {
    pub fn begin(session: &str, at: u64, config: SessionConfig) -> Log {
        let mut log = Log {
            session: SessionId::new(session),
            events: Vec::new(),
            now: at,
            turn: 0,
            iteration: 0,
            items: 0,
        };
        log.push(EventMsg::SessionCreated {
            version: PROTOCOL_VERSION,
            config,
        });
        log
    }

    pub fn push(&mut self, msg: EventMsg) {
        self.events.push(Event {
            session: self.session.clone(),
            seq: self.events.len() as u64 + 1,
            at: Timestamp(self.now),
            msg,
        });
    }

    pub fn turn(&mut self, without_model: bool) {
        self.turn += 1;
        self.iteration = 0;
        self.push(EventMsg::TurnStarted {
            turn: TurnId(self.turn),
            iteration_limit: 25,
            without_model,
        });
    }

    pub fn status(&mut self, status: TurnStatus) {
        self.push(EventMsg::TurnChanged {
            turn: TurnId(self.turn),
            status,
        });
    }

    pub fn request(&mut self, iteration: u32, attempt: u32) {
        self.iteration = iteration;
        self.push(EventMsg::IterationStarted {
            turn: TurnId(self.turn),
            iteration,
            attempt,
            limit: 25,
            finishing: false,
            estimate: None,
        });
    }

    pub fn answered(&mut self, usage: Usage) {
        self.push(EventMsg::IterationAnswered {
            turn: TurnId(self.turn),
            iteration: self.iteration,
            usage,
            finish: FinishReason::Calls,
            first_byte: Millis(5),
            order: Vec::new(),
        });
    }

    pub fn item(&mut self, kind: ItemKind) -> ItemId {
        let id = ItemId(self.items);
        self.items += 1;
        self.put(id, ItemStatus::Done, kind);
        id
    }

    pub fn new_item(&mut self) -> ItemId {
        self.items += 1;
        ItemId(self.items - 1)
    }

    pub fn put(&mut self, id: ItemId, status: ItemStatus, kind: ItemKind) {
        let item = Item {
            id,
            turn: TurnId(self.turn),
            iteration: self.iteration,
            started: Timestamp(self.now),
            ended: None,
            status,
            kind,
        };
        self.push(if status.is_final() {
            EventMsg::ItemCompleted { item }
        } else {
            EventMsg::ItemUpdated { item }
        });
    }

    pub fn end(&mut self, end: TurnEnd, active: u64, waiting: u64) {
        let report = TurnReport {
            end,
            iterations: self.iteration,
            calls: 0,
            files_changed: 0,
            active: Millis(active),
            waiting: Millis(waiting),
            usage: Usage::default(),
        };
        self.item(ItemKind::TurnSummary { report });
        self.push(EventMsg::TurnEnded {
            turn: TurnId(self.turn),
            end,
        });
        self.status(match end {
            TurnEnd::Completed => TurnStatus::Completed,
            TurnEnd::Stopped => TurnStatus::Stopped,
            TurnEnd::Failed => TurnStatus::Failed,
        });
    }

    pub fn call(&self, number: u32, tool: &str) -> CallItem {
        CallItem {
            again: None,
            check: None,
            call: TurnId(self.turn).call(self.iteration, number),
            server_id: String::new(),
            tool: tool.into(),
            arguments: "{}".into(),
            verb: Verb::Use,
            target: format!("target of {tool}"),
            classes: vec![RiskClass::Write],
            verdict: None,
            began: None,
            after: None,
            overdue: false,
            terminate: false,
            sub_agent: None,
            output: None,
        }
    }

    pub fn ask(&mut self, call: &CallItem, number: u32) -> ApprovalId {
        let id = call.call.approval(number);
        let approval = ApprovalRequest {
            again: None,
            ask: None,
            id: id.clone(),
            call: call.call.clone(),
            item: ItemId(0),
            turn: TurnId(self.turn),
            iteration: self.iteration,
            requested: Timestamp(self.now),
            tool: call.tool.clone(),
            arguments: "{}".into(),
            verb: call.verb,
            target: call.target.clone(),
            access: Vec::new(),
            classes: call.classes.clone(),
            body: ApprovalBody::Other,
            agent_words: None,
            undo: UndoFact::Nothing,
            trace: trace("Autonomy Careful", "asks for every change"),
            scopes: vec![AnswerScope::Once],
            rule: None,
            remembered_as: None,
            renewed: false,
            from_before_restart: false,
            origin: None,
        };
        self.push(EventMsg::ApprovalRequested {
            approval: Box::new(approval),
        });
        id
    }

    pub fn resolve(&mut self, approval: &ApprovalId, outcome: ApprovalOutcome) {
        self.push(EventMsg::ApprovalResolved {
            approval: approval.clone(),
            outcome,
        });
    }

    pub fn decide(&mut self, approval: &ApprovalId, decision: Decision) {
        let by = DecidedBy::Person;
        self.resolve(approval, ApprovalOutcome::Decided { decision, by });
    }
}

pub fn trace(about: &str, says: &str) -> Vec<TraceLine> {
    vec![TraceLine {
        about: about.into(),
        says: says.into(),
        decides: true,
    }]
}

pub fn verdict(by: DecidedBy, allowed: bool) -> Option<CallVerdict> {
    let trace = match &by {
        DecidedBy::Rule { .. } => trace("Rule npm test", "allows"),
        _ => trace("Autonomy Careful", "no question"),
    };
    Some(CallVerdict {
        reach: Vec::new(),
        by,
        allowed,
        reason: None,
        edited_arguments: None,
        left_out: Vec::new(),
        scope: None,
        trace,
    })
}

pub fn output(ok: bool, duration: u64, text: &str) -> Option<CallOutput> {
    Some(CallOutput {
        ok,
        text: text.into(),
        duration: Millis(duration),
        ..CallOutput::default()
    })
}

pub fn usage(input: u32, cached: u32, output: u32) -> Usage {
    Usage {
        input,
        cached,
        output,
        ..Usage::default()
    }
}

pub fn approve(edited: Option<&str>) -> Decision {
    Decision::Approve {
        rule: None,
        scope: AnswerScope::Once,
        edited_arguments: edited.map(str::to_owned),
        left_out: Vec::new(),
    }
}

pub fn reject(reason: Option<&str>) -> Decision {
    Decision::Reject {
        reason: reason.map(str::to_owned),
        pause: false,
    }
}
