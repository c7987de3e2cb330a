//! What the person is told while they look elsewhere: which things wait or have ended, when a notice is raised, when
//! several become one, when one is taken back. Pure: time, events and sight come in, steps go out; the shell shows them.

mod watch;
mod words;

pub use watch::{Attention, Looks, attention, watch};
pub use words::escape_markup;

use paddock_protocol::*;
use std::collections::HashMap;
use std::path::Path;

/// A thing that waits is told after this long without being seen.
const PATIENCE: Millis = Millis::seconds(3);
/// And once more after this long.
const REPEAT: Millis = Millis::minutes(10);
/// Notices of one project within this time become one.
const TOGETHER: Millis = Millis::seconds(5);
/// A turn shorter than this ends without a notice.
const LONG_TURN: Millis = Millis::seconds(20);

/// What the person can see at this moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// The window has the focus.
    pub focused: bool,
    /// The sessions it shows; one may be there twice.
    pub sessions: Vec<SessionId>,
}

impl Sight {
    fn sees(&self, session: &SessionId) -> bool {
        self.focused && self.sessions.contains(session)
    }
}

/// Names one raised notice; never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NoticeId(pub u64);

/// One notice as it is shown. Its texts are plain, without line breaks and hidden characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub id: NoticeId,
    pub headline: String,
    pub body: String,
    /// Nothing waits for the person.
    pub low: bool,
    /// Where a click leads.
    pub session: SessionId,
    pub item: Option<ItemId>,
}

/// What the shell has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoticeStep {
    Raise(Notice),
    /// Take a raised notice back; it may be gone already.
    Withdraw(NoticeId),
    /// So many things wait for the person now.
    Waiting(u32),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Key {
    Approval(ApprovalId),
    /// The state of the turn itself: a question, a pause, its end.
    Turn(TurnId),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Approval(RiskClass),
    Question,
    /// A command passed its time limit and still runs.
    Overdue,
    Paused(Pause),
    /// Waits, and the person knows it: they paused, or the program was started again.
    Known,
    Done,
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pause {
    Limit,
    Guard,
    Breaker,
    Check,
    Model,
}

impl Kind {
    fn waits(&self) -> bool {
        !matches!(self, Kind::Done | Kind::Failed)
    }

    fn patience(&self) -> Millis {
        match self {
            Kind::Approval(_) | Kind::Question | Kind::Overdue => PATIENCE,
            _ => Millis(0),
        }
    }

    fn is_wanted(&self, settings: NotificationSettings) -> bool {
        match self {
            Kind::Approval(_) | Kind::Question | Kind::Overdue | Kind::Paused(_) => settings.waiting,
            Kind::Done => settings.done,
            Kind::Failed => settings.failed,
            Kind::Known => false,
        }
    }
}

/// One thing that waits or has ended.
#[derive(Clone, Debug)]
struct Thing {
    key: Key,
    kind: Kind,
    item: Option<ItemId>,
    /// The command, path or question; shown only with details.
    detail: String,
    /// When it will be told, unless it is seen before.
    due: Option<Timestamp>,
    /// When it was told for the first time.
    told: Option<Timestamp>,
    times: u32,
}

#[derive(Debug, Default)]
struct Watched {
    seq: u64,
    project: String,
    title: String,
    turn_started: Option<Timestamp>,
    newest: Option<ItemId>,
    question: Option<(ItemId, String)>,
    overdue: Option<(ItemId, String)>,
    things: Vec<Thing>,
}

/// A notice on the screen, with what it is about.
#[derive(Debug)]
struct Shown {
    id: NoticeId,
    project: String,
    at: Timestamp,
    about: Vec<(SessionId, Key)>,
}

/// All things of all open sessions.
#[derive(Debug, Default)]
pub struct Notices {
    sessions: HashMap<SessionId, Watched>,
    sight: Sight,
    shown: Vec<Shown>,
    last_id: u64,
    told_waiting: u32,
}

impl Notices {
    pub fn knows(&self, session: &SessionId) -> bool {
        self.sessions.contains_key(session)
    }

    pub fn known(&self) -> Vec<SessionId> {
        self.sessions.keys().cloned().collect()
    }

    /// Takes a session as it is now; what was told already is not told again.
    pub fn meet(&mut self, snapshot: &SessionSnapshot, now: Timestamp) {
        let seen = self.sight.sees(&snapshot.session);
        let watched = self.sessions.entry(snapshot.session.clone()).or_default();
        watched.seq = snapshot.seq;
        watched.configure(&snapshot.config);
        for item in &snapshot.items {
            watched.item(item);
        }
        watched.turn_started = snapshot.turn.as_ref().map(|turn| turn.started);
        let before = std::mem::take(&mut watched.things);
        for approval in &snapshot.approvals {
            watched.approval(approval, now, seen);
        }
        if let Some(turn) = &snapshot.turn {
            watched.status(turn.turn, &turn.status, now, seen);
        }
        for thing in before {
            match watched.things.iter_mut().find(|new| new.key == thing.key) {
                Some(new) => *new = thing,
                None if !thing.kind.waits() => watched.things.push(thing),
                None => {}
            }
        }
    }

    /// Takes the next durable event of a session that was met.
    pub fn hear(&mut self, event: &Event) {
        let seen = self.sight.sees(&event.session);
        if let Some(watched) = self.sessions.get_mut(&event.session)
            && event.seq > watched.seq
        {
            watched.seq = event.seq;
            watched.hear(event, seen);
        }
    }

    /// The session is gone.
    pub fn forget(&mut self, session: &SessionId) {
        self.sessions.remove(session);
    }

    /// The person looks at something else now. What ended and is seen needs no notice; what waits and is seen is
    /// told again only when they look away.
    pub fn look(&mut self, sight: Sight, now: Timestamp) {
        for (id, watched) in &mut self.sessions {
            let (before, after) = (self.sight.sees(id), sight.sees(id));
            if after {
                watched.things.retain(|thing| thing.kind.waits());
            }
            for thing in &mut watched.things {
                if after {
                    thing.due = None;
                } else if before {
                    thing.due = thing.next_due(now.plus(PATIENCE));
                }
            }
        }
        self.sight = sight;
    }

    /// What waits for the person in all sessions.
    pub fn waiting(&self) -> u32 {
        let waiting = self.sessions.values().flat_map(|watched| &watched.things);
        u32::try_from(waiting.filter(|thing| thing.kind.waits()).count()).unwrap_or(u32::MAX)
    }

    /// The next moment at which [`Notices::act`] has something to do by itself.
    pub fn due(&self) -> Option<Timestamp> {
        let things = self.sessions.values().flat_map(|watched| &watched.things);
        things.filter_map(|thing| thing.due).min()
    }

    /// What is to be raised and taken back by now.
    pub fn act(&mut self, now: Timestamp, settings: NotificationSettings) -> Vec<NoticeStep> {
        let mut steps = self.withdraw_settled();
        let mut due: Vec<(String, SessionId, Key)> = Vec::new();
        for (id, watched) in &mut self.sessions {
            for thing in &mut watched.things {
                if thing.due.is_none_or(|due| due > now) {
                    continue;
                }
                thing.due = None;
                if thing.kind.is_wanted(settings) {
                    thing.times += 1;
                    thing.told.get_or_insert(now);
                    thing.due = thing.next_due(now);
                    due.push((watched.project.clone(), id.clone(), thing.key.clone()));
                }
            }
        }
        due.sort_by(|a, b| (&a.0, a.1.as_str()).cmp(&(&b.0, b.1.as_str())));
        for same_project in due.chunk_by(|a, b| a.0 == b.0) {
            let new = same_project.iter().map(|(_, id, key)| (id.clone(), key.clone()));
            self.raise(&same_project[0].0, new.collect(), now, settings, &mut steps);
        }
        let waiting = self.waiting();
        if waiting != self.told_waiting {
            self.told_waiting = waiting;
            steps.push(NoticeStep::Waiting(waiting));
        }
        steps
    }

    fn withdraw_settled(&mut self) -> Vec<NoticeStep> {
        let (sessions, mut steps) = (&self.sessions, Vec::new());
        self.shown.retain_mut(|shown| {
            shown.about.retain(|(id, key)| {
                let watched = sessions.get(id);
                watched.is_some_and(|watched| watched.things.iter().any(|thing| thing.key == *key))
            });
            if shown.about.is_empty() {
                steps.push(NoticeStep::Withdraw(shown.id));
            }
            !shown.about.is_empty()
        });
        steps
    }

    /// One notice for all of `about`, together with what was told of the same project just before.
    fn raise(
        &mut self,
        project: &str,
        new: Vec<(SessionId, Key)>,
        now: Timestamp,
        settings: NotificationSettings,
        steps: &mut Vec<NoticeStep>,
    ) {
        let mut about = Vec::new();
        self.shown.retain_mut(|shown| {
            shown.about.retain(|entry| !new.contains(entry));
            let joins = shown.project == project && now.since(shown.at) < TOGETHER;
            if joins {
                about.append(&mut shown.about);
            }
            if shown.about.is_empty() {
                steps.push(NoticeStep::Withdraw(shown.id));
            }
            !shown.about.is_empty()
        });
        about.extend(new);
        let things: Vec<_> = about
            .iter()
            .filter_map(|(id, key)| {
                let watched = self.sessions.get(id)?;
                let thing = watched.things.iter().find(|thing| thing.key == *key)?;
                Some((id, watched, thing))
            })
            .collect();
        let Some((session, _, first)) = things.first() else {
            return;
        };
        let told: Vec<_> = things
            .iter()
            .map(|(_, watched, thing)| (*watched, *thing))
            .collect();
        let (headline, body) = words::texts(project, &told, settings.details);
        self.last_id += 1;
        let id = NoticeId(self.last_id);
        steps.push(NoticeStep::Raise(Notice {
            id,
            headline,
            body,
            low: !told.iter().any(|(_, thing)| thing.kind.waits()),
            session: (*session).clone(),
            item: first.item,
        }));
        self.shown.push(Shown {
            id,
            project: project.to_owned(),
            at: now,
            about,
        });
    }
}

impl Thing {
    /// When it will be told next, at `soonest` if it never was; at most twice, and only what waits is told twice.
    fn next_due(&self, soonest: Timestamp) -> Option<Timestamp> {
        match (self.told, self.times) {
            (None, _) => Some(soonest),
            (Some(first), 1) if self.kind.waits() => Some(first.plus(REPEAT).max(soonest)),
            _ => None,
        }
    }
}

impl Watched {
    fn hear(&mut self, event: &Event, seen: bool) {
        let at = event.at;
        match &event.msg {
            EventMsg::SessionChanged { config } => self.configure(config),
            EventMsg::TurnStarted { .. } => {
                self.turn_started = Some(at);
                self.things.clear();
            }
            EventMsg::TurnChanged { turn, status } => self.status(*turn, status, at, seen),
            EventMsg::TurnEnded { turn, end } => {
                let long = self.turn_started.is_some_and(|start| at.since(start) > LONG_TURN);
                match end {
                    TurnEnd::Completed if long => self.ended(*turn, Kind::Done, at, seen),
                    TurnEnd::Failed => self.ended(*turn, Kind::Failed, at, seen),
                    _ => {}
                }
            }
            EventMsg::ItemStarted { item }
            | EventMsg::ItemUpdated { item }
            | EventMsg::ItemCompleted { item } => self.item(item),
            EventMsg::ApprovalRequested { approval } => self.approval(approval, at, seen),
            EventMsg::ApprovalResolved { approval, .. } => {
                self.things
                    .retain(|thing| thing.key != Key::Approval(approval.clone()));
            }
            _ => {}
        }
    }

    fn configure(&mut self, config: &SessionConfig) {
        let name = Path::new(&config.project).file_name().unwrap_or_default();
        self.project = words::plain(&name.to_string_lossy());
        self.title = words::plain(&config.title);
    }

    fn item(&mut self, item: &Item) {
        self.newest = self.newest.max(Some(item.id));
        if let ItemKind::Call(call) = &item.kind {
            if call.overdue && item.status == ItemStatus::Running {
                self.overdue = Some((item.id, call.target.clone()));
            } else {
                self.overdue.take_if(|(overdue, _)| *overdue == item.id);
            }
        }
        if let ItemKind::Call(call) = &item.kind
            && call.verb == Verb::Ask
            && !item.status.is_final()
        {
            self.question = Some((item.id, call.target.clone()));
        }
    }

    fn approval(&mut self, approval: &ApprovalRequest, at: Timestamp, seen: bool) {
        let class = approval.classes.last().copied().unwrap_or(RiskClass::External);
        let (key, item) = (Key::Approval(approval.id.clone()), Some(approval.item));
        self.add(key, Kind::Approval(class), item, &approval.target, at, seen);
    }

    /// A turn waits in at most one way besides its approvals; any other state of it settles what was before.
    fn status(&mut self, turn: TurnId, status: &TurnStatus, at: Timestamp, seen: bool) {
        self.things
            .retain(|thing| !(thing.kind.waits() && matches!(thing.key, Key::Turn(_))));
        let pause = |pause| (Kind::Paused(pause), self.newest, String::new());
        let (kind, item, detail) = match status {
            TurnStatus::WaitingForAnswer => match (self.overdue.clone(), self.question.clone()) {
                (Some((item, command)), _) => (Kind::Overdue, Some(item), command),
                (None, Some((item, text))) => (Kind::Question, Some(item), text),
                (None, None) => (Kind::Question, self.newest, String::new()),
            },
            TurnStatus::Paused { cause } => match cause {
                PauseCause::Limits { .. } | PauseCause::Expensive { .. } => pause(Pause::Limit),
                PauseCause::Guard { .. } => pause(Pause::Guard),
                PauseCause::Breaker { .. } => pause(Pause::Breaker),
                PauseCause::Check { .. } => pause(Pause::Check),
                PauseCause::Model { .. } => pause(Pause::Model),
                PauseCause::Person => (Kind::Known, None, String::new()),
            },
            TurnStatus::Interrupted => (Kind::Known, None, String::new()),
            _ => return,
        };
        self.add(Key::Turn(turn), kind, item, &detail, at, seen);
    }

    fn ended(&mut self, turn: TurnId, kind: Kind, at: Timestamp, seen: bool) {
        if !seen {
            self.things.retain(|thing| thing.key != Key::Turn(turn));
            self.add(Key::Turn(turn), kind, self.newest, "", at, seen);
        }
    }

    fn add(&mut self, key: Key, kind: Kind, item: Option<ItemId>, detail: &str, at: Timestamp, seen: bool) {
        let due = (!seen).then(|| at.plus(kind.patience()));
        self.things.push(Thing {
            key,
            kind,
            item,
            detail: words::plain(detail),
            due,
            told: None,
            times: 0,
        });
    }
}

#[cfg(test)]
mod tests;
