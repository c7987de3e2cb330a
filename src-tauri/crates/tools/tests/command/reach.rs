//! What a command may reach beyond the project: exactly what was granted, and what it missed is named so that it can be.

use crate::project;
use crate::support::Project;
use paddock_protocol::*;
use paddock_sandbox::{Admission, Gate, HostGate, HostTarget, PathGrant};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

pub async fn all() {
    a_place_outside_is_refused_named_and_granted().await;
    println!("a_place_outside_is_refused_named_and_granted ... ok");
    what_nobody_may_allow_is_not_named().await;
    println!("what_nobody_may_allow_is_not_named ... ok");
    each_host_is_asked_for().await;
    println!("each_host_is_asked_for ... ok");
}

/// The refused places as grants for another run.
fn grants(refused: &[Access]) -> Vec<PathGrant> {
    let places = refused.iter().filter_map(|access| match access {
        Access::Outside { path, write, .. } => Some(PathGrant {
            path: path.into(),
            writable: *write,
        }),
        _ => None,
    });
    places.collect()
}

async fn a_place_outside_is_refused_named_and_granted() {
    let mut project = project();
    let file = project.outside().join("notes.txt");
    std::fs::write(&file, "of the person\n").unwrap();
    let real = file.canonicalize().unwrap().to_str().unwrap().to_owned();
    let read = json!({"command": format!("cat '{}'", file.display())});
    let refused = project.run("run_command", read.clone()).await.unwrap();
    let access = Access::Outside {
        path: real.clone(),
        write: false,
        through: None,
    };
    assert_eq!(
        (refused.ok, refused.refused.as_slice()),
        (false, &[access][..]),
        "{}",
        refused.text
    );
    project.cx.outside = grants(&refused.refused);
    let output = project.run("run_command", read).await.unwrap();
    assert_eq!(
        (output.text.as_str(), output.refused.len()),
        ("of the person\n[exit code 0]\n", 0)
    );
    let write = json!({"command": format!("echo more >> '{}'", file.display())});
    let refused = project.run("run_command", write.clone()).await.unwrap();
    assert_eq!(
        refused.refused,
        [Access::Outside {
            path: real,
            write: true,
            through: None
        }],
        "{}",
        refused.text
    );
    project.cx.outside = grants(&refused.refused);
    project.cx.read_only = true;
    assert!(
        !project.run("run_command", write.clone()).await.unwrap().ok,
        "nothing is changed in this role"
    );
    project.cx.read_only = false;
    let written = project.run("run_command", write).await.unwrap();
    assert!(written.ok, "{}", written.text);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "of the person\nmore\n");
}

async fn what_nobody_may_allow_is_not_named() {
    let project = project();
    let command = json!({"command": "cat /etc/shadow; cat /etc/ssh/ssh_host_rsa_key; ls /root/.ssh"});
    let output = project.run("run_command", command).await.unwrap();
    assert!(!output.ok && output.refused.is_empty(), "{:?}", output.refused);
}

struct Asked {
    answer: Admission,
    hosts: Mutex<Vec<String>>,
}

impl HostGate for Asked {
    fn admit(&self, target: &HostTarget) -> Admission {
        self.hosts.lock().unwrap().push(target.host.clone());
        self.answer
    }
}

fn with_gate(answer: Admission) -> (Project, Arc<Asked>) {
    let mut project = project();
    let asked = Arc::new(Asked {
        answer,
        hosts: Mutex::default(),
    });
    project.cx.sandbox.network = NetworkLevel::Asks;
    project.cx.gate = Some(Gate(asked.clone()));
    (project, asked)
}

async fn each_host_is_asked_for() {
    // An address that no command has for itself.
    let listener = TcpListener::bind("127.0.0.2:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = [0; 2048];
            let _: std::io::Result<usize> = stream.read(&mut head);
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nserved";
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    let fetch = json!({"command": format!("curl -sS -m 10 http://127.0.0.2:{port}/")});
    let (project, asked) = with_gate(Admission::Allow);
    let output = project.run("run_command", fetch.clone()).await.unwrap();
    assert!(output.ok && output.text.starts_with("served"), "{}", output.text);
    assert_eq!(*asked.hosts.lock().unwrap(), ["127.0.0.2"]);
    let (mut project, asked) = with_gate(Admission::Refuse);
    let refused = json!({"command": format!("curl -sSf -m 10 http://127.0.0.2:{port}/")});
    let refused = project.run("run_command", refused).await.unwrap();
    assert_eq!(
        refused.refused,
        [Access::Network {
            host: "127.0.0.2".into()
        }],
        "{}",
        refused.text
    );
    assert_eq!(asked.hosts.lock().unwrap().len(), 1);
    // Without a gate, or where the network is off, nobody is asked and nothing is reached.
    project.cx.gate = None;
    assert!(!project.run("run_command", fetch.clone()).await.unwrap().ok);
    let (mut project, asked) = with_gate(Admission::Allow);
    project.cx.sandbox.network = NetworkLevel::Off;
    assert!(!project.run("run_command", fetch).await.unwrap().ok);
    assert!(asked.hosts.lock().unwrap().is_empty());
}
