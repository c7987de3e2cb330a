//! Reading and writing who may do what with a file, and the token of a command: the calls of Windows for it, each wrapped
//! once, taking and returning owned values only.
#![allow(unsafe_code)]

use std::ffi::{OsStr, c_void};
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::Path;
use std::ptr::{null, null_mut};

use windows_sys::Win32::Foundation::{HANDLE, LocalFree};
use windows_sys::Win32::Security::Authorization::{
    ConvertSecurityDescriptorToStringSecurityDescriptorW, ConvertSidToStringSidW,
    ConvertStringSecurityDescriptorToSecurityDescriptorW, ConvertStringSidToSidW, GetNamedSecurityInfoW,
    SDDL_REVISION_1, SE_FILE_OBJECT, SetNamedSecurityInfoW,
};
use windows_sys::Win32::Security::{
    ACL, CreateRestrictedToken, DACL_SECURITY_INFORMATION, DISABLE_MAX_PRIVILEGE, GetSecurityDescriptorDacl,
    GetTokenInformation, LUA_TOKEN, PROTECTED_DACL_SECURITY_INFORMATION, SID_AND_ATTRIBUTES,
    SetTokenInformation, TOKEN_ADJUST_DEFAULT, TOKEN_ASSIGN_PRIMARY, TOKEN_DEFAULT_DACL, TOKEN_DUPLICATE,
    TOKEN_GROUPS, TOKEN_INFORMATION_CLASS, TOKEN_QUERY, TOKEN_USER, TokenDefaultDacl, TokenLogonSid,
    TokenUser, WRITE_RESTRICTED,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

use super::sid::EVERYONE;

/// A text as Windows takes it, with the zero at its end.
pub(super) fn wide(text: impl AsRef<OsStr>) -> Vec<u16> {
    text.as_ref().encode_wide().chain([0]).collect()
}

/// Memory that Windows gave and wants back.
struct Local(*mut c_void);

impl Drop for Local {
    fn drop(&mut self) {
        // SAFETY: it came from a function that says to free it this way, and is freed once.
        unsafe { LocalFree(self.0) };
    }
}

fn check(succeeded: i32) -> io::Result<()> {
    if succeeded == 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

fn check_code(code: u32) -> io::Result<()> {
    match code {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(i32::from_ne_bytes(
            code.to_ne_bytes(),
        ))),
    }
}

/// The list of a file or folder, as Windows writes it down.
pub(super) fn read_list(path: &Path) -> io::Result<String> {
    let path = wide(path);
    let mut descriptor = null_mut();
    let mut text = null_mut();
    // SAFETY: the path ends with zero; what is not asked for is null; what is given is freed by `Local`.
    unsafe {
        check_code(GetNamedSecurityInfoW(
            path.as_ptr(),
            SE_FILE_OBJECT,
            DACL_SECURITY_INFORMATION,
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
            &raw mut descriptor,
        ))?;
        let descriptor = Local(descriptor);
        check(ConvertSecurityDescriptorToStringSecurityDescriptorW(
            descriptor.0,
            SDDL_REVISION_1,
            DACL_SECURITY_INFORMATION,
            &raw mut text,
            null_mut(),
        ))?;
        let _text = Local(text.cast());
        Ok(text_at(text))
    }
}

/// Gives a file or folder a list; what it passes on reaches everything below, which takes a while the first time.
pub(super) fn write_list(path: &Path, list: &str, is_protected: bool) -> io::Result<()> {
    let path = wide(path);
    let descriptor = descriptor(list)?;
    let mut what = DACL_SECURITY_INFORMATION;
    if is_protected {
        what |= PROTECTED_DACL_SECURITY_INFORMATION;
    }
    // SAFETY: the path ends with zero; the list belongs to the descriptor, which lives longer than the call.
    unsafe {
        check_code(SetNamedSecurityInfoW(
            path.as_ptr(),
            SE_FILE_OBJECT,
            what,
            null_mut(),
            null_mut(),
            list_of(&descriptor)?,
            null(),
        ))
    }
}

fn descriptor(list: &str) -> io::Result<Local> {
    let text = wide(list);
    let mut descriptor = null_mut();
    // SAFETY: the text ends with zero; what is given is freed by `Local`.
    unsafe {
        check(ConvertStringSecurityDescriptorToSecurityDescriptorW(
            text.as_ptr(),
            SDDL_REVISION_1,
            &raw mut descriptor,
            null_mut(),
        ))?;
    }
    Ok(Local(descriptor))
}

/// The list in a descriptor. No list at all would let everyone do everything, so that is an error.
fn list_of(descriptor: &Local) -> io::Result<*mut ACL> {
    let (mut present, mut defaulted) = (0, 0);
    let mut list = null_mut();
    // SAFETY: the descriptor is a valid one, and so is everything that is written to.
    unsafe {
        check(GetSecurityDescriptorDacl(
            descriptor.0,
            &raw mut present,
            &raw mut list,
            &raw mut defaulted,
        ))?;
    }
    if present == 0 || list.is_null() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(list)
}

/// A token that may change only what names one of these identities, or everyone; without privileges. The first identity
/// is the one by which what a command makes, like its processes and pipes, is its own.
pub(super) fn restricted_token(identities: &[String]) -> io::Result<OwnedHandle> {
    let own = own_token()?;
    let user = user(&own)?;
    let names = identities
        .iter()
        .cloned()
        .chain([EVERYONE.to_owned()])
        .chain(log_on(&own));
    let sids: Vec<Local> = names.map(|name| sid(&name)).collect::<io::Result<_>>()?;
    let restricting: Vec<SID_AND_ATTRIBUTES> = sids
        .iter()
        .map(|sid| SID_AND_ATTRIBUTES {
            Sid: sid.0,
            Attributes: 0,
        })
        .collect();
    let count = u32::try_from(restricting.len()).unwrap_or(0);
    let mut token: HANDLE = null_mut();
    // SAFETY: the identities live longer than the call; the new handle is owned from here on.
    let token = unsafe {
        check(CreateRestrictedToken(
            own.as_raw_handle(),
            DISABLE_MAX_PRIVILEGE | LUA_TOKEN | WRITE_RESTRICTED,
            0,
            null(),
            0,
            null(),
            count,
            restricting.as_ptr(),
            &raw mut token,
        ))?;
        OwnedHandle::from_raw_handle(token)
    };
    let first = identities.first().map_or(EVERYONE, String::as_str);
    let made = descriptor(&format!("D:(A;;GA;;;SY)(A;;GA;;;{user})(A;;GA;;;{first})"))?;
    let default = TOKEN_DEFAULT_DACL {
        DefaultDacl: list_of(&made)?,
    };
    // SAFETY: the structure is the one of this class, and the list in it lives longer than the call.
    unsafe {
        check(SetTokenInformation(
            token.as_raw_handle(),
            TokenDefaultDacl,
            (&raw const default).cast(),
            size_of::<TOKEN_DEFAULT_DACL>() as u32,
        ))?;
    }
    Ok(token)
}

fn own_token() -> io::Result<OwnedHandle> {
    let mut token: HANDLE = null_mut();
    // SAFETY: the process's own handle needs no closing; the token's is owned from here on.
    unsafe {
        check(OpenProcessToken(
            GetCurrentProcess(),
            TOKEN_DUPLICATE | TOKEN_QUERY | TOKEN_ASSIGN_PRIMARY | TOKEN_ADJUST_DEFAULT,
            &raw mut token,
        ))?;
        Ok(OwnedHandle::from_raw_handle(token))
    }
}

/// The account of a token.
fn user(token: &OwnedHandle) -> io::Result<String> {
    let facts = facts(token, TokenUser, size_of::<TOKEN_USER>())?;
    // SAFETY: the buffer is at least this structure, aligned for it, and the identity is in the same buffer.
    unsafe { text_of_sid((*facts.as_ptr().cast::<TOKEN_USER>()).User.Sid) }
}

/// The identity of the log-on of a token; none where there was no log-on, as for services.
fn log_on(token: &OwnedHandle) -> Option<String> {
    let facts = facts(token, TokenLogonSid, size_of::<TOKEN_GROUPS>()).ok()?;
    // SAFETY: as above; the count says whether the one group is there.
    unsafe {
        let groups = facts.as_ptr().cast::<TOKEN_GROUPS>();
        ((*groups).GroupCount > 0)
            .then(|| text_of_sid((*groups).Groups[0].Sid).ok())
            .flatten()
    }
}

/// What Windows knows of a token, in a buffer that is aligned for every structure of it and holds `least` bytes.
fn facts(token: &OwnedHandle, class: TOKEN_INFORMATION_CLASS, least: usize) -> io::Result<Vec<u64>> {
    let mut size = 0;
    // SAFETY: a length of zero asks for the size only; then the buffer has the size that is said.
    unsafe {
        GetTokenInformation(token.as_raw_handle(), class, null_mut(), 0, &raw mut size);
        let mut buffer = vec![0u64; (size as usize).max(least).div_ceil(size_of::<u64>())];
        check(GetTokenInformation(
            token.as_raw_handle(),
            class,
            buffer.as_mut_ptr().cast(),
            size,
            &raw mut size,
        ))?;
        Ok(buffer)
    }
}

fn sid(text: &str) -> io::Result<Local> {
    let text = wide(text);
    let mut sid = null_mut();
    // SAFETY: the text ends with zero; what is given is freed by `Local`.
    unsafe { check(ConvertStringSidToSidW(text.as_ptr(), &raw mut sid))? };
    Ok(Local(sid))
}

/// # Safety
/// `sid` is a valid identity.
unsafe fn text_of_sid(sid: *mut c_void) -> io::Result<String> {
    let mut text = null_mut();
    // SAFETY: the identity is valid; what is given is freed by `Local`.
    unsafe {
        check(ConvertSidToStringSidW(sid, &raw mut text))?;
        let _text = Local(text.cast());
        Ok(text_at(text))
    }
}

/// # Safety
/// `text` points to a text that ends with zero.
unsafe fn text_at(text: *const u16) -> String {
    let mut length = 0;
    // SAFETY: nothing behind the zero is read.
    unsafe {
        while *text.add(length) != 0 {
            length += 1;
        }
        String::from_utf16_lossy(std::slice::from_raw_parts(text, length))
    }
}
