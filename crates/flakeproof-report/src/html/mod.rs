//! One self-contained page: what is flaky, what it costs, and all that is known about each test.
//!
//! The frame is a template, the table and the tests are drawn in the browser from data inside the
//! page, and nothing is fetched. Foreign text is never read as HTML: the template escapes it, the
//! data cannot end its element, and the script only ever sets text.

mod data;
mod first;
mod frame;
mod page;
mod track;

pub use page::{CONTENT_SECURITY_POLICY, Html, page};
