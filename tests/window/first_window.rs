//! The window opens, its page talks to the core, and its walls hold.

use anyhow::Result;
use paddock_tests::desktop::Desktop;
use serde_json::json;

#[tokio::test]
async fn the_window_opens_and_the_core_answers_the_page() -> Result<()> {
    let desktop = Desktop::open(&[]).await?;
    desktop.page.text_when("#app", |text| !text.is_empty()).await?;
    assert_eq!(
        desktop.page.execute("return document.title", &[]).await?,
        "Paddock"
    );
    let about = desktop.page.execute_later(
        "window.__TAURI_INTERNALS__.invoke('request', { request: { request: 'about' } }).then(arguments[0])",
        &[],
    );
    let about = about.await?;
    assert_eq!(about["about"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(about["about"]["sandbox"]["confined"], true, "{about}");
    desktop.picture("first-window").await?;
    desktop.page.close().await
}

#[tokio::test]
async fn the_page_cannot_run_text_as_code_or_reach_another_origin() -> Result<()> {
    let desktop = Desktop::open(&[]).await?;
    desktop.page.text_when("#app", |text| !text.is_empty()).await?;
    let script = "
        const refused = [];
        addEventListener('securitypolicyviolation', (event) => refused.push(event.effectiveDirective));
        document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.broken = 1' }));
        const done = arguments[0];
        const report = () => done({ refused: refused.join(' '), broken: window.broken ?? null });
        fetch('https://example.invalid/').catch(() => 0).then(() => setTimeout(report, 50));";
    let seen = desktop.page.execute_later(script, &[]).await?;
    assert_eq!(seen["broken"], json!(null));
    let refused = seen["refused"].as_str().unwrap();
    assert!(
        refused.contains("script-src") && refused.contains("connect-src"),
        "{refused}"
    );
    desktop.page.close().await
}

#[tokio::test]
async fn a_program_started_for_the_demo_begins_there() -> Result<()> {
    let desktop = Desktop::open(&["--demo"]).await?;
    desktop.page.find("[data-testid=composer-input]").await?;
    desktop.picture("started-for-the-demo").await?;
    assert_eq!(desktop.page.count("[data-testid=start-demo]").await?, 0);
    desktop.page.close().await
}
