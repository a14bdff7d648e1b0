//! When the tests of a report ran, as its beginning tells.

/// The first time in the beginning of a report, as it is written: RFC 3339 with or without a zone,
/// or milliseconds since 1970. `None` where the report does not tell.
#[must_use]
pub fn started(beginning: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(beginning);
    match super::Format::of(beginning) {
        super::Format::Junit => attribute(&text),
        super::Format::GoJson => quoted(after(&text, "\"Time\":")?),
        super::Format::Ctrf | super::Format::JestJson | super::Format::RspecJson => {
            let number = ["\"start\":", "\"startTime\":"];
            let number = number.iter().find_map(|key| digits(after(&text, key)?));
            number.or_else(|| quoted(after(&text, "\"timestamp\":")?))
        }
        super::Format::Tap => None,
    }
}

/// The time of a suite, or of a run of Visual Studio. What tests printed is not looked at.
fn attribute(text: &str) -> Option<String> {
    for tag in text.split('<').skip(1) {
        let name = tag.split(|c: char| c.is_whitespace() || c == '>').next().unwrap_or_default();
        let key = match name {
            "testsuite" | "testsuites" | "testcase" => " timestamp=",
            "Times" => " start=",
            _ => continue,
        };
        let value = after(tag, key).and_then(quoted);
        if value.as_ref().is_some_and(|value| !value.is_empty()) {
            return value;
        }
    }
    None
}

fn after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.find(key).map(|at| text[at + key.len()..].trim_start())
}

fn quoted(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    text[1..].split_once(quote).map(|(value, _)| value.trim().to_owned())
}

fn digits(text: &str) -> Option<String> {
    let number: String = text.chars().take_while(char::is_ascii_digit).collect();
    (number.len() >= 10).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> String {
        started(text.as_bytes()).unwrap_or_default()
    }

    #[test]
    fn every_format_tells_it_in_its_way() {
        let time = "2026-11-15T10:15:00";
        let suite = format!("<testsuites>\n<testsuite name='a' timestamp=\"{time}\">");
        assert_eq!(found(&suite), time);
        assert_eq!(
            found(&format!("<TestRun id=\"1\"><Times creation=\"x\" start=\"{time}Z\"/>")),
            format!("{time}Z")
        );
        assert_eq!(
            found(&format!("{{\"Time\":\"{time}Z\",\"Action\":\"start\"}}")),
            format!("{time}Z")
        );
        let ctrf = r#"{"results": {"summary": {"tests": 1, "start": 1794737700123}}}"#;
        assert_eq!(found(ctrf), "1794737700123");
        assert_eq!(found(r#"{"startTime":1794737700123,"testResults":[]}"#), "1794737700123");
        assert_eq!(found("TAP version 14\nok 1\n"), "");
    }

    #[test]
    fn a_suite_without_a_time_does_not_take_that_of_what_was_printed() {
        assert_eq!(found("<testsuite><testcase name='a'>timestamp=\"1999\"</testcase>"), "");
    }
}
