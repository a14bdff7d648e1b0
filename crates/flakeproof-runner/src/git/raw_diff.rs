//! `git diff --raw -z`, read: which files differ, and in what way.

use flakeproof_core::ChangeStatus;

use super::path::RepositoryPath;

/// One file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference {
    /// Which file.
    pub(super) path: RepositoryPath,
    /// In what way.
    pub(super) status: ChangeStatus,
    /// Whether git did not look at the content: it may be the same, only touched.
    pub(super) is_unverified: bool,
}

/// Read `git diff --raw -z --no-renames`; `None` if that is not what it is.
pub(super) fn parse_raw(printed: &[u8]) -> Option<Vec<Difference>> {
    let mut differences = Vec::new();
    let mut records = printed.split(|byte| *byte == 0);
    while let Some(record) = records.next() {
        if record.is_empty() {
            // Only the end of the last record may be empty.
            return records.next().is_none().then_some(differences);
        }
        let entry = Entry::parse(record)?;
        let path = records.next().filter(|path| !path.is_empty())?;
        differences.push(Difference {
            path: RepositoryPath::new(path),
            status: entry.status(),
            is_unverified: entry.is_unverified(),
        });
    }
    Some(differences)
}

/// `:100644 100644 <hash> <hash> M`
struct Entry<'a> {
    old_mode: &'a str,
    new_mode: &'a str,
    new_hash: &'a str,
    letter: &'a str,
}

impl<'a> Entry<'a> {
    fn parse(record: &'a [u8]) -> Option<Self> {
        let mut fields = std::str::from_utf8(record).ok()?.strip_prefix(':')?.split(' ');
        let (old_mode, new_mode) = (fields.next()?, fields.next()?);
        let (_old_hash, new_hash) = (fields.next()?, fields.next()?);
        let letter = fields.next()?;
        // A rename or a copy would have two paths.
        let is_one_path = ["M", "A", "D", "T", "U", "X"].contains(&letter);
        let entry = Self { old_mode, new_mode, new_hash, letter };
        (fields.next().is_none() && is_one_path).then_some(entry)
    }

    fn status(&self) -> ChangeStatus {
        let is_ordinary = |mode: &str| mode == "100644" || mode == "100755";
        match self.letter {
            "M" if is_ordinary(self.new_mode) && self.old_mode == self.new_mode => {
                ChangeStatus::Modified
            }
            "A" if is_ordinary(self.new_mode) => ChangeStatus::Added,
            "D" if is_ordinary(self.old_mode) => ChangeStatus::Deleted,
            _ => ChangeStatus::Special,
        }
    }

    fn is_unverified(&self) -> bool {
        let has_no_hash = self.new_hash.bytes().all(|byte| byte == b'0');
        self.letter == "M" && self.old_mode == self.new_mode && has_no_hash
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_an_ordinary_file_that_stays_one_is_modified() {
        let status = |modes_and_letter: [&str; 3]| {
            let [old, new, letter] = modes_and_letter;
            let printed = format!(":{old} {new} 12ab 0000 {letter}\0some file\0");
            parse_raw(printed.as_bytes()).unwrap()[0].status
        };
        assert_eq!(status(["100644", "100644", "M"]), ChangeStatus::Modified);
        assert_eq!(status(["100755", "100755", "M"]), ChangeStatus::Modified);
        assert_eq!(status(["000000", "100644", "A"]), ChangeStatus::Added);
        assert_eq!(status(["100644", "000000", "D"]), ChangeStatus::Deleted);
        assert_eq!(status(["100644", "100755", "M"]), ChangeStatus::Special);
        assert_eq!(status(["120000", "120000", "M"]), ChangeStatus::Special);
        assert_eq!(status(["000000", "120000", "A"]), ChangeStatus::Special);
        assert_eq!(status(["160000", "160000", "M"]), ChangeStatus::Special);
        assert_eq!(status(["160000", "000000", "D"]), ChangeStatus::Special);
        assert_eq!(status(["100644", "120000", "T"]), ChangeStatus::Special);
        assert_eq!(status(["000000", "000000", "U"]), ChangeStatus::Special);
    }

    #[test]
    fn what_is_not_understood_is_not_skipped_over() {
        assert_eq!(parse_raw(b""), Some(vec![]));
        assert_eq!(parse_raw(b":100644 100644 a b R100\0old\0new\0"), None);
        assert_eq!(parse_raw(b":100644 100644 a b M\0"), None);
        assert_eq!(parse_raw(b"\0:100644 100644 a b M\0path\0"), None);
    }

    proptest! {
        #[test]
        fn no_output_makes_the_parser_panic(
            printed in prop::collection::vec(
                prop::sample::select(b":0016 abMADTU\0\xff".to_vec()), 0..80,
            ),
        ) {
            let _ = parse_raw(&printed);
        }

        #[test]
        fn every_path_comes_back_whatever_it_contains(
            names in prop::collection::vec("[^\0]{0,20}[^\0/]", 0..5),
        ) {
            let printed: String =
                names.iter().map(|name| format!(":100644 100644 a b M\0{name}\0")).collect();
            let paths: Vec<_> =
                parse_raw(printed.as_bytes()).unwrap().into_iter().map(|one| one.path).collect();
            let expected: Vec<_> =
                names.iter().map(|name| RepositoryPath::from(name.as_str())).collect();
            prop_assert_eq!(paths, expected);
        }
    }
}
