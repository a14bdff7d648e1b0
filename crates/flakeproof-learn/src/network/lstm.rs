//! One layer of a long short-term memory (Hochreiter and Schmidhuber, 1997) over a tree of
//! beginnings.
//!
//! Each node of the tree continues the state of its parent. The gates of a node lie in this order:
//! what is let in, what is kept, what is shown, and what there is to let in. All nodes of
//! one level are computed at once.

use super::batch::{NONE, PrefixTree};
use super::layers::{sigmoid, tanh};
use super::matrix::{
    Buffer, Loop, add_product, add_scaled, add_transposed_product, run_wide, transposed,
};

/// The layer, without what leads from its input to its gates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lstm<'a> {
    /// From the state before to the gates.
    pub(super) recurrent: &'a [f32],
    pub(super) hidden: usize,
}

/// What the layer made at each node, and what it needs to know on the way back.
#[derive(Debug, Default)]
pub(super) struct LstmTape {
    /// The states: what the layer shows.
    pub(super) states: Buffer,
    gates: Buffer,
    cells: Buffer,
    /// The hyperbolic tangent of the cells.
    squashed: Buffer,
    /// The states of the parents.
    before: Buffer,
}

impl Lstm<'_> {
    /// Run over the tree, from what the input gives to the gates of each node.
    pub(super) fn forward(&self, gates: Buffer, tree: &PrefixTree) -> LstmTape {
        let hidden = self.hidden;
        let unset = || Buffer::unset(tree.len() * hidden);
        let (states, cells, squashed, before) = (unset(), unset(), unset(), unset());
        let mut tape = LstmTape { states, gates, cells, squashed, before };
        for nodes in tree.levels() {
            let wide = nodes.start * 4 * hidden..nodes.end * 4 * hidden;
            let parents = &tree.parents[nodes.clone()];
            let narrow = nodes.start * hidden..nodes.end * hidden;
            let gates = &mut tape.gates[wide];
            if nodes.start > 0 {
                let before = &mut tape.before[narrow.clone()];
                for (row, parent) in before.chunks_exact_mut(hidden).zip(parents) {
                    row.copy_from_slice(&tape.states[*parent as usize * hidden..][..hidden]);
                }
                add_product(before, self.recurrent, hidden, 4 * hidden, gates);
            }
            let (older, cells) = tape.cells.split_at_mut(narrow.start);
            run_wide(Cell {
                hidden,
                parents,
                older,
                gates,
                cells: &mut cells[..narrow.len()],
                squashed: &mut tape.squashed[narrow.clone()],
                states: &mut tape.states[narrow],
            });
        }
        tape
    }

    /// The gradients of the gates, from those of the states, which are used up.
    /// The gradient of the recurrent matrix is added to what it is.
    pub(super) fn backward(
        &self,
        tape: LstmTape,
        tree: &PrefixTree,
        mut of_states: Buffer,
        of_recurrent: &mut [f32],
    ) -> Buffer {
        let hidden = self.hidden;
        let LstmTape { mut gates, cells, squashed, before, .. } = tape;
        let turned = transposed(self.recurrent, 4 * hidden);
        let mut of_cells = Buffer::zeros(of_states.len());
        for nodes in tree.levels().rev() {
            let parents = &tree.parents[nodes.clone()];
            let narrow = nodes.start * hidden..nodes.end * hidden;
            let gates = &mut gates[nodes.start * 4 * hidden..nodes.end * 4 * hidden];
            let (of_older, of_cells) = of_cells.split_at_mut(narrow.start);
            run_wide(Back {
                hidden,
                parents,
                cells: &cells,
                squashed: &squashed[narrow.clone()],
                of_states: &of_states[narrow.clone()],
                of_older,
                of_cells: &mut of_cells[..narrow.len()],
                gates,
            });
            if nodes.start > 0 {
                let mut of_before = Buffer::zeros(narrow.len());
                add_product(gates, &turned, 4 * hidden, hidden, &mut of_before);
                add_to_parents(&mut of_states, parents, &of_before, hidden);
            }
        }
        let first = tree.levels().next().map_or(0, |nodes| nodes.end);
        let (before, of_gates) = (&before[first * hidden..], &gates[first * 4 * hidden..]);
        add_transposed_product(before, of_gates, tree.len() - first, of_recurrent);
        gates
    }
}

fn add_to_parents(of_states: &mut [f32], parents: &[u32], rows: &[f32], hidden: usize) {
    for (row, parent) in rows.chunks_exact(hidden).zip(parents) {
        if *parent != NONE {
            add_scaled(&mut of_states[*parent as usize * hidden..][..hidden], 1.0, row);
        }
    }
}

/// From gates and the cells of parents to cells and states.
struct Cell<'a> {
    hidden: usize,
    parents: &'a [u32],
    /// The cells of all earlier levels.
    older: &'a [f32],
    /// What the gates are given; they become what the gates say.
    gates: &'a mut [f32],
    cells: &'a mut [f32],
    squashed: &'a mut [f32],
    states: &'a mut [f32],
}

impl Loop for Cell<'_> {
    #[inline(always)]
    fn run<const ROWS: usize, const COLUMNS: usize, const FUSED: bool>(self) {
        let hidden = self.hidden;
        let made = self.cells.chunks_exact_mut(hidden).zip(self.squashed.chunks_exact_mut(hidden));
        let made = made.zip(self.states.chunks_exact_mut(hidden));
        let given = self.gates.chunks_exact_mut(4 * hidden).zip(self.parents);
        for ((gates, parent), ((cells, squashed), states)) in given.zip(made) {
            let (opening, candidates) = gates.split_at_mut(3 * hidden);
            opening.iter_mut().for_each(|gate| *gate = sigmoid(*gate));
            candidates.iter_mut().for_each(|candidate| *candidate = tanh(*candidate));
            let (enter, rest) = opening.split_at(hidden);
            let (keep, show) = rest.split_at(hidden);
            let entering = enter.iter().zip(candidates.iter()).map(|(a, b)| a * b);
            if *parent == NONE {
                cells.iter_mut().zip(entering).for_each(|(cell, new)| *cell = new);
            } else {
                let before = &self.older[*parent as usize * hidden..][..hidden];
                let kept = keep.iter().zip(before).map(|(a, b)| a * b);
                let sums = entering.zip(kept).map(|(a, b)| a + b);
                cells.iter_mut().zip(sums).for_each(|(cell, sum)| *cell = sum);
            }
            squashed.iter_mut().zip(cells.iter()).for_each(|(to, cell)| *to = tanh(*cell));
            let shown = squashed.iter().zip(show).map(|(a, b)| a * b);
            states.iter_mut().zip(shown).for_each(|(state, shown)| *state = shown);
        }
    }
}

/// From the gradients of states and cells to those of gates and of the parents' cells.
struct Back<'a> {
    hidden: usize,
    parents: &'a [u32],
    /// The cells of all nodes.
    cells: &'a [f32],
    squashed: &'a [f32],
    of_states: &'a [f32],
    /// The gradients of the cells of all earlier levels.
    of_older: &'a mut [f32],
    of_cells: &'a mut [f32],
    /// What the gates said; it becomes the gradient of what they were given.
    gates: &'a mut [f32],
}

impl Loop for Back<'_> {
    #[inline(always)]
    fn run<const ROWS: usize, const COLUMNS: usize, const FUSED: bool>(self) {
        let hidden = self.hidden;
        let given = self.squashed.chunks_exact(hidden).zip(self.of_states.chunks_exact(hidden));
        let given = given.zip(self.of_cells.chunks_exact_mut(hidden)).zip(self.parents);
        for (gates, (((squashed, of_states), of_cells), parent)) in
            self.gates.chunks_exact_mut(4 * hidden).zip(given)
        {
            let (enter, rest) = gates.split_at_mut(hidden);
            let (keep, rest) = rest.split_at_mut(hidden);
            let (show, candidates) = rest.split_at_mut(hidden);
            // All of the same known length: else each access would be checked, one after another.
            let (enter, keep) = (&mut enter[..hidden], &mut keep[..hidden]);
            let (show, candidates) = (&mut show[..hidden], &mut candidates[..hidden]);
            let (squashed, of_states) = (&squashed[..hidden], &of_states[..hidden]);
            let of_cells = &mut of_cells[..hidden];
            for at in 0..hidden {
                let (squashed, of_state, shown) = (squashed[at], of_states[at], show[at]);
                let of_cell = of_cells[at] + of_state * shown * (1.0 - squashed * squashed);
                let (entered, candidate) = (enter[at], candidates[at]);
                enter[at] = of_cell * candidate * entered * (1.0 - entered);
                show[at] = of_state * squashed * shown * (1.0 - shown);
                candidates[at] = of_cell * entered * (1.0 - candidate * candidate);
                of_cells[at] = of_cell;
            }
            if *parent == NONE {
                keep.fill(0.0);
                continue;
            }
            let start = *parent as usize * hidden;
            let before = &self.cells[start..start + hidden];
            let of_before = &mut self.of_older[start..start + hidden];
            for at in 0..hidden {
                let (kept, of_cell) = (keep[at], of_cells[at]);
                of_before[at] += of_cell * kept;
                keep[at] = of_cell * before[at] * kept * (1.0 - kept);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::layers::gradient_check::{Numbers, check};
    use super::*;

    /// Two beginnings; the first goes on in two ways, one of which goes on.
    fn tree() -> PrefixTree {
        PrefixTree {
            steps: vec![0; 5],
            parents: vec![NONE, NONE, 0, 0, 3],
            level_ends: vec![2, 4, 5],
        }
    }

    #[test]
    fn its_gradients_are_its_slopes() {
        const HIDDEN: usize = 3;
        let mut numbers = Numbers::new(3);
        let values = [numbers.draw(5 * 4 * HIDDEN), numbers.draw(HIDDEN * 4 * HIDDEN)];
        let wanted = numbers.draw(5 * HIDDEN);
        let forward = |values: &[Vec<f32>]| {
            Lstm { recurrent: &values[1], hidden: HIDDEN }
                .forward(values[0].clone().into(), &tree())
        };
        check(
            &values,
            &wanted,
            |values| forward(values).states.to_vec(),
            |values| {
                let mut of_recurrent = vec![0.0; values[1].len()];
                let layer = Lstm { recurrent: &values[1], hidden: HIDDEN };
                let tape = forward(values);
                let of_gates =
                    layer.backward(tape, &tree(), wanted.clone().into(), &mut of_recurrent);
                vec![of_gates.to_vec(), of_recurrent]
            },
        );
    }

    #[test]
    fn the_state_of_a_node_depends_on_its_ancestors_only() {
        let mut numbers = Numbers::new(4);
        let (mut gates, recurrent) = (numbers.draw(5 * 8), numbers.draw(2 * 8));
        let layer = Lstm { recurrent: &recurrent, hidden: 2 };
        let states = layer.forward(gates.clone().into(), &tree()).states;
        // The second beginning and the first's first continuation change: the last node does not.
        gates[8..24].fill(0.3);
        let changed = layer.forward(gates.into(), &tree()).states;
        assert_ne!(states[2..6], changed[2..6]);
        assert_eq!(states[6..], changed[6..]);
    }
}
