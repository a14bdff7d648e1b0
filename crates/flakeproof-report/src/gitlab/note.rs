//! An overview as a comment on a merge request.

use flakeproof_core::Overview;

use crate::overview_markdown::{Flavour, comment};
use crate::{Error, Renderer};

/// Renders a short comment on a merge request, with a stable first line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GitlabNote;

impl Renderer<Overview> for GitlabNote {
    fn render(&self, overview: &Overview) -> Result<Vec<u8>, Error> {
        Ok(comment(overview, Flavour::Gitlab).into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn what_only_gitlab_reads_as_a_reference_is_none() {
        let mut overview = sample::overview();
        overview.project = "shop !12 %3 ^alert @all".into();
        let text = String::from_utf8(GitlabNote.render(&overview).unwrap()).unwrap();
        assert!(text.contains("**shop \\!12 \\%3 \\^alert \\@all**"), "{text}");
        assert!(text.starts_with("<!-- flakeproof: overview -->\n## flakeproof: "));
        assert!(!text.lines().any(|line| line.starts_with('/')), "no quick action");
    }
}
