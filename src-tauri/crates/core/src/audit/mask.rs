//! Keys in texts that leave Paddock. It is a net under the rule that keys are in no log, so it rather masks too much.

use regex::{Captures, Regex};
use std::sync::LazyLock;

const MASK: &str = "[masked]";

/// A value after a name that stands for a secret, in the ways of shells, URLs, JSON and headers.
const NAMED: &str = r#"(?xi)
    (?P<name> [\w-]* (?: api_?-?key | access_?-?key | secret | token | passw(?:or)?d | passwd | pwd | passphrase | credential s? | private_?-?key )
        [\w-]* ["']? (?: \s*[=:]\s* | \s+ ) )
    (?P<value> "[^"]*" | '[^']*' | [^\s"'&;|,)]+ )"#;

/// Values that are keys by their form.
const FORMED: &str = r"(?x)
    -----BEGIN\x20[A-Z\x20]*PRIVATE\x20KEY-----[\s\S]*?(?:-----END\x20[A-Z\x20]*PRIVATE\x20KEY-----|\z)
    | \b(?: sk | rk | pk | sk_live | sk_test | rk_live | ghp | gho | ghs | ghu | ghr | github_pat | glpat | xox[abeprs] | xapp | hf | npm | pypi | gsk | AIza | ya29 | dop_v1 | shpat | whsec ) [-_.]? [A-Za-z0-9_\-]{12,}
    | \b(?: AKIA | ASIA ) [A-Z0-9]{12,}
    | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*";

/// What follows the scheme of an authorization, and what stands before the @ of an address.
const CARRIED: &str = r"(?xi) (?P<before> \b(?: bearer | basic )\s+ ) [A-Za-z0-9_\-.+/=:]{6,} | (?P<scheme> [a-z][a-z0-9+.-]*:// [^\s/:@]* : ) [^\s/@]+ (?P<at> @ )";

/// Long words in which capitals, small letters and digits mix, as no name or hash does.
const LONG: &str = r"[A-Za-z0-9_+=-]{32,}";

/// The text with everything that looks like a key replaced by `[masked]`.
pub fn mask(text: &str) -> String {
    static PATTERNS: LazyLock<Option<[Regex; 4]>> = LazyLock::new(|| {
        let of = |pattern| Regex::new(pattern).ok();
        Some([of(FORMED)?, of(CARRIED)?, of(NAMED)?, of(LONG)?])
    });
    let Some([formed, carried, named, long]) = &*PATTERNS else {
        return MASK.to_owned();
    };
    let text = formed.replace_all(text, MASK);
    let text = carried.replace_all(&text, |found: &Captures<'_>| {
        let part = |name| found.name(name).map_or("", |part| part.as_str());
        format!("{}{}{MASK}{}", part("before"), part("scheme"), part("at"))
    });
    let text = named.replace_all(&text, |found: &Captures<'_>| {
        let value = &found["value"];
        // A further word of the text, a variable or nothing: not the secret itself.
        if value.starts_with('$')
            || value.starts_with('-')
            || value.starts_with('[')
            || is_plain_word(&found["name"], value)
        {
            found[0].to_owned()
        } else {
            format!("{}{MASK}", &found["name"])
        }
    });
    long.replace_all(&text, |found: &Captures<'_>| {
        let word = &found[0];
        let has = |is: fn(&char) -> bool| word.chars().any(|c| is(&c));
        let mixed =
            has(char::is_ascii_digit) && has(char::is_ascii_uppercase) && has(char::is_ascii_lowercase);
        if mixed { MASK.to_owned() } else { word.to_owned() }
    })
    .into_owned()
}

/// "the token of the reader": prose after a blank, not an assignment. After a flag anything is a value.
fn is_plain_word(name: &str, value: &str) -> bool {
    let assigned = name.trim_end().ends_with(['=', ':']);
    !assigned
        && !name.starts_with('-')
        && value
            .chars()
            .all(|c| c.is_alphabetic() || matches!(c, '.' | '-' | '/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_key_is_masked() {
        for (text, masked) in [
            (
                "curl -H 'Authorization: Bearer abc.def-123' u",
                "curl -H 'Authorization: Bearer [masked]' u",
            ),
            (
                "export OPENAI_API_KEY=sk-abcdefghijklmnop",
                "export OPENAI_API_KEY=[masked]",
            ),
            (
                "tool --password hunter2 --user me",
                "tool --password [masked] --user me",
            ),
            ("mysql --password='two words' db", "mysql --password=[masked] db"),
            (r#"{"token": "abc", "id": 7}"#, r#"{"token": [masked], "id": 7}"#),
            (
                "git clone https://me:s3cret@host/x.git",
                "git clone https://me:[masked]@host/x.git",
            ),
            ("echo ghp_0123456789abcdefghij", "echo [masked]"),
            ("AKIAABCDEFGHIJKLMNOP", "[masked]"),
            ("x eyJhbGciOiJIUzI1.eyJzdWIiOiIx.c2ln y", "x [masked] y"),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- after",
                "[masked] after",
            ),
            ("echo aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE", "echo [masked]"),
        ] {
            assert_eq!(mask(text), masked, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_key_stays_readable() {
        for text in [
            "cargo test -p orchard --lib token_count",
            "src/auth/password_reset.rs",
            "git show 0123456789abcdef0123456789abcdef01234567",
            "0198f2a4-7c1e-7b55-9c0d-2f6a1b3c4d5e",
            "export TOKEN=$TOKEN",
            "fix the token of the reader",
            "a-very-long-name-of-a-branch-without-any-digit-in-it",
            "",
        ] {
            assert_eq!(mask(text), text);
        }
    }
}
