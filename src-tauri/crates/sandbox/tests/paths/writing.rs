//! Writing by every spelling that was ever used to get out, or to what must not be changed.

use std::fs;

use paddock_sandbox::WriteMode;

use crate::bed::{Bed, read, told};

/// An argument and what comes of it.
const CASES: &[(&str, &str)] = &[
    ("new", "ok"),
    ("a/b/c/new", "ok"),
    ("file", "ok"),
    ("to-file", "ok"),
    ("chain", "ok"),
    ("to-folder/new", "ok"),
    ("hard", "ok"),
    ("innocent-new", "ok"),
    (".gitignore", "ok"),
    (".github/workflows/ci.yml", "ok"),
    ("../outside/new", "outside at .."),
    ("/etc/paddock-test", "outside at /"),
    ("to-secret", "outside at to-secret"),
    ("to-outside/new", "outside at to-outside"),
    ("to-outside/a/b/new", "outside at to-outside"),
    ("to-outside-absolute/new", "outside at to-outside-absolute"),
    ("to-parent/outside/new", "outside at to-parent"),
    ("folder/inner/up/outside/new", "outside at folder/inner/up"),
    ("dangling-outside", "outside at dangling-outside"),
    ("to-passwd", "outside at to-passwd"),
    ("to-device", "outside at to-device"),
    ("dangling", "not a file"),
    ("loop-a", "link"),
    (".", "invalid"),
    ("", "invalid"),
    ("folder", "folder"),
    ("to-folder", "folder"),
    ("file/below", "not a folder"),
    ("pipe", "special"),
    ("to-pipe", "special"),
    ("socket", "special"),
    (".git/hooks/pre-commit", "protected"),
    (".git/config", "protected"),
    (".git", "protected"),
    (".GIT/config", "protected"),
    (".Git/hooks/x", "protected"),
    (".git /config", "protected"),
    (".git./config", "protected"),
    (".git::$INDEX_ALLOCATION/config", "protected"),
    ("git~1/config", "protected"),
    (".g\u{200c}it/config", "protected"),
    (".git\\config", "protected"),
    ("sub/.git/hooks/x", "protected"),
    ("innocent/hooks/x", "protected"),
    ("innocent/config", "protected"),
    ("settings", "protected"),
    ("folder/../.git/config", "protected"),
    (".git\u{202e}/config", "protected"),
    (".g\u{131}t/config", "protected"),
    ("GIT~1", "protected"),
    (".git/objects/../config", "protected"),
    ("innocent/../.git/HEAD", "protected"),
    ("chain-out", "outside at chain-out"),
    ("folder/hop/new", "outside at folder/hop"),
    ("folder/over-a-link", "outside at folder/over-a-link"),
    ("by-a-detour", "outside at by-a-detour"),
    ("dotted/new", "outside at dotted"),
    ("to-top/tmp/paddock-test", "outside at to-top"),
    ("to-proc-root/tmp/paddock-test", "outside at to-proc-root"),
    ("to-descriptor", "outside at to-descriptor"),
    ("to-stdin", "outside at to-stdin"),
    ("through-nothing", "not a file"),
    ("through-a-file", "not a folder"),
    ("absolute-inside", "outside at absolute-inside"),
    ("out-and-in", "outside at out-and-in"),
    ("up-and-in", "outside at up-and-in"),
    ("itself", "link"),
    ("itself/new", "link"),
    ("..", "outside at .."),
    ("../new", "outside at .."),
    ("../project/new", "outside at .."),
    ("folder/../../outside/new", "outside at .."),
    ("/", "outside at /"),
    ("//etc/paddock-test", "outside at /"),
    ("/proc/self/cwd/new", "outside at /"),
    ("/proc/self/fd/1", "outside at /"),
    ("/dev/stdout", "outside at /"),
    ("/dev/null", "outside at /"),
    ("/../tmp/paddock-test", "outside at .."),
    ("new\0", "invalid"),
    ("fi\0le", "invalid"),
    ("./", "invalid"),
    ("folder/..", "invalid"),
    ("folder/", "folder"),
    ("binary", "ok"),
    ("C:\\y", "ok"),
    ("\\\\server\\share", "ok"),
    ("new:stream", "ok"),
    ("~/new", "not a folder"),
    ("$TMP/new", "ok"),
    ("cafe\u{301}", "ok"),
];

#[test]
fn writing_by_every_spelling() {
    let long_name = "n".repeat(256);
    let long_path = "a/".repeat(2049);
    let too_long = [(&*long_name, "invalid"), (&long_path, "invalid")];
    let cases: Vec<(&str, &str)> = CASES.iter().copied().chain(too_long).collect();
    let refused = cases.iter().filter(|(_, expected)| *expected != "ok");
    assert!(refused.count() >= 60);
    for (argument, expected) in cases {
        let bed = Bed::new();
        let result = bed
            .root
            .relative(argument)
            .and_then(|path| bed.root.write(&path, b"changed", WriteMode::CreateOrReplace));
        assert_eq!(
            result.as_ref().map_or_else(told, |()| "ok".to_owned()),
            expected,
            "{argument}: {result:?}"
        );
        if expected == "ok" {
            assert_eq!(read(&bed, argument), "= changed", "{argument}");
        }
        assert_eq!(
            fs::read_to_string(bed.path(".git/config")).unwrap(),
            "[core]\n",
            "{argument}"
        );
        assert_eq!(
            fs::read_dir(bed.path(".git/hooks")).unwrap().count(),
            0,
            "{argument}"
        );
        bed.outside_is_untouched();
        let litter = fs::read_dir(bed.root.path()).unwrap().filter(|entry| {
            entry
                .as_ref()
                .unwrap()
                .file_name()
                .to_string_lossy()
                .starts_with(".paddock")
        });
        assert_eq!(litter.count(), 0, "{argument}");
    }
}
