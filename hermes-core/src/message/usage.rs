//! Token counts, as providers report them.

use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// What a model call used, in tokens. All zero where the provider says nothing; what turns and sessions
/// took is then [estimated](crate::cost::Spending::estimated).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// Prompt tokens, those read from the provider's cache included.
    pub input: u64,
    /// Generated tokens, reasoning included.
    pub output: u64,
    /// The part of `input` that came from the cache.
    pub cache_read: u64,
    /// The part of `input` that was written to the cache.
    pub cache_write: u64,
    /// The part of `output` that was reasoning.
    pub reasoning: u64,
}

impl Usage {
    /// Creates the usage of a call with `input` prompt tokens and `output` generated tokens.
    pub fn new(input: u64, output: u64) -> Self {
        Self { input, output, ..Self::default() }
    }

    /// Returns input and output together.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            reasoning: self.reasoning.saturating_add(other.reasoning),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
