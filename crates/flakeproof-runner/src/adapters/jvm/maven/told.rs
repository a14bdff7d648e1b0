//! What the JVMs that Surefire starts tell together.

use std::collections::BTreeMap;
use std::path::Path;

use super::super::project::Module;
use super::record::Record;

/// What a build told.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) modules: Vec<Module>,
    /// Tests that are left out: their module, and why.
    pub(super) left_out: Vec<(String, String)>,
}

/// The modules that records tell of; `own` are our own variables, `root` the command's folder.
pub(super) fn modules_of(
    records: &[Record],
    root: &Path,
    own: &BTreeMap<String, String>,
    java_home: &str,
) -> Told {
    let mut told = Told::default();
    for record in records {
        let name = record.name(root);
        if let Some(why) = record.why_left_out() {
            told.left_out.push((name, why));
            continue;
        }
        let module = record.module(name, own, java_home);
        let same = told.modules.iter_mut().find(|known| is_same_but_classes(known, &module));
        match same {
            Some(known) => {
                let new = module.classes.into_iter();
                let new: Vec<_> = new.filter(|class| !known.classes.contains(class)).collect();
                known.classes.extend(new);
            }
            None => told.modules.push(module),
        }
    }
    told
}

/// Whether two starts are of one module, whose classes were dealt out to several JVMs.
fn is_same_but_classes(one: &Module, other: &Module) -> bool {
    let stripped = |module: &Module| {
        let mut module = Module { classes: Vec::new(), ..module.clone() };
        module.properties.remove("surefire.forkNumber");
        // Placeholders of the number may be anywhere in the options.
        module.options.clear();
        module
    };
    one.options.len() == other.options.len() && stripped(one) == stripped(other)
}

#[cfg(test)]
mod tests {
    use super::super::super::project::Sharing;
    use super::super::record::tests::record;
    use super::*;

    #[test]
    fn a_jvm_for_each_class_is_one_module() {
        let one = record(&[("forkTestSet", "a.ATest")], &[]);
        let other = record(&[("forkTestSet", "a.BTest")], &[]);
        let told = modules_of(&[one, other], Path::new("/p"), &BTreeMap::new(), "/fake");
        assert_eq!(told.modules.len(), 1);
        assert_eq!(told.modules[0].classes, ["a.ATest", "a.BTest"]);
        assert_eq!(told.modules[0].sharing, Sharing::OneClass);
    }

    #[test]
    fn integration_tests_are_left_out_by_name() {
        let record = record(&[("reportsDirectory", "/p/a/target/failsafe-reports")], &[]);
        let told = modules_of(&[record], Path::new("/p"), &BTreeMap::new(), "/fake");
        assert!(told.modules.is_empty());
        assert_eq!(told.left_out[0].0, "a");
    }
}
