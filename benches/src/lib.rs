//! Measurements of the hermes agent crates; see `benches/` and `tests/`.

pub mod hostile;
pub mod samples;
