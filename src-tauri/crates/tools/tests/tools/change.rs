use crate::support::Project;
use paddock_protocol::*;
use paddock_tools::*;
use serde_json::json;
use std::sync::Arc;

#[tokio::test]
async fn write_file_makes_files_and_folders() {
    let project = Project::new(&[]);
    let output = project
        .run("write_file", json!({"path": "a/b/c.txt", "content": "x\ny\n"}))
        .await
        .unwrap();
    assert_eq!(
        (output.text.as_str(), output.ok),
        ("Created a/b/c.txt (2 lines).", true)
    );
    assert_eq!(project.text("a/b/c.txt"), "x\ny\n");
    let change = &output.changes[0];
    assert_eq!(
        (change.kind.clone(), change.added, change.removed),
        (ChangeKind::Created, 2, 0)
    );
    assert!(change.undoable && change.diff.is_some());
    assert_eq!(*project.journal.lock().unwrap(), [("a/b/c.txt".to_owned(), None)]);
    assert_eq!(
        *project.after.lock().unwrap(),
        [("a/b/c.txt".to_owned(), version_of(Some(b"x\ny\n")))]
    );
}

#[tokio::test]
async fn a_replaced_file_keeps_encoding_and_line_ends() {
    let project = Project::new(&[("crlf.txt", "a\r\nb\r\n"), ("lf.txt", "a\n"), ("bin", "a\0b")]);
    project.put("mark.txt", b"\xef\xbb\xbfa\n");
    project.put("wide.txt", b"\xff\xfea\0\n\0");
    project.put("latin.txt", b"caf\xe9\n");
    for (path, content, expected) in [
        ("crlf.txt", "x\ny\n", &b"x\r\ny\r\n"[..]),
        ("lf.txt", "x\r\n", b"x\r\n"),
        ("mark.txt", "x\n", b"\xef\xbb\xbfx\n"),
        ("wide.txt", "é\n", b"\xff\xfe\xe9\0\n\0"),
        ("latin.txt", "\u{e8}\n", b"\xe8\n"),
        ("latin.txt", "日\n", "日\n".as_bytes()),
        ("bin", "text\n", b"text\n"),
    ] {
        let output = project
            .run("write_file", json!({"path": path, "content": content}))
            .await
            .unwrap();
        assert!(output.text.starts_with("Edited "), "{}", output.text);
        assert_eq!(project.get(path), expected, "{path}");
    }
    let same = project
        .fails("write_file", json!({"path": "lf.txt", "content": "x\r\n"}))
        .await;
    assert!(same.contains("already has exactly this content"), "{same}");
    for (path, expected) in [(".", "project folder itself"), ("x/..", "project folder itself")] {
        let text = project
            .fails("write_file", json!({"path": path, "content": "x"}))
            .await;
        assert!(text.contains(expected) || text.contains("is a folder"), "{text}");
    }
}

#[tokio::test]
async fn a_file_that_the_model_does_not_know_is_not_replaced_whole() {
    let mut project = Project::new(&[("a.txt", "one\n"), ("empty.txt", " \n")]);
    project.cx.knows = Arc::new(|path| path.as_str() == "known.txt");
    let whole = json!({"path": "a.txt", "content": "two\n"});
    let text = project.fails("write_file", whole.clone()).await;
    assert!(
        text.contains("you have not read it; nothing was written"),
        "{text}"
    );
    assert!(
        project.prepare("write_file", whole).await.is_err(),
        "nobody is asked"
    );
    assert_eq!(project.text("a.txt"), "one\n");
    for path in ["new.txt", "empty.txt"] {
        let write = json!({"path": path, "content": "two\n"});
        project.run("write_file", write).await.unwrap();
    }
    let edit = json!({"path": "a.txt", "old_text": "one", "new_text": "two"});
    project.run("edit_file", edit).await.unwrap();
    project.put("known.txt", b"one\n");
    let known = json!({"path": "known.txt", "content": "two\n"});
    project.run("write_file", known).await.unwrap();
}

#[tokio::test]
async fn a_careful_call_does_not_lose_most_of_a_file() {
    let mut project = Project::new(&[("a.py", "def one():\n    return 1\n\n\ndef two():\n    return 2\n")]);
    let other = json!({"path": "a.py", "content": "def three():\n    return 3\n"});
    project.cx.careful = true;
    let text = project.fails("write_file", other.clone()).await;
    assert!(
        text.contains("would lose 4 of its 4 lines, `def one():` among them") && text.contains("edit_file"),
        "{text}"
    );
    let read = project
        .says("read_file", json!({"path": "a.py", "from_line": 5}))
        .await;
    assert_eq!(read, "def two():\n    return 2\n", "numbers would be copied");
    let edit = json!({"path": "a.py", "old_text": "return 2", "new_text": "return 3"});
    let text = project.says("edit_file", edit).await;
    assert!(text.ends_with("Now:\n\ndef two():\n    return 3"), "{text}");
    let more =
        json!({"path": "a.py", "content": "def one():\n    return 1\n\n\ndef three():\n    return 3\n"});
    project.run("write_file", more).await.unwrap();
    project.cx.careful = false;
    project.run("write_file", other).await.unwrap();
    assert_eq!(project.text("a.py"), "def three():\n    return 3\n");
}

#[tokio::test]
async fn a_careful_call_that_would_lose_a_file_is_told_the_edit_to_make() {
    let dates = "\"\"\"Dates.\"\"\"\n\n\ndef week():\n    return 7\n";
    let settings = "{\n  \"name\": \"harbour\",\n  \"timeout\": 10\n}\n";
    let mut project = Project::new(&[
        ("dates.py", dates),
        ("settings.json", settings),
        ("same.txt", "a\na\n"),
    ]);
    project.cx.careful = true;
    let add = json!({"path": "dates.py", "content": "\ndef year():\n    return 365\n"});
    let text = project.fails("write_file", add).await;
    let edit = "\"old_text\": \"    return 7\"\n\"new_text\": \"    return 7\\n\\n\\ndef year():\\n    return 365\"\n";
    assert!(text.contains(edit), "{text}");
    let long = json!({"path": "dates.py", "content": "x = 1\n".repeat(500)});
    let text = project.fails("write_file", long).await;
    assert!(text.ends_with("Use edit_file to change a part of it."), "{text}");

    let compact = json!({"path": "settings.json", "content": "{\"name\":\"harbour\",\"timeout\":45}"});
    let text = project.fails("write_file", compact).await;
    assert!(
        text.contains("set out in another way") && text.ends_with("\"old_text\": \"  \\\"timeout\\\": 10\""),
        "{text}"
    );

    let same = json!({"path": "same.txt", "content": "b\n"});
    let text = project.fails("write_file", same).await;
    assert!(text.contains("\"old_text\": \"a\\na\""), "{text}");
}

#[tokio::test]
async fn a_careful_write_may_change_every_line_of_a_file_a_little() {
    let mut project = Project::new(&[(
        "greet.py",
        "def greet(name, word):\n    return f\"{word}, {name}!\"\n",
    )]);
    project.cx.careful = true;
    let content = "def greet(name, word='Hi'):\n    return f'{word}, {name}!'\n";
    let write = json!({"path": "greet.py", "content": content});
    project.run("write_file", write).await.unwrap();
    assert_eq!(project.text("greet.py"), content);
}

#[tokio::test]
async fn a_careful_edit_of_a_name_tells_where_it_still_is() {
    let mut project = Project::new(&[
        ("a.py", "load()\nload()\n"),
        ("b.py", "from a import load\n"),
        ("c.py", "Load = reload\n"),
    ]);
    project.cx.careful = true;
    let edit = |path: &str| json!({"path": path, "old_text": "load", "new_text": "read", "all": true});
    let text = project.says("edit_file", edit("a.py")).await;
    assert!(
        text.contains("2 places replaced. `load` is still in b.py.\n"),
        "{text}"
    );
    let text = project.says("edit_file", edit("b.py")).await;
    assert!(!text.contains("still in"), "{text}");
}

#[tokio::test]
async fn a_careful_edit_does_not_lose_the_first_line_of_a_block() {
    let dates = "\"\"\"Dates.\"\"\"\n\n\ndef week():\n    return 7\n";
    let year = "def is_leap_year(number):\n    rest = number % 4\n    return rest == 0";
    let mut project = Project::new(&[("dates.py", dates)]);
    project.cx.careful = true;
    let edit = |new: &str| json!({"path": "dates.py", "old_text": "def week():", "new_text": new});
    let text = project.fails("edit_file", edit(year)).await;
    let both = format!("{year}\n\n\ndef week():");
    assert!(text.contains("`def week():` would be gone"), "{text}");
    assert!(
        text.ends_with(&format!("\"new_text\": {}", json!(both))),
        "{text}"
    );
    assert_eq!(project.text("dates.py"), dates);
    project.run("edit_file", edit(&both)).await.unwrap();
    assert_eq!(project.text("dates.py"), dates.replace("def week():", &both));

    for (old, new) in [
        ("def week():", "def week(days):\n    check(days)\n    log(days)"),
        ("    return 7", "    days = 7\n    log(days)\n    return days"),
    ] {
        project.put("dates.py", dates.as_bytes());
        let edit = json!({"path": "dates.py", "old_text": old, "new_text": new});
        project.run("edit_file", edit).await.unwrap();
    }
    project.put("dates.py", dates.as_bytes());
    project.cx.careful = false;
    project.run("edit_file", edit(year)).await.unwrap();
}

#[tokio::test]
async fn a_long_change_is_shown_in_part() {
    let project = Project::new(&[("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\n")]);
    let lines: Vec<String> = (1..=100).map(|n| format!("line {n}")).collect();
    let edit = json!({"path": "a.txt", "old_text": "four", "new_text": lines.join("\n")});
    let text = project.says("edit_file", edit).await;
    assert!(text.contains("\nNow:\n2\ttwo\n3\tthree\n4\tline 1\n"), "{text}");
    assert_eq!(text.lines().count(), 2 + 20, "{text}");
    let delete = json!({"path": "a.txt", "old_text": "one\n", "new_text": ""});
    let text = project.says("edit_file", delete).await;
    assert!(text.contains("\nNow:\n1\ttwo\n2\tthree\n"), "{text}");
    let text = project
        .says(
            "edit_file",
            json!({"path": "a.txt", "old_text": "six", "new_text": "end"}),
        )
        .await;
    assert!(
        text.ends_with("\tfive\n105\tend") || text.ends_with("\tend"),
        "{text}"
    );
}

#[tokio::test]
async fn edit_file_shows_and_makes_the_change() {
    let project = Project::new(&[("src/a.rs", "fn a() {\n    one();\n    two();\n}\n")]);
    let edit = json!({"path": "src/a.rs", "old_text": "one();", "new_text": "one(1);\n    more();"});
    let prepared = project.prepare("edit_file", edit.clone()).await.unwrap();
    assert_eq!(project.text("src/a.rs"), "fn a() {\n    one();\n    two();\n}\n");
    let ApprovalBody::Change { change, base } = prepared.body else {
        panic!("no change")
    };
    assert_eq!(base, version_of(Some(b"fn a() {\n    one();\n    two();\n}\n")));
    assert_eq!((change.added, change.removed), (2, 1));
    assert_eq!(prepared.undo, UndoFact::Covered);
    let output = project.run("edit_file", edit).await.unwrap();
    assert_eq!(output.changes, [change], "what was shown is what was done");
    assert_eq!(
        output.text,
        "Edited src/a.rs (+2 -1 lines).\nNow:\n1\tfn a() {\n2\t    one(1);\n3\t    more();\n4\t    two();\n5\t}"
    );
    assert_eq!(
        project.text("src/a.rs"),
        "fn a() {\n    one(1);\n    more();\n    two();\n}\n"
    );
    let all = json!({"path": "src/a.rs", "old_text": "();", "new_text": "()?;", "all": true});
    let text = project.says("edit_file", all).await;
    assert!(
        text.starts_with("Edited src/a.rs (+2 -2 lines). 2 places replaced.\nNow:\n1\tfn a() {\n"),
        "{text}"
    );
    let shifted = json!({"path": "src/a.rs", "old_text": "more()?;\ntwo()?;\n", "new_text": "two()?;\n"});
    let text = project.says("edit_file", shifted).await;
    assert!(
        text.contains("the indentation of the file was kept.\nNow:\n"),
        "{text}"
    );
    assert_eq!(
        project.text("src/a.rs"),
        "fn a() {\n    one(1);\n    two()?;\n}\n"
    );
    assert_eq!(project.journal.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn edit_file_keeps_encoding_mark_and_line_ends() {
    let project = Project::new(&[]);
    project.put("mark", b"\xef\xbb\xbfa\r\nb\r\n");
    project.put("wide", b"\xff\xfea\0\r\0\n\0b\0");
    project.put("latin", b"caf\xe9 \x93quote\x94\n");
    for (path, old, new, expected) in [
        ("mark", "a\nb\n", "a\nx\ny\n", &b"\xef\xbb\xbfa\r\nx\r\ny\r\n"[..]),
        ("wide", "b", "é", b"\xff\xfea\0\r\0\n\0\xe9\0"),
        ("latin", "café", "th\u{e9}", b"th\xe9 \x93quote\x94\n"),
    ] {
        project
            .run(
                "edit_file",
                json!({"path": path, "old_text": old, "new_text": new}),
            )
            .await
            .unwrap();
        assert_eq!(project.get(path), expected, "{path}");
    }
    let text = project
        .fails(
            "edit_file",
            json!({"path": "latin", "old_text": "th", "new_text": "日"}),
        )
        .await;
    assert!(text.contains("cannot hold “日”; nothing was changed"), "{text}");
}

#[tokio::test]
async fn edit_file_fails_in_words_that_help() {
    let project = Project::new(&[
        ("a.txt", "alpha\nbeta\ngamma\nbeta\n"),
        ("bin", "a\0b"),
        ("crlf", "x\r\n"),
        ("quoted.json", "  \"name\": \"gamma\",\n"),
    ]);
    for (path, old, new, expected) in [
        (
            "a.txt",
            "beta",
            "x",
            "`old_text` is in `a.txt` 2 times (lines 2, 4); nothing was changed. Add lines around it to name one place, or set `all`.",
        ),
        (
            "a.txt",
            "alpha\nbeta!",
            "x",
            "`old_text` is not in `a.txt`; nothing was changed. The nearest lines are:\n1\talpha\n2\tbeta\nCopy the text exactly, without line numbers.",
        ),
        (
            "quoted.json",
            "name: gamma",
            "x",
            "`old_text` is not in `quoted.json`; nothing was changed. The nearest lines are:\n1\t  \"name\": \"gamma\",\nCall edit_file again with\n\"old_text\": \"  \\\"name\\\": \\\"gamma\\\",\".",
        ),
        (
            "a.txt",
            "zzzzzzzzz",
            "x",
            "`old_text` is not in `a.txt`, nor anything like it; nothing was changed. Read the file first.",
        ),
        (
            "a.txt",
            "",
            "x",
            "`old_text` is empty; give the text to replace, or use write_file for a whole file",
        ),
        (
            "a.txt",
            "alpha",
            "alpha",
            "The new text is the same as the old; nothing was changed.",
        ),
        (
            "none",
            "a",
            "b",
            "`none` does not exist. The project folder has: a.txt, bin, crlf, quoted.json. To make it use write_file.",
        ),
        ("bin", "a", "b", "`bin` is a binary file, not text."),
        (".", "a", "b", "`.` is a folder."),
    ] {
        let arguments = json!({"path": path, "old_text": old, "new_text": new});
        assert_eq!(project.fails("edit_file", arguments.clone()).await, expected);
        assert!(project.prepare("edit_file", arguments).await.is_err());
    }
    assert!(project.journal.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_failed_edit_tells_nothing_of_a_file_with_secrets() {
    let mut project = Project::new(&[(".env", "TOKEN=hunter2\nA=1\n")]);
    let edit = json!({"path": ".env", "old_text": "TOKEN=\nA=1", "new_text": "x"});
    let prepared = project
        .prepare("edit_file", edit.clone())
        .await
        .unwrap_err()
        .to_string();
    assert!(
        !prepared.contains("hunter2") && prepared.contains("nothing was changed"),
        "{prepared}"
    );
    project.cx.protected_granted = true;
    let granted = project.prepare("edit_file", edit).await.unwrap_err().to_string();
    assert!(granted.contains("hunter2"), "{granted}");
}

#[tokio::test]
async fn only_the_approved_state_of_a_file_is_changed() {
    let mut project = Project::new(&[("a.txt", "one\n")]);
    for (tool, arguments) in [
        (
            "edit_file",
            json!({"path": "a.txt", "old_text": "one", "new_text": "two"}),
        ),
        ("write_file", json!({"path": "a.txt", "content": "two\n"})),
        ("write_file", json!({"path": "new.txt", "content": "x"})),
    ] {
        project.put("a.txt", b"one\n");
        let _ = std::fs::remove_file(project.path("new.txt"));
        let prepared = project.prepare(tool, arguments.clone()).await.unwrap();
        project.cx.approved = prepared.body.base();
        assert_eq!(project.cx.approved.len(), 1);
        let path = arguments["path"].as_str().unwrap();
        project.put(path, b"by the person\n");
        let result = project.run(tool, arguments.clone()).await;
        assert!(
            matches!(&result, Err(ToolError::ChangedSince { path: changed }) if changed == path),
            "{result:?}"
        );
        assert_eq!(project.text(path), "by the person\n");
        std::fs::remove_file(project.path(path)).unwrap();
        if path == "a.txt" {
            let gone = project.run(tool, arguments).await;
            assert!(matches!(gone, Err(ToolError::ChangedSince { .. })), "{gone:?}");
        } else {
            project.run(tool, arguments).await.unwrap();
        }
        project.cx.approved = Vec::new();
    }
    assert_eq!(project.journal.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn nothing_is_changed_that_could_not_be_kept_or_may_not_be() {
    let mut project = Project::new(&[("a.txt", "one\n"), (".git/config", "x\n")]);
    let write = |path: &str| json!({"path": path, "content": "two\n"});
    let kept = std::mem::replace(
        &mut project.cx.before,
        Arc::new(|_, _| Err(std::io::ErrorKind::StorageFull.into())),
    );
    assert!(matches!(
        project.run("write_file", write("a.txt")).await,
        Err(ToolError::Fatal(_))
    ));
    assert_eq!(project.text("a.txt"), "one\n");
    project.cx.before = kept;

    project.cx.read_only = true;
    assert!(
        project
            .fails("write_file", write("a.txt"))
            .await
            .contains("read-only")
    );
    assert!(project.journal.lock().unwrap().is_empty());
    project.cx.read_only = false;

    assert!(
        project
            .fails("write_file", write(".git/config"))
            .await
            .contains("protected")
    );
    project.cx.protected_granted = true;
    project.run("write_file", write(".git/config")).await.unwrap();
    assert_eq!(project.text(".git/config"), "two\n");
}
