//! Whether a person wants to know something or to have something done. Only what a small model is offered and told depends on it, so a
//! wrong guess costs a call or two.

/// With these a wish to have something done is put as a question.
const POLITE: [&str; 5] = ["please", "can you", "could you", "would you", "will you"];
/// With these a wish to know something begins that need not end with a question mark.
const TELL: [&str; 18] = [
    "explain",
    "describe",
    "tell",
    "show",
    "summarize",
    "summarise",
    "list",
    "review",
    "what",
    "why",
    "how",
    "where",
    "which",
    "who",
    "when",
    "is",
    "are",
    "does",
];

/// Whether the words ask for an answer. What is told apart is English; of other languages only the question mark is known.
pub(super) fn is_question(words: &str) -> bool {
    let words = words.trim().to_lowercase();
    let mut wish = words.as_str();
    while let Some(rest) = POLITE.iter().find_map(|polite| without(wish, polite)) {
        wish = rest;
    }
    let is_told = TELL.iter().any(|verb| without(wish, verb).is_some());
    let is_polite = wish.len() < words.len();
    is_told || (words.ends_with('?') && !is_polite)
}

/// What follows a word at the beginning.
fn without<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(word)?;
    let is_whole = !rest.starts_with(char::is_alphanumeric);
    is_whole.then(|| rest.trim_start_matches([' ', ',']))
}

#[cfg(test)]
mod tests {
    use super::is_question;

    #[test]
    fn a_question_is_told_from_a_wish() {
        for words in [
            "Which port is it?",
            "Explain the parser.",
            "Please explain the parser.",
            "Could you tell me why it fails?",
            "what does it do",
            "Wie heißt die Funktion? ",
            "In which file is it?",
        ] {
            assert!(is_question(words), "{words}");
        }
        for words in [
            "Rename it.",
            "Can you rename it?",
            "Could you please rename it?",
            "Showcase the parser.",
            "Add a list of users.",
            "",
        ] {
            assert!(!is_question(words), "{words}");
        }
    }
}
