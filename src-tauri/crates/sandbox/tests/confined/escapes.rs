//! Ways out of the sandbox. Each verdict comes from outside: a file, a listener, a process. What a shell cannot do is done
//! by a small Python program, so Python must be there.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::time::Duration;

use paddock_sandbox::{Network, SecretFiles};

use crate::bed::{Bed, Case, exists};

pub const CASES: &[Case] = &[
    ("escape_write_beside_the_project", write_beside),
    ("escape_write_to_the_system", write_system),
    ("escape_write_to_the_home_folder", write_home),
    ("escape_write_through_a_link", write_through_link),
    ("escape_hard_link_to_outside", hard_link),
    ("escape_mode_and_times_of_outside", mode_and_times),
    ("escape_read_a_secret_beside_the_project", read_beside),
    ("escape_read_keys_in_the_home_folder", read_home),
    ("escape_read_unreadable_settings", read_shadow),
    ("escape_read_a_secret_in_the_project", read_hidden),
    ("escape_read_environment_secrets", environment),
    ("escape_read_other_processes", other_processes),
    ("escape_inherited_descriptors", descriptors),
    ("escape_loopback_listener_outside", loopback),
    ("escape_unix_socket_outside", unix_socket),
    ("escape_abstract_socket_outside", abstract_socket),
    (
        "escape_abstract_socket_with_network",
        abstract_socket_with_network,
    ),
    ("escape_the_internet", internet),
    ("escape_signal_to_outside", signal_outside),
    ("escape_trace_a_process", trace),
    ("escape_mount", mount),
    ("escape_new_namespaces", namespaces),
    ("escape_chroot_and_devices", devices),
    ("escape_dangerous_calls", calls),
    ("escape_second_numbering_of_calls", second_numbering),
    ("escape_kernel_settings", kernel_settings),
    ("escape_become_root_by_set_user_id", set_user_id),
    ("escape_helper_memory", helper_memory),
    ("escape_standard_input", standard_input),
    ("escape_terminal_of_the_app", terminal),
    ("escape_read_only_project", read_only),
    ("escape_git_hooks_of_the_project", git_hooks),
    ("escape_git_settings_of_the_project", git_settings),
    ("escape_git_folder_swapped", git_swapped),
    ("escape_nested_repository", nested_repository),
    ("escape_settings_of_editors", editors),
];

/// Runs a Python program that must print `refused`.
fn refused(bed: &Bed, program: &str) {
    bed.put("attempt.py", program);
    let printed = bed.works("python3 attempt.py");
    assert_eq!(printed.trim(), "refused", "{program}");
}

fn write_beside(bed: &Bed) {
    let outside = bed.outside();
    bed.fails(&format!("echo x > {}/new", outside.display()));
    bed.fails("echo x > ../outside/new");
    bed.run(&format!("mkdir -p {0} && echo x > {0}/new", outside.display()));
    assert_eq!(fs::read_dir(outside).unwrap().count(), 1);
}

fn write_system(bed: &Bed) {
    for place in [
        "/etc/paddock-test",
        "/usr/bin/paddock-test",
        "/opt/paddock-test",
        "/sys/paddock-test",
        "/paddock-test",
    ] {
        bed.fails(&format!("echo x > {place}"));
        assert!(!exists(place.as_ref()), "{place}");
    }
    bed.run("echo x > /tmp/paddock-test; echo x > /var/tmp/paddock-test; echo x > /dev/shm/paddock-test");
    for place in [
        "/tmp/paddock-test",
        "/var/tmp/paddock-test",
        "/dev/shm/paddock-test",
    ] {
        assert!(!exists(place.as_ref()), "{place}");
    }
}

fn write_home(bed: &Bed) {
    let home = std::env::home_dir().unwrap();
    bed.works("echo x > ~/.paddock-test; mkdir -p ~/.local/share/paddock-test; echo x >> ~/.bashrc");
    assert!(!exists(&home.join(".paddock-test")));
    assert!(!exists(&home.join(".local/share/paddock-test")));
    assert!(
        !fs::read_to_string(home.join(".bashrc"))
            .unwrap_or_default()
            .ends_with("x\n")
    );
    bed.run("echo x >> ~/.gitconfig; echo x > ~/.cargo/bin/paddock-test; echo x > ~/.local/bin/paddock-test");
    assert!(!exists(&home.join(".cargo/bin/paddock-test")));
    assert!(!exists(&home.join(".local/bin/paddock-test")));
}

fn write_through_link(bed: &Bed) {
    let secret = bed.outside().join("secret");
    std::os::unix::fs::symlink(&secret, bed.project().join("link")).unwrap();
    std::os::unix::fs::symlink(bed.outside(), bed.project().join("folder")).unwrap();
    bed.fails("echo x > link");
    bed.fails("echo x > folder/new");
    bed.fails("cat link");
    assert_eq!(fs::read_to_string(secret).unwrap(), "PLANTED-SECRET");
}

fn hard_link(bed: &Bed) {
    bed.fails(&format!("ln {}/secret here", bed.outside().display()));
    bed.fails("ln /etc/passwd here");
    assert!(!bed.has("here"));
}

fn mode_and_times(bed: &Bed) {
    let secret = bed.outside().join("secret");
    let before = fs::metadata(&secret).unwrap();
    let shell = fs::metadata("/usr/bin/env").unwrap();
    bed.fails(&format!("chmod 777 {}", secret.display()));
    bed.fails("chmod 4777 /usr/bin/env");
    bed.fails("touch -d 2001-01-01 /usr/bin/env");
    bed.fails("chown 1 /usr/bin/env");
    let after = fs::metadata("/usr/bin/env").unwrap();
    assert_eq!(shell.permissions(), after.permissions());
    assert_eq!(shell.modified().unwrap(), after.modified().unwrap());
    assert_eq!(before.permissions(), fs::metadata(&secret).unwrap().permissions());
}

fn read_beside(bed: &Bed) {
    let outcome = bed.fails(&format!(
        "cat {0}/secret ../outside/secret; ls {0}",
        bed.outside().display()
    ));
    assert!(!outcome.stdout.contains("PLANTED"), "{outcome:#?}");
}

fn read_home(bed: &Bed) {
    // Only names in the home folder of this run are looked at, whatever they hold.
    let home = std::env::home_dir().unwrap();
    let keys = home.join(".ssh");
    let made = fs::create_dir(&keys).is_ok();
    let planted = keys.join("id_paddock_test");
    fs::write(&planted, "PLANTED-KEY").unwrap();
    let outcome = bed.run("cat ~/.ssh/id_paddock_test; ls -la ~/.ssh ~/.config ~/.aws; cat ~/.bash_history");
    fs::remove_file(&planted).unwrap();
    if made {
        fs::remove_dir(&keys).unwrap();
    }
    assert!(!outcome.stdout.contains("PLANTED"), "{outcome:#?}");
    assert!(!outcome.end.exit.is_success());
}

fn read_shadow(bed: &Bed) {
    bed.fails("cat /etc/shadow");
    bed.fails("cat /etc/gshadow");
    bed.fails("cat /etc/sudoers");
}

fn read_hidden(bed: &Bed) {
    bed.put("deploy/.env", "PLANTED=1");
    bed.put("server.pem", "PLANTED");
    bed.put("node_modules/own/.env", "PLANTED=2");
    bed.put(".env.example", "example");
    let seen = bed.run("cat node_modules/own/.env; cp -r node_modules copy; cat copy/own/.env");
    assert!(!seen.stdout.contains("PLANTED"), "{seen:#?}");
    let outcome = bed
        .run("cat deploy/.env server.pem .env.example; cp deploy/.env copy; mv deploy/.env away; cat away");
    assert!(!outcome.stdout.contains("PLANTED"), "{outcome:#?}");
    assert!(outcome.stdout.contains("example"));
    assert_eq!(
        fs::read_to_string(bed.project().join("deploy/.env")).unwrap(),
        "PLANTED=1"
    );
    let mut spec = bed.spec("cat deploy/.env");
    spec.secret_files = SecretFiles::Readable;
    assert_eq!(bed.run_spec(spec).stdout, "PLANTED=1");
}

fn environment(bed: &Bed) {
    // The test program was started with these by its runner; see `main`.
    let printed = bed.works("env; cat /proc/self/environ; cat /proc/1/environ 2>/dev/null || true");
    for name in [
        "AS_NOBODY",
        "CARGO_MANIFEST_DIR",
        "PIP_",
        "AWS_",
        "TOKEN",
        "SECRET",
    ] {
        assert!(!printed.contains(name), "{name} in {printed}");
    }
    bed.fails("cat /proc/1/environ");
}

fn other_processes(bed: &Bed) {
    let own = std::process::id();
    bed.fails(&format!("grep -q confined /proc/{own}/cmdline"));
    let numbers = bed.works("ls -d /proc/[0-9]* | wc -l");
    assert!(numbers.trim().parse::<u32>().unwrap() < 8, "{numbers}");
    bed.fails("cat /proc/1/maps");
    bed.fails("ls -l /proc/1/fd");
    bed.fails("ls /proc/1/root/");
}

fn descriptors(bed: &Bed) {
    // A descriptor that a careless library left open for programs that are started.
    let open = fs::File::open(bed.outside()).unwrap();
    let number = unsafe_dup(&open);
    let printed = bed.works("ls /proc/self/fd; ls -l /proc/self/fd /proc/$$/fd");
    assert!(!printed.contains("outside"), "{printed}");
    bed.fails(&format!("cat /proc/self/fd/{number}/secret"));
    let last = bed.works("ls /proc/self/fd | sort -n | tail -n 1");
    assert!(last.trim().parse::<u32>().unwrap() < 4, "{last}");
}

/// A copy of a descriptor that programs inherit.
fn unsafe_dup(file: &fs::File) -> i32 {
    use std::os::fd::IntoRawFd;
    let copy = rustix::io::dup(file).unwrap();
    rustix::io::fcntl_setfd(&copy, rustix::io::FdFlags::empty()).unwrap();
    copy.into_raw_fd()
}

fn loopback(bed: &Bed) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    bed.fails(&format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo x >&3"));
    bed.fails(&format!(
        "python3 -c 'import socket; socket.create_connection((\"localhost\", {port}), 2)'"
    ));
    assert!(listener.accept().is_err(), "something reached the listener");
}

fn unix_socket(bed: &Bed) {
    let path = bed.outside().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    std::os::unix::fs::symlink(&path, bed.project().join("socket")).unwrap();
    for target in [path.to_str().unwrap(), "socket"] {
        bed.fails(&format!(
            "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{target}\")'"
        ));
    }
    bed.fails("ls /run/docker.sock /var/run/docker.sock /run/dbus /run/user /tmp/.X11-unix");
    assert!(listener.accept().is_err(), "something reached the listener");
}

fn abstract_listener() -> (UnixListener, String) {
    use std::os::linux::net::SocketAddrExt;
    let name = format!("paddock-test-{}", crate::bed::marker());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    let listener = UnixListener::bind_addr(&address).unwrap();
    listener.set_nonblocking(true).unwrap();
    (listener, name)
}

fn abstract_socket(bed: &Bed) {
    let (listener, name) = abstract_listener();
    bed.fails(&format!(
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"\\0{name}\")'"
    ));
    assert!(listener.accept().is_err(), "something reached the listener");
}

fn abstract_socket_with_network(bed: &Bed) {
    let (listener, name) = abstract_listener();
    let line = format!("python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"\\0{name}\")'");
    let mut spec = bed.spec(&line);
    spec.network = Network::Host;
    assert!(!bed.run_spec(spec).end.exit.is_success());
    assert!(listener.accept().is_err(), "something reached the listener");
    // What was allowed is there.
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let mut spec = bed.spec(&format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo hello >&3"));
    spec.network = Network::Host;
    assert!(bed.run_spec(spec).end.exit.is_success());
    let mut text = String::new();
    tcp.accept().unwrap().0.read_to_string(&mut text).unwrap();
    assert_eq!(text, "hello\n");
}

fn internet(bed: &Bed) {
    let outcome = bed.fails("python3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 80), 2)'");
    assert!(outcome.stderr.contains("unreachable"), "{outcome:#?}");
    assert!(
        outcome
            .end
            .denials
            .iter()
            .any(|denial| denial.sentence.contains("network")),
        "{outcome:#?}"
    );
    let interfaces = bed.works("ls /sys/class/net; cat /proc/net/dev | tail -n +3 | cut -d: -f1");
    assert!(!interfaces.contains("eth"), "{interfaces}");
}

fn signal_outside(bed: &Bed) {
    let mut victim = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let process = victim.id();
    bed.run(&format!("kill -9 {process}; kill -9 -1; true"));
    let mut spec = bed.spec(&format!("kill -9 {process}"));
    spec.network = Network::Host;
    bed.run_spec(spec);
    std::thread::sleep(Duration::from_millis(20));
    let alive = victim.try_wait().unwrap().is_none();
    victim.kill().unwrap();
    victim.wait().unwrap();
    assert!(alive, "a process outside was ended");
}

const LIBC: &str = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n";

fn trace(bed: &Bed) {
    let attach = "r = [libc.ptrace(16, pid, 0, 0) for pid in (1, os.getppid())] + [libc.ptrace(0, 0, 0, 0)]\n\
        print('refused' if all(x == -1 for x in r) else r)";
    refused(bed, &format!("{LIBC}{attach}"));
}

fn mount(bed: &Bed) {
    let attempts = "r = [libc.mount(b'none', b'/tmp', b'tmpfs', 0, b''), libc.mount(b'/etc', b'/tmp', None, 4096, None), \
        libc.mount(b'none', b'/', None, 32, b''), libc.umount2(b'/etc', 2), libc.umount2(b'/proc', 2)]\n\
        print('refused' if all(x == -1 for x in r) else r)";
    refused(bed, &format!("{LIBC}{attempts}"));
    bed.fails("mount -t tmpfs none /tmp");
    bed.fails("mount -o remount,rw /usr");
}

fn namespaces(bed: &Bed) {
    for flag in [
        "--user",
        "--mount",
        "--pid --fork",
        "--net",
        "--uts",
        "--user --map-root-user",
    ] {
        bed.fails(&format!("unshare {flag} true"));
    }
    // clone with the flag of a new user namespace (56 on x86-64, 220 on ARM).
    let attempts = "n = 56 if os.uname().machine == 'x86_64' else 220\n\
        r = libc.syscall(n, 0x10000000 | 17, 0, 0, 0, 0)\nif r == 0: os._exit(0)\n\
        s = libc.syscall(435, 0, 0)\nimport errno\n\
        print('refused' if r == -1 and s == -1 and ctypes.get_errno() == errno.ENOSYS else (r, s))";
    refused(bed, &format!("{LIBC}{attempts}"));
}

fn devices(bed: &Bed) {
    let attempts = "import os, stat\nr = []\n\
        def attempt(f):\n    try:\n        f(); r.append('worked')\n    except OSError: pass\n\
        attempt(lambda: os.chroot('/tmp'))\n\
        attempt(lambda: os.mknod('disk', stat.S_IFBLK | 0o600, os.makedev(254, 0)))\n\
        attempt(lambda: os.mknod('memory', stat.S_IFCHR | 0o600, os.makedev(1, 1)))\n\
        attempt(lambda: os.mknod('/dev/memory', stat.S_IFCHR | 0o600, os.makedev(1, 1)))\n\
        attempt(lambda: os.open('/dev/vda', os.O_RDONLY))\nattempt(lambda: os.open('/dev/kmsg', os.O_RDONLY))\n\
        attempt(lambda: os.open('/dev/mem', os.O_RDONLY))\nprint(r or 'refused')";
    refused(bed, attempts);
}

fn calls(bed: &Bed) {
    // add_key, keyctl, bpf, perf_event_open, userfaultfd, io_uring_setup, open_by_handle_at, kcmp, process_vm_readv,
    // pidfd_getfd, syslog and packet and raw sockets.
    let attempts = "import socket\nx = os.uname().machine == 'x86_64'\n\
        n = [248, 250, 321, 298, 323, 425, 304, 312, 310, 438, 103] if x else [217, 219, 280, 241, 282, 425, 265, 272, 270, 438, 116]\n\
        r = [c for c in n if libc.syscall(c, 0, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() != 1]\n\
        for family, kind, protocol in [(17, 3, 0), (38, 5, 0), (16, 3, 9), (40, 1, 0), (31, 3, 0)]:\n    \
        try:\n        socket.socket(family, kind, protocol); r.append(family)\n    \
        except PermissionError: pass\n    \
        except OSError as e: r.append((family, e.errno))\n\
        import fcntl, pty\na, b = pty.openpty()\n\
        try:\n    fcntl.ioctl(b, 0x5412, b'x'); r.append('TIOCSTI')\nexcept OSError: pass\nprint(r or 'refused')";
    refused(bed, &format!("{LIBC}{attempts}"));
}

fn second_numbering(bed: &Bed) {
    let attempts = "r = libc.syscall(0x40000000 + 39)\nprint('refused' if r == -1 else r)";
    refused(bed, &format!("{LIBC}{attempts}"));
}

fn kernel_settings(bed: &Bed) {
    let pattern = "/proc/sys/kernel/core_pattern";
    let before = fs::read_to_string(pattern).unwrap();
    for setting in [
        pattern,
        "/proc/sysrq-trigger",
        "/proc/sys/kernel/pid_max",
        "/proc/sys/vm/overcommit_memory",
    ] {
        bed.fails(&format!("echo x > {setting}"));
    }
    bed.fails("echo x > /sys/kernel/mm/transparent_hugepage/enabled");
    bed.fails("head -c 1 /proc/kcore");
    bed.fails("cat /proc/kmsg");
    assert_eq!(before, fs::read_to_string(pattern).unwrap());
}

fn set_user_id(bed: &Bed) {
    // No program gains rights, and without capabilities no file of another account is touched, also as root.
    let status = bed.works("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status");
    for line in status.lines().filter(|line| line.starts_with("Cap")) {
        assert!(line.ends_with("0000000000000000"), "{line}");
    }
    assert!(
        status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2"),
        "{status}"
    );
    bed.run("cp /bin/sh shell; chmod 4755 shell; echo 'id -u' | su 2>/dev/null");
    bed.fails("chown 12345 shell");
    bed.fails("setpriv --reuid 12345 true");
}

fn helper_memory(bed: &Bed) {
    let attempts = "import os\nr = []\nfor name in ('mem', 'maps', 'environ', 'stack', 'auxv'):\n    \
        try:\n        open('/proc/1/' + name, 'rb').read(1); r.append(name)\n    except OSError: pass\n\
        for fd in range(16):\n    try:\n        os.readlink(f'/proc/1/fd/{fd}'); r.append(fd)\n    \
        except OSError: pass\nprint(r or 'refused')";
    refused(bed, attempts);
}

fn standard_input(bed: &Bed) {
    assert_eq!(bed.works("readlink /proc/self/fd/0; cat").trim(), "/dev/null");
}

fn terminal(bed: &Bed) {
    bed.fails("echo x > /dev/tty");
    bed.fails("[ -t 0 ] || [ -t 1 ] || [ -t 2 ]");
    // A session of its own: the leader is the command itself.
    assert_eq!(bed.works("ps -o sid= -p $$").trim(), "2");
}

fn read_only(bed: &Bed) {
    bed.put("file", "kept");
    let mut spec = bed.spec(
        "echo x > new; echo x > file; rm file; mkdir folder; chmod 777 file; ls > /tmp/list && cat /tmp/list",
    );
    spec.root = bed.root.read_only();
    let outcome = bed.run_spec(spec);
    assert!(outcome.stdout.contains("file"), "{outcome:#?}");
    assert!(bed.has("file") && !bed.has("new") && !bed.has("folder"));
    assert_eq!(fs::read_to_string(bed.project().join("file")).unwrap(), "kept");
}

/// A repository made outside of the sandbox, as the person has one.
fn repository(bed: &Bed, folder: &str) {
    let git = |arguments: &[&str]| {
        let folder = bed.project().join(folder);
        fs::create_dir_all(&folder).unwrap();
        let done = std::process::Command::new("git")
            .args(arguments)
            .current_dir(folder)
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    git(&[
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.invalid",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "first",
    ]);
}

fn git_hooks(bed: &Bed) {
    repository(bed, ".");
    for line in [
        "echo 'touch /tmp/x' > .git/hooks/pre-commit",
        "mv .git/hooks .git/old",
        "rm -r .git/hooks && mkdir .git/hooks && touch .git/hooks/pre-commit",
        "rmdir .git/hooks; ln -s /tmp .git/hooks",
        "git config core.hooksPath /tmp",
    ] {
        bed.run(line);
        assert!(!bed.has(".git/hooks/pre-commit"), "{line}");
        assert!(
            bed.project().join(".git/hooks/pre-commit.sample").is_file(),
            "{line}"
        );
    }
    assert!(
        !fs::read_to_string(bed.project().join(".git/config"))
            .unwrap()
            .contains("hooksPath")
    );
}

fn git_settings(bed: &Bed) {
    repository(bed, ".");
    let settings = bed.project().join(".git/config");
    let before = fs::read_to_string(&settings).unwrap();
    bed.fails("git config core.fsmonitor ./evil");
    bed.fails("echo '[core] fsmonitor = ./evil' >> .git/config");
    bed.fails("printf x > /tmp/c && mv /tmp/c .git/config");
    bed.fails("rm .git/config");
    assert_eq!(before, fs::read_to_string(&settings).unwrap());
    // The folder of hooks that the person's own settings name.
    bed.put("tools/hooks/pre-commit", "mine");
    fs::write(&settings, format!("{before}[core]\n\thooksPath = tools/hooks\n")).unwrap();
    bed.run(
        "echo evil > tools/hooks/pre-commit; echo evil > tools/hooks/post-commit; mv tools/hooks tools/x",
    );
    assert_eq!(
        fs::read_to_string(bed.project().join("tools/hooks/pre-commit")).unwrap(),
        "mine"
    );
    assert!(!bed.has("tools/hooks/post-commit"));
}

fn git_swapped(bed: &Bed) {
    repository(bed, ".");
    let before = fs::read_to_string(bed.project().join(".git/config")).unwrap();
    bed.fails("mv .git elsewhere");
    bed.fails("rm -rf .git");
    bed.run("cp -r .git other && echo '[core] fsmonitor = ./evil' >> other/config && mv -T other .git");
    assert_eq!(
        before,
        fs::read_to_string(bed.project().join(".git/config")).unwrap()
    );
    assert!(!bed.has("elsewhere"));
}

fn nested_repository(bed: &Bed) {
    repository(bed, "vendor/library");
    bed.fails("echo evil > vendor/library/.git/hooks/pre-commit");
    bed.fails("echo evil >> vendor/library/.git/config");
    bed.fails("mv vendor/library/.git x");
    assert!(!bed.has("vendor/library/.git/hooks/pre-commit"));
}

fn editors(bed: &Bed) {
    for path in [
        ".vscode/tasks.json",
        ".idea/workspace.xml",
        ".envrc",
        ".paddock/settings.toml",
    ] {
        bed.put(path, "mine");
    }
    for path in [
        ".vscode/tasks.json",
        ".idea/workspace.xml",
        ".envrc",
        ".paddock/settings.toml",
    ] {
        bed.fails(&format!("echo evil > {path}"));
        bed.fails(&format!("rm {path}"));
        assert_eq!(fs::read_to_string(bed.project().join(path)).unwrap(), "mine");
    }
    bed.fails("mv .vscode x");
    assert!(bed.has(".vscode"));
}
