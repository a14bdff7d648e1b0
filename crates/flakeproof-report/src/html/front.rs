//! What finding flaky tests costs: how many would be known, on average, after how many executions.

use std::fmt::Write as _;

use flakeproof_core::FrontPoint;

use crate::words;

const LEFT: f64 = 44.0;
const TOP: f64 = 12.0;
const WIDE: f64 = 620.0;
const HIGH: f64 = 180.0;

/// The front as a picture that takes its colours from the page; `None` if there is none.
pub(super) fn picture(front: &[FrontPoint]) -> Option<String> {
    let last = front.last().filter(|last| last.executions > 0 && last.flaky >= 1.0)?;
    let x = |executions: u64| LEFT + WIDE * share(executions, last.executions);
    let y = |flaky: f64| TOP + HIGH * (1.0 - flaky / last.flaky);
    let mut svg = String::new();
    let (wide, high) = (LEFT + WIDE + 16.0, TOP + HIGH + 34.0);
    let _ = write!(
        svg,
        "<svg class=\"front\" viewBox=\"0 0 {wide} {high}\" role=\"img\" aria-label=\"{} known \
         after {} executions\">",
        known(last.flaky),
        words::grouped(last.executions)
    );
    axes(&mut svg, last);
    let mut path = format!("M{LEFT} {:.1}", y(0.0));
    for point in front {
        let _ = write!(path, "H{:.1}V{:.1}", x(point.executions), y(point.flaky));
    }
    let _ = write!(svg, "<path class=\"line\" d=\"{path}\"/>");
    for point in front {
        let _ = write!(
            svg,
            "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\"><title>{} known after {} \
             executions</title></circle>",
            x(point.executions),
            y(point.flaky),
            known(point.flaky),
            words::grouped(point.executions)
        );
    }
    svg.push_str("</svg>");
    Some(svg)
}

fn axes(svg: &mut String, last: &FrontPoint) {
    let bottom = TOP + HIGH;
    for part in 0..=4_u32 {
        let x = LEFT + WIDE * f64::from(part) / 4.0;
        let anchor = if part == 4 { "end" } else { "middle" };
        let executions = words::grouped(last.executions * u64::from(part) / 4);
        let unit = if part == 4 { " executions" } else { "" };
        let _ = write!(
            svg,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{executions}{unit}</text>",
            bottom + 22.0
        );
    }
    for line in 0..=4_u32 {
        let flaky = last.flaky * f64::from(line) / 4.0;
        let y = TOP + HIGH * (1.0 - f64::from(line) / 4.0);
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT} {y:.1}h{WIDE}\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{flaky:.1}</text>",
            LEFT - 8.0,
            y + 4.0
        );
    }
}

fn known(flaky: f64) -> String {
    format!("{flaky:.1} flaky tests")
}

#[expect(clippy::cast_precision_loss, reason = "a place on a picture")]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_made_where_a_test_was_found() {
        let point = |(executions, flaky)| FrontPoint { executions, flaky };
        let svg = picture(&[(50, 1.0), (100, 2.0)].map(point)).unwrap();
        assert!(svg.contains("d=\"M44 192.0H354.0V102.0H664.0V12.0\""), "{svg}");
    }

    #[test]
    fn nothing_found_is_no_picture() {
        assert_eq!(picture(&[]), None);
        assert_eq!(picture(&[FrontPoint { executions: 10, flaky: 0.0 }]), None);
    }
}
