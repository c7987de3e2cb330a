//! A file for lines that never grows without bounds: when it is full it becomes `NAME.1`, and the oldest goes.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Bytes after which a new file is begun.
const FULL: u64 = 4 * 1024 * 1024;
/// Files kept besides the one that is written.
const OLDER: u32 = 2;

#[derive(Debug)]
pub struct Rotating {
    path: PathBuf,
    file: File,
    length: u64,
    full: u64,
}

impl Rotating {
    /// Appends to the file, which is made when missing, readable by its owner only.
    pub fn open(path: &Path) -> io::Result<Rotating> {
        Self::with_size(path, FULL)
    }

    fn with_size(path: &Path, full: u64) -> io::Result<Rotating> {
        let file = append_to(path)?;
        let length = file.metadata()?.len();
        Ok(Rotating {
            path: path.to_owned(),
            file,
            length,
            full,
        })
    }

    /// Writes one line whole. Another program that writes the same file goes on in the one that it has open.
    pub fn write(&mut self, line: &str) -> io::Result<()> {
        if self.length > 0 && self.length + line.len() as u64 > self.full {
            self.rotate()?;
        }
        self.file.write_all(line.as_bytes())?;
        self.length += line.len() as u64;
        Ok(())
    }

    fn rotate(&mut self) -> io::Result<()> {
        for number in (1..OLDER).rev() {
            let _ = std::fs::rename(self.older(number), self.older(number + 1));
        }
        let _ = std::fs::rename(&self.path, self.older(1));
        self.file = append_to(&self.path)?;
        self.length = self.file.metadata()?.len();
        Ok(())
    }

    fn older(&self, number: u32) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    }
}

fn append_to(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_file_steps_aside_and_the_oldest_goes() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("paddock.log");
        for round in 0..2 {
            let mut file = Rotating::with_size(&path, 20).unwrap();
            for number in 0..5 {
                file.write(&format!("line {round}{number}\n")).unwrap();
            }
        }
        let read = |name: &str| std::fs::read_to_string(place.path().join(name)).unwrap();
        assert_eq!(read("paddock.log"), "line 13\nline 14\n");
        assert_eq!(read("paddock.log.1"), "line 11\nline 12\n");
        assert_eq!(read("paddock.log.2"), "line 04\nline 10\n");
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 3);
        // One line that is longer than a file is written all the same.
        let mut file = Rotating::with_size(&path, 20).unwrap();
        file.write(&"x".repeat(50)).unwrap();
        assert_eq!(read("paddock.log").len(), 50);
    }
}
