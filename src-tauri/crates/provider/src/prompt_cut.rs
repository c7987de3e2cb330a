//! Whether a server read the whole of a prompt. Some cut what does not fit their window without a word (Ollama: from the front, with
//! a window of 4,096 unless it was told another); tools and rules are then gone, and only the number of tokens tells of it.

/// Estimates are off by this factor at most: text of few long words, code that is mostly indentation.
const ESTIMATE_FACTOR: u32 = 2;
/// Tokens that are read at least: half of the smallest window. Who counts fewer does not count what was sent.
const LEAST_READ: u32 = 1_000;
/// Tokens that have to be missing: a short prompt fits every window.
const LEAST_MISSING: u32 = 1_000;

/// Whether the server read far less than was sent. `reported` = input tokens as the server counted them, cached ones too, 0 when it
/// did not count; `estimated` = the same by our own estimate.
pub fn prompt_was_cut(reported: u32, estimated: u32) -> bool {
    let missing = estimated.saturating_sub(reported);
    reported >= LEAST_READ && missing >= LEAST_MISSING && reported < estimated / ESTIMATE_FACTOR
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_that_was_cut_to_the_window() {
        // Windows of 2,048 and 4,096, of which half may be kept; prompts of an agent.
        for (reported, estimated) in [(2_048, 6_000), (4_096, 9_500), (2_050, 4_500), (4_096, 120_000)] {
            assert!(prompt_was_cut(reported, estimated), "{reported} of {estimated}");
        }
    }

    #[test]
    fn an_estimate_may_be_wrong() {
        for (reported, estimated) in [
            (4_000, 4_000),
            (2_400, 4_000),
            (9_000, 4_000),
            // Nothing was counted, or something else.
            (0, 50_000),
            (100, 50_000),
            // Too little to be cut.
            (300, 900),
            (0, 0),
            (u32::MAX, u32::MAX),
        ] {
            assert!(!prompt_was_cut(reported, estimated), "{reported} of {estimated}");
        }
    }
}
