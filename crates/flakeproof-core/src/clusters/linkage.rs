//! Pairs that fail together made into clusters, by average linkage.

use super::pairs::Pairs;

/// Groups are one while at least this share of the pairs between them is significant.
const LINKED: f64 = 0.5;

/// Connected groups of more tests than this are not divided further.
const DIVIDED: usize = 1_000;

/// The clusters among suspects, each in their order.
pub(super) fn groups(suspects: usize, pairs: &Pairs) -> Vec<Vec<usize>> {
    let connected = connected(suspects, pairs);
    let mut groups: Vec<Vec<usize>> = connected
        .into_iter()
        .flat_map(|group| match group.len() > DIVIDED {
            true => vec![group],
            false => divided(&group, pairs),
        })
        .filter(|group| group.len() > 1)
        .collect();
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups
}

/// Groups of suspects that links hold together, however loosely.
fn connected(suspects: usize, pairs: &Pairs) -> Vec<Vec<usize>> {
    let mut root: Vec<usize> = (0..suspects).collect();
    fn find(root: &mut [usize], mut at: usize) -> usize {
        while root[at] != at {
            root[at] = root[root[at]];
            at = root[at];
        }
        at
    }
    for (first, links) in pairs.links.iter().enumerate() {
        for link in links {
            let (one, other) = (find(&mut root, first), find(&mut root, link.other));
            root[one.max(other)] = one.min(other);
        }
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); suspects];
    for at in 0..suspects {
        let root = find(&mut root, at);
        groups[root].push(at);
    }
    groups.into_iter().filter(|group| group.len() > 1).collect()
}

/// How strongly two groups are linked: sums over all pairs between them.
#[derive(Clone, Copy, Default)]
struct Linkage {
    links: f64,
    alike: f64,
}

/// Average linkage among the suspects of a connected group.
fn divided(group: &[usize], pairs: &Pairs) -> Vec<Vec<usize>> {
    let many = group.len();
    let mut between = vec![vec![Linkage::default(); many]; many];
    for (first, at) in group.iter().enumerate() {
        for link in &pairs.links[*at] {
            let Ok(second) = group.binary_search(&link.other) else { continue };
            let linkage = Linkage { links: 1.0, alike: link.alike };
            (between[first][second], between[second][first]) = (linkage, linkage);
        }
    }
    let mut groups: Vec<Vec<usize>> = group.iter().map(|at| vec![*at]).collect();
    let mut nearest: Vec<Option<(f64, usize)>> =
        (0..many).map(|at| nearest_of(at, &groups, &between)).collect();
    // The first of those that are nearest, so that equal input gives equal output.
    while let Some((into, from)) = (0..many)
        .filter_map(|at| nearest[at].map(|(alike, other)| (alike, at, other)))
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, one, other)| (one.min(other), one.max(other)))
    {
        let moved = std::mem::take(&mut groups[from]);
        groups[into].extend(moved);
        let gone = std::mem::take(&mut between[from]);
        let is_there = |(other, _): &(usize, &Linkage)| !groups[*other].is_empty();
        for (other, linkage) in gone.iter().enumerate().filter(is_there) {
            between[into][other].links += linkage.links;
            between[into][other].alike += linkage.alike;
            between[other][into] = between[into][other];
        }
        nearest[from] = None;
        for at in (0..many).filter(|at| !groups[*at].is_empty()) {
            let is_touched = |(_, other): (f64, usize)| other == into || other == from;
            if at == into || nearest[at].is_some_and(is_touched) {
                nearest[at] = nearest_of(at, &groups, &between);
            } else if let Some(alike) = alike(at, into, &groups, &between) {
                let is_nearer = nearest[at].is_none_or(|(before, _)| alike > before);
                nearest[at] = if is_nearer { Some((alike, into)) } else { nearest[at] };
            }
        }
    }
    groups.into_iter().filter(|group| !group.is_empty()).collect()
}

/// The group that one may become one with and that is most alike.
fn nearest_of(at: usize, groups: &[Vec<usize>], between: &[Vec<Linkage>]) -> Option<(f64, usize)> {
    let others = (0..groups.len()).filter(|other| *other != at && !groups[*other].is_empty());
    let near = others.filter_map(|other| Some((alike(at, other, groups, between)?, other)));
    near.reduce(|best, next| if next.0 > best.0 { next } else { best })
}

/// How alike two groups are that may become one.
fn alike(one: usize, other: usize, groups: &[Vec<usize>], between: &[Vec<Linkage>]) -> Option<f64> {
    let pairs = (groups[one].len() * groups[other].len()) as f64;
    let Linkage { links, alike } = between[one][other];
    (links > 0.0 && links >= LINKED * pairs).then_some(alike / pairs)
}
