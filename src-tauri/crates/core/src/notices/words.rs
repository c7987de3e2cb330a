//! The words of a notice: project, session and class; never a command, a path or a host unless the person wants details.

use super::{Kind, Pause, Thing, Watched};
use paddock_protocol::RiskClass;

/// Characters of a title or a detail; a notice has two lines.
const TEXT_LENGTH: usize = 80;
const SESSIONS_NAMED: usize = 3;

/// Headline and body of one notice about these things of one project.
pub(super) fn texts(project: &str, things: &[(&Watched, &Thing)], details: bool) -> (String, String) {
    if let [(watched, thing)] = things {
        let mut body = format!("{}: {}", title(watched), what(&thing.kind));
        if details && !thing.detail.is_empty() {
            body.push_str(": ");
            body.push_str(&thing.detail);
        }
        return (format!("{} in {project}", state(&thing.kind)), body);
    }
    let count = things.len();
    let all_wait = things.iter().all(|(_, thing)| thing.kind.waits());
    let headline = if all_wait {
        format!("{count} things wait for you in {project}")
    } else {
        format!("{count} things happened in {project}")
    };
    let mut titles: Vec<&str> = things.iter().map(|(watched, _)| title(watched)).collect();
    titles.sort_unstable();
    titles.dedup();
    titles.truncate(SESSIONS_NAMED);
    (headline, titles.join(", "))
}

fn title(watched: &Watched) -> &str {
    if watched.title.is_empty() {
        "New session"
    } else {
        &watched.title
    }
}

fn state(kind: &Kind) -> &'static str {
    match kind {
        Kind::Approval(_) | Kind::Question | Kind::Overdue | Kind::Known => "Waiting for you",
        Kind::Paused(_) => "Paused",
        Kind::Done => "Done",
        Kind::Failed => "Failed",
    }
}

fn what(kind: &Kind) -> &'static str {
    match kind {
        Kind::Approval(class) => match class {
            RiskClass::Read => "wants to read a file",
            RiskClass::Write => "wants to change a file",
            RiskClass::Command => "wants to run a command",
            RiskClass::External => "wants to use a tool of another program",
            RiskClass::Network => "wants to use the network",
            RiskClass::Outside => "wants to reach outside of the project folder",
            RiskClass::Delete => "wants to delete",
            RiskClass::Protected => "wants to touch a protected place",
        },
        Kind::Question => "asks you a question",
        Kind::Overdue => "a command takes longer than its limit",
        Kind::Known => "waits for you",
        Kind::Paused(Pause::Limit) => "a limit is reached",
        Kind::Paused(Pause::Guard) => "it repeats itself",
        Kind::Paused(Pause::Breaker) => "a tool failed several times",
        Kind::Paused(Pause::Check) => "the check says that the work is not done",
        Kind::Paused(Pause::Model) => "the model could not be reached",
        Kind::Done => "the turn is done",
        Kind::Failed => "the turn failed",
    }
}

/// One short line without control characters and without characters that change the direction or cannot be seen.
pub(super) fn plain(text: &str) -> String {
    let hidden = |c: char| {
        matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    let spaced: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .filter(|c| !hidden(*c))
        .collect();
    let line = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(TEXT_LENGTH) {
        Some((cut, _)) => format!("{}…", line[..cut].trim_end()),
        None => line,
    }
}

/// A text for a place that reads markup.
pub fn escape_markup(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_short_line_without_hidden_characters() {
        assert_eq!(plain("Fix\n\tthe \u{202e}login\u{200b}\u{7}"), "Fix the login");
        let long = plain(&"é".repeat(200));
        assert_eq!(
            (long.chars().count(), long.ends_with('…')),
            (TEXT_LENGTH + 1, true)
        );
    }

    #[test]
    fn markup_is_text() {
        assert_eq!(
            escape_markup("<b>\"a\" & 'b'</b>"),
            "&lt;b&gt;&quot;a&quot; &amp; &apos;b&apos;&lt;/b&gt;"
        );
    }
}
