//! Programs that start a test runner: which of them may stay in front of it, which name it in a
//! file, and which hide it.
//!
//! `uv run pytest` names its runner. `npm test` names a script of `package.json`, which is replaced
//! by the one command in it. `make check`, `tox` and `nox` do whatever their files say: they are
//! refused before anything runs, with what stands there and the command to type instead. Nothing is
//! guessed that could change which tests run, or in which environment.

mod behind;
mod front;
mod package_script;
mod recipe;
mod refusal;
mod simple_command;

pub(super) use behind::look_behind;
