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
///
/// # Examples
///
/// ```
/// use hermes_memory::{Order, SearchOptions};
///
/// // The second page of what a person reads, the latest first.
/// let options = SearchOptions::default().order(Order::Newest).limit(10).offset(10);
/// assert_eq!(options.background_sources, ["cron"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchOptions {
    /// The roles whose messages count; all if there are none. User and assistant by default.
    pub roles: Vec<Role>,
    /// The sources whose sessions count, as [`SqliteSessions::for_source`](crate::SqliteSessions::for_source)
    /// names them; all if `None`, the default.
    pub sources: Option<Vec<String>>,
    /// Sources whose sessions do not count. None by default.
    pub excluded_sources: Vec<String>,
    /// Sources whose hits come after all others. `cron` by default.
    pub background_sources: Vec<String>,
    /// In which order. The best first by default.
    pub order: Order,
    /// Hits to leave out at the start. 0 by default.
    pub offset: usize,
    /// Hits at most. 20 by default.
    pub limit: usize,
    /// Whether messages count that the user [took back](crate::SqliteSessions::rewind). They do not by
    /// default.
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

impl SearchOptions {
    /// Sets the roles whose messages count.
    #[must_use]
    pub fn roles(mut self, roles: impl IntoIterator<Item = Role>) -> Self {
        self.roles = roles.into_iter().collect();
        self
    }

    /// Sets the only sources whose sessions count.
    #[must_use]
    pub fn sources<T: Into<String>>(mut self, sources: impl IntoIterator<Item = T>) -> Self {
        self.sources = Some(sources.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the order of hits.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Sets how many hits there are at most.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Sets how many hits are left out at the start.
    #[must_use]
    pub fn offset(mut self, offset: usize) -> Self {
        self.offset = offset;
        self
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
