//! The environment of a command on Windows: the allowed part of the own one, private places for what tools write, and the
//! block that a process is started with. Pure.

use std::ffi::OsString;

use crate::command::environment::command_environment;

/// Set for every command: programs are not looked up in the working folder, which is the project.
const SET: &[(&str, &str)] = &[("NoDefaultCurrentDirectoryInExePath", "1")];
/// Values that name folders which tools write to, by the private folder that they get.
const PRIVATE: &[(&str, &str)] = &[
    ("CARGO_HOME", r"home\.cargo"),
    ("GOPATH", r"home\go"),
    ("LOCALAPPDATA", r"home\AppData\Local"),
    ("npm_config_cache", r"home\npm-cache"),
    ("PIP_CACHE_DIR", r"home\pip-cache"),
];

/// The private folders that the values name, below `own`, and the one for temporary files.
pub(super) fn private_folders(own: &str, temporary: &str) -> Vec<(&'static str, String)> {
    let private = PRIVATE
        .iter()
        .map(|(name, folder)| (*name, format!(r"{own}\{folder}")));
    let temporary = ["TEMP", "TMP"].map(|name| (name, temporary.to_owned()));
    private.chain(temporary).collect()
}

/// The environment: what the person added counts most.
pub(super) fn environment(
    own: impl Iterator<Item = (OsString, OsString)>,
    added: &[(String, String)],
    private: &[(&'static str, String)],
) -> Vec<(String, String)> {
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    let mut result: Vec<(String, String)> = command_environment(own, &[])
        .into_iter()
        .filter_map(text)
        .collect();
    for (name, value) in SET {
        set(&mut result, name, (*value).to_owned());
    }
    for (name, value) in private {
        set(&mut result, name, value.clone());
    }
    // The toolchains themselves are read where they are.
    let profile = value(&result, "USERPROFILE").map(str::to_owned);
    if let Some(profile) = profile.filter(|_| value(&result, "RUSTUP_HOME").is_none()) {
        set(&mut result, "RUSTUP_HOME", format!(r"{profile}\.rustup"));
    }
    for (name, value) in command_environment(std::iter::empty(), added)
        .into_iter()
        .filter_map(text)
    {
        set(&mut result, &name, value);
    }
    result
}

/// A value by its name, in whatever case that is written.
pub(super) fn value<'a>(environment: &'a [(String, String)], name: &str) -> Option<&'a str> {
    environment
        .iter()
        .find(|(other, _)| other.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_str())
}

fn set(environment: &mut Vec<(String, String)>, name: &str, value: String) {
    environment.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
    environment.push((name.to_owned(), value));
}

/// The block: `NAME=value`, each ended by zero, in the order of the names in upper case, and a last zero. What cannot be
/// written in it is left out.
pub(super) fn block(environment: &[(String, String)]) -> Vec<u16> {
    let mut sorted: Vec<(String, String)> = environment
        .iter()
        .filter(|(name, value)| !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0'))
        .map(|(name, value)| (name.to_uppercase(), format!("{name}={value}")))
        .collect();
    // Of two names that are one to Windows the later one counts.
    sorted.reverse();
    sorted.sort_by(|one, other| one.0.encode_utf16().cmp(other.0.encode_utf16()));
    sorted.dedup_by(|one, other| one.0 == other.0);
    let mut block: Vec<u16> = sorted
        .iter()
        .flat_map(|(_, text)| text.encode_utf16().chain([0]))
        .collect();
    if block.is_empty() {
        block.push(0);
    }
    block.push(0);
    block
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn a_block_is_sorted_and_ends_with_two_zeros() {
        let block = block(&pairs(&[
            ("b", "2"),
            ("Path", r"C:\x"),
            ("A", "1"),
            ("PATH", "last"),
            ("x=y", "no"),
            ("z", "n\0o"),
        ]));
        assert_eq!(String::from_utf16(&block).unwrap(), "A=1\0b=2\0PATH=last\0\0");
        assert_eq!(super::block(&[]), [0, 0]);
    }

    #[test]
    fn tools_write_to_private_places_and_secrets_stay_out() {
        let own = [
            ("USERPROFILE", r"C:\Users\me"),
            ("LC_ALL", "C"),
            ("LOCALAPPDATA", "x"),
            ("AWS_PROFILE", "x"),
            ("NPM_TOKEN", "x"),
        ];
        let own = own.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let private = private_folders(r"C:\s\own", r"C:\s\own\temp-1");
        let mut own_values = own.to_vec();
        own_values.push(("RUSTUP_HOME".into(), r"D:\rustup".into()));
        let result = environment(
            own_values.into_iter(),
            &pairs(&[("temp", "mine"), ("NODE_OPTIONS", "x")]),
            &private,
        );
        for (name, expected) in [
            ("LOCALAPPDATA", Some(r"C:\s\own\home\AppData\Local")),
            ("CARGO_HOME", Some(r"C:\s\own\home\.cargo")),
            ("TEMP", Some("mine")),
            ("TMP", Some(r"C:\s\own\temp-1")),
            ("RUSTUP_HOME", Some(r"D:\rustup")),
            ("NODEFAULTCURRENTDIRECTORYINEXEPATH", Some("1")),
            ("AWS_PROFILE", None),
            ("NPM_TOKEN", None),
            ("NODE_OPTIONS", None),
        ] {
            assert_eq!(value(&result, name), expected, "{name}");
        }
    }

    proptest! {
        #[test]
        fn a_block_can_be_read_back(values in prop::collection::btree_map("[A-Z_]{1,6}", "[^\0]{0,6}", 0..8)) {
            let given: Vec<(String, String)> = values.clone().into_iter().collect();
            let block = block(&given);
            prop_assert_eq!(&block[block.len() - 2..], &[0, 0]);
            let read: std::collections::BTreeMap<String, String> = block[..block.len() - 2]
                .split(|unit| *unit == 0)
                .filter(|part| !part.is_empty())
                .map(|part| {
                    let text = String::from_utf16(part).unwrap();
                    let (name, value) = text.split_once('=').unwrap();
                    (name.to_owned(), value.to_owned())
                })
                .collect();
            prop_assert_eq!(read, values);
        }
    }
}
