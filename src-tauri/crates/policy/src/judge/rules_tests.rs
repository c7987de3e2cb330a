//! Rules: which calls they cover, when they hold, which may not be made and what they say.

use super::*;
use crate::{covers_command, in_words, is_wide, nearly_covers, refused_shape, rule_fits};
use paddock_protocol::RuleEnd;

const DAY: u64 = 24 * 60 * 60 * 1_000;
const NOW: Timestamp = Timestamp(1_000 * DAY);

fn exact(text: &str) -> WordShape {
    WordShape::Exact { text: text.into() }
}

/// Words apart by blanks: `*` is any word, `…` any further ones, `a|b` one of these.
fn shape(words: &str) -> RuleShape {
    let word = |word: &str| match word {
        "*" => WordShape::Any,
        "…" => WordShape::Rest,
        word if word.contains('|') => WordShape::OneOf {
            texts: word.split('|').map(str::to_owned).collect(),
        },
        word => exact(word),
    };
    RuleShape::Command {
        words: words.split_whitespace().map(word).collect(),
    }
}

fn rule(shape: RuleShape, answer: RuleAnswer) -> Rule {
    Rule {
        id: RuleId::new("r1"),
        shape,
        answer,
        scope: RuleScope::Session,
        created: NOW,
        end: RuleEnd::Never,
        last_used: None,
        uses: 0,
    }
}

fn circumstances(rules: &[Rule]) -> Circumstances<'_> {
    Circumstances {
        role: Role::Act,
        autonomy: Autonomy::Careful,
        rules,
        turn: TurnId(1),
        confined: true,
        network_asks: false,
        now: NOW,
    }
}

fn exec(command: &str) -> Vec<Access> {
    vec![Access::Exec {
        command: command.into(),
    }]
}

fn outside(path: &str, write: bool) -> Access {
    Access::Outside {
        path: path.into(),
        write,
        through: None,
    }
}

fn ruling(access: &[Access], rules: &[Rule]) -> Decision {
    judge(access, &circumstances(rules)).decision
}

#[test]
fn words_fit_one_by_one() {
    for (words, command, fits) in [
        ("npm test …", "npm test", true),
        ("npm test …", "npm test -- a b", true),
        ("npm test …", "npm test *.js $X", true),
        ("npm test", "npm test -- a", false),
        ("npm test|lint", "npm lint", true),
        ("npm test|lint", "npm build", false),
        ("npm run *", "npm run build", true),
        ("npm run *", "npm run", false),
        ("npm run *", "npm run a b", false),
        ("npm run *", "npm run $X", false),
        ("npm run *", "npm run *", false),
        ("npm run * …", "npm run a b c", true),
        ("npm $X", "npm $X", false),
        ("cat *.rs", "cat *.rs", true),
        ("npm test …", "./npm test", false),
        ("npm test …", "npm test; npm test a", true),
        ("npm test …", "npm test && ls", false),
        ("npm test …", "npm test > log", false),
        ("npm test …", "npm test 2>/dev/null", true),
        ("npm test …", "A=1 npm test", false),
        ("npm test …", "npm test $(ls)", false),
        ("npm test …", "npm test `ls`", false),
        ("npm test …", "npm test <(ls)", false),
        ("npm test …", "(npm test)", false),
        ("npm test …", "{npm,test}", false),
        ("npm test …", "env npm test", false),
        ("npm test …", "npm test \u{202e}x", false),
        ("git …", "git -c alias.x=!ls x", false),
        ("git …", "git status", true),
        ("find …", "find . -exec ls {} ;", false),
        ("python3 …", "python3 -c x", false),
        ("python3 a.py …", "python3 a.py -c x", true),
        ("sh a.sh …", "sh a.sh x", true),
        ("uv run pytest …", "uv run pytest -x", true),
        ("uv run …", "uv run sh -c ls", false),
        ("uv run …", "uv run python -c x", false),
        ("python3 -m pytest …", "python3 -m pytest -q", true),
        ("env …", "env ls", false),
        ("xargs …", "xargs ls", false),
        ("awk …", "awk 'BEGIN{system(\"x\")}'", false),
    ] {
        assert_eq!(
            covers_command(&shape(words), command),
            fits,
            "{words} / {command}"
        );
    }
}

#[test]
fn the_strictest_rule_wins_and_refusals_reach_into_every_part() {
    let never = rule(shape("npm publish …"), RuleAnswer::Never);
    let ask = rule(shape("npm …"), RuleAnswer::Ask);
    let allow = rule(shape("npm …"), RuleAnswer::Allow);
    let all = [allow.clone(), ask.clone(), never.clone()];
    assert!(matches!(ruling(&exec("npm publish"), &all), Decision::Forbid(_)));
    assert_eq!(ruling(&exec("npm test"), &all), Decision::Ask);
    assert_eq!(ruling(&exec("npm test"), &[allow]), Decision::Allow);
    for command in [
        "A=1 npm publish > log",
        "ls; npm publish",
        "env npm publish",
        "sh -c 'npm publish'",
        "echo $(npm publish --tag x)",
        "for i in 1; do npm publish; done",
        "x=publish; npm $x",
    ] {
        assert!(
            matches!(
                ruling(&exec(command), std::slice::from_ref(&never)),
                Decision::Forbid(_)
            ),
            "{command}"
        );
    }
    let judgement = judge(&exec("npm publish"), &circumstances(&all));
    assert_eq!(judgement.rule, Some(never.id));
    assert_eq!(judgement.trace.iter().filter(|line| line.decides).count(), 1);
}

#[test]
fn rules_end_fall_asleep_and_have_a_scope() {
    let base = rule(shape("make …"), RuleAnswer::Allow);
    let ended = Rule {
        end: RuleEnd::At { at: NOW },
        ..base.clone()
    };
    let asleep = Rule {
        end: RuleEnd::Unused { days: 30 },
        created: Timestamp(900 * DAY),
        last_used: Some(Timestamp(965 * DAY)),
        ..base.clone()
    };
    let awake = Rule {
        last_used: Some(Timestamp(999 * DAY)),
        ..asleep.clone()
    };
    let other_turn = Rule {
        scope: RuleScope::Turn { turn: TurnId(2) },
        ..base.clone()
    };
    let this_turn = Rule {
        scope: RuleScope::Turn { turn: TurnId(1) },
        ..base.clone()
    };
    let everywhere = Rule {
        scope: RuleScope::Everywhere,
        ..base.clone()
    };
    for (rule, expected) in [
        (&base, Decision::Allow),
        (&ended, Decision::Ask),
        (&asleep, Decision::Ask),
        (&awake, Decision::Allow),
        (&other_turn, Decision::Ask),
        (&this_turn, Decision::Allow),
        (&everywhere, Decision::Allow),
    ] {
        assert_eq!(
            ruling(&exec("make x"), std::slice::from_ref(rule)),
            expected,
            "{rule:?}"
        );
    }
    let rules = [asleep.clone()];
    let judgement = judge(&exec("make x"), &circumstances(&rules));
    assert_eq!(judgement.rule.as_ref(), Some(&asleep.id));
    let said: Vec<&str> = judgement.trace.iter().map(|line| line.says.as_str()).collect();
    assert!(said.contains(&"You allowed this before, 5 weeks ago"), "{said:?}");
    let forgotten = Rule {
        end: RuleEnd::Unused { days: 1 },
        answer: RuleAnswer::Never,
        created: Timestamp(0),
        ..base
    };
    assert!(matches!(
        ruling(&exec("make x"), &[forgotten]),
        Decision::Forbid(_)
    ));
}

#[test]
fn places_outside_fit_by_whole_steps_and_writing_covers_reading() {
    let grant = |path: &str, write| RuleShape::Outside {
        path: path.into(),
        write,
    };
    for (shape, access, fits) in [
        (
            grant("/srv/a/x.json", false),
            outside("/srv/a/x.json", false),
            true,
        ),
        (
            grant("/srv/a/x.json", false),
            outside("/srv/a/x.json", true),
            false,
        ),
        (
            grant("/srv/a/x.json", true),
            outside("/srv/a/x.json", false),
            true,
        ),
        (grant("/srv/a/x", false), outside("/srv/a/xy", false), false),
        (grant("/srv/a", false), outside("/srv/a/x", false), false),
        (grant("/srv/a/", false), outside("/srv/a/x/y", false), true),
        (grant("/srv/a/", false), outside("/srv/ab/x", false), false),
        (grant("/srv/a/", false), outside("/srv/a/../b", false), false),
    ] {
        assert_eq!(
            rule_fits(&shape, std::slice::from_ref(&access)).is_ok(),
            fits,
            "{shape:?} {access:?}"
        );
        let allowing = [rule(shape, RuleAnswer::Allow)];
        assert_eq!(ruling(&[access], &allowing) == Decision::Allow, fits);
    }
    let no_reading = [rule(grant("/srv/a/", false), RuleAnswer::Never)];
    assert!(matches!(
        ruling(&[outside("/srv/a/x", true)], &no_reading),
        Decision::Forbid(_)
    ));
    let no_writing = [rule(grant("/srv/a/", true), RuleAnswer::Never)];
    assert_eq!(ruling(&[outside("/srv/a/x", false)], &no_writing), Decision::Ask);
    let judgement = judge(&[outside("/srv/a/x.json", false)], &circumstances(&[]));
    assert_eq!(
        judgement.scopes,
        [
            AnswerScope::Once,
            AnswerScope::Turn,
            AnswerScope::Session,
            AnswerScope::Project
        ]
    );
    assert_eq!(
        judgement.remembered.map(|(shape, _)| shape),
        Some(grant("/srv/a/x.json", false))
    );
    let secret = judge(&[outside("/home/me/.ssh/id_rsa", false)], &circumstances(&[]));
    assert_eq!(secret.scopes, [AnswerScope::Once]);
}

#[test]
fn hosts_fit_exactly_or_below_a_domain() {
    for (host, target, fits) in [
        ("example.com", "example.com", true),
        ("example.com", "api.example.com", false),
        ("*.example.com", "api.example.com", true),
        ("*.example.com", "a.b.example.com", true),
        ("*.example.com", "example.com", false),
        ("*.example.com", "badexample.com", false),
        ("*.com", "example.com", false),
    ] {
        let shape = RuleShape::Host { host: host.into() };
        let access = [Access::Network { host: target.into() }];
        assert_eq!(rule_fits(&shape, &access).is_ok(), fits, "{host} {target}");
    }
}

#[test]
fn a_rule_lets_a_networking_command_go_only_where_hosts_are_asked() {
    let rules = [rule(shape("npm install …"), RuleAnswer::Allow)];
    let open = circumstances(&rules);
    let asked = Circumstances {
        network_asks: true,
        ..open
    };
    assert_eq!(judge(&exec("npm install x"), &open).decision, Decision::Ask);
    assert_eq!(judge(&exec("npm install x"), &asked).decision, Decision::Allow);
    assert_eq!(
        judge(&exec("npm install x"), &circumstances(&[])).remembered,
        None
    );
    let asked = Circumstances { rules: &[], ..asked };
    assert_eq!(
        judge(&exec("npm install x"), &asked)
            .remembered
            .map(|(_, words)| words)
            .as_deref(),
        Some("npm install, any arguments")
    );
}

#[test]
fn a_deletion_is_remembered_for_one_exact_command_in_this_session() {
    let exactly = rule(shape("rm -rf dist"), RuleAnswer::Allow);
    assert_eq!(
        ruling(&exec("rm -rf dist"), std::slice::from_ref(&exactly)),
        Decision::Allow
    );
    assert_eq!(
        ruling(&exec("rm -rf dist2"), std::slice::from_ref(&exactly)),
        Decision::Ask
    );
    let longer = Rule {
        scope: RuleScope::Project,
        ..exactly.clone()
    };
    assert_eq!(ruling(&exec("rm -rf dist"), &[longer]), Decision::Ask);
    assert_eq!(
        ruling(&exec("rm -rf dist"), &[rule(shape("rm …"), RuleAnswer::Allow)]),
        Decision::Ask
    );
    let both = [exec("rm -rf dist"), vec![Access::Delete { path: "dist".into() }]].concat();
    assert_eq!(ruling(&both, &[exactly]), Decision::Ask);
    assert_eq!(
        judge(&exec("rm -rf dist"), &circumstances(&[])).scopes,
        [AnswerScope::Once]
    );
}

#[test]
fn plan_looks_outside_and_is_asked_for_hosts_but_changes_nothing() {
    let plan = Circumstances {
        role: Role::Plan,
        ..circumstances(&[])
    };
    assert_eq!(
        judge(&[outside("/srv/a/x", false)], &plan).decision,
        Decision::Ask
    );
    assert!(matches!(
        judge(&[outside("/srv/a/x", true)], &plan).decision,
        Decision::Forbid(_)
    ));
    let host = [Access::Network {
        host: "example.com".into(),
    }];
    assert_eq!(judge(&host, &plan).decision, Decision::Ask);
}

#[test]
fn rules_that_hand_over_too_much_are_refused() {
    for words in [
        "…",
        "*",
        "* x",
        "sudo …",
        "su …",
        "doas ls",
        "sh …",
        "bash",
        "bash -c …",
        "python3 …",
        "python3 -c *",
        "python *",
        "node",
        "node -e …",
        "perl -e x",
        "eval …",
        "xargs …",
        "env …",
        "npx …",
        "ssh host …",
        "find|sh …",
        "time …",
        "timeout 5 …",
        "rm …",
        "rm *",
        "rm -rf *",
        "rm -rf /",
        "rm -rf ~",
        "rm -rf a b",
        "rm -rf ../x",
        "rm -rf $X",
        "git clean -fd",
        "git reset --hard …",
        "git push --force …",
        "npm … test",
        "$X",
        "",
    ] {
        assert!(
            refused_shape(&shape(words), RuleAnswer::Allow).is_some(),
            "{words}"
        );
    }
    for words in [
        "npm test …",
        "git …",
        "python3 a.py …",
        "sh tests/run.sh",
        "make *",
        "rm -rf dist",
        "cargo|go test …",
        "ls …",
    ] {
        assert_eq!(refused_shape(&shape(words), RuleAnswer::Allow), None, "{words}");
    }
    for words in ["sudo …", "*", "rm …", "python3 …"] {
        assert_eq!(refused_shape(&shape(words), RuleAnswer::Never), None, "{words}");
    }
}

#[test]
fn places_and_hosts_that_hold_too_much_are_refused() {
    for host in [
        "*.com",
        "*.co.uk",
        "*.github.io",
        "*.s3.amazonaws.com",
        "*.10.0.0.1",
        "*",
        "",
        "a b",
        "Example.com",
        "*.",
        "a..b",
    ] {
        assert!(
            refused_shape(&RuleShape::Host { host: host.into() }, RuleAnswer::Allow).is_some(),
            "{host}"
        );
    }
    for host in ["example.com", "*.example.com", "10.0.0.1", "::1", "localhost"] {
        assert_eq!(
            refused_shape(&RuleShape::Host { host: host.into() }, RuleAnswer::Allow),
            None,
            "{host}"
        );
    }
    for (path, write) in [
        ("/", false),
        ("/home/", false),
        ("/home/me/", false),
        ("/Users/me", false),
        ("/root/", false),
        ("C:/", false),
        ("/etc/", false),
        ("/home/me/.ssh/config", false),
        ("/home/me/.aws/", false),
        ("/etc/shadow", false),
        ("/proc/1/environ", false),
        ("/etc/hosts", true),
        ("/home/me/.bashrc", true),
        ("/home/me/.config/autostart/", true),
        ("a/b", false),
        ("/srv/../x", false),
    ] {
        let shape = RuleShape::Outside {
            path: path.into(),
            write,
        };
        assert!(refused_shape(&shape, RuleAnswer::Allow).is_some(), "{path}");
    }
    for (path, write) in [
        ("/home/me/shared/", false),
        ("/home/me/shared/x", true),
        ("/etc/hosts", false),
        ("/srv/data/", true),
    ] {
        let shape = RuleShape::Outside {
            path: path.into(),
            write,
        };
        assert_eq!(refused_shape(&shape, RuleAnswer::Allow), None, "{path}");
    }
    for path in [
        ".git/config",
        "a/.git/hooks/x",
        ".paddock/x",
        ".env",
        "sub/.env.local",
        "AGENTS.md",
        "../x",
        "/etc/x",
    ] {
        let shape = RuleShape::WritePath { path: path.into() };
        assert!(refused_shape(&shape, RuleAnswer::Allow).is_some(), "{path}");
    }
}

#[test]
fn wide_rules_say_what_they_permit() {
    for words in [
        "git …",
        "npm *",
        "cargo|go test …",
        "npm run …",
        "docker …",
        "uv run …",
    ] {
        assert!(!is_wide(&shape(words)).is_empty(), "{words}");
    }
    for words in ["git status …", "npm test …", "ls …", "rm dist"] {
        assert!(is_wide(&shape(words)).is_empty(), "{words}");
    }
    let host = RuleShape::Host {
        host: "*.example.com".into(),
    };
    assert!(!is_wide(&host).is_empty());
}

#[test]
fn rules_speak() {
    assert_eq!(in_words(&shape("npm test …")), "npm test, any arguments");
    assert_eq!(
        in_words(&shape("npm run|exec * …")),
        "npm (run or exec) (any word), any arguments"
    );
    let rules = [rule(shape("npm test …"), RuleAnswer::Allow)];
    let judgement = judge(&exec("npm install"), &circumstances(&rules));
    let line = judgement
        .trace
        .iter()
        .find(|line| line.about.contains("npm test"))
        .unwrap();
    assert_eq!(line.says, "no match: second part is “install”, rule says “test”");
    let judgement = judge(&exec("npm test | tee log"), &circumstances(&rules));
    assert_eq!(
        judgement.segments[0].notes,
        ["allowed by rule “npm test, any arguments” · 0 uses"]
    );
    assert!(judgement.segments[1].notes.is_empty());
    let misfit = rule_fits(&shape("npm test"), &exec("npm test > log")).unwrap_err();
    assert_eq!(misfit.to_string(), "it also writes log");
}

#[test]
fn near_misses_are_those_of_one_word_or_one_part() {
    for (command, near) in [
        ("npm test", false),
        ("npm install", true),
        ("npm test && curl x", true),
        ("npm test > log", true),
        ("cargo test", false),
        ("ls", false),
    ] {
        assert_eq!(nearly_covers(&shape("npm test …"), command), near, "{command}");
    }
}

#[test]
fn one_rule_is_suggested_for_parts_of_one_shape() {
    let words = |command: &str| {
        judge(&exec(command), &circumstances(&[]))
            .remembered
            .map(|(_, words)| words)
    };
    assert_eq!(
        words("npm test && npm test -- b").as_deref(),
        Some("npm test, any arguments")
    );
    assert_eq!(
        words("uv run pytest -x").as_deref(),
        Some("uv run pytest, any arguments")
    );
    assert_eq!(
        words("python3 -m pytest -q").as_deref(),
        Some("python3 -m pytest, any arguments")
    );
    assert_eq!(
        words("git -C sub status").as_deref(),
        Some("git -C sub status, any arguments")
    );
    for command in [
        "npm test && npm run x",
        "git",
        "git -c core.pager=x log",
        "make > log",
        "python3 -m pytest -c x | sh",
        "uv run sh -c x",
    ] {
        assert_eq!(words(command), None, "{command}");
    }
}
