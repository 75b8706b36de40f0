//! What names stand for, so that a command spread over several lines is judged as one.

use std::{borrow::Cow, collections::HashMap, sync::LazyLock};

use aho_corasick::AhoCorasick;
use regex::Regex;

use super::{expression, fold::fold, lines::FOLLOWED_MAX, room::Room, text};

/// How much of a value is remembered, in bytes.
const VALUE_MAX: usize = 1_024;
/// How many names of a program are remembered.
const NAMES_MAX: usize = 16_384;
/// How many files that a program downloads are remembered.
const DOWNLOADS_MAX: usize = 64;

/// Values that matter: secrets, places, decoders, connections, programs.
const MARKS: &[&str] = &[
    "environ",
    "getenv",
    "process.env",
    "env:",
    "printenv",
    "$(env",
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    "id_rsa",
    "id_ed25519",
    "credentials",
    ".env",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    "wallet",
    "login data",
    "cookies",
    "keychain",
    "b64decode",
    "base64",
    "atob",
    "buffer.from",
    "fromhex",
    "decompress",
    "marshal",
    "codecs",
    "rot13",
    "unhexlify",
    "pickle",
    "fromcharcode",
    "chr(",
    "\\x",
    "socket",
    "spawn",
    "subprocess",
    "curl",
    "wget",
    "requests.",
    "urlopen",
    "fetch",
    "http",
    "webclient",
    "path.home",
    "expanduser",
    "homedir",
    "userprofile",
    "$home",
    "~/",
    "/etc/",
    "/dev/",
    "/proc/",
    "token",
    "secret",
    "password",
    "api_key",
    "httpx.",
    "recv(",
    "invoke-",
    "download",
    "logins.json",
    "key4.db",
    "cookies.sqlite",
    "|sh",
    "| sh",
    "|bash",
    "| bash",
];

/// Programs whose names matter when they are put together or given another name.
const PROGRAMS: &[&str] = &[
    "rm",
    "sh",
    "bash",
    "zsh",
    "nc",
    "ncat",
    "curl",
    "wget",
    "eval",
    "exec",
    "iex",
    "dd",
    "shred",
    "mkfs",
    "python",
    "python3",
    "perl",
    "node",
    "ruby",
    "powershell",
    "pwsh",
    "base64",
    "crontab",
    "chmod",
];

/// What a line has one of that defines a name.
const WORDS: &[&str] =
    &["=", "for", "with", "curl", "wget", "urlretrieve", "DownloadFile", "-OutFile"];

static MARK: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().ascii_case_insensitive(true).build(MARKS).ok());

/// A name, and what it stands for: an assignment, a loop or a file that is opened.
static DEFINITION: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"^\s*(?:(?:export|local|readonly|declare|const|let|var|my|set)\s+)?\$?(\w+)(?:\s*:\s*\w+)?\s*:?=\s*([^=\s].*)$",
        r"\bfor\s+\(?\s*(?:(?:const|let|var)\s+)?\$?(\w+)(?:\s*,\s*\w+){0,3}\)?\s+(?:in|of)\s+(.+?)\s*(?:;|:\s*$|\bdo\b|$)",
        r"\bwith\s+(open\([^)]*\)+)\s+as\s+(\w+)",
        r#"\b(?:curl|wget)\b.*?(?:\s-[A-Za-z]*[oO]\s*|--output[ =]|--output-document[ =]|\s>\s*)(\S+)|(?i)\b(?:urlretrieve|downloadfile)\s*\([^,]+,\s*["']?([^"'),]+)|(?i)-outfile\s+(\S+)"#,
    ]
    .into_iter()
    .filter_map(expression::compile)
    .collect()
});

/// A line with its literals put together.
#[derive(Debug)]
pub(super) struct Folded<'l> {
    line: &'l str,
    folded: Cow<'l, str>,
}

impl<'l> Folded<'l> {
    /// Puts together what stands in `line`, or returns `None` if it is too long.
    pub(super) fn new(line: &'l str) -> Option<Self> {
        (line.len() <= FOLLOWED_MAX).then(|| Self { line, folded: fold(line) })
    }
}

/// What the names of one file stand for.
#[derive(Debug, Default)]
pub(super) struct Values {
    values: HashMap<String, String>,
    /// Files that a line has downloaded, with that line.
    downloads: Vec<(String, String)>,
}

impl Values {
    /// Returns `line` with names replaced by what they stand for, or `None` if it has none.
    ///
    /// A list of arguments becomes a command, and a line that runs a downloaded file follows the
    /// line that downloaded it. What makes the line longer takes from `room`, and is left out when
    /// there is none.
    pub(super) fn expand(&self, line: &Folded<'_>, room: &mut Room) -> Option<String> {
        let Folded { line, folded } = line;
        let mut expanded = self.replaced(folded, |bytes| room.take(bytes));
        if expanded.contains(',')
            && ["\", \"", "\",\"", "', '", "','"].iter().any(|between| expanded.contains(between))
        {
            let flat = expanded.replace("\", \"", " ").replace("\",\"", " ");
            expanded = Cow::Owned(flat.replace("', '", " ").replace("','", " "));
        }
        let download = self.downloads.iter().find(|(file, _)| line.contains(file.as_str()));
        if let Some((_, before)) = download
            && room.take(before.len())
        {
            expanded = Cow::Owned(format!("{before} ; {expanded}"));
        }
        (expanded != *line).then(|| expanded.into_owned())
    }

    /// Replaces the names of `line`, as long as it `may_grow` by so many bytes.
    fn replaced<'l>(&self, line: &'l str, mut may_grow: impl FnMut(usize) -> bool) -> Cow<'l, str> {
        if self.values.is_empty() {
            return Cow::Borrowed(line);
        }
        let mut out = String::new();
        let mut copied = 0;
        let mut is_replaced = false;
        for (name, start, end) in names(line) {
            let Some(value) = self.values.get(name) else { continue };
            if !may_grow(value.len().saturating_sub(end - start)) {
                break;
            }
            is_replaced = true;
            out.push_str(line.get(copied..start).unwrap_or_default());
            out.push_str(value);
            copied = end;
        }
        if !is_replaced {
            return Cow::Borrowed(line);
        }
        out.push_str(line.get(copied..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// Remembers what `line` defines; `expanded` is the line with names replaced.
    pub(super) fn learn(&mut self, line: &Folded<'_>, expanded: Option<&str>, room: &mut Room) {
        let Folded { line, folded } = line;
        let [assignment, each, with, download] = DEFINITION.as_slice() else { return };
        if !WORDS.iter().any(|word| line.contains(word)) {
            return;
        }
        if let Some(found) = assignment.captures(folded) {
            let name = found.get(1).map_or("", |it| it.as_str());
            let value = found.get(2).map_or("", |it| it.as_str());
            let mut grown = 0;
            let value = self.replaced(value, |bytes| {
                grown += bytes;
                grown <= VALUE_MAX
            });
            let value = value.into_owned();
            self.remember(name, &value, room);
        } else if let Some(found) = each.captures(expanded.unwrap_or(line)) {
            let part = |index| found.get(index).map_or("", |it| it.as_str());
            self.remember(part(1), part(2), room);
        }
        if let Some(found) = with.captures(expanded.unwrap_or(line)) {
            let part = |index| found.get(index).map_or("", |it| it.as_str());
            self.remember(part(2), part(1), room);
        }
        if let Some(file) = download
            .captures(line)
            .and_then(|found| [1, 2, 3].into_iter().find_map(|at| found.get(at)))
        {
            let file = file.as_str().trim_matches(['"', '\'', '`']);
            // A file without a name of its own is called what the address ends in.
            let file =
                if file.contains("://") { file.rsplit('/').next().unwrap_or("") } else { file };
            let is_name = 2 < file.len() || 1 < file.len() && file.starts_with('$');
            if is_name && !file.starts_with('-') && file != "/dev/null" {
                if DOWNLOADS_MAX <= self.downloads.len() {
                    self.downloads.remove(0);
                    room.exceed();
                }
                self.downloads.push((file.to_owned(), line.trim().to_owned()));
            }
        }
    }

    fn remember(&mut self, name: &str, value: &str, room: &mut Room) {
        let whole = value.trim().trim_end_matches(';');
        let value = whole.get(..text::boundary(whole, VALUE_MAX)).unwrap_or_default();
        let program = PROGRAMS.contains(&program_name(value));
        let is_marked = program || MARK.as_ref().is_some_and(|marks| marks.is_match(value));
        let is_plain = unquoted(value) == value && value.contains(char::is_whitespace);
        // Of what is remembered as it stands anyway, the words need not be looked at.
        let place = !(is_marked && is_plain) && value.split_whitespace().any(is_whole_place);
        if !place && !is_marked {
            self.values.remove(name);
            return;
        }
        let bare = if place || program { unquoted(value) } else { value };
        let is_word = place && !value.contains(char::is_whitespace);
        let bare = if is_word { bare.replace(['"', '\''], "") } else { bare.to_owned() };
        if value.len() < whole.len() {
            room.pass_over();
        }
        if self.values.len() < NAMES_MAX || self.values.contains_key(name) {
            self.values.insert(name.to_owned(), bare);
        } else {
            room.exceed();
        }
    }
}

/// Returns the name of the program that `value` is, without quotes and folder.
fn program_name(value: &str) -> &str {
    let bare = unquoted(value);
    bare.rsplit('/').next().unwrap_or(bare)
}

/// Returns whether a word is a whole disk or home, whatever quotes are in it.
fn is_whole_place(word: &str) -> bool {
    /// The longest such word.
    const LONGEST: usize = "${HOME}/*".len();
    let mut bare = [0; LONGEST];
    let mut length = 0;
    for byte in word.bytes().filter(|byte| !matches!(byte, b'"' | b'\'')) {
        let Some(place) = bare.get_mut(length) else { return false };
        *place = byte;
        length += 1;
    }
    let bare = bare.get(..length).unwrap_or_default();
    let folder = bare.strip_suffix(b"/*").or_else(|| bare.strip_suffix(b"/")).unwrap_or(bare);
    matches!(folder, b"" | b"~" | b"$HOME" | b"${HOME}" | b"/etc" | b"/home" | b"/usr" | b"/var")
        && !bare.is_empty()
}

/// Returns the names in a line, with where they begin and end; a `$` and braces belong to them.
fn names(line: &str) -> impl Iterator<Item = (&str, usize, usize)> {
    let bytes = line.as_bytes();
    let is_name =
        |at: usize| bytes.get(at).is_some_and(|it| it.is_ascii_alphanumeric() || *it == b'_');
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() && !is_name(at) {
            at += 1;
        }
        let start = at;
        while is_name(at) {
            at += 1;
        }
        let name = line.get(start..at).filter(|name| !name.is_empty())?;
        let before = line.get(..start).unwrap_or_default();
        let closes =
            |open: &str, close: u8| before.ends_with(open) && bytes.get(at) == Some(&close);
        let (from, to) = if closes("${", b'}') || closes("$(", b')') {
            (start - 2, at + 1)
        } else if before.ends_with('$') {
            (start - 1, at)
        } else {
            (start, at)
        };
        // The field of another value is no name, and neither is an option.
        Some(if before.ends_with(['.', '-']) { ("", from, to) } else { (name, from, to) })
    })
}

/// Returns what a pair of quotes around the whole of `value` holds, or `value` itself.
fn unquoted(value: &str) -> &str {
    let within = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    within('"').or_else(|| within('\'')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lines: &[&str], last: &str, expected: Option<&str>) {
        let mut values = Values::default();
        let mut room = Room::new();
        for line in lines {
            let line = Folded::new(line).unwrap();
            let expanded = values.expand(&line, &mut room);
            values.learn(&line, expanded.as_deref(), &mut room);
        }
        let last = Folded::new(last).unwrap();
        assert_eq!(values.expand(&last, &mut room).as_deref(), expected);
    }

    #[test]
    fn a_name_is_replaced_by_what_it_stands_for() {
        check(&["DIR=\"$HOME\""], "rm -rf ${DIR}", Some("rm -rf $HOME"));
        check(
            &["key = Path.home() / 'x'", "data = key.read()"],
            "f(data)",
            Some("f(Path.home() / 'x'.read())"),
        );
    }

    #[test]
    fn values_of_no_interest_are_left_alone() {
        check(&["size = 3"], "f(size)", None);
    }

    #[test]
    fn a_list_of_arguments_is_a_command() {
        check(&[], "run([\"rm\", \"-rf\", \"/\"])", Some("run([\"rm -rf /\"])"));
    }

    #[test]
    fn running_a_download_follows_the_download() {
        check(
            &["curl -o /tmp/a https://x.example"],
            "sh /tmp/a",
            Some("curl -o /tmp/a https://x.example ; sh /tmp/a"),
        );
    }
}
