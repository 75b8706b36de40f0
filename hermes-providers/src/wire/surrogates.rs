//! Halves of a UTF-16 pair in JSON. Servers that cut an emoji in two, or models that spell one out
//! wrongly, send them; no Rust string can hold one, and one must not cost the answer.

/// Returns `json` with the escape of every lone surrogate replaced by that of U+FFFD, `None` if it has
/// none.
pub(crate) fn mended(json: &str) -> Option<String> {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    let mut is_mended = false;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let length = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => 12,
            (Some(0xD800..0xE000), _) => {
                out.push_str("\\ufffd");
                is_mended = true;
                rest = escape.get(6..).unwrap_or_default();
                continue;
            }
            (Some(_), _) => 6,
            // A backslash and what it escapes.
            (None, _) => 1 + escape.chars().nth(1).map_or(0, char::len_utf8),
        };
        let (escape, after) = escape.split_at_checked(length).unwrap_or((escape, ""));
        out.push_str(escape);
        rest = after;
    }
    out.push_str(rest);
    is_mended.then_some(out)
}

/// Returns the UTF-16 unit that `text` begins with as an escape, if it does.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|it| it.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lone_halves_are_replaced() {
        for (json, expected) in [
            (r#"{"a":"\ud800"}"#, Some(r#"{"a":"\ufffd"}"#)),
            (r#"{"a":"\uD83D\uDE42 \uDE42"}"#, Some(r#"{"a":"\uD83D\uDE42 \ufffd"}"#)),
            (r#""\ud83d\ud83d\ude42""#, Some(r#""\ufffd\ud83d\ude42""#)),
            (r#""\ud83d\n""#, Some(r#""\ufffd\n""#)),
            (r#""\ud83d\ude42""#, None),
            // An escaped backslash before a u is no escape.
            (r#""\\ud800""#, None),
            (r#""\\\ud800""#, Some(r#""\\\ufffd""#)),
            (r#""\u00e9é\é\ud8""#, None),
            ("\\", None),
            ("\"\\ud800", Some("\"\\ufffd")),
        ] {
            assert_eq!(mended(json).as_deref(), expected, "{json}");
        }
    }
}
