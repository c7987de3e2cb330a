//! From list to plan on real files and a real repository; what a plan's calls then do is tested with the tools and with
//! sessions.

use super::*;
use paddock_protocol::*;
use paddock_sandbox::Unconfined;
use std::process::Command;

struct Bed {
    folder: tempfile::TempDir,
    place: Place,
}

fn bed(files: &[(&str, &str)]) -> Bed {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("project")).unwrap();
    let root = ProjectRoot::open(&folder.path().join("project")).unwrap();
    let place = Place {
        home: Home::open(Some(folder.path().join("home"))).unwrap(),
        root,
        registry: Arc::new(Registry::new()),
        confinement: Arc::new(Unconfined::new("This is a test.")),
        state: StateDir::new(folder.path().join("state")),
        sandbox: SandboxSummary::default(),
        providers: vec!["own".to_owned()],
    };
    let bed = Bed { folder, place };
    for (name, content) in files {
        bed.put(name, content);
    }
    bed
}

impl Bed {
    fn put(&self, name: &str, content: &str) {
        let path = self.folder.path().join("project").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn git(&self, arguments: &[&str]) {
        let done = Command::new("git")
            .current_dir(self.folder.path().join("project"))
            .args(["-c", "user.name=Test", "-c", "user.email=test@example.invalid"])
            .args(arguments)
            .status()
            .unwrap();
        assert!(done.success());
    }

    fn commit(&self) {
        self.git(&["init", "--quiet"]);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "first"]);
    }

    fn list(&self) -> Vec<WorkflowInfo> {
        list(&self.place.home, &self.place.root, &self.place.registry).unwrap()
    }

    async fn preview(&self, name: &str, values: &ParameterValues) -> WorkflowPreview {
        preview(&self.place, name, values).await.unwrap()
    }

    async fn problem(&self, name: &str, values: &ParameterValues) -> String {
        let preview = self.preview(name, values).await;
        assert!(preview.effects.is_empty() && preview.token.is_empty());
        format!(
            "{}: {}",
            preview.problems[0].parameter, preview.problems[0].problem
        )
    }

    async fn refused(&self, name: &str, values: &ParameterValues, token: &str) -> String {
        plan(&self.place, name, values, token).await.unwrap_err().message
    }
}

fn values(pairs: &[(&str, &str)]) -> ParameterValues {
    pairs
        .iter()
        .map(|(name, value)| {
            let value = match *value {
                "on" => ParameterValue::Switch(true),
                value => match value.parse() {
                    Ok(number) => ParameterValue::Number(number),
                    Err(_) => ParameterValue::Text(value.to_owned()),
                },
            };
            ((*name).to_owned(), value)
        })
        .collect()
}

fn targets(preview: &WorkflowPreview) -> Vec<&str> {
    preview
        .effects
        .iter()
        .map(|effect| effect.target.as_str())
        .collect()
}

#[test]
fn the_built_in_ones_have_no_problems() {
    let bed = bed(&[
        ("ui/node_modules/a", ""),
        ("target/debug/x", ""),
        ("src/target.rs", ""),
    ]);
    let all = bed.list();
    assert_eq!(all.len(), 6);
    for info in &all {
        let only_own_choices = info
            .parameters
            .iter()
            .all(|parameter| parameter.default.is_none());
        assert!(info.problems.is_empty(), "{}: {:?}", info.name, info.problems);
        assert_eq!(
            info.destructive,
            info.steps[0].kind == WorkflowStepKind::Tool,
            "{}",
            info.name
        );
        assert!(only_own_choices || info.name == "explain-folder");
    }
    let clean_up = all.iter().find(|info| info.name == "clean-up").unwrap();
    let options = vec!["target".to_owned(), "ui/node_modules".to_owned()];
    assert_eq!(clean_up.parameters[0].kind, ParameterKind::Choices { options });
}

#[tokio::test]
async fn a_deletion_names_exactly_what_fits() {
    let bed = bed(&[
        ("a.log", "1"),
        ("sub/b.log", "22"),
        ("sub/keep.log", ""),
        ("c.txt", ""),
        (".gitignore", "*.log"),
    ]);
    let some = values(&[("files", "*.log"), ("keep", "keep.*")]);
    let preview = bed.preview("bulk-delete", &some).await;
    assert_eq!(targets(&preview), ["a.log", "sub/b.log"]);
    assert_eq!((preview.files, preview.confirm.as_str()), (2, "Delete 2 files"));
    assert!(preview.effects.iter().all(|effect| effect.undoable));
    let plan = plan(&bed.place, "bulk-delete", &some, &preview.token)
        .await
        .unwrap();
    let WorkflowStep::Call { tool, arguments } = &plan.steps[0] else {
        panic!()
    };
    let arguments: serde_json::Value = serde_json::from_str(arguments).unwrap();
    assert_eq!(
        (tool.as_str(), &arguments["paths"]),
        ("delete_files", &serde_json::json!(["a.log", "sub/b.log"]))
    );

    bed.put("later.log", "");
    assert!(
        bed.refused("bulk-delete", &some, &preview.token)
            .await
            .ends_with("It would now touch 3 files instead of 2.")
    );
    std::fs::remove_file(bed.folder.path().join("project/later.log")).unwrap();
    assert!(
        super::plan(&bed.place, "bulk-delete", &some, &preview.token)
            .await
            .is_ok()
    );
    bed.put("a.log", "3");
    assert!(
        bed.refused("bulk-delete", &some, &preview.token)
            .await
            .ends_with("Files that it would touch changed.")
    );
    let other = values(&[("files", "*.txt")]);
    assert!(
        bed.refused("bulk-delete", &other, &preview.token)
            .await
            .ends_with("The values are other ones.")
    );
    assert!(
        bed.refused("bulk-delete", &some, "made up")
            .await
            .ends_with("not the preview of this workflow.")
    );

    assert_eq!(
        bed.problem("bulk-delete", &values(&[("files", "*.none")])).await,
        "files: No file fits."
    );
    assert_eq!(
        bed.problem("bulk-delete", &values(&[])).await,
        "files: This is needed."
    );
    let old = values(&[("files", "*.log"), ("older_than", "1")]);
    assert_eq!(bed.problem("bulk-delete", &old).await, "files: No file fits.");
    let file = std::fs::File::options()
        .write(true)
        .open(bed.folder.path().join("project/a.log"))
        .unwrap();
    file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(2 * 86_400))
        .unwrap();
    assert_eq!(targets(&bed.preview("bulk-delete", &old).await), ["a.log"]);
}

#[tokio::test]
async fn a_clean_up_spares_what_is_under_version_control() {
    let bed = bed(&[("dist/kept.js", ""), (".gitignore", "target\n")]);
    bed.commit();
    bed.put("target/debug/a", "xx");
    bed.put("target/debug/b", "x");
    let folders = |names: &[&str]| {
        let list = names.iter().map(|name| (*name).to_owned()).collect();
        ParameterValues::from([("folders".to_owned(), ParameterValue::List(list))])
    };
    let preview = bed.preview("clean-up", &folders(&["target"])).await;
    assert_eq!((targets(&preview), preview.files), (vec!["target/"], 2));
    assert_eq!(preview.effects[0].detail, "2 files, 3 B");
    let both = folders(&["dist", "target"]);
    assert_eq!(
        bed.problem("clean-up", &both).await,
        "folders: These hold files under version control: dist."
    );
    let mut all = both;
    all.insert("tracked".to_owned(), ParameterValue::Switch(true));
    assert_eq!(bed.preview("clean-up", &all).await.files, 3);
    assert!(
        bed.problem("clean-up", &folders(&["src"]))
            .await
            .contains("no choice")
    );
    bed.put("target/debug/later", "");
    let said = bed
        .refused("clean-up", &folders(&["target"]), &preview.token)
        .await;
    assert!(said.ends_with("3 files instead of 2."), "{said}");
}

#[tokio::test]
async fn a_rename_shows_pairs_and_names_conflicts() {
    let bed = bed(&[("a.jpeg", ""), ("b.jpeg", ""), ("b.jpg", ""), ("IMG_1.png", "")]);
    let some = |find: &str, replace: &str| values(&[("files", "*.*"), ("find", find), ("replace", replace)]);
    let said = bed.problem("bulk-rename", &some("jpeg", "jpg")).await;
    assert_eq!(
        said,
        "replace: `b.jpeg` would be called `b.jpg`, which exists already."
    );
    std::fs::remove_file(bed.folder.path().join("project/b.jpg")).unwrap();
    let preview = bed.preview("bulk-rename", &some("jpeg", "jpg")).await;
    let pairs: Vec<_> = preview
        .effects
        .iter()
        .map(|effect| (effect.target.as_str(), effect.detail.as_str()))
        .collect();
    assert_eq!(pairs, [("a.jpeg", "a.jpg"), ("b.jpeg", "b.jpg")]);
    assert_eq!(preview.confirm, "Rename 2 files");
    let mut regex = some("^IMG_([0-9])", "photo-$1");
    regex.insert("regex".to_owned(), ParameterValue::Switch(true));
    let preview = bed.preview("bulk-rename", &regex).await;
    assert_eq!(preview.effects[0].detail, "photo-1.png");
    let literal = bed.preview("bulk-rename", &some("IMG", "$0")).await;
    assert_eq!(literal.effects[0].detail, "$0_1.png");
    for bad in ["../x", "a/b", ".."] {
        let mut all = some("^.*$", bad);
        all.insert("regex".to_owned(), ParameterValue::Switch(true));
        let said = bed.problem("bulk-rename", &all).await;
        assert!(said.contains("no name of a file"), "{said}");
    }
    assert_eq!(
        bed.problem("bulk-rename", &some("zzz", "y")).await,
        "find: No name changes."
    );
    let mut broken = some("(", "y");
    broken.insert("regex".to_owned(), ParameterValue::Switch(true));
    assert!(
        bed.problem("bulk-rename", &broken)
            .await
            .starts_with("find: It is no regular expression")
    );
}

#[tokio::test]
async fn a_discard_shows_what_differs() {
    let bed = bed(&[("a", "1"), ("b", "2"), ("same", "")]);
    bed.commit();
    let nothing = values(&[]);
    assert_eq!(
        bed.problem("discard-all-changes", &nothing).await,
        "new_files: Nothing differs from the last commit."
    );
    bed.put("a", "changed");
    bed.put("new", "");
    std::fs::remove_file(bed.folder.path().join("project/b")).unwrap();
    bed.git(&["add", "a"]);
    let preview = bed.preview("discard-all-changes", &nothing).await;
    assert_eq!(targets(&preview)[..2], ["a", "b"]);
    assert!(targets(&preview)[2].starts_with("git ") && preview.hosts.is_empty());
    assert_eq!(preview.confirm, "Discard the changes of 2 files");
    let all = values(&[("new_files", "on")]);
    let preview = bed.preview("discard-all-changes", &all).await;
    assert_eq!((preview.files, targets(&preview)[2]), (3, "new"));
    assert_eq!(
        plan(&bed.place, "discard-all-changes", &all, &preview.token)
            .await
            .unwrap()
            .steps
            .len(),
        2
    );
    let plain = self::bed(&[("a", "")]);
    let said = preview_error(&plain, "discard-all-changes").await;
    assert!(said.contains("There is no commit to go back to"), "{said}");
}

async fn preview_error(bed: &Bed, name: &str) -> String {
    preview(&bed.place, name, &ParameterValues::new())
        .await
        .unwrap_err()
        .message
}

const OWN: &str = r#"
name = "own"
title = "Own"
[[parameter]]
name = "what"
kind = "text"
[[parameter]]
name = "file"
kind = "path"
[[step]]
kind = "command"
command = "curl https://Example.org/x --data {what} && git push"
[[step]]
kind = "tool"
tool = "write_file"
arguments = { path = "notes.txt", content = "about {file}" }
[[step]]
kind = "confirm"
question = "Send {what}?"
[[step]]
kind = "message"
text = "Look at {file}."
"#;

#[tokio::test]
async fn an_own_workflow_is_off_until_it_was_read_and_then_says_all_it_does() {
    let bed = bed(&[
        ("a.txt", ""),
        (".paddock/workflows/own.toml", OWN),
        ("notes.txt", "old\n"),
    ]);
    let info = bed.list().pop().unwrap();
    assert_eq!(info.problems, Vec::<String>::new());
    assert!(preview_error(&bed, "own").await.contains("not switched on"));
    let DefinitionSource::Project { path, hash, .. } = info.source else {
        panic!()
    };
    source::review(&bed.place.home, &bed.place.root, &path, &hash, true).unwrap();

    let some = values(&[("what", "a'; rm -rf $(id)"), ("file", "./a.txt")]);
    let preview = bed.preview("own", &some).await;
    assert_eq!(
        targets(&preview),
        [
            r"curl https://Example.org/x --data 'a'\''; rm -rf $(id)' && git push",
            "notes.txt",
            "Send a'; rm -rf $(id)?",
            "Look at a.txt."
        ]
    );
    assert_eq!(preview.hosts, ["example.org"]);
    assert_eq!((preview.files, preview.model_steps), (1, 1));
    assert_eq!(preview.confirm, "Change 1 file");
    let plan = super::plan(&bed.place, "own", &some, &preview.token)
        .await
        .unwrap();
    let WorkflowStep::Call { arguments, .. } = &plan.steps[1] else {
        panic!()
    };
    assert_eq!(arguments, r#"{"content":"about a.txt","path":"notes.txt"}"#);

    bed.put("notes.txt", "changed since\n");
    assert!(
        bed.refused("own", &some, &preview.token)
            .await
            .ends_with("Files that it would touch changed.")
    );
    assert_eq!(
        bed.problem("own", &values(&[("what", "-x")]))
            .await
            .split(':')
            .next(),
        Some("what")
    );
    assert_eq!(
        bed.problem("own", &values(&[("file", "../x")])).await,
        "file: It leads out of the project."
    );
    assert!(
        bed.problem("own", &values(&[("what", "{answer.x}")]))
            .await
            .contains("must not hold")
    );

    bed.put(".paddock/workflows/own.toml", &OWN.replace("Look", "Look well"));
    assert!(
        bed.refused("own", &some, &preview.token)
            .await
            .contains("not switched on")
    );
    let DefinitionSource::Project {
        reviewed, changed, ..
    } = bed.list().pop().unwrap().source
    else {
        panic!()
    };
    assert!(!reviewed && changed);
}

#[tokio::test]
async fn a_file_with_problems_is_listed_and_does_not_run() {
    let bed = bed(&[]);
    let folder = bed.folder.path().join("home/workflows");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("a.toml"), OWN.replace("curl", "{what}")).unwrap();
    std::fs::write(
        folder.join("b.toml"),
        "name = \"bulk-delete\"\n[[step]]\nkind = \"message\"\ntext = \"x\"\n",
    )
    .unwrap();
    std::fs::write(
        folder.join("c.toml"),
        "name = \"hidden\"\n[[step]]\nkind = \"message\"\ntext = \"a\u{202e}b\"\n",
    )
    .unwrap();
    let all = bed.list();
    let of_person: Vec<_> = all
        .iter()
        .filter(|info| matches!(info.source, DefinitionSource::Person { .. }))
        .collect();
    assert_eq!(of_person.len(), 3);
    assert!(of_person.iter().all(|info| info.problems.len() == 1));
    assert!(of_person[1].problems[0].contains("called `bulk-delete` already"));
    assert!(
        preview_error(&bed, "own")
            .await
            .contains("would choose the program")
    );
    assert!(preview_error(&bed, "hidden").await.contains("U+202E"));
    assert!(
        preview_error(&bed, "nothing")
            .await
            .contains("There is no workflow")
    );
    // The name belongs to the built-in one.
    assert_eq!(
        bed.preview("bulk-delete", &ParameterValues::new()).await.title,
        "Delete many files"
    );
}

#[tokio::test]
async fn a_command_without_a_host_says_so_and_the_providers_are_known() {
    let bed = bed(&[]);
    let folder = bed.folder.path().join("home/workflows");
    std::fs::create_dir(&folder).unwrap();
    let text = "name = \"net\"\n[[parameter]]\nname = \"m\"\nkind = \"model\"\n[[step]]\nkind = \"command\"\ncommand = \"npm install\"\n\
                [[step]]\nkind = \"message\"\ntext = \"{m}\"\n";
    std::fs::write(folder.join("net.toml"), text).unwrap();
    let preview = bed.preview("net", &values(&[("m", "own/small")])).await;
    assert_eq!(preview.hosts, ["not named: npm install"]);
    assert_eq!(preview.confirm, "Run 2 steps");
    assert!(
        bed.problem("net", &values(&[("m", "other/small")]))
            .await
            .contains("configured provider")
    );
}
