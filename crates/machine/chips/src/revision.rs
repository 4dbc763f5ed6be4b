//! Revisions of the two models: chips that tests of public suites distinguish. Host side: not
//! translated.
//!
//! `power_on` sets a revision's memory and registers at power-on. Later differences are in the
//! chips' files, behind `#[cfg(not(usual_revision))]`. The kernel compiler reads the sources with
//! the flag `usual_revision` for machines without such differences.

use crate::header::Model;

/// Revision of a console.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Revision {
    /// A DMG-CPU B; for the Color, the picture of a CPU CGB C and the sound of a CPU CGB E.
    #[default]
    Usual = 0,
    /// The Pocket, MGB.
    Mgb = 1,
    /// The Super Game Boy, SGB.
    Sgb = 2,
    /// The Super Game Boy 2, which has its own clock crystal.
    Sgb2 = 3,
    /// CPU CGB C.
    CgbC = 4,
    /// CPU CGB E.
    CgbE = 5,
}

/// Names for users, with models and revisions; the first name of a model is its usual name.
const NAMES: [(&str, Model, Revision); 8] = [
    ("dmg", Model::Original, Revision::Usual),
    ("dmg-b", Model::Original, Revision::Usual),
    ("mgb", Model::Original, Revision::Mgb),
    ("sgb", Model::Original, Revision::Sgb),
    ("sgb2", Model::Original, Revision::Sgb2),
    ("cgb", Model::Color, Revision::Usual),
    ("cgb-c", Model::Color, Revision::CgbC),
    ("cgb-e", Model::Color, Revision::CgbE),
];

impl Revision {
    /// Returns true if the revision is the usual one, or differs from the usual one only at
    /// power-on.
    #[must_use]
    pub fn is_usual_after_boot(self) -> bool {
        matches!(self, Revision::Usual | Revision::Mgb)
    }

    /// Returns true if the console is a Super Game Boy.
    #[must_use]
    pub fn is_super(self) -> bool {
        matches!(self, Revision::Sgb | Revision::Sgb2)
    }

    /// Returns the names of all revisions.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.into_iter().map(|(name, ..)| name)
    }

    /// Returns the console of a name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<(Model, Revision)> {
        let row = NAMES.into_iter().find(|row| row.0 == name)?;
        Some((row.1, row.2))
    }

    /// Returns a model's revision of a code, as states and checkpoints store it.
    #[must_use]
    pub fn by_code(model: Model, code: u8) -> Option<Revision> {
        let row = NAMES.into_iter().find(|row| row.1 == model && row.2 as u8 == code)?;
        Some(row.2)
    }

    /// Returns the name of a model's revision.
    #[must_use]
    pub fn name(self, model: Model) -> &'static str {
        let row = NAMES.into_iter().find(|row| (row.1, row.2) == (model, self));
        row.map_or("a revision of the other model", |row| row.0)
    }
}
