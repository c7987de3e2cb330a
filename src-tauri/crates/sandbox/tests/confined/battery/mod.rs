//! The battery: ways out, each tried twice. First without a sandbox, where it must be seen to lead out, so that the battery
//! is known to detect it; then confined, where it must not. Verdicts come from outside wherever there is one.

mod files;
mod kernel;
mod later;
mod processes;
mod sockets;

use crate::bed::{Bed, Outcome, has_program, is_root};

/// One way out.
#[derive(Clone, Copy)]
pub struct Escape {
    pub name: &'static str,
    needs: &'static [&'static str],
    /// Only root can do it without a sandbox.
    root_only: bool,
    /// Some machines refuse it to everybody, without a sandbox too.
    is_sure: bool,
    before: fn(&Bed),
    line: fn(&Bed) -> String,
    python: bool,
    escaped: fn(&Bed, &Outcome) -> bool,
}

/// A line for the shell.
const fn sh(name: &'static str, line: fn(&Bed) -> String, escaped: fn(&Bed, &Outcome) -> bool) -> Escape {
    Escape {
        name,
        needs: &[],
        root_only: false,
        is_sure: true,
        before: |_| {},
        line,
        python: false,
        escaped,
    }
}

/// A Python program that prints `escaped` when it got out, where nothing shows that outside.
const fn py(name: &'static str, program: fn(&Bed) -> String) -> Escape {
    Escape {
        python: true,
        needs: &["python3"],
        ..sh(name, program, |_, outcome| outcome.stdout.contains("escaped"))
    }
}

impl Escape {
    const fn seen(self, escaped: fn(&Bed, &Outcome) -> bool) -> Self {
        Self { escaped, ..self }
    }

    const fn before(self, before: fn(&Bed)) -> Self {
        Self { before, ..self }
    }

    const fn needs(self, needs: &'static [&'static str]) -> Self {
        Self { needs, ..self }
    }

    const fn root(self) -> Self {
        Self {
            root_only: true,
            ..self
        }
    }

    const fn some(self) -> Self {
        Self {
            is_sure: false,
            ..self
        }
    }

    fn gets_out(&self, bed: &Bed) -> (bool, Outcome) {
        (self.before)(bed);
        let mut line = (self.line)(bed);
        if self.python {
            bed.put("attempt.py", &line);
            line = "python3 attempt.py".into();
        }
        let outcome = bed.run(&line);
        ((self.escaped)(bed, &outcome), outcome)
    }

    /// Tries it twice.
    pub fn try_it(&self) {
        if let Some(missing) = self.needs.iter().find(|name| !has_program(name)) {
            println!("  ({}: {missing} is not there for this account)", self.name);
            return;
        }
        if self.root_only && !is_root() {
            println!("  ({}: only root could do it without a sandbox)", self.name);
            return;
        }
        let (seen, outcome) = self.gets_out(&Bed::without_sandbox());
        if !seen {
            assert!(
                !self.is_sure,
                "without a sandbox this did not lead out, so the battery would not see it: {outcome:#?}"
            );
            println!("  ({}: not possible here without a sandbox either)", self.name);
            return;
        }
        let (escaped, outcome) = self.gets_out(&Bed::new());
        assert!(!escaped, "escaped: {outcome:#?}");
    }

    /// Whether it leads out under this confinement, where it can be tried here.
    pub fn leads_out(&self, bed: &Bed) -> bool {
        let can = self.needs.iter().all(|name| has_program(name)) && (!self.root_only || is_root());
        can && self.gets_out(bed).0
    }
}

/// All of them.
pub fn all() -> impl Iterator<Item = Escape> {
    [
        files::ESCAPES,
        sockets::ESCAPES,
        processes::ESCAPES,
        kernel::ESCAPES,
        later::ESCAPES,
    ]
    .into_iter()
    .flatten()
    .copied()
}
