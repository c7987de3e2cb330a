//! The demo's story, walked through every branch with the tools of a small stand-in loop on the real sample project.
#![allow(clippy::unwrap_used)]

use paddock_protocol::{FinishReason, Millis, ProviderId};
use paddock_provider::*;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    Approve,
    Reject,
    Reason,
}

const REASON: &str = "Keep it on one line";

struct Loop {
    provider: ScriptedProvider,
    folder: tempfile::TempDir,
    messages: Vec<Message>,
    tools: Arc<[ToolSpec]>,
    /// Decisions to come; approve when there are none left.
    decisions: Vec<Decision>,
    asked: usize,
    answer: &'static str,
    guard: bool,
    network: bool,
    real_commands: bool,
    /// The program as the person writes it when approving the first edit.
    edited_program: Option<&'static str>,
    seen: Vec<(String, String)>,
    texts: Vec<String>,
    finished: bool,
}

impl Loop {
    fn new(decisions: &[Decision]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        lay_out_sample_project(folder.path()).unwrap();
        Self {
            provider: ScriptedProvider::demo(ProviderId::new("demo")).pace(ScriptPace::INSTANT),
            folder,
            messages: vec![user("The discount is too small. Please fix it.")],
            tools: vec![ToolSpec {
                name: "read_file".into(),
                description: String::new(),
                parameters: json!({"type": "object"}),
            }]
            .into(),
            decisions: decisions.to_vec(),
            asked: 0,
            answer: "Show me a smaller change",
            guard: true,
            network: false,
            real_commands: false,
            edited_program: None,
            seen: Vec::new(),
            texts: Vec::new(),
            finished: false,
        }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn program(&self) -> String {
        fs::read_to_string(self.path(if cfg!(windows) { "basket.ps1" } else { "basket.sh" })).unwrap()
    }

    fn is_fixed(&self) -> bool {
        [
            "total * discount / 100",
            "(100 - discount) / 100",
            "(100 - $discount) / 100",
            "$total * $discount / 100",
        ]
        .iter()
        .any(|line| self.program().contains(line))
    }

    async fn ask(&self, tools: bool) -> Answer {
        let request = ModelRequest {
            model: "orchard-demo".into(),
            system: "".into(),
            messages: self.messages.clone(),
            tools: if tools {
                Arc::clone(&self.tools)
            } else {
                Vec::new().into()
            },
            format: paddock_protocol::CallFormat::Native,
            max_output: None,
            silence: Millis::seconds(1),
            record: None,
            effort: None,
            facts: Arc::default(),
            asked: None,
        };
        let mut streamed = String::new();
        let answer = self
            .provider
            .sample(&request, &mut |event| {
                if let ModelEvent::Text(text) = event {
                    streamed.push_str(&text);
                }
            })
            .await
            .unwrap();
        assert_eq!(streamed, text_of(&answer));
        answer
    }

    /// One iteration. Returns what was said.
    async fn iterate(&mut self) -> String {
        let answer = self.ask(true).await;
        let said = text_of(&answer);
        self.texts.push(said.clone());
        let mut parts = vec![AgentPart::Text { text: said.clone() }];
        let mut results = Vec::new();
        for part in &answer.parts {
            if let AnswerPart::Call(call) = part {
                let CallArguments::Complete(arguments) = &call.arguments else {
                    panic!("malformed");
                };
                parts.push(AgentPart::Call {
                    id: call.server_id.clone(),
                    name: call.name.clone(),
                    arguments: arguments.clone(),
                });
                let (ok, text) = self.run(&call.name, &serde_json::from_str(arguments).unwrap());
                self.seen
                    .push((format!("{} {arguments}", call.name), text.clone()));
                results.push(CallResult {
                    id: call.server_id.clone(),
                    name: call.name.clone(),
                    text,
                    ok,
                    images: Vec::new(),
                });
            }
        }
        self.finished |= results.is_empty();
        self.messages.push(Message::Agent { parts });
        if !results.is_empty() {
            self.messages.push(Message::Results { results });
        }
        let repeated = self.seen.last().map_or(0, |last| {
            self.seen.iter().rev().take_while(|call| *call == last).count()
        });
        if self.guard && repeated == 3 {
            self.messages.push(user(
                "You made the same call with the same result several times. Do something else, or ask.",
            ));
        }
        said
    }

    fn run(&mut self, name: &str, arguments: &Value) -> (bool, String) {
        let text = |field: &str| arguments[field].as_str().unwrap_or_default().to_string();
        if matches!(name, "edit_file" | "write_file" | "run_command") {
            let decision = self
                .decisions
                .get(self.asked)
                .copied()
                .unwrap_or(Decision::Approve);
            self.asked += 1;
            match decision {
                Decision::Approve => {}
                Decision::Reject => {
                    return (
                        false,
                        "Rejected without a reason; do not repeat this call.".into(),
                    );
                }
                Decision::Reason => {
                    return (false, format!("The user rejected this call and says: {REASON}"));
                }
            }
        }
        match name {
            "list_files" => (true, "AGENTS.md\nREADME.md\nbasket.sh".into()),
            "read_file" => match fs::read_to_string(self.path(&text("path"))) {
                Ok(content) => (true, content),
                Err(_) => (false, "Tool 'read_file' failed: no such file".into()),
            },
            "edit_file" => {
                if let Some(program) = self.edited_program.take() {
                    fs::write(self.path(&text("path")), program).unwrap();
                    return (
                        true,
                        "The user edited this call before approving it. It ran with: {}\n1 line changed"
                            .into(),
                    );
                }
                let content = fs::read_to_string(self.path(&text("path"))).unwrap();
                if content.matches(&text("old_text")).count() != 1 {
                    return (false, "Tool 'edit_file' failed: old_text was not found".into());
                }
                fs::write(
                    self.path(&text("path")),
                    content.replace(&text("old_text"), &text("new_text")),
                )
                .unwrap();
                (true, "1 line changed".into())
            }
            "write_file" => {
                fs::write(self.path(&text("path")), text("content")).unwrap();
                (true, "Written".into())
            }
            "run_command" => self.command(&text("command")),
            "ask_question" => (true, self.answer.into()),
            "task_completion" => {
                self.finished = true;
                self.texts.push(text("result"));
                (true, String::new())
            }
            other => panic!("the script asked for {other}"),
        }
    }

    fn command(&self, command: &str) -> (bool, String) {
        if command.contains("report") {
            return match self.network {
                true => (true, "exit code 0\nlive rates received".into()),
                false => (
                    false,
                    "exit code 1\nno rates: example.com could not be reached".into(),
                ),
            };
        }
        if self.real_commands {
            let output = std::process::Command::new("sh")
                .arg("-c")
                .arg(command)
                .current_dir(self.folder.path())
                .output()
                .unwrap();
            return (output.status.success(), String::from_utf8(output.stdout).unwrap());
        }
        match self.is_fixed() {
            true => (true, "ok    apple=10 = 450".into()),
            false => (false, "FAIL  apple=10: expected 450, got 490".into()),
        }
    }

    /// Goes on to the end; at every step, finishing up instead must give a report.
    async fn play(&mut self) -> usize {
        let mut iterations = 0;
        while !self.finished {
            iterations += 1;
            assert!(iterations <= 20, "no end: {:#?}", self.texts);
            let report = self.ask(false).await;
            assert!(
                report
                    .parts
                    .iter()
                    .all(|part| matches!(part, AnswerPart::Text(_)))
            );
            assert!(text_of(&report).starts_with("I finish up here."));
            let rejected_with_reason = self.last_result_contains("says:");
            let said = self.iterate().await;
            assert!(!said.is_empty() && !said.contains('{'), "{said}");
            assert_eq!(said.contains(REASON), rejected_with_reason, "{said}");
        }
        iterations
    }

    fn last_result_contains(&self, words: &str) -> bool {
        match self.messages.last() {
            Some(Message::Results { results }) => results.iter().any(|result| result.text.contains(words)),
            _ => false,
        }
    }
}

fn user(text: &str) -> Message {
    Message::User {
        text: text.into(),
        images: Vec::new(),
    }
}

fn text_of(answer: &Answer) -> String {
    answer
        .parts
        .iter()
        .filter_map(|part| match part {
            AnswerPart::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn the_straight_way_meets_its_moments_in_order() {
    let mut demo = Loop::new(&[]);
    let mut said = Vec::new();
    for _ in 0..8 {
        said.push(demo.iterate().await);
    }
    assert!(said[1].contains("Found it"));
    assert!(said[3].contains("All tests pass"));
    assert!(said[4].contains("No network here"));
    assert!(said[7].contains("going in circles"), "{said:#?}");
    assert!(!demo.finished, "the limit of 8 comes before the end");
    assert_eq!(demo.play().await, 3);
    let result = demo.texts.last().unwrap();
    assert!(
        result.contains("The discount is fixed") && result.contains("noted in CHANGELOG.md"),
        "{result}"
    );
    assert!(!result.contains("Open"), "{result}");
    assert!(
        fs::read_to_string(demo.path("CHANGELOG.md"))
            .unwrap()
            .contains("10 percent")
    );
}

#[tokio::test]
async fn every_way_through_the_story_ends_and_tells_the_truth() {
    let choices = [Decision::Approve, Decision::Reject, Decision::Reason];
    for number in 0..3usize.pow(5) {
        let decisions: Vec<Decision> = (0..5)
            .map(|place| choices[number / 3usize.pow(place) % 3])
            .collect();
        let mut demo = Loop::new(&decisions);
        demo.guard = number % 2 == 0;
        demo.network = number % 3 == 0;
        demo.answer = if number % 4 < 2 {
            "Leave the program as it is"
        } else {
            "Show me a smaller change"
        };
        demo.play().await;
        let result = demo.texts.last().unwrap();
        assert_eq!(
            result.contains("The discount is fixed"),
            demo.is_fixed(),
            "{decisions:?}: {result}"
        );
        let noted = fs::read_to_string(demo.path("CHANGELOG.md"))
            .unwrap()
            .contains("iscount");
        assert_eq!(
            result.contains("noted in CHANGELOG.md"),
            noted,
            "{decisions:?}: {result}"
        );
    }
}

#[tokio::test]
async fn an_edit_of_the_person_is_noticed_and_a_wrong_one_is_repaired() {
    let mut demo = Loop::new(&[]);
    demo.edited_program = Some("total=$((total * (100 - discount) / 100))\n");
    demo.play().await;
    assert!(demo.texts[2].contains("You changed my edit"));
    assert!(demo.texts.last().unwrap().contains("The discount is fixed"));

    let mut demo = Loop::new(&[]);
    demo.edited_program = Some("echo broken\n");
    demo.play().await;
    assert!(demo.texts[3].contains("A test still fails"), "{:#?}", demo.texts);
    assert!(demo.is_fixed());
}

#[tokio::test]
async fn steering_is_acknowledged_and_the_story_goes_on() {
    let mut demo = Loop::new(&[]);
    demo.iterate().await;
    demo.messages.push(user(
        "Use whole cents, please\n\n2 iterations remain after this one.",
    ));
    let said = demo.iterate().await;
    assert!(
        said.contains("“Use whole cents, please”") && said.contains("Found it"),
        "{said}"
    );
    demo.messages.push(user("1 iteration remains after this one."));
    assert!(!demo.iterate().await.contains("remain"));
    demo.play().await;
}

#[tokio::test]
async fn a_stopped_turn_goes_on_where_it_was() {
    let mut demo = Loop::new(&[]);
    demo.iterate().await;
    demo.messages.push(Message::Agent {
        parts: vec![AgentPart::Text {
            text: "Found i".into(),
        }],
    });
    demo.messages
        .push(user("(The user stopped the turn here.)\n\ngo on"));
    assert!(demo.iterate().await.contains("Found it"));
}

#[tokio::test]
async fn messages_after_the_end_are_answered() {
    let mut demo = Loop::new(&[]);
    demo.play().await;
    for (text, answer) in [
        ("How do I undo this?", "taken back"),
        ("What is the weather?", "What is the weather?"),
        ("Run the tests again", "run the tests"),
    ] {
        demo.messages.push(user(text));
        assert!(demo.iterate().await.contains(answer));
    }
    assert_eq!(demo.iterate().await, "All tests pass.");
    demo.messages.push(user("start again"));
    demo.finished = false;
    assert!(demo.iterate().await.contains("I look at the project"));
    demo.play().await;
}

#[tokio::test]
async fn after_finishing_up_the_work_can_be_taken_up_again() {
    let mut demo = Loop::new(&[]);
    for _ in 0..3 {
        demo.iterate().await;
    }
    let report = demo.ask(false).await;
    assert_eq!(report.finish, Finish(FinishReason::Stop));
    assert!(
        text_of(&report).contains("The discount is fixed")
            && text_of(&report).contains("CHANGELOG.md has no line")
    );
    demo.messages.push(Message::Agent {
        parts: vec![AgentPart::Text {
            text: text_of(&report),
        }],
    });
    demo.messages.push(user("Please continue"));
    demo.play().await;
    assert!(demo.texts.last().unwrap().contains("noted in CHANGELOG.md"));
}

#[cfg(unix)]
#[tokio::test]
async fn the_sample_project_really_runs() {
    let mut demo = Loop::new(&[]);
    demo.real_commands = true;
    assert!(
        demo.command("sh tests/run.sh")
            .1
            .contains("FAIL  apple=10: expected 450, got 490")
    );
    demo.play().await;
    let (ok, output) = demo.command("sh tests/run.sh");
    assert!(ok && !output.contains("FAIL"), "{output}");

    let mut demo = Loop::new(&[Decision::Reason]);
    demo.real_commands = true;
    demo.play().await;
    assert!(demo.command("sh tests/run.sh").0);
}

#[test]
fn the_sample_project_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    lay_out_sample_project(&folder.path().join("a/b")).unwrap();
    assert!(Path::new(&folder.path().join("a/b/tests")).is_dir());
    let again = lay_out_sample_project(&folder.path().join("a/b")).unwrap_err();
    assert_eq!(again.kind(), std::io::ErrorKind::AlreadyExists);
}

#[tokio::test]
async fn words_come_one_by_one_at_a_live_pace() {
    let provider = ScriptedProvider::demo(ProviderId::new("demo")).pace(ScriptPace {
        first_byte: Millis(20),
        word: Millis(1),
    });
    let request = ModelRequest {
        model: String::new(),
        system: "".into(),
        messages: vec![user("hi")],
        tools: Vec::new().into(),
        format: paddock_protocol::CallFormat::Native,
        max_output: None,
        silence: Millis::seconds(1),
        record: None,
        effort: None,
        facts: Arc::default(),
        asked: None,
    };
    let started = std::time::Instant::now();
    let mut words = 0;
    let mut first = None;
    provider
        .sample(&request, &mut |event| match event {
            ModelEvent::FirstByte => first = Some(started.elapsed()),
            ModelEvent::Text(_) => words += 1,
            _ => {}
        })
        .await
        .unwrap();
    assert!(first.unwrap().as_millis() >= 20);
    assert!(words > 10);
    assert_eq!(provider.models().await.unwrap()[0].model, "orchard-demo");
}

#[test]
fn scripts_that_lead_nowhere_are_refused() {
    let script = |steps: Value| {
        let script = json!({"model": "m", "first": "a", "finish_up": "a", "follow_up": "a", "acknowledge": "",
            "hints": [], "notices": [], "rejections": [], "edits": [], "steps": steps});
        Script::parse(&script.to_string())
    };
    assert!(script(json!({"a": {"say": "x", "end": true}})).is_ok());
    assert!(matches!(
        script(json!({"a": {"then": [{"go": "b"}]}})),
        Err(ScriptError::NoStep(_))
    ));
    assert!(matches!(
        script(json!({"a": {"say": "x"}})),
        Err(ScriptError::DeadEnd(_))
    ));
    assert!(matches!(
        script(json!({"a": {"like": "z", "end": true}})),
        Err(ScriptError::NoStep(_))
    ));
    assert!(matches!(Script::parse("{}"), Err(ScriptError::Json(_))));
}
