//! What GitLab shows: [`GitlabCodeQuality`] beside the code of a merge request, and [`GitlabNote`]
//! as a comment on it.

mod code_quality;
mod note;

pub use code_quality::GitlabCodeQuality;
pub use note::GitlabNote;
