//! The addresses that the server knows: a closed set.

use std::borrow::Cow;

use crate::encoding;

/// An address that the server knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// The report as a page.
    Page,
    /// A test, as a link into the page.
    TestLink,
    /// The API's description as a page.
    ApiPage,
    /// The API's description for programs.
    OpenApi,
    /// All that is known, each test in short.
    Overview,
    /// A choice of the tests.
    Tests,
    /// One test in full.
    Test,
    /// The runs of the history.
    Runs,
    /// Runs in which many tests failed together.
    Outages,
    /// Whether the history can be read.
    Health,
}

impl Route {
    /// Every address.
    pub const ALL: [Self; 10] = [
        Self::Page,
        Self::TestLink,
        Self::ApiPage,
        Self::OpenApi,
        Self::Overview,
        Self::Tests,
        Self::Test,
        Self::Runs,
        Self::Outages,
        Self::Health,
    ];

    /// The address, with `{id}` where a test's id stands.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Page => "/",
            Self::TestLink => "/tests/{id}",
            Self::ApiPage => "/api",
            Self::OpenApi => "/api/openapi.json",
            Self::Overview => "/api/v1/overview",
            Self::Tests => "/api/v1/tests",
            Self::Test => "/api/v1/tests/{id}",
            Self::Runs => "/api/v1/runs",
            Self::Outages => "/api/v1/outages",
            Self::Health => "/health",
        }
    }

    /// What a path as it was sent means, and the test it names.
    ///
    /// An id is everything after the address, so that it may have slashes and dots in it: it is looked
    /// up among the tests and never in a file system.
    pub(crate) fn of(path: &str) -> Option<(Self, Option<Cow<'_, str>>)> {
        let named = |route: &Self| {
            let start = route.path().strip_suffix("{id}")?;
            let id = path.strip_prefix(start).filter(|id| !id.is_empty())?;
            Some((*route, Some(encoding::decoded(id)?)))
        };
        let plain = Self::ALL.iter().find(|route| route.path() == path);
        plain.map(|route| (*route, None)).or_else(|| Self::ALL.iter().find_map(named))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_id_may_have_slashes_brackets_and_dots() {
        let (route, id) = Route::of("/api/v1/tests/tests/../a.py%3A%3Ax%5B%2F%5D").unwrap();
        assert_eq!((route, id.unwrap().as_ref()), (Route::Test, "tests/../a.py::x[/]"));
    }

    #[test]
    fn an_address_is_known_only_as_a_whole() {
        for path in
            ["", "//", "/api/", "/api/v1", "/tests/", "/api/v1/tests/", "/tests/%ff", "/x", "*"]
        {
            assert_eq!(Route::of(path), None, "{path}");
        }
        for route in Route::ALL {
            assert_eq!(Route::of(route.path()).unwrap().0, route);
        }
    }

    proptest! {
        #[test]
        fn every_id_is_found_again(id in ".+") {
            let path = format!("/api/v1/tests/{}", encoding::encoded(&id));
            prop_assert_eq!(Route::of(&path), Some((Route::Test, Some(id.into()))));
        }
    }
}
