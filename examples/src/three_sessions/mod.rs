//! Three conversations about deploying, on one home folder: the loop closes.
//!
//! A [`world`] that has rules, [`tools`] as the only way into it, and a [`model`] that is a pure
//! function of what it is asked. What makes the third conversation better than the first is only the
//! text that the reviews in between have saved in the home folder.
//!
//! [`run`](run::run) holds the conversations, [`script`] has what the user says in them, and
//! [`report`] shows what came of it.

pub mod script;

pub mod model;
pub mod tools;
pub mod world;
