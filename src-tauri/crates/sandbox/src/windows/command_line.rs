//! How a program and its arguments become the one line that Windows knows. Most programs take it apart by the rules of the
//! C runtime; batch files are read by `cmd`, whose rules are others, and there a wrong quote runs something else. Pure.

/// The program that is started, by absolute path, and the line that it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) program: String,
    pub(super) line: String,
}

/// What of the machine decides how something is started.
pub(super) struct Machine<'a> {
    /// The folder of Windows.
    pub(super) windows: &'a str,
    /// The folder for programs of all accounts.
    pub(super) programs: &'a str,
    /// PATH and PATHEXT of the command.
    pub(super) path: &'a str,
    pub(super) endings: &'a str,
    /// Whether a file is there.
    pub(super) is_file: &'a dyn Fn(&str) -> bool,
}

/// Why a program cannot be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum LineError {
    #[error("there is no such program in PATH")]
    NotFound,
    #[error("a program or argument holds a character that no line can carry")]
    Unwritable,
    #[error("the line is longer than the 32,766 characters that Windows takes")]
    TooLong,
}

const LONGEST: usize = 32_766;
/// What PowerShell is told before and after a line. Texts are in UTF-8, and the last program's code is the shell's own.
const BEFORE: &str = "$ProgressPreference='SilentlyContinue'; \
     try { [Console]::OutputEncoding=[Text.UTF8Encoding]::new($false) } catch {}\n";
const AFTER: &str = "\nif (-not $?) { if ($LASTEXITCODE) { exit $LASTEXITCODE }; exit 1 }";

impl Machine<'_> {
    /// A line for PowerShell: the newer one where all accounts have it, because it knows `&&`; else that of Windows. Not
    /// the bash that comes with Git: it does not start with a token that may not write where it pleases.
    pub(super) fn shell(&self, line: &str) -> Result<Line, LineError> {
        let newer = format!(r"{}\PowerShell\7\pwsh.exe", self.programs);
        let program = if (self.is_file)(&newer) {
            newer
        } else {
            format!(r"{}\System32\WindowsPowerShell\v1.0\powershell.exe", self.windows)
        };
        // As code in base 64, the line needs no quotes at all.
        let script: Vec<u8> = format!("{BEFORE}{line}{AFTER}")
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let arguments = [
            "-NoLogo",
            "-NoProfile",
            "-NonInteractive",
            "-OutputFormat",
            "Text",
            "-EncodedCommand",
        ]
        .map(str::to_owned)
        .into_iter()
        .chain([base64(&script)]);
        bounded(&program, arguments.collect::<Vec<_>>().as_slice())
    }

    /// A program with arguments: by path, below the working folder when that is not absolute, or by name, looked up in
    /// PATH and never in the working folder.
    pub(super) fn program(
        &self,
        program: &str,
        arguments: &[String],
        folder: &str,
    ) -> Result<Line, LineError> {
        if program.is_empty() || program.contains(['"', '\0']) {
            return Err(LineError::Unwritable);
        }
        let found = if program.contains(['\\', '/', ':']) {
            let path = if is_absolute(program) {
                program.to_owned()
            } else {
                format!(r"{folder}\{program}")
            };
            self.with_ending(&path.replace('/', "\\"))
        } else {
            self.path
                .split(';')
                .map(|entry| entry.trim_matches('"').trim_end_matches('\\'))
                .filter(|entry| is_absolute(entry))
                .find_map(|entry| self.with_ending(&format!(r"{entry}\{program}")))
        };
        let found = found.ok_or(LineError::NotFound)?;
        if is_batch(&found) {
            return self.batch(&found, arguments);
        }
        bounded(&found, arguments)
    }

    /// The file itself when it names its kind, else with the first ending that makes it one.
    fn with_ending(&self, path: &str) -> Option<String> {
        let name = path.rsplit('\\').next().unwrap_or(path);
        let endings = || self.endings.split(';').filter(|ending| ending.starts_with('.'));
        let lower = name.to_lowercase();
        if endings().any(|ending| lower.ends_with(&ending.to_lowercase())) && (self.is_file)(path) {
            return Some(path.to_owned());
        }
        endings()
            .map(|ending| format!("{path}{}", ending.to_lowercase()))
            .find(|path| (self.is_file)(path))
    }

    /// A batch file, run by `cmd`: every argument in quotes, where only quotes and percent signs still mean something.
    fn batch(&self, path: &str, arguments: &[String]) -> Result<Line, LineError> {
        let mut line = format!("cmd.exe /e:ON /v:OFF /d /c \"\"{}\"", escaped_percent(path));
        for argument in arguments {
            if argument.contains(['\0', '\r', '\n']) {
                return Err(LineError::Unwritable);
            }
            line.push_str(" \"");
            let quoted = escaped_percent(argument).replace('"', "\"\"");
            line.push_str(&quoted);
            // The program behind the batch file may take a backslash before a quote for its escape.
            line.extend(quoted.chars().rev().take_while(|letter| *letter == '\\'));
            line.push('"');
        }
        line.push('"');
        fitting(format!(r"{}\System32\cmd.exe", self.windows), line)
    }
}

/// A percent sign that names no variable: between two of them stands nothing.
fn escaped_percent(text: &str) -> String {
    text.replace('%', "%%cd:~,%")
}

fn bounded(program: &str, arguments: &[String]) -> Result<Line, LineError> {
    let mut line = format!("\"{program}\"");
    for argument in arguments {
        if argument.contains('\0') {
            return Err(LineError::Unwritable);
        }
        line.push(' ');
        quote(&mut line, argument);
    }
    fitting(program.to_owned(), line)
}

fn fitting(program: String, line: String) -> Result<Line, LineError> {
    if line.encode_utf16().count() > LONGEST {
        return Err(LineError::TooLong);
    }
    Ok(Line { program, line })
}

/// Adds an argument by the rules of the C runtime: backslashes count only before a quote.
fn quote(line: &mut String, argument: &str) {
    if !argument.is_empty() && !argument.contains([' ', '\t', '\n', '\u{b}', '"']) {
        line.push_str(argument);
        return;
    }
    line.push('"');
    let mut backslashes = 0;
    for letter in argument.chars() {
        if letter == '\\' {
            backslashes += 1;
        } else {
            if letter == '"' {
                line.extend(std::iter::repeat_n('\\', backslashes + 1));
            }
            backslashes = 0;
        }
        line.push(letter);
    }
    line.extend(std::iter::repeat_n('\\', backslashes));
    line.push('"');
}

fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    bytes.len() >= 3 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && matches!(bytes[2], b'\\' | b'/')
        || path.starts_with(r"\\")
}

fn is_batch(path: &str) -> bool {
    let lower = path.trim_end_matches(['.', ' ']).to_lowercase();
    lower.ends_with(".bat") || lower.ends_with(".cmd")
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits =
            group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at)) as usize & 63];
            text.push(if at <= group.len() {
                char::from(letter)
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn machine<'a>(is_file: &'a dyn Fn(&str) -> bool) -> Machine<'a> {
        Machine {
            windows: r"C:\Windows",
            programs: r"C:\Program Files",
            path: r#".;relative\bin;C:\Tools\;"D:\more bin";\rooted"#,
            endings: ".COM;.EXE;.BAT;.CMD",
            is_file,
        }
    }

    /// The rules of the C runtime, read from its documentation: how a program takes a line apart.
    fn taken_apart(line: &str) -> Vec<String> {
        let mut letters = line.chars().peekable();
        let mut arguments = Vec::new();
        // The program's name has simpler rules: to the next quote.
        assert_eq!(letters.next(), Some('"'));
        arguments.push(letters.by_ref().take_while(|letter| *letter != '"').collect());
        loop {
            while letters.next_if(|letter| matches!(letter, ' ' | '\t')).is_some() {}
            if letters.peek().is_none() {
                return arguments;
            }
            let (mut argument, mut quoted) = (String::new(), false);
            loop {
                let mut backslashes = 0;
                while letters.next_if_eq(&'\\').is_some() {
                    backslashes += 1;
                }
                if letters.peek() == Some(&'"') {
                    argument.extend(std::iter::repeat_n('\\', backslashes / 2));
                    letters.next();
                    let is_doubled = backslashes % 2 == 0 && quoted && letters.next_if_eq(&'"').is_some();
                    if backslashes % 2 == 1 || is_doubled {
                        argument.push('"');
                    } else {
                        quoted = !quoted;
                    }
                    continue;
                }
                argument.extend(std::iter::repeat_n('\\', backslashes));
                match letters.next() {
                    None => break,
                    Some(' ' | '\t') if !quoted => break,
                    Some(letter) => argument.push(letter),
                }
            }
            arguments.push(argument);
        }
    }

    proptest! {
        #[test]
        fn a_program_gets_exactly_its_arguments(arguments in prop::collection::vec("[ab\\\\\" \t%^&|<>()\n]{0,8}", 0..5)) {
            let line = bounded(r"C:\a b\p.exe", &arguments).unwrap().line;
            let expected: Vec<String> = std::iter::once(r"C:\a b\p.exe".to_owned()).chain(arguments).collect();
            prop_assert_eq!(taken_apart(&line), expected);
        }

        /// Outside of quotes `cmd` would run what follows its signs; so nothing of an argument is ever outside.
        #[test]
        fn nothing_of_an_argument_of_a_batch_file_is_outside_of_quotes(arguments in prop::collection::vec("[a\" %^&|<>!\\\\]{0,8}", 0..4)) {
            let is_file = |_: &str| true;
            let line = machine(&is_file).program(r"C:\x\y.cmd", &arguments, r"C:\p").unwrap().line;
            let inner = line.split_once("/c \"").unwrap().1;
            let mut quoted = false;
            let mut outside = String::new();
            for letter in inner.chars() {
                if letter == '"' {
                    quoted = !quoted;
                } else if !quoted {
                    outside.push(letter);
                }
            }
            prop_assert!(outside.chars().all(|letter| letter == ' '), "{:?} of {}", outside, line);
            // Every percent sign is of the form that names nothing.
            prop_assert!(!line.replace("%%cd:~,%", "").contains('%'));
        }

        #[test]
        fn base_64_is_what_everybody_writes(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let text = base64(&bytes);
            prop_assert_eq!(text.len(), bytes.len().div_ceil(3) * 4);
            let value = |letter: u8| match letter {
                b'A'..=b'Z' => letter - b'A',
                b'a'..=b'z' => letter - b'a' + 26,
                b'0'..=b'9' => letter - b'0' + 52,
                b'+' => 62,
                _ => 63,
            };
            let letters = text.trim_end_matches('=').as_bytes();
            let mut read: Vec<u8> = Vec::new();
            for group in letters.chunks(4) {
                let bits = group.iter().fold(0u32, |bits, letter| bits << 6 | u32::from(value(*letter))) << (6 * (4 - group.len()));
                read.extend(&bits.to_be_bytes()[1..group.len()]);
            }
            prop_assert_eq!(read, bytes);
        }
    }

    #[test]
    fn base_64_of_known_texts() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn a_program_is_looked_up_in_absolute_folders_only() {
        let files = [
            r"C:\Tools\node.exe",
            r"C:\Tools\npm.cmd",
            r"D:\more bin\node.exe",
            r"C:\p\evil.exe",
            r"C:\Tools\a.b.exe",
        ];
        let is_file = |path: &str| files.contains(&path);
        let machine = machine(&is_file);
        let find = |name: &str| machine.program(name, &[], r"C:\p").map(|line| line.program);
        assert_eq!(find("node"), Ok(r"C:\Tools\node.exe".into()));
        assert_eq!(find("a.b"), Ok(r"C:\Tools\a.b.exe".into()));
        assert_eq!(find("npm"), Ok(r"C:\Windows\System32\cmd.exe".into()));
        assert_eq!(find("evil"), Err(LineError::NotFound));
        assert_eq!(find("./evil"), Err(LineError::NotFound));
        assert_eq!(find(r"C:\p\evil"), Ok(r"C:\p\evil.exe".into()));
        for bad in ["", "a\"b", "a\0"] {
            assert_eq!(find(bad), Err(LineError::Unwritable), "{bad}");
        }
    }

    #[test]
    fn batch_files_are_called_by_name_and_quoted_for_cmd() {
        let is_file = |path: &str| path == r"C:\Tools\npm.cmd";
        let line = machine(&is_file)
            .program("npm", &["run".into(), "a \"b\" %PATH% & c\\".into()], r"C:\p")
            .unwrap();
        assert_eq!(
            line.line,
            r#"cmd.exe /e:ON /v:OFF /d /c ""C:\Tools\npm.cmd" "run" "a ""b"" %%cd:~,%PATH%%cd:~,% & c\\"""#
        );
        let refused = machine(&is_file).program("npm", &["a\nb".into()], r"C:\p");
        assert_eq!(refused, Err(LineError::Unwritable));
    }

    #[test]
    fn a_shell_line_needs_no_quotes() {
        let nothing = |_: &str| false;
        let line = machine(&nothing).shell("echo \"a\" && 'ü'").unwrap();
        assert_eq!(
            line.program,
            r"C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe"
        );
        let arguments = taken_apart(&line.line);
        assert_eq!(arguments[6], "-EncodedCommand");
        assert!(
            arguments[7]
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
        );
        let newer = |path: &str| path == r"C:\Program Files\PowerShell\7\pwsh.exe";
        assert_eq!(
            machine(&newer).shell("x").unwrap().program,
            r"C:\Program Files\PowerShell\7\pwsh.exe"
        );
        assert_eq!(
            machine(&nothing).shell(&"x".repeat(20_000)),
            Err(LineError::TooLong)
        );
    }
}
