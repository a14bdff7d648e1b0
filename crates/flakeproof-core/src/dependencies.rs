//! What a test touched, from the start of its process to its end.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// What one execution touched, measured in a fresh process from its start.
///
/// Paths are absolute. The measurement is honest about its limits: whatever it could not follow
/// is a [`BlindSpot`], and a blind spot silences the conclusion that nothing was touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependencies {
    /// Source files whose code ran, imports included.
    pub code: BTreeSet<String>,
    /// Other files that were opened.
    pub opened: BTreeSet<String>,
    /// Directories that were listed: a file added there may have been noticed.
    pub listed: BTreeSet<String>,
    /// Names of environment variables that were read.
    pub variables: BTreeSet<String>,
    /// What could not be followed.
    pub blind_spots: Vec<BlindSpot>,
    /// Functions of the files in `code`, where that granularity was asked for.
    #[serde(default)]
    pub functions: BTreeMap<String, Vec<FunctionUse>>,
    /// Endings of the source files whose code the measurement follows, as `.py`.
    #[serde(default = "python")]
    pub followed: BTreeSet<String>,
    /// The only source files about which the measurement can tell; `None` where it can about all.
    #[serde(default)]
    pub within: Option<BTreeSet<String>>,
    /// Files that the runner or a compiler read before the tests began: whether the tests depend on
    /// them is not known.
    #[serde(default)]
    pub prepared: BTreeSet<String>,
    /// Source files from which a compiler copies values into others, where no use of them is seen.
    #[serde(default)]
    pub copied: BTreeSet<String>,
}

/// What was measured before other languages were.
fn python() -> BTreeSet<String> {
    BTreeSet::from([".py".to_owned()])
}

impl Default for Dependencies {
    fn default() -> Self {
        Self {
            code: BTreeSet::new(),
            opened: BTreeSet::new(),
            listed: BTreeSet::new(),
            variables: BTreeSet::new(),
            blind_spots: Vec::new(),
            functions: BTreeMap::new(),
            followed: python(),
            within: None,
            prepared: BTreeSet::new(),
            copied: BTreeSet::new(),
        }
    }
}

impl Dependencies {
    /// Add what the same process touched later. Functions come as a whole each time.
    pub fn add(&mut self, later: Self) {
        self.code.extend(later.code);
        self.opened.extend(later.opened);
        self.listed.extend(later.listed);
        self.variables.extend(later.variables);
        for spot in later.blind_spots {
            if !self.blind_spots.contains(&spot) {
                self.blind_spots.push(spot);
            }
        }
        self.functions = later.functions;
    }

    /// The number of files the test depends on.
    #[must_use]
    pub fn files(&self) -> usize {
        self.code.union(&self.opened).count()
    }
}

/// A function of a source file, and whether it ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionUse {
    /// First line of its body, after the signature.
    pub body: u32,
    /// Its last line.
    pub end: u32,
    /// Whether it was called.
    pub ran: bool,
}

/// Something a measurement cannot follow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BlindSpot {
    /// Another program was started; what it read is not known.
    Process {
        /// The program.
        program: String,
    },
    /// A server was asked that was there before; what it read, and which code it runs, is not known.
    Server {
        /// Where it is: `127.0.0.1:5432`, `port 5432` or the name of a socket.
        address: String,
    },
    /// Native code outside the runtime's own was loaded; it may open files unseen.
    NativeCode {
        /// The library.
        library: String,
    },
    /// Which files were opened is not known at all.
    Opens,
    /// What was built elsewhere and installed: a file outside of these folders may be in it.
    Installed {
        /// The folders that were built.
        but: Vec<String>,
    },
    /// Caches of the runner, from which it may take what it read earlier.
    Caches,
    /// Compiled code was read instead of loaded, to look for annotations or the like.
    Scan {
        /// What looked.
        scanner: String,
    },
}
