//! Paths with a part of what they tell taken away, to see what it was worth (Table III).

use super::corpus::{Bag, PathCorpus, PathStep};

impl PathCorpus {
    /// The same tests without what happens inside the test: only edges into the code under test and
    /// the nodes they join keep their words, all other nodes and edges are empty.
    #[must_use]
    pub fn without_inner(&self) -> Self {
        let mut kept = self.without_tests();
        kept.append_changed(self, |steps, at, step| {
            let reached = at > 0 && self.step_of(steps[at - 1]).body.is_some();
            let calls = step.body.is_some();
            PathStep {
                node: if calls || reached { step.node } else { Bag::EMPTY },
                operation: step.operation.filter(|_| calls),
                body: step.body,
            }
        });
        kept
    }

    /// The same tests without the code under test: an edge is its operation only.
    #[must_use]
    pub fn without_code(&self) -> Self {
        let mut kept = self.without_tests();
        kept.append_changed(self, |_, _, step| PathStep { body: None, ..step });
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four nodes; the edge from the second to the third calls into the code under test.
    fn corpus() -> (PathCorpus, Vec<PathStep>) {
        let mut corpus = PathCorpus::default();
        let mut step = |node: &str, operation: &str, body: Option<&str>| PathStep {
            node: corpus.bag([node]),
            operation: Some(corpus.bag([operation])),
            body: body.map(|body| corpus.bag([body])),
        };
        let mut path =
            vec![step("a", "new", None), step("b", "call", Some("body")), step("c", "is", None)];
        path.push(PathStep::last(corpus.bag(["d"])));
        corpus.push_test([path.clone()]);
        (corpus, path)
    }

    #[test]
    fn without_the_inside_only_the_call_and_its_two_nodes_remain() {
        let (corpus, path) = corpus();
        let kept = corpus.without_inner();
        let empty = PathStep::last(Bag::EMPTY);
        let expected = [empty, path[1], PathStep::last(path[2].node), empty];
        assert_eq!(kept.path(0, 0).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn without_the_code_under_test_everything_but_bodies_remains() {
        let (corpus, path) = corpus();
        let kept = corpus.without_code();
        let expected: Vec<PathStep> =
            path.iter().map(|step| PathStep { body: None, ..*step }).collect();
        assert_eq!(kept.path(0, 0).collect::<Vec<_>>(), expected);
    }
}
