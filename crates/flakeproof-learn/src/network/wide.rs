//! Loops over many numbers, compiled for the vectors that the processor at hand has.
//!
//! A release build must run on every processor, so by itself the compiler uses the narrowest
//! vectors. A [`Loop`] is compiled three times, and the widest version is chosen when it runs: a
//! product of matrices takes a fifth of the time with AVX-512. Each number is computed by the same
//! operations in the same order in every version, so the result is the same to the last bit (except
//! on x86 processors older than 2013, which cannot multiply and add in one rounding).

/// A loop to be compiled for several processors. Everything in it must be `#[inline(always)]`.
pub(super) trait Loop {
    /// Run it. `ROWS` by `COLUMNS` numbers fit into the processor's registers; `FUSED` says whether
    /// it multiplies and adds in one rounding.
    fn run<const ROWS: usize, const COLUMNS: usize, const FUSED: bool>(self);
}

/// Run a loop with the widest vectors there are.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "it was asked whether the processor can")]
pub(super) fn run_wide(work: impl Loop) {
    if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("fma") {
        // SAFETY: the processor can.
        unsafe { with_avx512(work) }
    } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the processor can.
        unsafe { with_avx2(work) }
    } else {
        work.run::<4, 8, false>();
    }
}

/// Run a loop with the widest vectors there are.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn run_wide(work: impl Loop) {
    work.run::<6, 16, true>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,fma")]
fn with_avx512(work: impl Loop) {
    work.run::<12, 32, true>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2(work: impl Loop) {
    work.run::<6, 16, true>();
}
