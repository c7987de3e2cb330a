//! A key typed into the settings goes into the system's keyring, is found there by the next start, and is nowhere on disk.

use std::fs;
use std::path::Path;

use anyhow::Result;
use paddock_tests::desktop::{Desktop, ask};
use paddock_tests::model_server::{ModelServer, calls, status};
use paddock_tests::sessions::{Bed, Ran};
use serde_json::json;

const KEY: &str = "sk-window-7f3a9c51d2e84b60-wxyz";
const FIELD: &str = "input[type=password]";

/// A model that calls the tool of the self-test as often as it is asked to.
fn model_server() -> std::io::Result<ModelServer> {
    let sum = |id, a, b| (id, "add_numbers", json!({ "a": a, "b": b }));
    ModelServer::start(move |_, request| {
        let messages = request.messages();
        let wanted = messages.iter().find(|message| message["role"] == "user");
        match wanted.and_then(|message| message["content"].as_str()) {
            None => status("404 Not Found", "", ""),
            Some(text) if text.contains("8 + 4") => calls(&[sum("one", 17, 25), sum("two", 8, 4)]),
            Some(_) => calls(&[sum("one", 17, 25)]),
        }
    })
}

/// To Settings → Models by the key that opens the settings.
async fn open_models(desktop: &Desktop) -> Result<()> {
    let open = "dispatchEvent(new KeyboardEvent('keydown', { key: ',', ctrlKey: true, bubbles: true }))";
    desktop.page.find("[data-testid=choose-model]").await?;
    desktop.page.execute(open, &[]).await?;
    desktop.page.click(".settings nav button:nth-of-type(2)").await
}

/// The files below a folder that hold a text.
fn files_with(folder: &Path, text: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(files_with(&path, text)?);
        } else if path.is_file() {
            let bytes = fs::read(&path)?;
            if bytes.windows(text.len()).any(|part| part == text.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
    Ok(found)
}

#[tokio::test]
async fn a_key_goes_to_the_keyring_and_nowhere_else() -> Result<()> {
    let server = model_server()?;
    let desktop = Desktop::open(&[]).await?;
    let page = &desktop.page;
    open_models(&desktop).await?;
    page.click("[data-testid=add-server]").await?;
    page.click("[data-testid=preset-own]").await?;
    page.fill("[data-testid=server-name]", "Own server").await?;
    page.fill("form input[placeholder]:not([data-testid])", &server.url())
        .await?;
    page.click("[data-testid=needs-key]").await?;
    page.fill(FIELD, KEY).await?;
    page.fill("[data-testid=model-name]", "small").await?;
    page.click("[data-testid=check-model]").await?;
    let works = |text: &str| text.contains("It answers") && text.contains("its own tool calls");
    page.text_when("form .result", works).await?;
    page.text_when("main", |text| text.contains("in the keyring, ends with wxyz"))
        .await?;
    let show = "document.querySelector(arguments[0]).scrollIntoView({ block: 'nearest' })";
    page.execute(show, &[json!("form .result")]).await?;
    desktop.picture("model-tested").await?;
    page.execute(show, &[json!("main li")]).await?;
    desktop.picture("key-in-the-keyring").await?;
    let asked = server.received();
    assert!(!asked.is_empty(), "the model was not asked");
    for request in asked {
        let head = request.head.to_lowercase();
        assert!(head.contains(&format!("authorization: bearer {KEY}")), "{head}");
    }
    assert_eq!(
        ask(
            "secret-tool",
            &["lookup", "service", "dev.paddock", "username", "server"]
        )?,
        KEY
    );

    // The page has forgotten it, and so has the disk.
    let shown = page.execute("return document.documentElement.outerHTML + [...document.querySelectorAll('input')].map((field) => field.value).join(' ')", &[]);
    assert!(!shown.await?.as_str().unwrap_or_default().contains(KEY));
    assert_eq!(files_with(desktop.home(), KEY)?, [""; 0]);

    // A program that starts anew finds it in the keyring.
    let home = desktop.close().await?;
    let desktop = Desktop::open_in(home, &[]).await?;
    open_models(&desktop).await?;
    let page = &desktop.page;
    page.text_when("main", |text| text.contains("key in the keyring, ends with wxyz"))
        .await?;
    assert_eq!(files_with(desktop.home(), KEY)?, [""; 0]);
    desktop.page.close().await
}

#[test]
fn the_password_of_a_proxy_moves_out_of_an_old_settings_file_into_the_keyring() -> Result<()> {
    const PAIR: &str = "anna:geheim-9d2c71";
    // base64 of the pair
    const SIGNED: &str = "proxy-authorization: basic yw5uytpnzwhlaw0towqyyzcx";
    let proxy =
        ModelServer::start(|_, _| status("200 OK", "content-type: application/json\r\n", r#"{"data":[]}"#))?;
    let address = proxy
        .url()
        .replace("/v1", "")
        .replace("http://", &format!("http://{PAIR}@"));
    let bed = Bed::new()?;
    let settings = json!({
        "providers": [{ "id": "far", "kind": "chat", "label": "Far", "base_url": "http://model.test/v1", "needs_key": false }],
        "network": { "proxy": { "proxy": "own", "address": address, "except": "" } },
    });
    fs::create_dir_all(bed.path("home"))?;
    fs::write(bed.path("home/settings.json"), settings.to_string())?;
    for _ in 0..2 {
        Ran::of(bed.command(&["models"])?.output()?).exits(0);
        assert!(bed.files_with("geheim-9d2c71")?.is_empty());
    }
    let heads: Vec<String> = proxy
        .received()
        .iter()
        .map(|request| request.head.to_lowercase())
        .collect();
    assert_eq!(heads.len(), 2);
    assert!(heads.iter().all(|head| head.contains(SIGNED)), "{heads:?}");
    let kept = ask(
        "secret-tool",
        &["lookup", "service", "dev.paddock", "username", "network:proxy"],
    )?;
    assert_eq!(kept, PAIR);
    ask(
        "secret-tool",
        &["clear", "service", "dev.paddock", "username", "network:proxy"],
    )?;
    Ok(())
}
