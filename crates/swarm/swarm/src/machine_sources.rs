//! The variant of the machine's sources of which kernels are made.

use std::sync::OnceLock;

use gbxcule_gameboy as original;
use gbxcule_gameboy::Model;
use gbxcule_gameboy_color as color;

use crate::Rom;

/// The variant of the machine's sources that kernels are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MachineSources {
    model: Model,
    /// True if the sources include the behaviour of revisions other than the usual one.
    every_revision: bool,
}

impl From<Model> for MachineSources {
    /// The sources of a model's usual revision.
    fn from(model: Model) -> Self {
        Self { model, every_revision: false }
    }
}

impl From<&Rom> for MachineSources {
    /// The sources for a ROM's machine.
    fn from(rom: &Rom) -> Self {
        Self { model: rom.model(), every_revision: !rom.revision().is_usual_after_boot() }
    }
}

impl MachineSources {
    /// The flags with which our compiler reads these sources.
    pub(crate) fn flags(self) -> &'static [&'static str] {
        match (self.model, self.every_revision) {
            (Model::Original, false) => original::USUAL_FLAGS,
            (Model::Original, true) => original::FLAGS,
            (Model::Color, false) => color::USUAL_FLAGS,
            (Model::Color, true) => color::FLAGS,
        }
    }
}

/// A value for each kind of sources, made at its first use.
pub(crate) struct PerSources<T>([OnceLock<T>; 4]);

impl<T> PerSources<T> {
    /// Makes an empty holder.
    pub(crate) const fn new() -> Self {
        Self([const { OnceLock::new() }; 4])
    }

    /// The holder of the value for some sources.
    pub(crate) fn of(&self, sources: MachineSources) -> &OnceLock<T> {
        let is_color = sources.model == Model::Color;
        &self.0[usize::from(is_color) * 2 + usize::from(sources.every_revision)]
    }
}
