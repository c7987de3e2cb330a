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
