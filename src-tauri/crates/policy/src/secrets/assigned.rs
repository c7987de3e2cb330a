//! Secrets that are known by what stands before them: a name, the scheme of an authorization, the user of an address.

use super::Find;
use crate::base64::decoded;
use aho_corasick::AhoCorasick;
use std::ops::Range;
use std::sync::LazyLock;

/// Names that stand for a secret.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "credential",
    "credentials",
];
/// What makes a key a secret one, with `_`, `-`, `.` or nothing between.
const KEYS: &[&str] = &[
    "api",
    "access",
    "secret",
    "private",
    "auth",
    "account",
    "signing",
    "encryption",
    "master",
    "client",
    "service",
    "storage",
    "license",
];
const SCHEMES: &[&str] = &["bearer", "basic"];
const ADDRESS: &str = "://";
/// The longest value that is looked at.
const LONGEST: usize = 400;
/// So many names are looked at inside of one value that is no secret itself.
const MOST_INSIDE: usize = 8;

struct Words {
    finder: AhoCorasick,
    all: Vec<String>,
}

static WORDS: LazyLock<Option<Words>> = LazyLock::new(|| {
    let keys = KEYS
        .iter()
        .flat_map(|kind| ["", "_", "-", "."].map(|joint| format!("{kind}{joint}key")));
    let plain = NAMES
        .iter()
        .chain(SCHEMES)
        .chain([&ADDRESS])
        .map(|word| (*word).to_owned());
    let all: Vec<String> = plain.chain(keys).collect();
    let finder = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(aho_corasick::MatchKind::LeftmostLongest)
        .build(&all)
        .ok()?;
    Some(Words { finder, all })
});

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

/// Finds secrets by what stands before them, in one pass.
pub(super) fn find(text: &str, finds: &mut Vec<Find>) {
    let Some(words) = &*WORDS else { return };
    let (mut behind, mut rejected, mut inside) = (0, 0, 0);
    for hit in words.finder.find_iter(text) {
        let word = words
            .all
            .get(hit.pattern().as_usize())
            .map(String::as_str)
            .unwrap_or_default();
        if word == ADDRESS {
            in_address(text, hit.start(), finds);
        } else if SCHEMES.contains(&word) {
            authorization(text, hit.range(), finds);
        } else if hit.start() >= behind {
            inside = if hit.start() < rejected { inside + 1 } else { 0 };
            if inside > MOST_INSIDE {
                continue;
            }
            let Some(value) = assigned(text, hit.range()) else {
                continue;
            };
            if is_secret_value(text.get(value.at.clone()).unwrap_or_default(), value.quoted) {
                behind = value.at.end;
                finds.push(Find::new(value.at, "value"));
            } else {
                rejected = value.at.end;
            }
        }
    }
}

/// What stands behind a name.
struct Value {
    at: Range<usize>,
    quoted: bool,
}

/// The value behind a name, in the ways of shells, code, JSON, YAML, headers and options.
fn assigned(text: &str, name: Range<usize>) -> Option<Value> {
    let bytes = text.as_bytes();
    let here = |at: usize| bytes.get(at).copied().unwrap_or_default();
    let blank = |at: usize| matches!(here(at), b' ' | b'\t');
    // "[secret: …]"
    if name.start > 0 && here(name.start - 1) == b'[' {
        return None;
    }
    let mut at = name.end;
    if matches!(here(at), b's' | b'S') {
        at += 1;
    }
    if matches!(here(at), b'_' | b'-') {
        let end = at + 40;
        while at < end && (here(at).is_ascii_alphanumeric() || matches!(here(at), b'_' | b'-')) {
            at += 1;
        }
    }
    if names_other_thing(text.get(name.start..at)?) {
        return None;
    }
    at += usize::from(here(at) == b'\\');
    at += usize::from(matches!(here(at), b'"' | b'\'' | b'`'));
    at += usize::from(here(at) == b']');
    let from = at;
    while blank(at) {
        at += 1;
    }
    let length = match (here(at), here(at + 1)) {
        (b'=', b'=') => return None,
        (b'=', b'>') | (b':', b'=') => 2,
        (b'=' | b':', _) => 1,
        _ if at > from && is_option(text, name.start) => 0,
        _ => return None,
    };
    at += length;
    while blank(at) {
        at += 1;
    }
    value(text, at)
}

/// Whether the name is one of an option: `--password`.
fn is_option(text: &str, name: usize) -> bool {
    let from = name.saturating_sub(40);
    let head = text.as_bytes().get(from..name).unwrap_or_default();
    let word = head
        .rsplit(|b| b.is_ascii_whitespace())
        .next()
        .unwrap_or_default();
    word.starts_with(b"--")
}

fn value(text: &str, from: usize) -> Option<Value> {
    let bytes = text.as_bytes();
    let (begin, end) = match (bytes.get(from)?, bytes.get(from + 1)) {
        (b'\\', Some(b'"')) => (from + 2, Some(b'\\')),
        (quote @ (b'"' | b'\'' | b'`'), _) => (from + 1, Some(*quote)),
        _ => (from, None),
    };
    let mut at = begin;
    while let Some(byte) = bytes.get(at) {
        let ends = match end {
            Some(end) => *byte == end || *byte == b'\n',
            None => {
                byte.is_ascii_whitespace()
                    || matches!(
                        byte,
                        b'"' | b'\''
                            | b'`'
                            | b','
                            | b';'
                            | b'<'
                            | b'>'
                            | b'('
                            | b')'
                            | b'{'
                            | b'}'
                            | b'['
                            | b']'
                            | b'&'
                    )
            }
        };
        if ends || at - begin > LONGEST {
            break;
        }
        at += if *byte == b'\\' && end.is_some() { 2 } else { 1 };
    }
    let closed = end.is_none_or(|end| bytes.get(at) == Some(&end));
    let whole = text.is_char_boundary(begin) && text.is_char_boundary(at.min(bytes.len()));
    (closed && whole && at - begin <= LONGEST).then_some(Value {
        at: begin..at.min(bytes.len()),
        quoted: end.is_some(),
    })
}

fn names_other_thing(before: &str) -> bool {
    let name = before
        .trim_end_matches(|c: char| !c.is_ascii_alphanumeric())
        .to_lowercase();
    let last = name.rsplit(['_', '-']).next().unwrap_or_default();
    name.contains(['_', '-']) && OTHER_THINGS.contains(&last)
}

fn authorization(text: &str, scheme: Range<usize>, finds: &mut Vec<Find>) {
    const LONGEST_CARRIED: usize = 4_000;
    let bytes = text.as_bytes();
    let inside = scheme.start > 0 && bytes.get(scheme.start - 1).is_some_and(u8::is_ascii_alphanumeric);
    let mut from = scheme.end;
    while matches!(bytes.get(from), Some(b' ' | b'\t')) {
        from += 1;
    }
    if inside || from == scheme.end {
        return;
    }
    let rest = bytes.get(from..).unwrap_or_default();
    let sign =
        |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b'-');
    let length = rest.iter().take(LONGEST_CARRIED).take_while(sign).count();
    let carried = text
        .get(from..from + length)
        .unwrap_or_default()
        .trim_end_matches('.');
    let basic = scheme.len() == "basic".len();
    let (label, genuine) = match basic {
        true => ("login", carried.len() >= 8 && is_login(carried)),
        false => ("bearer token", is_bearer(carried)),
    };
    if genuine {
        finds.push(Find::new(from..from + carried.len(), label));
    }
}

/// `scheme://user:password@host`
fn in_address(text: &str, at: usize, finds: &mut Vec<Find>) {
    let bytes = text.as_bytes();
    if at < 2 || !bytes.get(at - 1).is_some_and(u8::is_ascii_alphanumeric) {
        return;
    }
    let from = at + ADDRESS.len();
    let rest = bytes.get(from..).unwrap_or_default();
    let plain = |b: &u8| !b.is_ascii_whitespace() && !matches!(b, b'/' | b'@');
    let user = rest
        .iter()
        .take(100)
        .take_while(|b| plain(b) && !matches!(b, b':' | b'?' | b'#'))
        .count();
    if rest.get(user) != Some(&b':') {
        return;
    }
    let begin = from + user + 1;
    let rest = bytes.get(begin..).unwrap_or_default();
    let length = rest.iter().take(200).take_while(|b| plain(b)).count();
    let host = rest
        .get(length + 1)
        .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'[' | b'.' | b'_' | b'-'));
    if length < 3 || rest.get(length) != Some(&b'@') || !host {
        return;
    }
    let (Some(user), Some(value)) = (text.get(from..from + user), text.get(begin..begin + length)) else {
        return;
    };
    let variable = value.starts_with(['$', '{', '%', '*', '<', '[']) && !value.starts_with("%2");
    let common = ["password", "pass", "passwd", "pwd", "secret"];
    if user != value && !variable && !common.contains(&value) && !is_noise(value) {
        finds.push(Find {
            recognisable: false,
            ..Find::new(begin..begin + length, "password")
        });
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
    let digit = value.bytes().any(|b| b.is_ascii_digit());
    let small = value.bytes().any(|b| b.is_ascii_lowercase());
    let large = value.bytes().any(|b| b.is_ascii_uppercase());
    // Most values are words.
    if value.len() < 8 || !(digit || (small && large)) {
        return false;
    }
    let lower = value.to_lowercase();
    if is_noise(value) || WEAK.iter().any(|word| lower.contains(word)) {
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
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = f64::from(u32::try_from(text.len()).unwrap_or(u32::MAX));
    counts
        .into_iter()
        .filter(|count| *count > 0)
        .map(|count| f64::from(count) / length)
        .map(|share| -share * share.log2())
        .sum()
}
