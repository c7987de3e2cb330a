//! Asks the person in the terminal. Lines are read on a thread of their own, so that Ctrl+C is heard while one is awaited.

use crate::output::Output;
use crate::view::card;
use crate::view::plain;
use crate::view::style::Style;
use crate::view::text::TextView;
use paddock_protocol::*;
use tokio::sync::mpsc;

/// What the person said.
pub enum Said<T> {
    Answer(T),
    /// Ctrl+C, `q`, or the end of the input.
    Stop,
}

/// Lines of standard input, read only when one is asked for.
pub struct Lines {
    ask: std::sync::mpsc::Sender<()>,
    lines: mpsc::Receiver<Option<String>>,
}

impl Lines {
    pub fn new() -> Self {
        let (ask, asked) = std::sync::mpsc::channel();
        let (sender, lines) = mpsc::channel(1);
        std::thread::spawn(move || {
            while asked.recv().is_ok() {
                let mut line = String::new();
                let read = std::io::stdin().read_line(&mut line);
                let line = read
                    .ok()
                    .filter(|bytes| *bytes > 0)
                    .map(|_| line.trim().to_owned());
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        Self { ask, lines }
    }

    async fn next(&mut self, interrupts: &mut mpsc::Receiver<()>) -> Said<String> {
        if self.ask.send(()).is_err() {
            return Said::Stop;
        }
        tokio::select! {
            _ = interrupts.recv() => Said::Stop,
            line = self.lines.recv() => line.flatten().map_or(Said::Stop, Said::Answer),
        }
    }
}

/// Where the person is asked.
pub struct Desk<'a> {
    pub lines: &'a mut Lines,
    pub view: &'a mut TextView,
    pub output: &'a mut Output,
    pub interrupts: &'a mut mpsc::Receiver<()>,
}

impl Desk<'_> {
    pub async fn approval(&mut self, request: &ApprovalRequest) -> Said<Decision> {
        let style = self.view.style();
        self.view.line(&card::approval(request, style), self.output);
        let wider = request.scopes.contains(&AnswerScope::Session);
        let choices = choices(request, wider, style);
        loop {
            self.view.ask(&choices, self.output);
            let line = match self.lines.next(self.interrupts).await {
                Said::Answer(line) => line,
                Said::Stop => return Said::Stop,
            };
            let approve = |scope| Said::Answer(Decision::approve(scope));
            match line.to_ascii_lowercase().as_str() {
                "y" | "yes" => return approve(AnswerScope::Once),
                "s" if wider => return approve(AnswerScope::Session),
                "n" | "no" => {
                    return Said::Answer(Decision::Reject {
                        reason: None,
                        pause: false,
                    });
                }
                "q" => return Said::Stop,
                "r" => {
                    self.view
                        .ask("Reason, the agent reads it as written: ", self.output);
                    let reason = match self.lines.next(self.interrupts).await {
                        Said::Answer(reason) => reason,
                        Said::Stop => return Said::Stop,
                    };
                    return Said::Answer(Decision::Reject {
                        reason: Some(reason).filter(|reason| !reason.is_empty()),
                        pause: false,
                    });
                }
                _ => {}
            }
        }
    }

    /// The answer to a question of the agent; nothing: it decides itself.
    pub async fn question(&mut self, question: &Question) -> Said<Option<String>> {
        let style = self.view.style();
        let title = format!("\nThe agent asks: {}", plain::text(&question.text));
        self.view.line(&style.attention(&title), self.output);
        for (number, option) in (1..).zip(&question.options) {
            self.view
                .line(&format!("  {number}  {}", plain::line(option)), self.output);
        }
        let how = match question.options.is_empty() {
            true => "Your answer (empty: the agent decides, q: stop): ",
            false => "A number or your answer (empty: the agent decides, q: stop): ",
        };
        self.view.ask(how, self.output);
        let line = match self.lines.next(self.interrupts).await {
            Said::Answer(line) => line,
            Said::Stop => return Said::Stop,
        };
        if line == "q" {
            return Said::Stop;
        }
        let chosen = line
            .parse::<usize>()
            .ok()
            .and_then(|number| question.options.get(number.checked_sub(1)?));
        Said::Answer(match chosen {
            Some(option) => Some(option.clone()),
            None => Some(line).filter(|line| !line.is_empty()),
        })
    }
}

impl Desk<'_> {
    /// What to do with a command that passed its time limit.
    pub async fn overdue(&mut self, overdue: &Overdue) -> Said<Op> {
        let style = self.view.style();
        let title = format!(
            "\nThis command still runs: {}",
            plain::short(&overdue.command, 200)
        );
        self.view.line(&style.attention(&title), self.output);
        let how = format!(
            "{} keep waiting · {} to the background · {} end it · {} stop > ",
            style.bold("w"),
            style.bold("b"),
            style.bold("e"),
            style.bold("q")
        );
        let call = overdue.call.clone();
        loop {
            self.view.ask(&how, self.output);
            let line = match self.lines.next(self.interrupts).await {
                Said::Answer(line) => line,
                Said::Stop => return Said::Stop,
            };
            return match line.to_ascii_lowercase().as_str() {
                "w" => Said::Answer(Op::KeepWaiting { call }),
                "b" => Said::Answer(Op::ToBackground { call }),
                "e" => Said::Answer(Op::EndCall { call }),
                "q" => Said::Stop,
                _ => continue,
            };
        }
    }
}

/// A command that passed its time limit and still runs.
#[derive(Clone, Debug)]
pub struct Overdue {
    pub call: CallId,
    pub command: String,
}

impl Overdue {
    pub fn of(item: &Item) -> Option<Self> {
        match &item.kind {
            ItemKind::Call(call) if call.overdue && item.status == ItemStatus::Running => Some(Self {
                call: call.call.clone(),
                command: call.target.clone(),
            }),
            _ => None,
        }
    }
}

fn choices(request: &ApprovalRequest, wider: bool, style: Style) -> String {
    let key = |key: &str| style.bold(key);
    let mut text = format!("{} approve once", key("y"));
    if wider {
        let what = request.remembered_as.as_deref().unwrap_or("calls like this");
        text.push_str(&format!(
            " · {} this session ({})",
            key("s"),
            plain::short(what, 60)
        ));
    }
    text.push_str(&format!(
        " · {} reject · {} reject with a reason · {} stop > ",
        key("n"),
        key("r"),
        key("q")
    ));
    text
}

/// A question of the agent that waits.
#[derive(Clone, Debug)]
pub struct Question {
    pub call: CallId,
    pub text: String,
    pub options: Vec<String>,
}

impl Question {
    /// The question in a call, if it is one that waits.
    pub fn of(item: &Item) -> Option<Self> {
        #[derive(serde::Deserialize, Default)]
        struct Asked {
            #[serde(default)]
            options: Vec<String>,
        }
        let ItemKind::Call(call) = &item.kind else {
            return None;
        };
        if call.verb != Verb::Ask || item.status != ItemStatus::Running {
            return None;
        }
        let asked: Asked = serde_json::from_str(&call.arguments).unwrap_or_default();
        Some(Self {
            call: call.call.clone(),
            text: call.target.clone(),
            options: asked.options,
        })
    }
}
