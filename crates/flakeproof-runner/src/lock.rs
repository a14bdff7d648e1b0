//! A lock whose holder may have panicked: the panic reaches the one who waits for that thread, and
//! what the lock guards is as good as it was before.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the mutex guards, whether a thread panicked with it or not.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
