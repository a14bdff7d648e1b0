//! The same code in another form: what does not change what it does, and should not change what is said of
//! it.
//!
//! Models that read source can learn what things are called and where they stand. Asked about code whose
//! names, order, comments and dead code are others, they show how much of that they did. Tests keep their
//! ids, so that labels still fit. Java only.

mod insertions;
mod nodes;
mod order;
mod renaming;

use flakeproof_core::Seed;

use crate::{Finder, Language, SourceFile};
use nodes::Nodes;

/// A way to change code without changing what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Perturbation {
    /// Local variables, parameters, and private fields and methods get names without a meaning.
    Names,
    /// The methods of each class stand in another order.
    Order,
    /// Methods begin with code that does nothing.
    DeadCode,
    /// Methods begin with a comment, and one stands before them.
    Comments,
}

impl Perturbation {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Names, Self::Order, Self::DeadCode, Self::Comments];

    /// What it is called: `names`, `dead-code`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Names => "names",
            Self::Order => "order",
            Self::DeadCode => "dead-code",
            Self::Comments => "comments",
        }
    }
}

/// The form that code is brought to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// What is changed, in this order.
    pub kinds: Vec<Perturbation>,
    /// The seed of all chance.
    pub seed: Seed,
}

/// Text that takes the place of a piece of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Edit {
    start: usize,
    end: usize,
    text: String,
}

/// Perturbs files. Keeps its parsers: make one per thread.
///
/// ```
/// use flakeproof_core::Seed;
/// use flakeproof_syntax::SourceFile;
/// use flakeproof_syntax::perturbation::{Form, Perturbation, Perturber};
///
/// let text = "class A { int twice(int number) { return number + number; } }";
/// let file = SourceFile { path: "A.java", text };
/// let form = Form { kinds: vec![Perturbation::Names], seed: Seed(1) };
/// let mut perturber = Perturber::new(form);
/// let other = perturber.file(&file).expect("it is Java without an error");
/// assert!(!other.contains("number"));
/// ```
pub struct Perturber {
    form: Form,
    finder: Finder,
}

/// What a method alone is put into, to be read as a file.
const AROUND: (&str, &str) = ("class Around {\n", "\n}\n");

impl Perturber {
    /// What brings code to this form.
    #[must_use]
    pub fn new(form: Form) -> Self {
        Self { form, finder: Finder::default() }
    }

    /// The file in another form, if it is of a language that can be perturbed and has no syntax error.
    #[must_use]
    pub fn file(&mut self, file: &SourceFile<'_>) -> Option<String> {
        if Language::of_path(file.path) != Some(Language::Java) {
            return None;
        }
        let seed = self.form.seed.split(file.path);
        let mut text = file.text.to_owned();
        for kind in self.form.kinds.clone() {
            let tree = self.finder.tree(&SourceFile { path: file.path, text: &text }).ok()?;
            let nodes = Nodes::below(tree.root_node(), &text);
            let seed = seed.split(kind.name());
            let edits = match kind {
                Perturbation::Names => renaming::edits(&nodes, seed),
                Perturbation::Order => order::edits(&nodes, seed),
                Perturbation::DeadCode => insertions::dead_code(&nodes, seed),
                Perturbation::Comments => insertions::comments(&nodes, seed),
            };
            text = edited(&text, edits)?;
        }
        // Nobody should measure what a fault of ours did.
        let changed = SourceFile { path: file.path, text: &text };
        self.finder.tree(&changed).ok().map(|_| text)
    }

    /// A method of a class that is not at hand in another form; `name` tells it from others.
    #[must_use]
    pub fn method(&mut self, text: &str, name: &str) -> Option<String> {
        let path = format!("{name}.java");
        let text = format!("{}{text}{}", AROUND.0, AROUND.1);
        let changed = self.file(&SourceFile { path: &path, text: &text })?;
        let inside = changed.strip_prefix(AROUND.0)?.strip_suffix(AROUND.1)?;
        Some(inside.to_owned())
    }
}

/// The text with all edits made. None if two of them overlap.
fn edited(text: &str, mut edits: Vec<Edit>) -> Option<String> {
    edits.sort_by_key(|edit| (edit.start, edit.end));
    let mut changed = String::with_capacity(text.len() + text.len() / 4);
    let mut at = 0;
    for edit in edits {
        changed += text.get(at..edit.start)?;
        changed += &edit.text;
        at = edit.end;
    }
    changed += text.get(at..)?;
    Some(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
package shop;

import static org.junit.Assert.assertEquals;

public class BasketTest {
    private int price = 3;
    private final Clock clock = new Clock();

    /** What is bought. */
    private Basket filled(int count) {
        Basket basket = new Basket();
        for (int item = 0; item < count; item++) {
            basket.add(price); // each at the same price
        }
        return basket;
    }

    @Test
    public void totals() throws Exception {
        int count = 4;
        Basket basket = filled(count);
        Runnable run = () -> basket.close();
        try (Reader reader = open()) {
            assertEquals(count * this.price, basket.total());
        } catch (IOException error) {
            throw error;
        }
        for (String count2 : names()) { count2.length(); }
        Thread.sleep(count);
    }

    @Test public void isEmpty() { assertEquals(0, filled(0).total()); }
}
";

    fn perturber(kinds: &[Perturbation], seed: u64) -> Perturber {
        Perturber::new(Form { kinds: kinds.to_vec(), seed: Seed(seed) })
    }

    fn perturbed(kinds: &[Perturbation], text: &str) -> String {
        let file = SourceFile { path: "BasketTest.java", text };
        let changed = perturber(kinds, 7).file(&file);
        changed.expect("it has no error")
    }

    fn ids(text: &str) -> Vec<String> {
        let file = SourceFile { path: "shop/BasketTest.java", text };
        let found = Finder::default().find(&file, &crate::Layout::default());
        let mut ids: Vec<String> = found.tests.iter().map(|test| test.id.to_string()).collect();
        ids.sort();
        ids
    }

    #[test]
    fn names_of_variables_and_private_members_go_and_others_stay() {
        let text = perturbed(&[Perturbation::Names], FILE);
        for gone in ["basket", "item", "price =", "this.price", "filled", "error)", "reader", "run"]
        {
            assert!(!text.contains(gone), "{gone}: {text}");
        }
        for kept in ["totals", "isEmpty", "Thread.sleep(", ".total()", "names()", "same price"] {
            assert!(text.contains(kept), "{kept}: {text}");
        }
    }

    #[test]
    fn a_name_that_a_class_inside_or_a_text_mentions_stays() {
        let text = "class A { void a(int x) { run(new B() { int y = x; }); b(\"z\"); } \
                    private int z; void b(String s) { } }";
        let text = perturbed(&[Perturbation::Names], text);
        assert!(text.contains("int x)") && text.contains("int z;"), "{text}");
    }

    #[test]
    fn a_label_a_member_and_a_key_are_no_variables() {
        let text =
            "class A { void a(int x) { x: for (;;) { this.x = b.x(x, A::x); break x; } } int x; }";
        let text = perturbed(&[Perturbation::Names], text);
        for kept in ["x: for", "this.x =", "b.x(", "A::x)", "break x", "int x; }"] {
            assert!(text.contains(kept), "{kept}: {text}");
        }
        assert!(!text.contains("int x)"), "{text}");
    }

    #[test]
    fn methods_move_with_their_comments_and_all_stay() {
        let text = perturbed(&[Perturbation::Order], FILE);
        let lines = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(lines(&text), lines(FILE));
        let other_orders = (0..20).filter(|seed| {
            let file = SourceFile { path: "BasketTest.java", text: FILE };
            let changed = perturber(&[Perturbation::Order], *seed).file(&file);
            changed.is_some_and(|changed| changed != FILE)
        });
        assert!(other_orders.count() > 10);
    }

    #[test]
    fn each_method_gets_dead_code_and_comments() {
        let text = perturbed(&[Perturbation::DeadCode], FILE);
        assert!(text.lines().count() >= FILE.lines().count() + 3, "{text}");
        let text = perturbed(&[Perturbation::Comments], FILE);
        assert!(text.matches("//").count() >= 4, "{text}");
    }

    #[test]
    fn the_same_seed_gives_the_same_text_and_the_same_tests() {
        let all = || perturbed(&Perturbation::ALL, FILE);
        assert_eq!(all(), all());
        assert_eq!(ids(&all()), ids(FILE));
    }

    #[test]
    fn a_method_alone_is_perturbed_as_one() {
        let mut perturber = perturber(&Perturbation::ALL, 1);
        let text = "@Test public void a() { int port = 80; open(port); }";
        let changed = perturber.method(text, "A#a").expect("it has no error");
        assert!(!changed.contains("port") && changed.contains("public void a()"), "{changed}");
        assert_eq!(perturber.method("half a method {", "b"), None);
    }

    #[test]
    fn what_is_no_java_or_has_an_error_is_left_alone() {
        let mut perturber = perturber(&Perturbation::ALL, 1);
        let file = |path, text| SourceFile { path, text };
        assert_eq!(perturber.file(&file("a.py", "x = 1\n")), None);
        assert_eq!(perturber.file(&file("A.java", "class {")), None);
    }
}
