//! What no setting allows. These commands end a machine, hand out its keys or run outside of the fence later; a person who wants
//! them runs them in a terminal of their own. Ordinary work must never be among them.

mod place;
mod secrets;

use crate::command::Part;
use crate::open::Opened;
use crate::options::{has, subcommand};
use crate::program::{DELETES, deletes, program};
use place::{Base, is_device, is_wide};

pub(crate) const RAISES: &[&str] = &[
    "sudo", "sudo-rs", "sudoedit", "su", "doas", "pkexec", "runas", "run0", "dzdo", "gosu", "su-exec",
    "psexec", "setpriv",
];
const MACHINE: &[&str] = &[
    "mkfs",
    "fdisk",
    "sfdisk",
    "cfdisk",
    "gdisk",
    "sgdisk",
    "parted",
    "wipefs",
    "mkswap",
    "swapoff",
    "swapon",
    "mount",
    "umount",
    "losetup",
    "cryptsetup",
    "lvremove",
    "vgremove",
    "pvremove",
    "mdadm",
    "blkdiscard",
    "hdparm",
    "insmod",
    "modprobe",
    "rmmod",
    "kexec",
    "diskpart",
    "bcdedit",
    "format-volume",
    "clear-disk",
    "initialize-disk",
    "fsck",
    "e2fsck",
    "tune2fs",
    "debugfs",
    "grub-install",
    "efibootmgr",
    "nvram",
    "passwd",
    "chpasswd",
    "useradd",
    "userdel",
    "usermod",
    "groupadd",
    "visudo",
    "setenforce",
    "csrutil",
    "iptables",
    "ip6tables",
    "nft",
    "ufw",
    "killall5",
    "setcap",
];
const POWER: &[&str] = &[
    "shutdown",
    "reboot",
    "halt",
    "poweroff",
    "telinit",
    "stop-computer",
    "restart-computer",
    "pm-suspend",
];
/// Words with which those only look.
const LOOKS: &[&str] = &[
    "-l",
    "--list",
    "--help",
    "-h",
    "--version",
    "-V",
    "--show",
    "-L",
    "-s",
];
const RECURSIVE: &[&str] = &[
    "chmod", "chown", "chgrp", "setfacl", "chattr", "icacls", "takeown", "attrib",
];

/// A reason why no setting may allow this line, in words.
pub(crate) fn hard_denial(opened: &Opened, whole: &str) -> Option<String> {
    if opened.multiplies || multiplies(whole) {
        return Some("it starts processes without end".into());
    }
    let mut base = Base::default();
    for part in &opened.here {
        if let Some(why) = part_denied(part, &base) {
            return Some(why);
        }
        base.follow(part);
    }
    None
}

/// Spellings of programs that start themselves without end.
fn multiplies(whole: &str) -> bool {
    let squeezed: String = whole.chars().filter(|c| !c.is_whitespace()).collect();
    let bombs = [
        ":(){:|:&};:",
        "forkwhilefork",
        "whileTrue:os.fork()",
        "while1:os.fork()",
        "while(1)fork()",
        "while(1){fork()",
        "for(;;)fork()",
        "for(;;){fork()",
        "loop{fork",
        "fork()whiletrue",
        "whiletrue;do$0&",
        "%0|%0",
        "$0|$0&",
        "$0&$0",
    ];
    bombs.iter().any(|bomb| squeezed.contains(bomb))
}

fn part_denied(part: &Part, base: &Base) -> Option<String> {
    if let Some(device) = part.writes.iter().find(|path| is_device(path)) {
        return Some(format!("it would write to the device {device}"));
    }
    if secrets::reads(part, base) {
        return Some("it reads keys or passwords".into());
    }
    let name = program(part)?;
    let name = name.as_str();
    raises(part, name)
        .or_else(|| changes_machine(part, name))
        .or_else(|| writes_device(part, name))
        .or_else(|| deletes_all(part, name, base))
        .or_else(|| kills_all(part, name))
        .or_else(|| runs_later(part, name))
}

fn words(part: &Part) -> &[String] {
    part.words.get(1..).unwrap_or_default()
}

fn raises(part: &Part, name: &str) -> Option<String> {
    let verb = words(part)
        .windows(2)
        .any(|pair| pair[0].eq_ignore_ascii_case("-verb") && pair[1].eq_ignore_ascii_case("runas"));
    let scripted = name == "osascript"
        && words(part)
            .iter()
            .any(|word| word.contains("with administrator privileges"));
    (RAISES.contains(&name) || verb || scripted)
        .then(|| format!("{name} runs with the rights of another user"))
}

fn changes_machine(part: &Part, name: &str) -> Option<String> {
    let given = words(part);
    let looks = given.iter().any(|word| LOOKS.contains(&word.as_str()));
    let lists = name == "mount" && given.is_empty();
    if (MACHINE.contains(&name) || name.starts_with("mkfs.") || name.starts_with("fsck.")) && !looks && !lists
    {
        return Some(format!("{name} changes disks or the machine itself"));
    }
    let sub = subcommand(part).unwrap_or_default();
    let power = POWER.contains(&name)
        || (name == "init" && matches!(sub, "0" | "6"))
        || (matches!(name, "systemctl" | "loginctl")
            && matches!(
                sub,
                "poweroff" | "reboot" | "halt" | "suspend" | "hibernate" | "kexec" | "rescue" | "emergency"
            ));
    if power && !has(given, &["--help", "--version"]) {
        return Some(format!("{name} ends or stops the machine"));
    }
    let drive = |word: &String| word.len() >= 2 && word.as_bytes().get(1) == Some(&b':') && word.len() <= 3;
    let disks = (name == "format" && given.iter().any(drive))
        || (name == "diskutil"
            && given.first().is_some_and(|verb| {
                ["erase", "partition", "reformat", "zero", "secureerase"]
                    .iter()
                    .any(|bad| verb.to_lowercase().starts_with(bad))
            }))
        || (name == "sysctl" && has(given, &["-w", "--write"]))
        || (name == "reg"
            && given
                .first()
                .is_some_and(|verb| matches!(verb.to_lowercase().as_str(), "add" | "delete" | "import")));
    disks.then(|| format!("{name} changes disks or the machine itself"))
}

fn writes_device(part: &Part, name: &str) -> Option<String> {
    const LOOKERS: &[&str] = &[
        "ls", "lsblk", "stat", "file", "df", "echo", "printf", "grep", "test", "[", "[[", "blkid", "git",
    ];
    if LOOKERS.contains(&name) {
        return None;
    }
    let device = words(part)
        .iter()
        .map(|word| {
            word.strip_prefix("of=")
                .or_else(|| word.strip_prefix("if="))
                .unwrap_or(word)
        })
        .find(|word| is_device(word))?;
    Some(format!("{name} would use the device {device}"))
}

/// Deleting, moving away or opening up the root of the drive or a home folder.
fn deletes_all(part: &Part, name: &str, base: &Base) -> Option<String> {
    let wide = |at: &usize| {
        part.words
            .get(*at)
            .is_some_and(|word| is_wide(word, part.kind(*at), base))
    };
    let places: Vec<usize> = (1..part.words.len())
        .filter(|at| !part.words[*at].starts_with('-') || part.words[*at].contains('/'))
        .collect();
    const WHY: &str = "it would delete the home folder or the whole drive";
    let hits = match name {
        "find" => {
            let starts = places
                .iter()
                .take_while(|at| !part.words[**at].starts_with(['-', '(', '!']));
            let deleting = deletes(part) || crate::open::opened_part(part).here.iter().skip(1).any(deletes);
            deleting && starts.into_iter().any(wide)
        }
        "rsync" => deletes(part) && places.last().is_some_and(wide),
        "mv" => places.len() > 1 && places.iter().take(places.len() - 1).any(wide),
        name if RECURSIVE.contains(&name) => {
            let deep = has(words(part), &["-R", "-r", "--recursive"])
                || words(part)
                    .iter()
                    .any(|word| matches!(word.to_lowercase().as_str(), "/t" | "/s" | "/r"));
            if deep && places.iter().any(wide) {
                return Some("it would change the rights of the home folder or the whole drive".into());
            }
            false
        }
        name => {
            (DELETES.contains(&name) && name != "dropdb" && places.iter().any(wide))
                || words(part).iter().any(|word| word == "--no-preserve-root")
        }
    };
    hits.then(|| WHY.to_owned())
}

fn kills_all(part: &Part, name: &str) -> Option<String> {
    if name != "kill" {
        return None;
    }
    let given = words(part);
    let mut from = 0;
    match given.first().map(String::as_str) {
        Some("-s" | "-n" | "--signal") => from = 2,
        Some("--") | None => {}
        Some(word) if word.starts_with('-') && given.len() > 1 => from = 1,
        Some(_) => {}
    }
    let targets = given.get(from..).unwrap_or_default();
    targets
        .iter()
        .any(|word| word == "1" || word == "-1")
        .then(|| "it would end every process".to_owned())
}

/// What starts commands again when nobody looks, outside of the fence.
fn runs_later(part: &Part, name: &str) -> Option<String> {
    let given = words(part);
    let sub = subcommand(part).unwrap_or_default();
    let later = match name {
        "crontab" => !(given.len() == 1 && given[0] == "-l"),
        "at" => !given.iter().any(|word| matches!(word.as_str(), "-l" | "-V")),
        "systemctl" => {
            matches!(
                sub,
                "enable" | "link" | "edit" | "reenable" | "preset" | "set-default"
            )
        }
        "systemd-run" => true,
        "loginctl" => sub == "enable-linger",
        "launchctl" => matches!(
            sub,
            "load" | "bootstrap" | "submit" | "enable" | "kickstart" | "start" | "setenv" | "asuser"
        ),
        "schtasks" => given
            .iter()
            .any(|word| matches!(word.to_lowercase().as_str(), "/create" | "/change" | "/run")),
        "update-rc.d" | "chkconfig" | "rc-update" | "insserv" => true,
        "sc" => matches!(sub, "create" | "config" | "start"),
        "register-scheduledtask" | "new-service" | "set-service" | "start-service" => true,
        _ => false,
    };
    later.then(|| format!("{name} would run something outside of the fence"))
}
