//! Members of enumerations: they keep their class, so that its properties can be read.

use super::constant::{KnownValue, Unit};
use super::scope::{BindingSource, Owner, ScopeId};
use super::syntax::{Arguments, Expr, Stmt};

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

    /// The members of an enumeration, in the order of the text.
    pub(super) fn enumerators(&self, class: ScopeId) -> Option<Vec<KnownValue<'a>>> {
        let Owner::Class(def) = self.scopes.owner(class) else { return None };
        if !self.is_enumeration(class) {
            return None;
        }
        let mut members: Vec<KnownValue<'a>> = Vec::new();
        for stmt in &def.body {
            let Stmt::Assign(assign) = stmt else { continue };
            let [target @ Expr::Name(name)] = &*assign.targets else { continue };
            let member =
                self.attribute(&KnownValue::Class(class), name.id.as_str(), target).ok()?;
            let is_known = |it: &KnownValue<'a>| it.clone().plain() == member.clone().plain();
            // A second name of a value is no member.
            if matches!(member, KnownValue::Enumerator(..)) && !members.iter().any(is_known) {
                members.push(member);
            }
        }
        Some(members)
    }

    /// The member of an enumeration that a call with its value gives.
    pub(super) fn enumerator_of(
        &self,
        class: ScopeId,
        args: &'a Arguments,
        scope: ScopeId,
    ) -> Option<KnownValue<'a>> {
        let [value] = &*args.args else { return None };
        let members = self.enumerators(class)?;
        let value = self.known(value, scope).ok()?;
        members.into_iter().find(|member| member.clone().plain() == value)
    }

    fn is_enumeration(&self, class: ScopeId) -> bool {
        const KINDS: [&str; 5] =
            ["enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"];
        self.has_base(class, &KINDS)
    }

    fn has_base(&self, class: ScopeId, paths: &[&str]) -> bool {
        let Owner::Class(def) = self.scopes.owner(class) else { return false };
        let around = self.scopes.around(class);
        def.bases().iter().any(|base| match self.known(base, around) {
            Ok(KnownValue::Member(path)) => paths.contains(&&*path),
            _ => false,
        })
    }

    /// The number of a member that is `auto()`: one more than the greatest before it, of flags the
    /// next power of two.
    pub(super) fn automatic_number(&self, class: ScopeId, name: &str) -> Option<i128> {
        let Owner::Class(def) = self.scopes.owner(class) else { return None };
        if self.has_base(class, &["enum.StrEnum"]) {
            return None;
        }
        let is_flag = self.has_base(class, &["enum.Flag", "enum.IntFlag"]);
        let mut greatest = 0_i128;
        for stmt in &def.body {
            let Stmt::Assign(assign) = stmt else { continue };
            let [Expr::Name(target)] = &*assign.targets else { continue };
            let is_auto = self.is_auto(&assign.value, class);
            let number = match is_auto {
                true if is_flag && greatest > 0 => 1 << (i128::BITS - greatest.leading_zeros()),
                true => greatest + 1,
                false => match self.known(&assign.value, class).ok()?.plain() {
                    KnownValue::Int(number) => number,
                    _ => return None,
                },
            };
            if target.id.as_str() == name {
                return is_auto.then_some(number);
            }
            greatest = greatest.max(number);
        }
        None
    }

    fn is_auto(&self, value: &'a Expr, class: ScopeId) -> bool {
        let Expr::Call(call) = value else { return false };
        let known = self.known(&call.func, self.scopes.around(class));
        call.arguments.is_empty()
            && matches!(known, Ok(KnownValue::Member(path)) if &*path == "enum.auto")
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
