//! Lists of who may do what with a file, as Windows writes them down (SDDL): reading one, and the list that it becomes when
//! Paddock's own entries are put in or taken out. Pure text; the entries of others are never touched nor put in another
//! order.

use super::sid::EVERYONE;

/// Reading, writing, running and deleting, but neither giving rights nor deleting what has rights of its own from a folder.
pub(super) const CHANGE: u32 = 0x0013_01bf;
/// Everything that changes a file or folder, its entries, or who may do what with it.
pub(super) const ANY_CHANGE: u32 = 0x000d_0156;
/// Deleting, moving, giving rights.
pub(super) const MOVE: u32 = 0x000d_0000;
const GENERIC_ALL: u32 = 0x1000_0000;
const GENERIC_WRITE: u32 = 0x4000_0000;

/// Rights by the names that Windows writes for them.
const RIGHTS: &[(&str, u32)] = &[
    ("FA", 0x001f_01ff),
    ("FR", 0x0012_0089),
    ("FW", 0x0012_0116),
    ("FX", 0x0012_00a0),
    ("GA", GENERIC_ALL),
    ("GR", 0x8000_0000),
    ("GW", GENERIC_WRITE),
    ("GX", 0x2000_0000),
    ("RC", 0x0002_0000),
    ("SD", 0x0001_0000),
    ("WD", 0x0004_0000),
    ("WO", 0x0008_0000),
    ("CC", 0x1),
    ("DC", 0x2),
    ("LC", 0x4),
    ("SW", 0x8),
    ("RP", 0x10),
    ("WP", 0x20),
    ("DT", 0x40),
    ("LO", 0x80),
    ("CR", 0x100),
];

/// An entry that Paddock puts in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) allows: bool,
    pub(super) rights: u32,
    /// Whether it is about what lies below, too.
    pub(super) inherited: bool,
}

/// A list that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct List {
    /// What is said about the list as a whole.
    flags: String,
    entries: Vec<String>,
}

impl List {
    /// Reads a list; none when it is not understood, or when there is none, which lets everyone do everything.
    pub(super) fn read(text: &str) -> Option<Self> {
        let rest = text.trim().strip_prefix("D:")?;
        let begin = rest.find('(').unwrap_or(rest.len());
        let (flags, mut rest) = rest.split_at(begin);
        if flags.contains("NO_ACCESS_CONTROL") || !flags.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return None;
        }
        let mut entries = Vec::new();
        while !rest.is_empty() {
            let end = entry_end(rest)?;
            entries.push(rest[1..end].to_owned());
            rest = &rest[end + 1..];
        }
        Some(Self {
            flags: flags.to_owned(),
            entries,
        })
    }

    /// Whether it takes nothing from the folder above.
    pub(super) fn is_protected(&self) -> bool {
        // `AR` and `AI` are the others, and neither holds the letter.
        self.flags.contains('P')
    }

    pub(super) fn text(&self) -> String {
        let entries: String = self.entries.iter().map(|entry| format!("({entry})")).collect();
        format!("D:{}{entries}", self.flags)
    }

    /// The list with exactly these entries for an identity, refusals before permissions; none when it is so already.
    pub(super) fn with(&self, sid: &str, wanted: &[Entry]) -> Option<Self> {
        let is_own = |entry: &String| {
            let parts = Parts::of(entry);
            parts.trustee.eq_ignore_ascii_case(sid) && !parts.is_inherited()
        };
        let mut now: Vec<Entry> = self
            .entries
            .iter()
            .filter(|entry| is_own(entry))
            .filter_map(|entry| Parts::of(entry).own())
            .collect();
        let own_count = self.entries.iter().filter(|entry| is_own(entry)).count();
        let mut wanted = wanted.to_vec();
        wanted.sort_by_key(|entry| (entry.allows, entry.rights, entry.inherited));
        now.sort_by_key(|entry| (entry.allows, entry.rights, entry.inherited));
        if now == wanted && own_count == wanted.len() {
            return None;
        }
        let others: Vec<String> = self
            .entries
            .iter()
            .filter(|entry| !is_own(entry))
            .cloned()
            .collect();
        // Own refusals stand first, own permissions behind everybody's own refusals, before all that is inherited.
        let after_refusals = others
            .iter()
            .position(|entry| Parts::of(entry).is_inherited() || !Parts::of(entry).refuses())
            .unwrap_or(others.len());
        let written = |allows: bool| {
            wanted
                .iter()
                .filter(move |entry| entry.allows == allows)
                .map(|entry| entry.text(sid))
        };
        let entries = written(false)
            .chain(others[..after_refusals].iter().cloned())
            .chain(written(true))
            .chain(others[after_refusals..].iter().cloned())
            .collect();
        Some(Self {
            flags: self.flags.clone(),
            entries,
        })
    }

    /// Whether everyone, or everyone who is logged on here, may change what it is about. Such a place no token keeps a
    /// command from, because without these two hardly a program starts.
    pub(super) fn lets_everyone_change(&self) -> bool {
        self.entries.iter().any(|entry| {
            let parts = Parts::of(entry);
            let is_everyone =
                parts.trustee == "WD" || parts.trustee == EVERYONE || parts.trustee.starts_with("S-1-5-5-");
            let changes = parts
                .rights()
                .is_none_or(|rights| rights & (ANY_CHANGE | GENERIC_ALL | GENERIC_WRITE) != 0);
            is_everyone && parts.allows() && !parts.flags().any(|flag| flag == "IO") && changes
        })
    }
}

impl Entry {
    fn text(&self, sid: &str) -> String {
        let kind = if self.allows { "A" } else { "D" };
        let flags = if self.inherited { "OICI" } else { "" };
        format!("{kind};{flags};{:#x};;;{sid}", self.rights)
    }
}

/// An entry in its parts.
struct Parts<'a> {
    kind: &'a str,
    flags: &'a str,
    rights: &'a str,
    trustee: &'a str,
}

impl<'a> Parts<'a> {
    fn of(entry: &'a str) -> Self {
        let mut parts = entry.splitn(7, ';');
        let mut next = || parts.next().unwrap_or_default();
        let (kind, flags, rights) = (next(), next(), next());
        let (_object, _inherited_object, trustee) = (next(), next(), next());
        Self {
            kind,
            flags,
            rights,
            trustee,
        }
    }

    fn flags(&self) -> impl Iterator<Item = &'a str> {
        let flags = self.flags;
        (0..flags.len() / 2).filter_map(move |at| flags.get(2 * at..2 * at + 2))
    }

    fn is_inherited(&self) -> bool {
        self.flags().any(|flag| flag == "ID")
    }

    fn refuses(&self) -> bool {
        matches!(self.kind, "D" | "OD" | "XD")
    }

    fn allows(&self) -> bool {
        matches!(self.kind, "A" | "OA" | "XA" | "ZA")
    }

    fn rights(&self) -> Option<u32> {
        if let Some(number) = self.rights.strip_prefix("0x") {
            return u32::from_str_radix(number, 16).ok();
        }
        let mut rights = 0;
        let mut rest = self.rights;
        while !rest.is_empty() {
            let name = rest.get(..2)?;
            rights |= RIGHTS.iter().find(|(known, _)| *known == name)?.1;
            rest = &rest[2..];
        }
        Some(rights)
    }

    /// The entry as one of Paddock's; none when it is of another form.
    fn own(&self) -> Option<Entry> {
        let mut flags: Vec<&str> = self.flags().collect();
        flags.sort_unstable();
        let inherited = match flags.as_slice() {
            [] => false,
            ["CI", "OI"] => true,
            _ => return None,
        };
        let allows = match self.kind {
            "A" => true,
            "D" => false,
            _ => return None,
        };
        Some(Entry {
            allows,
            rights: self.rights()?,
            inherited,
        })
    }
}

/// Where the entry that a text begins with ends. Conditions of entries have brackets of their own, and texts in quotes.
fn entry_end(text: &str) -> Option<usize> {
    let (mut depth, mut quoted) = (0, false);
    for (at, letter) in text.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OWN: &str = "S-1-5-21-1-2-3-4";
    const USUAL: &str = "D:AI(A;OICIID;FA;;;SY)(A;OICIID;FA;;;BA)(A;OICIID;FA;;;S-1-5-21-9-9-9-1001)";

    fn allow(inherited: bool) -> Entry {
        Entry {
            allows: true,
            rights: CHANGE,
            inherited,
        }
    }

    fn deny(rights: u32, inherited: bool) -> Entry {
        Entry {
            allows: false,
            rights,
            inherited,
        }
    }

    #[test]
    fn an_entry_is_put_in_once_and_taken_out_again() {
        let before = List::read(USUAL).unwrap();
        let with = before.with(OWN, &[allow(true)]).unwrap();
        assert_eq!(
            with.text(),
            format!(
                "D:AI(A;OICI;0x1301bf;;;{OWN})(A;OICIID;FA;;;SY)(A;OICIID;FA;;;BA)(A;OICIID;FA;;;S-1-5-21-9-9-9-1001)"
            )
        );
        assert_eq!(List::read(&with.text()).unwrap().with(OWN, &[allow(true)]), None);
        assert_eq!(with.with(OWN, &[]), Some(before.clone()));
        assert_eq!(before.with(OWN, &[]), None);
    }

    #[test]
    fn refusals_stand_before_permissions_and_both_before_what_is_inherited() {
        let before = List::read("D:PAI(D;;FA;;;BG)(A;;FR;;;BU)(A;OICIID;FA;;;WD)").unwrap();
        let with = before
            .with(OWN, &[allow(false), deny(ANY_CHANGE, true), deny(MOVE, false)])
            .unwrap();
        assert_eq!(
            with.text(),
            format!(
                "D:PAI(D;;0xd0000;;;{OWN})(D;OICI;0xd0156;;;{OWN})(D;;FA;;;BG)(A;;0x1301bf;;;{OWN})(A;;FR;;;BU)(A;OICIID;FA;;;WD)"
            )
        );
        assert!(with.is_protected() && !List::read(USUAL).unwrap().is_protected());
    }

    #[test]
    fn an_inherited_entry_of_ones_own_is_not_ones_own_here() {
        let below = List::read(&format!("D:AI(A;OICIID;0x1301bf;;;{OWN})")).unwrap();
        assert_eq!(below.with(OWN, &[]), None);
        let with = below.with(OWN, &[deny(ANY_CHANGE, false)]).unwrap();
        assert_eq!(
            with.text(),
            format!("D:AI(D;;0xd0156;;;{OWN})(A;OICIID;0x1301bf;;;{OWN})")
        );
    }

    #[test]
    fn a_right_that_was_written_another_way_is_the_same_right() {
        let named = List::read(&format!("D:(A;CIOI;FRFWFXSD;;;{OWN})")).unwrap();
        assert_eq!(
            named.with(
                OWN,
                &[Entry {
                    allows: true,
                    rights: 0x1301bf,
                    inherited: true
                }]
            ),
            None
        );
        // Something else of the same identity is replaced.
        let other = List::read(&format!("D:(A;CIOINP;FA;;;{OWN})")).unwrap();
        assert_eq!(
            other.with(OWN, &[allow(true)]).unwrap().text(),
            format!("D:(A;OICI;0x1301bf;;;{OWN})")
        );
    }

    #[test]
    fn the_permission_gives_no_right_that_passes_by_a_refusal_below() {
        const DELETE_CHILD: u32 = 0x40;
        const GIVE_RIGHTS: u32 = 0xc_0000;
        assert_eq!(CHANGE & (DELETE_CHILD | GIVE_RIGHTS), 0);
        assert_eq!(
            ANY_CHANGE & (DELETE_CHILD | GIVE_RIGHTS),
            DELETE_CHILD | GIVE_RIGHTS
        );
        // Reading is not refused with changing.
        assert_eq!(ANY_CHANGE & 0x0002_00a9, 0);
    }

    #[test]
    fn places_of_everyone_are_found() {
        for (text, expected) in [
            ("D:(A;OICI;FA;;;WD)", true),
            ("D:(A;;0x100116;;;S-1-1-0)", true),
            ("D:(A;;GW;;;WD)", true),
            ("D:(A;;FA;;;S-1-5-5-0-12345)", true),
            ("D:(A;;ODD;;;WD)", true),
            ("D:(XA;;FW;;;WD;(@User.Title==\"a)b\"))", true),
            ("D:(A;;FR;;;WD)", false),
            ("D:(A;OICIIO;FA;;;WD)", false),
            ("D:(D;;FA;;;WD)", false),
            ("D:(A;;FA;;;BU)", false),
            (USUAL, false),
        ] {
            assert_eq!(
                List::read(text).unwrap().lets_everyone_change(),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_not_understood_is_not_taken_for_a_list() {
        for text in [
            "",
            "O:BAD:(A;;FA;;;SY)",
            "D:NO_ACCESS_CONTROL",
            "D:(A;;FA;;;SY",
            "D:(A;;FA;;;SY)x(A;;FA;;;WD)",
            "D:ai(A;;;;;)",
        ] {
            assert_eq!(List::read(text), None, "{text}");
        }
        assert_eq!(List::read("D:P").unwrap().text(), "D:P");
    }

    proptest! {
        #[test]
        fn others_entries_stay_in_their_order(
            kinds in prop::collection::vec((0..4usize, prop::bool::ANY), 0..8),
            wanted in prop::collection::vec((prop::bool::ANY, prop::bool::ANY), 0..3),
        ) {
            let mut others: Vec<String> = kinds
                .iter()
                .map(|(kind, inherited)| format!("{};{};0x{:x};;;BU", ["A", "D", "OA", "XD"][*kind], if *inherited { "ID" } else { "" }, kind + 1))
                .collect();
            others.sort_by_key(|entry| Parts::of(entry).is_inherited());
            let before = List { flags: "AI".into(), entries: others.clone() };
            let wanted: Vec<Entry> = wanted
                .into_iter()
                .map(|(allows, inherited)| Entry { allows, rights: CHANGE, inherited })
                .collect();
            let after = before.with(OWN, &wanted).unwrap_or(before);
            let kept: Vec<String> = after.entries.iter().filter(|entry| !entry.ends_with(OWN)).cloned().collect();
            prop_assert_eq!(kept, others);
            prop_assert_eq!(after.entries.iter().filter(|entry| entry.ends_with(OWN)).count(), wanted.len());
            let read_again = List::read(&after.text());
            prop_assert_eq!(read_again.as_ref(), Some(&after));
            prop_assert_eq!(after.with(OWN, &wanted), None);
            let inherited_at = after.entries.iter().position(|entry| Parts::of(entry).is_inherited());
            let own_at = after.entries.iter().rposition(|entry| entry.ends_with(OWN));
            if let (Some(inherited), Some(own)) = (inherited_at, own_at) {
                prop_assert!(own < inherited);
            }
        }

        #[test]
        fn reading_never_fails_badly(text in "D:[A-Z]{0,4}[()A-Z;\"0-9x-]{0,40}") {
            if let Some(list) = List::read(&text) {
                prop_assert_eq!(List::read(&list.text()), Some(list));
            }
        }
    }
}
