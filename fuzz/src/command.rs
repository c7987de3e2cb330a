//! Command lines: splitting one and judging it never fails, and what no rule allows is never milder for being odd.

use paddock_policy::{Circumstances, Decision, Judgement, judge, parse_command};
use paddock_protocol::{Access, Autonomy, Role, Timestamp, TurnId};

/// Splits and judges the bytes as a command line, in every role and autonomy.
pub fn command(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let line = parse_command(&text);
    assert_eq!(line, parse_command(&text), "the same line is split in two ways");
    let access = [Access::Exec {
        command: text.clone(),
    }];
    for role in [Role::Plan, Role::Act, Role::Admin] {
        for confined in [false, true] {
            let [careful, balanced, hands_off] = [Autonomy::Careful, Autonomy::Balanced, Autonomy::HandsOff]
                .map(|autonomy| judged(&access, role, autonomy, confined));
            assert!(
                careful.decision >= balanced.decision && balanced.decision >= hands_off.decision,
                "more autonomy was stricter, {role:?}: {careful:?} {balanced:?} {hands_off:?}"
            );
            let forbidden = |judgement: &Judgement| matches!(judgement.decision, Decision::Forbid(_));
            assert_eq!(
                forbidden(&careful),
                forbidden(&hands_off),
                "autonomy lifted a refusal"
            );
            let passes = |judgement: &Judgement| judgement.decision == Decision::Allow;
            assert!(
                line.understood || !passes(&balanced),
                "what was not understood passed: {line:?}"
            );
            assert!(
                confined || !passes(&hands_off) || passes(&balanced),
                "hands-off without a fence"
            );
            // In Plan it is the role that refuses.
            if role != Role::Plan && line.understood && forbidden(&careful) {
                for more in [format!("true; {text}"), format!("{text}\ntrue")] {
                    let more = [Access::Exec { command: more }];
                    let judgement = judged(&more, role, Autonomy::Careful, confined);
                    assert!(
                        forbidden(&judgement),
                        "lifted by something harmless beside it: {more:?}"
                    );
                }
            }
        }
    }
}

fn judged(access: &[Access], role: Role, autonomy: Autonomy, confined: bool) -> Judgement {
    let circumstances = Circumstances {
        role,
        autonomy,
        rules: &[],
        turn: TurnId(1),
        confined,
        network_asks: confined,
        now: Timestamp(1_700_000_000_000),
    };
    judge(access, &circumstances)
}
