//! Talking to programs outside: listeners of this machine, local sockets, shared memory of the system.

use super::{Escape, py, sh};
use crate::bed::{Bed, Outcome};

fn tcp_reached(bed: &Bed, _: &Outcome) -> bool {
    bed.targets().tcp().accept().is_ok()
}

fn unix_reached(bed: &Bed, _: &Outcome) -> bool {
    bed.targets().unix(&bed.outside()).accept().is_ok()
}

fn port(bed: &Bed) -> u16 {
    bed.targets().tcp().local_addr().unwrap().port()
}

fn socket(bed: &Bed) -> String {
    bed.outside().join("socket").display().to_string()
}

fn listening(bed: &Bed) {
    bed.targets().unix(&bed.outside());
}

pub const ESCAPES: &[Escape] = &[
    sh(
        "terminal_of_another_program",
        |b| {
            let name = std::fs::read_to_string(b.outside().join("tty")).unwrap();
            format!("echo x > {name}")
        },
        |b, _| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            b.outside().join("new").exists()
        },
    )
    .before(|b| b.targets().terminal(&b.outside()))
    .needs(&["python3"]),
    sh("tcp", |b| format!("exec 3<>/dev/tcp/127.0.0.1/{}", port(b)), tcp_reached),
    sh("tcp_by_name", |b| format!("exec 3<>/dev/tcp/localhost/{}", port(b)), tcp_reached),
    sh("tcp_by_another_own_address", |b| format!("exec 3<>/dev/tcp/0.0.0.0/{}", port(b)), tcp_reached),
    py("tcp_mapped", |b| {
        format!("import socket\nsocket.socket(socket.AF_INET6).connect(('::ffff:127.0.0.1', {}))", port(b))
    })
    .seen(tcp_reached)
    .some(),
    sh("udp", |b| format!("echo x > /dev/udp/127.0.0.1/{}", b.targets().udp().local_addr().unwrap().port()), |b, _| {
        b.targets().udp().recv(&mut [0; 8]).is_ok()
    }),
    sh("ports_of_the_machine", |b| format!("cat /proc/net/tcp | grep -i ':{:04X} '", port(b)), |_, o| !o.stdout.is_empty()),
    py("local_socket", |b| format!("import socket\nsocket.socket(socket.AF_UNIX).connect('{}')", socket(b)))
        .before(listening)
        .seen(unix_reached),
    py("local_socket_through_link", |_| "import socket\nsocket.socket(socket.AF_UNIX).connect('link')".into())
        .before(|b| {
            listening(b);
            std::os::unix::fs::symlink(b.outside().join("socket"), b.project().join("link")).unwrap();
        })
        .seen(unix_reached),
    py("local_socket_moved_in", |b| {
        format!("import os, socket\nos.link('{}', 'here')\nsocket.socket(socket.AF_UNIX).connect('here')", socket(b))
    })
    .before(listening)
    .seen(unix_reached),
    py("agent_of_keys", |b| {
        format!("import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('{}')\ns.sendall(b'\\0\\0\\0\\1\\x0b')", socket(b))
    })
    .before(listening)
    .seen(unix_reached),
    py("abstract_socket", |b| format!("import socket\nsocket.socket(socket.AF_UNIX).connect('\\0{}')", b.name()))
        .before(|b| {
            b.targets().hidden(&b.name());
        })
        .seen(|b, _| b.targets().hidden(&b.name()).accept().is_ok()),
    py("display_socket", |b| format!("import socket\nsocket.socket(socket.AF_UNIX).connect('/tmp/.X11-unix/X{}')", b.number()))
        .before(|b| {
            let folder = std::path::Path::new("/tmp/.X11-unix");
            let _ = std::fs::create_dir(folder);
            b.targets().listen_at(&folder.join(format!("X{}", b.number())));
        })
        .seen(|b, _| {
            let reached = b.targets().listener().accept().is_ok();
            let _ = std::fs::remove_file(format!("/tmp/.X11-unix/X{}", b.number()));
            reached
        })
        .some(),
    py("docker_like_socket", |b| format!("import socket\nsocket.socket(socket.AF_UNIX).connect('/run/{}.sock')", b.name()))
        .before(|b| b.targets().listen_at(format!("/run/{}.sock", b.name()).as_ref()))
        .seen(|b, _| {
            let reached = b.targets().listener().accept().is_ok();
            let _ = std::fs::remove_file(format!("/run/{}.sock", b.name()));
            reached
        })
        .root(),
    sh("terminal_multiplexer", |b| {
        format!("tmux -S {0}/tmux run-shell 'touch {0}/new'; sleep 0.2", b.outside().display())
    }, |b, _| {
        let ran = b.outside().join("new").exists();
        b.targets().tmux(&b.outside(), "kill-server");
        ran
    })
    .before(|b| b.targets().tmux(&b.outside(), "-f/dev/null new-session -d sleep 20"))
    .needs(&["tmux"])
    .some(),
    py("shared_memory_of_the_system", |b| {
        format!(
            "import ctypes\nlibc = ctypes.CDLL(None)\nif libc.shmget({}, 4096, 0) >= 0: print('escaped')",
            b.number()
        )
    })
    .before(|b| b.targets().make_shared_memory(b.number())),
    py("message_queue_of_the_system", |b| {
        format!(
            "import ctypes\nlibc = ctypes.CDLL(None)\nif libc.msgget({0}, 0) >= 0: print('escaped')",
            b.number()
        )
    })
    .before(|b| b.targets().make_message_queue(b.number())),
    py("shared_memory_by_name", |b| {
        format!("print('escaped' if b'PLANTED' in open('/dev/shm/{}', 'rb').read() else '')", b.name())
    })
    .before(|b| std::fs::write(format!("/dev/shm/{}", b.name()), "PLANTED").unwrap())
    .seen(|b, o| {
        let _ = std::fs::remove_file(format!("/dev/shm/{}", b.name()));
        o.stdout.contains("escaped")
    }),
    py("own_key_ring", |b| {
        format!(
            "import ctypes, os\nlibc = ctypes.CDLL(None)\nn = 248 if os.uname().machine == 'x86_64' else 217\n\
             if libc.syscall(n, b'user', b'{}', b'x', 1, -4) > 0: print('escaped')",
            b.name()
        )
    })
    .some(),
    py("packets", |_| "import socket\nsocket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0x300); print('escaped')".into()).root(),
    py("raw_packets", |_| "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_RAW, 1); print('escaped')".into()).root(),
    py("virtual_machine_socket", |_| "import socket\nsocket.socket(40, socket.SOCK_STREAM); print('escaped')".into()).some(),
    py("crypto_socket", |_| "import socket\nsocket.socket(38, socket.SOCK_SEQPACKET); print('escaped')".into()).some(),
    py("audit_socket", |_| "import socket\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9); print('escaped')".into()).some(),
];
