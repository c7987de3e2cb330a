//! Everything beside the log: settings, rules, summaries, outputs, the undo journal.
#![allow(clippy::unwrap_used)]

use paddock_protocol::*;
use paddock_store::*;
use std::fs;

fn place() -> (tempfile::TempDir, Home) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::open(Some(folder.path().join("home"))).unwrap();
    (folder, home)
}

fn call() -> CallId {
    TurnId(1).call(2, 3)
}

fn summary(session: &str, project: &str, changed: u64) -> SessionSummary {
    SessionSummary {
        session: SessionId::new(session),
        project: project.to_owned(),
        title: format!("title of {session}"),
        created: Timestamp(1),
        changed: Timestamp(changed),
        status: Some(TurnStatus::Completed),
        waiting: 0,
        iteration: 4,
        usage: Usage::default(),
        parent: None,
    }
}

fn config(project: &str, title: &str) -> SessionConfig {
    SessionConfig {
        done_when: None,
        project: project.to_owned(),
        title: title.to_owned(),
        model: ModelChoice {
            provider: ProviderId::new("demo"),
            model: "demo".to_owned(),
        },
        role: Role::Act,
        autonomy: Autonomy::Careful,
        limits: Limits::default(),
        format: CallFormat::Native,
        own_role: None,
        fallback: None,
        parent: None,
        demo: false,
        budget: Budget::default(),
        facts: ModelFacts::default(),
        small: None,
    }
}

fn names_in(folder: &std::path::Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn settings_come_back_and_damage_is_kept_aside() {
    let (_folder, home) = place();
    assert_eq!(settings::load(&home).unwrap().value, Settings::default());
    let changed = Settings {
        theme: Theme::Dark,
        recent_projects: vec!["/a".into()],
        ..Settings::default()
    };
    settings::save(&home, &changed).unwrap();
    assert_eq!(
        settings::load(&home).unwrap(),
        Loaded {
            value: changed,
            kept_aside: None
        }
    );
    assert_eq!(
        names_in(home.path()),
        ["settings.json"],
        "no temporary file stays"
    );

    let file = home.path().join("settings.json");
    fs::write(&file, "{\"theme\": \"dark\", ").unwrap();
    let first = settings::load(&home).unwrap();
    assert_eq!(first.value, Settings::default());
    let aside = first.kept_aside.unwrap();
    assert_eq!(fs::read_to_string(&aside).unwrap(), "{\"theme\": \"dark\", ");
    assert!(
        aside
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("settings.damaged-")
    );
    assert_eq!(settings::load(&home).unwrap().kept_aside, None);
    fs::write(&file, "\"text\"").unwrap();
    let second = settings::load(&home).unwrap().kept_aside.unwrap();
    assert_ne!(aside, second, "one damaged file never replaces another");
    fs::write(&file, "{\"theme\": \"light\", \"unknown\": 1}").unwrap();
    assert_eq!(settings::load(&home).unwrap().value.theme, Theme::Light);
}

#[test]
fn rules_belong_to_one_project_or_to_all() {
    let (_folder, home) = place();
    let rule = |id: &str, scope| Rule {
        id: RuleId::new(id),
        shape: RuleShape::Command {
            words: vec![
                WordShape::Exact {
                    text: "npm".to_owned(),
                },
                WordShape::Rest,
            ],
        },
        answer: RuleAnswer::Allow,
        scope,
        created: Timestamp(5),
        end: RuleEnd::Unused { days: 30 },
        last_used: None,
        uses: 0,
    };
    let (kept, everywhere) = (rule("1", RuleScope::Project), rule("3", RuleScope::Everywhere));
    for one in [&kept, &rule("2", RuleScope::Session), &everywhere] {
        rules::keep(&home, "/a", one.clone()).unwrap();
    }
    assert_eq!(
        rules::load(&home, "/a").unwrap(),
        Loaded {
            value: vec![kept.clone(), everywhere.clone()],
            kept_aside: None
        }
    );
    assert_eq!(rules::load(&home, "/b").unwrap().value, [everywhere]);
    rules::used(&home, "/a", &kept.id, Timestamp(9)).unwrap();
    rules::used(&home, "/b", &RuleId::new("3"), Timestamp(10)).unwrap();
    rules::used(&home, "/b", &kept.id, Timestamp(11)).unwrap();
    let counted = rules::load(&home, "/a").unwrap().value;
    assert_eq!((counted[0].uses, counted[0].last_used), (1, Some(Timestamp(9))));
    assert_eq!((counted[1].uses, counted[1].last_used), (1, Some(Timestamp(10))));
    rules::remove(&home, "/a", &RuleId::new("3")).unwrap();
    assert_eq!(rules::load(&home, "/b").unwrap().value, []);
    let folder = home
        .path()
        .join("projects")
        .join(&names_in(&home.path().join("projects"))[0]);
    fs::write(folder.join("rules.json"), "{").unwrap();
    let damaged = rules::load(&home, "/a").unwrap();
    assert!(damaged.value.is_empty() && damaged.kept_aside.is_some());
}

#[test]
fn sessions_are_listed_newest_first_and_tolerantly() {
    let (_folder, home) = place();
    assert_eq!(sessions::list_sessions(&home, None).unwrap(), []);
    let (old, new, other) = (
        summary("s1", "/a", 10),
        summary("s2", "/a", 20),
        summary("s3", "/b", 15),
    );
    for one in [&old, &new, &other] {
        drop(LogWriter::create(&home, &one.session).unwrap());
        sessions::write_summary(&home, one).unwrap();
    }
    let folder = home.path().join("sessions");
    fs::create_dir(folder.join("empty")).unwrap();
    fs::create_dir(folder.join("with space")).unwrap();
    fs::write(folder.join("a-file"), "").unwrap();
    fs::create_dir(folder.join("damaged")).unwrap();
    fs::write(folder.join("damaged/summary.json"), "{").unwrap();
    assert_eq!(
        sessions::list_sessions(&home, None).unwrap(),
        [new.clone(), other, old.clone()]
    );
    assert_eq!(
        sessions::list_sessions(&home, Some("/a")).unwrap(),
        [new, old.clone()]
    );

    outputs::keep_output(&home, &old.session, &call(), b"text").unwrap();
    sessions::delete_session(&home, &old.session).unwrap();
    assert!(!folder.join("s1").exists() && !names_in(&folder).iter().any(|name| name.starts_with('.')));
    assert!(matches!(
        sessions::delete_session(&home, &old.session),
        Err(StoreError::NotFound { .. })
    ));
    assert!(matches!(
        sessions::write_summary(&home, &old),
        Err(StoreError::NotFound { .. })
    ));
}

#[test]
fn a_lost_summary_is_made_again_from_the_log() {
    let (_folder, home) = place();
    let session = SessionId::new("s1");
    let mut writer = LogWriter::create(&home, &session).unwrap();
    let messages = [
        EventMsg::SessionCreated {
            version: 1,
            config: config("/a", "first"),
        },
        EventMsg::SessionChanged {
            config: config("/a", "renamed"),
        },
        EventMsg::TurnStarted {
            turn: TurnId(1),
            iteration_limit: 25,
            without_model: false,
        },
        EventMsg::TurnChanged {
            turn: TurnId(1),
            status: TurnStatus::Completed,
        },
    ];
    for (msg, seq) in messages.into_iter().zip(1..) {
        let event = Event {
            session: session.clone(),
            seq,
            at: Timestamp(seq * 10),
            msg,
        };
        writer.append(&event, Durability::Written).unwrap();
    }
    let listed = sessions::list_sessions(&home, Some("/a")).unwrap();
    assert_eq!(listed.len(), 1);
    let expected = SessionSummary {
        title: "renamed".into(),
        created: Timestamp(10),
        iteration: 0,
        ..summary("s1", "/a", 40)
    };
    assert_eq!(listed[0], expected);
    assert!(home.path().join("sessions/s1/summary.json").exists());
}

#[test]
fn outputs_are_kept_whole() {
    let (_folder, home) = place();
    let session = SessionId::new("s1");
    assert!(matches!(
        outputs::read_output(&home, &session, &call()),
        Err(StoreError::NotFound { .. })
    ));
    outputs::keep_output(&home, &session, &call(), b"a\xffb\n").unwrap();
    assert_eq!(
        outputs::read_output(&home, &session, &call()).unwrap(),
        "a\u{fffd}b\n"
    );
    let evil = CallId::new("../../settings");
    assert!(matches!(
        outputs::keep_output(&home, &session, &evil, b""),
        Err(StoreError::InvalidId { .. })
    ));
}

#[test]
fn the_undo_journal_knows_before_after_and_undone() {
    let (_folder, home) = place();
    let session = SessionId::new("s1");
    let call = call();
    assert_eq!(before::before_of(&home, &session, &call).unwrap(), []);
    before::keep_before(&home, &session, &call, "src/a.rs", Some(b"old"), Some(0o644)).unwrap();
    before::keep_before(&home, &session, &call, "src/new.rs", None, None).unwrap();
    before::keep_before(
        &home,
        &session,
        &call,
        "src/a.rs",
        Some(b"the call's own work"),
        None,
    )
    .unwrap();
    let files = before::before_of(&home, &session, &call).unwrap();
    assert_eq!(files.len(), 2);
    assert_eq!(
        (files[0].content.as_deref(), files[0].mode),
        (Some(&b"old"[..]), Some(0o644))
    );
    assert_eq!(
        (&files[1].content, &files[1].before, &files[1].after),
        (&None, &FileVersion::Absent, &None)
    );

    let after = before::version_of(Some(b"new"));
    before::keep_after(&home, &session, &call, "src/a.rs", after.clone()).unwrap();
    before::keep_undone(&home, &session, &call, "src/a.rs", Some(b"new")).unwrap();
    before::keep_undone(&home, &session, &call, "src/new.rs", None).unwrap();
    let files = before::before_of(&home, &session, &call).unwrap();
    assert_eq!(files[0].after, Some(after));
    assert_eq!(
        files[0].undone.as_ref().unwrap().content.as_deref(),
        Some(&b"new"[..])
    );
    assert_eq!(files[1].undone.as_ref().unwrap().content, None);
    assert!(matches!(
        before::keep_undone(&home, &session, &call, "other", None),
        Err(StoreError::NotFound { .. })
    ));
    assert_eq!(
        before::version_of(Some(b"abc")),
        FileVersion::Content {
            hash: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".into()
        }
    );
}

#[test]
fn a_torn_or_damaged_undo_journal_never_gives_wrong_content() {
    let (_folder, home) = place();
    let session = SessionId::new("s1");
    let call = call();
    before::keep_before(&home, &session, &call, "a", Some(b"old"), None).unwrap();
    let folder = home.path().join("sessions/s1/before").join(call.as_str());
    let journal = fs::read(folder.join("journal.jsonl")).unwrap();
    before::keep_before(&home, &session, &call, "b", Some(b"old b"), None).unwrap();
    let both = fs::read(folder.join("journal.jsonl")).unwrap();
    for cut in journal.len()..both.len() - 1 {
        fs::write(folder.join("journal.jsonl"), &both[..cut]).unwrap();
        assert_eq!(
            before::before_of(&home, &session, &call).unwrap().len(),
            1,
            "cut at {cut}"
        );
        before::keep_before(&home, &session, &call, "c", Some(b"old c"), None).unwrap();
        let files = before::before_of(&home, &session, &call).unwrap();
        assert_eq!(files[1].content.as_deref(), Some(&b"old c"[..]), "cut at {cut}");
    }
    fs::write(folder.join("0.before"), "changed by someone").unwrap();
    assert!(matches!(
        before::before_of(&home, &session, &call),
        Err(StoreError::NotFound { .. })
    ));
}
