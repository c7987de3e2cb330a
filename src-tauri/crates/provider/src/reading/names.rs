//! Names of tools on the wire: servers accept few characters, models invent prefixes.

use crate::ToolSpec;
use std::collections::HashMap;

/// Longest name that every server accepts.
const NAME_LIMIT: usize = 64;

/// Prefixes that models put before the name of a tool.
const PREFIXES: [&str; 7] = [
    "functions.",
    "functions/",
    "functions:",
    "default_api:",
    "default_api.",
    "tools.",
    "tool.",
];

/// The tools of one request: own name ↔ name on the wire.
#[derive(Debug, Default)]
pub(crate) struct ToolNames {
    wire: Vec<(String, String)>,
    own_by_wire: HashMap<String, usize>,
}

impl ToolNames {
    pub fn new(tools: &[ToolSpec]) -> Self {
        let mut names = Self::default();
        for (index, tool) in tools.iter().enumerate() {
            let mut wire = legal(&tool.name);
            let mut number = 2;
            while names.own_by_wire.contains_key(&wire) {
                let ending = format!("_{number}");
                let mut shorter = legal(&tool.name);
                shorter.truncate(NAME_LIMIT - ending.len());
                wire = shorter + &ending;
                number += 1;
            }
            names.own_by_wire.insert(wire.clone(), index);
            names.wire.push((tool.name.clone(), wire));
        }
        names
    }

    /// The name to send. Names of tools that are not offered (any more) are made legal too.
    pub fn to_wire(&self, own: &str) -> String {
        match self.wire.iter().find(|(name, _)| name == own) {
            Some((_, wire)) => wire.clone(),
            None => legal(own),
        }
    }

    /// The own names, in the order of the tools.
    pub fn own(&self) -> Vec<&str> {
        self.wire.iter().map(|(own, _)| own.as_str()).collect()
    }

    /// Every name that means an offered tool exactly.
    pub fn all(&self) -> Vec<&str> {
        let names = self.wire.iter();
        names
            .flat_map(|(own, wire)| [Some(own.as_str()), (wire != own).then_some(wire.as_str())])
            .flatten()
            .collect()
    }

    /// Whether the text is exactly the name of an offered tool.
    pub fn is_known(&self, wire: &str) -> bool {
        self.own_by_wire.contains_key(wire)
    }

    /// The own name of what a model asked for: exact, without a known prefix, or in another case, if that is exactly one
    /// tool; otherwise the name as it came.
    pub fn to_own(&self, asked: &str) -> String {
        let asked = asked.trim();
        if let Some(own) = self.exact(asked) {
            return own.to_string();
        }
        let bare = PREFIXES
            .iter()
            .find_map(|prefix| asked.strip_prefix(prefix))
            .unwrap_or(asked);
        if let Some(own) = self.exact(bare) {
            return own.to_string();
        }
        let mut alike = self
            .wire
            .iter()
            .filter(|(own, wire)| wire.eq_ignore_ascii_case(bare) || own.eq_ignore_ascii_case(bare));
        match (alike.next(), alike.next()) {
            (Some((own, _)), None) => own.clone(),
            _ => asked.to_string(),
        }
    }

    fn exact(&self, name: &str) -> Option<&str> {
        let index = self.own_by_wire.get(name).copied();
        let index = index.or_else(|| self.wire.iter().position(|(own, _)| own == name));
        index
            .and_then(|index| self.wire.get(index))
            .map(|(own, _)| own.as_str())
    }
}

fn legal(name: &str) -> String {
    let mut legal: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' || c == '-' {
                c
            } else {
                '_'
            }
        })
        .take(NAME_LIMIT)
        .collect();
    if !legal.starts_with(|c: char| c.is_ascii_alphabetic()) {
        legal.insert_str(0, "t_");
        legal.truncate(NAME_LIMIT);
    }
    legal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(own: &[&str]) -> ToolNames {
        let tools: Vec<ToolSpec> = own
            .iter()
            .map(|name| ToolSpec {
                name: (*name).into(),
                description: String::new(),
                parameters: serde_json::json!({"type": "object"}),
            })
            .collect();
        ToolNames::new(&tools)
    }

    #[test]
    fn names_are_made_legal_unique_and_found_again() {
        let long = "x".repeat(80);
        let names = names(&[
            "read_file",
            "mcp.server/read file",
            "mcp_server_read_file",
            "9lives",
            &long,
        ]);
        for own in [
            "read_file",
            "mcp.server/read file",
            "mcp_server_read_file",
            "9lives",
            &long,
        ] {
            let wire = names.to_wire(own);
            assert!(
                wire.len() <= 64 && wire.starts_with(|c: char| c.is_ascii_alphabetic()),
                "{wire}"
            );
            assert!(
                wire.chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'),
                "{wire}"
            );
            assert_eq!(names.to_own(&wire), own);
        }
        assert_eq!(names.to_wire("gone.tool"), "gone_tool");
    }

    #[test]
    fn invented_prefixes_and_cases_lead_to_the_one_tool_that_fits() {
        let names = names(&["read_file", "edit_file"]);
        for asked in [
            "functions.read_file",
            "default_api:read_file",
            "Read_File",
            " read_file ",
        ] {
            assert_eq!(names.to_own(asked), "read_file");
        }
        assert_eq!(names.to_own("make_coffee"), "make_coffee");
    }
}
