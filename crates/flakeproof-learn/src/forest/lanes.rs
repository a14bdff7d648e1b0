//! The walk of `trees` for sixteen rows at once, where the processor can fetch from sixteen places
//! (AVX-512). The answers are the same to the last bit; it takes half the time.
//!
//! This is the one place of the crate with unchecked reads: no crate offers them checked. They stay
//! within bounds because a tree is never made unless its children and leaves exist and its features
//! are below the width (`Tree::fault`; growing keeps to the same), and a row has that many numbers.
#![expect(unsafe_code, reason = "there are no checked reads from sixteen places")]

use std::arch::x86_64::{
    __m512i, __mmask16, _CMP_GT_OQ, _mm512_add_epi32, _mm512_and_si512, _mm512_andnot_si512,
    _mm512_castsi512_ps, _mm512_castsi512_si256, _mm512_cmp_ps_mask, _mm512_cmpeq_epi32_mask,
    _mm512_extracti64x4_epi64, _mm512_i32gather_epi64, _mm512_i32gather_ps, _mm512_loadu_epi32,
    _mm512_mask_add_epi32, _mm512_mask_i32scatter_epi32, _mm512_maskz_compress_epi32,
    _mm512_mullo_epi32, _mm512_permutex2var_epi32, _mm512_set1_epi32, _mm512_setzero_si512,
    _mm512_srli_epi32, _mm512_storeu_epi32,
};

use super::tree::{CHILD_BITS, LEAF, MISSING_LEFT, Node, Tree};
use super::trees::GROUP;

const LANES: usize = 16;

/// Whether this processor has what `leaves_of_group` needs.
pub(super) fn available() -> bool {
    is_x86_feature_detected!("avx512f")
}

/// The leaf that each row of a whole group reaches. No number may be missing.
///
/// # Safety
/// The processor must have what `available` asks for.
#[target_feature(enable = "avx512f")]
pub(super) fn leaves_of_group(tree: &Tree, cells: &[f32], width: usize) -> [u32; GROUP] {
    assert!(cells.len() == GROUP * width && !tree.nodes.is_empty(), "a whole group");
    let mut leaves = [0; GROUP];
    let mut walkers = Walkers { rows: [0; GROUP + LANES], places: [0; GROUP + LANES], count: 0 };
    for (row, place) in (0..).zip(walkers.rows.iter_mut().take(GROUP)) {
        *place = row;
    }
    walkers.count = GROUP;
    walkers.step::<3>(tree, cells, width, &mut leaves);
    while walkers.count > 0 {
        walkers.step::<1>(tree, cells, width, &mut leaves);
    }
    leaves
}

/// Rows on their way through a tree; the first `count` of each.
struct Walkers {
    rows: [u32; GROUP + LANES],
    places: [u32; GROUP + LANES],
    count: usize,
}

impl Walkers {
    /// Let all rows take some steps; who has arrived leaves the list.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn step<const STEPS: usize>(
        &mut self,
        tree: &Tree,
        cells: &[f32],
        width: usize,
        leaves: &mut [u32; GROUP],
    ) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_possible_wrap,
            reason = "it is small"
        )]
        let row_width = _mm512_set1_epi32(width as i32);
        let mut still = 0;
        for from in (0..self.count).step_by(LANES) {
            let here = (self.count - from).min(LANES);
            let rows = load(&self.rows[from..]);
            let starts = _mm512_mullo_epi32(rows, row_width);
            let (cuts, places) =
                walk::<STEPS>(&tree.nodes, cells, starts, load(&self.places[from..]));
            let is_leaf = _mm512_cmpeq_epi32_mask(_mm512_and_si512(cuts, every(LEAF)), every(LEAF));
            let present = __mmask16::MAX >> (LANES - here);
            let numbers = _mm512_andnot_si512(every(LEAF), cuts);
            let to: *mut i32 = leaves.as_mut_ptr().cast();
            // SAFETY: a row is a number below GROUP.
            unsafe { _mm512_mask_i32scatter_epi32::<4>(to, present & is_leaf, rows, numbers) };
            let goes_on = present & !is_leaf;
            store(_mm512_maskz_compress_epi32(goes_on, rows), &mut self.rows[still..]);
            store(_mm512_maskz_compress_epi32(goes_on, places), &mut self.places[still..]);
            still += goes_on.count_ones() as usize;
        }
        self.count = still;
    }
}

/// The thresholds at the last nodes of walks of some steps, and the places after them.
#[inline]
#[target_feature(enable = "avx512f")]
fn walk<const STEPS: usize>(
    nodes: &[Node],
    cells: &[f32],
    starts: __m512i,
    mut places: __m512i,
) -> (__m512i, __m512i) {
    let mut cuts = _mm512_setzero_si512();
    let first_half = _mm512_castsi512_si256;
    let second_half = _mm512_extracti64x4_epi64::<1>;
    let (cut_lanes, link_lanes) = (load(&EVEN), load(&ODD));
    for _ in 0..STEPS {
        // SAFETY: every place is 0 or comes from a node of this tree, whose children exist.
        let [low, high] = [first_half(places), second_half(places)]
            .map(|places| unsafe { _mm512_i32gather_epi64::<8>(places, nodes.as_ptr().cast()) });
        cuts = _mm512_permutex2var_epi32(low, cut_lanes, high);
        let links = _mm512_permutex2var_epi32(low, link_lanes, high);
        let features =
            _mm512_srli_epi32::<CHILD_BITS>(_mm512_and_si512(links, every(!MISSING_LEFT)));
        let wanted = _mm512_add_epi32(starts, features);
        // SAFETY: a row begins at each start, and no feature is beyond the width of a row.
        let values = unsafe { _mm512_i32gather_ps::<4>(wanted, cells.as_ptr()) };
        let right = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(values, _mm512_castsi512_ps(cuts));
        let children = _mm512_and_si512(links, every((1 << CHILD_BITS) - 1));
        places = _mm512_mask_add_epi32(children, right, children, every(1));
    }
    (cuts, places)
}

const EVEN: [u32; LANES] = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30];
const ODD: [u32; LANES] = [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31];

#[inline]
#[target_feature(enable = "avx512f")]
fn every(number: u32) -> __m512i {
    _mm512_set1_epi32(number.cast_signed())
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(numbers: &[u32]) -> __m512i {
    let numbers = &numbers[..LANES];
    // SAFETY: there are sixteen numbers.
    unsafe { _mm512_loadu_epi32(numbers.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(lanes: __m512i, numbers: &mut [u32]) {
    let numbers = &mut numbers[..LANES];
    // SAFETY: there is room for sixteen numbers.
    unsafe { _mm512_storeu_epi32(numbers.as_mut_ptr().cast(), lanes) }
}
