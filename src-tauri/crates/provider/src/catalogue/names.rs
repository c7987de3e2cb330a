//! Names of models: which part of one is only a version, and which is only a maker's prefix.
//!
//! The wall stands here because a name that is cut too far finds another model's price. What is not surely a version stays.

/// What was cut off the end of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// A whole date or "latest": the same model.
    Surely,
    /// "preview", three or four digits, half a date: the same model only where the catalogue says that its name goes on like this.
    Perhaps,
}

/// Prefixes under which a provider's models are named elsewhere.
const PREFIXES: &[(&str, &[&str])] = &[
    ("openai", &["openai/"]),
    ("anthropic", &["anthropic/"]),
    ("gemini", &["models/", "google/", "gemini/"]),
    ("mistral", &["mistralai/", "mistral/"]),
    ("deepseek", &["deepseek-ai/", "deepseek/"]),
    ("xai", &["x-ai/", "xai/"]),
    ("openrouter", &["openrouter/"]),
    ("groq", &["groq/"]),
    ("together", &["together_ai/", "together/"]),
    ("fireworks", &["accounts/fireworks/models/", "fireworks/"]),
    ("cerebras", &["cerebras/"]),
];

/// The name without this provider's prefix; none when it has none.
pub(super) fn without_prefix<'a>(provider: &str, name: &'a str) -> Option<&'a str> {
    let (_, prefixes) = PREFIXES.iter().find(|(owner, _)| *owner == provider)?;
    prefixes.iter().find_map(|prefix| name.strip_prefix(prefix))
}

/// The name without the version at its end; none when it ends in none.
pub(super) fn without_version(name: &str) -> Option<(&str, Cut)> {
    const LATEST: [&str; 4] = ["-latest", ":latest", "@latest", "@default"];
    if let Some(rest) = LATEST.iter().find_map(|end| name.strip_suffix(end)) {
        return nonempty(rest, Cut::Surely);
    }
    let (rest, last) = name.rsplit_once(['-', '@'])?;
    if ["preview", "exp", "experimental", "beta"].contains(&last) {
        return nonempty(rest, Cut::Perhaps);
    }
    if !digits(last) {
        return None;
    }
    match last.len() {
        8 if last.starts_with("20") => nonempty(rest, Cut::Surely),
        2 => {
            let (rest, _) = rest.rsplit_once('-').filter(|(_, month)| is_month(month))?;
            match rest.rsplit_once('-') {
                Some((whole, year)) if is_year(year) => nonempty(whole, Cut::Surely),
                _ => nonempty(rest, Cut::Perhaps),
            }
        }
        3 | 4 => {
            let month = rest
                .rsplit_once('-')
                .filter(|(_, month)| is_year(last) && is_month(month));
            nonempty(month.map_or(rest, |(rest, _)| rest), Cut::Perhaps)
        }
        _ => None,
    }
}

fn nonempty(rest: &str, cut: Cut) -> Option<(&str, Cut)> {
    (!rest.is_empty()).then_some((rest, cut))
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_year(text: &str) -> bool {
    text.len() == 4 && digits(text) && text.starts_with("20")
}

fn is_month(text: &str) -> bool {
    text.len() == 2 && text.parse::<u8>().is_ok_and(|month| (1..=12).contains(&month))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_cut_and_nothing_else() {
        for (name, rest, cut) in [
            ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5", Cut::Surely),
            ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5", Cut::Surely),
            ("gpt-5.5-2026-04-24", "gpt-5.5", Cut::Surely),
            ("mistral-large-latest", "mistral-large", Cut::Surely),
            (
                "gemini-2.5-flash-preview-09-2025",
                "gemini-2.5-flash-preview",
                Cut::Perhaps,
            ),
            (
                "gemini-2.5-pro-preview-05-06",
                "gemini-2.5-pro-preview",
                Cut::Perhaps,
            ),
            ("gemini-2.5-pro-preview", "gemini-2.5-pro", Cut::Perhaps),
            ("gemini-2.0-flash-001", "gemini-2.0-flash", Cut::Perhaps),
            ("mistral-large-2411", "mistral-large", Cut::Perhaps),
        ] {
            assert_eq!(without_version(name), Some((rest, cut)), "{name}");
        }
        for name in [
            "gpt-5",
            "gpt-5.5",
            "claude-opus-5-5",
            "claude-opus-4-8",
            "o3",
            "-latest",
            "llama-3.1-70b",
            "m-99-99",
            "gpt-4o-mini",
            "gpt-4-32k",
            "gpt-oss-120b",
            "",
        ] {
            assert_eq!(without_version(name), None, "{name}");
        }
    }

    #[test]
    fn only_a_providers_own_prefix_is_cut() {
        assert_eq!(without_prefix("openai", "openai/gpt-5"), Some("gpt-5"));
        assert_eq!(
            without_prefix("gemini", "models/gemini-3-flash"),
            Some("gemini-3-flash")
        );
        assert_eq!(without_prefix("openai", "groq/gpt-5"), None);
        assert_eq!(without_prefix("nobody", "openai/gpt-5"), None);
    }
}
