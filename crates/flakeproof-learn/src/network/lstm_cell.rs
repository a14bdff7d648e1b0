//! The cell of the LSTM, forwards and backwards, for all nodes of one level at once.

use super::activation::{sigmoid, tanh};
use super::batch::NONE;
use super::wide::Loop;

/// From gates and the cells of parents to cells and states.
pub(super) struct Cell<'a> {
    pub(super) hidden: usize,
    pub(super) parents: &'a [u32],
    /// The cells of all earlier levels.
    pub(super) older: &'a [f32],
    /// What the gates are given; they become what the gates say.
    pub(super) gates: &'a mut [f32],
    pub(super) cells: &'a mut [f32],
    pub(super) squashed: &'a mut [f32],
    pub(super) states: &'a mut [f32],
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
pub(super) struct Back<'a> {
    pub(super) hidden: usize,
    pub(super) parents: &'a [u32],
    /// The cells of all nodes.
    pub(super) cells: &'a [f32],
    pub(super) squashed: &'a [f32],
    pub(super) of_states: &'a [f32],
    /// The gradients of the cells of all earlier levels.
    pub(super) of_older: &'a mut [f32],
    pub(super) of_cells: &'a mut [f32],
    /// What the gates said; it becomes the gradient of what they were given.
    pub(super) gates: &'a mut [f32],
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
