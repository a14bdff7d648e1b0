//! Which lines `inspect.getsource` gives for a function.

use super::lexer::{LogicalLines, Token};

/// The number of lines of the function whose first decorator, or `def`, is the first line.
///
/// The function ends with the last line that is indented deeper than `def`. Comments behind its
/// last statement belong to it when they are indented at least as far as its first statement.
pub(super) fn lines_of_function(lines: &[&str]) -> usize {
    let mut last = 1;
    let mut def_indent = None;
    let mut body_indent = None;
    for line in LogicalLines::new(lines) {
        let first = lines[line.lines.start];
        let indent = indent_of(first).len();
        match (line.tokens.as_slice(), def_indent) {
            ([], _) => {}
            ([Token::Comment], _) => {
                if body_indent.is_some_and(|body| indent >= body) {
                    last = line.lines.end;
                }
            }
            (_, None) => {
                last = line.lines.end;
                if !first.trim_start().starts_with('@') {
                    def_indent = Some(indent);
                }
            }
            (_, Some(def)) if indent > def => {
                body_indent.get_or_insert(indent);
                last = line.lines.end;
            }
            (_, Some(_)) => break,
        }
    }
    last.min(lines.len())
}

/// The white space that `textwrap.dedent` takes from each line of a function, when the function can
/// stand for itself then; nothing when some line, of a string perhaps, is indented less.
pub(super) fn dedent<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let margin = indent_of(lines.first()?);
    let is_deep_enough = |line: &&str| line.starts_with(margin) || is_blank(line);
    lines.iter().all(is_deep_enough).then_some(margin)
}

/// Whether `textwrap.dedent` empties a line.
pub(super) fn is_blank(line: &str) -> bool {
    line.trim_matches([' ', '\t']).is_empty()
}

fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t', '\x0c']).len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(code: &str) -> usize {
        lines_of_function(&code.lines().collect::<Vec<_>>())
    }

    #[test]
    fn comments_as_deep_as_the_body_belong_to_it() {
        assert_eq!(length("def f():\n    a\n\n    # inside\n# outside\n\nb"), 4);
        assert_eq!(length("def f():\n    a\n  # too far left\n    # inside\n"), 4);
        assert_eq!(length("def f(): a\n    # behind one line\nb"), 1);
    }

    #[test]
    fn decorators_and_long_lines_are_whole() {
        assert_eq!(length("  @a(\nb)\n  # c\n  def f(x,\n y):\n    '''\n'''\n\n  def g(): b"), 7);
    }

    #[test]
    fn a_string_at_the_left_margin_keeps_a_method_from_standing_alone() {
        assert_eq!(dedent(&["  def f():", "    '''", "x'''"]), None);
        assert_eq!(dedent(&["  def f():", " ", "    a"]), Some("  "));
    }
}
