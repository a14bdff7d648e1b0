//! Times as reports, CI systems and people write them.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// A point in time: RFC 3339, the same without a zone (taken as UTC), or seconds or milliseconds
/// since 1970.
pub(super) fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let number: i64 = text.parse().ok()?;
        return match text.len() {
            ..=11 => Timestamp::from_second(number).ok(),
            _ => Timestamp::from_millisecond(number).ok(),
        };
    }
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time);
    }
    // `+0100`, as some write it, is not RFC 3339.
    let (civil, zone) = text.split_at_checked(text.len().checked_sub(5)?)?;
    if zone.starts_with(['+', '-']) && zone[1..].bytes().all(|byte| byte.is_ascii_digit()) {
        return format!("{civil}{}:{}", &zone[..3], &zone[3..]).parse().ok();
    }
    let civil: DateTime = text.parse().ok()?;
    civil.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

/// A point in time as the history keeps it: RFC 3339 in UTC, to the millisecond.
pub(super) fn written(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_becomes_utc() {
        let expected = "2026-11-15T10:15:00.000Z";
        for text in [
            "2026-11-15T10:15:00Z",
            "2026-11-15T11:15:00+01:00",
            "2026-11-15T11:15:00+0100",
            "2026-11-15 10:15:00+00:00",
            "2026-11-15T10:15:00",
            "2026-11-15 10:15:00.000000",
            "1794737700",
            "1794737700000",
        ] {
            assert_eq!(parse(text).map(written).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "soon", "Sun Nov 15", "+0100", "é0100"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
