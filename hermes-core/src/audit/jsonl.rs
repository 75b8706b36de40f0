//! A log in a file: one line a record, each bound to the one before.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use tokio::runtime::Handle;

use super::{
    AuditError, AuditEvent, AuditRecord, AuditSink,
    chain::Head,
    verify::{MAX_LINE, head_beside, head_path, with_suffix},
};
use crate::{
    durable::{FileLock, sync_folder},
    version::Version,
};

/// Keeps the record in a file of JSON lines, to which several processes may append.
///
/// Beside the log lie `<log>.lock`, which every writer locks, and `<log>.head`, the log's
/// [`Head`]. Both files of text are readable by their owner only.
///
/// A line is appended whole: a process that is killed while it writes leaves half a line at most.
/// The next record completes it if only its end is missing; otherwise it removes it and says so in
/// a line [`AuditEvent::Recovered`]. A log that lacks lines its head knows, or whose last line was
/// changed, is not appended to: [`AuditError::Broken`].
///
/// # Examples
///
/// ```
/// use hermes_core::audit::{Durability, JsonlAudit};
///
/// let audit = JsonlAudit::new("/var/lib/shop/audit.jsonl").durability(Durability::Process);
/// # let _ = audit;
/// ```
#[derive(Clone, Debug)]
pub struct JsonlAudit {
    log: Arc<Log>,
}

/// What a record that was kept survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Durability {
    /// The end of the machine: every append is flushed to the disk before it returns. The default.
    #[default]
    Machine,
    /// The end of the process: flushing is left to the system. After a power cut the log may end
    /// early, which is then reported as lines that are missing.
    Process,
}

#[derive(Clone, Debug)]
struct Log {
    path: PathBuf,
    durability: Durability,
    patience: Duration,
}

impl JsonlAudit {
    const DEFAULT_PATIENCE: Duration = Duration::from_secs(5);

    /// Keeps the record in the file at `path`, which is created with the first one.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let (durability, patience) = (Durability::default(), Self::DEFAULT_PATIENCE);
        Self { log: Arc::new(Log { path: path.into(), durability, patience }) }
    }

    /// Sets what a record survives. [`Durability::Machine`] by default.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        Arc::make_mut(&mut self.log).durability = durability;
        self
    }

    /// Sets how long one waits for other writers. 5 seconds by default.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        Arc::make_mut(&mut self.log).patience = patience;
        self
    }

    /// Returns where the log is.
    pub fn path(&self) -> &Path {
        &self.log.path
    }
}

#[async_trait]
impl AuditSink for JsonlAudit {
    async fn append(&self, records: &[AuditRecord]) -> Result<(), AuditError> {
        let (log, records) = (Arc::clone(&self.log), records.to_vec());
        let Ok(runtime) = Handle::try_current() else { return log.append(&records) };
        let done = runtime.spawn_blocking(move || log.append(&records)).await;
        done.unwrap_or_else(|err| Err(AuditError::Backend(err.into())))
    }
}

/// How a log ends.
struct Tail {
    head: Head,
    /// Where its last whole line ends, in bytes.
    end: u64,
    /// What follows: half a line, or nothing.
    torn: Vec<u8>,
}

impl Log {
    fn append(&self, records: &[AuditRecord]) -> Result<(), AuditError> {
        let Some(first) = records.first() else { return Ok(()) };
        let io = |source| AuditError::Io { path: self.path.clone(), source };
        let _lock =
            FileLock::acquire(&with_suffix(&self.path, ".lock"), self.patience).map_err(io)?;
        let (mut file, is_new) = open(&self.path).map_err(io)?;
        let mut tail = self.tail(&mut file)?;
        self.compare(tail.head)?;
        let mut lines = String::new();
        if !tail.torn.is_empty() {
            tail.mend(first, &mut lines).map_err(io)?;
        }
        for record in records {
            tail.push(record, &mut lines).map_err(io)?;
        }
        let written = self.write(&mut file, &tail, lines.as_bytes());
        if written.is_err() {
            // What is left of it would be found torn the next time, so this may fail.
            let _ = file.set_len(tail.end);
        }
        written.map_err(io)?;
        if is_new && self.durability == Durability::Machine {
            let folder = self.path.parent().filter(|it| !it.as_os_str().is_empty());
            sync_folder(folder.unwrap_or(Path::new("."))).map_err(io)?;
        }
        write_head(&self.path, tail.head).map_err(io)
    }

    fn write(&self, file: &mut File, tail: &Tail, lines: &[u8]) -> io::Result<()> {
        if !tail.torn.is_empty() {
            file.set_len(tail.end)?;
        }
        file.seek(SeekFrom::Start(tail.end))?;
        file.write_all(lines)?;
        match self.durability {
            Durability::Machine => file.sync_data(),
            Durability::Process => Ok(()),
        }
    }

    /// Reads the end of the log.
    fn tail(&self, file: &mut File) -> Result<Tail, AuditError> {
        let io = |source| AuditError::Io { path: self.path.clone(), source };
        let length = file.seek(SeekFrom::End(0)).map_err(io)?;
        let mut window = 1 << 14;
        loop {
            let start = length.saturating_sub(window);
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(start)).map_err(io)?;
            file.take(window).read_to_end(&mut bytes).map_err(io)?;
            if let Some(tail) = split(&bytes, start) {
                return tail.map_err(|reason| self.broken(reason));
            }
            if 2 * MAX_LINE < window {
                return Err(self.broken("its last line is too long"));
            }
            window *= 4;
        }
    }

    /// Fails if the log lacks what its head knows.
    fn compare(&self, tail: Head) -> Result<(), AuditError> {
        let io = |source| AuditError::Io { path: self.path.clone(), source };
        match head_beside(&self.path).map_err(io)? {
            Some(head) if tail.lines < head.lines => {
                Err(self.broken("lines are missing at its end"))
            }
            Some(head) if tail.lines == head.lines && tail != head => {
                Err(self.broken("its last line is another"))
            }
            // A head that is behind was left by a process that was killed before it wrote the next.
            _ => Ok(()),
        }
    }

    fn broken(&self, reason: impl Into<String>) -> AuditError {
        AuditError::Broken { path: self.path.clone(), reason: reason.into() }
    }
}

/// Takes the end of a log, which begins at `start`, apart. Returns `None` if it begins within the
/// last whole line.
fn split(bytes: &[u8], start: u64) -> Option<Result<Tail, String>> {
    let is_end = |byte: &u8| *byte == b'\n';
    let whole = bytes.iter().rposition(is_end).map_or(0, |at| at + 1);
    let (lines, torn) = bytes.split_at_checked(whole)?;
    let Some(lines) = lines.strip_suffix(b"\n") else {
        let tail = Tail { head: Head::default(), end: 0, torn: torn.to_vec() };
        return (start == 0).then_some(Ok(tail));
    };
    let last = match lines.iter().rposition(is_end) {
        Some(before) => lines.get(before + 1..)?,
        None if start == 0 => lines,
        None => return None,
    };
    let end = start.saturating_add(u64::try_from(whole).unwrap_or(u64::MAX));
    let tail = Head::at(last).map(|head| Tail { head, end, torn: torn.to_vec() });
    Some(tail.map_err(|fault| format!("its last line {fault}")))
}

impl Tail {
    /// Completes half a line that lacks nothing but its end, and records the loss of any other.
    fn mend(&mut self, next: &AuditRecord, lines: &mut String) -> io::Result<()> {
        let bytes = u64::try_from(self.torn.len()).unwrap_or(u64::MAX);
        if let Ok(head) = self.head.follow(&self.torn) {
            self.head = head;
            self.end = self.end.saturating_add(bytes);
            self.torn.clear();
            lines.push('\n');
            return Ok(());
        }
        let event = AuditEvent::Recovered { bytes, digest: Version::of(&self.torn) };
        self.push(&AuditRecord { event, ..next.clone() }, lines)
    }

    fn push(&mut self, record: &AuditRecord, lines: &mut String) -> io::Result<()> {
        let (line, head) = self.head.seal(record)?;
        if MAX_LINE <= u64::try_from(line.len()).unwrap_or(u64::MAX).saturating_add(1) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a record is too long"));
        }
        lines.push_str(&line);
        lines.push('\n');
        self.head = head;
        Ok(())
    }
}

/// Opens the log, or creates it. Returns whether it did.
fn open(path: &Path) -> io::Result<(File, bool)> {
    let is_new = !path.exists();
    let mut options = OpenOptions::new();
    options.create(true).read(true).write(true).truncate(false);
    private(&mut options);
    Ok((options.open(path)?, is_new))
}

/// Makes a new file readable by its owner only, where the system can.
fn private(options: &mut OpenOptions) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    #[cfg(not(unix))]
    let _ = options;
}

/// Writes the head in place. All heads have the same length, and half of one is passed over.
fn write_head(path: &Path, head: Head) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(false);
    private(&mut options);
    options.open(head_path(path))?.write_all(format!("{head}\n").as_bytes())
}
