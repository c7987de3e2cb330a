//! Commands with what is expected of each: its classes besides "command", and the answers in Careful, Balanced and Hands-off in
//! the role Act on a machine that confines commands. `a` asks, `+` passes, `x` is never allowed.

mod risky;
mod usual;

use super::*;
use std::collections::HashSet;

struct Group {
    about: &'static str,
    /// `D` deletes, `N` wants the network.
    classes: &'static str,
    answers: &'static str,
    commands: &'static [&'static str],
}

fn corpus() -> impl Iterator<Item = &'static Group> {
    usual::USUAL.iter().chain(risky::RISKY)
}

fn answer(command: &str, autonomy: Autonomy) -> (char, Judgement) {
    let access = [Access::Exec {
        command: command.into(),
    }];
    let cx = Circumstances {
        role: Role::Act,
        autonomy,
        rules: &[],
        turn: TurnId(1),
        confined: true,
        network_asks: false,
        now: Timestamp(0),
    };
    let judgement = judge(&access, &cx);
    let sign = match judgement.decision {
        Decision::Allow => '+',
        Decision::Ask => 'a',
        Decision::Forbid(_) => 'x',
    };
    (sign, judgement)
}

#[test]
fn every_command_is_judged_as_expected() {
    let mut faults = Vec::new();
    for group in corpus() {
        for command in group.commands {
            let levels = [Autonomy::Careful, Autonomy::Balanced, Autonomy::HandsOff];
            let judged: Vec<(char, Judgement)> =
                levels.into_iter().map(|level| answer(command, level)).collect();
            let answers: String = judged.iter().map(|(sign, _)| sign).collect();
            let classes = &judged[0].1.classes;
            let found: String = [(RiskClass::Delete, 'D'), (RiskClass::Network, 'N')]
                .iter()
                .filter(|(class, _)| classes.contains(class))
                .map(|(_, sign)| sign)
                .collect();
            if answers != group.answers || (group.classes != "?" && found != group.classes) {
                faults.push(format!("{}: {command:?} → {answers} {found}", group.about));
            }
        }
    }
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn the_corpus_is_large_and_says_nothing_twice() {
    let all: Vec<&str> = corpus().flat_map(|group| group.commands).copied().collect();
    let different: HashSet<&str> = all.iter().copied().collect();
    assert_eq!(all.len(), different.len());
    assert!(all.len() >= 500, "{}", all.len());
}

#[test]
fn nothing_that_is_not_on_the_safe_list_passes_in_plan() {
    for group in corpus() {
        for command in group.commands {
            let access = [Access::Exec {
                command: (*command).into(),
            }];
            let cx = Circumstances {
                role: Role::Plan,
                autonomy: Autonomy::HandsOff,
                rules: &[],
                turn: TurnId(1),
                confined: true,
                network_asks: true,
                now: Timestamp(0),
            };
            let passes = judge(&access, &cx).decision == Decision::Allow;
            assert_eq!(passes, group.about == "only looks", "{command}");
        }
    }
}
