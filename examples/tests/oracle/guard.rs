//! Scores `hermes_skills::guard` on the vectors of the family `guard`.

use std::{
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

use hermes_skills::guard::{self, Folder, Report, Severity, Verdict};
use serde_json::Value;

/// Scores the vectors in `dir` and returns the line of the family.
///
/// The first `show` vectors that are judged wrongly are listed before it, by kind.
pub(crate) fn run(dir: &Path, show: usize) -> String {
    let lines = fs::read_to_string(dir.join("guard.jsonl")).unwrap_or_default();
    let mut score = Score { show, ..Score::default() };
    for vector in lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        if vector.get("files").is_some_and(Value::is_object) {
            score.add(&vector);
        }
    }
    score.print()
}

#[derive(Default)]
struct Score {
    show: usize,
    malicious: usize,
    found: usize,
    lookalike: usize,
    lookalike_flagged: usize,
    bundled: usize,
    bundled_caution: usize,
    bundled_dangerous: usize,
    shown: String,
    shown_count: usize,
}

impl Score {
    fn add(&mut self, vector: &Value) {
        let report = match judge(vector) {
            Ok(report) => report,
            Err(err) => {
                let _ = writeln!(self.shown, "{}: {err}", text(vector, "id"));
                return;
            }
        };
        let flagged = report.verdict != Verdict::Safe;
        let wrong = match (text(vector, "intent"), text(vector, "attack_class")) {
            ("malicious", _) => {
                self.malicious += 1;
                self.found += usize::from(flagged);
                !flagged
            }
            ("benign", "bundled" | "bundled_optional") => {
                self.bundled += 1;
                self.bundled_caution += usize::from(report.verdict == Verdict::Caution);
                self.bundled_dangerous += usize::from(report.verdict == Verdict::Dangerous);
                flagged
            }
            ("benign", _) => {
                self.lookalike += 1;
                self.lookalike_flagged += usize::from(flagged);
                flagged
            }
            _ => false,
        };
        if wrong {
            self.show_wrong(vector, &report);
        }
    }

    fn show_wrong(&mut self, vector: &Value, report: &Report) {
        self.shown_count += 1;
        if self.show < self.shown_count {
            return;
        }
        let (id, name) = (text(vector, "id"), text(vector, "skill_name"));
        let _ = writeln!(self.shown, "{:?} {id} {name}", report.verdict);
        for finding in report.findings.iter().filter(|it| Severity::Medium < it.severity) {
            let _ = writeln!(self.shown, "    {finding}");
        }
    }

    fn print(self) -> String {
        format!(
            "{}oracle guard found={} malicious={} lookalike_flagged={} lookalike={} \
             bundled_dangerous={} bundled_caution={} bundled={}",
            self.shown,
            self.found,
            self.malicious,
            self.lookalike_flagged,
            self.lookalike,
            self.bundled_dangerous,
            self.bundled_caution,
            self.bundled,
        )
    }
}

fn text<'v>(vector: &'v Value, key: &str) -> &'v str {
    vector.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Builds the folder of a vector on disk and scans it.
fn judge(vector: &Value) -> io::Result<Report> {
    let root = tempfile::tempdir()?;
    let folder = root.path().join("skill");
    fs::create_dir(&folder)?;
    for (path, file) in vector.get("files").and_then(Value::as_object).into_iter().flatten() {
        write(&folder.join(path), file)?;
    }
    Ok(guard::scan(&Folder::read(&folder)?))
}

fn write(path: &PathBuf, file: &Value) -> io::Result<()> {
    if path.to_string_lossy().ends_with('/') {
        return fs::create_dir_all(path);
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    if let Some(target) = file.get("symlink").and_then(Value::as_str) {
        return link(target, path);
    }
    fs::write(path, bytes(file))?;
    set_mode(path, text(file, "mode"))
}

fn bytes(file: &Value) -> Vec<u8> {
    if let Some(text) = file.get("text").and_then(Value::as_str) {
        return text.as_bytes().to_vec();
    }
    if let Some([unit, count]) = file.get("repeat").and_then(Value::as_array).map(Vec::as_slice) {
        let count = count.as_u64().and_then(|count| usize::try_from(count).ok());
        return unit.as_str().unwrap_or_default().repeat(count.unwrap_or_default()).into_bytes();
    }
    decode(text(file, "b64"))
}

/// Decodes base64, without a look at padding.
pub(crate) fn decode(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.bytes().filter_map(|byte| DIGITS.iter().position(|&digit| digit == byte));
    let (mut bits, mut width, mut bytes) = (0_usize, 0, Vec::new());
    for digit in digits {
        bits = (bits << 6 | digit) & 0xffff;
        width += 6;
        if 8 <= width {
            width -= 8;
            bytes.extend(u8::try_from(bits >> width & 0xff));
        }
    }
    bytes
}

#[cfg(unix)]
fn link(target: &str, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn link(_target: &str, _path: &Path) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: &str) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    match u32::from_str_radix(mode.trim_start_matches("0o"), 8) {
        Ok(mode) => fs::set_permissions(path, fs::Permissions::from_mode(mode)),
        Err(_) => Ok(()),
    }
}

#[cfg(not(unix))]
fn set_mode(_path: &Path, _mode: &str) -> io::Result<()> {
    Ok(())
}
