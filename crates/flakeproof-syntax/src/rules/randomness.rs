//! Chance: values that are drawn without a seed.

use super::comparison::Relation;
use super::rule::{Finding, Rule};
use super::scene::Scene;
use super::value::{Value, arguments_of, bare, is_any, name_of, path, receiver_of};
use crate::Language;
use crate::flow::{Expression, Operation};

pub(super) fn look(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    for comparison in scene.comparisons() {
        if matches!(comparison.relation, Relation::Unequal | Relation::Contains) {
            continue;
        }
        for (side, other) in comparison.sides() {
            let Some(drawn) = drawn(scene, side) else { continue };
            // What holds for the value drawn is no matter of chance: `parse(format(x)) == x`.
            if self::drawn(scene, other).is_some() || !is_fixed(scene, other) {
                continue;
            }
            if is_always_so(drawn, comparison.relation, other) {
                continue;
            }
            // A search through the whole file, which few tests need.
            if is_seeded(scene) {
                return;
            }
            let what = drawn.text(drawn.expression.span());
            found.push(Finding {
                line: comparison.line,
                rule: Rule::UnseededRandom,
                message: format!(
                    "`{what}` is drawn without a seed, and the assertion depends on it"
                ),
            });
            break;
        }
    }
}

/// Whether a seed is set anywhere in the test, around it or in its file.
fn is_seeded(scene: &Scene<'_>) -> bool {
    let in_scene = scene.calls().any(|(_, step, call, _)| {
        matches!(name_of(step.file, call), "seed" | "set_seed" | "Seed" | "manual_seed" | "setSeed")
    });
    in_scene
        || [
            "random.seed(",
            "seedrandom",
            "rand.Seed(",
            "np.random.seed",
            "seed_from_u64",
            "randomseed",
        ]
        .iter()
        .any(|word| scene.file_says(word))
        || scene.file_says("spyOn(Math, 'random')")
        || scene.file_says("Math.random =")
}

/// The draw that a value is, by nothing but names and arithmetic.
fn drawn<'p>(scene: &Scene<'p>, value: Value<'p>) -> Option<Value<'p>> {
    let mut found = None;
    scene.walk(value, &mut |piece| {
        if found.is_some() {
            return false;
        }
        match bare(piece.expression) {
            call @ Expression::Call { .. } => {
                if is_draw(scene, piece, call) {
                    found = Some(piece.of(call));
                    return false;
                }
                is_plain(name_of(piece.file, call)) || scene.helper_value(piece).is_some()
            }
            Expression::Combine { operation, .. } => {
                matches!(operation, Operation::Arithmetic | Operation::Pass | Operation::Choose)
            }
            Expression::Name(_) => true,
            Expression::Member { .. } | Expression::Literal(_) | Expression::Lambda(_) => false,
        }
    });
    found
}

/// Calls that leave a number a number.
fn is_plain(name: &str) -> bool {
    matches!(
        name,
        "floor" | "round" | "ceil" | "abs" | "int" | "float" | "str" | "intValue" | "toString"
    )
}

fn is_draw<'p>(scene: &Scene<'p>, value: Value<'p>, call: &'p Expression) -> bool {
    let path = path(value.file, call);
    let name = name_of(value.file, call);
    match value.file.language {
        Language::Python => {
            is_any(
                &path,
                &[
                    "random.random",
                    "random.randint",
                    "random.randrange",
                    "random.uniform",
                    "random.choice",
                    "random.gauss",
                    "random.getrandbits",
                    "random.sample",
                    "numpy.random.rand",
                    "np.random.rand",
                    "numpy.random.randint",
                    "np.random.randint",
                    "numpy.random.random",
                    "numpy.random.uniform",
                    "numpy.random.normal",
                    "numpy.random.randn",
                    "secrets.randbelow",
                    "secrets.choice",
                    "secrets.randbits",
                ],
            ) && !path.contains("self.")
                && !path.starts_with("Random()")
        }
        Language::Java | Language::Kotlin => {
            let is_next = name.starts_with("next") && name != "next" && name != "nextElement";
            is_any(&path, &["Math.random", "RandomUtils.nextInt", "RandomUtils.nextLong"])
                || (is_next && is_unseeded_generator(scene, value, call))
        }
        Language::JavaScript | Language::TypeScript => path == "Math.random",
        Language::Go => {
            (path.starts_with("math.rand.") || path.starts_with("math.rand.v2."))
                && matches!(
                    name,
                    "Int"
                        | "Intn"
                        | "Int31"
                        | "Int31n"
                        | "Int63"
                        | "Int63n"
                        | "Float64"
                        | "Float32"
                        | "IntN"
                        | "N"
                        | "Uint32"
                        | "Uint64"
                )
        }
        Language::Rust => {
            is_any(
                &path,
                &[
                    "rand.random",
                    "fastrand.u32",
                    "fastrand.usize",
                    "fastrand.i32",
                    "fastrand.f64",
                    "fastrand.bool",
                ],
            ) || (matches!(
                name,
                "gen_range" | "random_range" | "gen_bool" | "random_bool" | "random" | "gen"
            ) && is_unseeded_generator(scene, value, call))
        }
        Language::CSharp | Language::Ruby => false,
    }
}

/// Whether a draw's generator was made without a seed.
fn is_unseeded_generator<'p>(scene: &Scene<'p>, value: Value<'p>, call: &'p Expression) -> bool {
    let Some(generator) = receiver_of(call) else { return false };
    let mut maker = bare(generator);
    let given;
    if let Expression::Name(span) = maker {
        given = scene.given(value.text(*span), value);
        match given {
            Some(it) => maker = bare(it.value.expression),
            None => return false,
        }
    }
    let name = name_of(value.file, maker);
    match value.file.language {
        Language::Rust => matches!(name, "thread_rng" | "rng" | "from_entropy" | "from_os_rng"),
        _ => {
            matches!(name, "Random" | "SecureRandom" | "SplittableRandom")
                && arguments_of(maker).is_empty()
                || name == "current"
        }
    }
}

/// Whether a value is written down in the test.
fn is_fixed<'p>(scene: &Scene<'p>, value: Value<'p>) -> bool {
    let mut is_fixed = true;
    scene.walk(value, &mut |piece| {
        match bare(piece.expression) {
            Expression::Call { .. } | Expression::Lambda(_) => is_fixed = false,
            Expression::Name(span) => {
                let name = piece.text(*span);
                let is_known = scene.given(name, piece).is_some();
                let is_constant =
                    name.chars().all(|c| c.is_uppercase() || c == '_' || c.is_numeric());
                is_fixed &= is_known || is_constant;
            }
            Expression::Member { .. } => return false,
            Expression::Literal(_) | Expression::Combine { .. } => {}
        }
        is_fixed
    });
    is_fixed
}

/// Whether the range of a draw makes the assertion true: `random() < 1`, `randint(1, 6) >= 1`.
fn is_always_so(drawn: Value<'_>, relation: Relation, bound: Value<'_>) -> bool {
    use super::value::number;
    let Some(bound) = number(bound.file, bound.expression) else { return false };
    let name = name_of(drawn.file, drawn.expression);
    let mut ends: Vec<f64> =
        arguments_of(drawn.expression).iter().filter_map(|it| number(drawn.file, it)).collect();
    if ends.is_empty() && matches!(name, "random" | "nextDouble" | "Float64") {
        ends = vec![0.0, 1.0];
    } else if ends.len() == 1 {
        ends.insert(0, 0.0);
    }
    let [low, high] = ends.as_slice() else { return false };
    match relation {
        Relation::Below => bound >= *high,
        Relation::Above => bound <= *low,
        Relation::Equal | Relation::Unequal | Relation::Contains => false,
    }
}
