//! Reading by every spelling that was ever used to get out.

use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use paddock_sandbox::ProjectRoot;

use crate::bed::{Bed, read};

/// An argument and what comes of it.
const CASES: &[(&str, &str)] = &[
    ("file", "= content"),
    ("./file", "= content"),
    ("././/file", "= content"),
    ("file/", "= content"),
    ("folder/../file", "= content"),
    ("folder/inner/../../file", "= content"),
    ("no/../file", "= content"),
    ("folder/inner/deep", "= deep"),
    ("folder//inner///deep", "= deep"),
    ("to-file", "= content"),
    ("chain", "= content"),
    ("to-folder/deep", "= deep"),
    ("folder/inner/up-inside/file", "= content"),
    ("naïve ✓ name", "= unicode"),
    ("back\\slash", "= backslash"),
    ("~", "= tilde"),
    ("$HOME", "= dollar"),
    ("-rf", "= dash"),
    ("...", "= dots"),
    (".git/config", "= [core]\n"),
    ("innocent/config", "= [core]\n"),
    ("hard", "= secret"),
    ("", "invalid"),
    ("file\0", "invalid"),
    ("fi\0le", "invalid"),
    ("..", "outside at .."),
    ("../outside/secret", "outside at .."),
    ("./../outside/secret", "outside at .."),
    ("folder/../../outside/secret", "outside at .."),
    ("folder/inner/../../../outside/secret", "outside at .."),
    ("../project/file", "outside at .."),
    ("../../../../../../../../etc/passwd", "outside at .."),
    ("/etc/passwd", "outside at /"),
    ("//etc/passwd", "outside at /"),
    ("/", "outside at /"),
    ("/proc/self/environ", "outside at /"),
    ("/proc/self/cwd/file", "outside at /"),
    ("/dev/zero", "outside at /"),
    ("/file", "outside at /"),
    ("to-secret", "outside at to-secret"),
    ("to-outside/secret", "outside at to-outside"),
    ("to-outside-absolute/secret", "outside at to-outside-absolute"),
    ("to-passwd", "outside at to-passwd"),
    ("to-proc/environ", "outside at to-proc"),
    ("to-proc/cwd/file", "outside at to-proc"),
    ("to-parent/outside/secret", "outside at to-parent"),
    ("folder/inner/up/outside/secret", "outside at folder/inner/up"),
    ("to-device", "outside at to-device"),
    ("dangling-outside", "outside at dangling-outside"),
    ("dangling", "not found"),
    ("loop-a", "link"),
    ("missing", "not found"),
    ("missing/file", "not found"),
    ("file/below", "not a folder"),
    ("file~1", "not found"),
    ("~/file", "not a folder"),
    ("file:///etc/passwd", "not found"),
    ("%2e%2e/outside/secret", "not found"),
    ("..\\outside\\secret", "not found"),
    ("．．/outside/secret", "not found"),
    ("FILE", "not found"),
    ("file ", "not found"),
    ("fi*", "not found"),
    (".", "folder"),
    ("folder", "folder"),
    ("to-folder", "folder"),
    ("pipe", "special"),
    ("to-pipe", "special"),
    ("socket", "special"),
    ("chain-out", "outside at chain-out"),
    ("folder/hop/secret", "outside at folder/hop"),
    ("folder/over-a-link", "outside at folder/over-a-link"),
    ("by-a-detour", "outside at by-a-detour"),
    ("dotted/secret", "outside at dotted"),
    ("to-top/etc/passwd", "outside at to-top"),
    ("to-proc-root/etc/passwd", "outside at to-proc-root"),
    ("to-descriptor", "outside at to-descriptor"),
    ("to-stdin", "outside at to-stdin"),
    ("through-nothing", "not found"),
    ("through-a-file", "not a folder"),
    ("absolute-inside", "outside at absolute-inside"),
    ("out-and-in", "outside at out-and-in"),
    ("up-and-in", "outside at up-and-in"),
    ("roundabout", "= deep"),
    ("itself", "link"),
    ("itself/x", "link"),
    ("huge", "too large"),
    ("binary", "= \0\u{fffd}\u{fffd}\u{fffd}"),
    ("CON", "= device name"),
    ("C:\\x", "= drive"),
    ("C:\\Windows\\win.ini", "not found"),
    ("\\\\?\\C:\\x", "not found"),
    ("\\\\server\\share\\x", "not found"),
    ("file:stream", "= stream"),
    ("file::$DATA", "not found"),
    ("name. ", "= trailing"),
    ("name", "not found"),
    ("caf\u{e9}", "= composed"),
    ("cafe\u{301}", "not found"),
    ("fi\u{200c}le", "not found"),
    ("file\n", "not found"),
    ("\u{202e}elif", "not found"),
    (" file", "not found"),
    ("$HOME/../../outside/secret", "outside at .."),
    ("${HOME}", "not found"),
    ("`id`", "not found"),
    ("~root/.ssh/id_rsa", "not found"),
    ("/proc/self/fd/0", "outside at /"),
    ("/proc/thread-self/root/etc/passwd", "outside at /"),
    ("/dev/fd/0", "outside at /"),
    ("/dev/stdin", "outside at /"),
    ("/../etc/passwd", "outside at .."),
    ("folder/inner/deep/../../../../outside/secret", "outside at .."),
];

#[test]
fn reading_by_every_spelling() {
    let bed = Bed::new();
    let long_name = "n".repeat(256);
    let long_path = "a/".repeat(2049);
    let too_long = [(&*long_name, "invalid"), (&long_path, "invalid")];
    let cases: Vec<(&str, &str)> = CASES.iter().copied().chain(too_long).collect();
    let refused = cases.iter().filter(|(_, expected)| !expected.starts_with('='));
    assert!(refused.count() >= 60);
    for (argument, expected) in cases {
        let started = Instant::now();
        assert_eq!(read(&bed, argument), expected, "{argument}");
        assert!(started.elapsed() < Duration::from_secs(2), "{argument} hung");
    }
    bed.outside_is_untouched();
}

#[test]
fn reading_by_absolute_paths() {
    let bed = Bed::new();
    let project = bed.root.path().to_str().unwrap().to_owned();
    for (argument, expected) in [
        (format!("{project}/file"), "= content"),
        (format!("{project}//folder/./inner/deep"), "= deep"),
        (format!("{project}/../project/file"), "= content"),
        (format!("{project}/../outside/secret"), "outside at /"),
        (format!("{project}-other/file"), "outside at /"),
        (format!("{project}file"), "outside at /"),
        (project.clone(), "folder"),
        (format!("{project}/"), "folder"),
        (format!("{}/OUTSIDE", bed.place.path().display()), "outside at /"),
    ] {
        assert_eq!(read(&bed, &argument), expected, "{argument}");
    }
    // A project that was opened through a link takes the spelling that the person knows.
    let alias = bed.place.path().join("alias");
    symlink(bed.root.path(), &alias).unwrap();
    let root = ProjectRoot::open(&alias).unwrap();
    let path = root.relative(alias.join("file").to_str().unwrap()).unwrap();
    assert_eq!(path.as_str(), "file");
}
