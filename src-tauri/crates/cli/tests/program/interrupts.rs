use crate::bed::{Bed, Reply, Server, call, finished};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::process::Child;
use std::time::{Duration, Instant};

fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

#[test]
fn a_signal_stops_the_turn_and_the_session_goes_on() {
    for signal in [Signal::INT, Signal::TERM] {
        let bed = Bed::new();
        let server = Server::start(vec![Reply::Hang, Reply::Text("Done.")]);
        let child = bed.command_at(&server, &["look"]).spawn().unwrap();
        server.wait_for(1);
        send(&child, signal);
        let ran = finished(child).exits(130);
        assert!(ran.out.contains("Stopped: 1 iteration"), "{}", ran.out);
        let session = bed.session();
        let ran = bed.run_at(&server, &["--resume", &session, "go on"]).exits(0);
        assert!(ran.out.contains("Done."), "{}", ran.out);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_running_command_is_ended_with_the_turn() {
    let bed = Bed::new();
    let server = Server::start(vec![
        call(
            "run_command",
            json!({ "command": "touch begun; sleep 60; touch ended" }),
        ),
        Reply::Text("Done."),
    ]);
    let child = bed
        .command_at(&server, &["--approve", "all", "wait"])
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while bed.read("begun").is_none() {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "the command never began"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    send(&child, Signal::INT);
    let ran = finished(child).exits(130);
    assert!(ran.out.contains("■ Run"), "{}", ran.out);
}

#[test]
fn two_signals_end_the_program_at_once() {
    let bed = Bed::new();
    let server = Server::start(vec![Reply::Hang, Reply::Text("Done.")]);
    let child = bed.command_at(&server, &["look"]).spawn().unwrap();
    server.wait_for(1);
    send(&child, Signal::INT);
    send(&child, Signal::TERM);
    finished(child).exits(130);
    let session = bed.session();
    bed.run_at(&server, &["--resume", &session, "go on"]).exits(0);
}

#[test]
fn a_killed_run_is_resumed_without_a_task() {
    let bed = Bed::new();
    let server = Server::start(vec![Reply::Hang, Reply::Text("Done.")]);
    let child = bed.command_at(&server, &["look"]).spawn().unwrap();
    server.wait_for(1);
    send(&child, Signal::KILL);
    assert_eq!(finished(child).code, None);
    let session = bed.session();
    let ran = bed.run_at(&server, &["--resume", &session]).exits(0);
    assert!(ran.out.contains("Done."), "{}", ran.out);
}
