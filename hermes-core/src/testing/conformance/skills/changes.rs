//! What any change keeps: nothing but what was asked, whole, and on the version that was seen.

use futures::future::join_all;

use super::{Suite, category, name, notes, skill_md, write};
use crate::{
    origin::Origin,
    skill::{SkillAction, SkillChange, SkillError, SkillFile},
    testing::conformance::{ATTACK, fails, succeeds},
    version::{Expected, Version},
};

impl Suite<'_> {
    pub(super) async fn creates(&self) {
        let (top, main) = (name("suite-zeta"), SkillFile::main());
        let content = skill_md("suite-zeta", "Grüße — 日本語.");
        let action = SkillAction::Create { category: None, content: content.clone() };
        let commit = succeeds("create", self.commit(&top, action, Origin::user()).await);
        assert_eq!((&commit.skill, &*commit.path), (&top, "suite-zeta"), "create: not its place");
        assert_eq!(commit.before, None, "create: something was there before");
        assert!(commit.revision.is_some(), "undoable: a commit has no revision");
        assert!(!commit.archived, "create: counts as archived");

        let read = succeeds("read", self.store.read("suite-zeta", &main).await);
        assert_eq!(read.text.value, content, "read: not what was written");
        assert_eq!(Some(read.text.version), commit.after, "read: not the version committed");
        assert_eq!((&read.skill, &read.file), (&top, &main), "read: not what was asked for");
        assert_eq!((read.category, read.files), (None, vec![]), "read: more than was made");

        let grouped = name("suite-alpha");
        let content = skill_md("suite-alpha", "Do it.");
        let category = Some(category("suite-group"));
        let action = SkillAction::Create { category, content };
        let commit = succeeds("create", self.commit(&grouped, action, Origin::user()).await);
        assert_eq!(commit.path, "suite-group/suite-alpha", "create: not in its category");

        let list = succeeds("list", self.store.list().await);
        let found: Vec<_> =
            list.skills.iter().map(|it| (it.category.as_deref(), it.name.as_str())).collect();
        let expected = [(None, "suite-zeta"), (Some("suite-group"), "suite-alpha")];
        assert_eq!(found, expected, "list: not sorted by category and name");
        let is_described =
            list.skills.iter().all(|it| it.description == "Serves the conformance suite.");
        assert!(is_described, "list: descriptions are not those of the heads");
        assert!(list.warnings.is_empty(), "list: warns of good skills: {:?}", list.warnings);
    }

    pub(super) async fn finds_by_name_and_path(&self) {
        let main = SkillFile::main();
        for id in ["suite-alpha", "suite-group/suite-alpha"] {
            let read = succeeds(&format!("read {id}"), self.store.read(id, &main).await);
            assert_eq!(read.skill, name("suite-alpha"), "read: {id} is another skill");
            assert_eq!(read.category.as_deref(), Some("suite-group"), "read: not its category");
        }
        self.finds_by_head().await;
        let err = fails("read", self.store.read("suite-alpah", &main).await);
        let is_right = matches!(&err, SkillError::NotFound { names, .. }
            if names.first().is_some_and(|it| it.contains("suite-alpha")));
        assert!(is_right, "read: not `NotFound` with the closest name first but {err:?}");
        let err = fails("read", self.store.read("suite-alpha", &notes()).await);
        let is_right =
            matches!(&err, SkillError::NoFile { files, .. } if files.contains(&SkillFile::main()));
        assert!(is_right, "read: not `NoFile` with the files there are but {err:?}");
    }

    /// Checks names in heads, where the store takes a skill whose head has another name than its
    /// folder.
    async fn finds_by_head(&self) {
        for (folder, body) in [("suite-one", "Do it."), ("suite-twin", "Do something else.")] {
            let content = skill_md("suite-called-alpha", body);
            let action = SkillAction::Create { category: None, content };
            match self.commit(&name(folder), action, Origin::user()).await {
                Err(SkillError::Invalid { .. }) => return,
                other => drop(succeeds("create", other)),
            }
            if folder == "suite-one" {
                let read = self.store.read("suite-called-alpha", &SkillFile::main()).await;
                let read = succeeds("read by the name in the head", read);
                assert_eq!(read.skill, name(folder), "read: the name in a head is another skill");
            }
        }
        let err = fails("read", self.store.read("suite-called-alpha", &SkillFile::main()).await);
        let is_right = matches!(&err, SkillError::Ambiguous { matches, .. } if matches.len() == 2);
        assert!(is_right, "read: not `Ambiguous` with two places but {err:?}");
    }

    pub(super) async fn writes_files(&self) {
        let (skill, main, notes) = (name("suite-files"), SkillFile::main(), notes());
        let content = self.create(&skill, Origin::user()).await;

        let action = write(&notes, "one\n", Expected::Absent);
        let commit = succeeds("write", self.commit(&skill, action, Origin::user()).await);
        assert_eq!(commit.before, None, "write: a new file was there before");
        let read = succeeds("read", self.store.read("suite-files", &main).await);
        assert_eq!(read.files, std::slice::from_ref(&notes), "read: not the other files");
        assert_eq!(read.text.value, content, "write: another file changed");

        let before = self.version(&skill, &notes).await;
        let action = write(&notes, "two\n", Expected::Is(before));
        let commit = succeeds("write", self.commit(&skill, action, Origin::user()).await);
        let versions = (Some(before), Some(self.version(&skill, &notes).await));
        assert_eq!((commit.before, commit.after), versions, "write: not the versions there are");
        let has_lines = commit.diff.contains("-one") && commit.diff.contains("+two");
        assert!(has_lines, "write: the diff does not show the change: {:?}", commit.diff);
        let same = self.write(&skill, &notes, "two\n").await;
        assert_eq!(same.revision, None, "write: the same text made a revision");

        let expected = Expected::Is(self.version(&skill, &notes).await);
        let action = SkillAction::Remove { file: notes.clone(), expected };
        let commit = succeeds("remove", self.commit(&skill, action, Origin::user()).await);
        assert_eq!(commit.after, None, "remove: something is there after");
        assert_eq!(self.text(&skill, &notes).await, None, "remove: the file is still there");
        assert_eq!(self.text(&skill, &main).await, Some(content), "remove: the skill changed");
    }

    pub(super) async fn loses_no_update(&self) {
        const PROMISE: &str = "no lost update";
        let (skill, main) = (name("suite-raced"), SkillFile::main());
        self.create(&skill, Origin::user()).await;
        let old = self.version(&skill, &main).await;
        self.write(&skill, &main, &skill_md("suite-raced", "Second.")).await;
        let now = self.version(&skill, &main).await;
        let stale = Expected::Is(old);
        let third = skill_md("suite-raced", "Third.");
        for action in [
            write(&main, &third, stale),
            write(&main, &third, Expected::Absent),
            write(&notes(), "new", stale),
            SkillAction::Delete { expected: stale, absorbed_into: None },
        ] {
            let is_main = !matches!(&action, SkillAction::Write { file, .. } if !file.is_main());
            let current: Option<Version> = is_main.then_some(now);
            let err = self.refused(PROMISE, &skill, action, Origin::user()).await;
            let is_right =
                matches!(&err, SkillError::Conflict { current: it, .. } if *it == current);
            assert!(is_right, "{PROMISE}: not `Conflict` with the present version but {err:?}");
        }

        let writers = ["Left.", "Right."].map(|body| {
            let action = write(&main, &skill_md("suite-raced", body), Expected::Is(now));
            // Without a preview: one of them changes what the other would compare.
            self.store.commit(SkillChange::new(skill.clone(), action, Origin::user()))
        });
        let won = join_all(writers).await.into_iter().flatten().count();
        assert_eq!(won, 1, "{PROMISE}: of two writers on one version, {won} succeeded");
    }

    pub(super) async fn fails_whole(&self) {
        let (skill, main, user) = (name("suite-whole"), SkillFile::main(), Origin::user);
        let content = self.create(&skill, user()).await;
        let new = name("suite-new");
        let create =
            |content: &str| SkillAction::Create { category: None, content: content.to_owned() };

        let err = self.refused("create", &skill, create(&content), user()).await;
        assert!(matches!(err, SkillError::Exists { .. }), "create: not `Exists` but {err:?}");
        for broken in ["", "No head.\n", "---\nname: suite-new\n---\n\nNo description.\n"] {
            for (skill, action) in
                [(&new, create(broken)), (&skill, write(&main, broken, Expected::Any))]
            {
                let err = self.refused("a broken head", skill, action, user()).await;
                let is_right = matches!(err, SkillError::Invalid { .. });
                assert!(is_right, "a broken head: not `Invalid` but {err:?}");
            }
        }
        let (attack, other) = (skill_md("suite-new", ATTACK), skill_md("suite-whole", ATTACK));
        for (skill, action) in [
            (&new, create(&attack)),
            (&skill, write(&main, &other, Expected::Any)),
            (&skill, write(&notes(), ATTACK, Expected::Any)),
        ] {
            let err = self.refused("scanned", skill, action, user()).await;
            let is_right = matches!(&err, SkillError::Blocked { findings } if !findings.is_empty());
            assert!(is_right, "scanned: not `Blocked` with findings but {err:?}");
        }
        let remove = |file| SkillAction::Remove { file, expected: Expected::Any };
        let err = self.refused("remove", &skill, remove(main.clone()), user()).await;
        assert!(matches!(err, SkillError::Invalid { .. }), "remove: not `Invalid` but {err:?}");
        let err = self.refused("remove", &skill, remove(notes()), user()).await;
        assert!(matches!(err, SkillError::NoFile { .. }), "remove: not `NoFile` but {err:?}");
        for action in [
            write(&main, &content, Expected::Any),
            remove(notes()),
            SkillAction::Delete { expected: Expected::Any, absorbed_into: None },
        ] {
            let err = self.refused("an unknown skill", &new, action, user()).await;
            let is_right = matches!(err, SkillError::NotFound { .. });
            assert!(is_right, "an unknown skill: not `NotFound` but {err:?}");
        }
    }
}
