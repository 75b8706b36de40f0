//! The contract of [`PendingStore`].

use futures::future::join_all;
use serde_json::{Map, Value};

use super::{broken, fails, succeeds};
use crate::{
    origin::Origin,
    pending::{Draft, HeldWrite, PendingError, PendingStore, Subsystem},
    version::{Expected, Version},
};

/// Checks a [`PendingStore`] against its contract.
///
/// It needs an empty store with room for at least ten writes, and leaves it empty again. What happens
/// in a crash, and how much fits, it cannot check.
///
/// # Panics
///
/// Where the contract is broken.
///
/// # Examples
///
/// ```
/// use hermes_core::{pending::FilePending, testing::conformance};
///
/// # #[tokio::main]
/// # async fn main() -> std::io::Result<()> {
/// # let home = tempfile::tempdir()?;
/// conformance::pending_store(&FilePending::new(home.path())).await;
/// # Ok(())
/// # }
/// ```
pub async fn pending_store(store: &dyn PendingStore) {
    for subsystem in [Subsystem::Memory, Subsystem::Skills] {
        let suite = Suite { store, subsystem };
        assert!(suite.list().await.is_empty(), "the suite needs an empty store");
        suite.keeps_what_it_is_given().await;
        suite.keeps_a_wish_once().await;
        suite.lets_one_decide().await;
        suite.clear().await;
    }
}

struct Suite<'a> {
    store: &'a dyn PendingStore,
    subsystem: Subsystem,
}

impl Suite<'_> {
    async fn keeps_what_it_is_given(&self) {
        const PROMISE: &str = "whole or not at all";
        let bases = [Expected::Any, Expected::Absent, Expected::Is(Version::of("x"))];
        let mut held = Vec::new();
        for (number, base) in bases.into_iter().enumerate() {
            let origin = Origin::review("review-1").on_behalf_of("日本");
            let draft = self.draft(&format!("{PROMISE} {number}\n\u{e9}"), origin).on(base);
            let write = succeeds(PROMISE, self.store.hold(draft.clone()).await);
            assert_eq!(write.draft, draft, "{PROMISE}: not the draft");
            held.push(write);
        }
        let list = self.list().await;
        assert_eq!(list.len(), held.len(), "{PROMISE}: not as many as were held");
        for write in &held {
            assert!(list.contains(write), "{PROMISE}: {write:?} is not in {list:?}");
        }
        assert!(list.is_sorted_by_key(|it| it.created_at), "{PROMISE}: not oldest first");
        self.clear().await;
    }

    async fn keeps_a_wish_once(&self) {
        const PROMISE: &str = "kept once";
        let draft = self.draft("twice", Origin::review("review-1"));
        let first = succeeds(PROMISE, self.store.hold(draft.clone()).await);
        let later = self.draft("twice", Origin::review("review-2")).on(Expected::Absent);
        let later = succeeds(PROMISE, self.store.hold(later).await);
        assert_eq!(later.id, first.id, "{PROMISE}: the same wish has another id");
        assert_eq!(self.list().await, [later], "{PROMISE}: the latest form of a wish counts");

        succeeds(PROMISE, self.store.hold(self.draft("twice", Origin::user())).await);
        assert_eq!(self.list().await.len(), 2, "{PROMISE}: the user's own wish is another");
        self.clear().await;
    }

    async fn lets_one_decide(&self) {
        const PROMISE: &str = "one decides";
        let draft = self.draft("decide", Origin::user());
        let held = succeeds(PROMISE, self.store.hold(draft).await);
        let deciders = (0..3).map(|_| async {
            let claim = self.store.claim(self.subsystem, &held.id).await?;
            assert_eq!(claim.write, held, "{PROMISE}: not the write that waits");
            self.store.remove(claim).await
        });
        let results = join_all(deciders).await;
        let won = results.iter().filter(|it| it.is_ok()).count();
        assert_eq!(won, 1, "{PROMISE}: {won} decided");
        for err in results.into_iter().filter_map(Result::err) {
            if !matches!(&err, PendingError::NotFound { id } if *id == held.id) {
                broken(PROMISE, format_args!("not `NotFound` for the others but {err:?}"));
            }
        }
        let err = fails(PROMISE, self.store.claim(self.subsystem, &held.id).await);
        assert!(matches!(err, PendingError::NotFound { .. }), "{PROMISE}: {err:?}");
    }

    fn draft(&self, content: &str, origin: Origin) -> Draft {
        let mut payload = Map::new();
        payload.insert("action".to_owned(), "add".into());
        payload.insert("content".to_owned(), content.into());
        payload.insert("old_text".to_owned(), Value::Null);
        Draft::new(self.subsystem, origin, payload).summarised(format!("adds {content}"))
    }

    async fn list(&self) -> Vec<HeldWrite> {
        succeeds("list", self.store.list(self.subsystem).await).writes
    }

    async fn clear(&self) {
        for write in self.list().await {
            let claim = succeeds("claim", self.store.claim(self.subsystem, &write.id).await);
            succeeds("remove", self.store.remove(claim).await);
        }
        assert_eq!(self.list().await, [], "remove: what was decided on is still listed");
    }
}
