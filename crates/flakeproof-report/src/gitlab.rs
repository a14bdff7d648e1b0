//! What GitLab shows: [`GitlabCodeQuality`] beside the code of a merge request
//! (`gl-code-quality-report.json`), and [`GitlabNote`] as a comment on it.
//!
//! Only tests whose file is known can be shown beside the code, so only these are in the report. A
//! test keeps its fingerprint as long as it keeps its id, so that GitLab can tell which are new.

use flakeproof_core::{Location, Overview, Standing};
use serde::Serialize;

use crate::markdown::{Flavour, comment};
use crate::overview::{TestView, views, worst};
use crate::{Error, Renderer, words};

/// Renders the flaky and the broken tests whose file is known, the worst first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GitlabCodeQuality;

impl Renderer<Overview> for GitlabCodeQuality {
    fn render(&self, overview: &Overview) -> Result<Vec<u8>, Error> {
        let views = views(overview);
        let broken = views.iter().filter(|view| view.standing() == Some(Standing::Broken));
        let issues: Vec<Issue> =
            worst(&views).into_iter().chain(broken).filter_map(Issue::from_view).collect();
        let mut bytes = serde_json::to_vec_pretty(&issues)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

/// Renders a short comment on a merge request, with a stable first line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GitlabNote;

impl Renderer<Overview> for GitlabNote {
    fn render(&self, overview: &Overview) -> Result<Vec<u8>, Error> {
        Ok(comment(overview, Flavour::Gitlab).into_bytes())
    }
}

/// One remark beside the code, as GitLab reads it.
#[derive(Serialize)]
struct Issue {
    description: String,
    check_name: &'static str,
    fingerprint: String,
    severity: &'static str,
    location: IssueLocation,
}

#[derive(Serialize)]
struct IssueLocation {
    path: String,
    lines: IssueLines,
}

#[derive(Serialize)]
struct IssueLines {
    begin: u32,
}

impl Issue {
    fn from_view(view: &TestView<'_>) -> Option<Self> {
        let Location { file, line } = view.location()?;
        let path = inside(&file)?;
        let is_broken = view.standing() == Some(Standing::Broken);
        let failed_builds = view.score.map_or(0, |score| score.failed_builds);
        let (check_name, severity) = match (is_broken, failed_builds) {
            (true, _) => ("flakeproof/broken", "critical"),
            (false, 0) => ("flakeproof/flaky", "minor"),
            (false, _) => ("flakeproof/flaky", "major"),
        };
        let key = format!("{check_name}\0{}", view.id);
        Some(Self {
            description: description(view),
            check_name,
            fingerprint: blake3::hash(key.as_bytes()).to_hex()[..32].to_owned(),
            severity,
            location: IssueLocation { path, lines: IssueLines { begin: line.unwrap_or(1).max(1) } },
        })
    }
}

fn description(view: &TestView<'_>) -> String {
    let standing = view.standing().map(Standing::word).unwrap_or_default();
    let id = words::excerpt(view.id.as_str());
    let mut text = format!("{id} is {standing}");
    if let Some(score) = view.telling() {
        text = format!("{text}: {}", words::score(score));
    }
    if view.cost().as_secs_f64() > 0.0 {
        text = format!("{text}; burnt {} of CI", words::burnt(view.cost()));
    }
    text.extend(view.kind().map(|kind| format!(" ({kind})")));
    text
}

/// A path inside the project, as GitLab wants it; `None` if it leads out of it.
fn inside(file: &str) -> Option<String> {
    let path = file.replace('\\', "/");
    let path = path.strip_prefix("./").unwrap_or(&path);
    let leads_out =
        path.starts_with('/') || path.contains(':') || path.split('/').any(|it| it == "..");
    (!path.is_empty() && !leads_out).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::sample;

    #[test]
    fn the_whole_report_names_flaky_and_broken_tests_with_a_file() {
        let bytes = GitlabCodeQuality.render(&sample::overview()).unwrap();
        insta::assert_snapshot!(String::from_utf8(bytes).unwrap());
    }

    #[test]
    fn a_path_that_leads_out_of_the_project_is_left_out() {
        assert_eq!(inside("./tests/a.py").as_deref(), Some("tests/a.py"));
        assert_eq!(inside("tests\\a.py").as_deref(), Some("tests/a.py"));
        for file in ["/etc/passwd", "../a.py", "a/../../b.py", "C:\\a.py", ""] {
            assert_eq!(inside(file), None, "{file}");
        }
    }

    #[test]
    fn no_two_remarks_share_a_fingerprint() {
        let bytes = GitlabCodeQuality.render(&sample::large_overview(600, 60)).unwrap();
        let issues: Vec<Value> = serde_json::from_slice(&bytes).unwrap();
        let prints: std::collections::BTreeSet<&str> =
            issues.iter().map(|issue| issue["fingerprint"].as_str().unwrap()).collect();
        assert_eq!(prints.len(), issues.len());
        assert!(issues.len() > 10);
    }

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
