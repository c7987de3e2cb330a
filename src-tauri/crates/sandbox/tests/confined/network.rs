//! A command's network: nothing without a gate, and with one exactly what the gate lets through. The servers are outside, on
//! an address of the own loopback that no program leaves to itself as its own.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use paddock_sandbox::{AddressReach, Admission, Blocked, CommandSpec, Gate, HostGate, HostTarget, Network};

use crate::bed::{Bed, Case, Outcome, needs};

pub const CASES: &[Case] = &[
    ("network_curl_through_the_gate", curl),
    ("network_refused_hosts_are_told", refused),
    ("network_names_are_asked_about_first", names),
    ("network_never_addresses", never),
    ("network_without_a_gate", without_gate),
    ("network_nothing_beside_the_proxy", beside),
    ("network_socks", socks),
    ("network_one_request_for_one_answer", one_request),
    ("network_malformed_requests", malformed),
    ("network_gate_that_never_answers", slow_gate),
    ("network_git_clone", git),
    ("network_python", python),
    ("network_node", node),
    ("network_npm_registry", npm),
    ("network_pip_index", pip),
    ("network_cargo_registry", cargo),
    ("network_own_loopback_beside_the_proxy", own_loopback),
    ("network_blocked_host_is_guessed", guessed),
];

/// Answers by a rule and keeps what was asked.
pub struct Asked {
    rule: fn(&HostTarget) -> Admission,
    name_rule: fn(&str) -> Admission,
    asked: Mutex<Vec<HostTarget>>,
}

impl HostGate for Asked {
    fn admit_name(&self, host: &str, _: u16) -> Admission {
        (self.name_rule)(host)
    }

    fn admit(&self, target: &HostTarget) -> Admission {
        self.asked.lock().unwrap().push(target.clone());
        (self.rule)(target)
    }
}

fn asked(rule: fn(&HostTarget) -> Admission) -> Arc<Asked> {
    Arc::new(Asked {
        rule,
        name_rule: |_| Admission::Allow,
        asked: Mutex::default(),
    })
}

fn allow(_: &HostTarget) -> Admission {
    Admission::Allow
}

fn spec(bed: &Bed, line: &str, gate: &Arc<Asked>) -> CommandSpec {
    let mut spec = bed.spec(line);
    spec.network = Network::Asks;
    spec.gate = Some(Gate(gate.clone()));
    spec
}

fn run(bed: &Bed, line: &str, gate: &Arc<Asked>) -> Outcome {
    bed.run_spec(spec(bed, line, gate))
}

fn works(bed: &Bed, line: &str, gate: &Arc<Asked>) -> String {
    let outcome = run(bed, line, gate);
    assert!(outcome.end.exit.is_success(), "{line}: {outcome:#?}");
    outcome.stdout
}

/// Serves the files of a folder at 127.0.0.2, and keeps the heads of the requests.
struct Server {
    port: u16,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(folder: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.2:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = heads.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (folder, kept) = (folder.clone(), kept.clone());
                std::thread::spawn(move || serve(stream.unwrap(), &folder, &kept));
            }
        });
        Self { port, heads }
    }

    fn address(&self, path: &str) -> String {
        format!("http://127.0.0.2:{}/{path}", self.port)
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, folder: &std::path::Path, kept: &Mutex<Vec<String>>) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).unwrap_or(0) == 0 {
            return;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let path = head
        .split(' ')
        .nth(1)
        .unwrap()
        .split('?')
        .next()
        .unwrap()
        .to_owned();
    kept.lock().unwrap().push(head);
    let mut file = folder.join(path.trim_start_matches('/'));
    if file.is_dir() {
        file = file.join("index.html");
    }
    let (status, body) = match fs::read(file) {
        Ok(body) => ("200 OK", body),
        Err(_) => ("404 Not Found", Vec::new()),
    };
    let kind = if path.ends_with(".json") {
        "application/json"
    } else {
        "text/html"
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream
        .write_all(answer.as_bytes())
        .and_then(|()| stream.write_all(&body));
}

fn page_server(bed: &Bed) -> Server {
    fs::write(bed.outside().join("page"), "served").unwrap();
    Server::start(bed.outside())
}

fn curl(bed: &Bed) {
    let (server, gate) = (page_server(bed), asked(allow));
    let page = server.address("page?q=1");
    assert_eq!(works(bed, &format!("curl -sS {page}"), &gate), "served");
    // A tunnel.
    assert_eq!(works(bed, &format!("curl -sS -p {page}"), &gate), "served");
    let targets = gate.asked.lock().unwrap().clone();
    assert_eq!(targets[0].first_line.as_deref(), Some(&*format!("GET {page}")));
    assert_eq!(targets[1].first_line, None);
    for target in &targets {
        assert_eq!(
            (&*target.host, target.port, target.reach),
            ("127.0.0.2", server.port, AddressReach::Loopback)
        );
    }
    // Without the sandbox's network there is no way there.
    assert!(
        !bed.run(&format!("curl -sS --noproxy '*' {page}"))
            .end
            .exit
            .is_success()
    );
    assert_eq!(server.heads().len(), 2);
}

fn refused(bed: &Bed) {
    let server = page_server(bed);
    let gate = asked(|_| Admission::Refuse);
    let page = server.address("page");
    let outcome = run(bed, &format!("curl -sS {page}; curl -sSf {page}"), &gate);
    assert!(!outcome.end.exit.is_success());
    assert!(
        outcome.stdout.contains("127.0.0.2"),
        "the answer names the host: {outcome:#?}"
    );
    assert_eq!(outcome.stdout.lines().count(), 1);
    let blocked = Blocked::Host {
        host: "127.0.0.2".into(),
        port: server.port,
    };
    assert_eq!(outcome.end.blocked, [blocked]);
    assert!(server.heads().is_empty(), "something reached the server");
}

/// A name that nobody allowed is not even looked up; and one that is looked up comes with where it leads.
fn names(bed: &Bed) {
    let server = page_server(bed);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let folder = bed.outside();
    std::thread::spawn(move || serve(listener.accept().unwrap().0, &folder, &Mutex::default()));
    let gate = Arc::new(Asked {
        rule: allow,
        name_rule: |host| {
            if host == "localhost" {
                Admission::Allow
            } else {
                Admission::Refuse
            }
        },
        asked: Mutex::default(),
    });
    let proxied = "curl -sS --noproxy '' -x $http_proxy";
    assert_eq!(
        works(bed, &format!("{proxied} http://LOCALHOST.:{port}/page"), &gate),
        "served"
    );
    let targets = gate.asked.lock().unwrap().clone();
    assert_eq!(
        (&*targets[0].host, targets[0].reach),
        ("localhost", AddressReach::Loopback)
    );
    let outcome = run(bed, "curl -sS http://what-is-read.example.invalid/", &gate);
    assert_eq!(
        outcome.end.blocked,
        [Blocked::Host {
            host: "what-is-read.example.invalid".into(),
            port: 80
        }]
    );
    assert_eq!(gate.asked.lock().unwrap().len(), 1);
    assert_eq!(server.heads().len(), 0);
}

fn never(bed: &Bed) {
    let gate = asked(allow);
    for host in [
        "169.254.169.254",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "[::ffff:169.254.169.254]",
        "[64:ff9b::a9fe:a9fe]",
        "0.0.0.0",
        "[::]",
        "224.0.0.1",
        "255.255.255.255",
        "100.100.100.200",
    ] {
        let printed = run(
            bed,
            &format!("curl -sS -g -m 5 'http://{host}/latest/meta-data'"),
            &gate,
        )
        .stdout;
        assert!(printed.contains("no command may reach"), "{host}: {printed}");
    }
    // Other spellings of an address are no name either.
    let line = "for h in 2130706433 0x7f.1 127.1 0177.0.0.1 a..b '[::1%25lo]'; do \
        printf 'GET http://%s/ HTTP/1.1\\r\\n\\r\\n' \"$h\" | python3 -c \"import os,socket,sys; \
        s=socket.create_connection(('127.0.0.1', int(os.environ['http_proxy'].rsplit(':',1)[1]))); \
        s.sendall(sys.stdin.buffer.read()); print(s.recv(100).split()[1].decode())\"; done";
    assert_eq!(
        works(bed, line, &gate).split_whitespace().collect::<Vec<_>>(),
        ["400"; 6]
    );
    assert!(
        gate.asked.lock().unwrap().is_empty(),
        "nobody is asked about these"
    );
}

fn without_gate(bed: &Bed) {
    let server = page_server(bed);
    let mut spec = bed.spec(&format!("curl -sS {}", server.address("page")));
    spec.network = Network::Asks;
    let outcome = bed.run_spec(spec);
    assert!(outcome.stdout.contains("not allowed"), "{outcome:#?}");
    assert_eq!(outcome.end.blocked.len(), 1);
    assert!(server.heads().is_empty());
}

fn beside(bed: &Bed) {
    let (server, gate) = (page_server(bed), asked(allow));
    let direct = format!("curl -sS -m 5 --noproxy '*' {}", server.address("page"));
    let outcome = run(bed, &direct, &gate);
    assert!(!outcome.end.exit.is_success(), "{outcome:#?}");
    let outcome = run(
        bed,
        "python3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 80), 2)'",
        &gate,
    );
    assert!(outcome.stderr.contains("unreachable"), "{outcome:#?}");
    let outcome = run(
        bed,
        "python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b\"x\", (\"192.0.2.1\", 53))'",
        &gate,
    );
    assert!(outcome.stderr.contains("unreachable"), "{outcome:#?}");
    assert!(server.heads().is_empty() && gate.asked.lock().unwrap().is_empty());
}

fn socks(bed: &Bed) {
    let (server, gate) = (page_server(bed), asked(allow));
    for kind in ["socks5h", "socks5"] {
        let line = format!(
            "curl -sS -x {kind}://${{http_proxy#http://}} {}",
            server.address("page")
        );
        assert_eq!(works(bed, &line, &gate), "served", "{kind}");
    }
    let gate = asked(|_| Admission::Refuse);
    let line = format!(
        "curl -sS -x socks5h://${{http_proxy#http://}} {}",
        server.address("page")
    );
    let outcome = run(bed, &line, &gate);
    assert!(!outcome.end.exit.is_success());
    assert_eq!(outcome.end.blocked.len(), 1);
    assert_eq!(server.heads().len(), 2);
}

/// What is asked of the proxy in one Python program: bytes sent, bytes received.
fn raw(bed: &Bed, bytes: &str, gate: &Arc<Asked>) -> String {
    bed.put(
        "raw.py",
        &format!(
            "import os, socket\nport = int(os.environ['http_proxy'].rsplit(':', 1)[1])\n\
             s = socket.create_connection(('127.0.0.1', port)); s.settimeout(5)\n\
             try:\n    s.sendall({bytes})\n    \
             while True:\n        b = s.recv(65536)\n        if not b: break\n        print(b.decode('latin1'), end='')\n\
             except OSError as e: print('ended', e)\n"
        ),
    );
    works(bed, "python3 raw.py", gate)
}

/// A second request in the same connection never reaches another server without being asked about.
fn one_request(bed: &Bed) {
    let (server, gate) = (page_server(bed), asked(allow));
    let port = server.port;
    let second = format!(
        "b'GET http://127.0.0.2:{port}/page HTTP/1.1\\r\\nHost: evil.example\\r\\nConnection: keep-alive\\r\\nProxy-Authorization: x\\r\\n\\r\\n\
         GET http://127.0.0.3:{port}/page HTTP/1.1\\r\\n\\r\\n'"
    );
    let printed = raw(bed, &second, &gate);
    assert_eq!(printed.matches("served").count(), 1, "{printed}");
    let heads = server.heads();
    assert_eq!(heads.len(), 1);
    assert!(
        heads[0].contains(&format!("Host: 127.0.0.2:{port}\r\n")),
        "{heads:?}"
    );
    assert!(heads[0].contains("Connection: close") && !heads[0].contains("Proxy-Authorization"));
    assert_eq!(gate.asked.lock().unwrap().len(), 1);
}

fn malformed(bed: &Bed) {
    let gate = asked(allow);
    for (bytes, answer) in [
        ("b'GET / HTTP/1.1\\r\\n\\r\\n'", "400"),
        ("b'\\x16\\x03\\x01\\x02\\x00\\x01\\r\\n\\r\\n'", "400"),
        ("b'CONNECT a:b:1 HTTP/1.1\\r\\n\\r\\n'", "400"),
        ("b'GET http://x/ HTTP/1.1\\r\\nA\\r\\n\\r\\n'", "400"),
        (
            "b'GET http://x/ HTTP/1.1\\r\\nA: ' + b'x' * 100000 + b'\\r\\n\\r\\n'",
            "431",
        ),
        ("b'\\x05\\x01\\x02'", "\u{5}\u{ff}"),
        (
            "b'\\x05\\x01\\x00\\x05\\x02\\x00\\x01\\x7f\\x00\\x00\\x02\\x00\\x01'",
            "\u{5}\u{0}\u{5}\u{7}",
        ),
        (
            "b'\\x05\\x01\\x00\\x05\\x01\\x00\\x03\\x03a b\\x00\\x50'",
            "\u{5}\u{0}\u{5}\u{8}",
        ),
    ] {
        let printed = raw(bed, bytes, &gate);
        assert!(
            printed.contains(answer) || answer == "431" && printed.contains("ended"),
            "{bytes}: {printed:?}"
        );
    }
    assert!(gate.asked.lock().unwrap().is_empty());
}

/// A gate that thinks for ever holds neither the end of the command nor, later, a connection.
fn slow_gate(bed: &Bed) {
    struct Slow(Mutex<Receiver<()>>, Mutex<Sender<()>>);
    impl HostGate for Slow {
        fn admit(&self, _: &HostTarget) -> Admission {
            self.1.lock().unwrap().send(()).unwrap();
            let _ = self.0.lock().unwrap().recv();
            Admission::Allow
        }
    }
    let server = page_server(bed);
    let (answer, answers) = channel();
    let (told, asked) = channel();
    let gate = Gate::new(Slow(Mutex::new(answers), Mutex::new(told)));
    let mut spec = bed.spec(&format!("curl -sS {}", server.address("page")));
    spec.network = Network::Asks;
    spec.gate = Some(gate.clone());
    let (running, output) = bed.start(spec);
    drop(output);
    asked.recv().unwrap();
    let stopped = Instant::now();
    running.stop();
    running.wait_blocking();
    assert!(stopped.elapsed() < Duration::from_secs(1));
    answer.send(()).unwrap();
    // The thread lets go of the gate when it is done.
    let only = Arc::downgrade(&gate.0);
    drop(gate);
    assert!(crate::bed::soon(|| only.upgrade().is_none()));
    assert!(server.heads().is_empty(), "a connection was made after the end");
}

fn git(bed: &Bed) {
    let outside = bed.outside();
    let line = "git init -q work && cd work && git -c user.name=t -c user.email=t@example.invalid commit -q --allow-empty -m first && \
        cd .. && git clone -q --bare work repository.git && git -C repository.git update-server-info";
    let made = std::process::Command::new("sh")
        .args(["-c", line])
        .current_dir(&outside)
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let (server, gate) = (Server::start(outside), asked(allow));
    let line = format!(
        "git clone -q {} copy && git -C copy log --oneline | wc -l",
        server.address("repository.git")
    );
    assert_eq!(works(bed, &line, &gate).trim(), "1");
}

fn python(bed: &Bed) {
    let (server, gate) = (page_server(bed), asked(allow));
    let line = format!(
        "python3 -c 'import urllib.request as u; print(u.urlopen(\"{}\").read().decode())'",
        server.address("page")
    );
    assert_eq!(works(bed, &line, &gate), "served\n");
}

fn node(bed: &Bed) {
    if !needs("node") {
        return;
    }
    let (server, gate) = (page_server(bed), asked(allow));
    // Not every version looks at the environment by itself.
    let program = format!(
        "const http = require('http'); const proxy = new URL(process.env.HTTP_PROXY);\n\
         http.get({{ host: proxy.hostname, port: proxy.port, path: '{}' }}, r => r.on('data', d => console.log(String(d))));",
        server.address("page")
    );
    bed.put("get.js", &program);
    assert_eq!(works(bed, "node get.js", &gate), "served\n");
}

fn outside_shell(bed: &Bed, line: &str) -> String {
    let made = std::process::Command::new("bash")
        .args(["-c", line])
        .current_dir(bed.outside())
        .output()
        .unwrap();
    assert!(made.status.success(), "{line}: {made:?}");
    String::from_utf8(made.stdout).unwrap()
}

fn npm(bed: &Bed) {
    if !needs("npm") {
        return;
    }
    let server = Server::start(bed.outside());
    let package = bed.outside().join("package");
    fs::create_dir(&package).unwrap();
    fs::write(
        package.join("package.json"),
        r#"{"name":"seven","version":"1.0.0","main":"i.js"}"#,
    )
    .unwrap();
    fs::write(package.join("i.js"), "module.exports = 7;").unwrap();
    outside_shell(bed, "tar czf seven.tgz package");
    let sum = outside_shell(bed, "sha1sum seven.tgz | cut -d' ' -f1");
    let described = format!(
        r#"{{"name":"seven","dist-tags":{{"latest":"1.0.0"}},"versions":{{"1.0.0":{{"name":"seven","version":"1.0.0","main":"i.js","dist":{{"tarball":"{}","shasum":"{}"}}}}}}}}"#,
        server.address("seven.tgz"),
        sum.trim()
    );
    fs::write(bed.outside().join("seven"), described).unwrap();
    bed.put("package.json", r#"{"name":"x","version":"1.0.0"}"#);
    let line = format!(
        "npm install --no-audit --no-fund --registry {} seven >&2 && node -p \"require('seven')\"",
        server.address("")
    );
    assert_eq!(works(bed, &line, &asked(allow)).trim(), "7");
}

fn pip(bed: &Bed) {
    if !needs("pip") {
        return;
    }
    let server = Server::start(bed.outside());
    let wheel = "import zipfile\nz = zipfile.ZipFile('seven-1.0-py3-none-any.whl', 'w')\n\
        z.writestr('seven.py', 'value = 7')\nz.writestr('seven-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: seven\\nVersion: 1.0\\n')\n\
        z.writestr('seven-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n\
        z.writestr('seven-1.0.dist-info/RECORD', 'seven.py,,\\nseven-1.0.dist-info/METADATA,,\\nseven-1.0.dist-info/WHEEL,,\\nseven-1.0.dist-info/RECORD,,\\n')\nz.close()\n";
    fs::write(bed.outside().join("wheel.py"), wheel).unwrap();
    outside_shell(bed, "python3 wheel.py && mkdir -p simple/seven");
    fs::write(
        bed.outside().join("simple/seven/index.html"),
        "<a href=\"/seven-1.0-py3-none-any.whl\">seven-1.0-py3-none-any.whl</a>",
    )
    .unwrap();
    let line = format!(
        "pip install -q --disable-pip-version-check --target lib --index-url {} --trusted-host 127.0.0.2 seven >&2 && \
         PYTHONPATH=lib python3 -c 'import seven; print(seven.value)'",
        server.address("simple/")
    );
    assert_eq!(works(bed, &line, &asked(allow)).trim(), "7");
}

fn cargo(bed: &Bed) {
    if !needs("cargo") {
        return;
    }
    let server = Server::start(bed.outside());
    let made = bed.outside().join("seven-1.0.0");
    fs::create_dir_all(made.join("src")).unwrap();
    fs::write(
        made.join("Cargo.toml"),
        "[package]\nname = \"seven\"\nversion = \"1.0.0\"\nedition = \"2021\"\n",
    )
    .unwrap();
    fs::write(made.join("src/lib.rs"), "pub const VALUE: u32 = 7;").unwrap();
    outside_shell(bed, "tar czf seven.crate seven-1.0.0 && mkdir -p index/se/ve");
    let sum = outside_shell(bed, "sha256sum seven.crate | cut -d' ' -f1");
    let entry = format!(
        r#"{{"name":"seven","vers":"1.0.0","deps":[],"cksum":"{}","features":{{}},"yanked":false}}"#,
        sum.trim()
    );
    fs::write(bed.outside().join("index/se/ve/seven"), entry).unwrap();
    fs::write(
        bed.outside().join("index/config.json"),
        format!(r#"{{"dl":"{}"}}"#, server.address("{crate}.crate")),
    )
    .unwrap();
    bed.put(
        ".cargo/config.toml",
        &format!(
            "[source.crates-io]\nreplace-with = \"near\"\n[source.near]\nregistry = \"sparse+{}\"\n",
            server.address("index/")
        ),
    );
    bed.put(
        "Cargo.toml",
        "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nseven = \"1\"\n[workspace]\n",
    );
    bed.put("src/main.rs", "fn main() { println!(\"{}\", seven::VALUE); }");
    assert_eq!(works(bed, "cargo run -q", &asked(allow)).trim(), "7");
    // What was fetched is there for the next command, without a network.
    assert_eq!(bed.works("cargo run -q --offline").trim(), "7");
}

fn own_loopback(bed: &Bed) {
    let gate = asked(|_| Admission::Refuse);
    bed.put("page", "own");
    let line = "python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 & \
        for i in $(seq 100); do curl -sf http://localhost:8123/page && exit 0; sleep 0.05; done; exit 1";
    assert_eq!(works(bed, line, &gate), "own");
    assert!(gate.asked.lock().unwrap().is_empty());
}

fn guessed(bed: &Bed) {
    let outcome = bed.run("curl -sS https://example.invalid/x");
    assert_eq!(
        outcome.end.blocked,
        [Blocked::Host {
            host: "example.invalid".into(),
            port: 443
        }],
        "{outcome:#?}"
    );
}
