use crate::bed::Bed;

fn exec(bed: &Bed, flags: &[&str], line: &str) -> crate::bed::Ran {
    bed.run(&[&["sandbox", "exec"], flags, &["--", "sh", "-c", line]].concat())
}

#[test]
fn the_exit_code_is_the_commands_own() {
    let bed = Bed::new();
    exec(&bed, &[], "exit 0").exits(0);
    exec(&bed, &[], "exit 7").exits(7);
    exec(&bed, &[], "kill -9 $$").exits(137);
    exec(&bed, &["--timeout", "0.3"], "sleep 30").exits(124);
    bed.run(&["sandbox", "exec", "--", "no-such-program"]).exits(127);
}

#[test]
fn output_passes_byte_for_byte() {
    let bed = Bed::new();
    let ran = exec(
        &bed,
        &[],
        r"printf 'a\000\377\033[31mb\r\n'; printf 'to \033 err' >&2",
    )
    .exits(0);
    assert_eq!(ran.bytes, b"a\0\xff\x1b[31mb\r\n");
    assert_eq!(ran.err, "to \u{1b} err");
    let ran = exec(&bed, &[], "head -c 3000000 /dev/zero").exits(0);
    assert_eq!(ran.bytes.len(), 3_000_000);
}

#[test]
fn only_the_project_can_be_written() {
    let bed = Bed::new();
    exec(&bed, &[], "echo in > inside.txt").exits(0);
    assert_eq!(bed.read("inside.txt").as_deref(), Some("in\n"));
    // The command's temporary folder is its own, so a path below the real one leads nowhere.
    let outside = bed.path("outside.txt");
    exec(&bed, &[], &format!("echo out > {}", outside.display()));
    assert!(!outside.exists());
    let ran = exec(&bed, &[], "echo out > /etc/paddock-outside");
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert!(!std::path::Path::new("/etc/paddock-outside").exists());
    let ran = exec(&bed, &["--read-only"], "echo in > second.txt");
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert_eq!(bed.read("second.txt"), None);
    exec(&bed, &["--read-only"], "grep -q two notes.txt").exits(0);
}

#[test]
fn the_network_is_off_unless_it_is_asked_for() {
    let bed = Bed::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let bash = |flags: &[&str]| {
        let line = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
        bed.run(&[&["sandbox", "exec"], flags, &["--", "bash", "-c", &line]].concat())
    };
    assert_ne!(bash(&[]).code, Some(0));
    bash(&["--network"]).exits(0);
}
