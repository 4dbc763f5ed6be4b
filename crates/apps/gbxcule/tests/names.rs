//! Types of public signatures in `gbxcule::swarm` have names there.
#![cfg(feature = "swarm")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use syn::visit::Visit;
use syn::{Fields, ImplItem, Item, Type, UseTree, Visibility};

/// Types that only the swarm's engines have, which other crates of this project ask for.
const INSIDE: [&str; 2] = ["DeviceEngine", "NativeEngine"];

fn parsed(path: &Path) -> syn::File {
    let text = std::fs::read_to_string(path).expect("a source");
    syn::parse_file(&text).expect("Rust")
}

fn names(tree: &UseTree, into: &mut BTreeSet<String>) {
    match tree {
        UseTree::Path(path) => names(&path.tree, into),
        UseTree::Name(name) => _ = into.insert(name.ident.to_string()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| names(tree, into)),
        UseTree::Rename(_) | UseTree::Glob(_) => {}
    }
}

/// Names that a file exports by `pub use`.
fn exported(path: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for item in parsed(path).items {
        if let Item::Use(item) = item
            && matches!(item.vis, Visibility::Public(_))
        {
            names(&item.tree, &mut found);
        }
    }
    found
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

#[test]
fn types_of_public_signatures_are_exported() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let swarm = here.join("../../swarm/swarm/src");
    let (ours, theirs) = (exported(&here.join("src/swarm.rs")), exported(&swarm.join("lib.rs")));
    let (mut files, mut found) = (Vec::new(), Idents::default());
    sources(&swarm, &mut files);
    for file in files {
        parsed(&file).items.iter().for_each(|item| used(item, &ours, &mut found));
    }
    assert!(ours.contains("SwarmConfig") && found.0.contains("PictureStack"), "{:?}", found.0);
    let inside: BTreeSet<String> = INSIDE.map(str::to_owned).into();
    let nameless: Vec<_> =
        found.0.iter().filter(|it| theirs.contains(*it) && !ours.contains(*it)).collect();
    let nameless: Vec<_> = nameless.into_iter().filter(|it| !inside.contains(*it)).collect();
    assert!(nameless.is_empty(), "no name in `gbxcule::swarm`: {nameless:?}");
}
