use super::*;

#[test]
fn a_command_is_told_without_the_files_it_carries() {
    let command =
        "cat > a.txt <<'EOF'\nsecret line\nanother\nEOF\nnpm test && cat <<-END\n\tx\n\tEND\necho done";
    assert_eq!(
        target(Verb::Run, command),
        "cat > a.txt <<'EOF'\n[2 lines] EOF\nnpm test && cat <<-END\n[1 lines] END\necho done"
    );
    for plain in ["echo $((1<<4))", "grep x <<< word", "a && b\nrm -rf c"] {
        assert_eq!(target(Verb::Run, plain), plain);
    }
    // Never ended: everything after it is its content.
    assert_eq!(target(Verb::Run, "cat <<EOF\nsecret"), "cat <<EOF\n[1 lines] EOF");
}

#[test]
fn prose_of_the_model_is_shortened() {
    let long = "word ".repeat(100);
    assert_eq!(target(Verb::Finish, &long).chars().count(), MOST_PROSE + 1);
    assert_eq!(target(Verb::Run, &long), long);
}

fn event(seq: u64, msg: EventMsg) -> Event {
    Event {
        session: SessionId::new("s"),
        seq,
        at: Timestamp(seq * 1_000),
        msg,
    }
}

fn config() -> SessionConfig {
    SessionConfig {
        done_when: None,
        project: "/orchard".into(),
        title: String::new(),
        model: ModelChoice {
            provider: ProviderId::new("local"),
            model: "small".into(),
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

fn heard(msgs: impl IntoIterator<Item = EventMsg>) -> Vec<AuditLine> {
    let mut trail = Trail::default();
    let events = msgs.into_iter().enumerate();
    events
        .flat_map(|(at, msg)| trail.hear(&event(at as u64 + 1, msg)))
        .collect()
}

fn call_item(status: ItemStatus) -> Item {
    let trace = vec![TraceLine {
        about: "Autonomy Careful".into(),
        says: "no question".into(),
        decides: true,
    }];
    let call = CallItem {
        again: None,
        check: None,
        call: CallId::new("t1.i1.c1"),
        server_id: String::new(),
        tool: "write_file".into(),
        arguments: "{\"path\":\"a\",\"content\":\"the content\"}".into(),
        verb: Verb::Create,
        target: "a".into(),
        classes: vec![RiskClass::Write],
        verdict: Some(CallVerdict {
            reach: Vec::new(),
            by: DecidedBy::Policy,
            allowed: true,
            reason: None,
            edited_arguments: None,
            left_out: Vec::new(),
            scope: None,
            trace,
        }),
        began: Some(Timestamp(1)),
        after: None,
        overdue: false,
        terminate: false,
        sub_agent: None,
        output: Some(CallOutput {
            ok: true,
            text: "the content".into(),
            duration: Millis(12),
            changes: vec![FileChange {
                path: "a".into(),
                kind: ChangeKind::Created,
                added: 1,
                removed: 0,
                diff: None,
                undoable: true,
                notes: Vec::new(),
            }],
            ..CallOutput::default()
        }),
    };
    Item {
        id: ItemId(1),
        turn: TurnId(1),
        iteration: 1,
        started: Timestamp(1),
        ended: None,
        status,
        kind: ItemKind::Call(Box::new(call)),
    }
}

#[test]
fn each_action_is_one_line_without_contents() {
    let (turn, iteration) = (TurnId(1), 1);
    let undo = ItemKind::Undo {
        call: CallId::new("t1.i1.c1"),
        redo: false,
        files: vec![UndoneFile {
            path: "a".into(),
            result: UndoResult::Removed,
        }],
    };
    let lines = heard([
        EventMsg::SessionCreated {
            version: 1,
            config: config(),
        },
        EventMsg::TurnStarted {
            turn,
            iteration_limit: 25,
            without_model: false,
        },
        EventMsg::IterationStarted {
            turn,
            iteration,
            attempt: 1,
            limit: 25,
            finishing: false,
            estimate: None,
        },
        EventMsg::ItemCompleted {
            item: call_item(ItemStatus::Done),
        },
        EventMsg::ItemCompleted {
            item: call_item(ItemStatus::Undone),
        },
        EventMsg::ItemCompleted {
            item: Item {
                kind: undo,
                ..call_item(ItemStatus::Done)
            },
        },
        EventMsg::LimitChanged {
            turn,
            limit: LimitKind::Iterations,
            allowed: 50,
        },
        EventMsg::TurnEnded {
            turn,
            end: TurnEnd::Stopped,
        },
    ]);
    let told: Vec<(&str, &str, &str, &str)> = lines
        .iter()
        .map(|line| {
            (
                line.action,
                line.target.as_str(),
                line.outcome.as_str(),
                line.detail.as_str(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (
                "session_created",
                "",
                "",
                "model=local/small role=act autonomy=careful"
            ),
            ("turn_started", "", "", "iteration_limit=25 without_model=false"),
            ("request_sent", "local/small", "", "attempt=1 finishing=false"),
            ("decision", "a", "", ""),
            ("call", "a", "done", "created=a"),
            ("undo", "a=removed", "", ""),
            ("limit_extended", "iterations", "", ""),
            ("turn_ended", "", "stopped", ""),
        ]
    );
    assert_eq!(
        (lines[4].duration_ms, lines[4].by.as_str(), lines[4].iteration),
        (Some(12), "policy", 1)
    );
    assert!(
        lines
            .iter()
            .all(|line| line.project == "/orchard" && !line.csv().contains("content"))
    );
}

#[test]
fn changes_of_the_configuration_name_what_changed() {
    let mut changed = config();
    changed.role = Role::Plan;
    changed.limits.iterations = 7;
    changed.title = "not an action".into();
    let lines = heard([
        EventMsg::SessionCreated {
            version: 1,
            config: config(),
        },
        EventMsg::SessionChanged { config: changed },
    ]);
    let told: Vec<(&str, &str, &str, &str)> = lines[1..]
        .iter()
        .map(|line| {
            (
                line.action,
                line.target.as_str(),
                line.from.as_str(),
                line.to.as_str(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("role_changed", "", "act", "plan"),
            ("limits_changed", "iterations", "25", "7")
        ]
    );
}
