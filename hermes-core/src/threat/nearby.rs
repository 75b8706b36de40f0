//! Tells which words stand near a hit, without looking at each of them every time.

use super::{
    dictionary::{Dictionary, Marks},
    token::Hit,
};

/// How many hits share one union of marks.
const BLOCK: usize = 16;

/// The hits of a text with the marks of their words.
#[derive(Debug)]
pub(super) struct Nearby<'h> {
    hits: &'h [Hit],
    /// The marks of each block of hits together: what is in none of a block's need not be looked
    /// for there.
    unions: Vec<Marks>,
}

impl<'h> Nearby<'h> {
    pub(super) fn new(hits: &'h [Hit]) -> Self {
        let union = |block: &[Hit]| block.iter().fold(0, |union, hit| union | marks(hit));
        Self { hits, unions: hits.chunks(BLOCK).map(union).collect() }
    }

    pub(super) fn hits(&self) -> &'h [Hit] {
        self.hits
    }

    /// Returns whether one of the `count` hits before `index` has one of `marks`, before the first
    /// of them going backwards that is not `inside`.
    pub(super) fn has_before(
        &self,
        index: usize,
        count: usize,
        marks: Marks,
        inside: impl Fn(&Hit) -> bool,
    ) -> bool {
        let from = index.saturating_sub(count);
        self.may_have(from, index, marks) && has(self.slice(from, index).rev(), marks, inside)
    }

    /// Returns whether one of the `count` hits from `index` on has one of `marks`, before the first
    /// of them that is not `inside`.
    pub(super) fn has_from(
        &self,
        index: usize,
        count: usize,
        marks: Marks,
        inside: impl Fn(&Hit) -> bool,
    ) -> bool {
        let to = index.saturating_add(count).min(self.hits.len());
        self.may_have(index, to, marks) && has(self.slice(index, to), marks, inside)
    }

    fn slice(&self, from: usize, to: usize) -> std::slice::Iter<'_, Hit> {
        self.hits.get(from..to).unwrap_or_default().iter()
    }

    fn may_have(&self, from: usize, to: usize, marks: Marks) -> bool {
        let blocks = self.unions.get(from / BLOCK..to.div_ceil(BLOCK)).unwrap_or_default();
        blocks.iter().any(|union| union & marks != 0)
    }
}

fn has<'h>(
    hits: impl Iterator<Item = &'h Hit>,
    wanted: Marks,
    inside: impl Fn(&Hit) -> bool,
) -> bool {
    hits.take_while(|hit| inside(hit)).any(|hit| marks(hit) & wanted != 0)
}

fn marks(hit: &Hit) -> Marks {
    Dictionary::get().word(hit.word).map_or(0, |word| word.marks)
}
