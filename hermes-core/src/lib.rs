//! placeholder

pub mod threat;
