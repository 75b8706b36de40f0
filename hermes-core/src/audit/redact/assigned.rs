//! Secrets that are told by the name they are assigned to.

use std::sync::LazyLock;

use regex::Regex;

use super::Match;

/// The ends of names whose values are secret.
const NAMES: &str = "password|passwd|passphrase|pwd|secret|token|api[_ -]?key|access[_-]?key|private[_-]?key|\
                     secret[_-]?key|signing[_-]?key|encryption[_-]?key|master[_-]?key|account[_-]?key|\
                     shared[_-]?access[_-]?(?:key|signature)|secret[_-]?key[_-]?base|credentials?|\
                     authorization|auth";

/// Values that tell nothing: words of code and of configuration.
const WORDS: [&str; 22] = [
    "true",
    "false",
    "null",
    "none",
    "nil",
    "undefined",
    "yes",
    "no",
    "on",
    "off",
    "required",
    "optional",
    "string",
    "str",
    "&str",
    "bytes",
    "any",
    "text",
    "option",
    "bearer",
    "basic",
    "self",
];

/// Returns the pattern of a name and what assigns to it.
fn assignment() -> String {
    format!(
        r#"(?i)(?P<name>[A-Za-z0-9_.-]*(?:{NAMES})[_-]?[0-9]{{0,2}})\\?["']?\s{{0,4}}(?P<sign>:=|=>|[:=])\s{{0,4}}"#
    )
}

/// Returns the pattern of `name = "value"`.
pub(super) fn double_quoted() -> String {
    assignment() + r#"\\?"(?P<s>(?:[^"\\\n]|\\[^"\n])+)"#
}

/// Returns the pattern of `name = 'value'`.
pub(super) fn single_quoted() -> String {
    assignment() + r"\\?'(?P<s>(?:[^'\\\n]|\\[^'\n])+)"
}

/// Returns the pattern of `name=value`.
pub(super) fn bare() -> String {
    assignment() + r#"(?P<s>[^\s"'`,;&<>|=\\][^\s"'`,;&<>|]*)"#
}

/// Returns the pattern of `--name value`.
pub(super) fn option() -> String {
    format!(r#"(?i)(?-u:\B)--?[a-z0-9-]*(?:{NAMES})\s+["']?(?P<s>[^\s"'`|;&<>-][^\s"'`|;&<>]*)"#)
}

static NAME: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!("(?i)(?:{NAMES})[_-]?[0-9]{{0,2}}$")).ok());

/// Returns whether what is called `name` is a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    // A name that is longer is none.
    name.len() <= 200 && NAME.as_ref().is_some_and(|it| it.is_match(name))
}

/// Returns whether a quoted value is a secret.
pub(super) fn is_quoted_secret(found: &Match<'_>) -> bool {
    !is_reference(found.secret) && !is_word(found.secret) && !is_path(found.secret)
}

/// Returns whether a value without quotes is a secret, and not code or the next word of a sentence.
pub(super) fn is_bare_secret(found: &Match<'_>) -> bool {
    let value = found.secret;
    if is_reference(value) || is_word(value) || is_path(value) || is_code(value) {
        return false;
    }
    if found.group("sign") == "=" || value.bytes().any(|it| it.is_ascii_digit()) {
        return true;
    }
    let after = found.after.trim_start_matches([' ', '\t']);
    after.is_empty()
        || after.starts_with(['\n', '\r', ',', ';', '}', ')', ']', '"', '\'', '&', '|', '\\'])
}

/// Returns whether what follows an option is a secret.
pub(super) fn is_option_secret(found: &Match<'_>) -> bool {
    let value = found.secret;
    !(is_reference(value) || is_word(value) || is_path(value))
}

/// Returns whether `value` only says where the secret is: a variable or a placeholder.
fn is_reference(value: &str) -> bool {
    let name = value.strip_prefix('$').or_else(|| value.strip_prefix('%'));
    let name = name.map(|it| it.trim_start_matches('{').trim_end_matches(['}', '%']));
    let is_variable = name.is_some_and(|it| {
        let is_plain =
            |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        !it.is_empty() && it.bytes().all(is_plain)
    });
    is_variable
        || ["$(", "${", "{{", "<", "process.env", "env.", "os.environ"]
            .iter()
            .any(|it| value.starts_with(it))
}

/// Returns whether `value` calls or indexes something.
fn is_code(value: &str) -> bool {
    let end = value.find(['(', '[']).unwrap_or_default();
    let name = value.get(..end).unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':');
    !name.is_empty() && name.bytes().all(is_plain)
}

fn is_word(value: &str) -> bool {
    let value = value.trim_end_matches([')', ']', '}', '.']);
    let is_filler = |it: char| matches!(it, '*' | '.' | 'x' | 'X' | '…');
    value.chars().all(is_filler) || WORDS.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Returns whether `value` is the path of a file that may hold a secret.
pub(super) fn is_path(value: &str) -> bool {
    const LONGEST_NAME: usize = 24;
    let starts_as_path = ["/", "./", "../", "~/"].iter().any(|it| value.starts_with(it));
    let is_plain = |it: char| it.is_alphanumeric() || "/._-~".contains(it);
    starts_as_path
        && value.chars().all(is_plain)
        && 2 <= value.matches('/').count()
        && value.split('/').all(|part| part.len() <= LONGEST_NAME)
}
