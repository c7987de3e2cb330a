//! What the kernel offers: namespaces, mounts, settings, devices, and calls that reach around everything else.

use super::{Escape, py, sh};

const LIBC: &str =
    "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\nx = os.uname().machine == 'x86_64'\n";

/// A value that is written over itself: what would change it shows, and nothing is harmed.
macro_rules! rewritten {
    ($name:literal, $path:literal) => {
        sh(
            $name,
            |_| {
                concat!(
                    "v=$(cat ",
                    $path,
                    ") && echo \"$v\" > ",
                    $path,
                    " && echo escaped"
                )
                .into()
            },
            |_, outcome| outcome.stdout.contains("escaped"),
        )
        .root()
        .some()
    };
}

/// A call with zeros that prints when it gave a descriptor or did something.
macro_rules! call {
    ($name:literal, $x86:literal, $arm:literal, $arguments:literal) => {
        py($name, |_| {
            format!(
                concat!(
                    "{LIBC}r = libc.syscall({} if x else {}, ",
                    $arguments,
                    ")\nif r >= 0: print('escaped')"
                ),
                $x86,
                $arm,
                LIBC = LIBC
            )
        })
        .some()
    };
}

pub const ESCAPES: &[Escape] = &[
    sh("new_account_space", |_| "unshare --user true && echo escaped".into(), said).some(),
    sh("new_account_space_as_its_root", |_| "unshare -r sh -c 'id -u' | grep -x 0 && echo escaped".into(), said).some(),
    sh("new_mounts", |_| "unshare -rm mount -t tmpfs none /mnt && echo escaped".into(), said).some(),
    sh("mount_over_a_folder", |_| "unshare -m mount -t tmpfs none /mnt && echo escaped".into(), said).root(),
    py("clone_with_a_namespace", |_| {
        format!("{LIBC}r = libc.syscall(56 if x else 220, 0x10000000 | 17, 0, 0, 0, 0)\nif r == 0: os._exit(0)\nif r > 0: print('escaped')")
    })
    .some(),
    py("chroot", |_| "import os\nif os.fork() == 0:\n    os.chroot('/tmp'); print('escaped', flush=True); os._exit(0)\nos.wait()".into()).root(),
    py("host_name", |_| "import socket\nsocket.sethostname(socket.gethostname()); print('escaped')".into()).root(),
    rewritten!("setting_of_core_files", "/proc/sys/kernel/core_pattern"),
    rewritten!("setting_of_memory", "/proc/sys/vm/swappiness"),
    rewritten!("setting_of_helpers", "/proc/sys/kernel/modprobe"),
    rewritten!("setting_of_processes", "/proc/sys/kernel/threads-max"),
    rewritten!("setting_in_sys", "/sys/kernel/mm/ksm/run"),
    sh("emergency_keys", |_| "echo h > /proc/sysrq-trigger && echo escaped".into(), said).root().some(),
    sh("log_of_the_kernel_write", |_| "echo paddock-battery > /dev/kmsg && echo escaped".into(), said).root(),
    sh("log_of_the_kernel_read", |_| "dmesg | head -n 1".into(), |_, o| !o.stdout.is_empty()).root(),
    sh("memory_of_the_kernel", |_| "head -c 64 /proc/kcore | wc -c".into(), |_, o| o.stdout.trim() == "64").some(),
    sh("own_device", |_| "mknod disk b 7 0 && echo escaped".into(), |b, _| b.has("disk")).root(),
    sh("disk", |_| "for d in /dev/vda /dev/sda /dev/nvme0n1; do head -c 1 $d >/dev/null && echo escaped; done".into(), said).some(),
    sh("rights_of_a_program", |_| "cp /bin/true own && setcap cap_net_raw+ep own && echo escaped".into(), said)
        .needs(&["setcap"])
        .some(),
    sh("another_account", |_| "setpriv --reuid 12345 --clear-groups id -u".into(), |_, o| o.stdout.trim() == "12345").needs(&["setpriv"]).root(),
    py("scheduling_of_real_time", |_| "import os\nos.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)); print('escaped')".into()).root(),
    py("higher_priority", |_| "import os\nos.setpriority(os.PRIO_PROCESS, 0, -5); print('escaped')".into()).root(),
    py("more_than_the_limit", |_| {
        "import resource as r\ns, h = r.getrlimit(r.RLIMIT_NPROC)\nr.setrlimit(r.RLIMIT_NPROC, (r.RLIM_INFINITY, r.RLIM_INFINITY)); print('escaped')".into()
    })
    .root().some(),
    call!("queue_of_calls", 425, 425, "8, ctypes.create_string_buffer(256)"),
    call!("faults_by_user", 323, 282, "1"),
    call!("programs_in_the_kernel", 321, 280, "0, (ctypes.c_uint * 32)(2, 4, 4, 1), 128"),
    call!("counters", 298, 241, "ctypes.create_string_buffer(b'\\x01\\0\\0\\0\\x80\\0\\0\\0' + bytes(120), 128), 0, -1, -1, 0"),
    call!("watch_of_all_files", 300, 262, "0, 0"),
    call!("handle_of_a_name", 303, 264, "-100, b'/', ctypes.create_string_buffer(b'\\x80' + bytes(135), 136), ctypes.create_string_buffer(8), 0"),
    call!("copy_of_mounts", 428, 428, "-100, b'/', 1"),
    call!("new_file_system", 430, 430, "b'tmpfs', 0"),
    call!("session_key_ring", 250, 219, "1, 0"),
    call!("comparison_of_processes", 312, 272, "os.getpid(), os.getpid(), 0, 0, 0"),
    call!("accounting", 163, 89, "0"),
];

fn said(_: &crate::bed::Bed, outcome: &crate::bed::Outcome) -> bool {
    outcome.stdout.contains("escaped")
}
