//! Limits the number of methods of a type. A type with more methods than a reader can hold in mind
//! has more than one responsibility; its parts keep their fields to themselves.

use std::collections::BTreeMap;
use std::path::Path;

use syn::visit::{self, Visit};

use super::files::{crate_folders, files_below};

const MAX_METHODS: usize = 60;

/// Number of functions in blocks `impl Type`, by the type's name.
#[derive(Default)]
struct Methods(BTreeMap<String, usize>);

impl Methods {
    fn add_file(&mut self, text: &str) {
        self.visit_file(&syn::parse_file(text).expect("Rust"));
    }

    fn of_crate(folder: &Path) -> BTreeMap<String, usize> {
        let mut methods = Self::default();
        for path in files_below(&folder.join("src"), &["rs"]) {
            methods.add_file(&std::fs::read_to_string(path).expect("a readable source"));
        }
        methods.0
    }
}

impl<'ast> Visit<'ast> for Methods {
    fn visit_item_impl(&mut self, block: &'ast syn::ItemImpl) {
        if let (None, syn::Type::Path(path)) = (&block.trait_, &*block.self_ty)
            && let Some(name) = path.path.segments.last()
        {
            let functions = block.items.iter().filter(|item| matches!(item, syn::ImplItem::Fn(_)));
            *self.0.entry(name.ident.to_string()).or_default() += functions.count();
        }
        visit::visit_item_impl(self, block);
    }
}

#[test]
fn a_type_has_one_responsibility() {
    let mut large = Vec::new();
    for folder in crate_folders().iter().filter(|folder| folder.join("src").is_dir()) {
        let name = folder.file_name().expect("a name").to_string_lossy();
        for (ty, count) in Methods::of_crate(folder) {
            if count > MAX_METHODS {
                large.push(format!("{name}: `{ty}` has {count} methods"));
            }
        }
    }
    assert!(
        large.is_empty(),
        "a type has at most {MAX_METHODS} methods; cut out a type with fields of its own:\n{}",
        large.join("\n")
    );
}

#[test]
fn the_rule_adds_up_all_inherent_blocks_of_a_type() {
    let mut methods = Methods::default();
    methods.add_file("impl Crane<'_> { fn a(&self) {} pub fn b() {} const N: u8 = 0; }");
    methods.add_file("impl super::Crane<'static> { fn c() {} } impl Drop for Crane { fn d() {} }");
    assert_eq!(methods.0, BTreeMap::from([("Crane".to_owned(), 3)]));
}
