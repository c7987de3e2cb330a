//! `paddock workflow` as a person or a script runs it.

use crate::bed::Bed;

const OWN: &str = "name = \"say\"\n[[parameter]]\nname = \"what\"\nkind = \"text\"\nrequired = true\n\
                   [[step]]\nkind = \"command\"\ncommand = \"printf %s {what} > said\"\n";

fn put(bed: &Bed, name: &str, text: &str) {
    let path = bed.project().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn what_the_preview_shows_is_what_the_run_does() {
    let bed = Bed::new();
    put(&bed, "a.log", "1");
    put(&bed, "sub/b.log", "2");
    let words = ["bulk-delete", "--param", "files=*.log"];
    let of = |command: &str, more: &[&str]| bed.run(&[&["workflow", command], &words[..], more].concat());
    let shown = of("preview", &[]).exits(0);
    assert!(shown.out.contains("  delete   sub/b.log") && shown.out.contains("Delete 2 files.\n"));
    let json = of("preview", &["--json"]).exits(0);
    let preview: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(preview["files"], 2);
    let unasked = of("run", &[]).exits(4);
    assert!(
        unasked.err.contains("Delete 2 files?") && unasked.err.contains("--yes"),
        "{unasked:?}"
    );
    assert!(bed.read("a.log").is_some());
    let ran = of("run", &["--yes"]).exits(0);
    assert!(ran.out.contains("Workflow Delete many files is done."), "{ran:?}");
    assert!(bed.read("a.log").is_none() && bed.read("sub/b.log").is_none());
    assert_eq!(bed.read("notes.txt").as_deref(), Some("one\ntwo\n"));
}

#[test]
fn values_that_do_not_fit_are_named() {
    let bed = Bed::new();
    let preview = |more: &[&str]| bed.run(&[&["workflow", "preview"], more].concat()).exits(2);
    assert!(preview(&["bulk-delete"]).out.contains("files: This is needed."));
    assert!(
        preview(&["bulk-delete", "--param", "fils=*"])
            .err
            .contains("There is no parameter 'fils'")
    );
    assert!(
        preview(&["nothing"])
            .err
            .contains("There is no workflow 'nothing'")
    );
    assert!(preview(&[]).err.contains("Which one?"));
    let run = bed.run(&["workflow", "run", "bulk-delete", "--yes"]).exits(2);
    assert!(run.err.contains("files: This is needed."), "{run:?}");
}

#[test]
fn a_file_of_the_project_is_off_until_it_is_reviewed() {
    let bed = Bed::new();
    let file = ".paddock/workflows/say.toml";
    put(&bed, file, OWN);
    let listed = || bed.run(&["workflow", "list"]).exits(0).out;
    let line = |list: String| {
        list.lines()
            .find(|line| line.starts_with("say "))
            .unwrap()
            .to_owned()
    };
    assert!(line(listed()).contains("off, unread"));
    let words = ["workflow", "run", "say", "--param", "what=$(id); x", "--yes"];
    assert!(bed.run(&words).exits(2).err.contains("not switched on"));
    assert!(
        bed.run(&["workflow", "review", file])
            .exits(4)
            .out
            .contains("kind = \"command\"")
    );
    bed.run(&["workflow", "review", file, "--yes"]).exits(0);
    assert!(line(listed()).contains("project"));
    bed.run(&words).exits(0);
    assert_eq!(bed.read("said").as_deref(), Some("$(id); x"));
    put(&bed, file, &OWN.replace("said", "other"));
    assert!(line(listed()).contains("off, changed"));
    bed.run(&words).exits(2);
    put(&bed, file, OWN);
    bed.run(&["workflow", "review", file, "--off"]).exits(0);
    assert!(line(listed()).contains("off, unread"));
    bed.run(&["workflow", "review", "notes.txt", "--yes"]).exits(2);
}
