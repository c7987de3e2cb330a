//! What is decided, by role, autonomy and rules; the commands themselves are in `corpus_tests`.

use super::*;
use paddock_protocol::{ProtectedPlace, RuleEnd};

const NOW: Timestamp = Timestamp(1_800_000_000_000);

fn begins_with(words: &[&str]) -> RuleShape {
    let exact = |text: &&str| WordShape::Exact {
        text: (*text).to_owned(),
    };
    let mut words: Vec<WordShape> = words.iter().map(exact).collect();
    words.push(WordShape::Rest);
    RuleShape::Command { words }
}

fn exec(command: &str) -> Vec<Access> {
    vec![Access::Exec {
        command: command.into(),
    }]
}

fn cx(role: Role, autonomy: Autonomy, rules: &[Rule]) -> Circumstances<'_> {
    Circumstances {
        role,
        autonomy,
        rules,
        turn: TurnId(1),
        confined: true,
        network_asks: false,
        now: NOW,
    }
}

fn allow_rule(words: &[&str]) -> Rule {
    Rule {
        id: RuleId::new("r1"),
        shape: begins_with(words),
        answer: RuleAnswer::Allow,
        scope: RuleScope::Session,
        created: NOW,
        end: RuleEnd::Never,
        last_used: None,
        uses: 0,
    }
}

#[test]
fn careful_asks_for_writes_and_commands_but_not_for_reads() {
    let careful = cx(Role::Act, Autonomy::Careful, &[]);
    assert_eq!(
        judge(&[Access::Read { path: "a".into() }], &careful).decision,
        Decision::Allow
    );
    assert_eq!(judge(&[], &careful).decision, Decision::Allow);
    assert_eq!(
        judge(&[Access::Write { path: "a".into() }], &careful).decision,
        Decision::Ask
    );
    assert_eq!(judge(&exec("ls"), &careful).decision, Decision::Ask);
}

#[test]
fn a_rule_covers_every_part_or_nothing() {
    let rules = [allow_rule(&["npm", "test"])];
    let careful = cx(Role::Act, Autonomy::Careful, &rules);
    for (command, allowed) in [
        ("npm test", true),
        ("npm test -- login", true),
        ("npm test && npm test -- b", true),
        ("npm test; curl example.com", false),
        ("npm test | tee log", false),
        ("npm test > log", false),
        ("npm test $(rm x)", false),
        ("NODE_OPTIONS=x npm test", false),
        ("npm testing", false),
        ("npm install", false),
    ] {
        let judgement = judge(&exec(command), &careful);
        assert_eq!(
            judgement.decision == Decision::Allow,
            allowed,
            "{command}: {:?}",
            judgement.trace
        );
        assert_eq!(judgement.rule.is_some(), allowed, "{command}");
    }
}

#[test]
fn nothing_lifts_a_hard_denial() {
    let rules = [allow_rule(&["sudo"]), allow_rule(&["rm"])];
    let free = cx(Role::Admin, Autonomy::HandsOff, &rules);
    for command in [
        "sudo ls",
        "env A=1 sudo ls",
        "sh -c 'sudo ls'",
        "ls | xargs sudo rm",
        "rm -rf /",
        "rm -rf ~",
        "rm -rf $HOME",
        "mkfs.ext4 /dev/sda",
        "dd if=x of=/dev/sda",
        ":(){ :|:& };:",
        "cat ~/.ssh/id_ed25519",
    ] {
        assert!(
            matches!(judge(&exec(command), &free).decision, Decision::Forbid(_)),
            "{command}"
        );
    }
}

#[test]
fn plan_only_looks() {
    let plan = cx(Role::Plan, Autonomy::HandsOff, &[]);
    for (command, allowed) in [
        ("git status", true),
        ("git diff --output=x", false),
        ("make", false),
        ("ls > x", false),
    ] {
        assert_eq!(
            judge(&exec(command), &plan).decision == Decision::Allow,
            allowed,
            "{command}"
        );
    }
    assert!(matches!(
        judge(&[Access::Write { path: "a".into() }], &plan).decision,
        Decision::Forbid(_)
    ));
}

#[test]
fn balanced_passes_the_safe_list_only() {
    let balanced = cx(Role::Act, Autonomy::Balanced, &[]);
    for (command, allowed) in [
        ("git status", true),
        ("git log --oneline | head -5", true),
        ("cat README.md", true),
        ("node --version", true),
        ("git branch new", false),
        ("git -c core.pager=x log", false),
        ("git log -o x", false),
        ("./ls", false),
        ("npm test", false),
        ("tail -f log", false),
    ] {
        assert_eq!(
            judge(&exec(command), &balanced).decision == Decision::Allow,
            allowed,
            "{command}"
        );
    }
    assert_eq!(
        judge(&[Access::Write { path: "a".into() }], &balanced).decision,
        Decision::Allow
    );
}

#[test]
fn hands_off_still_asks_for_deletions_and_connections_and_without_confinement() {
    let free = cx(Role::Act, Autonomy::HandsOff, &[]);
    for (command, allowed) in [
        ("make test", true),
        ("rm -r build", false),
        ("git reset --hard", false),
        ("find . -delete", false),
        ("env rm x", false),
        ("bash -c 'rm x'", false),
        ("npm install", false),
        ("curl example.com", false),
        ("echo $(id)", true),
        ("echo $(rm x)", false),
        ("echo x | sh", false),
    ] {
        assert_eq!(
            judge(&exec(command), &free).decision == Decision::Allow,
            allowed,
            "{command}"
        );
    }
    let open = Circumstances {
        confined: false,
        ..free
    };
    assert_eq!(judge(&exec("make test"), &open).decision, Decision::Ask);
}

#[test]
fn protected_always_asks_and_is_never_remembered() {
    let access = [Access::Protected {
        path: ".env".into(),
        write: false,
        place: ProtectedPlace::SecretFile,
    }];
    let judgement = judge(&access, &cx(Role::Admin, Autonomy::HandsOff, &[]));
    assert_eq!(judgement.decision, Decision::Ask);
    assert_eq!(judgement.scopes, [AnswerScope::Once]);
}

#[test]
fn suggestions_never_cover_hidden_code() {
    let careful = cx(Role::Act, Autonomy::Careful, &[]);
    for command in [
        "sh -c 'x'",
        "bash",
        "python3 -c 'x'",
        "node -e 1",
        "env X=1 y",
        "xargs ls",
        "eval x",
        "npx tool",
        "rm x",
        "a && b",
        "echo `x`",
        "curl x",
        "make > log",
    ] {
        let judgement = judge(&exec(command), &careful);
        assert_eq!(judgement.remembered, None, "{command}");
        assert_eq!(judgement.scopes, [AnswerScope::Once], "{command}");
    }
    let judgement = judge(&exec("npm test -- login"), &careful);
    assert_eq!(
        judgement.remembered.map(|(_, words)| words).as_deref(),
        Some("npm test, any arguments")
    );
    let judgement = judge(&exec("sh tests/run.sh"), &careful);
    assert_eq!(
        judgement.remembered.map(|(_, words)| words).as_deref(),
        Some("sh tests/run.sh, any arguments")
    );
}

#[test]
fn the_trace_names_what_decided() {
    let judgement = judge(
        &exec("npm install x"),
        &cx(Role::Act, Autonomy::Careful, &[allow_rule(&["npm", "test"])]),
    );
    assert_eq!(judgement.trace.iter().filter(|line| line.decides).count(), 1);
    assert_eq!(
        judgement.trace.last().map(|line| line.about.as_str()),
        Some("Autonomy Careful")
    );
}
