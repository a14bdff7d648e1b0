//! What tests say about their kin: where one test of a class is flaky, others are, too.
//!
//! Tests stand in nested groups (a class in a package in a project; a file in a folder in a suite). How
//! much more often a group shows flaky tests than the model expected is a factor on the odds of its
//! members. Its prior is a gamma distribution with mean 1, and what a group shows is a Poisson number, so
//! after `shown` where `expected` were expected the factor is `(strength + shown) / (strength +
//! expected)`. To the group around it, a group counts as one sign, however many of its tests show
//! themselves, because they may all fail for the same reason.

use std::collections::HashMap;

/// How strongly a group of any size holds to what the model says. On real data, the likeliest values
/// lie between 0.05 (a model that knows nothing of the project) and 2 (one that knows it well).
const STRENGTH: f64 = 0.3;
/// So strong a group never moves.
const UNMOVED: f64 = 1e12;

/// A group of tests, or of groups.
#[derive(Debug, Clone, PartialEq)]
struct Group {
    /// The group around it.
    around: Option<u32>,
    /// How strongly its factor holds to 1.
    strength: f64,
    /// Signs that were expected by now.
    expected: f64,
    /// Signs that were seen.
    shown: u32,
}

/// The groups of all tests.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupPrior {
    groups: Vec<Group>,
    known: HashMap<Vec<String>, u32>,
}

impl GroupPrior {
    /// The number of a group with these names, the outermost first. A test without a name around it
    /// stands for itself.
    pub fn group_of<Name: AsRef<str>>(&mut self, names: &[Name]) -> u32 {
        let key: Vec<String> = names.iter().map(|name| name.as_ref().to_owned()).collect();
        if let Some(group) = self.known.get(&key) {
            return *group;
        }
        let group = match names.split_last() {
            None => self.add(None, UNMOVED),
            Some((_, [])) => self.add(None, STRENGTH),
            Some((_, around)) => {
                let around = self.group_of(around);
                self.add(Some(around), STRENGTH)
            }
        };
        self.known.insert(key, group);
        group
    }

    fn add(&mut self, around: Option<u32>, strength: f64) -> u32 {
        let number = u32::try_from(self.groups.len()).unwrap_or(u32::MAX);
        self.groups.push(Group { around, strength, expected: 0.0, shown: 0 });
        number
    }

    /// The factor on the odds of a group's tests.
    #[must_use]
    pub fn factor(&self, group: u32) -> f64 {
        let this = &self.groups[group as usize];
        let around = this.around.map_or(1.0, |around| self.factor(around));
        let expected = this.expected * around;
        around * (this.strength + f64::from(this.shown)) / (this.strength + expected)
    }

    /// Tests of a group ran: so many of them were expected to show themselves.
    pub fn expect(&mut self, group: u32, more: f64) {
        let this = &mut self.groups[group as usize];
        let before = at_least_one(this.expected);
        this.expected += more;
        let (after, around) = (at_least_one(this.expected), this.around);
        if let Some(around) = around {
            self.expect(around, after - before);
        }
    }

    /// A test of a group has shown itself.
    pub fn show(&mut self, group: u32) {
        let this = &mut self.groups[group as usize];
        this.shown += 1;
        let (is_first, around) = (this.shown == 1, this.around);
        if let (true, Some(around)) = (is_first, around) {
            self.show(around);
        }
    }

    /// How many groups there are.
    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    /// The outermost group around a group.
    #[must_use]
    pub fn outermost(&self, group: u32) -> u32 {
        self.groups[group as usize].around.map_or(group, |around| self.outermost(around))
    }
}

/// The chance of at least one sign where so many are expected.
fn at_least_one(expected: f64) -> f64 {
    1.0 - (-expected).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_expected_and_came_changes_nothing() {
        let mut prior = GroupPrior::default();
        let class = prior.group_of(&["class"]);
        prior.expect(class, 1.0);
        assert!(prior.factor(class) < 0.3, "nothing came");
        prior.show(class);
        assert!((prior.factor(class) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_surprise_counts_most_for_the_nearest() {
        let mut prior = GroupPrior::default();
        let [class, other] = ["A", "B"].map(|class| prior.group_of(&["project", class]));
        let stranger = prior.group_of(&["another"]);
        let alone = prior.group_of::<String>(&[]);
        prior.expect(class, 0.01);
        prior.show(class);
        assert!(prior.factor(class) > prior.factor(other));
        assert!(prior.factor(other) > 1.0);
        assert!((prior.factor(stranger) - 1.0).abs() < 1e-12);
        prior.show(alone);
        assert!((prior.factor(alone) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_class_is_one_sign_to_its_project() {
        let mut prior = GroupPrior::default();
        let project = prior.group_of(&["project"]);
        let class = prior.group_of(&["project", "class"]);
        prior.show(class);
        let after_one = prior.factor(project);
        prior.show(class);
        assert!((prior.factor(project) - after_one).abs() < 1e-12);
    }
}
