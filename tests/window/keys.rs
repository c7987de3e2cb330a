//! A key typed into the settings goes into the system's keyring, is found there by the next start, and is nowhere on disk.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::mpsc;

use anyhow::{Context as _, Result};
use paddock_tests::desktop::{Desktop, ask};

const KEY: &str = "sk-window-7f3a9c51d2e84b60-wxyz";
const FIELD: &str = "input[type=password]";

/// A model server for one answer: says "ok", and sends what it was asked.
fn model_server() -> Result<(u16, mpsc::Receiver<String>)> {
    const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n\
        data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"ok\"},\"finish_reason\":null}]}\n\n\
        data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    let (send, asked) = mpsc::channel();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let Ok(mut connection) = connection else { break };
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && connection.read(&mut byte).is_ok_and(|read| read == 1) {
                head.push(byte[0]);
            }
            let _ = send.send(String::from_utf8_lossy(&head).into_owned());
            let _ = connection.write_all(ANSWER.as_bytes());
        }
    });
    Ok((port, asked))
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
    let (port, asked) = model_server()?;
    let desktop = Desktop::open(&[]).await?;
    let page = &desktop.page;
    open_models(&desktop).await?;
    page.click("main > button").await?;
    let fields = "form input:not([type=radio]):not([type=password]):not([data-testid])";
    page.fill(
        &format!("{fields}[placeholder]"),
        &format!("http://127.0.0.1:{port}/v1"),
    )
    .await?;
    page.fill(FIELD, KEY).await?;
    page.fill("[data-testid=model-name]", "small").await?;
    page.click("[data-testid=check-model]").await?;
    page.text_when("form .result", |text| text.contains("It answers"))
        .await?;
    page.text_when("main", |text| text.contains("in the keyring, ends with wxyz"))
        .await?;
    desktop.picture("key-in-the-keyring").await?;
    let request = asked.recv().context("the model was not asked")?.to_lowercase();
    assert!(
        request.contains(&format!("authorization: bearer {KEY}")),
        "{request}"
    );
    assert_eq!(
        ask(
            "secret-tool",
            &["lookup", "service", "dev.paddock", "username", "cloud"]
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
