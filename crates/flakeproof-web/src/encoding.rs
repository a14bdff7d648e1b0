//! What headers and addresses say, decoded.

use std::borrow::Cow;

use hyper::header::{self, HeaderMap, HeaderName};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What stays as it is within a part of an address.
const PLAIN: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A text as a part of an address.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, &PLAIN).to_string()
}

/// A part of an address as text; `None` if it is no UTF-8.
pub(crate) fn decoded(part: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(part).decode_utf8().ok()
}

/// The names and values of a query, in its order; `None` if one is no UTF-8.
pub(crate) fn pairs(query: &str) -> Option<Vec<(String, String)>> {
    let text = |part: &str| decoded(&part.replace('+', " ")).map(Cow::into_owned);
    let pair = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        Some((text(name)?, text(value)?))
    };
    query.split('&').filter(|part| !part.is_empty()).map(pair).collect()
}

/// Whether the client can unpack gzip, and wants it.
pub(crate) fn takes_gzip(headers: &HeaderMap) -> bool {
    listed(headers, header::ACCEPT_ENCODING).any(|word| {
        let (coding, weight) = word.split_once(';').unwrap_or((word, ""));
        let weight = weight.trim().strip_prefix("q=").unwrap_or("1");
        coding.trim().eq_ignore_ascii_case("gzip")
            && weight.trim().parse::<f32>().is_ok_and(|weight| weight > 0.0)
    })
}

/// Whether the client has the body with this name, packed or not.
pub(crate) fn has_tag(headers: &HeaderMap, tag: &str) -> bool {
    listed(headers, header::IF_NONE_MATCH).any(|word| {
        let name = word.strip_prefix("W/").unwrap_or(word).trim_matches('"');
        word == "*" || name.strip_suffix("-gzip").unwrap_or(name) == tag
    })
}

/// The words of a header that is a list.
fn listed(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn with(name: HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn gzip_is_sent_only_to_those_who_ask_for_it() {
        for yes in ["gzip", "br, GZIP", "deflate,gzip;q=0.5"] {
            assert!(takes_gzip(&with(header::ACCEPT_ENCODING, yes)), "{yes}");
        }
        for no in ["", "br", "gzip;q=0", "gzip;q=0.0", "gzipped", "identity"] {
            assert!(!takes_gzip(&with(header::ACCEPT_ENCODING, no)), "{no}");
        }
    }

    #[test]
    fn a_body_is_known_by_any_form_of_its_name() {
        for yes in ["\"a\"", "W/\"a\"", "\"b\", \"a-gzip\"", "*"] {
            assert!(has_tag(&with(header::IF_NONE_MATCH, yes), "a"), "{yes}");
        }
        assert!(!has_tag(&with(header::IF_NONE_MATCH, "\"ab\", \"\""), "a"));
    }

    #[test]
    fn a_query_is_split_before_it_is_decoded() {
        let pairs = pairs("q=a%26b+c&&limit=5&x").unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(pairs, [pair("q", "a&b c"), pair("limit", "5"), pair("x", "")]);
    }

    proptest! {
        #[test]
        fn every_text_survives_an_address(text in ".*") {
            let encoded = encoded(&text);
            prop_assert_eq!(decoded(&encoded).unwrap(), text);
        }
    }
}
