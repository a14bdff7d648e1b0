//! One layer of settings, where everything may be missing.

use std::collections::BTreeMap;
use std::path::PathBuf;

use flakeproof_runner::adapters::command::Profiles;
use serde::Deserialize;

use super::strategy::StrategyName;
use super::values::{
    Dependencies, FlakyResult, HumanDuration, Isolate, Limit, OrderName, Pattern, Polluters,
    Reporter, Share,
};

/// The base layer, the profiles over it, and the runners of a file.
type Layers = (RawSettings, BTreeMap<String, RawSettings>, Profiles);

macro_rules! layer {
    ($($(#[$doc:meta])* $name:ident: $kind:ty,)*) => {
        /// One layer of settings: the command line, a profile, or the file itself.
        #[derive(Debug, Clone, Default, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        pub(crate) struct RawSettings {
            $($(#[$doc])* pub(crate) $name: Option<$kind>,)*
        }

        /// A whole configuration file: the base layer, and profiles that lie over it.
        ///
        /// Spelled out instead of flattened, because flattening loses unknown keys' places.
        #[derive(Debug, Clone, Default, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        pub(super) struct FileSettings {
            #[serde(default)]
            profile: BTreeMap<String, RawSettings>,
            #[serde(default)]
            runner: Profiles,
            $($(#[$doc])* $name: Option<$kind>,)*
        }

        impl FileSettings {
            /// The base layer, the profiles, and the runners that are described.
            pub(super) fn into_layers(self) -> Layers {
                (RawSettings { $($name: self.$name,)* }, self.profile, self.runner)
            }
        }

        impl RawSettings {
            /// This layer, with gaps filled from the one below.
            pub(crate) fn over(self, below: Self) -> Self {
                Self { $($name: self.$name.or(below.$name),)* }
            }
        }
    };
}

layer! {
    retries: u32,
    postponed: u32,
    fresh: u32,
    threshold: Limit,
    max_tests_to_retry: Limit,
    dependencies: Dependencies,
    isolation: Isolate,
    only_rerun: Vec<Pattern>,
    rerun_except: Vec<Pattern>,
    rerun_delay: HumanDuration,
    base: String,
    adapter: String,
    timeout: HumanDuration,
    jobs: u32,
    flaky_result: FlakyResult,
    new_flaky_result: FlakyResult,
    unrelated_result: FlakyResult,
    evidence_budget: HumanDuration,
    compare_base: String,
    reporter: Vec<Reporter>,
    store: PathBuf,
    show_runner: bool,
    hunt_runs: u32,
    orders: u32,
    order_kind: Vec<OrderName>,
    max_reruns: u32,
    recheck: Share,
    polluters: Polluters,
    budget: HumanDuration,
    steer: StrategyName,
    lower: f64,
    upper: f64,
    hidden: Share,
}
