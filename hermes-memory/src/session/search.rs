//! What a search looks at, and what it brings.

use std::{
    collections::HashSet,
    time::{Duration, SystemTime},
};

use hermes_core::{
    message::{Message, Role},
    store::{SearchHit, SessionId},
};
use rusqlite::{Connection, OptionalExtension};

use super::{fault::Fault, index, query::Query, snippet};

/// What a search looks at, and in which order it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchOptions {
    /// The roles whose messages count; all if there are none.
    pub roles: Vec<Role>,
    /// The sources whose sessions count; all if `None`.
    pub sources: Option<Vec<String>>,
    /// Sources whose sessions do not count.
    pub excluded_sources: Vec<String>,
    /// Sources whose hits come after all others.
    pub background_sources: Vec<String>,
    /// In which order.
    pub order: Order,
    /// Hits to leave out at the start.
    pub offset: usize,
    /// Hits at most.
    pub limit: usize,
    /// Whether messages count that the user took back.
    pub with_rewound: bool,
}

/// The order of hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// The best first.
    #[default]
    Best,
    /// The latest first.
    Newest,
    /// The earliest first.
    Oldest,
}

impl Default for SearchOptions {
    /// User and assistant messages of all sources, the best 20 first, scheduled runs last.
    fn default() -> Self {
        Self {
            roles: vec![Role::User, Role::Assistant],
            sources: None,
            excluded_sources: Vec::new(),
            background_sources: vec!["cron".to_owned()],
            order: Order::Best,
            offset: 0,
            limit: 20,
            with_rewound: false,
        }
    }
}

/// Returns what `query` finds, within the bounds of `options`.
pub(super) fn find(
    connection: &mut Connection,
    query: &Query,
    options: &SearchOptions,
) -> Result<Vec<SearchHit>, Fault> {
    let wanted = options.offset.saturating_add(options.limit);
    if query.terms.is_empty() || options.limit == 0 {
        return Ok(Vec::new());
    }
    let mut ranked = query.rank(&index::lookup(connection, &query.terms)?);
    match options.order {
        Order::Best => {}
        Order::Oldest => ranked.sort_unstable(),
        Order::Newest => ranked.sort_unstable_by_key(|number| std::cmp::Reverse(*number)),
    }
    let (mut hits, mut background, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for number in ranked {
        let Some((hit, is_background)) = hit(connection, number, query, options)? else { continue };
        // A message that a compaction has changed is there twice.
        if !seen.insert((hit.session.clone(), hit.message)) {
            continue;
        }
        let list = if is_background { &mut background } else { &mut hits };
        list.push(hit);
        if wanted <= hits.len() {
            break;
        }
    }
    hits.extend(background);
    Ok(hits.into_iter().skip(options.offset).take(options.limit).collect())
}

/// Session, message, milliseconds since 1970, fate and source of a message.
type Row = (String, String, i64, i64, String);

/// Returns the hit at message `number` if it counts, and whether it comes after the others.
fn hit(
    connection: &Connection,
    number: i64,
    query: &Query,
    options: &SearchOptions,
) -> Result<Option<(SearchHit, bool)>, Fault> {
    let mut select = connection.prepare_cached(
        "SELECT m.session, m.data, m.at_ms, m.fate, s.source
         FROM messages m JOIN sessions s ON s.id = m.session WHERE m.number = ?1",
    )?;
    let row: Option<Row> = select
        .query_row([number], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
        })
        .optional()?;
    let Some((session, data, at_ms, fate, source)) = row else { return Ok(None) };
    let message: Message = serde_json::from_str(&data)?;
    let counts = (options.roles.is_empty() || options.roles.contains(&message.role))
        && (options.with_rewound || fate != REWOUND)
        && options.sources.as_ref().is_none_or(|sources| sources.contains(&source))
        && !options.excluded_sources.contains(&source);
    Ok(counts.then(|| {
        let passage = snippet::around(&index::text(&message), &query.terms);
        let mut hit = SearchHit::new(SessionId::new(session), message.id, message.role, passage);
        let at = u64::try_from(at_ms).ok().map(Duration::from_millis);
        hit.at = at.and_then(|at| SystemTime::UNIX_EPOCH.checked_add(at));
        (hit, options.background_sources.contains(&source))
    }))
}

/// The fate of a message that the user took back.
const REWOUND: i64 = 2;
