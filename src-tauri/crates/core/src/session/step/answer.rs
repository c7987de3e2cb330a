//! The model's answer: what streams, what is complete, which calls it asks for.

use super::Draft;
use crate::session::input::{Effect, PromptCut, Ticket};
use crate::session::live_turn::LiveCall;
use crate::session::words;
use paddock_protocol::*;
use paddock_provider::{Answer, AnswerPart, AskedCall, CallArguments, ModelEvent};

/// A call of the answer, settled into its item.
struct Asked {
    item: ItemId,
    number: u32,
    name: String,
    arguments: String,
    /// Why its arguments cannot be read.
    problem: Option<String>,
}

/// Calls that one answer may ask for; more are answered with an error.
const CALLS_PER_ANSWER: usize = 64;

impl Draft<'_> {
    pub(super) fn model_event(&mut self, ticket: Ticket, event: ModelEvent) {
        if !self.is_current(ticket) {
            return;
        }
        match event {
            ModelEvent::FirstByte => {}
            ModelEvent::Text(text) => self.stream(text, false),
            ModelEvent::Reasoning(text) => self.stream(text, true),
            ModelEvent::CallStarted { slot, name } => {
                let call = ticket.turn.call(ticket.iteration, slot + 1);
                let fresh = self
                    .turn()
                    .is_some_and(|turn| turn.call(&call).is_none_or(|begun| begun.is_final()));
                if fresh && (slot as usize) < CALLS_PER_ANSWER {
                    self.close_streaming_text();
                    self.start_item(
                        ItemStatus::Waiting,
                        ItemKind::Call(Box::new(new_call(call, name))),
                    );
                }
            }
            ModelEvent::CallArguments { slot, text } => {
                let call = ticket.turn.call(ticket.iteration, slot + 1);
                if let Some(item) = self
                    .turn()
                    .and_then(|turn| turn.call(&call))
                    .map(|call| call.item)
                {
                    self.delta(item, DeltaChannel::Arguments, text);
                }
            }
        }
    }

    fn stream(&mut self, text: String, reasoning: bool) {
        let item = match self.streaming(reasoning) {
            Some(item) => item,
            None => {
                self.close_streaming_text();
                let kind = if reasoning {
                    ItemKind::Reasoning {
                        text: String::new(),
                        opaque: None,
                    }
                } else {
                    ItemKind::AgentText { text: String::new() }
                };
                self.start_item(ItemStatus::Running, kind)
            }
        };
        self.delta(item, DeltaChannel::Text, text);
    }

    fn delta(&mut self, item: ItemId, channel: DeltaChannel, text: String) {
        let Some(offset) = self.live.open_item(item).map(|open| open.length(channel)) else {
            return;
        };
        self.emit(EventMsg::ItemDelta {
            item,
            channel,
            offset,
            text,
        });
    }

    /// The newest open text item, if it is of this kind.
    fn streaming(&self, reasoning: bool) -> Option<ItemId> {
        let newest = self
            .live
            .open
            .iter()
            .rev()
            .find(|open| is_text(&open.item.kind))?;
        (matches!(newest.item.kind, ItemKind::Reasoning { .. }) == reasoning).then_some(newest.item.id)
    }

    /// Another kind of part has begun: the text before it is complete.
    fn close_streaming_text(&mut self) {
        for open in self.live.open.clone() {
            if is_text(&open.item.kind) {
                self.change_item(open.item.id, ItemStatus::Done, |kind| match kind {
                    ItemKind::AgentText { text } | ItemKind::Reasoning { text, .. } => {
                        *text = open.text.clone()
                    }
                    _ => {}
                });
            }
        }
    }

    /// The attempt failed: what it said so far was never answered, and calls that had begun to stream were never asked for.
    pub(super) fn drop_streamed(&mut self) {
        self.drop_calls_after(0);
        self.drop_texts_but(&[]);
    }

    /// Texts of this iteration that streamed and are no part of the answer; the model is not told of them.
    fn drop_texts_but(&mut self, kept: &[ItemId]) {
        let Some(ticket) = self.ticket() else { return };
        let in_turn = self
            .base
            .items
            .iter()
            .rev()
            .take_while(|item| item.turn == ticket.turn);
        let said: Vec<ItemId> = in_turn
            .filter(|item| item.iteration == ticket.iteration && item.status == ItemStatus::Done)
            .filter(|item| is_text(&item.kind) && !kept.contains(&item.id))
            .map(|item| item.id)
            .collect();
        for item in said {
            self.change_item(item, ItemStatus::Stopped, |_| {});
        }
    }

    /// Drops calls that streamed but are not among the first `number` of the answer.
    fn drop_calls_after(&mut self, number: u32) {
        let Some(asked) = self.ticket().map(|ticket| {
            (1..=number)
                .map(|n| ticket.turn.call(ticket.iteration, n))
                .collect::<Vec<_>>()
        }) else {
            return;
        };
        let calls = self.turn().map(|turn| turn.calls.clone()).unwrap_or_default();
        for call in calls
            .iter()
            .filter(|call| !call.is_final() && !asked.contains(&call.call))
        {
            self.change_call(call.item, ItemStatus::Stopped, |_| {});
        }
    }

    pub(super) fn model_answered(
        &mut self,
        ticket: Ticket,
        answer: Answer,
        first_byte: Millis,
        cut: Option<PromptCut>,
    ) {
        if !self.is_current(ticket) {
            return;
        }
        let Some(finishing) = self.turn().map(|turn| turn.finishing) else {
            return;
        };
        let finish = answer.finish.0;
        let mut calls = 0_u32;
        let mut has_text = false;
        let mut seen: Vec<ItemId> = Vec::new();
        let mut order: Vec<ItemId> = Vec::new();
        let mut asked: Vec<Asked> = Vec::new();
        for part in answer.parts {
            match part {
                AnswerPart::Text(text) if text.trim().is_empty() => {}
                AnswerPart::Text(text) => {
                    has_text = true;
                    let item = self.settle_text(&seen, text, None, false);
                    seen.push(item);
                    order.push(item);
                }
                AnswerPart::Reasoning { text, opaque } => {
                    let item = self.settle_text(&seen, text, opaque, true);
                    seen.push(item);
                    order.push(item);
                }
                AnswerPart::Call(_) if finishing => {}
                AnswerPart::Call(call) => {
                    calls += 1;
                    let call = self.settle_call(ticket, calls, call);
                    order.push(call.item);
                    asked.push(call);
                }
            }
        }
        self.close_streams();
        self.drop_calls_after(calls);
        self.drop_texts_but(&seen);
        self.emit(EventMsg::IterationAnswered {
            turn: ticket.turn,
            iteration: ticket.iteration,
            usage: self.priced(answer.usage),
            finish,
            first_byte,
            order: if order.is_sorted() { Vec::new() } else { order },
        });
        if let Some(cut) = cut {
            self.note_cut_prompt(&cut);
        }
        for call in asked {
            self.refuse_unreadable(call);
        }
        if calls > 0 {
            self.set_working(TurnStatus::UsingTools);
            self.prepare_calls();
            self.advance();
        } else {
            self.answered_without_calls(has_text, finishing, finish);
        }
    }

    /// Says once for a model that its server cuts prompts: the agent then works without its rules and tools.
    fn note_cut_prompt(&mut self, cut: &PromptCut) {
        let asked = self.live.asked.model.clone();
        let told = self
            .base
            .items
            .iter()
            .any(|item| matches!(&item.kind, ItemKind::PromptCut { model, .. } if *model == asked));
        if !told {
            self.note_item(ItemKind::PromptCut {
                model: asked,
                read: cut.read,
                sent: cut.sent,
                remedy: words::larger_window(cut.local).to_owned(),
            });
        }
    }

    fn answered_without_calls(&mut self, has_text: bool, finishing: bool, finish: FinishReason) {
        if finishing {
            self.end_turn(TurnEnd::Completed);
            return;
        }
        match finish {
            // Asked as it stands, the model goes on.
            FinishReason::Unfinished => {
                self.advance();
                return;
            }
            FinishReason::Blocked => {
                let error = ModelError::new(ModelErrorKind::Blocked, "The provider blocked the answer.")
                    .with_hint("Say it in another way, or use another model.");
                self.note_item(ItemKind::Error { error: error.clone() });
                if has_text {
                    self.complete_turn();
                } else {
                    self.pause(PauseCause::Model { error });
                }
                return;
            }
            _ => {}
        }
        let problem = match (has_text, finish) {
            (false, _) => Some(words::EMPTY_ANSWER),
            (true, FinishReason::Length) => Some(words::CUT_ANSWER),
            (true, _) => None,
        };
        if let Some(reason) = problem {
            self.note_malformed(reason, "");
            self.advance();
            return;
        }
        let steered = self.turn().is_some_and(|turn| !turn.unused.is_empty());
        if steered {
            self.advance();
        } else {
            self.complete_turn();
        }
    }

    pub(super) fn note_malformed(&mut self, reason: &str, raw: &str) -> u32 {
        let of = self.live.config.limits.malformed_calls;
        let attempt = self.turn().map_or(1, |turn| turn.malformed + 1);
        let raw = raw.chars().take(4_000).collect();
        self.note_item(ItemKind::Malformed {
            attempt,
            of,
            reason: reason.to_owned(),
            raw,
        });
        of.saturating_sub(attempt)
    }

    /// Puts the complete text into the item that streamed it, or into a new one.
    fn settle_text(
        &mut self,
        seen: &[ItemId],
        whole: String,
        blob: Option<Opaque>,
        reasoning: bool,
    ) -> ItemId {
        let of_kind =
            |kind: &ItemKind| is_text(kind) && matches!(kind, ItemKind::Reasoning { .. }) == reasoning;
        let (turn, iteration) = self.turn().map_or((TurnId(0), 0), |t| (t.turn, t.iteration));
        let streamed = self
            .live
            .open
            .iter()
            .map(|open| open.item.clone())
            .find(|item| of_kind(&item.kind));
        let settled = streamed.or_else(|| {
            // Already closed because another part began after it.
            let items = self.base.items.iter().rev().take_while(|item| item.turn == turn && item.iteration == iteration);
            let same = |kind: &ItemKind| matches!(kind, ItemKind::AgentText { text } | ItemKind::Reasoning { text, .. } if *text == whole);
            items
                .filter(|item| of_kind(&item.kind) && item.status == ItemStatus::Done && !seen.contains(&item.id))
                .find(|item| same(&item.kind))
                .cloned()
        });
        let fill = |kind: &mut ItemKind| match kind {
            ItemKind::AgentText { text } => *text = whole.clone(),
            ItemKind::Reasoning { text, opaque } => {
                text.clone_from(&whole);
                opaque.clone_from(&blob);
            }
            _ => {}
        };
        match settled {
            Some(item) => {
                if item.status != ItemStatus::Done || blob.is_some() {
                    self.change_item(item.id, ItemStatus::Done, fill);
                }
                item.id
            }
            None => {
                let mut kind = if reasoning {
                    ItemKind::Reasoning {
                        text: String::new(),
                        opaque: None,
                    }
                } else {
                    ItemKind::AgentText { text: String::new() }
                };
                fill(&mut kind);
                self.note_item(kind)
            }
        }
    }

    fn settle_call(&mut self, ticket: Ticket, number: u32, asked: AskedCall) -> Asked {
        let id = ticket.turn.call(ticket.iteration, number);
        let begun = self
            .turn()
            .and_then(|turn| turn.call(&id))
            .filter(|call| !call.is_final())
            .map(|call| call.item);
        let (arguments, problem) = match asked.arguments {
            CallArguments::Complete(arguments) => (arguments, None),
            CallArguments::Malformed { reason, raw } => (raw, Some(reason)),
        };
        let fill = |call: &mut CallItem| {
            call.server_id.clone_from(&asked.server_id);
            call.tool.clone_from(&asked.name);
            call.arguments.clone_from(&arguments);
            call.terminate = asked.terminate;
        };
        let item = match begun {
            Some(item) => {
                self.change_call(item, ItemStatus::Waiting, fill);
                item
            }
            None => {
                let mut call = new_call(id.clone(), asked.name.clone());
                fill(&mut call);
                self.start_item(ItemStatus::Waiting, ItemKind::Call(Box::new(call)))
            }
        };
        Asked {
            item,
            number,
            name: asked.name,
            arguments,
            problem,
        }
    }

    /// Answers a call that is none. Only after the answer is in the log: a lost answer leaves no trace of it.
    fn refuse_unreadable(&mut self, asked: Asked) {
        let Asked {
            item,
            number,
            name,
            arguments,
            problem,
        } = asked;
        let known = self.around.tools.contains_key(&name);
        let refusal = match problem {
            Some(reason) => {
                let left = self.note_malformed(&reason, &arguments);
                Some(words::malformed(&reason, self.live.config.format, left))
            }
            None if !known => {
                let left = self.note_malformed(&format!("there is no tool named '{name}'"), &arguments);
                let own = self.live.config.own_role.as_ref();
                let offered = |tool: &&str| own.is_none_or(|own| own.has(tool));
                let tools: Vec<&str> = self
                    .around
                    .tools
                    .keys()
                    .map(String::as_str)
                    .filter(offered)
                    .collect();
                Some(words::unknown_tool(&name, &tools, left))
            }
            None if number as usize > CALLS_PER_ANSWER => {
                Some("Not run: too many calls in one answer.".to_owned())
            }
            None => None,
        };
        if let Some(text) = refusal {
            self.change_call(item, ItemStatus::Failed, |call| {
                call.output = Some(CallOutput {
                    ok: false,
                    text,
                    ..CallOutput::default()
                });
            });
        }
    }

    /// Reads the arguments of every call that is not judged yet.
    pub(super) fn prepare_calls(&mut self) {
        let calls = self.turn().map(|turn| turn.calls.clone()).unwrap_or_default();
        for live in calls
            .iter()
            .filter(|call| call.status == ItemStatus::Waiting && !call.judged)
        {
            self.prepare_call(live);
        }
    }

    pub(super) fn prepare_call(&mut self, live: &LiveCall) {
        if let Some(call) = self.call_item(live.item) {
            let exists = if self.is_workflow_turn() {
                self.around.kind(&call.tool).is_some()
            } else {
                self.around.tools.contains_key(&call.tool)
            };
            if !exists {
                self.change_call(live.item, ItemStatus::Failed, |call| {
                    call.output = Some(CallOutput {
                        text: words::no_such_tool(&call.tool),
                        ..CallOutput::default()
                    });
                });
                return;
            }
            let edited = live.granted.as_ref().and_then(|granted| granted.edited.clone());
            let arguments = edited.unwrap_or(call.arguments);
            self.effect(Effect::Prepare {
                call: live.call.clone(),
                tool: call.tool,
                arguments,
            });
        }
    }
}

fn is_text(kind: &ItemKind) -> bool {
    matches!(kind, ItemKind::AgentText { .. } | ItemKind::Reasoning { .. })
}

pub(super) fn new_call(call: CallId, tool: String) -> CallItem {
    CallItem {
        call,
        server_id: String::new(),
        verb: Verb::Use,
        target: String::new(),
        tool,
        arguments: String::new(),
        classes: Vec::new(),
        verdict: None,
        began: None,
        after: None,
        overdue: false,
        terminate: false,
        again: None,
        check: None,
        sub_agent: None,
        output: None,
    }
}
