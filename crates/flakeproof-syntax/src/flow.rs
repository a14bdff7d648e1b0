//! Code as data flows through it: one small form for all languages.
//!
//! A language lowers a file to a [`Unit`]: what it imports and declares, and the statements of each
//! function reduced to where values come from and where they go. Everything that follows data (the
//! dependency graph, its paths, what a test reaches) is written once, over this form.

use flakeproof_core::TestId;
use serde::{Deserialize, Serialize};

use crate::Language;

/// A piece of a file's text. The text itself stays with its [`Unit`], so that a large project costs
/// little more than its text.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
    /// The line it begins on, counted from 1.
    pub line: u32,
}

/// A file in the form data flow needs.
///
/// It is written down without its path and its text: whoever reads it back has both, and looked it up
/// by them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Unit {
    /// Where it is, relative to the project's root, with `/`.
    #[serde(skip)]
    pub path: String,
    /// Its language.
    pub language: Language,
    /// All of it.
    #[serde(skip)]
    pub text: String,
    /// What other files call the place its declarations live in: `com.acme.orders`,
    /// `tests.test_orders`, `github.com/acme/orders`, `orders::basket`.
    pub package: String,
    /// What it takes from elsewhere.
    pub imports: Vec<Import>,
    /// Its classes and what is like them, outer before inner.
    pub types: Vec<TypeDeclaration>,
    /// Its functions and methods, in the order of the text; lambdas are inside of them.
    pub functions: Vec<Function>,
    /// Its variables outside of every class.
    pub fields: Vec<Field>,
}

/// What a file takes from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// What it is called here; `*` for everything of the path.
    pub name: String,
    /// Where it comes from, in the words of [`Unit::package`], its own name included unless it is
    /// `*`.
    pub path: String,
    /// Whether a function or a constant is meant (`import static`, `from a import b` may be either).
    pub is_member: bool,
}

/// A class, an interface, an enum, a struct, an `impl`, a `describe` block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TypeDeclaration {
    /// Its name with those of the classes around it: `Outer.Inner`.
    pub name: String,
    /// What it is derived from, as written there, without type arguments, its superclass first.
    pub bases: Vec<String>,
    /// Its variables.
    pub fields: Vec<Field>,
    /// The lines it covers.
    pub lines: (u32, u32),
}

/// A variable of a class or of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// Its name.
    pub name: Span,
    /// Its declared type, where one is written.
    pub declared: Option<Span>,
    /// Its first value, where one is written.
    pub value: Option<Expression>,
}

/// A function, a method, a constructor, a lambda or a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Function {
    /// Its own name; the title of a test that has one; empty for a lambda.
    pub name: String,
    /// The class it belongs to, by its place in [`Unit::types`].
    pub owner: Option<u32>,
    /// When it runs.
    pub role: Role,
    /// Its parameters, `self` left out.
    pub parameters: Vec<Parameter>,
    /// The declared type of what it gives back.
    pub returns: Option<Span>,
    /// Its annotations, decorators and attributes, each whole, such as
    /// `@Test(expected = IOException.class)`.
    pub marks: Vec<Span>,
    /// All of it, annotations included.
    pub span: Span,
    /// The last line of it.
    pub last_line: u32,
    /// What it does.
    pub body: Vec<Statement>,
}

/// When a function runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// By itself: it is a test.
    Test(TestId),
    /// Before each test of its class or before all of them.
    Before,
    /// After each test or after all of them.
    After,
    /// When a test names it as a parameter.
    Fixture,
    /// When it is called.
    Plain,
}

/// A parameter of a function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name.
    pub name: Span,
    /// Its declared type, where one is written.
    pub declared: Option<Span>,
}

/// A function of a project: its file and its place there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Declared {
    /// The file, by its place in the project.
    pub unit: u32,
    /// The function, by its place in [`Unit::functions`].
    pub function: u32,
}

impl Unit {
    /// A file of which nothing is known but its text.
    #[must_use]
    pub fn empty(path: &str, language: Language, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            language,
            text: text.to_owned(),
            package: String::new(),
            imports: Vec::new(),
            types: Vec::new(),
            functions: Vec::new(),
            fields: Vec::new(),
        }
    }

    /// The text a span covers.
    #[must_use]
    pub fn text_of(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }
}

/// One step of a function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Statement {
    /// A value gets a name: a declaration, an assignment, the variable of a loop, of a `catch`, of
    /// a `with`.
    Bind {
        /// What is named: a name, a member (`self.x`, `this.x`) or several of them.
        targets: Vec<Expression>,
        /// The declared type, where one is written.
        declared: Option<Span>,
        /// `=`, `+=`, `for`, `catch`, as it stands in the text.
        operator: Span,
        /// Where the value comes from; nothing in `int x;`.
        value: Option<Expression>,
    },
    /// A value is computed and dropped: mostly a call.
    Evaluate(Expression),
    /// A value leaves the function: `return`, `yield`, the last expression of a Rust function.
    Return(Option<Expression>),
    /// Values are compared with what they should be.
    Assert {
        /// What stands in the text for the comparison, such as `assertEquals`, `isEqualTo`,
        /// `assert`, `toBe`; several for a chain.
        words: Vec<Span>,
        /// The values looked at, expected ones included, in the order of the text.
        operands: Vec<Expression>,
        /// Where it begins.
        line: u32,
    },
    /// Statements inside another one.
    Nested {
        /// Why they are nested.
        block: Block,
        /// What decides whether or how often they run.
        heads: Vec<Expression>,
        /// The statements, in the order of the text.
        body: Vec<Statement>,
    },
}

/// Why statements are nested in another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Block {
    /// A pair of braces, a `with`, a `synchronized`, a `using`.
    Plain,
    /// `if`, `else`, `switch`, `match`.
    Branch,
    /// `for`, `while`, `do`.
    Loop,
    /// `try`.
    Try,
    /// `catch`, `except`, `rescue`, `finally`.
    Handler,
    /// What must raise: `assertThrows`, `pytest.raises`, `#[should_panic]`; an [`Assert`] about the
    /// kind of error stands beside it.
    ///
    /// [`Assert`]: Statement::Assert
    Raises,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Expression {
    /// A variable, a class, a module, by its name; `this` and `self` too.
    Name(Span),
    /// A number, a text, `true`, `null`.
    Literal(Span),
    /// What a call gives back.
    Call {
        /// The name of the function, or of the class that is created.
        name: Span,
        /// The value it is called on.
        receiver: Option<Box<Expression>>,
        /// The values given to it.
        arguments: Vec<Expression>,
        /// Whether a new object comes back.
        creates: bool,
    },
    /// A member of a value: `order.total`, `self.client`.
    Member {
        /// The value.
        object: Box<Expression>,
        /// The member's name.
        name: Span,
    },
    /// A value made of others without a call.
    Combine {
        /// How.
        operation: Operation,
        /// What stands for it in the text, such as `+`, `[`, `==`; the first of several.
        word: Span,
        /// From what; a chain such as `a + b + c` has all of them in one list.
        operands: Vec<Expression>,
    },
    /// A function without a name, or a block that is handed to a call.
    Lambda(Box<Function>),
}

/// How a value is made of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// Arithmetic, text concatenation, bits.
    Arithmetic,
    /// `==`, `<`, `in`, `instanceof`, `!`, `&&`.
    Compare,
    /// `a[i]`.
    Index,
    /// A cast, `await`, `*`, `&`, `?`, parentheses: the value itself.
    Pass,
    /// A list, a map, an array, a template text, a tuple, the parts of an object.
    Gather,
    /// `a ? b : c`, or an `if`, `match`, `switch` that gives a value.
    Choose,
}

impl Expression {
    /// Where it stands in the text: for a call, where its name does.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Self::Name(span) | Self::Literal(span) => *span,
            Self::Call { name, .. } | Self::Member { name, .. } => *name,
            Self::Combine { word, .. } => *word,
            Self::Lambda(function) => function.span,
        }
    }

    /// The parameters of a lambda, and nothing for any other expression.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        match self {
            Self::Lambda(function) => &function.parameters,
            _ => &[],
        }
    }
}
