//! The model under a network that loses, delays, repeats and reorders, on machines that die and freeze.

use flakeproof_testkit::campaign;

use crate::model::{Kept, Lease, Place, Queue, Trial};

/// Schedules in all, and those of one day.
const SCHEDULES: usize = 100_000;
const OF_A_DAY: usize = 4_000;
const TRIALS: usize = 12;
const WORKERS: usize = 3;
/// Steps with faults; after them the network is as it should be.
const STEPS: usize = 120;

/// Chance that is cheap.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % limit.max(1) as u64).expect("a small number")
    }
}

/// Who sends something: a worker of a generation, for a dead one's successor is somebody else.
type Sender = (usize, u32);

#[derive(Debug, Clone)]
enum Request {
    Claim(usize),
    Beat(Lease),
    Complete(Lease, Vec<Trial>),
    Ask(Vec<Trial>),
    Withdraw(Vec<Trial>),
}

#[derive(Debug, Clone)]
enum Answer {
    Unit(Option<(Lease, Vec<Trial>)>),
    Beaten(Lease, bool),
    Completed(Lease, Kept),
}

/// What a worker is at.
#[derive(Debug, Clone, Default)]
enum At {
    #[default]
    Idle,
    Claiming,
    Running(Lease, Vec<Trial>, Vec<Trial>),
    Completing(Lease, Vec<Trial>),
}

#[derive(Debug, Default)]
struct Worker {
    generation: u32,
    at: At,
    is_frozen: bool,
}

#[derive(Default)]
struct World {
    queue: Queue,
    requests: Vec<(Sender, Request)>,
    answers: Vec<(Sender, Answer)>,
    workers: Vec<Worker>,
    /// Trials of units whose workers were told that they are kept.
    told_kept: Vec<(Lease, Vec<Trial>)>,
}

/// Nobody waits for the coordinator's answers here: it looks again.
const COORDINATOR: Sender = (usize::MAX, 0);

impl World {
    fn new() -> Self {
        let workers = std::iter::repeat_with(Worker::default).take(WORKERS).collect();
        Self { workers, ..Self::default() }
    }

    /// The server takes a request.
    fn serve(&mut self, sender: Sender, request: Request) {
        let answer = match request {
            Request::Claim(size) => Answer::Unit(self.queue.claim(size)),
            Request::Beat(lease) => Answer::Beaten(lease, self.queue.beat(lease)),
            Request::Complete(lease, ran) => {
                Answer::Completed(lease, self.queue.complete(lease, &ran))
            }
            Request::Ask(trials) => return self.queue.ask(&trials),
            Request::Withdraw(trials) => return self.queue.withdraw(&trials),
        };
        self.answers.push((sender, answer));
    }

    /// A worker takes an answer, if it still waits for one like it.
    fn hear(&mut self, (number, generation): Sender, answer: Answer) {
        let worker = &mut self.workers[number];
        if worker.generation != generation {
            return;
        }
        match (&worker.at, answer) {
            (At::Claiming, Answer::Unit(Some((lease, unit)))) => {
                worker.at = At::Running(lease, unit, Vec::new());
            }
            (At::Claiming, Answer::Unit(None)) => worker.at = At::Idle,
            (At::Completing(of, ran), Answer::Completed(lease, kept)) if *of == lease => {
                if kept == Kept::Kept {
                    self.told_kept.push((lease, ran.clone()));
                }
                worker.at = At::Idle;
            }
            // Who hears that its lease is gone stops; who does not hear brings back what does not count.
            (At::Running(of, ..), Answer::Beaten(lease, false)) if *of == lease => {
                worker.at = At::Idle;
            }
            _ => {}
        }
    }

    /// A worker does what comes next, or asks once more.
    fn act(&mut self, number: usize, chance: &mut Chance) {
        let worker = &mut self.workers[number];
        let sender = (number, worker.generation);
        let request = match &mut worker.at {
            At::Idle => {
                worker.at = At::Claiming;
                Request::Claim(1 + chance.below(4))
            }
            At::Claiming => Request::Claim(1 + chance.below(4)),
            At::Running(lease, unit, ran) if ran.len() < unit.len() => {
                ran.push(unit[ran.len()]);
                match chance.below(8) {
                    // An interrupt: it brings back what it has.
                    0 => {
                        let (lease, ran) = (*lease, ran.clone());
                        worker.at = At::Completing(lease, ran.clone());
                        Request::Complete(lease, ran)
                    }
                    _ => Request::Beat(*lease),
                }
            }
            At::Running(lease, _, ran) | At::Completing(lease, ran) => {
                let (lease, ran) = (*lease, ran.clone());
                worker.at = At::Completing(lease, ran.clone());
                Request::Complete(lease, ran)
            }
        };
        self.requests.push((sender, request));
    }

    /// Something happens, a fault among other things.
    fn step(&mut self, chance: &mut Chance) {
        let number = chance.below(WORKERS);
        match chance.below(24) {
            0..6 if !self.workers[number].is_frozen => self.act(number, chance),
            6..11 => self.deliver(chance),
            11..15 if !self.answers.is_empty() => {
                let (sender, answer) = self.answers.remove(chance.below(self.answers.len()));
                if self.workers.get(sender.0).is_some_and(|it| !it.is_frozen) {
                    self.hear(sender, answer);
                }
            }
            15 if !self.requests.is_empty() => {
                self.requests.remove(chance.below(self.requests.len()));
            }
            16 if !self.requests.is_empty() => {
                let again = self.requests[chance.below(self.requests.len())].clone();
                self.requests.push(again);
            }
            17 if !self.answers.is_empty() => {
                self.answers.remove(chance.below(self.answers.len()));
            }
            18 => {
                let lease = chance.below(1 + self.told_kept.len() + 8) as Lease;
                self.queue.expire(lease);
            }
            19 => self.workers[number].is_frozen ^= true,
            20 => {
                let generation = self.workers[number].generation + 1;
                self.workers[number] = Worker { generation, ..Worker::default() };
            }
            21 => {
                let trials = vec![chance.below(TRIALS), chance.below(TRIALS)];
                self.requests.push((COORDINATOR, Request::Ask(trials)));
            }
            22 => {
                let trials = vec![chance.below(TRIALS)];
                self.requests.push((COORDINATOR, Request::Withdraw(trials)));
            }
            // The coordinator dies, and another session of the hunt begins.
            23 => self.queue.withdraw_all(),
            _ => {}
        }
    }

    fn deliver(&mut self, chance: &mut Chance) {
        if !self.requests.is_empty() {
            let (sender, request) = self.requests.remove(chance.below(self.requests.len()));
            self.serve(sender, request);
        }
    }

    /// From now on nothing goes wrong any more; but what is under way may still arrive.
    fn settle(&mut self, chance: &mut Chance) {
        for worker in &mut self.workers {
            worker.is_frozen = false;
        }
        let all: Vec<Trial> = (0..TRIALS).collect();
        for _ in 0..2_000 {
            // Withdrawals that were under way may come late; the coordinator asks until all is there.
            self.queue.ask(&all);
            let is_done = |trial: &Trial| matches!(self.queue.place(*trial), Some(Place::Done(_)));
            if self.requests.is_empty() && self.answers.is_empty() && all.iter().all(is_done) {
                return;
            }
            while !self.requests.is_empty() {
                self.deliver(chance);
            }
            while let Some((sender, answer)) = self.answers.pop() {
                if sender.0 < WORKERS {
                    self.hear(sender, answer);
                }
            }
            // Leases of those who are gone end by the server's clock.
            let live: Vec<Lease> = self.workers.iter().filter_map(held).collect();
            for trial in &all {
                if let Some(Place::Out(lease)) = self.queue.place(*trial)
                    && !live.contains(&lease)
                {
                    self.queue.expire(lease);
                }
            }
            if !all.iter().all(|trial| matches!(self.queue.place(*trial), Some(Place::Done(_)))) {
                for number in 0..WORKERS {
                    self.act(number, chance);
                }
            }
        }
        unreachable!("it never ends: {:?}", self.queue);
    }

    fn check(&self) {
        let mut recorded: Vec<Trial> = self.queue.records.iter().map(|(trial, _)| *trial).collect();
        recorded.sort_unstable();
        let all: Vec<Trial> = (0..TRIALS).collect();
        assert_eq!(recorded, all, "each trial is kept once");
        for (lease, ran) in &self.told_kept {
            for trial in ran {
                let is_there = self.queue.records.contains(&(*trial, *lease));
                assert!(is_there, "who is told that trial {trial} is kept has kept it");
            }
        }
    }
}

fn held(worker: &Worker) -> Option<Lease> {
    match worker.at {
        At::Running(lease, ..) | At::Completing(lease, _) => Some(lease),
        At::Idle | At::Claiming => None,
    }
}

#[test]
fn whatever_the_network_does_every_trial_is_kept_once() {
    for schedule in campaign::today(SCHEDULES, OF_A_DAY) {
        let mut chance = Chance(schedule as u64);
        let mut world = World::new();
        world.queue.ask(&(0..TRIALS).collect::<Vec<_>>());
        for _ in 0..STEPS {
            world.step(&mut chance);
        }
        world.settle(&mut chance);
        world.check();
    }
}
