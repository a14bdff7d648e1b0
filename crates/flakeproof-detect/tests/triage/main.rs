//! The triage on scripted suites: every rule of evidence (DESIGN §4) as a claim.

mod crashes;
mod evidence;
mod kinds;
mod limits;
mod properties;
mod rule;
mod scene;
