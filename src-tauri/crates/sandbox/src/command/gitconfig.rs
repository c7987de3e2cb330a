//! The little of git's settings format that is needed here: where hooks are, and which lines of a file may name programs.
//! Written to err on the side of cutting: a line it cannot read is not kept.

/// Sections of which every setting is data.
const DATA_SECTIONS: &[&str] = &[
    "advice",
    "branch",
    "color",
    "commit",
    "extensions",
    "feature",
    "fetch",
    "gc",
    "index",
    "pack",
    "pull",
    "push",
    "rebase",
    "rerere",
    "status",
    "tag",
    "user",
];
const DATA_OF_CORE: &[&str] = &[
    "abbrev",
    "autocrlf",
    "bare",
    "bigfilethreshold",
    "checkstat",
    "compression",
    "eol",
    "filemode",
    "hidedotfiles",
    "ignorecase",
    "logallrefupdates",
    "longpaths",
    "precomposeunicode",
    "protecthfs",
    "protectntfs",
    "quotepath",
    "repositoryformatversion",
    "safecrlf",
    "sharedrepository",
    "sparsecheckout",
    "sparsecheckoutcone",
    "symlinks",
    "trustctime",
    "untrackedcache",
    "whitespace",
];
const DATA_OF_REMOTE: &[&str] = &[
    "fetch",
    "mirror",
    "partialclonefilter",
    "promisor",
    "prune",
    "prunetags",
    "push",
    "pushurl",
    "tagopt",
    "url",
];
const DATA_OF_SUBMODULE: &[&str] = &[
    "active",
    "branch",
    "fetchrecursesubmodules",
    "ignore",
    "path",
    "shallow",
    "url",
];

/// The value of `core.hooksPath`, the last one that is set.
pub(crate) fn hooks_path(text: &str) -> Option<String> {
    let mut section = String::new();
    let mut found = None;
    for line in text.lines() {
        let line = enter(line.trim(), &mut section);
        if let Some((key, value)) = line.split_once('=')
            && section == "core"
            && key.trim().eq_ignore_ascii_case("hookspath")
        {
            found = Some(value.trim().trim_matches('"').to_owned());
        }
    }
    found
}

/// The settings without those that may name programs or other files of settings, and how many lines that cut.
pub(crate) fn without_programs(text: &str) -> (String, usize) {
    let mut section = String::new();
    let mut kept = String::new();
    let mut cut = 0;
    let mut continued = false;
    for line in text.lines() {
        let was_continued = continued;
        continued = line.ends_with('\\');
        let trimmed = line.trim();
        let setting = enter(trimmed, &mut section);
        let is_header = trimmed.starts_with('[') && setting.is_empty();
        let is_comment = trimmed.is_empty() || trimmed.starts_with(['#', ';']);
        let is_data =
            || !was_continued && !continued && !trimmed.starts_with('[') && is_data(&section, setting);
        if (is_header || is_comment) && !was_continued || is_data() {
            kept.push_str(line);
            kept.push('\n');
        } else {
            cut += 1;
        }
    }
    (kept, cut)
}

/// Enters a section when the line starts one; the rest of the line.
fn enter<'a>(line: &'a str, section: &mut String) -> &'a str {
    let Some(header) = line.strip_prefix('[') else {
        return line;
    };
    let Some((name, rest)) = header.rsplit_once(']') else {
        section.clear();
        return line;
    };
    let name = name.split(['"', '.', ' ']).next().unwrap_or("");
    *section = name.trim().to_ascii_lowercase();
    rest.trim()
}

fn is_data(section: &str, setting: &str) -> bool {
    let key = setting
        .split(['=', ' ', '\t'])
        .next()
        .unwrap_or("")
        .to_ascii_lowercase();
    DATA_SECTIONS.contains(&section)
        || section == "core" && DATA_OF_CORE.contains(&key.as_str())
        || section == "remote" && DATA_OF_REMOTE.contains(&key.as_str()) && !setting.contains("::")
        || section == "submodule" && DATA_OF_SUBMODULE.contains(&key.as_str()) && !setting.contains("::")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_cut_and_data_stays() {
        let text = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = ./x\n\thooksPath = h\n\
            [remote \"origin\"]\n\turl = https://e.x/a.git\n\tuploadpack = ./x\n\turl = ext::sh -c x\n\
            [alias]\n\tst = !x\n[filter \"a\"]\n\tclean = x\n[include]\n\tpath = ../x\n[CORE] sshCommand = x\n\
            [user]\n\tname = Me\n[user] x = \\\n[core] pager=x\n";
        let (kept, cut) = without_programs(text);
        for gone in [
            "fsmonitor",
            "hooksPath",
            "uploadpack",
            "ext::",
            "!x",
            "clean",
            "../x",
            "sshCommand",
            "pager",
        ] {
            assert!(!kept.contains(gone), "{gone} in {kept}");
        }
        for stays in ["bare = false", "url = https://e.x/a.git", "name = Me"] {
            assert!(kept.contains(stays), "{stays} not in {kept}");
        }
        assert_eq!(cut, 10);
        assert_eq!(hooks_path(text).as_deref(), Some("h"));
    }
}
