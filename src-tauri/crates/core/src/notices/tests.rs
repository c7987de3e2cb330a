use super::*;

const ALL: NotificationSettings = NotificationSettings {
    waiting: true,
    done: true,
    failed: true,
    details: false,
};
const TURN: TurnId = TurnId(1);

fn at(seconds: u64) -> Timestamp {
    Timestamp(1_000_000 + seconds * 1_000)
}

fn sight(focused: bool, sessions: &[&str]) -> Sight {
    Sight {
        focused,
        sessions: sessions.iter().map(|id| SessionId::new(*id)).collect(),
    }
}

fn config(title: &str) -> SessionConfig {
    SessionConfig {
        done_when: None,
        project: "/home/ada/orchard".to_owned(),
        title: title.to_owned(),
        model: ModelChoice {
            provider: ProviderId::new("p"),
            model: "m".to_owned(),
        },
        role: Role::Act,
        autonomy: Autonomy::Careful,
        limits: Limits::default(),
        format: CallFormat::Native,
        own_role: None,
        fallback: None,
        parent: None,
        demo: false,
        budget: Default::default(),
        facts: ModelFacts::default(),
        small: None,
    }
}

fn snapshot(id: &str, title: &str) -> SessionSnapshot {
    SessionSnapshot {
        rules: Vec::new(),
        session: SessionId::new(id),
        seq: 1,
        config: config(title),
        turn: None,
        items: Vec::new(),
        item_count: 0,
        approvals: Vec::new(),
        queue: Queue::default(),
        plan: Vec::new(),
        processes: Vec::new(),
        workflow: None,
        waits_for_folder: false,
        usage: Usage::default(),
        sources: Vec::new(),
        raised: RaisedCaps::default(),
        estimate: None,
    }
}

/// The machine with a row of events whose numbers count themselves.
struct Desk {
    notices: Notices,
    seq: u64,
}

impl Desk {
    /// Session "s" in a window that shows it and has no focus.
    fn unfocused() -> Self {
        let mut notices = Notices::default();
        notices.look(sight(false, &["s"]), at(0));
        notices.meet(&snapshot("s", "Fix the login"), at(0));
        Self { notices, seq: 1 }
    }

    fn hear_in(&mut self, session: &str, seconds: u64, msg: EventMsg) {
        self.seq += 1;
        self.notices.hear(&Event {
            session: SessionId::new(session),
            seq: self.seq,
            at: at(seconds),
            msg,
        });
    }

    fn hear(&mut self, seconds: u64, msg: EventMsg) {
        self.hear_in("s", seconds, msg);
    }

    fn act(&mut self, seconds: u64) -> Vec<NoticeStep> {
        self.notices.act(at(seconds), ALL)
    }

    /// The headlines and bodies raised, the count of things taken back.
    fn seen(&mut self, seconds: u64) -> (Vec<String>, usize) {
        let steps = self.act(seconds);
        let raised = steps.iter().filter_map(|step| match step {
            NoticeStep::Raise(notice) => Some(format!("{} | {}", notice.headline, notice.body)),
            _ => None,
        });
        let withdrawn = steps
            .iter()
            .filter(|step| matches!(step, NoticeStep::Withdraw(_)));
        (raised.collect(), withdrawn.count())
    }
}

fn nothing() -> (Vec<String>, usize) {
    (Vec::new(), 0)
}

fn approval(id: &str, class: RiskClass) -> EventMsg {
    EventMsg::ApprovalRequested {
        approval: Box::new(ApprovalRequest {
            again: None,
            ask: None,
            id: ApprovalId::new(id),
            call: CallId::new("t1.i1.c1"),
            item: ItemId(4),
            turn: TURN,
            iteration: 1,
            requested: at(0),
            tool: "run_command".to_owned(),
            arguments: "{}".to_owned(),
            verb: Verb::Run,
            target: "curl https://example.org".to_owned(),
            access: Vec::new(),
            classes: vec![RiskClass::Read, class],
            body: ApprovalBody::Other,
            agent_words: None,
            undo: UndoFact::Nothing,
            trace: Vec::new(),
            scopes: vec![AnswerScope::Once],
            rule: None,
            remembered_as: None,
            renewed: false,
            from_before_restart: false,
            origin: None,
        }),
    }
}

fn call(tool: &str, verb: Verb, target: &str) -> CallItem {
    CallItem {
        again: None,
        check: None,
        call: CallId::new("t1.i2.c1"),
        server_id: String::new(),
        tool: tool.to_owned(),
        arguments: "{}".to_owned(),
        verb,
        target: target.to_owned(),
        classes: Vec::new(),
        verdict: None,
        began: None,
        after: None,
        overdue: false,
        terminate: false,
        sub_agent: None,
        output: None,
    }
}

fn resolved(id: &str) -> EventMsg {
    EventMsg::ApprovalResolved {
        approval: ApprovalId::new(id),
        outcome: ApprovalOutcome::Withdrawn {
            why: WithdrawReason::Stopped,
        },
    }
}

fn changed(status: TurnStatus) -> EventMsg {
    EventMsg::TurnChanged { turn: TURN, status }
}

fn started() -> EventMsg {
    EventMsg::TurnStarted {
        turn: TURN,
        iteration_limit: 25,
        without_model: false,
    }
}

fn ended(end: TurnEnd) -> EventMsg {
    EventMsg::TurnEnded { turn: TURN, end }
}

#[test]
fn an_approval_is_told_after_three_seconds_without_command_and_taken_back_when_decided() {
    let mut desk = Desk::unfocused();
    desk.hear(10, approval("a", RiskClass::Command));
    assert_eq!(desk.notices.due(), Some(at(13)));
    assert_eq!(desk.seen(12), nothing());
    let waiting = "Waiting for you in orchard | Fix the login: wants to run a command";
    assert_eq!(desk.seen(13), (vec![waiting.to_owned()], 0));
    assert_eq!(desk.seen(14), nothing());
    desk.hear(15, resolved("a"));
    assert_eq!(desk.seen(15), (vec![], 1));
    assert_eq!(desk.notices.due(), None);
}

#[test]
fn a_click_leads_to_the_card() {
    let mut desk = Desk::unfocused();
    desk.hear(10, approval("a", RiskClass::Command));
    let steps = desk.act(13);
    let [NoticeStep::Raise(notice), NoticeStep::Waiting(1)] = &steps[..] else {
        panic!("{steps:?}")
    };
    assert_eq!(
        (notice.session.as_str(), notice.item, notice.low),
        ("s", Some(ItemId(4)), false)
    );
}

#[test]
fn details_are_told_only_when_asked_for() {
    let mut desk = Desk::unfocused();
    desk.hear(10, approval("a", RiskClass::Network));
    let details = NotificationSettings { details: true, ..ALL };
    let steps = desk.notices.act(at(13), details);
    let NoticeStep::Raise(notice) = &steps[0] else {
        panic!("{steps:?}")
    };
    assert_eq!(
        notice.body,
        "Fix the login: wants to use the network: curl https://example.org"
    );
}

#[test]
fn what_is_decided_within_three_seconds_is_never_told() {
    let mut desk = Desk::unfocused();
    desk.hear(10, approval("a", RiskClass::Write));
    desk.hear(12, resolved("a"));
    assert_eq!(desk.seen(13), nothing());
}

#[test]
fn nothing_is_told_while_it_is_seen_and_three_seconds_after_looking_away_it_is() {
    let mut desk = Desk::unfocused();
    desk.notices.look(sight(true, &["s"]), at(5));
    desk.hear(10, approval("a", RiskClass::Write));
    assert_eq!(desk.notices.due(), None);
    desk.notices.look(sight(false, &["s"]), at(60));
    assert_eq!(desk.seen(62), nothing());
    assert_eq!(desk.seen(63).0.len(), 1);
}

#[test]
fn another_session_in_the_focused_window_counts_as_not_seen() {
    let mut desk = Desk::unfocused();
    desk.notices.look(sight(true, &["other"]), at(5));
    desk.hear(10, approval("a", RiskClass::Write));
    assert_eq!(desk.seen(13).0.len(), 1);
}

#[test]
fn looking_at_it_before_it_is_due_takes_the_notice_away() {
    let mut desk = Desk::unfocused();
    desk.hear(10, approval("a", RiskClass::Write));
    desk.notices.look(sight(true, &["s"]), at(12));
    assert_eq!(desk.seen(20), nothing());
}

#[test]
fn what_still_waits_is_told_once_more_after_ten_minutes_in_place_of_the_first() {
    let mut desk = Desk::unfocused();
    desk.hear(10, approval("a", RiskClass::Write));
    desk.act(13);
    assert_eq!(desk.notices.due(), Some(at(613)));
    let (raised, withdrawn) = desk.seen(613);
    assert_eq!((raised.len(), withdrawn), (1, 1));
    assert_eq!(desk.notices.due(), None);
}

#[test]
fn several_within_five_seconds_become_one_that_stays_until_the_last_is_decided() {
    let mut desk = Desk::unfocused();
    desk.notices.meet(&snapshot("z", "Update the docs"), at(0));
    desk.hear(10, approval("a", RiskClass::Write));
    desk.hear(10, approval("b", RiskClass::Command));
    let two = "2 things wait for you in orchard | Fix the login";
    assert_eq!(desk.seen(13), (vec![two.to_owned()], 0));
    desk.hear_in("z", 14, approval("c", RiskClass::Command));
    let three = "3 things wait for you in orchard | Fix the login, Update the docs";
    assert_eq!(desk.seen(17), (vec![three.to_owned()], 1));
    desk.hear(18, resolved("a"));
    desk.hear(18, resolved("b"));
    assert_eq!(desk.seen(18), nothing());
    desk.hear_in("z", 19, resolved("c"));
    assert_eq!(desk.seen(19), (vec![], 1));
}

#[test]
fn two_projects_keep_their_own_notices() {
    let mut desk = Desk::unfocused();
    let mut elsewhere = snapshot("z", "Prune");
    elsewhere.config.project = "/srv/vineyard".to_owned();
    desk.notices.meet(&elsewhere, at(0));
    desk.hear(10, approval("a", RiskClass::Write));
    desk.hear_in("z", 10, approval("b", RiskClass::Delete));
    let told = [
        "Waiting for you in orchard | Fix the login: wants to change a file",
        "Waiting for you in vineyard | Prune: wants to delete",
    ];
    assert_eq!(desk.seen(13), (told.map(str::to_owned).to_vec(), 0));
}

#[test]
fn a_question_is_told_like_an_approval_and_answered_away() {
    let mut desk = Desk::unfocused();
    let item = Item {
        id: ItemId(6),
        turn: TURN,
        iteration: 2,
        started: at(10),
        ended: None,
        status: ItemStatus::Waiting,
        kind: ItemKind::Call(Box::new(call("ask_question", Verb::Ask, "Which port?"))),
    };
    desk.hear(10, EventMsg::ItemStarted { item });
    desk.hear(10, changed(TurnStatus::WaitingForAnswer));
    let steps = desk.act(13);
    let [NoticeStep::Raise(notice), NoticeStep::Waiting(1)] = &steps[..] else {
        panic!("{steps:?}")
    };
    assert_eq!(
        (&*notice.body, notice.item),
        ("Fix the login: asks you a question", Some(ItemId(6)))
    );
    desk.hear(14, changed(TurnStatus::Thinking));
    assert_eq!(desk.seen(14), (vec![], 1));
}

#[test]
fn a_command_past_its_limit_is_told_and_withdrawn_when_it_goes_on() {
    let mut desk = Desk::unfocused();
    let overdue = |overdue| EventMsg::ItemUpdated {
        item: Item {
            id: ItemId(6),
            turn: TURN,
            iteration: 2,
            started: at(9),
            ended: None,
            status: ItemStatus::Running,
            kind: ItemKind::Call(Box::new(CallItem {
                overdue,
                ..call("run_command", Verb::Run, "make all")
            })),
        },
    };
    desk.hear(10, overdue(true));
    desk.hear(10, changed(TurnStatus::WaitingForAnswer));
    let steps = desk.act(13);
    let [NoticeStep::Raise(notice), NoticeStep::Waiting(1)] = &steps[..] else {
        panic!("{steps:?}")
    };
    assert_eq!(
        (&*notice.body, notice.item),
        (
            "Fix the login: a command takes longer than its limit",
            Some(ItemId(6))
        )
    );
    desk.hear(14, overdue(false));
    desk.hear(14, changed(TurnStatus::UsingTools));
    assert_eq!(desk.seen(14), (vec![], 1));
}

#[test]
fn pauses_of_the_loop_are_told_at_once_and_the_persons_own_is_only_counted() {
    let limits = PauseCause::Limits { reached: Vec::new() };
    let guard = PauseCause::Guard {
        pattern: GuardPattern::SameCall,
    };
    for (cause, words) in [(limits, "a limit is reached"), (guard, "it repeats itself")] {
        let mut desk = Desk::unfocused();
        desk.hear(10, changed(TurnStatus::Paused { cause }));
        let told = format!("Paused in orchard | Fix the login: {words}");
        assert_eq!(desk.seen(10), (vec![told], 0));
    }
    let mut desk = Desk::unfocused();
    let own = TurnStatus::Paused {
        cause: PauseCause::Person,
    };
    desk.hear(10, changed(own));
    assert_eq!(desk.act(700), [NoticeStep::Waiting(1)]);
}

#[test]
fn the_end_is_told_after_a_long_turn_and_taken_back_when_it_is_seen() {
    let mut desk = Desk::unfocused();
    desk.hear(10, started());
    desk.hear(31, ended(TurnEnd::Completed));
    desk.hear(31, changed(TurnStatus::Completed));
    let done = "Done in orchard | Fix the login: the turn is done";
    assert_eq!(desk.seen(31), (vec![done.to_owned()], 0));
    desk.notices.look(sight(true, &["s"]), at(40));
    assert_eq!(desk.seen(40), (vec![], 1));
}

#[test]
fn a_short_or_stopped_turn_ends_quietly_and_a_failed_one_does_not() {
    for (seconds, end, told) in [
        (30, TurnEnd::Completed, 0),
        (90, TurnEnd::Stopped, 0),
        (11, TurnEnd::Failed, 1),
    ] {
        let mut desk = Desk::unfocused();
        desk.hear(10, started());
        desk.hear(seconds, ended(end));
        assert_eq!(desk.seen(seconds).0.len(), told, "{end:?} after {seconds}");
    }
}

#[test]
fn each_kind_has_its_switch() {
    let off = NotificationSettings {
        waiting: false,
        done: false,
        failed: false,
        details: false,
    };
    let tell = |settings: NotificationSettings| {
        let mut desk = Desk::unfocused();
        desk.notices.meet(&snapshot("z", "Prune"), at(0));
        desk.hear(10, started());
        desk.hear(40, ended(TurnEnd::Completed));
        desk.hear_in("z", 41, ended(TurnEnd::Failed));
        let steps = desk.notices.act(at(41), settings);
        desk.hear_in("z", 42, approval("a", RiskClass::Write));
        let more = desk.notices.act(at(60), settings);
        let bodies = |steps: Vec<NoticeStep>| {
            steps.into_iter().filter_map(|step| match step {
                NoticeStep::Raise(notice) => Some(notice.body),
                _ => None,
            })
        };
        bodies(steps).chain(bodies(more)).collect::<Vec<_>>()
    };
    assert_eq!(tell(off), [""; 0]);
    assert_eq!(
        tell(NotificationSettings { done: true, ..off }),
        ["Fix the login: the turn is done"]
    );
    assert_eq!(
        tell(NotificationSettings { failed: true, ..off }),
        ["Prune: the turn failed"]
    );
    assert_eq!(
        tell(NotificationSettings { waiting: true, ..off }),
        ["Prune: wants to change a file"]
    );
}

#[test]
fn the_number_of_waiting_things_is_told_when_it_changes() {
    let mut desk = Desk::unfocused();
    desk.notices.look(sight(true, &["s"]), at(1));
    desk.hear(10, approval("a", RiskClass::Write));
    desk.hear(10, approval("b", RiskClass::Write));
    assert_eq!(desk.act(10), [NoticeStep::Waiting(2)]);
    assert_eq!(desk.act(11), []);
    desk.hear(12, resolved("a"));
    assert_eq!(desk.act(12), [NoticeStep::Waiting(1)]);
    desk.notices.forget(&SessionId::new("s"));
    assert_eq!(desk.act(13), [NoticeStep::Waiting(0)]);
}

#[test]
fn a_session_met_with_waiting_things_tells_them_and_meeting_it_again_tells_nothing_twice() {
    let mut desk = Desk::unfocused();
    let mut reopened = snapshot("r", "Prune");
    let EventMsg::ApprovalRequested { approval } = approval("a", RiskClass::Delete) else {
        panic!()
    };
    reopened.approvals.push(*approval);
    reopened.seq = 50;
    desk.notices.meet(&reopened, at(100));
    assert_eq!(desk.seen(103).0.len(), 1);
    desk.notices.meet(&reopened, at(104));
    assert_eq!(desk.seen(120), nothing());
    // An event that the snapshot holds already changes nothing.
    desk.hear_in("r", 121, resolved("a"));
    assert_eq!(desk.seen(121), nothing());
    reopened.approvals.clear();
    desk.notices.meet(&reopened, at(130));
    assert_eq!(desk.seen(130), (vec![], 1));
}
