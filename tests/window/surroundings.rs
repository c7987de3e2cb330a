//! The daemons around the app are real: what the keyring and notification packages say is checked from outside.

use std::time::Duration;

use anyhow::{Context as _, Result};
use notify_rust::{Notification, NotificationResponse};
use paddock_tests::desktop::ask;

#[test]
fn a_secret_is_in_the_keyring_and_can_be_taken_out() -> Result<()> {
    let service = "paddock-window-test";
    let entry = keyring::Entry::new(service, "round-trip")?;
    entry.set_password("s3cret é 日本")?;
    assert_eq!(
        ask(
            "secret-tool",
            &["lookup", "service", service, "username", "round-trip"]
        )?,
        "s3cret é 日本"
    );
    assert_eq!(entry.get_password()?, "s3cret é 日本");
    entry.delete_credential()?;
    assert!(
        ask(
            "secret-tool",
            &["lookup", "service", service, "username", "round-trip"]
        )
        .is_err()
    );
    Ok(())
}

#[test]
fn a_notification_is_shown_and_its_action_comes_back() -> Result<()> {
    let shown = Notification::new()
        .appname("Paddock")
        .summary("Paddock window test")
        .body("waits for a decision")
        .action("default", "Open")
        .timeout(Duration::from_secs(30))
        .show()?;
    let (send, receive) = std::sync::mpsc::channel();
    // Waiting blocks and would never end if the daemon died, so it has a thread of its own.
    std::thread::spawn(move || {
        shown.wait_for_response(|response: &NotificationResponse| {
            let _ = send.send(format!("{response:?}"));
        })
    });
    assert_eq!(ask("dunstctl", &["count", "displayed"])?, "1");
    ask("dunstctl", &["action"])?;
    let response = receive
        .recv_timeout(Duration::from_secs(5))
        .context("no action came back")?;
    assert_eq!(response, "Default");
    Ok(())
}
