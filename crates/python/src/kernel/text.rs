//! The texts that kernels were compiled from: one map for the whole process, because a device tells of a fault only
//! when somebody waits, who has no kernel at hand.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock, RwLockReadGuard};

use gbxcule_kernel::source::{SourceId, SourceMap};

#[derive(Default)]
pub(crate) struct Texts {
    pub(crate) map: SourceMap,
    /// By the file's name; a text that was compiled before is not kept twice.
    known: HashMap<String, Vec<SourceId>>,
}

static TEXTS: LazyLock<RwLock<Texts>> = LazyLock::new(RwLock::default);

/// All of them.
pub(crate) fn all() -> RwLockReadGuard<'static, Texts> {
    TEXTS.read().unwrap_or_else(PoisonError::into_inner)
}

/// Keep a text of a file.
pub(crate) fn add(file: String, text: String) -> SourceId {
    let mut texts = TEXTS.write().unwrap_or_else(PoisonError::into_inner);
    let Texts { map, known } = &mut *texts;
    let same = known.entry(file.clone()).or_default();
    if let Some(id) = same.iter().find(|id| map.get(**id).text == text) {
        return *id;
    }
    let id = map.add(file, text);
    same.push(id);
    id
}
