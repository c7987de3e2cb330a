//! `kill -9` at random moments: what was printed is in the log, the session goes on, and nothing runs twice.
//!
//! `PADDOCK_SEED=s` repeats the moments of a run; the seed is printed where a test fails.

use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use paddock_protocol::{Event, EventMsg, ItemStatus, TurnStatus};
use paddock_tests::model_server::{
    ModelServer, Piece, Received, bytes, call_delta, delta, stream_head, text, wait,
};
use paddock_tests::sessions::{self, Bed, Ran, assert_gapless, soon};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;

use crate::dice::Dice;

const ROUNDS: u64 = 20;
/// Commands of a whole turn; each writes its number when it begins and when it has ended.
const COMMANDS: usize = 3;

/// The next command after as many as the request has results for, in an answer that takes its time; at the end a text.
fn next_command(request: &Received) -> Vec<Piece> {
    let number = request.results() + 1;
    if number > COMMANDS {
        return text("All done.");
    }
    let line = format!("echo {number} >> begun; sleep 0.15; echo {number} >> ended");
    let arguments = json!({ "command": line }).to_string();
    let call = call_delta(0, &format!("c{number}"), "run_command", "");
    let mut pieces = vec![stream_head()];
    for word in ["I ", "go ", "on ", "with the next."] {
        pieces.push(bytes(delta(&json!({ "content": word }), None)));
        pieces.push(wait(10));
    }
    pieces.push(bytes(delta(&call, None)));
    for part in arguments.as_bytes().chunks(20) {
        let part = String::from_utf8_lossy(part);
        let part = json!({ "tool_calls": [{ "index": 0, "function": { "arguments": part } }] });
        pieces.extend([bytes(delta(&part, None)), wait(5)]);
    }
    pieces.push(bytes(delta(&json!({}), Some("tool_calls")) + "data: [DONE]\n\n"));
    pieces.push(Piece::Cut);
    pieces
}

fn lines(bed: &Bed, name: &str) -> Vec<String> {
    bed.read(name).lines().map(str::to_owned).collect()
}

/// Kills it, and gives what it had printed.
fn kill(mut child: Child) -> Vec<Event> {
    child.kill().unwrap();
    Ran::of(child.wait_with_output().unwrap()).events()
}

/// The log keeps what was printed, the session goes on to its end, each call has one result, and no command ran twice.
fn goes_on(bed: &Bed, server: &ModelServer, printed: &[Event]) {
    let (session, before) = bed.log().unwrap();
    let printed: Vec<&Event> = printed.iter().filter(|event| event.msg.is_durable()).collect();
    assert!(
        before.len() >= printed.len(),
        "{} were printed, {} are kept",
        printed.len(),
        before.len()
    );
    for (printed, kept) in printed.iter().zip(&before) {
        assert_eq!(*printed, kept);
    }
    // Near its end the turn may have been quicker than the kill.
    if !before
        .iter()
        .any(|event| matches!(event.msg, EventMsg::TurnEnded { .. }))
    {
        let words = ["--resume", &session, "--approve", "all"];
        let resumed = bed.run_at(server, &words).unwrap().exits(0);
        assert!(!resumed.events().is_empty());
    }
    let (_, after) = bed.log().unwrap();
    assert_eq!(after[..before.len()], before, "what was kept changed");
    assert_gapless(&after);

    let calls = sessions::calls(&after);
    for (item, call) in &calls {
        assert!(item.status.is_final(), "{call:#?}");
        let results = after.iter().filter(
            |event| matches!(&event.msg, EventMsg::ItemCompleted { item: ended } if ended.id == item.id),
        );
        assert_eq!(results.count(), 1, "{call:#?}");
    }
    // As the model saw it: every call of its history with one result, in their order.
    let request = server.received().last().cloned().unwrap();
    assert_eq!(request.results(), COMMANDS, "{}", request.body);

    let begun = lines(bed, "begun");
    let expected: Vec<String> = (1..=COMMANDS).map(|number| number.to_string()).collect();
    let ran = calls
        .iter()
        .filter(|(item, _)| matches!(item.status, ItemStatus::Done | ItemStatus::OutcomeUnknown));
    assert_eq!(ran.count(), COMMANDS);
    let known = calls.iter().filter(|(item, _)| item.status == ItemStatus::Done);
    if known.count() == COMMANDS {
        assert_eq!(begun, expected);
    }
    for name in ["begun", "ended"] {
        let mut once = lines(bed, name);
        let written = once.len();
        once.dedup();
        assert_eq!(once.len(), written, "{name}: a command ran twice: {once:?}");
        assert!(
            once.is_sorted() && once.iter().all(|line| expected.contains(line)),
            "{name}: {once:?}"
        );
    }
    let ended = matches!(
        after.last().map(|event| &event.msg),
        Some(EventMsg::TurnChanged {
            status: TurnStatus::Completed,
            ..
        })
    );
    assert!(ended, "{:?}", after.last());
}

/// A run that approves everything, its end left to the test.
fn begin(bed: &Bed, server: &ModelServer) -> Child {
    let mut command = bed
        .run_command(&server.url(), &["--approve", "all", "do three things"])
        .unwrap();
    command.stdout(Stdio::piped()).spawn().unwrap()
}

fn sleep(milliseconds: u64) {
    std::thread::sleep(Duration::from_millis(milliseconds));
}

#[test]
fn during_a_model_stream() {
    let mut dice = Dice::thrown(1);
    for round in 0..ROUNDS {
        let bed = Bed::new().unwrap();
        let server = ModelServer::start(|_, request| next_command(request)).unwrap();
        let child = begin(&bed, &server);
        let number = usize::try_from(round).unwrap() % COMMANDS + 1;
        assert!(server.wait_for(number));
        sleep(dice.below(90));
        goes_on(&bed, &server, &kill(child));
    }
}

#[test]
fn during_a_command() {
    let mut dice = Dice::thrown(2);
    let mut unknown = 0;
    for round in 0..ROUNDS {
        let bed = Bed::new().unwrap();
        let server = ModelServer::start(|_, request| next_command(request)).unwrap();
        let child = begin(&bed, &server);
        let number = usize::try_from(round).unwrap() % COMMANDS + 1;
        assert!(soon(|| lines(&bed, "begun").len() >= number));
        sleep(dice.below(200));
        let printed = kill(child);
        sleep(30);
        let ended = lines(&bed, "ended");
        goes_on(&bed, &server, &printed);
        let (_, events) = bed.log().unwrap();
        for (_, call) in sessions::calls(&events)
            .iter()
            .filter(|(item, _)| item.status == ItemStatus::OutcomeUnknown)
        {
            unknown += 1;
            // It died with the program, so what it had not done by then was never done.
            let number = call.server_id.trim_start_matches('c').to_owned();
            assert_eq!(lines(&bed, "ended").contains(&number), ended.contains(&number));
        }
    }
    assert!(unknown > 0, "no moment hit a running command");
}

#[test]
fn while_an_approval_waits() {
    let mut dice = Dice::thrown(3);
    for _ in 0..ROUNDS {
        let bed = Bed::new().unwrap();
        let server = ModelServer::start(|_, request| next_command(request)).unwrap();
        let waiting = Terminal::begin(&bed, &server);
        let asked = |events: &[Event]| {
            events
                .iter()
                .any(|event| matches!(event.msg, EventMsg::ApprovalRequested { .. }))
        };
        assert!(
            soon(|| bed.log().is_ok_and(|(_, events)| asked(&events))),
            "{}",
            waiting.seen()
        );
        sleep(dice.below(60));
        waiting.kill();
        assert_eq!(lines(&bed, "begun"), Vec::<String>::new());

        // Without somebody to ask it still waits, and nothing has run.
        let (session, _) = bed.log().unwrap();
        let ran = bed.run_at(&server, &["--resume", &session]).unwrap().exits(4);
        assert!(ran.err.contains("--approve"), "{}", ran.err);
        assert_eq!(lines(&bed, "begun"), Vec::<String>::new());
        let (_, events) = bed.log().unwrap();
        let requests = events
            .iter()
            .filter(|event| matches!(event.msg, EventMsg::ApprovalRequested { .. }));
        assert_eq!(requests.count(), 1, "the approval that waited is the same one");
        goes_on(&bed, &server, &[]);
        assert_eq!(lines(&bed, "ended"), ["1", "2", "3"]);
    }
}

/// The program on a terminal, where it asks.
struct Terminal {
    child: Child,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    fn begin(bed: &Bed, server: &ModelServer) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap();
        let path = std::ffi::OsStr::from_bytes(name.as_bytes());
        let open = || Stdio::from(File::options().read(true).write(true).open(path).unwrap());
        let url = server.url();
        let words = ["run", "--base-url", &url, "--model", "m", "do three things"];
        let mut command = bed.command(&words).unwrap();
        let child = command.stdin(open()).stdout(open()).spawn().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let all = seen.clone();
        std::thread::spawn(move || {
            let mut screen = File::from(terminal);
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut buffer) {
                all.lock().unwrap().extend_from_slice(&buffer[..count]);
            }
        });
        Self { child, seen }
    }

    fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
