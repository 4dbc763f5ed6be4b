//! Members of enumerations: they keep their class, so that its properties can be read.

use super::constant::{KnownValue, Unit};
use super::scope::{BindingSource, Owner, ScopeId};

impl<'a> Unit<'a> {
    /// The name of a member of an enumeration, if a class is one and an attribute is its member.
    pub(super) fn enumerator_name(&self, class: ScopeId, attr: &str) -> Option<&'a str> {
        if attr.starts_with('_') || !self.is_enumeration(class) {
            return None;
        }
        let (name, definitions) = self.scopes.own_entry(class, attr)?;
        let is_value = |source: &BindingSource<'_>| matches!(source, BindingSource::Value(_));
        definitions.iter().all(|it| is_value(&it.source)).then_some(name)
    }

    fn is_enumeration(&self, class: ScopeId) -> bool {
        let Owner::Class(def) = self.scopes.owner(class) else { return false };
        let around = self.scopes.around(class);
        def.bases().iter().any(|base| match self.known(base, around) {
            Ok(KnownValue::Member(path)) => matches!(
                &*path,
                "enum.Enum" | "enum.IntEnum" | "enum.StrEnum" | "enum.Flag" | "enum.IntFlag"
            ),
            _ => false,
        })
    }
}

impl KnownValue<'_> {
    /// Returns true if two values surely are one object, false if they surely aren't.
    pub(super) fn is_same(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            (Self::Enumerator(class, name, _), Self::Enumerator(of, named, _)) => {
                Some((class, name) == (of, named))
            }
            (Self::Bool(one), Self::Bool(other)) => Some(one == other),
            (Self::Bool(_), _) | (_, Self::Bool(_)) => Some(false),
            _ => None,
        }
    }

    /// The value of a member of an enumeration; anything else as it is.
    pub(super) fn plain(self) -> Self {
        match self {
            Self::Enumerator(.., value) => (*value).clone(),
            other => other,
        }
    }
}
