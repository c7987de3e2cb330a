//! Files outside: changing them, in every way a name can lead there, and reading them.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::{Escape, py, sh};
use crate::bed::{Bed, Outcome, exists};

fn out(bed: &Bed) -> String {
    bed.outside().display().to_string()
}

fn new_file(bed: &Bed, _: &Outcome) -> bool {
    exists(&bed.outside().join("new"))
}

fn secret_changed(bed: &Bed, _: &Outcome) -> bool {
    fs::read_to_string(bed.outside().join("secret")).ok().as_deref() != Some("PLANTED-SECRET")
}

fn secret_said(_: &Bed, outcome: &Outcome) -> bool {
    outcome.stdout.contains("PLANTED-SECRET")
}

fn links(bed: &Bed) {
    let project = bed.project();
    symlink(bed.outside().join("secret"), project.join("file")).unwrap();
    symlink(bed.outside(), project.join("folder")).unwrap();
    symlink("../outside", project.join("relative")).unwrap();
    symlink("relative", project.join("chain")).unwrap();
    symlink("/", project.join("top")).unwrap();
}

pub const ESCAPES: &[Escape] = &[
    sh("write_absolute", |b| format!("echo x > {}/new", out(b)), new_file),
    sh("write_dots", |_| "mkdir -p a/b; echo x > a/b/../../../outside/new".into(), new_file),
    sh("write_from_another_folder", |b| format!("cd {} && echo x > new", out(b)), new_file),
    sh("write_through_file_link", |_| "echo x > file".into(), secret_changed).before(links),
    sh("write_through_folder_link", |_| "echo x > folder/new".into(), new_file).before(links),
    sh("write_through_chain_of_links", |_| "echo x > chain/new".into(), new_file).before(links),
    sh("write_through_new_link", |b| format!("ln -s {} l && echo x > l/new", out(b)), new_file),
    sh("write_through_link_to_the_root", |b| format!("echo x > top{}/new", out(b)), new_file).before(links),
    sh("write_by_the_root_of_a_process", |b| format!("echo x > /proc/self/root{}/new", out(b)), new_file),
    sh("write_by_the_folder_of_a_process", |_| "echo x > /proc/self/cwd/../outside/new".into(), new_file),
    sh("write_by_a_descriptor", |b| format!("exec 7< {}; echo x > /proc/self/fd/7/new", out(b)), new_file),
    sh("write_by_the_app_root", |b| format!("echo x > /proc/{}/root{}/new", std::process::id(), out(b)), new_file).some(),
    sh("append", |b| format!("echo x >> {}/secret", out(b)), secret_changed),
    sh("truncate", |b| format!("truncate -s 0 {}/secret", out(b)), secret_changed),
    sh("delete", |b| format!("rm -f {}/secret", out(b)), secret_changed),
    sh("move_out", |b| format!("echo x > new && mv new {}/", out(b)), new_file),
    sh("move_in", |b| format!("mv {}/secret .", out(b)), secret_changed),
    sh("replace", |b| format!("echo x > n && cp --remove-destination n {}/secret", out(b)), secret_changed),
    sh("hard_link_and_write", |b| format!("ln {}/secret here && echo x > here", out(b)), secret_changed).some(),
    sh("hard_link_out", |b| format!("echo x > n && ln n {}/new", out(b)), new_file),
    sh("make_folder", |b| format!("mkdir {}/new", out(b)), new_file),
    sh("make_link_outside", |b| format!("ln -s x {}/new", out(b)), new_file),
    sh("make_pipe_outside", |b| format!("mkfifo {}/new", out(b)), new_file),
    sh("change_mode", |b| format!("chmod 755 {}/secret", out(b)), |b, _| {
        fs::metadata(b.outside().join("secret")).unwrap().permissions().mode() & 0o100 != 0
    }),
    sh("change_mode_through_link", |_| "chmod 755 file".into(), |b, _| {
        fs::metadata(b.outside().join("secret")).unwrap().permissions().mode() & 0o100 != 0
    })
    .before(links),
    sh("change_times", |b| format!("touch -d 2001-01-01 {}/secret", out(b)), |b, _| {
        fs::metadata(b.outside().join("secret")).unwrap().mtime() < 1_000_000_000
    }),
    py("change_attributes", |b| {
        format!("import os\nos.setxattr('{}/secret', 'user.paddock', b'x'); print('escaped')", out(b))
    })
    .some(),
    py("write_by_a_folder_opened_before", |b| {
        format!("import os\nd = os.open('{}', os.O_PATH)\nos.close(os.open('new', os.O_CREAT | os.O_WRONLY, dir_fd=d))", out(b))
    })
    .seen(new_file),
    py("write_shared_memory_of_a_file", |b| {
        format!(
            "import mmap, os\nf = os.open('{}/secret', os.O_RDWR); m = mmap.mmap(f, 0); m[0:1] = b'x'; m.flush()",
            out(b)
        )
    })
    .seen(secret_changed),
    sh("leave_in_tmp", |b| format!("echo x > /tmp/{}", b.name()), |b, _| taken(&format!("/tmp/{}", b.name()))),
    sh("leave_in_var_tmp", |b| format!("echo x > /var/tmp/{}", b.name()), |b, _| taken(&format!("/var/tmp/{}", b.name()))),
    sh("leave_in_shared_memory", |b| format!("echo x > /dev/shm/{}", b.name()), |b, _| taken(&format!("/dev/shm/{}", b.name()))),
    sh("leave_in_the_home_folder", |b| format!("echo x > ~/.{}", b.name()), |b, _| {
        taken(&format!("{}/.{}", std::env::home_dir().unwrap().display(), b.name()))
    }),
    sh("leave_in_the_system", |b| format!("echo x > /etc/{}", b.name()), |b, _| taken(&format!("/etc/{}", b.name()))).root(),
    sh("program_with_the_right_of_its_owner", |_| "cp /bin/sh own && chmod 6755 own".into(), |b, _| {
        fs::metadata(b.project().join("own")).is_ok_and(|found| found.permissions().mode() & 0o6000 != 0)
    }),
    py("program_made_with_the_right_of_its_owner", |_| {
        "import os\nos.umask(0); os.close(os.open('own', os.O_CREAT | os.O_WRONLY, 0o6755))".into()
    })
    .seen(|b, _| fs::metadata(b.project().join("own")).is_ok_and(|found| found.permissions().mode() & 0o6000 != 0)),
    sh("give_a_file_away", |_| "echo x > n && chown 12345 n".into(), |b, _| {
        fs::metadata(b.project().join("n")).is_ok_and(|found| found.uid() == 12345)
    })
    .root(),
    sh("read_absolute", |b| format!("cat {}/secret", out(b)), secret_said),
    sh("read_dots", |_| "cat ../outside/secret".into(), secret_said),
    sh("read_through_link", |_| "cat file folder/secret chain/secret".into(), secret_said).before(links),
    sh("read_by_the_root_of_a_process", |b| format!("cat /proc/self/root{}/secret", out(b)), secret_said),
    sh("read_by_a_copy", |b| format!("cp -r {} copy; cat copy/secret", out(b)), secret_said),
    sh("read_by_an_archive", |b| format!("tar cf - -C {} . | tar xOf - ./secret", out(b)), secret_said),
    sh("read_names", |b| format!("ls {}", out(b)), |_, o| o.stdout.contains("secret")),
    sh("read_facts", |b| format!("stat -c %s {}/secret", out(b)), |_, o| o.stdout.trim() == "14"),
    sh("read_other_projects_state", |b| format!("cat {}/planted", b.state().path().display()), secret_said).before(|b| {
        fs::create_dir_all(b.state().path()).unwrap();
        fs::write(b.state().path().join("planted"), "PLANTED-SECRET").unwrap();
    }),
    sh("read_a_secret_file_of_the_project", |_| "cat .env sub/server.pem".into(), secret_said).before(|b| {
        b.put(".env", "PLANTED-SECRET");
        b.put("sub/server.pem", "PLANTED-SECRET");
    }),
    sh("read_a_secret_file_by_a_hard_link", |_| "ln .env x; cat x".into(), secret_said)
        .before(|b| b.put(".env", "PLANTED-SECRET")),
    sh("read_keys_of_the_home_folder", |b| format!("cat ~/.ssh/{0}; cat \"$HOME\"/.aws/{0}", b.name()), |b, o| {
        let home = std::env::home_dir().unwrap();
        let _ = fs::remove_file(home.join(".ssh").join(b.name()));
        secret_said(b, o)
    })
    .before(|b| {
        let folder = std::env::home_dir().unwrap().join(".ssh");
        let _ = fs::create_dir(&folder);
        fs::write(folder.join(b.name()), "PLANTED-SECRET").unwrap();
    }),
    sh("read_passwords_of_the_system", |_| "cat /etc/shadow /etc/gshadow".into(), |_, o| o.stdout.contains("root:")).root(),
    py("read_by_a_handle", |b| {
        format!(
            "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\nh = ctypes.create_string_buffer(136)\n\
             ctypes.memmove(h, (128).to_bytes(4, 'little'), 4)\nm = ctypes.c_int()\n\
             r = libc.name_to_handle_at(-100, b'{0}/secret', h, ctypes.byref(m), 0)\nassert r == 0\n\
             d = os.open('{0}', os.O_RDONLY)\nf = libc.open_by_handle_at(d, h, 0)\nprint(os.read(f, 99))",
            out(b)
        )
    })
    .seen(secret_said)
    .some(),
    py("descriptor_left_open_by_the_app", |b| {
        format!("import os\nfor fd in range(3, 64):\n    try:\n        print(os.read(os.open('secret', os.O_RDONLY, dir_fd=fd), 99))\n    except OSError: pass\nprint('{}' and '')", b.name())
    })
    .before(|b| b.targets().keep_open(fs::File::open(b.outside()).unwrap()))
    .seen(secret_said),
];

/// Whether something is there; it is removed.
fn taken(path: &str) -> bool {
    fs::remove_file(path).is_ok()
}
