//! Facts about well-known programs: which are shells and interpreters, and which run code of their words.

mod deletion;
mod network;
mod safe;

pub(crate) use deletion::{DELETES, deletes};
pub(crate) use network::wants_network;
pub(crate) use safe::is_safe;
pub use safe::safe_list;

use crate::command::Part;
use crate::options::{behind, subcommand};

const SHELLS: &[&str] = &[
    "sh",
    "bash",
    "rbash",
    "dash",
    "ash",
    "zsh",
    "ksh",
    "mksh",
    "fish",
    "csh",
    "tcsh",
    "elvish",
    "nu",
    "xonsh",
    "pwsh",
    "powershell",
    "cmd",
];
/// Interpreters with the options that are followed by code, and the letters that mean the same among others.
const INTERPRETERS: &[(&str, &[&str], &str)] = &[
    ("python", &[], "c"),
    ("pypy", &[], "c"),
    ("node", &["--eval", "--print"], "ep"),
    ("nodejs", &["--eval", "--print"], "ep"),
    ("deno", &["--eval"], ""),
    ("bun", &["--eval", "--print"], "ep"),
    ("tsx", &["--eval", "--print"], "ep"),
    ("ts-node", &["--eval", "--print"], "ep"),
    ("ruby", &[], "e"),
    ("perl", &[], "eE"),
    ("php", &["--run"], "rBRE"),
    ("lua", &[], "e"),
    ("luajit", &[], "e"),
    ("osascript", &[], "e"),
    ("rscript", &[], "e"),
    ("julia", &["--eval", "--print"], "eE"),
    ("elixir", &["--eval"], "e"),
    ("scala", &[], "e"),
    ("groovy", &[], "e"),
    ("tclsh", &[], ""),
    ("expect", &[], "c"),
    ("guile", &[], "c"),
    ("wscript", &[], ""),
    ("cscript", &[], ""),
];
/// Programs whose data can be code, by what gives it away.
const CODE_WORDS: &[(&str, &[&str])] = &[
    ("awk", AWK),
    ("gawk", AWK),
    ("mawk", AWK),
    ("nawk", AWK),
    (
        "tar",
        &[
            "--to-command",
            "--checkpoint-action",
            "--use-compress-program",
            "--rsh-command",
            "--info-script",
        ],
    ),
    ("bsdtar", &["--use-compress-program"]),
    ("rsync", &["--rsh="]),
    ("vim", VI),
    ("vi", VI),
    ("nvim", VI),
    ("ex", VI),
    ("emacs", &["--eval", "--batch", "-eval"]),
    ("sqlite3", &[".shell", ".system", "load_extension"]),
    ("psql", &["\\!", "PROGRAM"]),
    ("make", &["SHELL=", "--eval"]),
    ("gmake", &["SHELL=", "--eval"]),
    ("man", &["-P", "--pager"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("sort", &["--compress-program"]),
    ("split", &["--filter"]),
    ("zip", &["-TT", "--unzip-command"]),
    ("curl", &["-K", "--config"]),
    ("wget", &["--use-askpass"]),
];
const AWK: &[&str] = &[
    "system(",
    "|\"",
    "| \"",
    "|getline",
    "| getline",
    "\"|",
    "system (",
];
const VI: &[&str] = &["-c", "+", "--cmd", "-S", "-s"];
/// Options of interpreters whose value is the next word.
pub(crate) const INTERPRETER_VALUES: &[&str] = &[
    "-W",
    "-X",
    "-r",
    "--require",
    "--import",
    "--loader",
    "-I",
    "-C",
    "--conditions",
    "-d",
    "-l",
    "-z",
    "--env-file",
];

/// The last component of a program's path, lower case, without `.exe`.
pub(crate) fn base_name(word: &str) -> String {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word).to_lowercase();
    let endings = [".exe", ".cmd", ".bat", ".com"];
    let cut = endings.iter().find_map(|ending| name.strip_suffix(ending));
    cut.filter(|name| !name.is_empty()).unwrap_or(&name).to_owned()
}

pub(crate) fn program(part: &Part) -> Option<String> {
    part.words.first().map(|word| base_name(word))
}

pub(crate) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

pub(crate) fn is_interpreter(name: &str) -> bool {
    interpreter(name).is_some_and(|(name, ..)| !matches!(*name, "bun" | "deno"))
}

fn interpreter(name: &str) -> Option<&'static (&'static str, &'static [&'static str], &'static str)> {
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    INTERPRETERS
        .iter()
        .find(|(interpreter, ..)| *interpreter == name || (!plain.is_empty() && *interpreter == plain))
}

/// Whether code stands in the words themselves: `python -c`, `node -e`, an awk script that starts commands.
pub(crate) fn runs_inline(part: &Part, name: &str) -> bool {
    let words = part.words.get(1..).unwrap_or_default();
    if let Some((name, long, letters)) = interpreter(name) {
        let eval = matches!(*name, "deno" | "bun") && subcommand(part) == Some("eval");
        // What stands behind the script belongs to the script.
        let script = behind(part, 1, INTERPRETER_VALUES).unwrap_or(part.words.len());
        let own = part.words.get(1..script).unwrap_or_default();
        return eval
            || own.iter().any(|word| {
                let option = word.split('=').next().unwrap_or(word);
                let cluster = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
                long.contains(&option) || cluster.is_some_and(|rest| starts_code(name, rest, letters))
            });
    }
    if name == "sed" || name == "gsed" {
        return words.iter().any(|word| sed_runs(word));
    }
    CODE_WORDS
        .iter()
        .find(|(program, _)| *program == name)
        .is_some_and(|(_, marks)| words.iter().any(|word| gives_away(word, marks)))
}

/// One of the letters, behind options that are letters too: `-lane`, not `-Wignore`.
fn starts_code(name: &str, cluster: &str, letters: &str) -> bool {
    let first = cluster.chars().next().unwrap_or('-');
    // Options with their value behind them: `-Ilib`, `-Wignore`, `-mpytest`.
    let with_value = "WXMm".contains(first)
        || (first == 'I' && !name.starts_with("py"))
        || (first == 'r' && !letters.contains('r'));
    let mut flags = cluster.chars().take_while(char::is_ascii_alphabetic);
    letters.contains(first) || (!with_value && cluster.len() <= 6 && flags.any(|flag| letters.contains(flag)))
}

fn gives_away(word: &str, marks: &[&str]) -> bool {
    marks.iter().any(|mark| match mark.strip_prefix('-') {
        Some(_) => word == *mark || word.strip_prefix(mark).is_some_and(|rest| rest.starts_with('=')),
        None if mark.ends_with('=') || *mark == "+" => word.starts_with(mark),
        None => word.contains(mark),
    })
}

/// `s/a/b/e` and `1e command` of GNU sed.
fn sed_runs(script: &str) -> bool {
    let tail = script.rsplit('/').next().unwrap_or_default();
    let flagged = script.starts_with('s')
        && script.matches('/').count() >= 3
        && tail.contains('e')
        && tail.chars().all(|c| "gepiImM0123456789".contains(c));
    let rest = script.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | ','));
    let commanded = rest == "e" || rest.starts_with("e ") || script.contains(";e ");
    flagged || commanded
}
