//! What the names in an archive say about it: the archive is not unpacked.

/// What unpacking an archive would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Harm {
    /// It writes outside the folder it is unpacked in.
    Climbs,
    /// It leaves a file that something runs by itself.
    Starts,
    /// It leaves a program that nobody can read.
    Holds,
}

/// How many names of an archive are looked at.
const NAMES_MAX: usize = 10_000;
/// The length of a block of a tar archive, in bytes.
const BLOCK: usize = 512;

/// Files that are run or obeyed without being asked for.
const STARTED: &[&str] = &[
    ".bashrc",
    ".zshrc",
    ".profile",
    ".bash_profile",
    ".zshenv",
    ".zprofile",
    "authorized_keys",
    "config.fish",
    ".cursorrules",
    "SOUL.md",
    "AGENTS.md",
    "CLAUDE.md",
];

/// How files of programs end that have no place in an archive of a skill.
const PROGRAM_ENDS: &[&str] =
    &["exe", "dll", "dylib", "msi", "scr", "jar", "apk", "pyc", "lnk", "vbs", "bat", "elf", "sys"];

/// Returns the worst that unpacking `bytes` would do, if they are an archive and it is harmful.
pub(super) fn harm(bytes: &[u8]) -> Option<Harm> {
    let names = if bytes.starts_with(b"PK\x03\x04") { zip(bytes) } else { tar(bytes) };
    if names.iter().any(|name| climbs(name)) {
        return Some(Harm::Climbs);
    }
    let is_started = |name: &&str| {
        let last = name.rsplit('/').next().unwrap_or(name);
        STARTED.contains(&last) || name.contains(".git/hooks/") || name.contains("autostart/")
    };
    let mut names = names.iter().map(String::as_str);
    if names.clone().any(|name| is_started(&name)) {
        return Some(Harm::Starts);
    }
    let is_program = |name: &str| {
        let end = name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
        end.is_some_and(|end| PROGRAM_ENDS.contains(&end.as_str()))
    };
    names.any(is_program).then_some(Harm::Holds)
}

/// Returns whether `bytes` are packed in a way that hides even the names of what is in them.
pub(super) fn is_sealed(bytes: &[u8]) -> bool {
    let starts: [&[u8]; 6] =
        [b"\x1f\x8b", b"\xfd7zXZ", b"BZh", b"7z\xbc\xaf\x27\x1c", b"Rar!", b"\x28\xb5\x2f\xfd"];
    starts.iter().any(|start| bytes.starts_with(start))
}

fn climbs(name: &str) -> bool {
    let name = name.replace('\\', "/");
    name.starts_with('/')
        || name.get(1..3) == Some(":/")
        || name.split('/').any(|part| part == "..")
}

/// Returns the names in the directory of a zip archive.
fn zip(bytes: &[u8]) -> Vec<String> {
    let number = |at: usize| -> Option<usize> {
        let pair: [u8; 2] = bytes.get(at..at + 2)?.try_into().ok()?;
        Some(usize::from(u16::from_le_bytes(pair)))
    };
    let name = |mark: usize, (length, start): (usize, usize)| {
        let start = mark + start;
        let name = bytes.get(start..start + number(mark + length)?)?;
        Some(String::from_utf8_lossy(name).into_owned())
    };
    let directory =
        memchr::memmem::find_iter(bytes, b"PK\x01\x02").filter_map(|mark| name(mark, (28, 46)));
    let files =
        memchr::memmem::find_iter(bytes, b"PK\x03\x04").filter_map(|mark| name(mark, (26, 30)));
    directory.take(NAMES_MAX).chain(files.take(NAMES_MAX)).collect()
}

/// Returns the names in the headers of a tar archive.
fn tar(bytes: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    let mut at = 0;
    while let Some(header) = bytes.get(at..at + BLOCK) {
        if header.get(257..262) != Some(b"ustar") || NAMES_MAX < names.len() {
            break;
        }
        let text = |from: usize, to: usize| {
            let field = header.get(from..to).unwrap_or_default();
            let field = field.split(|&byte| byte == 0).next().unwrap_or_default();
            String::from_utf8_lossy(field).into_owned()
        };
        let size = usize::from_str_radix(text(124, 136).trim(), 8).unwrap_or(0);
        names.extend([text(0, 100), text(157, 257)].into_iter().filter(|name| !name.is_empty()));
        at = at.saturating_add(BLOCK).saturating_add(size.div_ceil(BLOCK).saturating_mul(BLOCK));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a zip archive of one empty file.
    fn zipped(name: &str) -> Vec<u8> {
        let length = u16::try_from(name.len()).unwrap().to_le_bytes();
        let mut bytes = b"PK\x03\x04".to_vec();
        bytes.extend([0; 22]);
        bytes.extend(length);
        bytes.extend([0; 2]);
        bytes.extend(name.as_bytes());
        bytes
    }

    /// Returns a tar archive of one empty file.
    fn tarred(name: &str) -> Vec<u8> {
        let mut block = vec![0; BLOCK];
        block.splice(..name.len(), name.bytes());
        block.splice(257..262, *b"ustar");
        block
    }

    #[test]
    fn names_that_climb_or_start_are_told() {
        for pack in [zipped, tarred] {
            assert_eq!(harm(&pack("../../a")), Some(Harm::Climbs));
            assert_eq!(harm(&pack("/etc/a")), Some(Harm::Climbs));
            assert_eq!(harm(&pack("home/.zshrc")), Some(Harm::Starts));
            assert_eq!(harm(&pack("bin/a.EXE")), Some(Harm::Holds));
            assert_eq!(harm(&pack("data/a..b.csv")), None);
        }
        assert_eq!(harm(b"text"), None);
    }
}
