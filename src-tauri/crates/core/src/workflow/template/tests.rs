use super::*;
use std::process::Command;

fn values(pairs: &[(&str, ParameterValue)]) -> ParameterValues {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect()
}

fn text(value: &str) -> ParameterValue {
    ParameterValue::Text(value.to_owned())
}

fn problem(command: &str) -> Option<TemplateProblem> {
    Template::read(command)
        .and_then(|template| template.check_command(|name| name == "list"))
        .err()
}

#[test]
fn texts_are_filled() {
    let template =
        Template::read("Look at {file}{deep? and what is below}, {{not}} this: {answer.why}").unwrap();
    let some = values(&[("file", text("a {x}")), ("deep", ParameterValue::Switch(true))]);
    assert_eq!(
        template.text(&some),
        "Look at a {x} and what is below, {not} this: {answer.why}"
    );
    assert_eq!(template.text(&values(&[])), "Look at , {not} this: {answer.why}");
    assert_eq!(template.names().collect::<Vec<_>>(), ["file", "deep"]);
    for bad in ["a {", "{}", "{A}", "{a b}", "{a?{b}}", "{1}"] {
        assert_eq!(Template::read(bad), Err(TemplateProblem::Brace), "{bad}");
    }
}

#[test]
fn a_value_stands_only_where_a_quoted_word_is_one() {
    for fine in [
        "cargo test {x}",
        "git log --author={x} -n {n} -- {list}",
        "make > {x} && tar cf out.tar -- {x} | cat",
        "A={x} make test",
        "echo 'quoted' \"words\" {x}",
        "printf '%s\\n' {x} # a comment",
        "echo {flag?--loud} {x}",
        "grep -- {answer.what} file",
        "no values here $(date) `id` \"$HOME\"",
    ] {
        assert_eq!(problem(fine), None, "{fine}");
    }
    for bad in [
        "echo '{x}'",
        "echo \"{x}\"",
        "echo \"a\" \"b {x}\"",
        "echo \\{x}",
        "echo ${x}",
        "echo $(ls {x})",
        "echo `ls {x}`",
        "cat <<EOF\n{x}\nEOF",
        "echo a # {x}",
        "(cd {x}; ls)",
        "for f in {x}; do ls; done",
        "[[ {x} -eq 1 ]]",
        "test -v {x}",
        "[ -v {x} ]",
        "printf -v {x} a",
        "eval {x}",
        "env bash -c {x}",
        "xargs sh -ec {x}",
        "declare {x}",
        "trap {x} EXIT",
        "{x} --version",
        "ls; {answer.program}",
        "echo {answer.what}",
        "echo a{list}",
        "echo {flag?'}{x}",
        "echo {flag?$(}{x}",
    ] {
        assert!(problem(bad).is_some(), "{bad}");
    }
}

/// What a real shell makes of the words.
fn shell_words(command: &str) -> Vec<String> {
    let output = Command::new("bash").arg("-c").arg(command).output().unwrap();
    assert!(output.status.success(), "{command}");
    String::from_utf8(output.stdout)
        .unwrap()
        .split_terminator('\0')
        .map(str::to_owned)
        .collect()
}

#[test]
fn whatever_the_value_it_stays_one_word_in_a_real_shell() {
    let place = tempfile::tempdir().unwrap();
    let marker = place.path().join("ran");
    let touch = format!("touch {}", marker.display());
    let hostile = [
        format!("'; {touch}; '"),
        format!("$({touch})"),
        format!("`{touch}`"),
        format!("\"; {touch}; \""),
        format!("a\n{touch}\n"),
        format!("x' $({touch}) 'y"),
        format!("\\'; {touch}"),
        "${HOME}".to_owned(),
        "~".to_owned(),
        "*".to_owned(),
        "{a,b}".to_owned(),
        "!!".to_owned(),
        String::new(),
        "ünïcödé 🎉".to_owned(),
    ];
    let template = Template::read("printf '%s\\0' {x} --name={x} -- {x}").unwrap();
    template.check_command(|_| false).unwrap();
    for value in hostile {
        let command = template
            .command(&values(&[("x", text(&value))]), |_| false)
            .unwrap();
        let attached = format!("--name={value}");
        assert_eq!(
            shell_words(&command),
            [value.as_str(), &attached, "--", &value],
            "{command}"
        );
        assert!(!marker.exists(), "{command}");
    }
    let list = ParameterValue::List(vec!["a b".into(), "$(id)".into(), "-x".into()]);
    let template = Template::read("printf '%s\\0' -- {list}").unwrap();
    template.check_command(|name| name == "list").unwrap();
    let command = template.command(&values(&[("list", list)]), |_| false).unwrap();
    assert_eq!(shell_words(&command), ["--", "a b", "$(id)", "-x"]);
}

#[test]
fn a_value_cannot_become_an_option() {
    let bare = Template::read("rm {x}").unwrap();
    let dash = values(&[("x", text("-rf"))]);
    assert_eq!(bare.command(&dash, |_| false), Err(vec!["x".to_owned()]));
    assert_eq!(bare.command(&dash, |_| true).unwrap(), "rm ./-rf");
    for fine in ["rm -- {x}", "log --text={x}", "cat < {x}"] {
        assert!(
            Template::read(fine).unwrap().command(&dash, |_| false).is_ok(),
            "{fine}"
        );
    }
}

#[test]
fn what_is_left_out_leaves_no_word() {
    let template = Template::read("printf '%s\\0' a {x} --y={x} {flag?-z -w}").unwrap();
    let command = template.command(&values(&[]), |_| false).unwrap();
    assert_eq!(shell_words(&command), ["a", "--y="]);
    let on = values(&[("flag", ParameterValue::Switch(true))]);
    let command = template.command(&on, |_| false).unwrap();
    assert_eq!(shell_words(&command), ["a", "--y=", "-z", "-w"]);
}
