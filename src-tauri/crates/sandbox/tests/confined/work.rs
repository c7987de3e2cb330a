//! Ordinary work that a sandbox must not break. A tool that this account does not have is named in the output.

use std::fs;

use paddock_sandbox::{Blocked, PathGrant};

use crate::bed::{Bed, Case, needs};

pub const CASES: &[Case] = &[
    ("work_facts", facts),
    ("work_git", git),
    ("work_python", python),
    ("work_compiler_and_make", compiler),
    ("work_cargo", cargo),
    ("work_node", node),
    ("work_npm", npm),
    ("work_pipes_and_substitutions", pipes),
    ("work_background_jobs", jobs),
    ("work_own_loopback_server", server),
    ("work_unix_socket", unix_socket),
    ("work_large_output", large_output),
    ("work_temporary_files", temporary),
    ("work_shared_memory_and_processes", processes),
    ("work_pseudo_terminal", terminal),
    ("work_links_modes_and_times", links),
    ("work_file_watching", watching),
    ("work_caches_are_kept", caches),
    ("work_names_and_time", names),
    ("work_archives", archives),
    ("work_secret_file_is_not_in_the_way", secrets),
    ("work_git_submodules", submodules),
    ("work_git_linked_worktree", linked_worktree),
    ("work_program_in_memory", memory_program),
    ("work_locks_and_databases", locks),
    ("work_signals_and_traps", signals),
    ("work_own_network", own_network),
    ("work_many_jobs", many_jobs),
    ("work_npm_pack_and_test", package),
    ("work_python_tests", python_tests),
    ("work_patches", patches),
];

fn facts(bed: &Bed) {
    let facts = bed.confinement.facts();
    assert!(facts.is_confined(), "{facts:#?}");
    assert_eq!(bed.works("echo hello; echo $PADDOCK_SANDBOX"), "hello\n1\n");
}

fn git(bed: &Bed) {
    bed.works(
        "git init -q -b main && git config user.name Me && git config user.email me@example.invalid && \
         echo one > a && git add a && git commit -q -m one",
    );
    // In a repository that existed before, settings are read-only, and all of this needs none of them.
    bed.works(
        "echo two >> a && git diff --stat && git commit -q -am two && git switch -q -c topic && echo b > b && \
         git add b && git commit -q -m b && git switch -q main && git merge -q --no-edit topic && git tag v1 && \
         echo wip >> a && git stash -q && git stash pop -q && git checkout -q -- a && git log --oneline | wc -l && \
         git branch -d topic && git gc -q && git fsck && git worktree add -q ../project/tree && git status --short",
    );
    assert_eq!(bed.works("git log --oneline | wc -l").trim(), "3");
}

/// A worktree of a repository elsewhere: what it misses is named once, and with that git works; but what makes git run
/// programs stays closed.
fn linked_worktree(bed: &Bed) {
    let main = bed.outside().join("main");
    std::fs::create_dir(&main).unwrap();
    let git = |arguments: &[&str]| {
        let done = std::process::Command::new("git")
            .args(["-c", "user.name=Me", "-c", "user.email=me@example.invalid"])
            .args(arguments)
            .current_dir(&main)
            .output()
            .unwrap();
        assert!(done.status.success(), "{arguments:?}: {done:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["config", "user.name", "Me"]);
    git(&["config", "user.email", "me@example.invalid"]);
    git(&["commit", "-q", "--allow-empty", "-m", "one"]);
    git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "topic",
        bed.project().to_str().unwrap(),
    ]);
    let common = main.join(".git");
    let place = Blocked::Path {
        path: common.clone(),
        write: true,
    };
    assert_eq!(bed.fails("git status").end.blocked, [place]);

    let run = |line: &str| {
        let mut spec = bed.spec(line);
        spec.extra = vec![PathGrant {
            path: common.clone(),
            writable: true,
        }];
        bed.run_spec(spec)
    };
    let outcome = run(
        "git status && echo x > a && git add a && git commit -q -m two && git log --oneline && git branch other && \
         git switch -q other && echo y >> a && git stash -q && git stash pop -q && git commit -q -am three && git tag v1",
    );
    assert!(outcome.end.exit.is_success(), "{outcome:#?}");
    assert!(common.join("refs/tags/v1").exists());
    let common = common.display();
    for line in [
        format!("echo evil > {common}/hooks/pre-commit"),
        format!("git config --file {common}/config core.fsmonitor ./evil"),
        "git config core.fsmonitor ./evil".to_owned(),
        format!("echo /tmp > {common}/worktrees/project/commondir"),
        format!("mv {common}/worktrees/project/commondir {common}/worktrees/project/away"),
        format!("mv {common}/worktrees/project {common}/worktrees/other"),
        format!("echo evil > {common}/info/attributes"),
    ] {
        let outcome = run(&line);
        assert!(!outcome.end.exit.is_success(), "{line}: {outcome:#?}");
    }
    run(&format!("echo x > {}/new", main.display()));
    assert!(!main.join(".git/hooks/pre-commit").exists() && !main.join("new").exists());
    git(&["fsck"]);
    git(&["status"]);
}

fn python(bed: &Bed) {
    let program = "import json, sqlite3, ssl, tempfile, subprocess\n\
        open('out.json', 'w').write(json.dumps(subprocess.check_output(['echo', 'x'], text=True)))\n\
        sqlite3.connect('db.sqlite').execute('create table t (x)')\nprint(tempfile.gettempdir())";
    bed.put("script.py", program);
    assert_eq!(bed.works("python3 script.py"), "/tmp\n");
    bed.works("python3 -m venv --without-pip env && . env/bin/activate && python -c 'import sys; assert sys.prefix.endswith(\"env\")'");
}

fn compiler(bed: &Bed) {
    bed.put(
        "main.c",
        "#include <stdio.h>\nint main(void) { puts(\"built\"); return 0; }\n",
    );
    bed.put(
        "Makefile",
        "all: one two three\nmain: main.c\n\tcc -o $@ $<\none two three: main\n\t./main > $@\n",
    );
    bed.works("make -j4");
    assert_eq!(
        fs::read_to_string(bed.project().join("three")).unwrap(),
        "built\n"
    );
}

fn cargo(bed: &Bed) {
    if !needs("cargo") {
        return;
    }
    bed.put(
        "Cargo.toml",
        "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n",
    );
    bed.put(
        "src/main.rs",
        "fn main() { println!(\"{}\", std::env::args().count()); }\n#[test]\nfn one() {}\n",
    );
    assert_eq!(bed.works("cargo run -q --offline"), "1\n");
    bed.works("cargo test -q --offline && cargo --version && rustc --version");
}

fn node(bed: &Bed) {
    if !needs("node") {
        return;
    }
    assert_eq!(bed.works("node -e 'console.log(6 * 7)'"), "42\n");
    let program = "const { Worker, isMainThread, parentPort } = require('worker_threads');\n\
        const { execFileSync, fork } = require('child_process');\n\
        if (process.send) { process.send('ipc'); process.disconnect(); }\n\
        else if (isMainThread) {\n  console.log(execFileSync('echo', ['child']).toString().trim());\n  \
        fork(__filename).on('message', (text) => console.log(text));\n  \
        new Worker(__filename).on('message', (text) => console.log(text));\n\
        } else parentPort.postMessage('worker');\n";
    bed.put("script.js", program);
    let printed = bed.works("node script.js");
    for part in ["child", "ipc", "worker"] {
        assert!(printed.contains(part), "{printed}");
    }
    bed.works("node -e 'new WebAssembly.Memory({ initial: 1, maximum: 65536 })'");
}

fn npm(bed: &Bed) {
    if !needs("npm") {
        return;
    }
    bed.put(
        "lib/package.json",
        r#"{"name": "lib", "version": "1.0.0", "main": "index.js"}"#,
    );
    bed.put("lib/index.js", "module.exports = 7;");
    bed.put(
        "package.json",
        r#"{"name": "x", "version": "1.0.0", "scripts": {"go": "node -p \"require('lib')\""}, "dependencies": {"lib": "file:lib"}}"#,
    );
    bed.put(".npmrc", "fund=false\n");
    bed.works("npm install --offline --no-audit && npm ls");
    assert!(bed.works("npm run -s go").contains('7'));
}

fn pipes(bed: &Bed) {
    assert_eq!(bed.works("seq 100 | sort -rn | head -n 1 | tr 0 x"), "1xx\n");
    assert_eq!(
        bed.works("diff <(seq 3) <(seq 3) && cat <<< here && echo $(cat /etc/hostname | wc -l) >/dev/null"),
        "here\n"
    );
    bed.works("mkfifo pipe && (echo through > pipe &) && grep through pipe");
}

fn jobs(bed: &Bed) {
    assert_eq!(
        bed.works("(until [ -e x ]; do sleep 0.01; done; echo late) & (sleep 0.05; echo soon; touch x) & wait; echo done"),
        "soon\nlate\ndone\n"
    );
    bed.works("timeout 5 true; ! timeout 0.1 sleep 5");
}

fn server(bed: &Bed) {
    bed.put("page", "served");
    let line = "python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 & \
        for i in $(seq 100); do python3 -c 'import urllib.request as u; print(u.urlopen(\"http://localhost:8123/page\").read().decode())' \
        2>/dev/null && exit 0; sleep 0.05; done; exit 1";
    assert_eq!(bed.works(line), "served\n");
}

fn unix_socket(bed: &Bed) {
    let program = "import socket, threading, sys\n\
        for path in ('/tmp/s', 's', '\\0own'):\n    a = socket.socket(socket.AF_UNIX); a.bind(path); a.listen()\n    \
        threading.Thread(target=lambda: a.accept()[0].sendall(b'ok')).start()\n    \
        b = socket.socket(socket.AF_UNIX); b.connect(path); assert b.recv(2) == b'ok'\n\
        a, b = socket.socketpair(); a.sendall(b'x'); assert b.recv(1) == b'x'\nprint('ok')";
    bed.put("script.py", program);
    assert_eq!(bed.works("python3 script.py"), "ok\n");
}

fn large_output(bed: &Bed) {
    let mut spec = bed.spec("head -c 100000000 /dev/zero");
    spec.output_limit = u64::MAX;
    assert_eq!(bed.run_spec(spec).stdout.len(), 100_000_000);
}

fn temporary(bed: &Bed) {
    bed.works("f=$(mktemp) && echo x > $f && d=$(mktemp -d) && mv $f $d/ && ls $d && [ -d \"$TMPDIR\" ] && touch /var/tmp/y");
    // The next command does not see it.
    assert_eq!(bed.works("ls -A /tmp | grep -v paddock | wc -l").trim(), "0");
}

fn processes(bed: &Bed) {
    let program = "import multiprocessing as m\nfrom multiprocessing import shared_memory\n\
        def f(x): return x * x\n\
        if __name__ == '__main__':\n    s = shared_memory.SharedMemory(create=True, size=4096); s.close(); s.unlink()\n    \
        with m.Pool(4) as p: print(sum(p.map(f, range(10))))\n";
    bed.put("script.py", program);
    assert_eq!(bed.works("python3 script.py"), "285\n");
    bed.works("for i in $(seq 300); do sleep 1 & done; kill %1; wait");
}

fn terminal(bed: &Bed) {
    let program = "import pty, os\npty.spawn(['sh', '-c', 'test -t 0 && tty && stty size'])\n";
    bed.put("script.py", program);
    let printed = bed.works("python3 script.py");
    assert!(printed.contains("/dev/pts/"), "{printed}");
}

fn links(bed: &Bed) {
    bed.works(
        "echo x > a && ln -s a b && ln a c && chmod 640 a && touch -d 2001-02-03 a && cp -a a d && [ -L b ] && \
         [ $(stat -c %h a) = 2 ] && [ $(stat -c %a d) = 640 ] && mkdir -p x/y && mv x z && rm -r z && truncate -s 100 a && \
         sync a && ln -sf d b && readlink b",
    );
}

fn watching(bed: &Bed) {
    let program = "import ctypes, os\nlibc = ctypes.CDLL(None)\nw = libc.inotify_init()\n\
        assert libc.inotify_add_watch(w, b'.', 0x100) > 0\nopen('new', 'w').close()\nassert b'new' in os.read(w, 1024)\nprint('seen')";
    bed.put("script.py", program);
    assert_eq!(bed.works("python3 script.py"), "seen\n");
}

fn caches(bed: &Bed) {
    bed.works("echo kept > ~/.cache/thing && mkdir -p ~/.npm/x && echo gone > ~/thing");
    bed.works("[ $(cat ~/.cache/thing) = kept ] && [ -d ~/.npm/x ] && [ ! -e ~/thing ]");
    // Downloads: what the account has is there, can be added to, and stays as it was.
    let registry = std::env::home_dir().unwrap().join(".cargo/registry");
    let made = !registry.exists();
    fs::create_dir_all(&registry).unwrap();
    let own = registry.join(format!("paddock-test-{}", crate::bed::marker()));
    fs::write(&own, "own").unwrap();
    let name = own.file_name().unwrap().to_str().unwrap();
    bed.works(&format!("cd ~/.cargo/registry && [ $(cat {name}) = own ] && echo more >> {name} && touch new-{name} && rm {name}"));
    let mut spec = bed.spec(&format!(
        "cd ~/.cargo/registry && [ -e {name} ] && [ ! -e new-{name} ] && touch new-{name}"
    ));
    spec.network = paddock_sandbox::Network::Host;
    let with_network = bed.run_spec(spec);
    let kept = bed.run(&format!("[ -e ~/.cargo/registry/new-{name} ]"));
    let unchanged = fs::read_to_string(&own);
    fs::remove_file(&own).unwrap();
    if made {
        fs::remove_dir(&registry).unwrap();
    }
    assert_eq!(unchanged.unwrap(), "own");
    assert!(
        with_network.end.exit.is_success() && kept.end.exit.is_success(),
        "{with_network:#?} {kept:#?}"
    );
}

fn names(bed: &Bed) {
    bed.works("[ -n \"$(id -un)\" ] && getent passwd $(id -u) && hostname && date && nproc && uname -a && cat /proc/meminfo | head -1");
    assert_eq!(
        bed.works("stat -c %u . && id -u")
            .lines()
            .collect::<std::collections::BTreeSet<_>>()
            .len(),
        1
    );
    assert!(
        bed.works("echo ${LANG:-none}; printf 'ü' | wc -m")
            .ends_with("1\n")
            || std::env::var("LANG").is_err()
    );
}

fn archives(bed: &Bed) {
    bed.works("mkdir d && echo x > d/f && tar czf d.tgz d && rm -r d && tar xzf d.tgz && cat d/f && find . -name f | xargs grep x");
}

fn secrets(bed: &Bed) {
    bed.put(".env", "A=1");
    bed.works("git init -q && echo .env > .gitignore && echo x > a && git add -A && git status --short && ls -la && find . >/dev/null");
}

fn submodules(bed: &Bed) {
    bed.works(
        "git init -q -b main m && git -C m -c user.name=t -c user.email=t@e.x commit -q --allow-empty -m m && git init -q -b main . && \
         git -c protocol.file.allow=always submodule add -q ./m copy && git submodule status && \
         git -c user.name=t -c user.email=t@e.x commit -q -m s && git -C copy log --oneline",
    );
}

/// A program that exists in memory only runs, held like any other.
fn memory_program(bed: &Bed) {
    bed.put(
        "run.py",
        "import os\nf = os.memfd_create('x')\nos.write(f, open('/bin/sh', 'rb').read())\n\
         os.execv(f'/proc/self/fd/{f}', ['sh', '-c', 'echo ran; echo x > ../outside/new'])\n",
    );
    let outcome = bed.run("python3 run.py");
    assert_eq!(outcome.stdout, "ran\n", "{outcome:#?}");
    assert!(!bed.outside().join("new").exists());
}

fn locks(bed: &Bed) {
    bed.works("(flock 9; sleep 0.1; echo one >> out) 9> lock & sleep 0.02; (flock 9; echo two >> out) 9> lock; wait; [ \"$(cat out)\" = \"$(printf 'one\\ntwo')\" ]");
    bed.put(
        "db.py",
        "import sqlite3\nc = sqlite3.connect('w.db'); c.execute('pragma journal_mode=wal'); c.execute('create table t (x)')\n\
         c.execute('insert into t values (1)'); c.commit()\nd = sqlite3.connect('w.db'); print(d.execute('select count(*) from t').fetchone()[0])\n",
    );
    assert_eq!(bed.works("python3 db.py"), "1\n");
}

fn signals(bed: &Bed) {
    assert_eq!(
        bed.works("trap 'echo caught' USR1; kill -USR1 $$; sleep 30 & kill $!; wait $!; echo $?"),
        "caught\n143\n"
    );
}

fn own_network(bed: &Bed) {
    bed.put(
        "net.py",
        "import asyncio, socket\nasync def main():\n    \
         async def answer(r, w): w.write(await r.read(5)); w.close()\n    \
         s = await asyncio.start_server(answer, '127.0.0.1', 0)\n    \
         r, w = await asyncio.open_connection(*s.sockets[0].getsockname()); w.write(b'hello'); print((await r.read()).decode())\n\
         asyncio.run(main())\n\
         a, b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
         a.bind(('127.0.0.1', 0)); b.sendto(b'x', a.getsockname()); print(a.recv(1).decode())\n\
         print(socket.getaddrinfo('localhost', 80)[0][4][0] in ('127.0.0.1', '::1'))\n",
    );
    assert_eq!(bed.works("python3 net.py"), "hello\nx\nTrue\n");
}

fn many_jobs(bed: &Bed) {
    bed.put(
        "Makefile",
        "all: $(addprefix o/,$(shell seq 60))\no/%:\n\t@mkdir -p o && sleep 0.01 && echo $* > $@\n",
    );
    bed.works("make -s -j16 && [ $(ls o | wc -l) = 60 ]");
}

fn package(bed: &Bed) {
    if !needs("npm") {
        return;
    }
    bed.put(
        "package.json",
        r#"{"name":"x","version":"1.0.0","scripts":{"prepack":"echo made > made.txt","test":"node -e 'process.exit(0)'"}}"#,
    );
    bed.works("npm pack --silent && npm test --silent && tar tzf x-1.0.0.tgz | grep -q made.txt");
}

fn python_tests(bed: &Bed) {
    bed.put(
        "test_x.py",
        "import unittest\nclass T(unittest.TestCase):\n    def test_one(self): self.assertEqual(1, 1)\n",
    );
    bed.works("python3 -m unittest -q && python3 -m compileall -q .");
}

fn patches(bed: &Bed) {
    bed.works("seq 5 > a && cp a b && sed -i s/3/x/ b && ! diff -u a b > p && patch -s a < p && cmp a b && rm -rf p && find . -newer a -type f | wc -l");
}
