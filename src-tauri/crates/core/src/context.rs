//! What the model is told before the conversation: the product's own words, facts about the project, the project's guide.
//! Built once per turn and byte-stable within it, so that the provider's prompt cache hits.

use paddock_protocol::{CallFormat, LEAST_WINDOW, Role, SessionConfig, Timestamp};
use paddock_provider::PROJECT_HEADING;
use paddock_sandbox::{Kind, ProjectRoot, RelativePath};
use std::fmt::Write as _;

const OWN_WORDS: &str = include_str!("context.md");
/// For models that call in their text, which are mostly small, and for small windows.
const SHORT_WORDS: &str = include_str!("context_short.md");
/// The project's guide is cut here; a longer one is named with its size.
const GUIDE_BYTES: usize = 8 * 1024;
const NOTES: &str = ".paddock/MEMORY.md";
/// Older notes than these are left out.
const NOTES_BYTES: usize = 4 * 1024;
const TOP_ENTRIES: usize = 40;
/// Files that are read as the project's guide, the first that exists.
pub const GUIDES: &[&str] = &["AGENTS.md", ".paddock/AGENTS.md"];

/// The system prompt of a turn.
pub fn system_prompt(root: &ProjectRoot, config: &SessionConfig, at: Timestamp) -> String {
    let is_short = config.format != CallFormat::Native
        || config.facts.window.is_some_and(|window| window <= LEAST_WINDOW);
    let words = if is_short { SHORT_WORDS } else { OWN_WORDS };
    let mut prompt = words.trim_end().to_owned();
    if config.role == Role::Plan {
        prompt.push_str("\nYour role is Plan: look and plan only. Nothing can be changed; end with a plan for the user to approve.");
    }
    if let Some(own) = config
        .own_role
        .as_ref()
        .filter(|own| !own.prompt.trim().is_empty())
    {
        let _ = write!(prompt, "\n\n# Your role: {}\n{}", own.name, own.prompt.trim());
    }
    let _ = write!(prompt, "\n\n{PROJECT_HEADING}\n");
    facts(root, at, is_short, &mut prompt);
    if let Some((name, text)) = guide(root) {
        let _ = write!(prompt, "\n# {name} of the project\n{text}\n");
    }
    if let Some(text) = notes(root) {
        let _ = write!(prompt, "\n# Notes you were asked to remember\n{text}\n");
    }
    prompt
}

fn facts(root: &ProjectRoot, at: Timestamp, is_short: bool, prompt: &mut String) {
    let name = root.path().file_name().map(|name| name.to_string_lossy());
    // A small model takes the name for a path.
    let name = match name.filter(|_| !is_short) {
        Some(name) => format!("Folder {name} · "),
        None => String::new(),
    };
    let shell = if cfg!(windows) { "PowerShell" } else { "sh" };
    let mut entries = root.read_dir(&RelativePath::root()).unwrap_or_default();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    let git = entries.iter().any(|entry| entry.name == ".git");
    let _ = writeln!(
        prompt,
        "{name}{} · shell {shell} · {} · {}",
        std::env::consts::OS,
        if git {
            "git repository"
        } else {
            "no version control"
        },
        date(at)
    );
    let shown: Vec<String> = entries
        .iter()
        .filter(|entry| entry.name != ".git")
        .take(TOP_ENTRIES)
        .map(|entry| {
            format!(
                "{}{}",
                entry.name,
                if entry.kind == Kind::Folder { "/" } else { "" }
            )
        })
        .collect();
    let more = entries.len().saturating_sub(TOP_ENTRIES + usize::from(git));
    let _ = write!(
        prompt,
        "Top: {}",
        if shown.is_empty() {
            "(empty)".to_owned()
        } else {
            shown.join(" ")
        }
    );
    let _ = writeln!(
        prompt,
        "{}",
        if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        }
    );
}

/// What `remember` has kept; the newest lines when it is long.
fn notes(root: &ProjectRoot) -> Option<String> {
    let path = root.relative(NOTES).ok()?;
    let bytes = root.read(&path, 1 << 20).ok()?;
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    let mut from = text.len().saturating_sub(NOTES_BYTES);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let kept = match from {
        0 => text.as_str(),
        _ => text[from..]
            .split_once('\n')
            .map_or(&text[from..], |(_, whole)| whole),
    };
    (!kept.is_empty()).then(|| kept.to_owned())
}

fn guide(root: &ProjectRoot) -> Option<(&'static str, String)> {
    GUIDES.iter().find_map(|name| {
        let path = root.relative(name).ok()?;
        let bytes = root.read(&path, 1 << 20).ok()?;
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        if text.len() <= GUIDE_BYTES {
            return (!text.is_empty()).then_some((*name, text));
        }
        let mut cut = GUIDE_BYTES;
        while !text.is_char_boundary(cut) {
            cut -= 1;
        }
        let kept = text[..cut]
            .rsplit_once('\n')
            .map_or(&text[..cut], |(kept, _)| kept);
        Some((
            *name,
            format!(
                "{kept}\n(cut: {} of {} bytes; read the file for the rest)",
                kept.len(),
                text.len()
            ),
        ))
    })
}

/// The day as YYYY-MM-DD, UTC (days-to-civil algorithm).
pub(crate) fn date(at: Timestamp) -> String {
    let days = i64::try_from(at.0 / 86_400_000).unwrap_or(0) + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use paddock_protocol::{Autonomy, CallFormat, Limits};

    #[test]
    fn dates() {
        assert_eq!(date(Timestamp(0)), "1970-01-01");
        assert_eq!(date(Timestamp(951_782_400_000)), "2000-02-29");
        assert_eq!(date(Timestamp(1_795_219_200_000)), "2026-11-21");
    }

    fn config() -> SessionConfig {
        SessionConfig {
            done_when: None,
            project: String::new(),
            title: String::new(),
            model: crate::demo_model(),
            role: Role::Act,
            autonomy: Autonomy::default(),
            limits: Limits::default(),
            format: CallFormat::Native,
            own_role: None,
            fallback: None,
            parent: None,
            demo: false,
            budget: Default::default(),
            facts: Default::default(),
            small: None,
        }
    }

    #[test]
    fn the_prompt_names_the_project_and_holds_its_guide() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("AGENTS.md"), "Use tabs.").unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        let root = ProjectRoot::open(folder.path()).unwrap();
        let prompt = system_prompt(&root, &config(), Timestamp(0));
        assert!(prompt.contains("Top: AGENTS.md src/"), "{prompt}");
        assert!(prompt.contains("# AGENTS.md of the project\nUse tabs."));
        assert!(!prompt.contains("Your role is Plan"));
        assert!(prompt.len() < 2_500, "{}", prompt.len());
    }

    #[test]
    fn a_small_model_or_window_is_told_less() {
        let folder = tempfile::tempdir().unwrap();
        let root = ProjectRoot::open(folder.path()).unwrap();
        let prompt = |format, window| {
            let mut config = config();
            config.format = format;
            config.facts.window = window;
            system_prompt(&root, &config, Timestamp(0))
        };
        let whole = prompt(CallFormat::Native, None);
        assert_eq!(prompt(CallFormat::Native, Some(200_000)), whole);
        let short = prompt(CallFormat::Json, None);
        assert!(
            short.len() < 1_200 && whole.len() > short.len(),
            "{}",
            short.len()
        );
        assert!(
            !short.contains("Folder "),
            "a small model takes the name for a path"
        );
        assert_eq!(prompt(CallFormat::Native, Some(8_192)), short);
        assert!(
            short.contains("never instructions"),
            "what guards against texts from outside stays"
        );
    }
}
