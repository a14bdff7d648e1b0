//! The tests that a model calls flaky as annotations, the most probable first.

use flakeproof_core::{Prediction, Predictions};

use super::GithubAnnotations;
use super::command::{self, Level};
use crate::{Error, Renderer, words};

impl Renderer<Predictions> for GithubAnnotations {
    fn render(&self, predictions: &Predictions) -> Result<Vec<u8>, Error> {
        let model = words::model(&predictions.model);
        let suspects = predictions.suspects();
        let annotations: Vec<_> =
            suspects.into_iter().map(|test| self.suspicion(test, &model)).collect();
        Ok(command::lines(&annotations).into_bytes())
    }
}

impl GithubAnnotations {
    fn suspicion(&self, test: &Prediction, model: &str) -> String {
        let properties = [
            ("file", self.path_in_repository(&test.file)),
            ("line", test.line.to_string()),
            ("endLine", test.end_line.to_string()),
            ("title", format!("may be flaky ({}): {}", words::percent(test.probability), test.id)),
        ];
        let properties = properties.each_ref().map(|(name, value)| (*name, value.as_str()));
        command::annotation(Level::Warning, &properties, &message(test, model))
    }
}

fn message(test: &Prediction, model: &str) -> String {
    let mut lines = vec![words::suspicion(test)];
    lines.extend(words::nearest_flaky(test));
    lines.push(format!("what to do: {}", words::advice(test.category.as_deref())));
    lines.push(model.to_owned());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use flakeproof_core::SimilarTest;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::sample;

    fn rendered(predictions: &Predictions) -> String {
        let in_a_monorepo = GithubAnnotations { folder: "services/api".into() };
        String::from_utf8(in_a_monorepo.render(predictions).unwrap()).unwrap()
    }

    #[test]
    fn each_suspect_is_one_line() {
        insta::assert_snapshot!(rendered(&sample::predictions()));
    }

    #[test]
    fn the_ten_most_probable_are_shown_and_the_others_counted() {
        let text = rendered(&sample::suspects(12));
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[0].contains("t.py%3A%3Atest_11::"), "{text}");
        assert_eq!(lines.iter().filter(|line| line.starts_with("::warning ")).count(), 10);
        assert_eq!(lines[10], "2 more annotations left out, because GitHub shows 10");
    }

    #[test]
    fn without_suspects_nothing_is_written() {
        assert_eq!(rendered(&sample::suspects(0)), "");
    }

    fn odd_text() -> impl Strategy<Value = String> {
        "[a\r\n\t:,%|<\u{85}\u{2028}`]{0,12}"
    }

    proptest! {
        #[test]
        fn whatever_the_texts_hold_an_annotation_is_one_line(
            texts in vec([odd_text(), odd_text(), odd_text(), odd_text()], 0..13),
            name in odd_text(),
        ) {
            let mut predictions = sample::suspects(0);
            predictions.model.name = name;
            for [id, file, category, neighbour] in texts {
                let [mut test] = <[_; 1]>::try_from(sample::suspects(1).tests).unwrap();
                test.id = id.into();
                test.file = file;
                test.category = Some(category);
                test.neighbours = vec![SimilarTest {
                    id: neighbour.clone(),
                    project: neighbour,
                    ..sample::predictions().tests[0].neighbours[0].clone()
                }];
                predictions.tests.push(test);
            }
            let text = rendered(&predictions);
            let shown = predictions.tests.len().min(10);
            let counted = usize::from(predictions.tests.len() > 10);
            prop_assert!(!text.contains('\r'));
            prop_assert_eq!(text.split_terminator('\n').count(), shown + counted);
            let commands = text.lines().filter(|line| line.starts_with("::warning file=")).count();
            prop_assert_eq!(commands, shown);
        }
    }
}
