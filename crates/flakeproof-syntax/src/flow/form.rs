//! Statements and expressions, reduced to the flow of values.

use super::{Function, Parameter, Span};

/// One step of a function.
#[derive(Debug, Clone, PartialEq)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, PartialEq)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
