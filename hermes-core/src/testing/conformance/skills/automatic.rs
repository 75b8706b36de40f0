//! What automatic changes may not do, and what is kept of what they take away.

use super::{Suite, automatic, name, notes, skill_md, write};
use crate::{
    origin::Origin,
    skill::{SkillAction, SkillError, SkillFile, SkillName, SkillState, SkillUse},
    testing::conformance::{broken, succeeds},
    version::Expected,
};

impl Suite<'_> {
    pub(super) async fn demands_reading(&self) {
        const PROMISE: &str = "read before write";
        let (skill, main) = (name("suite-learnt"), SkillFile::main());
        self.create(&skill, Origin::review("first")).await;
        self.write(&skill, &notes(), "Notes.\n").await;
        let (any, heir) = (Expected::Any, Some(name("suite-zeta")));
        let next = skill_md("suite-learnt", "Learnt more.");
        for origin in automatic() {
            for action in [
                write(&main, &next, any),
                write(&notes(), "More.\n", any),
                SkillAction::Remove { file: notes(), expected: any },
                SkillAction::Delete { expected: any, absorbed_into: heir.clone() },
            ] {
                let err = self.refused(PROMISE, &skill, action, origin.clone()).await;
                let is_right = matches!(err, SkillError::Unread { .. });
                assert!(is_right, "{PROMISE}: not `Unread` but {err:?}");
            }
        }
        let read = Expected::Is(self.version(&skill, &main).await);
        let action = write(&main, &next, read);
        succeeds(PROMISE, self.commit(&skill, action, Origin::review("second")).await);
        let action = write(&main, &skill_md("suite-learnt", "Stale."), read);
        let err = self.refused(PROMISE, &skill, action, Origin::review("third")).await;
        let is_right = matches!(err, SkillError::Conflict { .. });
        assert!(is_right, "{PROMISE}: not `Conflict` for a version that is gone but {err:?}");
    }

    pub(super) async fn respects_ownership(&self) {
        let (skill, agents) = (name("suite-of-user"), name("suite-learnt"));
        self.create(&skill, Origin::user()).await;
        self.write(&skill, &notes(), "Notes.\n").await;
        // Viewing begins a record, which must not make it the agent's.
        succeeds("note", self.store.note(&skill, SkillUse::Viewed).await);
        let is_agent_made =
            async |skill: &SkillName| self.record(skill).await.is_some_and(|it| it.is_agent_made());
        assert!(!is_agent_made(&skill).await, "ownership: the user's skill counts as the agent's");
        assert!(is_agent_made(&agents).await, "ownership: the agent's skill is not known as such");
        self.expect_off_limits("ownership", &skill).await;
    }

    pub(super) async fn respects_pins(&self) {
        const PROMISE: &str = "ownership";
        let (skill, main) = (name("suite-pinned"), SkillFile::main());
        self.create(&skill, Origin::review("first")).await;
        self.write(&skill, &notes(), "Notes.\n").await;
        let pin = SkillAction::Pin;
        succeeds("pin", self.commit(&skill, pin(true), Origin::user()).await);
        let is_pinned = async || self.record(&skill).await.is_some_and(|it| it.pinned);
        assert!(is_pinned().await, "pin: the record does not say so");
        self.expect_off_limits("a pinned skill", &skill).await;
        for (is_pin, origin) in automatic().flat_map(|it| [(true, it.clone()), (false, it)]) {
            let err = self.refused(PROMISE, &skill, pin(is_pin), origin).await;
            let is_right = matches!(err, SkillError::OffLimits { .. });
            assert!(is_right, "{PROMISE}: pinning is not `OffLimits` but {err:?}");
        }
        let delete = SkillAction::Delete { expected: Expected::Any, absorbed_into: None };
        let err = self.refused("a pinned skill", &skill, delete, Origin::user()).await;
        let is_right = matches!(err, SkillError::OffLimits { .. });
        assert!(is_right, "a pinned skill: deleting is not `OffLimits` but {err:?}");

        self.write(&skill, &main, &skill_md("suite-pinned", "The user may.")).await;
        assert!(is_pinned().await, "pin: a change by the user unpins");
        succeeds("unpin", self.commit(&skill, pin(false), Origin::user()).await);
        assert!(!is_pinned().await, "unpin: the record does not say so");
        let read = Expected::Is(self.version(&skill, &main).await);
        let action = write(&main, &skill_md("suite-pinned", "The agent may."), read);
        succeeds("unpin", self.commit(&skill, action, Origin::review("second")).await);
    }

    /// Tries every automatic change of a skill with notes, each on what is really there.
    async fn expect_off_limits(&self, promise: &str, skill: &SkillName) {
        let main = SkillFile::main();
        let read = Expected::Is(self.version(skill, &main).await);
        let read_notes = Expected::Is(self.version(skill, &notes()).await);
        let content = skill_md(skill.as_str(), "Taken over.");
        let script = succeeds("the suite's own file", "scripts/new.sh".parse());
        for origin in automatic() {
            for action in [
                write(&main, &content, read),
                write(&script, "echo\n", Expected::Absent),
                SkillAction::Remove { file: notes(), expected: read_notes },
                SkillAction::Delete { expected: read, absorbed_into: Some(name("suite-zeta")) },
            ] {
                let err = self.refused(promise, skill, action, origin.clone()).await;
                let is_right = matches!(err, SkillError::OffLimits { .. });
                assert!(is_right, "{promise}: not `OffLimits` but {err:?}");
            }
        }
    }

    pub(super) async fn archives_what_automation_deletes(&self) {
        const PROMISE: &str = "nothing is lost by automation";
        let (skill, main) = (name("suite-merged"), SkillFile::main());
        let content = self.create(&skill, Origin::review("first")).await;
        self.write(&skill, &notes(), "Notes.\n").await;
        let expected = Expected::Is(self.version(&skill, &main).await);
        let curator = Origin::new(crate::origin::OriginKind::Curator);
        let delete = |absorbed_into| SkillAction::Delete { expected, absorbed_into };
        let err = self.refused(PROMISE, &skill, delete(None), curator.clone()).await;
        let is_right = matches!(err, SkillError::Invalid { .. });
        assert!(is_right, "{PROMISE}: a delete without an heir is not `Invalid` but {err:?}");
        for heir in [skill.clone(), name("suite-nobody")] {
            self.refused(PROMISE, &skill, delete(Some(heir)), curator.clone()).await;
        }

        let action = delete(Some(name("suite-zeta")));
        let commit = succeeds(PROMISE, self.commit(&skill, action, curator).await);

        assert!(commit.archived, "{PROMISE}: a delete does not archive");
        assert_eq!(commit.after, None, "{PROMISE}: something is there after a delete");
        assert_eq!(self.text(&skill, &main).await, None, "delete: the skill can still be read");
        assert!(!self.names().await.contains(&skill), "delete: the skill is still on offer");
        let state = async || self.record(&skill).await.map(|it| it.state);
        assert_eq!(state().await, Some(SkillState::Archived), "{PROMISE}: the record forgets it");

        let id = commit.revision.unwrap_or_else(|| broken(PROMISE, "a delete has no revision"));
        succeeds(PROMISE, self.store.undo(&skill, &id, Origin::user()).await);
        assert_eq!(self.text(&skill, &main).await, Some(content), "{PROMISE}: text is lost");
        let kept = self.text(&skill, &notes()).await;
        assert_eq!(kept.as_deref(), Some("Notes.\n"), "{PROMISE}: a supporting file is lost");
        assert_eq!(state().await, Some(SkillState::Active), "{PROMISE}: it stays archived");
        let is_agent_made = self.record(&skill).await.is_some_and(|it| it.is_agent_made());
        assert!(is_agent_made, "{PROMISE}: its record is lost");
    }
}
