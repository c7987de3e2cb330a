//! Processes that do not belong to the command, and its own that would outlive it.

use super::{Escape, py, sh};
use crate::bed::{Bed, Outcome};
use crate::targets::{end_marked, lives};

const LIBC: &str = "import ctypes, os, sys\nlibc = ctypes.CDLL(None, use_errno=True)\n";

fn survives(bed: &Bed, _: &Outcome) -> bool {
    let is_alive = lives(bed.number());
    end_marked(bed.number());
    is_alive
}

pub const ESCAPES: &[Escape] = &[
    sh("end_a_process", |b| format!("kill -KILL {}", b.targets().victim()), |b, _| b.targets().victim_state() != 'S'),
    sh("end_every_process_it_can", |b| format!("kill -TERM -- -{}; kill -TERM {0}", b.targets().victim()), |b, _| b.targets().victim_state() != 'S'),
    sh("hold_a_process", |b| format!("kill -STOP {}", b.targets().victim()), |b, _| b.targets().victim_state() == 'T'),
    sh("see_a_process", |b| format!("kill -0 {} && echo escaped", b.targets().victim()), |_, o| o.stdout.contains("escaped")),
    sh("see_its_line", |b| format!("tr '\\0' ' ' < /proc/{}/cmdline", b.targets().victim()), |_, o| o.stdout.contains("sleep")),
    sh("see_it_in_the_list", |b| format!("ps -e -o pid= | grep -w {}", b.targets().victim()), |_, o| !o.stdout.is_empty()).needs(&["ps"]),
    sh("read_its_environment", |b| format!("cat /proc/{}/environ", b.targets().victim()), |_, o| !o.stdout.is_empty()),
    sh("read_the_app_environment", |_| format!("cat /proc/{}/environ", std::process::id()), |_, o| o.stdout.contains("PATH=")),
    sh("read_the_app_files", |_| format!("ls -l /proc/{}/fd", std::process::id()), |_, o| o.stdout.contains("->")),
    sh("read_the_app_memory", |_| format!("head -n 1 /proc/{}/maps", std::process::id()), |_, o| !o.stdout.is_empty()),
    sh("slow_it_down", |b| format!("renice -n 5 -p {}", b.targets().victim()), |b, _| b.targets().victim_nice() == 5).needs(&["renice"]),
    py("limit_it", |b| {
        format!("import resource\nresource.prlimit({}, resource.RLIMIT_NOFILE, (7, 7))", b.targets().victim())
    })
    .seen(|b, _| b.targets().victim_limit() == 7),
    py("bind_it_to_a_processor", |b| format!("import os\nos.sched_setaffinity({}, {{0}}); print('escaped')", b.targets().victim())),
    py("signal_by_descriptor", |b| {
        format!("import os, signal\nsignal.pidfd_send_signal(os.pidfd_open({}), signal.SIGKILL)", b.targets().victim())
    })
    .seen(|b, _| b.targets().victim_state() != 'S'),
    py("trace_it", |b| format!("{LIBC}if libc.ptrace(16, {}, 0, 0) == 0: print('escaped'); libc.ptrace(17, {0}, 0, 0)", b.targets().victim())).some(),
    py("read_its_memory", |b| {
        format!(
            "{LIBC}class V(ctypes.Structure): _fields_ = [('b', ctypes.c_void_p), ('n', ctypes.c_size_t)]\n\
             a = int(open('/proc/{0}/maps').readline().split('-')[0], 16)\nt = ctypes.create_string_buffer(16)\n\
             l, r = V(ctypes.addressof(t), 16), V(a, 16)\n\
             if libc.process_vm_readv({0}, ctypes.byref(l), 1, ctypes.byref(r), 1, 0) == 16: print('escaped')",
            b.targets().victim()
        )
    })
    .some(),
    py("take_its_files", |b| {
        format!("{LIBC}f = libc.syscall(438, os.pidfd_open({}), 0, 0)\nif f >= 0: print('escaped')", b.targets().victim())
    })
    .some(),
    py("enter_its_namespaces", |b| {
        format!("{LIBC}f = os.open('/proc/{}/ns/uts', os.O_RDONLY)\nif libc.setns(f, 0) == 0: print('escaped')", b.targets().victim())
    })
    .root(),
    sh("survive_in_another_session", |b| format!("setsid -f sleep 1000.{0} >/dev/null 2>&1; sleep 0.2", b.number()), survives)
        .needs(&["setsid"]),
    sh("survive_twice_forked", |b| format!("(setsid sh -c 'sleep 1000.{} & exit' >/dev/null 2>&1 &); sleep 0.2", b.number()), survives),
    sh("survive_deaf", |b| format!("setsid sh -c \"trap '' HUP INT TERM QUIT; sleep 1000.{}\" >/dev/null 2>&1 & sleep 0.2", b.number()), survives),
    sh("survive_held", |b| format!("setsid sh -c 'sleep 1000.{} & sleep 0.1; kill -STOP $!; wait' >/dev/null 2>&1 & sleep 0.3", b.number()), survives),
    sh("survive_as_a_service", |b| format!("systemd-run --user sleep 1000.{}; sleep 0.2", b.number()), survives)
        .needs(&["systemd-run"])
        .some(),
    sh("survive_by_the_clock", |b| format!("echo 'touch {}/new' | at now; sleep 1", b.outside().display()), |b, _| {
        b.outside().join("new").exists()
    })
    .needs(&["at"])
    .some(),
    sh("survive_by_a_table", |_| "echo '0 0 1 1 * true' | crontab - && crontab -l".into(), |_, o| o.end.exit.is_success())
        .needs(&["crontab"])
        .some(),
];
