//! Three conversations about deploying, on one home folder: the loop closes.
//!
//! A [`world`] that has rules, [`tools`] as the only way into it, and a [`model`] that is a pure
//! function of what it is asked. What makes the third conversation better than the first is only the
//! text that the reviews in between have saved in the home folder.
//!
//! [`run`](run::run) holds the conversations of a plan, [`home`] each of them, [`script`] has what the
//! user says, and [`report`] shows what came of it.

pub mod run;

pub mod home;
pub mod script;

pub mod model;
pub mod tools;
pub mod world;

pub mod report;
