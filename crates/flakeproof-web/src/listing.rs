//! A choice of the tests: filtered, sorted, page by page.

use std::cmp::Ordering;

use flakeproof_core::Standing;
use serde_json::{Value, json};

use crate::answer::Problem;
use crate::request;

/// Tests on a page if nothing else is asked for.
const LIMIT: usize = 100;

/// The most tests on a page.
const MOST: usize = 1000;

/// Which tests to show, in which order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Choice {
    /// Only tests of these; none stands for all.
    standings: Vec<Standing>,
    /// Words that an id must have, in small letters.
    words: Vec<String>,
    /// Who must own it, in small letters.
    owner: Option<String>,
    sort: Sort,
    limit: Option<usize>,
    /// The last test of the page before.
    after: Option<String>,
}

/// What tests are sorted by: ids upwards, all else downwards, then by id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Sort {
    #[default]
    Id,
    Cost,
    Rate,
    FlipRate,
    LastFailed,
    Runs,
    Failures,
}

impl Sort {
    const ALL: [Self; 7] = [
        Self::Id,
        Self::Cost,
        Self::Rate,
        Self::FlipRate,
        Self::LastFailed,
        Self::Runs,
        Self::Failures,
    ];

    fn word(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Cost => "cost",
            Self::Rate => "rate",
            Self::FlipRate => "flip_rate",
            Self::LastFailed => "last_failed",
            Self::Runs => "runs",
            Self::Failures => "failures",
        }
    }

    /// Where a row of the document has it.
    fn place(self) -> &'static str {
        match self {
            Self::Id => "/id",
            Self::Cost => "/cost_seconds",
            Self::Rate => "/rate/mean",
            Self::FlipRate => "/flip_rate",
            Self::LastFailed => "/last_failed",
            Self::Runs => "/runs",
            Self::Failures => "/failures",
        }
    }

    fn compare(self, one: &Value, other: &Value) -> Ordering {
        let by_id = id(one).cmp(id(other));
        if self == Self::Id {
            return by_id;
        }
        let key = |row: &Value| Key::new(row.pointer(self.place()));
        key(other).compare(&key(one)).then(by_id)
    }
}

/// What a row is sorted by. What is not known comes last.
enum Key {
    Unknown,
    Number(f64),
    Text(String),
}

impl Key {
    fn new(value: Option<&Value>) -> Self {
        match value {
            Some(Value::Number(number)) => number.as_f64().map_or(Self::Unknown, Self::Number),
            Some(Value::String(text)) => Self::Text(text.clone()),
            _ => Self::Unknown,
        }
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => one.total_cmp(other),
            (Self::Text(one), Self::Text(other)) => one.cmp(other),
            _ => self.rank().cmp(&other.rank()),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Unknown => 0,
            Self::Number(_) => 1,
            Self::Text(_) => 2,
        }
    }
}

fn id(row: &Value) -> &str {
    row["id"].as_str().unwrap_or_default()
}

impl Choice {
    /// The choice that a query means.
    pub(crate) fn parse(query: &str) -> Result<Self, Problem> {
        let pairs = request::pairs(query)
            .ok_or_else(|| Problem::bad_request("the query is no UTF-8", NEXT))?;
        let mut choice = Self::default();
        for (name, value) in &pairs {
            if pairs.iter().filter(|(other, _)| other == name).count() > 1 {
                let what = format!("`{name}` is there more than once");
                return Err(Problem::bad_request(what, NEXT));
            }
            choice.take(name, value)?;
        }
        Ok(choice)
    }

    fn take(&mut self, name: &str, value: &str) -> Result<(), Problem> {
        match name {
            "standing" => self.standings = standings(value)?,
            "q" => self.words = value.split_whitespace().map(str::to_lowercase).collect(),
            "owner" => self.owner = Some(value.to_lowercase()),
            "sort" => self.sort = known(name, value, &Sort::ALL, Sort::word)?,
            "limit" => {
                let limit = value.parse().ok().filter(|limit| (1..=MOST).contains(limit));
                let what = || format!("`limit` is a number from 1 to {MOST}, not `{value}`");
                self.limit = Some(limit.ok_or_else(|| Problem::bad_request(what(), NEXT))?);
            }
            "after" => self.after = Some(value.to_owned()),
            _ => {
                return Err(Problem::bad_request(format!("there is no parameter `{name}`"), NEXT));
            }
        }
        Ok(())
    }

    /// The page of these rows, as a document, and the query of the next page.
    pub(crate) fn page_of(&self, rows: &[Value]) -> Result<(Value, Option<String>), Problem> {
        let mut chosen: Vec<&Value> = rows.iter().filter(|row| self.takes(row)).collect();
        chosen.sort_by(|one, other| self.sort.compare(one, other));
        let start = match &self.after {
            None => 0,
            Some(after) => {
                let last = chosen.iter().position(|row| id(row) == *after);
                1 + last.ok_or_else(|| {
                    let what = format!("`{after}` is not among the tests that this query chooses");
                    Problem::bad_request(what, "ask again without `after`")
                })?
            }
        };
        let total = chosen.len();
        let page: Vec<&Value> =
            chosen.into_iter().skip(start).take(self.limit.unwrap_or(LIMIT)).collect();
        let is_last = start + page.len() >= total;
        let next = page.last().filter(|_| !is_last).map(|row| id(row));
        let query = next.map(|next| self.query_after(next));
        Ok((json!({ "schema": 1, "total": total, "tests": page, "next": next }), query))
    }

    fn takes(&self, row: &Value) -> bool {
        let standing = row["standing"].as_str();
        let is_standing = self.standings.is_empty()
            || self.standings.iter().any(|it| standing == Some(it.word()));
        let is_owned = self.owner.as_ref().is_none_or(|owner| {
            let owners = row["owners"].as_array().into_iter().flatten();
            owners.filter_map(Value::as_str).any(|it| it.to_lowercase() == *owner)
        });
        is_standing
            && is_owned
            && (self.words.is_empty() || has_all(&id(row).to_lowercase(), &self.words))
    }

    fn query_after(&self, after: &str) -> String {
        let mut parts = Vec::new();
        if !self.standings.is_empty() {
            let words: Vec<&str> = self.standings.iter().map(|it| it.word()).collect();
            parts.push(format!("standing={}", words.join(",")));
        }
        if !self.words.is_empty() {
            parts.push(format!("q={}", request::encoded(&self.words.join(" "))));
        }
        if let Some(owner) = &self.owner {
            parts.push(format!("owner={}", request::encoded(owner)));
        }
        parts.push(format!("sort={}", self.sort.word()));
        parts.push(format!("limit={}", self.limit.unwrap_or(LIMIT)));
        parts.push(format!("after={}", request::encoded(after)));
        parts.join("&")
    }
}

/// What to do about a query that is not understood.
const NEXT: &str = "see `/api` for what can be asked";

fn has_all(text: &str, words: &[String]) -> bool {
    words.iter().all(|word| text.contains(word.as_str()))
}

fn standings(value: &str) -> Result<Vec<Standing>, Problem> {
    let words = value.split(',').filter(|word| !word.is_empty());
    words.map(|word| known("standing", word, &Standing::ALL, Standing::word)).collect()
}

/// The one of these that a word names.
fn known<T: Copy>(
    name: &str,
    word: &str,
    all: &[T],
    of: fn(T) -> &'static str,
) -> Result<T, Problem> {
    all.iter().copied().find(|it| of(*it) == word).ok_or_else(|| {
        let words: Vec<&str> = all.iter().map(|it| of(*it)).collect();
        let what = format!("`{name}` is one of {}, not `{word}`", words.join(", "));
        Problem::bad_request(what, NEXT)
    })
}

/// What `sort` may be.
pub(crate) fn sort_words() -> Vec<&'static str> {
    Sort::ALL.map(Sort::word).to_vec()
}

/// What `standing` may be.
pub(crate) fn standing_words() -> Vec<&'static str> {
    Standing::ALL.map(Standing::word).to_vec()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(id: &str, standing: &str, cost: f64, failed: Option<&str>) -> Value {
        json!({ "id": id, "standing": standing, "cost_seconds": cost, "last_failed": failed })
    }

    fn rows() -> Vec<Value> {
        vec![
            row("a::Slow[x y]", "flaky", 5.0, Some("2026-11-02T00:00:00Z")),
            row("b::slow", "steady", 0.0, None),
            row("c::fast", "flaky", 50.0, Some("2026-11-01T00:00:00Z")),
            row("d", "broken", 5.0, Some("2026-11-03T00:00:00Z")),
        ]
    }

    fn ids(query: &str) -> Vec<String> {
        let (page, _) = Choice::parse(query).unwrap().page_of(&rows()).unwrap();
        page["tests"].as_array().unwrap().iter().map(|row| id(row).to_owned()).collect()
    }

    #[test]
    fn tests_are_chosen_by_standing_and_by_words_of_their_id() {
        assert_eq!(ids("standing=flaky,broken"), ["a::Slow[x y]", "c::fast", "d"]);
        assert_eq!(ids("q=SLOW"), ["a::Slow[x y]", "b::slow"]);
        assert_eq!(ids("q=y+slow&standing=flaky"), ["a::Slow[x y]"]);
    }

    #[test]
    fn tests_are_chosen_by_their_owner_on_every_page() {
        let mut owned = rows();
        owned[0]["owners"] = json!(["@Shop/pay", "@ana"]);
        owned[3]["owners"] = json!(["@shop/pay"]);
        let choice = Choice::parse("owner=@shop/PAY&limit=1").unwrap();
        let (page, next) = choice.page_of(&owned).unwrap();
        assert_eq!((&page["total"], &page["tests"][0]["id"]), (&json!(2), &json!("a::Slow[x y]")));
        let (page, _) = Choice::parse(&next.unwrap()).unwrap().page_of(&owned).unwrap();
        assert_eq!((&page["total"], &page["tests"][0]["id"]), (&json!(2), &json!("d")));
    }

    #[test]
    fn the_dearest_comes_first_and_ties_stand_by_id() {
        assert_eq!(ids("sort=cost"), ["c::fast", "a::Slow[x y]", "d", "b::slow"]);
        assert_eq!(ids("sort=last_failed"), ["d", "a::Slow[x y]", "c::fast", "b::slow"]);
    }

    #[test]
    fn what_is_not_understood_is_said() {
        for query in
            ["limit=0", "limit=1001", "limit=x", "sort=x", "standing=x", "x=1", "q=%ff", "q=a&q=b"]
        {
            assert_eq!(Choice::parse(query).unwrap_err().status, 400, "{query}");
        }
        let gone = Choice::parse("after=gone").unwrap().page_of(&rows()).unwrap_err();
        assert_eq!(gone.next, "ask again without `after`");
    }

    proptest! {
        #[test]
        fn pages_one_after_the_other_have_every_test_once(
            costs in prop::collection::vec(0_u8..4, 0..40), limit in 1_usize..9, sort in 0_usize..7,
        ) {
            let rows: Vec<Value> = costs
                .iter()
                .enumerate()
                .map(|(at, cost)| row(&format!("t&{at}"), "flaky", f64::from(*cost), None))
                .collect();
            let mut query = format!("sort={}&limit={limit}&q=T", Sort::ALL[sort].word());
            let mut seen = Vec::new();
            loop {
                let (page, next) = Choice::parse(&query).unwrap().page_of(&rows).unwrap();
                prop_assert_eq!(&page["total"], rows.len());
                seen.extend(page["tests"].as_array().unwrap().clone());
                let Some(next) = next else { break };
                query = next;
            }
            let mut all = rows.clone();
            all.sort_by(|one, other| Sort::ALL[sort].compare(one, other));
            prop_assert_eq!(seen, all);
        }
    }
}
