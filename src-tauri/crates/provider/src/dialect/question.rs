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

/// Whether the words ask for an answer: the last sentence does, or all of them do. What is told apart is English; of other languages
/// only the question mark is known.
pub(super) fn is_question(words: &str) -> bool {
    let words = words.trim().to_lowercase();
    let wishes = in_lines(&words).lines().map(Wish::of).collect::<Vec<_>>();
    let Some((last, earlier)) = wishes.split_last() else {
        return false;
    };
    last.is_asked || last.is_told && earlier.iter().all(|wish| wish.is_told)
}

/// Each sentence on a line; a full stop within a word ends none.
fn in_lines(words: &str) -> String {
    let ends = [". ", "! ", "? "];
    ends.iter().fold(words.to_owned(), |text, end| {
        text.replace(end, &end.replace(' ', "\n"))
    })
}

/// What one sentence is.
struct Wish {
    /// A question, and not a wish put as one.
    is_asked: bool,
    /// A wish to be told something.
    is_told: bool,
}

impl Wish {
    fn of(sentence: &str) -> Self {
        let sentence = sentence.trim();
        let mut wish = sentence;
        while let Some(rest) = POLITE.iter().find_map(|polite| without(wish, polite)) {
            wish = rest;
        }
        let is_told = TELL.iter().any(|verb| without(wish, verb).is_some());
        let is_polite = wish.len() < sentence.len();
        Self {
            is_asked: sentence.ends_with('?') && (is_told || !is_polite),
            is_told,
        }
    }
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
            "There is a.txt. What is in it?",
            "Explain src/a.rs. Tell me who calls it.",
        ] {
            assert!(is_question(words), "{words}");
        }
        for words in [
            "Rename it.",
            "Can you rename it?",
            "Could you please rename it?",
            "Showcase the parser.",
            "What is in a.txt? Then note it in b.txt.",
            "Explain why it fails. Fix it.",
            "Add a list of users.",
            "",
        ] {
            assert!(!is_question(words), "{words}");
        }
    }
}
