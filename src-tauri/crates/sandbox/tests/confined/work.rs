//! Ordinary work that a sandbox must not break.

use crate::bed::{Bed, Case};

pub const CASES: &[Case] = &[("work_echo", echo)];

fn echo(bed: &Bed) {
    let outcome = bed.run("echo hello; echo x > file; cat file; id; ls -la / ~; pwd; env; ps ax 2>&1; cat /proc/mounts | grep -v /sys/ | head -60");
    println!("{} {}", outcome.stdout, outcome.stderr);
    println!("{:?}", bed.confinement.facts());
    assert_eq!(bed.works("echo hello"), "hello\n");
}
