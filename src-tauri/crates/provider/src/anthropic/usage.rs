//! Token counts as Messages reports them: some when the answer begins, cumulative ones when it ends.

use paddock_protocol::Usage;
use serde_json::Value;

/// What was counted so far. Later counts take the place of earlier ones; they are never added.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    input: u64,
    cached: u64,
    cache_write: u64,
    output: u64,
    reasoning: u64,
    /// The counts of the end came.
    ended: bool,
}

impl Counts {
    /// Takes counts; `last`: those of the end.
    pub fn take(&mut self, usage: &Value, last: bool) {
        let count = |path: &str| {
            let number = usage.pointer(path)?;
            number
                .as_u64()
                .or_else(|| number.as_f64().map(|number| number as u64))
        };
        let input = [
            (&mut self.input, count("/input_tokens")),
            (&mut self.cached, count("/cache_read_input_tokens")),
            (&mut self.cache_write, count("/cache_creation_input_tokens")),
        ];
        // All zero: not counted here. No request is empty.
        if input
            .iter()
            .any(|(_, count)| count.is_some_and(|count| count > 0))
        {
            for (place, count) in input {
                *place = count.unwrap_or(*place);
            }
        }
        if let Some(output) = count("/output_tokens") {
            self.output = output;
            self.ended |= last && output > 0;
        }
        let reasoning = [
            "/output_tokens_details/thinking_tokens",
            "/output_tokens_details/reasoning_tokens",
        ];
        self.reasoning = reasoning.into_iter().find_map(count).unwrap_or(self.reasoning);
    }

    pub fn has_input(&self) -> bool {
        self.input + self.cached + self.cache_write > 0
    }

    /// Whether both sides were counted to their end.
    pub fn is_complete(&self) -> bool {
        self.has_input() && self.ended
    }

    /// In parts that do not overlap; none when nothing was counted.
    pub fn usage(&self) -> Option<Usage> {
        let number = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        let reasoning = self.reasoning.min(self.output);
        (self.has_input() || self.output > 0).then(|| Usage {
            input: number(self.input),
            cached: number(self.cached),
            cache_write: number(self.cache_write),
            output: number(self.output - reasoning),
            reasoning: number(reasoning),
            estimated: false,
            ..Usage::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn later_counts_take_the_place_of_earlier_ones_and_nothing_overlaps() {
        let start = json!({"input_tokens": 20, "cache_creation_input_tokens": 300, "cache_read_input_tokens": 4_000, "output_tokens": 1});
        for (end, parts) in [
            (json!({"output_tokens": 70}), [20, 4_000, 300, 70, 0]),
            (
                json!({"input_tokens": 25, "cache_read_input_tokens": 4_000, "cache_creation_input_tokens": 295, "output_tokens": 70}),
                [25, 4_000, 295, 70, 0],
            ),
            (
                json!({"input_tokens": 0, "output_tokens": 70}),
                [20, 4_000, 300, 70, 0],
            ),
            (
                json!({"input_tokens": null, "output_tokens": 70.0}),
                [20, 4_000, 300, 70, 0],
            ),
            (
                json!({"output_tokens": 70, "output_tokens_details": {"thinking_tokens": 60}}),
                [20, 4_000, 300, 10, 60],
            ),
        ] {
            let mut counts = Counts::default();
            counts.take(&start, false);
            assert!(!counts.is_complete());
            counts.take(&end, true);
            assert!(counts.is_complete());
            let found = counts.usage().unwrap();
            let found = [
                found.input,
                found.cached,
                found.cache_write,
                found.output,
                found.reasoning,
            ];
            assert_eq!(found, parts, "{end}");
        }
        assert_eq!(Counts::default().usage(), None);
    }
}
