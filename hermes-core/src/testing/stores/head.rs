//! The head of a `SKILL.md`, as far as an index needs it.

/// The name and the description between the two lines of dashes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) name: String,
    pub(super) description: String,
}

/// Reads the head of `text`, which must be followed by instructions.
///
/// It understands one `key: value` a line, which is all that tests need; a store on disk reads YAML.
pub(super) fn parse(text: &str) -> Result<Head, String> {
    let rest = text.strip_prefix("---\n").ok_or("SKILL.md must begin with a line '---'")?;
    let (head, body) = rest.split_once("\n---").ok_or("the head must end with a line '---'")?;
    let (after_dashes, body) = body.split_once('\n').unwrap_or((body, ""));
    if !after_dashes.trim().is_empty() {
        return Err("the head must end with a line '---'".to_owned());
    }
    if body.trim().is_empty() {
        return Err("there are no instructions below the head".to_owned());
    }
    let value = |key: &str| {
        let lines = head.lines().filter_map(|line| line.split_once(':'));
        let value = lines.filter(|(it, _)| *it == key).map(|(_, value)| unquoted(value)).next();
        value.filter(|it| !it.is_empty()).ok_or_else(|| format!("the head must have a {key}"))
    };
    Ok(Head { name: value("name")?, description: value("description")? })
}

fn unquoted(value: &str) -> String {
    let value = value.trim();
    let within = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    within('"').or_else(|| within('\'')).unwrap_or(value).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_has_a_name_and_a_description() {
        let head = parse("---\nname: a\ndescription: \"Does: a.\"\n---\n\nDo it.\n");

        let expected = Head { name: "a".to_owned(), description: "Does: a.".to_owned() };
        assert_eq!(head, Ok(expected));
    }

    #[test]
    fn what_is_missing_is_named() {
        for (text, reason) in [
            ("Do it.", "begin"),
            ("---\nname: a\n", "end"),
            ("---\nname: a\n---x\nDo it.", "end"),
            ("---\nname: a\n---\nDo it.", "description"),
            ("---\ndescription: a\n---\nDo it.", "name"),
            ("---\nname: a\ndescription: b\n---\n \n", "instructions"),
        ] {
            let err = parse(text).unwrap_err();
            assert!(err.contains(reason), "{text:?}: {err}");
        }
    }
}
