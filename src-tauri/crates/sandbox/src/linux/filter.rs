//! System calls that a command has no business with. Names are refused with EPERM, as an ordinary account would see them;
//! `clone3` and `openat2` with ENOSYS, because what they are told cannot be looked at and programs fall back to the older
//! calls.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Compare, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, sock_filter,
};

/// Refused whatever the arguments are.
const REFUSED: &[libc::c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_chroot,
    libc::SYS_pivot_root,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_lookup_dcookie,
    libc::SYS_nfsservctl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
];
const NAMESPACES: &[libc::c_int] = &[
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];
/// Calls that give a file its mode: which argument that is, and which one says whether a file is made at all. A program
/// that runs with the rights of its owner would be a way back to this account for others.
const MODES: &[(libc::c_long, u8, Option<u8>)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1, None),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1, None),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1, None),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 2, Some(1)),
    (libc::SYS_fchmod, 1, None),
    (libc::SYS_fchmodat, 2, None),
    (FCHMODAT2, 2, None),
    (libc::SYS_mknodat, 2, None),
    (libc::SYS_openat, 3, Some(2)),
];
/// The same number on every architecture.
const FCHMODAT2: libc::c_long = 452;
/// The bit of `O_TMPFILE` that no other flag has.
const UNNAMED: u64 = 0o20_000_000;
const TIOCLINUX: u64 = 0x541C;

/// The filters, to be applied in this order.
/// In the reduced tier there is no network namespace, so without network there are no sockets at all but pairs.
pub(super) fn programs(is_reduced: bool, host_network: bool) -> io::Result<Vec<BpfProgram>> {
    let mut rules = refused_rules().map_err(io::Error::other)?;
    if is_reduced {
        add_reduced_rules(&mut rules, host_network).map_err(io::Error::other)?;
    }
    let refused = compile(rules, libc::EPERM)?;
    let unknown = [libc::SYS_clone3, libc::SYS_openat2].map(|call| (call, Vec::new()));
    let unknown = compile(BTreeMap::from(unknown), libc::ENOSYS)?;
    let mut programs = vec![refused, unknown];
    if cfg!(target_arch = "x86_64") {
        programs.push(no_second_numbering());
    }
    Ok(programs)
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn refused_rules() -> Result<Rules, seccompiler::BackendError> {
    let is = |argument, value: u64| SeccompCondition::new(argument, Length::Dword, Compare::Eq, value);
    let is_not = |argument, value: u64| SeccompCondition::new(argument, Length::Dword, Compare::Ne, value);
    let number = |value: libc::c_int| u64::from(value.unsigned_abs());
    let mut rules: Rules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();

    let mut clone = Vec::new();
    for flag in NAMESPACES {
        let flag = number(*flag);
        let set = SeccompCondition::new(0, Length::Qword, Compare::MaskedEq(flag), flag)?;
        clone.push(SeccompRule::new(vec![set])?);
    }
    rules.insert(libc::SYS_clone, clone);

    for (call, mode, creates) in MODES {
        let mut owner_rules = Vec::new();
        for bit in [libc::S_ISUID, libc::S_ISGID] {
            let bit = u64::from(bit);
            let given = || SeccompCondition::new(*mode, Length::Dword, Compare::MaskedEq(bit), bit);
            match creates {
                None => owner_rules.push(SeccompRule::new(vec![given()?])?),
                Some(flags) => {
                    for creating in [number(libc::O_CREAT), UNNAMED] {
                        let made = SeccompCondition::new(
                            *flags,
                            Length::Dword,
                            Compare::MaskedEq(creating),
                            creating,
                        )?;
                        owner_rules.push(SeccompRule::new(vec![given()?, made])?);
                    }
                }
            }
        }
        rules.insert(*call, owner_rules);
    }

    let controls = [libc::TIOCSTI, TIOCLINUX];
    let controls = controls.map(|control| SeccompRule::new(vec![is(1, control)?]));
    rules.insert(libc::SYS_ioctl, controls.into_iter().collect::<Result<_, _>>()?);

    let families = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let other_family = families.map(|family| is_not(0, number(family)));
    let other_family = other_family.into_iter().collect::<Result<_, _>>()?;
    let other_netlink = vec![
        is(0, number(libc::AF_NETLINK))?,
        is_not(2, number(libc::NETLINK_ROUTE))?,
    ];
    rules.insert(
        libc::SYS_socket,
        vec![SeccompRule::new(other_family)?, SeccompRule::new(other_netlink)?],
    );
    Ok(rules)
}

/// What namespaces keep away otherwise: sockets of the machine, and limits and priorities of other processes.
fn add_reduced_rules(rules: &mut Rules, host_network: bool) -> Result<(), seccompiler::BackendError> {
    if !host_network {
        rules.insert(libc::SYS_socket, Vec::new());
    }
    let of_another = |argument| SeccompCondition::new(argument, Length::Dword, Compare::Ne, 0);
    for (call, argument) in [
        (libc::SYS_prlimit64, 0),
        (libc::SYS_sched_setaffinity, 0),
        (libc::SYS_sched_setattr, 0),
        (libc::SYS_sched_setparam, 0),
        (libc::SYS_sched_setscheduler, 0),
        (libc::SYS_ioprio_set, 1),
        (libc::SYS_setpriority, 1),
    ] {
        rules.insert(call, vec![SeccompRule::new(vec![of_another(argument)?])?]);
    }
    for call in [
        libc::SYS_shmget,
        libc::SYS_msgget,
        libc::SYS_semget,
        libc::SYS_mq_open,
    ] {
        rules.insert(call, Vec::new());
    }
    Ok(())
}

fn compile(rules: Rules, errno: libc::c_int) -> io::Result<BpfProgram> {
    let target = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let refusal = SeccompAction::Errno(errno.unsigned_abs());
    let filter =
        SeccompFilter::new(rules, SeccompAction::Allow, refusal, target).map_err(io::Error::other)?;
    BpfProgram::try_from(filter).map_err(io::Error::other)
}

/// Refuses the x32 numbering of calls, which would pass by the filters above.
fn no_second_numbering() -> BpfProgram {
    const LOAD_NUMBER: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const JUMP_IF_AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    const X32: u32 = 0x4000_0000;
    let refusal = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
    vec![
        sock_filter {
            code: LOAD_NUMBER,
            jt: 0,
            jf: 0,
            k: 0,
        },
        sock_filter {
            code: JUMP_IF_AT_LEAST,
            jt: 0,
            jf: 1,
            k: X32,
        },
        sock_filter {
            code: RETURN,
            jt: 0,
            jf: 0,
            k: refusal,
        },
        sock_filter {
            code: RETURN,
            jt: 0,
            jf: 0,
            k: libc::SECCOMP_RET_ALLOW,
        },
    ]
}
