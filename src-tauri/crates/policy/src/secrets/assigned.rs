//! Secrets that are known by what stands before them: a name, the scheme of an authorization, the user of an address.

use super::Find;
use crate::base64::decoded;
use regex::Regex;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A name that stands for a secret, and its value: in shells, code, JSON, YAML, headers and options.
const ASSIGNED: &str = r#"(?xi)
    (?P<name> passw(?:or)?d | passwd | passphrase | pwd | secret | token | credentials?
        | (?: api | access | secret | private | auth | account | signing | encryption | master | client | service | storage | license )
          [_.\-]? key )
    s? (?: [_-][a-z0-9_-]{0,40} )?
    (?: \\? ["'`] )? \]?
    (?: [\x20\t]* (?: => | := | = | : ) [\x20\t]* | [\x20\t]+ )
    (?P<value> \\"[^"\\\n]{8,400}\\" | "(?: [^"\\\n] | \\. ){8,400}" | '[^'\n]{8,400}' | `[^`\n]{8,400}` | [^\s"'`,;<>(){}\[\]]{8,400} )"#;
const CARRIED: &str = r"(?xi) \b (?P<scheme> bearer | basic ) [\x20\t]+ (?P<carried> [A-Za-z0-9._~+/=-]{8,4000} )
    | \b [a-z][a-z0-9+.-]{1,20} :// (?P<user> [^\s:/@?\#]{0,100} ) : (?P<password> [^\s/@]{3,200} ) @ [\w.\[-]";

/// What people write where a secret would stand.
const PLACEHOLDERS: &[&str] = &[
    "example",
    "sample",
    "dummy",
    "placeholder",
    "changeme",
    "change_me",
    "change-me",
    "your",
    "xxxx",
    "redacted",
    "masked",
    "insert",
    "replace",
    "....",
    "****",
    "<",
    ">",
    "…",
];
/// The same, where only a name says that the value is secret.
const WEAK: &[&str] = &[
    "test",
    "fake",
    "mock",
    "foobar",
    "foo-bar",
    "secret",
    "password",
    "passwd",
    "token",
    "null",
    "none",
    "undefined",
    "true",
    "false",
    "localhost",
    "todo",
    "12345678",
    "abcdefgh",
    "hunter",
    "env",
    "config",
    "import",
    "require",
];
/// Ends of names that stand for something else than the secret itself.
const OTHER_THINGS: &[&str] = &[
    "id",
    "name",
    "url",
    "uri",
    "path",
    "file",
    "type",
    "count",
    "length",
    "len",
    "limit",
    "size",
    "field",
    "policy",
    "hint",
    "label",
    "prefix",
    "suffix",
    "format",
    "version",
    "arn",
    "expiry",
    "expires",
    "ttl",
    "endpoint",
    "location",
    "ref",
    "env",
    "var",
    "column",
    "header",
    "algorithm",
    "class",
    "provider",
    "store",
    "usage",
    "budget",
];

pub(super) fn assigned(text: &str, finds: &mut Vec<Find>) {
    static NAMES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(ASSIGNED).ok());
    let Some(names) = &*NAMES else { return };
    let mut from = 0;
    while let Some(found) = names.captures_at(text, from) {
        let (Some(whole), Some(value)) = (found.get(0), found.name("value")) else {
            return;
        };
        let before = text.get(whole.start()..value.start()).unwrap_or_default();
        // What is no secret may be the name of the next one: "secret: password=…".
        from = found.name("name").map_or(whole.end(), |name| name.end());
        let masked = text.get(..whole.start()).is_some_and(|head| head.ends_with('['));
        if masked || names_other_thing(before) {
            continue;
        }
        let quotes = value.as_str().len() - value.as_str().trim_start_matches(['\\', '"', '\'', '`']).len();
        let inside = value.as_str().trim_matches(['\\', '"', '\'', '`']);
        let option = text.get(..whole.start()).is_some_and(|head| {
            head.rsplit([' ', '\t', '\n'])
                .next()
                .is_some_and(|word| word.starts_with("--"))
        });
        let assigns = before.contains(['=', ':']);
        if (assigns || option) && is_secret_value(inside, quotes > 0) {
            let begin = value.start() + quotes;
            finds.push(Find::new(begin..begin + inside.len(), "value"));
            from = value.end();
        }
    }
}

fn names_other_thing(before: &str) -> bool {
    let name = before
        .trim_end_matches(|c: char| !c.is_ascii_alphanumeric())
        .to_lowercase();
    let last = name.rsplit(['_', '-']).next().unwrap_or_default();
    name.contains(['_', '-']) && OTHER_THINGS.contains(&last)
}

pub(super) fn carried(text: &str, finds: &mut Vec<Find>) {
    static SCHEMES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(CARRIED).ok());
    let Some(schemes) = &*SCHEMES else { return };
    for found in schemes.captures_iter(text) {
        if let (Some(scheme), Some(value)) = (found.name("scheme"), found.name("carried")) {
            let carried = value.as_str().trim_end_matches('.');
            let basic = scheme.as_str().eq_ignore_ascii_case("basic");
            let genuine = if basic {
                is_login(carried)
            } else {
                is_bearer(carried)
            };
            if genuine {
                let label = if basic { "login" } else { "bearer token" };
                finds.push(Find::new(value.start()..value.start() + carried.len(), label));
            }
        } else if let (Some(user), Some(password)) = (found.name("user"), found.name("password")) {
            let value = password.as_str();
            let variable = value.starts_with(['$', '{', '%', '*', '<', '[']) && !value.starts_with("%2");
            let common = ["password", "pass", "passwd", "pwd", "secret"];
            if user.as_str() != value && !variable && !common.contains(&value) && !is_noise(value) {
                finds.push(Find {
                    recognisable: false,
                    ..Find::new(password.range(), "password")
                });
            }
        }
    }
}

/// `user:password` in Base64.
fn is_login(text: &str) -> bool {
    let bytes = decoded(text).and_then(|bytes| String::from_utf8(bytes).ok());
    bytes.is_some_and(|login| login.contains(':') && login.chars().all(|c| !c.is_control()))
}

fn is_bearer(text: &str) -> bool {
    let digit = text.bytes().any(|b| b.is_ascii_digit());
    let cases = text.bytes().any(|b| b.is_ascii_uppercase()) && text.bytes().any(|b| b.is_ascii_lowercase());
    text.len() >= 16 && (digit || cases) && entropy(text) >= 3.0 && !is_noise(text) && !text.contains("token")
}

/// Whether it stands where a secret would stand, and is none: few different signs, or the words of an instruction.
pub(super) fn is_noise(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut signs: Vec<char> = lower.chars().collect();
    signs.sort_unstable();
    signs.dedup();
    signs.len() < text.len().min(6) || PLACEHOLDERS.iter().any(|word| lower.contains(word))
}

/// Whether a value behind a telling name is a secret and not code, a path, a word or an example.
fn is_secret_value(value: &str, quoted: bool) -> bool {
    let lower = value.to_lowercase();
    if value.len() < 8 || is_noise(value) || WEAK.iter().any(|word| lower.contains(word)) {
        return false;
    }
    let code = [
        "${", "$(", "#{", "{{", "%{", "%s", "://", "::", "->", "=>", "()", "&&", "||", "../", "./", "==",
        "!=", "+=", "@{",
    ];
    if value.starts_with(['$', '/', '~', '&', '*', '|', '-', '!', '@', '.']) && !value.starts_with("$2") {
        return false;
    }
    if code.iter().any(|mark| value.contains(mark)) || value.contains(char::is_whitespace) {
        return false;
    }
    // `self.token`, `config.auth.key`: members of something, each a plain word.
    let members = value.contains('.') && value.split('.').all(is_word);
    if (!quoted && members) || value.ends_with(':') {
        return false;
    }
    let has = |is: fn(&u8) -> bool| value.bytes().any(|b| is(&b));
    let digits = has(u8::is_ascii_digit);
    let upper = has(u8::is_ascii_uppercase);
    let lower = has(u8::is_ascii_lowercase);
    let signs = value
        .bytes()
        .any(|b| b.is_ascii_punctuation() && !matches!(b, b'_' | b'-' | b'.'));
    let kinds = [digits, upper, lower, signs]
        .into_iter()
        .filter(|kind| *kind)
        .count();
    let dense = if value.len() < 12 { 2.75 } else { 3.0 };
    // Camel case and snake case are names.
    let named = !digits
        && !signs
        && value
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
        && (value.len() < 20 || entropy(value) < 4.0);
    let versioned = is_word_with_number(value);
    let short = value.len() < 12 && kinds < if digits { 2 } else { 3 };
    kinds >= 2 && !named && !versioned && !short && entropy(value) >= dense
}

fn is_word(part: &str) -> bool {
    part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && part.bytes().filter(u8::is_ascii_digit).count() <= 2
}

/// `base64`, `sha256-legacy`, `AuthTokenV2`: words with a number at an end of one of them.
fn is_word_with_number(value: &str) -> bool {
    value.split(['_', '-', '.']).all(|part| {
        let word = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = part.len() - word.len();
        digits <= 4
            && word.bytes().all(|b| b.is_ascii_alphabetic())
            && (digits == 0 || word.len() != 1)
            && is_spoken(word)
    })
}

/// Whether letters could be a word: vowels and consonants change as they do in words, and capitals begin them.
fn is_spoken(word: &str) -> bool {
    let vowels = word.bytes().filter(|b| b"aeiouyAEIOUY".contains(b)).count();
    let turns = word
        .as_bytes()
        .windows(2)
        .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
        .count();
    word.len() < 4 || (vowels * 6 >= word.len() && turns * 3 <= word.len())
}

/// Bits a byte.
fn entropy(text: &str) -> f64 {
    let mut counts: HashMap<u8, u32> = HashMap::new();
    for byte in text.bytes() {
        *counts.entry(byte).or_default() += 1;
    }
    let length = f64::from(u32::try_from(text.len()).unwrap_or(u32::MAX));
    counts
        .values()
        .map(|count| f64::from(*count) / length)
        .map(|share| -share * share.log2())
        .sum()
}
