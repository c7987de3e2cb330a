use proptest::prelude::*;

use super::*;

fn marker() -> Marker {
    Marker::of([7; 16])
}

fn paths(list: &[&str]) -> Vec<PathBuf> {
    list.iter().map(PathBuf::from).collect()
}

fn usual() -> Bounds {
    Bounds {
        project: "/Users/me/code/shop".into(),
        own: paths(&["/Users/me/state/home", "/private/tmp/paddock-1"]),
        readable: paths(&["/Users/me/.rustup"]),
        guarded: paths(&["/Users/me/code/shop/.git/hooks", "/Users/me/code/shop/.paddock"]),
        kept: paths(&["/Users/me/code/shop/.git"]),
        hidden: paths(&["/Users/me/code/shop/.env"]),
        ..Bounds::default()
    }
}

fn part(text: &str, start: &str) -> Vec<String> {
    text.split("\n(")
        .filter(|rule| rule.starts_with(start))
        .map(str::to_owned)
        .collect()
}

/// Every bracket that opens outside of a text closes; what a profile with a typing mistake would not survive.
fn is_balanced(text: &str) -> bool {
    let (mut depth, mut quoted) = (0i32, false);
    for letter in text.chars() {
        match letter {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0 && !quoted
}

#[test]
fn the_rules_after_the_base_are_these() {
    let made = profile(&usual(), &marker());
    let own = made.text.strip_prefix(BASE).unwrap();
    let expected = include_str!("../usual.sb");
    assert_eq!(own, expected, "\n{own}");
    let names: Vec<&str> = made.parameters.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "PROJECT_0",
            "OWN_0",
            "OWN_1",
            "READ_0",
            "ABOVE_0",
            "ABOVE_1",
            "ABOVE_2",
            "ABOVE_3",
            "ABOVE_4",
            "ABOVE_5",
            "GUARD_0",
            "GUARD_1",
            "KEEP_0",
            "HIDE_0"
        ]
    );
}

#[test]
fn everything_is_denied_that_no_rule_allows() {
    let text = profile(&usual(), &marker()).text;
    assert!(text.starts_with("(version 1)\n(deny default)\n"));
    assert!(!text.contains("(allow default)"));
    // A rule that names nothing it is about would be about everything.
    for rule in part(&text, "allow file-") {
        assert!(
            rule.contains("(literal") || rule.contains("(subpath") || rule.contains("(regex"),
            "{rule}"
        );
    }
    for forbidden in [
        "SecurityServer",
        "pasteboard",
        "launchd",
        "appleevent",
        "job-creation",
        "cfprefsd",
        "coreservices",
        "no-sandbox",
        "process-info* )",
        "mach-register",
        "mach-priv",
        "kern.proc",
        "\"/Users",
        "\"/Library\"))\n(allow file-read* ",
        "/System/Volumes/Data",
        "dirhelper",
    ] {
        assert!(!text.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn no_part_of_writing_is_allowed_but_for_devices() {
    let bounds = Bounds {
        writable: paths(&["/Users/me/other"]),
        ..usual()
    };
    let text = profile(&bounds, &marker()).text;
    let parts = |rule: &&String| rule.contains("file-write-") || rule.contains("file-read-data");
    let rules = part(&text, "allow file-");
    let mut devices = rules.iter().filter(parts);
    assert!(devices.clone().count() > 0);
    assert!(devices.all(
        |rule| rule.matches("\"/").count() == rule.matches("\"/dev/").count() && !rule.contains("param")
    ));
    assert!(text.contains("\n(deny file-write-setugid)\n"));
}

#[test]
fn a_read_only_project_is_nowhere_allowed_to_change() {
    let bounds = Bounds {
        read_only: true,
        ..usual()
    };
    let text = profile(&bounds, &marker()).text;
    for rule in part(&text, "allow file-write") {
        assert!(!rule.contains("PROJECT"), "{rule}");
    }
    assert!(
        part(&text, "allow file-read*")
            .iter()
            .any(|rule| rule.contains("PROJECT_0"))
    );
    assert!(
        part(&text, "allow file-write* file-link")
            .iter()
            .any(|rule| rule.contains("OWN_0"))
    );
}

#[test]
fn grants_are_read_or_written_and_never_pass_by_what_is_denied() {
    let bounds = Bounds {
        writable: paths(&["/Users/me/other"]),
        ..usual()
    };
    let text = profile(&bounds, &marker()).text;
    assert!(part(&text, "allow file-write* file-link")[0].contains("WRITE_0"));
    assert!(
        !part(&text, "allow file-write")
            .iter()
            .any(|rule| rule.contains("READ_0"))
    );
    let last_allowed = text.rfind("(allow file-").unwrap();
    let first_denied = text.find("(deny file-write* file-link").unwrap();
    assert!(last_allowed < first_denied);
}

#[test]
fn places_cannot_be_replaced_and_folders_not_be_cloned() {
    let bounds = Bounds {
        writable: paths(&["/Users/me/other"]),
        ..usual()
    };
    let text = profile(&bounds, &marker()).text;
    let kept = part(&text, "deny file-write-unlink").concat();
    for name in ["KEEP_0", "PROJECT_0", "OWN_0", "OWN_1", "WRITE_0"] {
        assert!(kept.contains(&format!("(literal (param \"{name}\"))")), "{name}");
    }
    for rule in part(&text, "allow ")
        .iter()
        .filter(|rule| rule.contains("file-clone"))
    {
        assert!(
            rule.starts_with("allow file-clone\n  (require-all (vnode-type REGULAR-FILE) "),
            "{rule}"
        );
    }
    assert_eq!(text.matches("allow file-clone").count(), 2);
}

#[test]
fn network_is_what_was_asked_for() {
    let of = |network| profile(&Bounds { network, ..usual() }, &marker()).text;
    let nothing = of(Reachable::Nothing);
    assert!(!nothing.contains("ip") || !nothing.contains("(remote ip"));
    assert!(
        !nothing.contains("localhost") && !nothing.contains("mDNSResponder") && !nothing.contains("trustd")
    );
    for rule in part(&nothing, "allow network") {
        assert!(rule.contains("unix-socket (subpath (param \"OWN_"), "{rule}");
    }
    let proxy = of(Reachable::Proxy(4711));
    assert!(proxy.contains("(allow network-outbound (remote ip \"localhost:4711\"))"));
    assert_eq!(proxy.matches("remote ip").count(), 1);
    assert!(!proxy.contains("network-inbound") && !proxy.contains("mDNSResponder"));
    let machine = of(Reachable::Machine);
    assert!(machine.contains("(allow network-outbound (remote ip))"));
    assert!(!machine.contains("(allow network*)") && !machine.contains("(allow network-outbound)\n"));
}

#[test]
fn paddocks_folder_cannot_be_made_in_any_spelling() {
    let pattern = regex(&anywhere(&any_case(".paddock"))[0]);
    for name in ["/p/.paddock", "/p/.PADDOCK", "/p/sub/.Paddock"] {
        assert!(pattern.is_match(name), "{name}");
    }
    for name in ["/p/xpaddock", "/p/.paddocks", "/p/a.paddock", "/p/.paddock/x"] {
        assert!(!pattern.is_match(name), "{name}");
    }
    assert!(regex(&anywhere(&any_case(".paddock"))[1]).is_match("/p/.PADDOCK/x"));
}

#[test]
fn a_project_below_a_folder_of_such_a_name_can_be_worked_in() {
    let bounds = Bounds {
        project: "/Users/me/.Paddock/demo".into(),
        ..usual()
    };
    let text = profile(&bounds, &marker()).text;
    assert!(!text.contains("[pP][aA][dD]") && text.contains("[gG][iI][tT]"));
}

#[test]
fn names_are_escaped() {
    assert_eq!(escaped("a.b+c(d)\"e\\"), r"a\.b\+c\(d\)e\\");
    assert_eq!(any_case(".a1"), r"\.[aA]1");
}

fn regex(filter: &str) -> regex::Regex {
    let inner = filter
        .strip_prefix("(regex #\"")
        .unwrap()
        .strip_suffix("\")")
        .unwrap();
    regex::Regex::new(inner).unwrap()
}

prop_compose! {
    fn any_path()(names in prop::collection::vec("[^/\0]{1,12}", 1..5)) -> PathBuf {
        PathBuf::from(format!("/{}", names.join("/")))
    }
}

prop_compose! {
    fn any_bounds()(
        project in any_path(),
        read_only in any::<bool>(),
        own in prop::collection::vec(any_path(), 1..3),
        readable in prop::collection::vec(any_path(), 0..4),
        writable in prop::collection::vec(any_path(), 0..3),
        guarded in prop::collection::vec(any_path(), 0..5),
        kept in prop::collection::vec(any_path(), 0..3),
        hidden in prop::collection::vec(any_path(), 0..4),
        network in prop_oneof![
            Just(Reachable::Nothing), (1..=u16::MAX).prop_map(Reachable::Proxy), Just(Reachable::Machine)
        ],
    ) -> Bounds {
        Bounds { project, read_only, own, readable, writable, guarded, kept, hidden, network }
    }
}

proptest! {
    /// The text depends on how many paths there are, never on what they are called.
    #[test]
    fn no_path_is_ever_in_the_text(bounds in any_bounds()) {
        let plain = |paths: &[PathBuf]| (0..paths.len()).map(|n| PathBuf::from(format!("/x{n}"))).collect();
        let above = ancestors(&bounds).len();
        let mut same_shape = Bounds {
            project: "/p".into(),
            own: plain(&bounds.own),
            readable: plain(&bounds.readable),
            writable: plain(&bounds.writable),
            guarded: plain(&bounds.guarded),
            kept: plain(&bounds.kept),
            hidden: plain(&bounds.hidden),
            ..bounds.clone()
        };
        same_shape.project = (0..above).map(|n| format!("/a{n}")).collect::<String>().into();
        same_shape.project.push("p");
        prop_assert_eq!(profile(&bounds, &marker()).text, profile(&same_shape, &marker()).text);
    }

    #[test]
    fn every_parameter_is_used_and_every_used_one_is_there(bounds in any_bounds()) {
        let made = profile(&bounds, &marker());
        prop_assert!(is_balanced(&made.text));
        for (name, _) in &made.parameters {
            let used = made.text.contains(&format!("(param \"{name}\")"));
            prop_assert!(used, "{} is not used", name);
        }
        for used in made.text.split("(param \"").skip(1) {
            let name = used.split('"').next().unwrap();
            prop_assert!(made.parameters.iter().any(|(known, _)| known == name), "{} is missing", name);
        }
    }

    #[test]
    fn what_is_denied_is_denied_itself_and_below(bounds in any_bounds()) {
        let text = profile(&bounds, &marker()).text;
        let denied = part(&text, "deny file-").join("\n");
        for (kind, count) in [("GUARD", bounds.guarded.len()), ("HIDE", bounds.hidden.len())] {
            for number in 0..count {
                for filter in ["literal", "subpath"] {
                    let rule = format!("({filter} (param \"{kind}_{number}\"))");
                    prop_assert!(denied.contains(&rule), "{}", rule);
                    let not = format!("(require-not {rule})");
                    prop_assert!(bounds.read_only || text.contains(&not), "{}", not);
                }
            }
        }
    }
}
