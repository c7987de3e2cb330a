//! What a command leaves in the project to run later outside: moved to the quarantine, and only that.

use std::fs;

use crate::bed::{Bed, Case, Outcome};

pub const CASES: &[Case] = &[
    ("leftover_new_repository_with_hook", new_hook),
    ("leftover_new_repository_with_program_settings", new_settings),
    ("leftover_clone_keeps_working", clone_works),
    ("leftover_bare_layout_in_the_root", bare_layout),
    ("leftover_common_folder_elsewhere", common_folder),
    ("leftover_git_file", git_file),
    ("leftover_editor_settings", editor_settings),
    ("leftover_but_not_what_paddock_wrote", own_writes),
    ("leftover_after_a_crash", after_crash),
    ("leftover_nothing_by_the_sandbox", no_litter),
];

fn moved(outcome: &Outcome) -> Vec<&str> {
    outcome
        .end
        .quarantined
        .iter()
        .map(|moved| moved.path.as_str())
        .collect()
}

fn new_hook(bed: &Bed) {
    let outcome = bed.run(
        "git init -q sub && echo evil > sub/.git/hooks/pre-commit && chmod +x sub/.git/hooks/pre-commit",
    );
    assert_eq!(moved(&outcome), ["sub/.git/hooks/pre-commit"]);
    assert!(!bed.has("sub/.git/hooks/pre-commit") && bed.has("sub/.git/config"));
    let kept = bed.state().quarantine().join(&outcome.end.quarantined[0].kept_as);
    assert_eq!(fs::read_to_string(kept).unwrap(), "evil\n");
}

fn new_settings(bed: &Bed) {
    let outcome = bed.run("git init -q && git config core.fsmonitor ./evil && git config alias.st '!evil' && git config user.name Me");
    assert_eq!(moved(&outcome), [".git/config"]);
    let settings = fs::read_to_string(bed.project().join(".git/config")).unwrap();
    assert!(
        !settings.contains("evil") && settings.contains("name = Me"),
        "{settings}"
    );
    // From now on they are read-only.
    bed.fails("git config core.fsmonitor ./evil");
}

fn clone_works(bed: &Bed) {
    let outcome = bed.run(
        "git init -q a && git -C a -c user.name=t -c user.email=t@e.x commit -q --allow-empty -m one && \
         git clone -q a b && git -C b log --oneline && git clone -q --bare a c.git && git -C a worktree add -q ../w && git -C w status",
    );
    assert!(outcome.end.exit.is_success(), "{outcome:#?}");
    assert!(moved(&outcome).is_empty(), "{outcome:#?}");
    bed.works("git -C b status && git -C c.git log --oneline && git -C w status");
}

fn bare_layout(bed: &Bed) {
    let outcome =
        bed.run("git init -q --bare x && mv x/* . && git config --file config core.fsmonitor ./evil");
    assert!(moved(&outcome).contains(&"HEAD"), "{outcome:#?}");
    assert!(!bed.has("HEAD"));
}

fn common_folder(bed: &Bed) {
    let outcome = bed.run(
        "git init -q && mkdir evil && cp -r .git/. evil && git config --file evil/config core.fsmonitor ./x && \
         echo ../evil > .git/commondir",
    );
    assert!(moved(&outcome).contains(&".git/commondir"), "{outcome:#?}");
    assert!(!bed.has(".git/commondir"));
}

fn git_file(bed: &Bed) {
    let outcome = bed.run("mkdir sub && echo 'gitdir: /tmp/elsewhere' > sub/.git");
    assert_eq!(moved(&outcome), ["sub/.git"]);
    let outcome = bed.run("mkdir two && ln -s /tmp/elsewhere two/.git");
    assert_eq!(moved(&outcome), ["two/.git"]);
}

fn editor_settings(bed: &Bed) {
    let outcome = bed.run("mkdir -p .vscode .paddock sub/.idea && echo evil | tee .vscode/tasks.json .paddock/x .envrc sub/.idea/y");
    let mut found = moved(&outcome);
    found.sort_unstable();
    assert_eq!(found, [".envrc", ".paddock", ".vscode", "sub/.idea"]);
    assert!(!bed.has(".vscode") && !bed.has(".envrc"));
    let kept = outcome
        .end
        .quarantined
        .iter()
        .find(|moved| moved.path == ".vscode")
        .unwrap();
    let kept = bed.state().quarantine().join(&kept.kept_as).join("tasks.json");
    assert_eq!(fs::read_to_string(kept).unwrap(), "evil\n");
}

/// What the person approved while a command ran stays, unless the command changed it.
fn own_writes(bed: &Bed) {
    let line = "mkdir .vscode && echo evil > .vscode/evil.json && echo > ready; \
        while ! [ -e go ]; do sleep 0.01; done; ln .paddock/MEMORY.md alias; echo evil >> .envrc; ln -sf ../alias sub/.idea/y";
    let (running, output) = bed.start(bed.spec(line));
    assert!(crate::bed::soon(|| bed.has("ready")));
    for (path, content) in [
        (".paddock/MEMORY.md", "- a note\n"),
        (".vscode/settings.json", "{}\n"),
        (".envrc", "export A=1\n"),
        ("sub/.idea/x", "x\n"),
        ("sub/.idea/y", "- a note\n"),
        ("go", ""),
    ] {
        let path = bed.root.relative(path).unwrap();
        bed.root
            .write(
                &path,
                content.as_bytes(),
                paddock_sandbox::WriteMode::CreateOrReplace,
            )
            .unwrap();
    }
    drop(output);
    let end = running.wait_blocking();
    let mut found: Vec<_> = end.quarantined.iter().map(|moved| moved.path.as_str()).collect();
    found.sort_unstable();
    assert_eq!(found, [".envrc", ".vscode/evil.json", "sub/.idea/y"]);
    assert!(bed.has(".vscode/settings.json") && bed.has("sub/.idea/x"));
    // The other name that the command made is no longer one for the notes.
    fs::write(bed.project().join("alias"), "evil").unwrap();
    let notes = fs::read_to_string(bed.project().join(".paddock/MEMORY.md")).unwrap();
    assert_eq!(notes, "- a note\n");
}

fn no_litter(bed: &Bed) {
    bed.put("file", "x");
    bed.put(".env", "x");
    bed.works("true");
    let (running, output) = bed.start(bed.spec("sleep 5"));
    running.stop();
    drop(output);
    running.wait_blocking();
    let mut names: Vec<_> = fs::read_dir(bed.project())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, [".env", "file"]);
}

/// A hook that was planted while the app died is found when the project is opened again.
fn after_crash(bed: &Bed) {
    let line = "git init -q && echo evil > .git/hooks/pre-commit && echo done > ready && sleep 60";
    let mut app = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--as-app",
            bed.project().to_str().unwrap(),
            bed.state().path().to_str().unwrap(),
            line,
        ])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    assert!(crate::bed::soon(|| bed.has("ready")));
    app.kill().unwrap();
    app.wait().unwrap();
    assert!(bed.has(".git/hooks/pre-commit"));
    // The lock goes with the last process.
    let mut moved = Vec::new();
    for _ in 0..100 {
        moved = paddock_sandbox::audit_after_crash(&bed.root, &bed.state());
        if !moved.is_empty() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(
        moved.iter().map(|moved| moved.path.as_str()).collect::<Vec<_>>(),
        [".git/hooks/pre-commit"]
    );
    assert!(!bed.has(".git/hooks/pre-commit"));
    assert!(paddock_sandbox::audit_after_crash(&bed.root, &bed.state()).is_empty());
    bed.works("git status");
}
