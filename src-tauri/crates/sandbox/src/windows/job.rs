//! The job that a command and everything it starts stays in, and the start of a process into it: the calls of Windows for
//! it. The job is there before the process, so no instruction of it runs outside.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle, RawHandle};
use std::ptr::{null, null_mut};

use windows_sys::Win32::Foundation::{HANDLE_FLAG_INHERIT, SetHandleInformation, WAIT_OBJECT_0};
use windows_sys::Win32::System::JobObjects::{
    CreateJobObjectW, IsProcessInJob, JOB_OBJECT_LIMIT_ACTIVE_PROCESS,
    JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION, JOB_OBJECT_LIMIT_JOB_MEMORY,
    JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, JOB_OBJECT_LIMIT_PROCESS_MEMORY, JOB_OBJECT_UILIMIT_DESKTOP,
    JOB_OBJECT_UILIMIT_DISPLAYSETTINGS, JOB_OBJECT_UILIMIT_EXITWINDOWS, JOB_OBJECT_UILIMIT_GLOBALATOMS,
    JOB_OBJECT_UILIMIT_HANDLES, JOB_OBJECT_UILIMIT_READCLIPBOARD, JOB_OBJECT_UILIMIT_SYSTEMPARAMETERS,
    JOB_OBJECT_UILIMIT_WRITECLIPBOARD, JOBOBJECT_BASIC_ACCOUNTING_INFORMATION,
    JOBOBJECT_BASIC_UI_RESTRICTIONS, JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JOBOBJECTINFOCLASS,
    JobObjectBasicAccountingInformation, JobObjectBasicUIRestrictions, JobObjectExtendedLimitInformation,
    QueryInformationJobObject, SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{
    CREATE_NO_WINDOW, CREATE_UNICODE_ENVIRONMENT, CreateProcessAsUserW, CreateProcessW,
    DeleteProcThreadAttributeList, EXTENDED_STARTUPINFO_PRESENT, GetCurrentProcess, GetExitCodeProcess,
    InitializeProcThreadAttributeList, LPPROC_THREAD_ATTRIBUTE_LIST, PROC_THREAD_ATTRIBUTE_HANDLE_LIST,
    PROC_THREAD_ATTRIBUTE_JOB_LIST, PROC_THREAD_ATTRIBUTE_MITIGATION_POLICY, PROCESS_INFORMATION,
    STARTF_USESTDHANDLES, STARTUPINFOEXW, UpdateProcThreadAttribute, WaitForSingleObject,
};

use super::command_line::Line;
use super::rights::wide;
use crate::command::ResourceLimits;

/// From the header `winbase.h`: no programs are hooked in from outside, and no libraries are loaded that a program of low
/// trust wrote. Both pass on to what is started.
const MITIGATIONS: u64 = 1 << 32 | 1 << 56;
/// Nothing of what windows share: clipboards, settings of the screen, names, windows of others, the end of the session.
const NO_WINDOWS: u32 = JOB_OBJECT_UILIMIT_HANDLES
    | JOB_OBJECT_UILIMIT_READCLIPBOARD
    | JOB_OBJECT_UILIMIT_WRITECLIPBOARD
    | JOB_OBJECT_UILIMIT_SYSTEMPARAMETERS
    | JOB_OBJECT_UILIMIT_DISPLAYSETTINGS
    | JOB_OBJECT_UILIMIT_GLOBALATOMS
    | JOB_OBJECT_UILIMIT_DESKTOP
    | JOB_OBJECT_UILIMIT_EXITWINDOWS;
/// What the processes of a job that is ended say.
const ENDED: u32 = 1;

fn check(succeeded: i32) -> io::Result<()> {
    if succeeded == 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Whether a job can keep what windows share away. Where Paddock itself was started in a job, Windows takes no process into
/// a further one that does.
pub(super) fn can_keep_windows_apart() -> bool {
    let mut is_in_job = 0;
    // SAFETY: the process's own handle needs no closing; without a job it is asked about any.
    let known = unsafe { IsProcessInJob(GetCurrentProcess(), null_mut(), &raw mut is_in_job) };
    known != 0 && is_in_job == 0
}

/// A job. When its last handle closes, also because Paddock died, Windows ends everything in it.
pub(super) struct Job(OwnedHandle);

impl Job {
    /// A job that nothing leaves, with limits.
    pub(super) fn new(limits: ResourceLimits) -> io::Result<Self> {
        // SAFETY: no attributes and no name; the handle is owned from here on.
        let job = unsafe {
            let handle = CreateJobObjectW(null(), null());
            if handle.is_null() {
                return Err(io::Error::last_os_error());
            }
            Self(OwnedHandle::from_raw_handle(handle))
        };
        let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let mut extended = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        extended.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
            | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION
            | JOB_OBJECT_LIMIT_ACTIVE_PROCESS
            | JOB_OBJECT_LIMIT_PROCESS_MEMORY
            | JOB_OBJECT_LIMIT_JOB_MEMORY;
        extended.BasicLimitInformation.ActiveProcessLimit = limits.processes;
        extended.ProcessMemoryLimit = bytes(limits.process_memory);
        extended.JobMemoryLimit = bytes(limits.memory);
        job.set(JobObjectExtendedLimitInformation, &extended)?;
        if can_keep_windows_apart() {
            let windows = JOBOBJECT_BASIC_UI_RESTRICTIONS {
                UIRestrictionsClass: NO_WINDOWS,
            };
            job.set(JobObjectBasicUIRestrictions, &windows)?;
        }
        Ok(job)
    }

    /// How many processes are in it.
    pub(super) fn processes(&self) -> u32 {
        let mut facts = JOBOBJECT_BASIC_ACCOUNTING_INFORMATION::default();
        match self.query(JobObjectBasicAccountingInformation, &mut facts) {
            Ok(()) => facts.ActiveProcesses,
            Err(_) => 0,
        }
    }

    /// The most memory that all its processes ever had together, and that one of them had; bytes.
    pub(super) fn peak_memory(&self) -> (u64, u64) {
        let mut facts = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        match self.query(JobObjectExtendedLimitInformation, &mut facts) {
            Ok(()) => (facts.PeakJobMemoryUsed as u64, facts.PeakProcessMemoryUsed as u64),
            Err(_) => (0, 0),
        }
    }

    /// Ends all its processes at once.
    pub(super) fn end(&self) {
        // SAFETY: the handle is one of a job.
        unsafe { TerminateJobObject(self.0.as_raw_handle(), ENDED) };
    }

    fn set<T>(&self, class: JOBOBJECTINFOCLASS, value: &T) -> io::Result<()> {
        // SAFETY: callers give the structure of the class; the size is its own.
        unsafe {
            check(SetInformationJobObject(
                self.0.as_raw_handle(),
                class,
                (&raw const *value).cast(),
                size_of::<T>() as u32,
            ))
        }
    }

    fn query<T>(&self, class: JOBOBJECTINFOCLASS, value: &mut T) -> io::Result<()> {
        // SAFETY: callers give the structure of the class; the size is its own.
        unsafe {
            check(QueryInformationJobObject(
                self.0.as_raw_handle(),
                class,
                (&raw mut *value).cast(),
                size_of::<T>() as u32,
                null_mut(),
            ))
        }
    }
}

/// The streams of a process: input, output, errors.
pub(super) type Streams = [OwnedHandle; 3];

/// What a process is started with.
pub(super) struct Start<'a> {
    pub(super) line: &'a Line,
    /// See `environment::block`.
    pub(super) environment: &'a [u16],
    pub(super) folder: &'a str,
    /// None: with the rights of the account.
    pub(super) token: Option<&'a OwnedHandle>,
    pub(super) job: &'a Job,
    pub(super) streams: Streams,
}

/// A process that runs.
pub(super) struct Process(OwnedHandle);

impl Process {
    /// Starts a process in a job, with three handles and no window.
    pub(super) fn start(start: Start<'_>) -> io::Result<Self> {
        let mut handles: [RawHandle; 3] = start.streams.each_ref().map(AsRawHandle::as_raw_handle);
        for handle in handles {
            // SAFETY: the handle is owned here. Which process inherits it the list below decides, for this start alone.
            unsafe {
                check(SetHandleInformation(
                    handle,
                    HANDLE_FLAG_INHERIT,
                    HANDLE_FLAG_INHERIT,
                ))?
            };
        }
        let mut jobs = [start.job.0.as_raw_handle()];
        let mut mitigations = MITIGATIONS;
        let mut attributes = Attributes::new(3)?;
        attributes.set(PROC_THREAD_ATTRIBUTE_HANDLE_LIST, &mut handles)?;
        attributes.set(PROC_THREAD_ATTRIBUTE_JOB_LIST, &mut jobs)?;
        attributes.set(PROC_THREAD_ATTRIBUTE_MITIGATION_POLICY, &mut mitigations)?;

        let mut begin = STARTUPINFOEXW::default();
        begin.StartupInfo.cb = size_of::<STARTUPINFOEXW>() as u32;
        begin.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
        [
            begin.StartupInfo.hStdInput,
            begin.StartupInfo.hStdOutput,
            begin.StartupInfo.hStdError,
        ] = handles;
        begin.lpAttributeList = attributes.list();
        let program = wide(&start.line.program);
        // Windows may write into the line, so it is a copy of its own.
        let mut line = wide(&start.line.line);
        let folder = wide(start.folder);
        let flags = CREATE_NO_WINDOW | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT;
        let mut made = PROCESS_INFORMATION::default();
        // SAFETY: every text ends with zero, and everything that is pointed to lives longer than the calls.
        let succeeded = unsafe {
            let begin = (&raw const begin).cast();
            let environment = start.environment.as_ptr().cast::<c_void>();
            match start.token {
                Some(token) => CreateProcessAsUserW(
                    token.as_raw_handle(),
                    program.as_ptr(),
                    line.as_mut_ptr(),
                    null(),
                    null(),
                    1,
                    flags,
                    environment,
                    folder.as_ptr(),
                    begin,
                    &raw mut made,
                ),
                None => CreateProcessW(
                    program.as_ptr(),
                    line.as_mut_ptr(),
                    null(),
                    null(),
                    1,
                    flags,
                    environment,
                    folder.as_ptr(),
                    begin,
                    &raw mut made,
                ),
            }
        };
        check(succeeded)?;
        // SAFETY: both handles are new and owned from here on; the thread's is not needed.
        unsafe {
            drop(OwnedHandle::from_raw_handle(made.hThread));
            Ok(Self(OwnedHandle::from_raw_handle(made.hProcess)))
        }
    }

    /// Its code, when it has ended.
    pub(super) fn exit_code(&self) -> Option<i32> {
        let mut code = 0;
        // SAFETY: the handle is one of a process.
        unsafe {
            if WaitForSingleObject(self.0.as_raw_handle(), 0) != WAIT_OBJECT_0 {
                return None;
            }
            check(GetExitCodeProcess(self.0.as_raw_handle(), &raw mut code)).ok()?;
        }
        Some(i32::from_ne_bytes(code.to_ne_bytes()))
    }
}

/// The list of attributes of a start.
struct Attributes(Vec<u64>);

impl Attributes {
    fn new(count: u32) -> io::Result<Self> {
        let mut size = 0;
        // SAFETY: without a list only the size is told; then the list has that size.
        unsafe {
            InitializeProcThreadAttributeList(null_mut(), count, 0, &raw mut size);
            let mut list = vec![0u64; size.div_ceil(size_of::<u64>())];
            check(InitializeProcThreadAttributeList(
                list.as_mut_ptr().cast(),
                count,
                0,
                &raw mut size,
            ))?;
            Ok(Self(list))
        }
    }

    fn list(&mut self) -> LPPROC_THREAD_ATTRIBUTE_LIST {
        self.0.as_mut_ptr().cast()
    }

    /// The value has to stay where it is as long as the list is used.
    fn set<T>(&mut self, which: u32, value: &mut T) -> io::Result<()> {
        // SAFETY: callers give the value of the attribute, and keep it; the size is its own.
        unsafe {
            check(UpdateProcThreadAttribute(
                self.list(),
                0,
                which as usize,
                (&raw mut *value).cast(),
                size_of::<T>(),
                null_mut(),
                null(),
            ))
        }
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: the list was initialised.
        unsafe { DeleteProcThreadAttributeList(self.list()) };
    }
}
