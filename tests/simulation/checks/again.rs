//! What a call may reach beyond the project, and the second run of a command that the sandbox refused something: offered
//! once, asked for each time, with just that.

use super::rules::touched;
use super::{Checks, Step};
use paddock_core::session::input::{Back, Input};
use paddock_protocol::*;

fn places(access: &[Access]) -> Vec<Access> {
    let is_place = |access: &&Access| matches!(access, Access::Outside { .. });
    access.iter().filter(is_place).cloned().collect()
}

pub fn beyond(access: &[Access]) -> Vec<Access> {
    let is_beyond = |access: &&Access| matches!(access, Access::Outside { .. } | Access::Network { .. });
    access.iter().filter(is_beyond).cloned().collect()
}

impl Checks {
    /// The run that ends now is one after which the person is asked whether it may run again with more.
    pub(super) fn run_was_refused(&mut self, step: &Step) {
        self.refused_run = None;
        let Input::Back(Back::CallEnded {
            call,
            result: Ok(output),
        }) = &step.input
        else {
            return;
        };
        let Some((item, shown)) = self.call(call) else {
            return;
        };
        let runs = item.status == ItemStatus::Running && shown.tool == "run_command";
        let failed = !output.ok && output.exit_code.is_some() && !places(&output.refused).is_empty();
        let without_model = self.turn.as_ref().is_none_or(|turn| turn.without_model);
        let may = shown.check.is_none() && self.config.role != Role::Plan && !without_model;
        if !(runs && failed && may) {
            return;
        }
        if shown.again.is_some() {
            self.see("again: refused once more");
        } else {
            self.refused_run = Some((call.clone(), output.clone(), shown.verdict.clone()));
        }
    }

    pub(super) fn again_changes(&mut self, item: &Item, call: &CallItem, before: Option<&Item>) {
        let was = before.and_then(|before| match &before.kind {
            ItemKind::Call(call) => call.again.clone(),
            _ => None,
        });
        let Some(first) = &call.again else {
            assert!(was.is_none(), "the first run of {} is forgotten", call.call);
            return;
        };
        if was.is_some() {
            assert_eq!(was.as_ref(), Some(first), "the first run is another one now");
            self.first_result_is_kept(item, call, first, before);
            return;
        }
        assert_eq!(item.status, ItemStatus::Waiting, "it runs again by itself");
        assert!(call.verdict.is_none(), "it runs again unasked");
        if self.step.is_some() {
            let (of, output, verdict) = self.refused_run.clone().expect("a run that was refused a place");
            assert_eq!(of, call.call);
            assert_eq!(
                first.refused,
                places(&output.refused),
                "more or less than was refused"
            );
            assert_eq!(*first.output, output, "the first result was changed");
            assert_eq!(first.verdict.as_deref(), verdict.as_ref());
            self.see("again: offered");
        }
    }

    /// It ends without its second run: the model gets what the first one came to.
    fn first_result_is_kept(
        &mut self,
        item: &Item,
        call: &CallItem,
        first: &RefusedRun,
        before: Option<&Item>,
    ) {
        let waited = before.is_some_and(|before| before.status == ItemStatus::Waiting);
        if !waited || !item.status.is_final() {
            return;
        }
        let output = call.output.as_ref().expect("a result");
        assert_eq!(item.status, ItemStatus::Failed);
        assert!(
            output.text.starts_with(first.output.text.trim_end()),
            "the first result is lost"
        );
        let facts = |output: &CallOutput| (output.ok, output.exit_code, output.refused.clone());
        assert_eq!(facts(output), facts(&first.output));
        assert_eq!(call.verdict, first.verdict.as_deref().cloned());
        if let Some(step) = &self.step {
            let by_person = step.decided.is_some();
            let stopped = matches!(
                step.op(),
                Some(Op::Stop | Op::StopEverything | Op::EndCall { .. })
            );
            self.see_if(by_person, "again: not allowed by the person");
            self.see_if(stopped, "again: stopped while it waited");
            self.see_if(!by_person && !stopped, "again: forbidden meanwhile");
        }
    }

    pub(super) fn refused_run_is_offered(&mut self) {
        if let Some((call, ..)) = self.refused_run.take() {
            let (_, shown) = self.call(&call).expect("the call's item");
            assert!(
                shown.again.is_some(),
                "{call} was refused a place and nobody is asked"
            );
        }
    }

    /// What a call gets beyond the project: all that was approved for it, and else only what rules in force cover.
    pub(super) fn reach_is_right(
        &mut self,
        call: &CallId,
        (tool, arguments): (&str, &str),
        reach: &[Access],
        granted: Option<&[Access]>,
    ) {
        let (_, shown) = self.call(call).expect("the call's item");
        let by_rule = matches!(
            shown.verdict.as_ref().map(|v| &v.by),
            Some(DecidedBy::Rule { .. })
        );
        let own = touched(tool, arguments);
        let looks = self.config.role == Role::Plan;
        let (mut approved, mut ruled) = (false, false);
        for place in reach {
            let writes = matches!(place, Access::Outside { write: true, .. });
            assert!(!looks || !writes, "{call} may write outside in Plan: {place:?}");
            let by_grant = granted.is_some_and(|granted| granted.contains(place));
            // What a rule let go when it was judged, for a file tool: the one place that it names.
            let judged = by_rule && tool != "run_command" && own.as_ref() == Some(place);
            let by_rule = tool == "run_command" && self.ruled(place);
            assert!(
                by_grant || judged || by_rule,
                "{call} reaches {place:?}, which nobody allowed it"
            );
            approved |= by_grant;
            ruled |= !by_grant;
        }
        for place in granted.unwrap_or_default() {
            assert!(
                reach.contains(place),
                "{call} does not get {place:?}, which was approved"
            );
        }
        self.see_if(approved, "reach: a place that was approved");
        self.see_if(ruled, "reach: a place by a rule");
    }

    /// A second run was approved with the refused places in sight.
    pub(super) fn second_run(&mut self, call: &CallId, approval: Option<&ApprovalRequest>) {
        let (_, shown) = self.call(call).expect("the call's item");
        let Some(first) = &shown.again else { return };
        let asked = approval.expect("a second run that nobody approved");
        assert_eq!(asked.again.as_ref(), Some(first), "another first run was shown");
        for place in &first.refused {
            assert!(asked.access.contains(place), "{place:?} was not shown");
        }
        self.see("again: ran");
    }
}
