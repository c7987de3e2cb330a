//! What a command could leave in the project for a program outside to run or obey later. The verdict is what is there when
//! the command is over and was looked at.

use std::fs;

use super::{Escape, sh};
use crate::bed::{Bed, Outcome};

fn repository(bed: &Bed) {
    bed.git(".", &["init", "-q", "-b", "main"]);
    bed.git(".", &["config", "user.email", "me@example.invalid"]);
    bed.git(".", &["config", "user.name", "Me"]);
    bed.git(".", &["commit", "-q", "--allow-empty", "-m", "first"]);
}

fn with_submodule(bed: &Bed) {
    repository(bed);
    bed.git("../outside", &["init", "-q", "-b", "main", "module"]);
    bed.git(
        "../outside/module",
        &[
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@e.x",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "m",
        ],
    );
    bed.git(
        ".",
        &[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "add",
            "-q",
            "../outside/module",
            "module",
        ],
    );
}

fn with_husky(bed: &Bed) {
    repository(bed);
    bed.put(".husky/pre-commit", "mine");
    bed.git(".", &["config", "core.hooksPath", ".husky"]);
}

fn nested(bed: &Bed) {
    repository(bed);
    bed.git(".", &["init", "-q", "vendor/library"]);
}

fn worktree(bed: &Bed) {
    repository(bed);
    bed.git(".", &["worktree", "add", "-q", "tree"]);
}

/// Whether a file is there and says `evil`.
fn evil(bed: &Bed, path: &str) -> bool {
    fs::read_to_string(bed.project().join(path)).is_ok_and(|text| text.contains("evil"))
}

/// Whether git, asked outside, would take this value from the project.
fn obeys(bed: &Bed, folder: &str, setting: &str) -> bool {
    let said = std::process::Command::new("git")
        .args(["config", "--get", setting])
        .current_dir(bed.project().join(folder))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    String::from_utf8_lossy(&said.stdout).contains("evil")
}

fn fsmonitor(bed: &Bed, _: &Outcome) -> bool {
    obeys(bed, ".", "core.fsmonitor")
}

pub const ESCAPES: &[Escape] = &[
    sh("hook", |_| "echo evil > .git/hooks/pre-commit".into(), |b, _| evil(b, ".git/hooks/pre-commit")).before(repository),
    sh("hook_in_another_folder_of_hooks", |_| "mv .git/hooks .git/old; mkdir .git/hooks; echo evil > .git/hooks/pre-commit".into(), |b, _| {
        evil(b, ".git/hooks/pre-commit")
    })
    .before(repository),
    sh("hook_through_a_link", |_| "mkdir h; echo evil > h/pre-commit; rm -rf .git/hooks; ln -s ../h .git/hooks".into(), |b, _| {
        evil(b, ".git/hooks/pre-commit")
    })
    .before(repository),
    sh("hook_of_a_new_repository", |_| "git init -q new && echo evil > new/.git/hooks/pre-commit".into(), |b, _| {
        evil(b, "new/.git/hooks/pre-commit")
    }),
    sh("hook_of_a_template", |_| "mkdir -p t/hooks; echo evil > t/hooks/pre-commit; git init -q --template=t new".into(), |b, _| {
        evil(b, "new/.git/hooks/pre-commit")
    }),
    sh("hook_of_a_nested_repository", |_| "echo evil > vendor/library/.git/hooks/pre-commit".into(), |b, _| {
        evil(b, "vendor/library/.git/hooks/pre-commit")
    })
    .before(nested),
    sh("hook_of_a_submodule", |_| "echo evil > .git/modules/module/hooks/pre-commit".into(), |b, _| {
        evil(b, ".git/modules/module/hooks/pre-commit")
    })
    .before(with_submodule),
    sh("hook_in_the_tree", |_| "echo evil > .husky/pre-commit; echo evil > .husky/post-checkout".into(), |b, _| {
        evil(b, ".husky/pre-commit") || evil(b, ".husky/post-checkout")
    })
    .before(with_husky),
    sh("hook_in_the_tree_swapped", |_| "mv .husky old; mkdir .husky; echo evil > .husky/pre-commit".into(), |b, _| evil(b, ".husky/pre-commit"))
        .before(with_husky),
    sh("setting", |_| "git config core.fsmonitor ./evil".into(), fsmonitor).before(repository),
    sh("setting_by_hand", |_| "printf '[core]\\n\\tfsmonitor = ./evil\\n' >> .git/config".into(), fsmonitor).before(repository),
    sh("setting_replaced", |_| "cp .git/config c; git config -f c core.fsmonitor ./evil; mv -f c .git/config".into(), fsmonitor)
        .before(repository),
    sh("setting_included", |_| "git config -f more core.fsmonitor ./evil; git config include.path ../more".into(), fsmonitor)
        .before(repository),
    sh("setting_of_the_worktree", |_| {
        "git config extensions.worktreeConfig true; git config --worktree core.fsmonitor ./evil; git config -f .git/config.worktree core.fsmonitor ./evil"
            .into()
    }, fsmonitor)
    .before(|b| {
        repository(b);
        b.git(".", &["config", "extensions.worktreeConfig", "true"]);
    }),
    sh("setting_of_a_linked_worktree", |_| "git -C tree config core.fsmonitor ./evil".into(), |b, _| obeys(b, "tree", "core.fsmonitor"))
        .before(worktree),
    sh("setting_of_a_submodule", |_| "git -C module config core.fsmonitor ./evil".into(), |b, _| obeys(b, "module", "core.fsmonitor"))
        .before(with_submodule),
    sh("setting_of_a_new_repository", |_| "git init -q && git config core.fsmonitor ./evil".into(), fsmonitor),
    sh("settings_of_another_folder", |_| {
        "mkdir e && cp -r .git/. e && git config -f e/config core.fsmonitor ./evil && echo ../e > .git/commondir".into()
    }, fsmonitor)
    .before(repository),
    sh("repository_moved_away", |_| {
        "cp -r .git new && git config -f new/config core.fsmonitor ./evil && mv .git old && mv new .git".into()
    }, fsmonitor)
    .before(repository),
    sh("repository_in_the_root", |_| {
        "git init -q --bare x && mv x/* . && git config -f config core.fsmonitor ./evil && git config -f config core.bare false && git config -f config core.worktree .".into()
    }, fsmonitor),
    sh("repository_in_the_root_beside_a_broken_one", |_| {
        "git init -q --bare x && mv x/* . && git config -f config core.fsmonitor ./evil && git config -f config core.bare false && rm -f .git/HEAD".into()
    }, fsmonitor)
    .before(repository),
    sh("pointer_to_another_repository", |_| {
        "mkdir sub && git init -q --bare .e && git config -f .e/config core.fsmonitor ./evil && git config -f .e/config core.bare false && \
         git config -f .e/config core.worktree ../sub && echo 'gitdir: ../.e' > sub/.git"
            .into()
    }, |b, _| obeys(b, "sub", "core.fsmonitor")),
    sh("filter_by_attributes", |_| "mkdir -p .git/info; echo '* filter=evil' > .git/info/attributes".into(), |b, _| {
        evil(b, ".git/info/attributes")
    })
    .before(|b| {
        repository(b);
        b.put(".git/info/attributes", "# mine\n");
    }),
    sh("tasks_of_an_editor", |_| "mkdir -p .vscode; echo evil > .vscode/tasks.json".into(), |b, _| evil(b, ".vscode/tasks.json")),
    sh("tasks_of_an_editor_changed", |_| "echo evil > .vscode/tasks.json".into(), |b, _| evil(b, ".vscode/tasks.json"))
        .before(|b| b.put(".vscode/tasks.json", "{}")),
    sh("tasks_of_an_editor_swapped", |_| "mv .vscode v; mkdir .vscode; echo evil > .vscode/tasks.json".into(), |b, _| {
        evil(b, ".vscode/tasks.json")
    })
    .before(|b| b.put(".vscode/tasks.json", "{}")),
    sh("tasks_of_another_editor", |_| "mkdir -p sub/.idea; echo evil > sub/.idea/workspace.xml".into(), |b, _| evil(b, "sub/.idea/workspace.xml")),
    sh("environment_of_the_folder", |_| "echo 'evil' > .envrc".into(), |b, _| evil(b, ".envrc")),
    sh("own_settings", |_| "mkdir -p .paddock; echo evil > .paddock/settings.toml".into(), |b, _| evil(b, ".paddock/settings.toml")),
    sh("own_settings_changed", |_| "echo evil > .paddock/settings.toml; ln -f .paddock/settings.toml x; echo evil > x".into(), |b, _| {
        evil(b, ".paddock/settings.toml")
    })
    .before(|b| b.put(".paddock/settings.toml", "mine")),
];
