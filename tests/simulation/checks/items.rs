//! Items: each is completed once, and what belongs to an ended turn is left alone.

use super::Checks;
use super::rules::touched;
use paddock_protocol::*;

impl Checks {
    pub(super) fn item_event(&mut self, msg: &EventMsg, item: &Item) {
        let place = item.id.0 as usize;
        let before = self.items.get(place).cloned();
        if before.is_none() {
            assert_eq!(place, self.items.len(), "items are numbered in order");
        }
        let was_final = before.as_ref().is_some_and(|item| item.status.is_final());
        match msg {
            EventMsg::ItemCompleted { .. } => {
                assert!(!was_final, "{item:?} was completed twice");
                assert!(item.status.is_final(), "a completed item is {:?}", item.status);
            }
            EventMsg::ItemStarted { .. } => assert!(before.is_none(), "{item:?} was started twice"),
            _ => {
                assert!(before.is_some(), "{item:?} changed before it was there");
                assert_eq!(
                    was_final,
                    item.status.is_final(),
                    "{item:?} ended without its completion"
                );
            }
        }
        if let (true, Some(before)) = (was_final, &before) {
            let undone = matches!(item.kind, ItemKind::Call(_))
                && matches!(item.status, ItemStatus::Undone | ItemStatus::Done);
            let texts = matches!(item.kind, ItemKind::AgentText { .. } | ItemKind::Reasoning { .. });
            let answered = self.turn.as_ref().is_some_and(|turn| turn.answered);
            // A text may get the provider's block; that of an attempt that failed is no part of the answer.
            let settled = texts && !answered;
            assert!(
                undone || settled,
                "{before:?} was completed and changed to {item:?}"
            );
        }
        self.of_an_ended_turn(item, was_final);
        self.first_appearance(item, before.is_none());
        if let ItemKind::Call(call) = &item.kind {
            self.call_event(item, call, before.as_ref());
            self.again_changes(item, call, before.as_ref());
            self.verdict_changes(call, before.as_ref());
            self.done_call(item, call, before.as_ref().map(|item| item.status));
        }
        match before {
            Some(_) => self.items[place] = item.clone(),
            None => self.items.push(item.clone()),
        }
    }

    /// Nothing of an ended turn goes on; only what happens around it may still be told.
    fn of_an_ended_turn(&self, item: &Item, was_final: bool) {
        let ended = self.turn.as_ref().is_none_or(|turn| turn.ended.is_some());
        let around = matches!(
            item.kind,
            ItemKind::Undo { .. }
                | ItemKind::SetAside { .. }
                | ItemKind::ProcessEnded { .. }
                | ItemKind::RoleChange { .. }
                | ItemKind::ModelChange { .. }
                | ItemKind::Workflow { .. }
        );
        assert!(
            !ended || was_final || around,
            "the turn has ended, and then {item:?}"
        );
    }

    fn first_appearance(&mut self, item: &Item, first: bool) {
        if !first {
            return;
        }
        if let ItemKind::UserMessage {
            text,
            delivery,
            queued,
            ..
        } = &item.kind
        {
            let said = text.split_inclusive(';').next().unwrap_or(text);
            let same = |item: &&Item| matches!(&item.kind, ItemKind::UserMessage { text, .. } if text.split_inclusive(';').next() == Some(said));
            let before = self.items.iter().find(same);
            assert!(
                !said.ends_with(';') || before.is_none(),
                "the message {text:?} was delivered twice"
            );
            if let Some(id) = queued {
                let op = self.op().cloned();
                let live = self.step.is_some();
                let starts = *delivery == Delivery::Start;
                self.queue.delivered(*id, text, starts, op.as_ref(), live);
            }
        }
    }

    fn call_event(&mut self, item: &Item, call: &CallItem, before: Option<&Item>) {
        let was = before.map_or(ItemStatus::Waiting, |before| before.status);
        let allowed = call.verdict.as_ref().is_some_and(|verdict| verdict.allowed);
        let begins = was == ItemStatus::Waiting
            && (item.status == ItemStatus::Running || item.status == ItemStatus::Done);
        if begins {
            assert!(allowed, "{} goes on without a verdict", call.call);
            let has = call.check.is_some() || self.has_tool(&call.tool);
            assert!(has, "the role lacks {}", call.tool);
        }
        let ran = matches!(item.status, ItemStatus::Done | ItemStatus::OutcomeUnknown);
        assert!(!ran || allowed, "{} ran without a verdict", call.call);
        let known = |tools: &[(&str, _)]| tools.iter().any(|(name, _)| *name == call.tool);
        let of_a_workflow = self.turn.as_ref().is_some_and(|turn| turn.without_model);
        let exists = known(crate::tools::TOOLS) || of_a_workflow && known(crate::tools::WORKFLOW_TOOLS);
        assert!(
            !begins || exists,
            "{} is a tool that the model does not have",
            call.tool
        );
        let answered = item.iteration == 0
            || self
                .turn
                .as_ref()
                .is_some_and(|turn| turn.answered || turn.ended.is_some());
        assert!(
            !begins || answered,
            "{} begins before the answer is complete",
            call.call
        );
    }

    /// A rule let the call go: it is one that holds.
    fn verdict_changes(&mut self, call: &CallItem, before: Option<&Item>) {
        let verdict_of = |item: &Item| match &item.kind {
            ItemKind::Call(call) => call.verdict.clone(),
            _ => None,
        };
        let Some(verdict) = call.verdict.as_ref() else {
            let by_rule = before
                .and_then(verdict_of)
                .is_some_and(|v| matches!(v.by, DecidedBy::Rule { .. }));
            let removed = matches!(self.op(), Some(Op::RemoveRule { .. }));
            self.see_if(by_rule && removed, "rule: taken back while a call waits by it");
            return;
        };
        let DecidedBy::Rule { rule } = &verdict.by else {
            return;
        };
        // What let the first run go stands again when there is no second one.
        let first = call.again.as_ref().and_then(|first| first.verdict.as_deref()) == Some(verdict);
        if first || before.and_then(verdict_of).as_ref() == Some(verdict) {
            return;
        }
        let arguments = verdict.edited_arguments.as_ref().unwrap_or(&call.arguments);
        let access: Vec<Access> = touched(&call.tool, arguments).into_iter().collect();
        assert!(!access.is_empty(), "a rule let {} go", call.tool);
        self.ruled_by(rule, &call.call, None, verdict.allowed, &access);
    }
}
