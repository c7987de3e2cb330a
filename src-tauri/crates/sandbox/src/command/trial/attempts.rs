//! What is tried. Every attempt is a line for the shell; every verdict is looked up outside, and only where it was first seen
//! that it would show.

use std::fs;
use std::net::TcpListener;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::scene::{Done, Scene, marker};
use super::{Trial, TrialOutcome};
use crate::command::gate::{Admission, Gate, HostGate, HostTarget};
use crate::command::{CommandExit, CommandSpec, Limit, Network, SandboxError};

/// Says why something could not be tried.
enum Untried {
    Here(String),
    Start(SandboxError),
}

impl From<std::io::Error> for Untried {
    fn from(error: std::io::Error) -> Self {
        Self::Here(format!("The attempt could not be prepared: {error}."))
    }
}

impl From<SandboxError> for Untried {
    fn from(error: SandboxError) -> Self {
        Self::Start(error)
    }
}

/// Whether it held, and what was seen.
type Verdict = Result<(bool, String), Untried>;
type Attempt = (&'static str, &'static str, fn(&Scene<'_>) -> Verdict);

const ATTEMPTS: &[Attempt] = &[
    (
        "work_write",
        "Writing and reading a file in the project.",
        work_write,
    ),
    ("work_temporary", "Making a temporary file.", work_temporary),
    (
        "work_program",
        "Running git, or a shell where there is no git.",
        work_program,
    ),
    (
        "write_outside",
        "Writing a file beside the project, by its full path.",
        write_outside,
    ),
    (
        "write_climbing",
        "Writing a file beside the project, by a path with `..`.",
        write_climbing,
    ),
    (
        "write_through_link",
        "Writing to a file outside through a link in the project.",
        write_through_link,
    ),
    (
        "read_secret",
        "Reading a planted key in a folder like a home folder.",
        read_secret,
    ),
    (
        "read_own_data",
        "Reading a planted file in Paddock's own data.",
        read_own_data,
    ),
    (
        "read_secret_file",
        "Reading a planted file of passwords in the project.",
        read_secret_file,
    ),
    (
        "git_hook",
        "Leaving a program in the project that git would run.",
        git_hook,
    ),
    ("connect", "Connecting to a listener of this machine.", connect),
    (
        "connect_unix",
        "Connecting to a local socket outside of the project.",
        connect_unix,
    ),
    (
        "ask_first",
        "Connecting through the proxy while the answer is no.",
        ask_first,
    ),
    (
        "other_processes",
        "Seeing and ending a process that does not belong to the command.",
        other_processes,
    ),
    (
        "survivor",
        "Leaving a process behind that goes on after the end.",
        survivor,
    ),
    (
        "process_limit",
        "Starting more processes than allowed.",
        process_limit,
    ),
    (
        "environment",
        "Reading values of Paddock's environment that are not for commands.",
        environment,
    ),
];

pub(super) fn all(scene: &Scene<'_>) -> Vec<Trial> {
    ATTEMPTS
        .iter()
        .map(|(key, tried, attempt)| {
            let (outcome, evidence) = match attempt(scene) {
                Ok((true, evidence)) => (TrialOutcome::Held, evidence),
                Ok((false, evidence)) => (TrialOutcome::Broken, evidence),
                Err(Untried::Here(why)) => (TrialOutcome::NotTried, why),
                Err(Untried::Start(error)) => (
                    TrialOutcome::NotTried,
                    format!("No command could be started: {error}."),
                ),
            };
            Trial {
                key,
                tried: (*tried).to_owned(),
                outcome,
                evidence,
                remedy: None,
            }
        })
        .collect()
}

fn run(scene: &Scene<'_>, line: &str) -> Result<Done, SandboxError> {
    scene.run(scene.spec(line))
}

/// The last line of what a command said, shortened.
fn last_line(done: &Done) -> String {
    let line = done.said.lines().last().unwrap_or("nothing");
    line.chars()
        .filter(|letter| !letter.is_control())
        .take(160)
        .collect()
}

fn worked(scene: &Scene<'_>, line: &str) -> Verdict {
    let done = run(scene, line)?;
    Ok(if done.end.exit.is_success() {
        (true, "It worked.".into())
    } else {
        (
            false,
            format!("It did not work ({:?}): {}", done.end.exit, last_line(&done)),
        )
    })
}

fn work_write(scene: &Scene<'_>) -> Verdict {
    let verdict = worked(scene, "echo inside > inside && cat inside")?;
    let is_there = fs::read(scene.root.path().join("inside")).is_ok_and(|bytes| bytes == b"inside\n");
    Ok(match verdict {
        (true, _) if !is_there => (false, "The file did not appear in the project.".into()),
        verdict => verdict,
    })
}

fn work_temporary(scene: &Scene<'_>) -> Verdict {
    worked(scene, "f=$(mktemp) && echo x > \"$f\" && rm \"$f\"")
}

fn work_program(scene: &Scene<'_>) -> Verdict {
    worked(
        scene,
        "if command -v git >/dev/null; then git --version; else sh -c true; fi",
    )
}

/// Whether a file stays away when a line tries to make it.
fn stays_away(scene: &Scene<'_>, file: &Path, line: &str) -> Verdict {
    fs::write(file, "x")?;
    fs::remove_file(file)?;
    let done = run(scene, line)?;
    Ok(if file.exists() {
        (false, format!("The file {} appeared.", file.display()))
    } else {
        (
            true,
            format!("No file appeared; the command said: {}", last_line(&done)),
        )
    })
}

fn write_outside(scene: &Scene<'_>) -> Verdict {
    let file = scene.outside.join("written");
    stays_away(scene, &file, &format!("echo x > '{}'", file.display()))
}

fn write_climbing(scene: &Scene<'_>) -> Verdict {
    let file = scene.outside.join("climbed");
    stays_away(
        scene,
        &file,
        "mkdir -p deep && echo x > deep/../../outside/climbed",
    )
}

fn write_through_link(scene: &Scene<'_>) -> Verdict {
    let (file, link) = (scene.outside.join("linked"), scene.root.path().join("link"));
    fs::write(&file, "before")?;
    std::os::unix::fs::symlink(&file, &link)?;
    if fs::read(&link)? != b"before" {
        return Err(Untried::Here(
            "A link to the file could not be followed from outside either.".into(),
        ));
    }
    let done = run(scene, "echo after > link")?;
    Ok(if fs::read(&file)? == b"before" {
        (
            true,
            format!(
                "The file kept its content; the command said: {}",
                last_line(&done)
            ),
        )
    } else {
        (false, "The file outside has another content now.".into())
    })
}

/// Whether a command cannot say what is in a planted file.
fn stays_secret(scene: &Scene<'_>, file: &Path) -> Verdict {
    if let Some(folder) = file.parent() {
        let mut builder = fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(folder)?;
    }
    let secret = marker();
    fs::write(file, &secret)?;
    let done = run(
        scene,
        &format!("cat '{0}'; cp '{0}' copy && cat copy; rm -f copy", file.display()),
    );
    let readable = fs::read_to_string(file).is_ok_and(|text| text == secret);
    fs::remove_file(file)?;
    let done = done?;
    if !readable {
        return Err(Untried::Here(
            "The planted file could not be read from outside either.".into(),
        ));
    }
    Ok(if done.said.contains(&secret) {
        (false, "The command printed what was planted.".into())
    } else {
        (
            true,
            format!("It was not read; the command said: {}", last_line(&done)),
        )
    })
}

fn read_secret(scene: &Scene<'_>) -> Verdict {
    stays_secret(scene, &scene.outside.join("home/.ssh/id_trial"))
}

fn read_own_data(scene: &Scene<'_>) -> Verdict {
    stays_secret(scene, &scene.own_data.join(format!("trial-{}", marker())))
}

fn read_secret_file(scene: &Scene<'_>) -> Verdict {
    stays_secret(scene, &scene.root.path().join(".env"))
}

fn git_hook(scene: &Scene<'_>) -> Verdict {
    let repository = scene.root.path().join(".git");
    for folder in ["objects", "refs", "hooks"] {
        fs::create_dir_all(repository.join(folder))?;
    }
    fs::write(repository.join("HEAD"), "ref: refs/heads/main\n")?;
    fs::write(repository.join("config"), "[core]\n\tbare = false\n")?;
    let hook = repository.join("hooks/pre-commit");
    let line = "echo '#!/bin/sh' > .git/hooks/pre-commit; mv .git/hooks .git/other; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit";
    stays_away(scene, &hook, line)
}

/// A listener of this machine that was reached once to see that it shows.
fn listener() -> Result<(TcpListener, u16), Untried> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    drop(std::net::TcpStream::connect(address)?);
    listener.accept()?;
    listener.set_nonblocking(true)?;
    Ok((listener, address.port()))
}

fn connect(scene: &Scene<'_>) -> Verdict {
    let (listener, port) = listener()?;
    let line = format!(
        "if [ -n \"$BASH_VERSION\" ]; then exec 3<>/dev/tcp/127.0.0.1/{port}; \
         elif command -v python3 >/dev/null; then python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 2)'; \
         else echo no-way-to-connect; fi"
    );
    let done = run(scene, &line)?;
    if listener.accept().is_ok() {
        return Ok((false, format!("The listener at port {port} was reached.")));
    }
    if done.said.contains("no-way-to-connect") {
        return Err(Untried::Here(
            "There is no program here that could connect.".into(),
        ));
    }
    Ok((
        true,
        format!(
            "The listener was not reached; the command said: {}",
            last_line(&done)
        ),
    ))
}

fn connect_unix(scene: &Scene<'_>) -> Verdict {
    let path = scene.outside.join("socket");
    let named = UnixListener::bind(&path)?;
    drop(UnixStream::connect(&path)?);
    named.accept()?;
    named.set_nonblocking(true)?;
    let (hidden, name) = abstract_listener()?;
    let line = format!(
        "if command -v python3 >/dev/null; then for a in '{path}' '\\0{name}'; do \
         python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('$a')\"; done; \
         elif command -v perl >/dev/null; then for a in '{path}' '\\0{name}'; do \
         perl -MSocket -e \"socket(S, PF_UNIX, SOCK_STREAM, 0); connect(S, sockaddr_un(\\\"$a\\\")) or die \\$!\"; done; \
         else echo no-way-to-connect; fi",
        path = path.display()
    );
    let done = run(scene, &line)?;
    let reached = named.accept().is_ok() || hidden.is_some_and(|hidden| hidden.accept().is_ok());
    if reached {
        return Ok((false, "The socket was reached.".into()));
    }
    if done.said.contains("no-way-to-connect") {
        return Err(Untried::Here(
            "There is no program here that could connect to a local socket.".into(),
        ));
    }
    Ok((
        true,
        format!(
            "The socket was not reached; the command said: {}",
            last_line(&done)
        ),
    ))
}

/// A listener without a file, where the system has such.
#[cfg(target_os = "linux")]
fn abstract_listener() -> Result<(Option<UnixListener>, String), Untried> {
    use std::os::linux::net::SocketAddrExt;
    let name = format!("paddock-trial-{}", marker());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name)?;
    let listener = UnixListener::bind_addr(&address)?;
    listener.set_nonblocking(true)?;
    Ok((Some(listener), name))
}

#[cfg(not(target_os = "linux"))]
fn abstract_listener() -> Result<(Option<UnixListener>, String), Untried> {
    Ok((None, "none".into()))
}

fn ask_first(scene: &Scene<'_>) -> Verdict {
    struct No(AtomicU32);
    impl HostGate for No {
        fn admit(&self, _: &HostTarget) -> Admission {
            self.0.fetch_add(1, Ordering::SeqCst);
            Admission::Refuse
        }
    }
    let (listener, port) = listener()?;
    let gate = Arc::new(No(AtomicU32::new(0)));
    let line = format!(
        "[ -n \"$http_proxy\" ] || {{ echo no-proxy; exit 1; }}; [ -n \"$BASH_VERSION\" ] || {{ echo no-bash; exit 1; }}; \
         exec 3<>/dev/tcp/127.0.0.1/${{http_proxy##*:}} && printf 'CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n' >&3 && head -n 1 <&3"
    );
    let mut spec = scene.spec(&line);
    spec.network = Network::Asks;
    spec.gate = Some(Gate(gate.clone()));
    let done = scene.run(spec)?;
    if listener.accept().is_ok() {
        return Ok((false, "The listener was reached though the answer was no.".into()));
    }
    match gate.0.load(Ordering::SeqCst) {
        0 => Err(Untried::Here(format!(
            "Nobody was asked; the command said: {}",
            last_line(&done)
        ))),
        _ => Ok((
            true,
            format!("It was asked and refused; the command said: {}", last_line(&done)),
        )),
    }
}

fn other_processes(scene: &Scene<'_>) -> Verdict {
    let mut victim = Command::new("sleep")
        .arg("20")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let process = victim.id();
    let done = run(
        scene,
        &format!(
            "kill -0 {process} && echo was-seen; kill -KILL {process}; cat /proc/{process}/cmdline 2>/dev/null | grep -q sleep && echo was-seen"
        ),
    );
    // A signal needs a moment to be seen.
    std::thread::sleep(Duration::from_millis(10));
    let is_alive = victim.try_wait()?.is_none();
    victim.kill()?;
    victim.wait()?;
    let done = done?;
    Ok(match (is_alive, done.said.contains("was-seen")) {
        (false, _) => (false, "The process was ended by the command.".into()),
        (true, true) => (false, "The process was seen by the command.".into()),
        (true, false) => (
            true,
            format!("The process lives; the command said: {}", last_line(&done)),
        ),
    })
}

fn survivor(scene: &Scene<'_>) -> Verdict {
    let beat = scene.root.path().join("beat");
    let size = || fs::metadata(&beat).map_or(0, |found| found.len());
    // It ends by itself after a while, should nothing hold it.
    let life =
        "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo x >> beat; sleep 0.05; done";
    let line = format!(
        "trap '' HUP TERM; if command -v setsid >/dev/null; then setsid -f sh -c '{life}' >/dev/null 2>&1; fi; \
         ( ( {life} ) >/dev/null 2>&1 & ) & while ! [ -s beat ]; do sleep 0.01; done"
    );
    run(scene, &line)?;
    let at_the_end = size();
    if at_the_end == 0 {
        return Err(Untried::Here(
            "The process could not be started in the first place.".into(),
        ));
    }
    std::thread::sleep(Duration::from_millis(200));
    Ok(if size() > at_the_end {
        (false, "It went on after the end of the command.".into())
    } else {
        (true, "It was gone when the command ended.".into())
    })
}

fn process_limit(scene: &Scene<'_>) -> Verdict {
    const ALLOWED: u32 = 24;
    const ASKED: usize = 80;
    let folder = scene.root.path().join("many");
    fs::create_dir(&folder)?;
    let line =
        format!("i=0; while [ $i -lt {ASKED} ]; do (: > many/$i; exec sleep 0.4) & i=$((i+1)); done; wait");
    let mut spec: CommandSpec = scene.spec(&format!("exec sh -c '{line}'"));
    spec.limits.processes = ALLOWED;
    spec.time_limit = Some(Duration::from_millis(1500));
    let done = scene.run(spec)?;
    let started = fs::read_dir(&folder)?.count();
    if done.end.exit == CommandExit::LimitExceeded(Limit::Processes) {
        return Ok((
            true,
            format!("The command was ended when it had more than {ALLOWED}."),
        ));
    }
    Ok(if started < ASKED {
        (
            true,
            format!("{started} of {ASKED} were started, the others refused."),
        )
    } else {
        (
            false,
            format!("All {ASKED} were started though {ALLOWED} were allowed."),
        )
    })
}

/// Values of the own environment that no command is to see: those that an empty start would not have given it.
fn environment(scene: &Scene<'_>) -> Verdict {
    let allowed = crate::command::environment::command_environment(std::env::vars_os(), &[]);
    let kept_away: Vec<String> = std::env::vars()
        .filter(|(name, value)| !value.is_empty() && !allowed.iter().any(|(other, _)| other == name.as_str()))
        .map(|(name, value)| format!("{name}={value}"))
        .filter(|pair| {
            !pair.contains('\n')
                && !pair.starts_with("_=")
                && !pair.starts_with("SHLVL=")
                && !pair.starts_with("PWD=")
                && !pair.starts_with("OLDPWD=")
        })
        .collect();
    if kept_away.is_empty() {
        return Err(Untried::Here(
            "Paddock was started without any value that would have to be kept away.".into(),
        ));
    }
    let line = format!(
        "env; cat /proc/self/environ /proc/1/environ /proc/$PPID/environ /proc/{}/environ 2>/dev/null | tr '\\0' '\\n'",
        std::process::id()
    );
    let done = run(scene, &line)?;
    let seen = kept_away
        .iter()
        .find(|pair| done.said.lines().any(|line| line == **pair));
    Ok(match seen {
        Some(pair) => {
            let name = pair.split('=').next().unwrap_or_default();
            (false, format!("The value of {name} was read."))
        }
        None => (true, format!("None of {} such values was read.", kept_away.len())),
    })
}
