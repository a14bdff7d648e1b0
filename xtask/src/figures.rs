//! The figures of `predict`: from one file into README and the book. The program's tests compare the file with
//! the model inside the program, whose last line says the same.

use serde_json::Value;

use crate::root;
use crate::written_table::WrittenTable;

/// The one file of what the model is worth.
const KEPT: &str = "crates/flakeproof/models/figures.json";
/// The page with the figures in sentences.
const SENTENCES: WrittenTable =
    WrittenTable { page: "docs/concepts/predictions.md", command: "figures" };
/// Pages that show what the program prints.
const PRINTED: [&str; 2] = ["README.md", "docs/guides/predict.md"];
/// How the line begins that the program prints below its suspects.
const LINE: &str = "on held-out projects, ";

/// Write the figures into all pages.
pub(crate) fn write() -> Result<(), String> {
    let figures = document(KEPT)?;
    SENTENCES.write(&sentences(&figures))?;
    for page in PRINTED {
        let path = root().join(page);
        let text = with_line(&read(page)?, &line(&figures)).ok_or_else(|| no_line(page))?;
        std::fs::write(path, text).map_err(|error| format!("{page}: {error}"))?;
    }
    Ok(())
}

/// Fail where a page says something else.
pub(crate) fn check() -> Result<(), String> {
    let figures = document(KEPT)?;
    SENTENCES.check(&sentences(&figures))?;
    for page in PRINTED {
        let there = read(page)?;
        if with_line(&there, &line(&figures)).ok_or_else(|| no_line(page))? != there {
            return Err(format!("a figure in {page} is old: run `cargo xtask figures`"));
        }
    }
    Ok(())
}

fn no_line(page: &str) -> String {
    format!("{page} does not show the line that begins with `{LINE}`")
}

fn document(path: &str) -> Result<Value, String> {
    serde_json::from_str(&read(path)?).map_err(|error| format!("{path}: {error}"))
}

fn read(path: &str) -> Result<String, String> {
    std::fs::read_to_string(root().join(path)).map_err(|error| format!("{path}: {error}"))
}

/// What the program prints below its suspects.
fn line(figures: &Value) -> String {
    let few = &figures["held_out"]["standing_out"];
    format!(
        "{LINE}{} of its suspects were flaky, and it found {} of the flaky tests; its threshold was chosen \
         without them",
        percent(&few["precision"]),
        percent(&few["recall"])
    )
}

fn percent(share: &Value) -> String {
    format!("{:.0} %", 100.0 * share.as_f64().unwrap_or(f64::NAN))
}

/// The page with the line in place of the one it has; none if it has none.
fn with_line(page: &str, line: &str) -> Option<String> {
    page.contains(LINE).then(|| {
        let lines = page.lines().map(|it| if it.starts_with(LINE) { line } else { it });
        lines.map(|it| format!("{it}\n")).collect()
    })
}

/// What the model is worth, as the book has it.
fn sentences(figures: &Value) -> String {
    let (model, held_out) = (&figures["model"], &figures["held_out"]);
    let (all, few) = (&held_out["all"], &held_out["standing_out"]);
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    format!(
        "Measured on {} tests, {} of them flaky, of {} projects, each left out with everything chosen without it: average\n\
         precision {:.2}. With at most {} of a project's tests as suspects, as `predict` does it, **{} of its suspects were flaky,\n\
         and it found {} of the flaky tests** (F1 {:.2}). With `--max-suspects 100%` {} were, and it found {} (F1 {:.2}).\n\
         \n\
         It knows {} tests, {} of them flaky, from {} projects. While it learned, with these projects held out in five parts, members\n\
         and threshold chosen on the same parts, its average precision was {:.2}; where only a text is known, {:.2}.\n",
        held_out["tests"],
        held_out["flaky"],
        held_out["projects"],
        number(&held_out["average_precision"]),
        percent(&few["most"]),
        percent(&few["precision"]),
        percent(&few["recall"]),
        number(&few["f1"]),
        percent(&all["precision"]),
        percent(&all["recall"]),
        number(&all["f1"]),
        model["tests"],
        model["flaky"],
        model["projects"],
        number(&model["average_precision"]),
        number(&model["text_average_precision"]),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_line_of_the_program_is_replaced() {
        let page = format!("before\n{LINE}9 % of its\nafter\n");
        let few = json!({"precision": 0.444, "recall": 0.5});
        let wanted = line(&json!({"held_out": {"standing_out": few}}));
        assert!(wanted.contains("44 % of its suspects were flaky, and it found 50 %"), "{wanted}");
        let replaced = with_line(&page, &wanted);
        assert_eq!(replaced, Some(format!("before\n{wanted}\nafter\n")));
        assert_eq!(with_line("nothing\n", "a"), None);
    }

    #[test]
    fn all_pages_say_what_the_one_file_says() {
        assert_eq!(check(), Ok(()));
    }
}
