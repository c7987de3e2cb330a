//! Places that refuse: what the machine does not allow becomes a sentence with a remedy and an exit code. What can be wrong
//! with the arguments themselves is tested beside the program.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use paddock_tests::model_server::{ModelServer, calls, text};
use paddock_tests::sessions::{Bed, Ran, assert_gapless, finds, paddock};
use serde_json::json;

/// An account without rights that exists everywhere.
const NOBODY: u32 = 65_534;

fn mode(path: &Path, mode: u32) {
    set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A bed that an ordinary account may use, with the program where it can reach it.
fn open_bed() -> Bed {
    let bed = Bed::new().unwrap();
    let copied = Command::new("cp")
        .arg(paddock().unwrap())
        .arg(bed.path("paddock"))
        .status();
    assert!(copied.unwrap().success());
    for folder in ["", "project", "tmp", "person"] {
        mode(&bed.path(folder), 0o777);
    }
    bed
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// Runs the program of the bed as an ordinary account.
fn run(bed: &Bed, home: &str, words: &[&str]) -> Ran {
    let mut command = Command::new(bed.path("paddock"));
    command
        .args(words)
        .env("PADDOCK_HOME", bed.path(home))
        .env("HOME", bed.path("person"))
        .env("TMPDIR", bed.path("tmp"));
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    let ran = Ran::of(command.current_dir(bed.path("")).output().unwrap());
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    ran
}

const DEMO: [&str; 3] = ["run", "--provider", "demo"];

#[test]
fn a_folder_without_permission_is_refused_with_a_remedy() {
    let bed = open_bed();
    std::fs::create_dir(bed.path("locked")).unwrap();
    mode(&bed.path("locked"), 0o000);
    for project in ["locked", "locked/inside"] {
        let ran = run(
            &bed,
            "home",
            &[&DEMO[..], &["--project", project, "task"]].concat(),
        )
        .exits(2);
        assert!(
            ran.err.contains("change its permissions or choose another"),
            "{}",
            ran.err
        );
        assert_eq!(
            (ran.err.lines().count(), ran.out.as_str()),
            (1, ""),
            "{}",
            ran.err
        );
    }
    mode(&bed.path("locked"), 0o700);
}

#[test]
fn a_folder_that_cannot_be_written_is_read_and_the_model_hears_the_rest() {
    let bed = open_bed();
    bed.put("notes.txt", "some words\n").unwrap();
    mode(&bed.project(), 0o555);
    let write = json!({ "path": "made.txt", "content": "x" });
    let server = ModelServer::scripted(vec![
        calls(&[
            ("c1", "read_file", json!({ "path": "notes.txt" })),
            ("c2", "write_file", write),
        ]),
        text("It cannot be written."),
    ])
    .unwrap();
    let url = server.url();
    let words = [
        "run",
        "--base-url",
        &url,
        "--model",
        "m",
        "--approve",
        "all",
        "--project",
        "project",
        "task",
    ];
    run(&bed, "home", &words).exits(0);
    let told = &server.received()[1].body;
    assert!(
        told.contains("some words") && told.contains("Tool 'write_file' failed: "),
        "{told}"
    );
    assert!(bed.read("made.txt").is_empty());
    mode(&bed.project(), 0o755);
}

#[test]
fn a_data_folder_without_permission_is_named() {
    let bed = open_bed();
    std::fs::create_dir(bed.path("locked")).unwrap();
    mode(&bed.path("locked"), 0o555);
    for words in [
        &["run", "--provider", "demo", "--project", "project", "task"][..],
        &["sessions"],
    ] {
        let ran = run(&bed, "locked/home", words).exits(1);
        assert!(
            ran.err.contains("locked/home") && ran.err.contains("set PADDOCK_HOME to another folder"),
            "{}",
            ran.err
        );
        assert_eq!(
            (ran.err.lines().count(), ran.out.as_str()),
            (1, ""),
            "{}",
            ran.err
        );
    }
    // One that is there and cannot be written.
    let ran = run(
        &bed,
        "locked",
        &[&DEMO[..], &["--project", "project", "task"]].concat(),
    )
    .exits(1);
    assert!(ran.err.contains("locked/sessions"), "{}", ran.err);
    assert_eq!(
        (ran.err.lines().count(), ran.out.as_str()),
        (1, ""),
        "{}",
        ran.err
    );
    mode(&bed.path("locked"), 0o755);
}

/// The log may grow to 4 kB and no further: the run stops with a sentence, and goes on when there is room.
#[test]
fn a_record_that_cannot_be_written_stops_the_run_and_loses_nothing() {
    let bed = Bed::new().unwrap();
    bed.put("notes.txt", &"some words\n".repeat(9)).unwrap();
    let server = ModelServer::start(|_, request| match request.results() {
        results @ 0..6 => calls(&[(
            "c",
            "read_file",
            json!({ "path": "notes.txt", "from_line": results + 1 }),
        )]),
        _ => text("All read."),
    })
    .unwrap();
    // A signal that is ignored here is ignored there too: writing then fails as it does on a full disk.
    let limited = "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\"";
    let url = server.url();
    let mut command = Command::new("sh");
    command
        .args(["-c", limited])
        .arg(paddock().unwrap())
        .args([
            "run",
            "--base-url",
            &url,
            "--model",
            "m",
            "--project",
            "project",
            "task",
        ])
        .env("PADDOCK_HOME", bed.path("home"))
        .current_dir(bed.path(""));
    let ran = Ran::of(command.output().unwrap()).exits(1);
    for word in ["record could not be written", "nothing is lost", "--resume"] {
        assert!(ran.err.contains(word), "{}", ran.err);
    }
    let (session, before) = bed.log().unwrap();
    assert_gapless(&before);
    let words = ["--resume", &session, "--approve", "reads"];
    bed.run_at(&server, &words).unwrap().exits(0);
    let (_, after) = bed.log().unwrap();
    assert_gapless(&after);
    assert_eq!(after[..before.len()], before);
}

/// Disks of a mount namespace of their own, where this account may make one.
#[cfg(target_os = "linux")]
#[test]
fn a_read_only_and_a_full_disk_are_named() {
    let bed = Bed::new().unwrap();
    std::fs::create_dir(bed.path("disk")).unwrap();
    let namespace = if is_root() { "-m" } else { "-rm" };
    let on_disk = |mount: &str| {
        let mut command = Command::new("unshare");
        command.args([
            namespace,
            "sh",
            "-c",
            &format!("{mount} && exec \"$0\" run --provider demo --project project --approve all task"),
        ]);
        command
            .arg(paddock().unwrap())
            .env("PADDOCK_HOME", bed.path("disk/home"))
            .current_dir(bed.path(""));
        Ran::of(command.output().unwrap())
    };
    let may_mount = Command::new("unshare")
        .args([namespace, "mount", "-t", "tmpfs", "none"])
        .arg(bed.path("disk"))
        .output();
    if !finds("unshare") || !may_mount.is_ok_and(|mounted| mounted.status.success()) {
        println!("This account may mount nothing here.");
        return;
    }
    let ran = on_disk("mount -t tmpfs -o ro none disk").exits(1);
    assert!(
        ran.err.contains("Read-only file system") && ran.err.contains("set PADDOCK_HOME"),
        "{}",
        ran.err
    );
    let ran = on_disk("mount -t tmpfs -o size=40k none disk && (dd if=/dev/zero of=disk/fill bs=4k count=6 2>/dev/null; mkdir disk/home)").exits(1);
    assert!(
        ran.err.contains("The disk is full") && ran.err.contains("Make room"),
        "{}",
        ran.err
    );
}
