//! Types in signatures of what this crate exports have names in this crate.
#![cfg(feature = "swarm")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use syn::visit::Visit;
use syn::{Fields, ImplItem, Item, Type, UseTree, Visibility};

/// Types that only other crates of this project ask a swarm for.
const ENGINES: [&str; 2] = ["DeviceEngine", "NativeEngine"];

fn parsed(path: &Path) -> syn::File {
    let text = std::fs::read_to_string(path).expect("a source");
    syn::parse_file(&text).expect("Rust")
}

fn names(tree: &UseTree, into: &mut BTreeSet<String>) {
    match tree {
        UseTree::Path(path) => names(&path.tree, into),
        UseTree::Name(name) => _ = into.insert(name.ident.to_string()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| names(tree, into)),
        UseTree::Rename(name) => _ = into.insert(name.ident.to_string()),
        UseTree::Glob(_) => {}
    }
}

/// Names that a file exports by `pub use` of paths that `is_from` takes by their first word.
fn exported(path: &Path, is_from: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let mut exported_names = BTreeSet::new();
    for item in parsed(path).items {
        if let Item::Use(item) = item
            && matches!(item.vis, Visibility::Public(_))
            && let UseTree::Path(path) = &item.tree
            && is_from(&path.ident.to_string())
        {
            names(&item.tree, &mut exported_names);
        }
    }
    exported_names
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|it| it == "rs") {
            into.push(path);
        }
    }
}

#[derive(Default)]
struct Idents(BTreeSet<String>);

impl<'ast> Visit<'ast> for Idents {
    fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
        self.0.insert(segment.ident.to_string());
        syn::visit::visit_path_segment(self, segment);
    }
}

/// Names in public fields and in signatures of public functions of exported types.
fn used(item: &Item, exported: &BTreeSet<String>, into: &mut Idents) {
    let mut fields = |fields: &Fields, all: bool| {
        for field in fields.iter().filter(|it| all || matches!(it.vis, Visibility::Public(_))) {
            into.visit_type(&field.ty);
        }
    };
    match item {
        Item::Struct(item) if exported.contains(&item.ident.to_string()) => {
            fields(&item.fields, false);
        }
        Item::Enum(item) if exported.contains(&item.ident.to_string()) => {
            item.variants.iter().for_each(|variant| fields(&variant.fields, true));
        }
        Item::Impl(item) if item.trait_.is_none() => {
            let Type::Path(owner) = &*item.self_ty else { return };
            let owner = owner.path.segments.last().map(|it| it.ident.to_string());
            if !owner.is_some_and(|owner| exported.contains(&owner)) {
                return;
            }
            for item in &item.items {
                if let ImplItem::Fn(function) = item
                    && matches!(function.vis, Visibility::Public(_))
                {
                    into.visit_signature(&function.sig);
                }
            }
        }
        _ => {}
    }
}

/// Checks the types of a crate that a file of this one exports: all types of their signatures that
/// the crate exports have names in the file too, but for those that are `inside`.
fn check(file: &str, crate_below_crates: &str, inside: &[&str]) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources_of = here.join("../..").join(crate_below_crates).join("src");
    let ours = exported(&here.join(file), |from| from.starts_with("gbxcule_"));
    let theirs = exported(&sources_of.join("lib.rs"), |_| true);
    let (mut files, mut found) = (Vec::new(), Idents::default());
    sources(&sources_of, &mut files);
    for file in files {
        parsed(&file).items.iter().for_each(|item| used(item, &ours, &mut found));
    }
    let named = found.0.iter().filter(|it| theirs.contains(*it)).collect::<Vec<_>>();
    assert!(named.len() > 5, "{named:?}");
    let has_name = |it: &str| ours.contains(it) || inside.contains(&it);
    let nameless: Vec<_> = named.into_iter().filter(|it| !has_name(it)).collect();
    assert!(nameless.is_empty(), "no name in {file}: {nameless:?}");
}

#[test]
fn types_of_a_swarms_signatures_have_names() {
    check("src/swarm.rs", "swarm/swarm", &ENGINES);
    check("src/swarm.rs", "swarm/console", &[]);
}

#[test]
fn types_of_a_launchs_signatures_have_names() {
    check("src/lib.rs", "compiler/runtime", &[]);
}
