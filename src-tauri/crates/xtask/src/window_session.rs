//! The surroundings of the real window, for its tests and benchmarks: a virtual display, a session bus, a real keyring and a real notification
//! daemon, all in fresh folders, so that no test meets the person's own desktop.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::{bench, process, test, workspace};

/// The size of the virtual screen.
const SCREEN: &str = "-screen 0 1280x900x24";

/// What dunst does when a test asks for a notification's menu: it takes the line the test has written down.
const MENU: &str = "#!/bin/sh\nexec grep -m1 -F -f \"$XDG_RUNTIME_DIR/notification-choice\"\n";

/// What is done inside.
pub const TEST: &str = "test";
pub const BENCH: &str = "bench";

/// The command that starts this program again inside a display and a session bus of its own, to do this there.
pub fn outside(job: &str) -> Result<Command> {
    let mut command = Command::new("dbus-run-session");
    command
        .args(["--", "xvfb-run", "-a", "-s", SCREEN])
        .arg(std::env::current_exe()?)
        .args(["window-session", job]);
    command.current_dir(workspace::root());
    // A session bus or display of the person's own must not be reachable from inside.
    for name in ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"] {
        command.env_remove(name);
    }
    Ok(command)
}

/// Starts the daemons, does the job, and ends the daemons.
pub fn inside(job: &str, filter: &[&str]) -> Result<()> {
    let home = workspace::target()?.join(format!("xtask/window-{}", std::process::id()));
    for name in ["runtime", "data", "config", "cache"] {
        fs::create_dir_all(home.join(name))?;
    }
    let result = with_daemons(&home, job, filter);
    let _ = fs::remove_dir_all(&home);
    result
}

fn with_daemons(home: &Path, job: &str, filter: &[&str]) -> Result<()> {
    let runtime = home.join("runtime");
    owner_only(&runtime)?;
    let variables = [
        ("XDG_RUNTIME_DIR", runtime.clone()),
        ("XDG_DATA_HOME", home.join("data")),
        ("XDG_CONFIG_HOME", home.join("config")),
        ("XDG_CACHE_HOME", home.join("cache")),
    ];
    let _keyring = start_keyring(&variables)?;
    let _dunst = start_dunst(&runtime, &variables)?;
    match job {
        TEST => test::window_tests(filter, &variables),
        BENCH => bench::in_window(filter, &variables),
        other => bail!("`{other}` is nothing to do in a window"),
    }
}

fn start_keyring(variables: &[(&str, PathBuf)]) -> Result<Daemon> {
    let mut child = Command::new("gnome-keyring-daemon")
        .args(["--unlock", "--components=secrets", "--foreground"])
        .envs(variables.iter().cloned())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("gnome-keyring-daemon does not start")?;
    if let Some(mut stdin) = child.stdin.take() {
        use std::io::Write as _;
        stdin.write_all(b"test")?;
    }
    let daemon = Daemon(child);
    wait_for("org.freedesktop.secrets")?;
    Ok(daemon)
}

fn start_dunst(runtime: &Path, variables: &[(&str, PathBuf)]) -> Result<Daemon> {
    let menu = runtime.join("menu");
    fs::write(&menu, MENU)?;
    process::read(Command::new("chmod").arg("700").arg(&menu))?;
    let settings = runtime.join("dunstrc");
    fs::write(
        &settings,
        format!(
            "[global]\n    dmenu = {}\n    idle_threshold = 0\n",
            menu.display()
        ),
    )?;
    let child = Command::new("dunst")
        .arg("-config")
        .arg(&settings)
        .envs(variables.iter().cloned())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("dunst does not start")?;
    let daemon = Daemon(child);
    wait_for("org.freedesktop.Notifications")?;
    Ok(daemon)
}

fn wait_for(name: &str) -> Result<()> {
    process::read(Command::new("gdbus").args(["wait", "--session", "--timeout", "5", name]))
        .with_context(|| format!("{name} did not appear on the session bus"))
        .map(|_| ())
}

fn owner_only(folder: &Path) -> Result<()> {
    process::read(Command::new("chmod").arg("700").arg(folder)).map(|_| ())
}

/// A daemon that ends when this is dropped.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
