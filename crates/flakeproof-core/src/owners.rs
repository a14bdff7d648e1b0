//! Who owns a file, by a `CODEOWNERS` file as GitHub and GitLab read it.
//!
//! Patterns are those of `.gitignore` with the forges' differences: on GitHub a pattern with a slash
//! inside is anchored at the root of the repository, on GitLab only one that begins with a slash is; a
//! pattern that ends with `/*` takes what lies in the folder and nothing below. Among the lines of a
//! section the last that matches wins, also where it names nobody. On GitHub the whole file is one
//! section; on GitLab each has its own word, and a file belongs to all that any of them names.
//!
//! What a forge would not understand is left out, as the forges do.

/// Where a `CODEOWNERS` file may lie, in the order in which the forges look.
pub const CODEOWNERS_PLACES: [&str; 4] =
    [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"];

/// Whose reading of a `CODEOWNERS` file counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Forge {
    /// GitHub's.
    #[default]
    Github,
    /// GitLab's.
    Gitlab,
}

/// Who owns which files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Owners {
    sections: Vec<Section>,
}

/// Lines among which the last that matches wins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Section {
    /// In small letters: names that differ in nothing else are the same section.
    name: String,
    /// Who owns what the section names nobody for.
    defaults: Vec<String>,
    rules: Vec<Rule>,
}

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    pattern: Pattern,
    owners: Vec<String>,
    /// The section says nothing about such files, whatever its other lines say.
    is_exclusion: bool,
}

impl Owners {
    /// Read a `CODEOWNERS` file. One with sections is GitLab's, whoever was named.
    #[must_use]
    pub fn parse(text: &str, forge: Forge) -> Self {
        let lines = || text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
        let has_sections = lines().any(|line| SectionHead::parse(line).is_some());
        let forge = if has_sections { Forge::Gitlab } else { forge };
        let mut sections = vec![Section::default()];
        let mut at = 0;
        for line in lines().filter(|line| !line.is_empty()) {
            if let Some(head) = SectionHead::parse(line) {
                at = Self::open(&mut sections, head);
                continue;
            }
            let section = &mut sections[at];
            section.rules.extend(Rule::parse(line, forge, &section.defaults));
        }
        Self { sections }
    }

    /// The section of this head, which may have begun before.
    fn open(sections: &mut Vec<Section>, head: SectionHead) -> usize {
        let known = sections.iter().position(|section| section.name == head.name);
        let at = known.unwrap_or_else(|| {
            sections.push(Section { name: head.name, ..Section::default() });
            sections.len() - 1
        });
        sections[at].defaults = head.defaults;
        at
    }

    /// Who owns the file at a path, relative to the repository, with `/`; each once, in the file's order.
    #[must_use]
    pub fn of(&self, path: &str) -> Vec<String> {
        let path = path.strip_prefix("./").unwrap_or(path).trim_start_matches('/');
        let parts: Vec<&str> = path.split('/').collect();
        let mut owners: Vec<String> = Vec::new();
        for section in &self.sections {
            for owner in section.of(&parts) {
                if !owners.contains(owner) {
                    owners.push(owner.clone());
                }
            }
        }
        owners
    }

    /// Everybody who is named, as often as that.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let rules = self.sections.iter().flat_map(|section| &section.rules);
        rules.flat_map(|rule| &rule.owners).map(String::as_str)
    }

    /// Whether it has no line about any file.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sections.iter().all(|section| section.rules.is_empty())
    }
}

impl Section {
    fn of(&self, path: &[&str]) -> &[String] {
        let mut matching = self.rules.iter().filter(|rule| rule.pattern.takes(path));
        let is_excluded = matching.clone().any(|rule| rule.is_exclusion);
        matching.next_back().filter(|_| !is_excluded).map_or(&[], |rule| &rule.owners)
    }
}

/// The first line of a section: `^[Name][2] @owner`.
struct SectionHead {
    name: String,
    defaults: Vec<String>,
}

impl SectionHead {
    fn parse(line: &str) -> Option<Self> {
        let rest = line.strip_prefix('^').unwrap_or(line).strip_prefix('[')?;
        let (name, mut rest) = rest.split_once(']')?;
        if let Some((approvals, after)) = rest.strip_prefix('[').and_then(|it| it.split_once(']')) {
            approvals.parse::<u32>().ok()?;
            rest = after;
        }
        let is_head = !name.trim().is_empty() && (rest.is_empty() || rest.starts_with([' ', '\t']));
        is_head.then(|| Self { name: name.trim().to_lowercase(), defaults: owners_in(rest) })
    }
}

impl Rule {
    /// What a line says, if it can be understood.
    fn parse(line: &str, forge: Forge, defaults: &[String]) -> Option<Self> {
        let (pattern, rest) = first_word(line);
        let is_exclusion = pattern.starts_with('!');
        if is_exclusion && forge == Forge::Github {
            return None;
        }
        let owners = Some(owners_in(rest)).filter(|owners| !owners.is_empty());
        let pattern = Pattern::parse(pattern.strip_prefix('!').unwrap_or(&pattern), forge)?;
        Some(Self { pattern, owners: owners.unwrap_or_else(|| defaults.to_vec()), is_exclusion })
    }
}

/// The first word of a line, in which a space after a backslash is part of it, and the rest.
fn first_word(line: &str) -> (String, &str) {
    let mut word = String::new();
    let mut characters = line.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => word.extend(characters.next().map(|(_, escaped)| escaped)),
            ' ' | '\t' => return (word, &line[at..]),
            _ => word.push(character),
        }
    }
    (word, "")
}

/// The users, teams, roles and addresses up to a comment.
fn owners_in(text: &str) -> Vec<String> {
    let words = text.split_whitespace().take_while(|word| !word.starts_with('#'));
    let is_name = |word: &&str| word.contains('@') && !word.contains(char::is_control);
    words.filter(is_name).map(str::to_owned).collect()
}

/// A pattern, part by part.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    /// `**` stands for any number of folders.
    parts: Vec<String>,
    /// Only what lies below a folder of this name matches.
    is_folder: bool,
}

impl Pattern {
    fn parse(text: &str, forge: Forge) -> Option<Self> {
        let is_folder = text.ends_with('/');
        let is_rooted = text.starts_with('/');
        let inner = text.trim_matches('/');
        if inner.is_empty() {
            return is_rooted.then(|| Self { parts: vec!["**".to_owned()], is_folder: false });
        }
        let is_anchored = is_rooted || (forge == Forge::Github && inner.contains('/'));
        let floating = (!is_anchored).then_some("**");
        let parts = floating.into_iter().chain(inner.split('/')).map(str::to_owned).collect();
        Some(Self { parts, is_folder })
    }

    fn takes(&self, path: &[&str]) -> bool {
        self.takes_from(&self.parts, path)
    }

    fn takes_from(&self, parts: &[String], path: &[&str]) -> bool {
        let Some((part, parts)) = parts.split_first() else {
            // What lies in a folder that was named belongs to it.
            return path.is_empty() != self.is_folder && (path.is_empty() || self.is_deep());
        };
        if part == "**" {
            let ends = parts.is_empty() && !path.is_empty();
            return ends || (0..=path.len()).any(|at| self.takes_from(parts, &path[at..]));
        }
        let Some((name, path)) = path.split_first() else { return false };
        if !matches_name(part.as_bytes(), name.as_bytes()) {
            return false;
        }
        match parts.is_empty() && !path.is_empty() && !self.is_folder {
            // A name without a slash at its end may be that of a folder, too.
            true => self.is_deep(),
            false => self.takes_from(parts, path),
        }
    }

    /// Whether it takes what lies below what it names: `docs/*` does not, a lone `*` does.
    fn is_deep(&self) -> bool {
        let names = self.parts.iter().filter(|part| *part != "**").count();
        self.is_folder || names < 2 || self.parts.last().is_some_and(|part| part != "*")
    }
}

/// Whether a part with `*` and `?` stands for a name.
fn matches_name(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut in_name) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            _ => {
                let Some((from, taken)) = star else { return false };
                star = Some((from, taken + 1));
                (at, in_name) = (from + 1, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, path: &str) -> Vec<String> {
        Owners::parse(text, Forge::Github).of(path)
    }

    fn gitlab(text: &str, path: &str) -> Vec<String> {
        Owners::parse(text, Forge::Gitlab).of(path)
    }

    /// The examples of GitHub's own page.
    const GITHUB: &str = "
# a comment
*       @global-owner1 @global-owner2
*.js    @js-owner #This is an inline comment.
*.go docs@example.com
/build/logs/ @doctocat
docs/*  docs@example.com
apps/ @octocat
/docs/ @doctocat
/scripts/ @doctocat @octocat
**/logs @logger
/apps/ @octocat
/apps/github
";

    #[test]
    fn the_last_line_that_matches_wins_as_on_github() {
        assert_eq!(of(GITHUB, "README.md"), ["@global-owner1", "@global-owner2"]);
        assert_eq!(of(GITHUB, "src/deep/a.js"), ["@js-owner"]);
        assert_eq!(of(GITHUB, "a.go"), ["docs@example.com"]);
        assert_eq!(of(GITHUB, "docs/build-app/troubleshooting.md"), ["@doctocat"]);
        assert_eq!(of(GITHUB, "src/apps/x.py"), ["@octocat"]);
        assert_eq!(of(GITHUB, "deeply/nested/logs/x"), ["@logger"]);
        assert_eq!(of(GITHUB, "scripts/x.sh"), ["@doctocat", "@octocat"]);
        assert_eq!(of(GITHUB, "apps/github/x.py"), [""; 0], "a line without owners names nobody");
    }

    #[test]
    fn a_star_after_a_folder_takes_no_folders_below_it() {
        let text = "docs/* @writer\n";
        assert_eq!(of(text, "docs/start.md"), ["@writer"]);
        assert_eq!(of(text, "docs/build/start.md"), [""; 0]);
        assert_eq!(of(text, "src/docs/start.md"), [""; 0], "a slash inside anchors on GitHub");
        assert_eq!(gitlab(text, "src/docs/start.md"), ["@writer"], "and not on GitLab");
        assert_eq!(of("/tests @a\n", "tests/deep/test_a.py"), ["@a"]);
        assert_eq!(of("tests/ @a\n", "tests"), [""; 0], "a file is no folder");
        assert_eq!(of("/src/**/unit/ @a\n", "src/x/y/unit/t.py"), ["@a"]);
        assert_eq!(of("/src/**/unit/ @a\n", "src/unit/t.py"), ["@a"]);
        assert_eq!(of("test_?.py @a\n", "x/test_b.py"), ["@a"]);
    }

    #[test]
    fn sections_speak_each_for_itself_as_on_gitlab() {
        let text = "
* @everybody
[Documentation][2] @docs-team
docs/
README.md @docs-lead
^[Database] @db
model/db/
config/db/setup.rb @dba
[DOCUMENTATION]
*.md
[Code]
*.rb @ruby
!config/**/*.rb
";
        assert_eq!(gitlab(text, "docs/a.txt"), ["@everybody", "@docs-team"]);
        assert_eq!(gitlab(text, "README.md"), ["@everybody"], "defaults of the last head count");
        assert_eq!(gitlab(text, "model/db/x.rb"), ["@everybody", "@db", "@ruby"]);
        assert_eq!(gitlab(text, "config/db/setup.rb"), ["@everybody", "@dba"]);
    }

    #[test]
    fn a_path_may_have_spaces_and_owners_may_be_roles() {
        let text = "path\\ with\\ spaces/ @@developer a@b.example nobody\n\\#file @hash\n";
        assert_eq!(gitlab(text, "path with spaces/a"), ["@@developer", "a@b.example"]);
        assert_eq!(gitlab(text, "#file"), ["@hash"]);
    }

    #[test]
    fn what_github_does_not_know_is_left_out() {
        assert_eq!(of("* @a\n!src/ @b\n", "src/x"), ["@a"]);
        assert!(Owners::parse("# nothing\n\n", Forge::Github).is_empty());
    }

    proptest::proptest! {
        #[test]
        fn every_text_is_read_and_every_path_answered(text in "[a-z*?/#@!\\[\\] \n\\\\^]{0,80}", path in "[a-z/.]{0,30}") {
            let _ = of(&text, &path);
            let _ = gitlab(&text, &path);
        }

        #[test]
        fn a_path_owns_itself(path in "[a-z]{1,5}(/[a-z]{1,5}){0,4}") {
            proptest::prop_assert_eq!(of(&format!("/{path} @a"), &path), ["@a"]);
            proptest::prop_assert_eq!(of(&format!("/{path}/ @a"), &format!("{path}/x/y")), ["@a"]);
        }
    }
}
