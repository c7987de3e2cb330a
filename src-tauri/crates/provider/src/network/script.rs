//! Whether the desktop of this system chooses proxies by a script. Such a script is not run; whoever tests the way is told that there
//! is one. Windows keeps it where its other settings are (`system`).

use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// For the answer of the system's own program.
const PATIENCE: Duration = Duration::from_secs(2);

/// The program that tells the settings of the desktop.
const TELLS: &[&str] = if cfg!(target_os = "macos") {
    &["/usr/sbin/scutil", "--proxy"]
} else if cfg!(target_os = "linux") {
    &["gsettings", "get", "org.gnome.system.proxy", "mode"]
} else {
    &[]
};

/// Asks the system; no when it does not say.
pub(crate) async fn is_set() -> bool {
    let Some((program, arguments)) = TELLS.split_first() else {
        return false;
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    match tokio::time::timeout(PATIENCE, command.output()).await {
        Ok(Ok(output)) => names_script(&String::from_utf8_lossy(&output.stdout)),
        Ok(Err(_)) | Err(_) => false,
    }
}

fn names_script(said: &str) -> bool {
    said.lines().any(|line| {
        let line: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        ["ProxyAutoConfigEnable:1", "ProxyAutoDiscoveryEnable:1", "'auto'"].contains(&line.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_systems_are_understood() {
        for (said, script) in [
            (
                "<dictionary> {\n  ProxyAutoConfigEnable : 1\n  ProxyAutoConfigURLString : http://wpad/x.pac\n}",
                true,
            ),
            ("<dictionary> {\n  ProxyAutoDiscoveryEnable : 1\n}", true),
            (
                "<dictionary> {\n  ProxyAutoConfigEnable : 0\n  HTTPEnable : 1\n}",
                false,
            ),
            ("'auto'\n", true),
            ("'none'\n", false),
            ("", false),
        ] {
            assert_eq!(names_script(said), script, "{said}");
        }
    }
}
