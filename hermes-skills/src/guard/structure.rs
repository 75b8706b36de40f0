//! What the folder is made of: sizes, numbers, programs, links.

use super::{
    Category, Content, Entry, Finding, Folder, Link, Severity, Unread,
    archive::{self, Harm},
};

/// More files than this are unusual.
const FILES_USUAL: usize = 50;
/// More bytes than this in one file are unusual.
const FILE_USUAL: u64 = 256 * 1024;
/// More bytes than this in all are unusual.
const TOTAL_USUAL: u64 = 1024 * 1024;

/// How files of programs end.
const PROGRAM_ENDS: &[&str] = &[
    "exe", "dll", "so", "dylib", "msi", "dmg", "app", "deb", "rpm", "com", "scr", "jar", "apk",
    "class", "pyc", "pyd", "lnk", "xpi", "crx", "pkg", "node", "wasm", "o", "a", "ko", "sys",
];

/// How files of programs begin.
const PROGRAM_STARTS: &[&[u8]] = &[
    b"\x7fELF",
    b"MZ",
    b"\xfe\xed\xfa\xce",
    b"\xfe\xed\xfa\xcf",
    b"\xce\xfa\xed\xfe",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
    b"\0asm",
    b"!<arch>\n",
    b"dex\n",
];

/// Returns what is unusual about the folder itself.
pub(super) fn find(folder: &Folder) -> Vec<Finding> {
    let mut findings: Vec<Finding> = folder.entries().iter().flat_map(of_entry).collect();
    let sizes = folder.entries().iter().map(size);
    if TOTAL_USUAL < sizes.fold(0, u64::saturating_add) {
        findings.push(whole("", "oversized_skill", Severity::Medium, "is unusually large"));
    }
    if FILES_USUAL < folder.entries().len() {
        findings.push(whole("", "too_many_files", Severity::Low, "has unusually many files"));
    }
    findings
}

/// Returns whether `bytes` are no text.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    is_program(bytes) || bytes.iter().take(8_192).any(|&byte| byte == 0)
}

/// Returns whether `bytes` are a program of some machine.
pub(super) fn is_program(bytes: &[u8]) -> bool {
    let is_text = bytes.starts_with(b"MZ") && !bytes.iter().take(64).any(|&byte| byte < 9);
    !is_text && PROGRAM_STARTS.iter().any(|start| bytes.starts_with(start))
}

fn size(entry: &Entry) -> u64 {
    match &entry.content {
        Content::Bytes(bytes) => bytes.len() as u64,
        Content::Unread(Unread::TooLarge(length) | Unread::NoRoom(length)) => *length,
        Content::Unread(Unread::NoFile) | Content::Link(_) => 0,
    }
}

fn of_entry(entry: &Entry) -> Vec<Finding> {
    let Entry { path, content, is_executable } = entry;
    let extension = path.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
    let is_named = extension.is_some_and(|end| PROGRAM_ENDS.contains(&end.as_str()));
    let mut findings = Vec::new();
    let mut add = |id, severity, reason| findings.push(whole(path, id, severity, reason));
    match content {
        Content::Link(Link::Outside) => {
            add("symlink_escape", Severity::Critical, "is a link out of the folder");
        }
        Content::Link(Link::Broken) => {
            add("broken_symlink", Severity::Medium, "is a link that leads nowhere");
        }
        Content::Link(Link::Inside) => {}
        Content::Unread(why) => add(
            "unread_file",
            Severity::High,
            match why {
                Unread::TooLarge(_) => "is too large to be looked at",
                Unread::NoRoom(_) => "comes after more than can be looked at",
                Unread::NoFile => "is no file that can be looked at",
            },
        ),
        Content::Bytes(bytes) => {
            if is_named || is_program(bytes) {
                add("binary_file", Severity::Critical, "is a program nobody can read");
            } else if *is_executable && is_binary(bytes) {
                add("executable_data", Severity::High, "is executable and no text");
            }
            match archive::harm(bytes) {
                Some(Harm::Climbs) => {
                    add("archive_escape", Severity::Critical, "unpacks outside its folder");
                }
                Some(Harm::Starts) => {
                    add("archive_startup", Severity::High, "unpacks what is run by itself");
                }
                Some(Harm::Holds) => {
                    add("archive_program", Severity::High, "unpacks a program nobody can read");
                }
                None => {}
            }
            if FILE_USUAL < bytes.len() as u64 {
                add("oversized_file", Severity::Medium, "is unusually large");
            }
        }
    }
    findings
}

fn whole(path: &str, id: &'static str, severity: Severity, reason: &'static str) -> Finding {
    let category = match id {
        "symlink_escape" | "archive_escape" => Category::Traversal,
        "archive_startup" => Category::Persistence,
        _ => Category::Structure,
    };
    Finding {
        file: path.to_owned(),
        line: 0,
        id: id.into(),
        category,
        severity,
        reason: reason.into(),
        excerpt: String::new(),
    }
}
