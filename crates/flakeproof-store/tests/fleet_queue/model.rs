//! What the queue promises, without a database: trials that wait, are out under a lease, or are done.

use std::collections::BTreeMap;

/// A lease's number; none is given twice.
pub(crate) type Lease = u64;

/// A trial, by its number.
pub(crate) type Trial = usize;

/// Where a trial is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Waiting,
    Out(Lease),
    Done(Lease),
}

/// What became of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    Kept,
    Lost,
}

/// The queue.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// The trials that were asked for, in that order.
    order: Vec<Trial>,
    places: BTreeMap<Trial, Place>,
    /// The leases there are, and whether their time is over.
    leases: BTreeMap<Lease, bool>,
    last_lease: Lease,
    /// The lease under which each record was written, one entry for each record.
    pub(crate) records: Vec<(Trial, Lease)>,
}

impl Queue {
    pub(crate) fn place(&self, trial: Trial) -> Option<Place> {
        self.places.get(&trial).copied()
    }

    pub(crate) fn ask(&mut self, trials: &[Trial]) {
        for trial in trials {
            if !self.places.contains_key(trial) {
                self.places.insert(*trial, Place::Waiting);
                self.order.push(*trial);
            }
        }
    }

    pub(crate) fn withdraw(&mut self, trials: &[Trial]) {
        for trial in trials {
            if self.place(*trial) == Some(Place::Waiting) {
                self.places.remove(trial);
                self.order.retain(|it| it != trial);
            }
        }
    }

    pub(crate) fn withdraw_all(&mut self) {
        self.withdraw(&self.order.clone());
    }

    /// Give so many trials to a worker, those of silent ones included; `None` if none waits.
    pub(crate) fn claim(&mut self, size: usize) -> Option<(Lease, Vec<Trial>)> {
        let silent: Vec<Lease> =
            self.leases.iter().filter(|(_, is_over)| **is_over).map(|(lease, _)| *lease).collect();
        for lease in silent {
            self.leases.remove(&lease);
            self.give_back(lease);
        }
        let waits = |trial: &&Trial| self.places[*trial] == Place::Waiting;
        let unit: Vec<Trial> = self.order.iter().filter(waits).take(size).copied().collect();
        if unit.is_empty() {
            return None;
        }
        self.last_lease += 1;
        self.leases.insert(self.last_lease, false);
        for trial in &unit {
            self.places.insert(*trial, Place::Out(self.last_lease));
        }
        Some((self.last_lease, unit))
    }

    /// A lease's time is over.
    pub(crate) fn expire(&mut self, lease: Lease) {
        if let Some(is_over) = self.leases.get_mut(&lease) {
            *is_over = true;
        }
    }

    /// Who holds a lease is alive; false if it is gone.
    pub(crate) fn beat(&mut self, lease: Lease) -> bool {
        self.leases.get_mut(&lease).map(|is_over| *is_over = false).is_some()
    }

    /// Keep what was run of a unit; the rest of it waits again.
    pub(crate) fn complete(&mut self, lease: Lease, ran: &[Trial]) -> Kept {
        if self.leases.remove(&lease).is_none() {
            let is_here = |trial: &Trial| self.place(*trial) == Some(Place::Done(lease));
            let was_kept = !ran.is_empty() && ran.iter().all(is_here);
            return if was_kept { Kept::Kept } else { Kept::Lost };
        }
        for trial in ran {
            if self.place(*trial) == Some(Place::Out(lease)) {
                self.places.insert(*trial, Place::Done(lease));
                self.records.push((*trial, lease));
            }
        }
        self.give_back(lease);
        Kept::Kept
    }

    fn give_back(&mut self, lease: Lease) {
        for place in self.places.values_mut().filter(|it| **it == Place::Out(lease)) {
            *place = Place::Waiting;
        }
    }
}
