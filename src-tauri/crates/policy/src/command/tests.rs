use super::*;

fn words(text: &str) -> Vec<Vec<String>> {
    parse_command(text)
        .parts
        .into_iter()
        .map(|part| part.words)
        .collect()
}

#[test]
fn splits_at_joints_and_keeps_quotes_together() {
    assert_eq!(
        words("npm run build | tee 'build log.txt' && echo \"a b\"; ls"),
        [
            vec!["npm", "run", "build"],
            vec!["tee", "build log.txt"],
            vec!["echo", "a b"],
            vec!["ls"]
        ]
    );
    let line = parse_command("a | b && c || d; e & f");
    assert_eq!(
        line.parts.iter().map(|p| p.joint.as_str()).collect::<Vec<_>>(),
        ["", "|", "&&", "||", ";", "&"]
    );
    assert!(line.understood);
}

#[test]
fn redirections_are_writes_not_words() {
    let line = parse_command("make >build.log 2>&1 && cat <in.txt >> out.txt 2>/dev/null");
    assert!(line.understood);
    assert_eq!(line.parts[0].words, ["make"]);
    assert_eq!(line.parts[0].writes, ["build.log"]);
    assert_eq!(line.parts[1].words, ["cat"]);
    assert_eq!(line.parts[1].writes, ["out.txt"]);
}

#[test]
fn what_cannot_be_split_says_so() {
    for text in [
        "echo $(curl evil)",
        "echo `id`",
        "for f in *; do rm $f; done",
        "cat <<EOF\nx\nEOF",
        "echo 'open",
        "echo \"open",
        "diff <(a) <(b)",
        "$CMD -rf x",
        "(cd x; ls)",
        "{ ls; }",
        "echo \"${IFS}\"",
        "ls \\",
        "",
        "| ls",
    ] {
        assert!(!parse_command(text).understood, "{text}");
    }
}

#[test]
fn comments_and_assignments() {
    let line = parse_command("A=1 B=x make test # rm -rf /\n\nls");
    assert_eq!(line.parts[0].words, ["make", "test"]);
    assert_eq!(line.parts[0].assignments, ["A=1", "B=x"]);
    assert_eq!(line.parts[1].words, ["ls"]);
    assert!(line.understood);
}

fn joints_and_texts(text: &str) -> Vec<(String, String)> {
    let parts = parse_command(text).parts;
    parts.into_iter().map(|part| (part.joint, part.text)).collect()
}

#[test]
fn every_command_inside_of_others_is_a_part() {
    for (text, expected) in [
        ("echo $(id -u) x", vec![("", "echo $(id -u) x"), ("$(", "id -u")]),
        (
            "a `b \\`c\\`` d",
            vec![("", "a `b \\`c\\`` d"), ("$(", "b `c`"), ("$(", "c")],
        ),
        (
            "diff <(a) <(b | c)",
            vec![("", "diff <(a) <(b | c)"), ("<(", "a"), ("<(", "b"), ("|", "c")],
        ),
        (
            "for f in 1 $(a); do b; done; c",
            vec![("$(", "a"), ("do", "b"), (";", "c")],
        ),
        (
            "if a; then b; elif c; then d; else e; fi",
            vec![
                ("if", "a"),
                ("then", "b"),
                ("elif", "c"),
                ("then", "d"),
                ("else", "e"),
            ],
        ),
        (
            "while a; do b; done < in > out",
            vec![
                ("while", "a"),
                ("do", "b"),
                ("", "while a; do b; done < in > out"),
            ],
        ),
        (
            "case $x in a|b) c;; (d) e ;& *) f; esac",
            vec![("case", "c"), ("case", "e"), ("case", "f")],
        ),
        ("f() { a; }; function g { b; }", vec![("{", "a"), ("{", "b")]),
        ("(a; b) && { c; }", vec![("(", "a"), (";", "b"), ("{", "c")]),
        (
            "cat <<E | a\n$(b)\nE\nc",
            vec![("", "cat <<E"), ("$(", "b"), ("|", "a"), (";", "c")],
        ),
        ("cat <<'E'\n$(b)\nE\nc", vec![("", "cat <<'E'"), (";", "c")]),
        (
            "cat <<-E <<F\n\ta\n\tE\nb\nF\nc",
            vec![("", "cat <<-E <<F"), (";", "c")],
        ),
        ("x=$(a) b", vec![("", "x=$(a) b"), ("$(", "a")]),
        (
            "a \"$(b \"$(c)\")\"",
            vec![("", "a \"$(b \"$(c)\")\""), ("$(", "b \"$(c)\""), ("$(", "c")],
        ),
        (
            "echo $((1 + $(a)))",
            vec![("", "echo $((1 + $(a)))"), ("$(", "a")],
        ),
        ("echo ${x:-$(a)}", vec![("", "echo ${x:-$(a)}"), ("$(", "a")]),
        ("time a; ! b", vec![("", "time a"), (";", "b")]),
    ] {
        let line = parse_command(text);
        assert!(line.seen, "{text}");
        let found = joints_and_texts(text);
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(joint, text)| (joint.as_str(), text.as_str()))
            .collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn words_are_what_the_program_would_be_given() {
    for (text, expected) in [
        ("a 'b c'd\"e f\"\\ g", vec!["a", "b cde f g"]),
        ("a \"\\$x \\\\ \\n\"", vec!["a", "$x \\ \\n"]),
        ("a $'t\\tn\\x41\\u00e4\\101'", vec!["a", "t\tnA\u{e4}A"]),
        ("a '' \"\"", vec!["a", "", ""]),
        ("a\\\nb c", vec!["ab", "c"]),
        ("{a,b}c{d,e}", vec!["acd", "ace", "bcd", "bce"]),
        ("a {b} {c,d", vec!["a", "{b}", "{c,d"]),
        ("a b#c #d", vec!["a", "b#c"]),
        ("a$IFS-b${IFS}c", vec!["a", "-b", "c"]),
        ("a 2>x 3< y &>z >|w b", vec!["a", "b"]),
    ] {
        assert_eq!(parse_command(text).parts[0].words, expected, "{text}");
    }
    let known = parse_command("x='a b'; y=$x; c $x \"$y\" '$x'");
    assert_eq!(known.parts[2].words, ["c", "a", "b", "a b", "$x"]);
    assert_eq!(known.parts[2].kind(1), WordKind::Expanded);
    assert_eq!(known.parts[2].kind(4), WordKind::Literal);
    let kinds = parse_command("a ~/b *.c '*' \"~\" [ $d");
    assert_eq!(
        kinds.parts[0].kinds,
        [
            WordKind::Literal,
            WordKind::Pattern,
            WordKind::Pattern,
            WordKind::Literal,
            WordKind::Literal,
            WordKind::Literal,
            WordKind::Expanded
        ]
    );
    let part = &parse_command("a 2>x 3< y &>z >|w <>v >&2 2>/dev/null").parts[0];
    assert_eq!(part.writes, ["x", "z", "w", "v"]);
    assert_eq!(part.reads, ["y", "v"]);
}

#[test]
fn a_line_that_goes_on_hides_nothing() {
    for text in [
        "x=rm; $\\\nx a",
        "$\\\n(rm a)",
        "a &\\\n& b",
        "a <\\\n<E",
        "ec\\\nho a",
        "echo \"$\\\n(a)\"",
    ] {
        assert!(!parse_command(text).seen, "{text}");
    }
    for text in ["make \\\n  -j4 \\\n  all", "a &&\\\n b", "echo \"a \\\nb\""] {
        assert!(parse_command(text).understood, "{text}");
    }
}

#[test]
fn hostile_lengths_and_depths_end_soon() {
    for piece in [
        "$(",
        "$((",
        "`",
        "(",
        "{ ",
        "{a,",
        "<<a ",
        "if ",
        "a;",
        "x=$x$x;",
        "${a:-",
        "\"$(",
        "case a in a) ",
        "f() ",
        "<(",
        "[[ ",
        "! ",
        "a|",
    ] {
        let line = parse_command(&piece.repeat(20_000));
        assert!(!line.understood, "{piece}");
        assert!(line.parts.len() < 3_000, "{piece}");
    }
}

mod properties {
    use super::*;
    use crate::{Circumstances, Decision, judge};
    use paddock_protocol::{Access, Autonomy, RiskClass, Role, Timestamp, TurnId};
    use proptest::prelude::*;

    fn judged(command: &str) -> crate::Judgement {
        let access = [Access::Exec {
            command: command.to_owned(),
        }];
        let cx = Circumstances {
            role: Role::Admin,
            autonomy: Autonomy::HandsOff,
            rules: &[],
            turn: TurnId(1),
            confined: true,
            network_asks: true,
            now: Timestamp(0),
        };
        judge(&access, &cx)
    }

    /// The command inside of another that runs it.
    fn wrapped(command: &str, way: u8) -> String {
        let quoted = command.replace('\'', "'\\''");
        match way % 16 {
            0 => format!("sh -c '{quoted}'"),
            1 => format!("bash -o pipefail -ec '{quoted}'"),
            2 => format!("echo $({command})"),
            3 => format!("true && {{ {command}; }}"),
            4 => format!("if true; then {command}; fi"),
            5 => format!("for i in 1 2; do {command}; done"),
            6 => format!("({command}) | cat"),
            7 => format!("f() {{ {command}; }}; f"),
            8 => format!("env A=1 sh -c '{quoted}'"),
            9 => format!("cat <<E\n$({command})\nE"),
            10 => format!("case x in x) {command};; esac"),
            11 => format!("make; {command} &"),
            12 => format!("timeout -k 1 5 sh -c '{quoted}'"),
            13 => format!("find . -exec sh -c '{quoted}' \\;"),
            14 => format!("[[ -n \"$({command})\" ]]"),
            _ => format!("sh <<'E'\n{command}\nE"),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

        #[test]
        fn quoted_words_come_back(words in prop::collection::vec("[ -~\u{e4}\n]{0,12}", 1..6)) {
            let quote = |word: &String| format!("'{}'", word.replace('\'', "'\\''"));
            let text = format!("x {}", words.iter().map(quote).collect::<Vec<_>>().join(" "));
            let line = parse_command(&text);
            prop_assert!(line.understood);
            prop_assert_eq!(line.parts.len(), 1);
            prop_assert_eq!(&line.parts[0].words[1..], &words[..]);
        }

        #[test]
        fn any_text_is_judged(text in "([a-c ]|[$(){}<>|&;'\"`\\\\\n#*~=]|if |then |fi|do |done|case |in |esac|<<a|\\$\\(|EOF){0,40}") {
            let judgement = judged(&text);
            prop_assert!(judgement.trace.iter().filter(|line| line.decides).count() == 1);
        }

        /// However deep it stands: a deletion asks and a hard denial holds, or it is said that it cannot be followed.
        #[test]
        fn nothing_is_hidden_by_wrapping(ways in prop::collection::vec(any::<u8>(), 0..4)) {
            let wrap = |command: &str| ways.iter().fold(command.to_owned(), |inner, way| wrapped(&inner, *way));
            let judgement = judged(&wrap("rm -rf src"));
            prop_assert!(judgement.decision == Decision::Ask, "{:?}", wrap("rm -rf src"));
            prop_assert!(judgement.classes.contains(&RiskClass::Delete), "{:?}", wrap("rm -rf src"));
            let denied = judged(&wrap("sudo ls"));
            prop_assert!(matches!(denied.decision, Decision::Forbid(_)), "{:?}", wrap("sudo ls"));
        }
    }
}
