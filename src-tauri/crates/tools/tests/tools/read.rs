use crate::support::Project;
use paddock_protocol::Attachment;
use paddock_protocol::OutputFacts;
use serde_json::json;

fn sample() -> Project {
    Project::new(&[
        (".gitignore", "node_modules/\n*.log\n!keep.log\n/build\n"),
        ("README.md", "# Sample\nNeedle here\n"),
        ("src/main.rs", "fn main() {\n    needle();\n}\n"),
        ("src/deep/er/mod.rs", "// needle NEEDLE\n"),
        ("src/.ignore", "generated.rs\n"),
        ("src/generated.rs", "needle\n"),
        ("node_modules/x/index.js", "needle\n"),
        ("debug.log", "needle\n"),
        ("keep.log", "needle\n"),
        ("build/out.txt", "needle\n"),
        ("docs/build/page.md", "needle\n"),
        (".git/config", "needle\n"),
        (".env", "TOKEN=needle\n"),
    ])
}

#[tokio::test]
async fn list_files_leaves_out_what_is_ignored() {
    let project = sample();
    let output = project.run("list_files", json!({})).await.unwrap();
    assert_eq!(
        output.text,
        ".env (13 B)\n.gitignore (37 B)\nREADME.md (21 B)\ndocs/\ndocs/build/\nkeep.log (7 B)\nsrc/\nsrc/.ignore (13 B)\nsrc/deep/\nsrc/main.rs (28 B)\n"
    );
    assert_eq!(
        output.facts,
        Some(OutputFacts::Entries {
            entries: 10,
            more: false
        })
    );
    assert!(output.ok);
    let one = project.says("list_files", json!({"path": ".", "depth": 1})).await;
    assert!(one.contains("src/\n") && !one.contains("src/main.rs"));
    let deep = project
        .says("list_files", json!({"path": "src", "depth": 9}))
        .await;
    assert_eq!(
        deep,
        "src/.ignore (13 B)\nsrc/deep/\nsrc/deep/er/\nsrc/deep/er/mod.rs (17 B)\nsrc/main.rs (28 B)\n"
    );
    let ignored = project
        .says("list_files", json!({"path": "node_modules/x"}))
        .await;
    assert_eq!(
        ignored, "node_modules/x/index.js (7 B)\n",
        "what is asked for by name is shown"
    );
    assert!(
        project
            .fails("list_files", json!({"path": "README.md"}))
            .await
            .contains("`README.md` is a file. Use read_file")
    );
    assert!(
        project
            .fails("list_files", json!({"path": "nothing"}))
            .await
            .contains("does not exist")
    );
}

#[tokio::test]
async fn a_long_list_says_that_it_was_cut() {
    let project = Project::new(&[]);
    assert_eq!(
        project.says("list_files", json!({})).await,
        "The folder is empty."
    );
    for number in 0..1_005 {
        project.put(&format!("f{number:04}"), b"");
    }
    let output = project.run("list_files", json!({})).await.unwrap();
    assert!(
        output
            .text
            .ends_with("f0999 (0 B)\n… more than 1000 entries; list a folder of these, or use find_files.\n")
    );
    assert_eq!(
        output.facts,
        Some(OutputFacts::Entries {
            entries: 1_000,
            more: true
        })
    );
    let found = project.run("find_files", json!({"pattern": "f*"})).await.unwrap();
    assert_eq!(
        found.facts,
        Some(OutputFacts::Hits {
            hits: 500,
            files: 500,
            more: true
        })
    );
}

#[cfg(unix)]
#[tokio::test]
async fn links_are_shown_and_not_followed() {
    let project = Project::new(&[("a/b.txt", "needle\n")]);
    std::os::unix::fs::symlink("..", project.path("a/loop")).unwrap();
    std::os::unix::fs::symlink(project.outside(), project.path("out")).unwrap();
    let list = project.says("list_files", json!({"depth": 9})).await;
    assert_eq!(list, "a/\na/b.txt (7 B)\na/loop (link)\nout (link)\n");
    assert_eq!(
        project.says("search_files", json!({"pattern": "needle"})).await,
        "1 line in 1 file.\n\na/b.txt\n  1: needle\n"
    );
    assert_eq!(
        project.says("find_files", json!({"pattern": "**"})).await,
        "a/b.txt\na/loop\nout\n"
    );
}

#[tokio::test]
async fn find_files_takes_globs() {
    let project = sample();
    for (pattern, expected) in [
        ("*.rs", "src/deep/er/mod.rs\nsrc/main.rs\n"),
        ("src/*.rs", "src/main.rs\n"),
        ("./src/**/*.{rs,md}", "src/deep/er/mod.rs\nsrc/main.rs\n"),
        ("docs/", "docs/build/page.md\n"),
        ("**/er/*", "src/deep/er/mod.rs\n"),
        ("*.log", "keep.log\n"),
        ("config", "No file has such a name (ignored files are left out)."),
        ("../*", "No file has such a name (ignored files are left out)."),
    ] {
        assert_eq!(
            project.says("find_files", json!({"pattern": pattern})).await,
            expected,
            "{pattern}"
        );
    }
    assert!(
        project
            .fails("find_files", json!({"pattern": "a{b"}))
            .await
            .starts_with("`pattern` is no glob:")
    );
    assert_eq!(
        project.fails("find_files", json!({"pattern": " "})).await,
        "`pattern` is empty"
    );
}

#[tokio::test]
async fn search_files_groups_hits_by_file() {
    let project = sample();
    let output = project
        .run("search_files", json!({"pattern": "needle"}))
        .await
        .unwrap();
    assert_eq!(
        output.text,
        "5 lines in 5 files.\n\nREADME.md\n  2: Needle here\n\ndocs/build/page.md\n  1: needle\n\nkeep.log\n  1: needle\n\nsrc/deep/er/mod.rs\n  1: // needle NEEDLE\n\nsrc/main.rs\n  2:     needle();\n\
         1 file with passwords or keys not shown; read one by name if it is needed.\n"
    );
    assert_eq!(
        output.facts,
        Some(OutputFacts::Hits {
            hits: 5,
            files: 5,
            more: false
        })
    );
    let both = project
        .says(
            "search_files",
            json!({"pattern": "^needle|NEEDLE$", "glob": "*.rs"}),
        )
        .await;
    assert_eq!(
        both,
        "1 line in 1 file.\n\nsrc/deep/er/mod.rs\n  1: // needle NEEDLE\n"
    );
    let small = json!({"pattern": "^needle here\\W?$"});
    assert_eq!(
        project.says("search_files", small).await,
        "1 line in 1 file.\n\nREADME.md\n  2: Needle here\n",
        "without capitals both are found"
    );
    let capital = json!({"pattern": "^NEEDLE here$"});
    assert!(
        project
            .says("search_files", capital)
            .await
            .starts_with("Nothing found")
    );
    let file = project
        .says("search_files", json!({"pattern": "needle", "path": "debug.log"}))
        .await;
    assert_eq!(
        file, "1 line in 1 file.\n\ndebug.log\n  1: needle\n",
        "a file asked for by name"
    );
    let none = project.says("search_files", json!({"pattern": "nowhere"})).await;
    assert_eq!(none, "Nothing found (ignored and binary files are left out).\n");
    let wrong = project.fails("search_files", json!({"pattern": "main("})).await;
    assert!(
        wrong.starts_with("`pattern` is no regular expression") && wrong.contains("unclosed group"),
        "{wrong}"
    );
    assert!(
        project
            .fails("search_files", json!({"pattern": "(a{999}){999}"}))
            .await
            .contains("regular expression")
    );
}

#[tokio::test]
async fn a_search_is_bounded_and_passes_over_binary_files() {
    let project = Project::new(&[(
        "wide.txt",
        &format!("{}needle{}\n", "é".repeat(500), "x".repeat(500)),
    )]);
    project.put("image.png", b"\x89PNG\0needle\n");
    project.put(
        "utf16.txt",
        &"\u{feff}a needle\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<_>>(),
    );
    let text = project.says("search_files", json!({"pattern": "needle"})).await;
    assert!(
        text.starts_with("2 lines in 2 files.\n\nutf16.txt\n  1: a needle\n\nwide.txt\n  1: …é"),
        "{text}"
    );
    assert!(
        text.ends_with("xxx…\n") && text.len() < 400 && text.contains("needle"),
        "{text}"
    );
    for number in 0..20 {
        project.put(&format!("many{number}.txt"), "needle\n".repeat(60).as_bytes());
    }
    let output = project
        .run("search_files", json!({"pattern": "needle"}))
        .await
        .unwrap();
    assert_eq!(
        output.facts,
        Some(OutputFacts::Hits {
            hits: 300,
            files: 8,
            more: true
        })
    );
    assert!(output.text.contains("  40: needle\n  … more in this file\n"));
    assert!(
        output
            .text
            .ends_with("… there may be more; narrow it with path, glob or a longer pattern.\n")
    );
    project.put("huge.txt", &vec![b'a'; 4 * 1024 * 1024 + 1]);
    let huge = project
        .says("search_files", json!({"pattern": "aaa", "path": "huge.txt"}))
        .await;
    assert!(huge.ends_with("1 file over 4 MB not searched.\n"), "{huge}");
}

#[tokio::test]
async fn read_file_numbers_lines_and_says_what_is_not_shown() {
    let project = Project::new(&[("a.txt", "one\ntwo\r\nthree"), ("empty", "")]);
    let output = project.run("read_file", json!({"path": "a.txt"})).await.unwrap();
    assert_eq!(output.text, "[mixed line ends]\n1\tone\n2\ttwo\n3\tthree\n");
    assert_eq!(
        output.facts,
        Some(OutputFacts::Lines {
            first: 1,
            last: 3,
            of: 3
        })
    );
    let part = project
        .run(
            "read_file",
            json!({"path": "a.txt", "from_line": 2, "to_line": "2"}),
        )
        .await
        .unwrap();
    assert_eq!(part.text, "[mixed line ends]\n2\ttwo\n… of 3 lines.\n");
    assert_eq!(
        part.facts,
        Some(OutputFacts::Lines {
            first: 2,
            last: 2,
            of: 3
        })
    );
    assert_eq!(
        project.says("read_file", json!({"path": "empty"})).await,
        "It is empty."
    );
    for (arguments, expected) in [
        (json!({"path": "a.txt", "from_line": 4}), "It has 3 lines only."),
        (
            json!({"path": "a.txt", "from_line": 3, "to_line": 2}),
            "`to_line` must not be before `from_line`",
        ),
        (
            json!({"path": "nothing"}),
            "`nothing` does not exist. The project folder has: ",
        ),
        (
            json!({"path": "."}),
            "`.` is a folder. Use list_files to see what is in it.",
        ),
        (json!({}), "`path` is missing"),
    ] {
        assert!(
            project.fails("read_file", arguments).await.starts_with(expected),
            "{expected}"
        );
    }
}

#[tokio::test]
async fn read_file_knows_encodings_and_refuses_binary_files_in_words() {
    let project = Project::new(&[]);
    let wide: Vec<u8> = "\u{feff}é\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (bytes, expected) in [
        (&b"\xef\xbb\xbfa\r\nb\r\n"[..], "[CRLF line ends]\n1\ta\n2\tb\n"),
        (b"caf\xe9\n", "[not UTF-8, read as Latin-1]\n1\tcafé\n"),
        (&wide, "[UTF-16 BE]\n1\té\n"),
    ] {
        project.put("x", bytes);
        assert_eq!(project.says("read_file", json!({"path": "x"})).await, expected);
    }
    project.put("x.png", b"\x89PNG\r\n\x1a\n\0\0");
    assert_eq!(
        project.fails("read_file", json!({"path": "x.png"})).await,
        "`x.png` is a PNG image (10 B). You do not see images; a command may tell its size, or what text is in it."
    );
    project.put("big", &vec![b'a'; 33 * 1024 * 1024]);
    let text = project.fails("read_file", json!({"path": "big"})).await;
    assert!(text.starts_with("`big` has 34.6 MB, too much to read."), "{text}");
}

#[tokio::test]
async fn reading_is_bounded() {
    let project = Project::new(&[]);
    project.put("lines", "x\n".repeat(5_000).as_bytes());
    let output = project.run("read_file", json!({"path": "lines"})).await.unwrap();
    assert!(
        output
            .text
            .ends_with("2000\tx\n… lines 2001 to 5000 of 5000 not shown; read on with from_line 2001.\n")
    );
    assert_eq!(output.total_bytes, Some(10_000));
    project.put("wide", format!("{}\n", "é".repeat(1_990)).repeat(100).as_bytes());
    let output = project.run("read_file", json!({"path": "wide"})).await.unwrap();
    assert!(output.text.len() <= 64 * 1024 && output.text.contains("… lines 17 to 100 of 100 not shown"));
    project.put("one", "é".repeat(100_000).as_bytes());
    let text = project.says("read_file", json!({"path": "one"})).await;
    assert!(text.ends_with("… (98000 more characters not shown)\n") && text.len() < 5_000);
}

#[tokio::test]
async fn read_output_reads_what_was_kept() {
    let project = Project::new(&[]);
    let text: String = (1..=3).map(|n| format!("line {n}\n")).collect();
    project
        .outputs
        .lock()
        .unwrap()
        .insert("t1.i1.c1".into(), text.into_bytes());
    let part = json!({"call": "t1.i1.c1", "from_line": 2});
    assert_eq!(project.says("read_output", part).await, "2\tline 2\n3\tline 3\n");
    let unknown = project.fails("read_output", json!({"call": "t9.i1.c1"})).await;
    assert_eq!(
        unknown,
        "No output of a call `t9.i1.c1` was kept; only cut outputs are."
    );
}

#[tokio::test]
async fn what_is_no_hit_as_an_expression_is_searched_as_plain_text() {
    let project = Project::new(&[("a.py", "def mean(values):\n    return values[0]\n")]);
    let found = project
        .says("search_files", json!({"pattern": "def mean(values):"}))
        .await;
    assert_eq!(
        found,
        "Nothing found as a regular expression; as plain text:\n1 line in 1 file.\n\na.py\n  1: def mean(values):\n"
    );
    let found = project
        .says("search_files", json!({"pattern": r"mean\(values\)"}))
        .await;
    assert_eq!(found, "1 line in 1 file.\n\na.py\n  1: def mean(values):\n");
}

#[tokio::test]
async fn the_name_of_a_file_that_no_line_holds_is_told_to_be_one() {
    let project = Project::new(&[("tools/check.sh", "exit 1\n"), ("a.py", "")]);
    for pattern in ["check.sh", r"check\.sh"] {
        let text = project.says("search_files", json!({"pattern": pattern})).await;
        assert!(
            text.ends_with("But there is a file with this name: tools/check.sh\n"),
            "{text}"
        );
    }
    let text = project.says("search_files", json!({"pattern": "check"})).await;
    assert!(!text.contains("with this name"), "{text}");
}

#[tokio::test]
async fn a_careful_search_goes_by_words_in_the_end() {
    let mut project = Project::new(&[
        ("options.py", "HOST = 1\nPORT = 8417\n"),
        ("a.py", "import options\n"),
    ]);
    let search = json!({"pattern": "listen on port"});
    assert!(
        project
            .says("search_files", search.clone())
            .await
            .starts_with("Nothing found (")
    );
    project.cx.careful = true;
    assert_eq!(
        project.says("search_files", search).await,
        "Nothing found; lines with one of its words:\n1 line in 1 file.\n\noptions.py\n  2: PORT = 8417\n"
    );
    let one = project.says("search_files", json!({"pattern": "nowhere"})).await;
    assert!(one.starts_with("Nothing found ("), "{one}");
}

#[tokio::test]
async fn a_wrong_path_is_answered_with_what_is_there() {
    let project = Project::new(&[("shop/parts.py", ""), ("shop/orders.py", ""), ("readme.md", "")]);
    for (path, expected) in [
        (
            "src/parts.py",
            "`src/parts.py` does not exist. The project folder has: readme.md, shop/. To make it use write_file.",
        ),
        (
            "shop/basket.py",
            "`shop/basket.py` does not exist. `shop` has: orders.py, parts.py. To make it use write_file.",
        ),
        (
            "README.md",
            "`README.md` does not exist. The project folder has: readme.md, shop/. Use `readme.md`.",
        ),
    ] {
        assert_eq!(
            project.fails("read_file", json!({ "path": path })).await,
            expected
        );
    }
    let empty = Project::new(&[])
        .fails("list_files", json!({"path": "src"}))
        .await;
    assert_eq!(empty, "`src` does not exist. The project folder is empty.");
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and what follows";

#[tokio::test]
async fn an_image_is_shown_to_a_model_that_sees_and_only_told_to_another() {
    let mut project = Project::new(&[]);
    project.put("docs/shot.png", PNG);
    project.put("large.png", &[PNG, &vec![0; Attachment::LARGEST]].concat());
    let asked = json!({"path": "docs/shot.png"});
    assert_eq!(
        project.fails("read_file", asked.clone()).await,
        "`docs/shot.png` is a PNG image (25 B). You do not see images; a command may tell its size, or what text is in it."
    );
    project.cx.show_image = std::sync::Arc::new(|name, media_type, bytes| {
        assert_eq!((name, media_type, bytes), ("shot.png", "image/png", PNG));
        Ok(Some(Attachment {
            id: "1".into(),
            name: name.into(),
            media_type: media_type.into(),
            bytes: 25,
        }))
    });
    let shown = project.run("read_file", asked).await.unwrap();
    assert_eq!(
        shown.text,
        "`docs/shot.png` is a PNG image (25 B). It is shown to you."
    );
    assert!(shown.ok && shown.images.len() == 1);
    let large = project.fails("read_file", json!({"path": "large.png"})).await;
    assert!(large.contains("up to 5 MB. Make a smaller copy"), "{large}");
}
