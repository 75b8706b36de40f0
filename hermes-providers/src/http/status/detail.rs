//! What an endpoint says about a refusal, whatever shape it says it in.

use serde_json::Value;

/// The words and codes of a refusal.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Detail {
    /// What a person is shown.
    pub(crate) shown: String,
    /// Message and codes in lower case, for the rules.
    haystack: String,
    /// The status that the body names.
    pub(crate) status: Option<u16>,
    /// Whether the body is a page for a browser.
    pub(crate) is_html: bool,
}

impl Detail {
    /// The most characters a person is shown.
    const SHOWN_LIMIT: usize = 600;
    /// The most characters of a message that the rules read, each of which looks through all of it.
    const READ_LIMIT: usize = 64 * 1024;
    /// The keys under which endpoints put codes.
    const CODES: [&'static str; 6] = ["code", "type", "status", "error_type", "param", "reason"];

    /// Reads the body of a refused request.
    pub(crate) fn of_body(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let text = text.trim().trim_start_matches('\u{feff}');
        if let Ok(value) = serde_json::from_str::<Value>(text) {
            return Self::of_json(&value);
        }
        if text.starts_with('<') {
            let title = title(text).unwrap_or_default();
            let shown = format!("it answered with an HTML page {title:?}");
            return Self { is_html: true, ..Self::new(&shown, "") };
        }
        Self::new(text, "")
    }

    /// Reads an error object, or the answer around one.
    pub(crate) fn of_json(value: &Value) -> Self {
        let value = value.as_array().and_then(|list| list.first()).unwrap_or(value);
        let error = value.get("error").filter(|it| !it.is_null()).unwrap_or(value);
        let message = message(error).or_else(|| message(value));
        let raw = error.pointer("/metadata/raw").map(plain_text);
        let shown = match (message, raw) {
            (Some(message), Some(raw)) => format!("{message}: {raw}"),
            (Some(message), None) => message,
            (None, _) => plain_text(error),
        };
        let homes = [Some(error), Some(value), error.get("metadata"), error.get("innererror")];
        let codes: Vec<&Value> = homes
            .into_iter()
            .flatten()
            .flat_map(|home| Self::CODES.iter().filter_map(|key| home.get(*key)))
            .collect();
        let words: Vec<String> = codes.iter().map(|it| plain_text(it)).collect();
        let status = codes.iter().find_map(|code| http_status(code));
        Self { status, ..Self::new(&shown, &words.join(" ")) }
    }

    /// Returns message and codes in lower case.
    pub(crate) fn text(&self) -> &str {
        &self.haystack
    }

    fn new(shown: &str, codes: &str) -> Self {
        let read: String = shown.chars().take(Self::READ_LIMIT).collect();
        let haystack = format!("{read} {codes}").to_lowercase();
        Self { shown: cut(shown), haystack, status: None, is_html: false }
    }
}

fn message(value: &Value) -> Option<String> {
    let found = ["message", "detail", "msg", "error_message", "error"]
        .iter()
        .find_map(|key| value.get(*key).filter(|it| !it.is_null()));
    match found {
        Some(Value::Array(list)) => {
            let parts: Vec<String> =
                list.iter().map(|it| message(it).unwrap_or_else(|| plain_text(it))).collect();
            Some(parts.join("; "))
        }
        Some(Value::Object(_)) => found.and_then(message),
        Some(found) => Some(plain_text(found)),
        None => value.as_str().map(str::to_owned),
    }
}

fn http_status(code: &Value) -> Option<u16> {
    let number = code.as_u64().or_else(|| code.as_str()?.parse().ok())?;
    u16::try_from(number).ok().filter(|it| (400..600).contains(it))
}

fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the title of a page, on one line.
fn title(html: &str) -> Option<String> {
    let lower = html.to_ascii_lowercase();
    let tag = lower.find("<title")?;
    let start = tag + lower.get(tag..)?.find('>')? + 1;
    let end = start + lower.get(start..)?.find("</title")?;
    let words: Vec<&str> = html.get(start..end)?.split_whitespace().collect();
    Some(words.join(" "))
}

/// Returns as much of a text as a person is shown.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(Detail::SHOWN_LIMIT) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
