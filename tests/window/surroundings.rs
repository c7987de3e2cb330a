//! The notification daemon around the app is real: what is shown is checked from outside. The real keyring has its test in
//! the store, which runs in the same session.

use std::time::Duration;

use anyhow::{Context as _, Result};
use notify_rust::{Notification, NotificationResponse};
use paddock_tests::desktop::ask;

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
