//! Which functions of the project run when a test does, as far as calls can be resolved.
//!
//! Some run without being called: set-up, tear-down, constructors, fixtures. They are test code, as
//! are the functions that are written to test and not to be tested.

use rustc_hash::FxHashSet;

use super::call::Target;
use super::index::{ProjectIndex, TypeId};
use crate::Language;
use crate::flow::{Declared, Role, Unit};

/// How far calls are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReachLimits {
    /// The most calls in one another.
    pub hops: u8,
    /// The most functions, the nearest kept.
    pub functions: usize,
}

impl Default for ReachLimits {
    fn default() -> Self {
        Self { hops: 5, functions: 400 }
    }
}

/// A function that is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// The function.
    pub function: Declared,
    /// How many calls away it is; 0 for where the search began.
    pub hops: u8,
}

impl ProjectIndex {
    /// The functions that these reach, themselves included, nearest first, then in the order of
    /// the calls.
    #[must_use]
    pub fn reach(&self, from: &[Declared], limits: ReachLimits) -> Vec<Reached> {
        self.reach_on(from, None, limits)
    }

    /// The functions a test reaches, run in a class: its own, or one that inherits it.
    ///
    /// What sets it up and tears it down counts as the test itself.
    #[must_use]
    pub fn reach_of_test(
        &self,
        test: Declared,
        class: Option<&str>,
        limits: ReachLimits,
    ) -> Vec<Reached> {
        let class = class.and_then(|class| self.find_class(class)).or_else(|| self.owner(test));
        let mut from = vec![test];
        from.extend(self.test_hooks(test, class).iter());
        self.reach_on(&from, class, limits)
    }

    fn reach_on(
        &self,
        from: &[Declared],
        class: Option<TypeId>,
        limits: ReachLimits,
    ) -> Vec<Reached> {
        let mut search = Search::new(self, class, limits);
        for function in from {
            search.add(*function, 0);
        }
        if let Some(class) = class {
            search.create(class, 1);
        }
        let mut at = 0;
        while let Some(Reached { function, hops }) = search.found.get(at).copied() {
            at += 1;
            if hops < limits.hops {
                for target in self.calls(function).iter() {
                    search.call(target, hops + 1);
                }
            }
        }
        search.found
    }
}

/// A search in breadth. What is found keeps the order of hops because callers do.
struct Search<'p> {
    project: &'p ProjectIndex,
    class: Option<TypeId>,
    limits: ReachLimits,
    found: Vec<Reached>,
    seen: FxHashSet<Declared>,
    created: FxHashSet<TypeId>,
}

impl<'p> Search<'p> {
    fn new(project: &'p ProjectIndex, class: Option<TypeId>, limits: ReachLimits) -> Self {
        Self {
            project,
            class,
            limits,
            found: Vec::new(),
            seen: FxHashSet::default(),
            created: FxHashSet::default(),
        }
    }

    fn add(&mut self, function: Declared, hops: u8) {
        let is_full = self.found.len() >= self.limits.functions;
        if !is_full && self.project.function(function).is_some() && self.seen.insert(function) {
            self.found.push(Reached { function, hops });
        }
    }

    fn call(&mut self, target: &Target, hops: u8) {
        for function in self.project.runs(target, self.class) {
            self.add(function, hops);
        }
        if let Some(class) = target.created {
            self.create(class, hops);
        }
    }

    /// What the first values of a class's fields call, those of its ancestors, and those of the
    /// classes made there.
    fn create(&mut self, class: TypeId, hops: u8) {
        let project = self.project;
        let mut waiting = vec![class];
        while let Some(class) = waiting.pop() {
            if !self.created.insert(class) {
                continue;
            }
            for ancestor in project.lineage(class) {
                let parts = project.class(ancestor).map_or(&[][..], |class| &class.parts);
                for (unit, declaration) in parts {
                    for target in project.calls_of_fields(*unit, Some(*declaration)).iter() {
                        for function in project.runs(target, Some(class)) {
                            self.add(function, hops);
                        }
                        waiting.extend(target.created);
                    }
                }
            }
        }
    }
}

/// What runs around a test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestHooks {
    /// Constructors and what runs before it, superclasses and outer classes first.
    pub before: Vec<Declared>,
    /// The fixtures it names as parameters, and those that every test uses.
    pub fixtures: Vec<Declared>,
    /// What runs after it.
    pub after: Vec<Declared>,
}

impl TestHooks {
    /// All of them, in the order they run.
    pub fn iter(&self) -> impl Iterator<Item = Declared> {
        self.before.iter().chain(&self.fixtures).chain(&self.after).copied()
    }

    fn add(&mut self, project: &ProjectIndex, hooks: impl IntoIterator<Item = Declared>) {
        for hook in hooks {
            match project.function(hook).map(|hook| &hook.role) {
                Some(Role::Before) => self.before.push(hook),
                Some(Role::After) => self.after.push(hook),
                Some(Role::Fixture | Role::Plain | Role::Test(_)) | None => {}
            }
        }
    }
}

impl ProjectIndex {
    /// What runs around a test of a class: its own class, or the one that inherits it.
    #[must_use]
    pub fn test_hooks(&self, test: Declared, class: Option<TypeId>) -> TestHooks {
        let mut found = TestHooks::default();
        let hooks = self.hooks.get(test.unit as usize);
        found.add(self, hooks.into_iter().flatten().copied());
        let mut around: Vec<TypeId> = Vec::new();
        let mut next = class.or_else(|| self.owner(test));
        while let Some(id) = next.filter(|_| around.len() < 16) {
            around.push(id);
            next = self.class(id).and_then(|class| class.outer);
        }
        for class in around.into_iter().rev() {
            found.before.extend(self.constructors(class));
            found.add(self, self.hooks_of(class));
        }
        found.fixtures = self.fixtures_of(test);
        found
    }

    /// The hooks of a class, those of its most distant ancestor first, overridden ones left out.
    fn hooks_of(&self, class: TypeId) -> Vec<Declared> {
        let lineage: Vec<TypeId> = self.lineage(class).collect();
        let mut found = Vec::new();
        for (place, class) in lineage.iter().enumerate().rev() {
            let Some(class) = self.class(*class) else { continue };
            let nearer = lineage.get(..place).unwrap_or_default();
            found.extend(class.hooks.iter().filter(|hook| {
                let name = self.function(**hook).and_then(|hook| self.names.get(&hook.name));
                let overrides = |nearer: &TypeId| {
                    let own = self.class(*nearer).zip(name);
                    own.is_some_and(|(class, name)| class.functions.contains_key(&name))
                };
                !nearer.iter().any(overrides)
            }));
        }
        found
    }

    /// The fixtures a function of Python asks for: those that run without being named, then those
    /// its parameters name.
    #[must_use]
    pub fn fixtures_of(&self, declared: Declared) -> Vec<Declared> {
        let (Some(unit), Some(function)) = (self.unit(declared), self.function(declared)) else {
            return Vec::new();
        };
        if unit.language != Language::Python {
            return Vec::new();
        }
        let mut found = self.automatic_fixtures_of(declared);
        let named = function.parameters.iter();
        found.extend(named.filter_map(|it| self.fixture(declared.unit, unit.text_of(it.name))));
        found
    }

    /// The fixtures that run with a test without being named, the most distant first.
    pub(crate) fn automatic_fixtures_of(&self, test: Declared) -> Vec<Declared> {
        let visible = self.automatic_fixtures.iter().filter_map(|fixture| {
            let owner = self.owner(*fixture);
            let is_of_class = owner.is_none() || owner == self.owner(test);
            Some((self.nearness(test.unit, *fixture)?, *fixture)).filter(|_| is_of_class)
        });
        let mut visible: Vec<(usize, Declared)> = visible.collect();
        visible.sort_unstable();
        visible.into_iter().map(|(_, fixture)| fixture).collect()
    }

    /// The fixture of this name that a file sees: its own, or that of the nearest `conftest.py`.
    #[must_use]
    pub fn fixture(&self, unit: u32, name: &str) -> Option<Declared> {
        let known = self.fixtures.get(&self.names.get(name)?)?;
        known
            .iter()
            .filter_map(|fixture| Some((self.nearness(unit, *fixture)?, *fixture)))
            .max_by_key(|(near, fixture)| (*near, std::cmp::Reverse(*fixture)))
            .map(|(_, fixture)| fixture)
    }

    /// How near a fixture is to a file; nothing if the file does not see it.
    fn nearness(&self, unit: u32, fixture: Declared) -> Option<usize> {
        if fixture.unit == unit {
            return Some(usize::MAX);
        }
        let path = self.units.get(unit as usize)?.path.as_str();
        let other = self.unit(fixture)?.path.as_str();
        let (folder, file) = other.rsplit_once('/').unwrap_or(("", other));
        let rest = path.strip_prefix(folder)?;
        let is_below = folder.is_empty() || rest.starts_with('/');
        (file == "conftest.py" && is_below).then_some(folder.len())
    }
}

/// From which byte on a file is test code; nothing if it is none.
pub(super) fn begin_of_test_code(unit: &Unit) -> Option<u32> {
    let holds_tests = unit.functions.iter().any(|function| matches!(function.role, Role::Test(_)));
    if in_test_folder(&unit.path) {
        return Some(0);
    }
    if !holds_tests {
        return None;
    }
    if unit.language != Language::Rust {
        return Some(0);
    }
    // The unit tests of Rust stand in the file of what they test.
    let module = unit.text.find("#[cfg(test)]");
    let first = unit.functions.iter().filter(|f| matches!(f.role, Role::Test(_)));
    let first = first.map(|function| function.span.start).min();
    module.and_then(|at| u32::try_from(at).ok()).or(first)
}

/// Whether a file lies where tests do, or is named as they are.
fn in_test_folder(path: &str) -> bool {
    // `src/main/java/org/acme/test/` holds what others test with.
    if path.contains("src/main/") {
        return false;
    }
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let is_folder = folder.split('/').any(|part| {
        matches!(part, "test" | "tests" | "it" | "spec" | "specs" | "__tests__" | "testing")
            || matches!(part, "integrationTest" | "androidTest" | "testFixtures" | "e2e")
    });
    let stem = file.split('.').next().unwrap_or(file);
    is_folder
        || stem == "conftest"
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || file.contains(".test.")
        || file.contains(".spec.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_folders_and_names_are_known() {
        for path in [
            "core/src/test/java/a/Base.java",
            "tests/conftest.py",
            "pkg/orders_test.go",
            "src/__tests__/a.js",
            "src/a.spec.ts",
        ] {
            assert!(in_test_folder(path), "{path}");
        }
        for path in ["src/main/java/org/acme/test/Kit.java", "src/orders.py", "contest/a.go"] {
            assert!(!in_test_folder(path), "{path}");
        }
    }
}
