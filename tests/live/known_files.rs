//! A model replaces a file whole only when it knows what is in it.

use crate::bed::Bed;
use paddock_core::SessionWish;
use paddock_protocol::*;
use paddock_tests::model_server::{ModelServer, calls, text};
use serde_json::json;

#[tokio::test]
async fn a_file_is_read_before_it_is_replaced() {
    let write = || calls(&[("c1", "write_file", json!({ "path": "a.txt", "content": "new" }))]);
    let read = calls(&[("c2", "read_file", json!({ "path": "./a.txt" }))]);
    let server = ModelServer::scripted(vec![write(), read, write(), text("Done.")]).unwrap();
    let bed = Bed::new(&[("main", &server)]);
    bed.put("a.txt", "forty-two");
    let mut work = bed.session(SessionWish::default()).await;
    work.say("Make a.txt new.").await;
    let refused = work
        .call("the first attempt", |item, call| {
            item.status == ItemStatus::Failed && call.tool == "write_file"
        })
        .await;
    let said = refused.output.unwrap().text;
    assert!(
        said.contains("you have not read it; nothing was written"),
        "{said}"
    );
    work.approve().await;
    work.status(TurnStatus::Completed).await;
    assert_eq!(bed.read("a.txt"), "new");
}

#[tokio::test]
async fn what_a_model_wrote_itself_it_knows() {
    let write = |content| calls(&[("c1", "write_file", json!({ "path": "a.txt", "content": content }))]);
    let server = ModelServer::scripted(vec![write("one"), write("two"), text("Done.")]).unwrap();
    let bed = Bed::new(&[("main", &server)]);
    let mut work = bed.session(SessionWish::default()).await;
    work.say("Make a.txt.").await;
    work.approve().await;
    work.approve().await;
    work.status(TurnStatus::Completed).await;
    assert_eq!(bed.read("a.txt"), "two");
}
