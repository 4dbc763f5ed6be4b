//! Enums whose variants have names, as texts, options and records write them.

/// Defines an enum with the list `ALL` of its variants in order, `name`, and `named`, which finds a
/// variant. After a word for what the enum is, as in `enum Stage: "stage"`, it is also printed and
/// parsed by its names.
///
/// ```
/// gbxcule_ir::named! {
///     /// A side.
///     #[derive(Clone, Copy, PartialEq, Eq, Debug)]
///     pub enum Side: "side" {
///         Left = "left",
///         Right = "right",
///     }
/// }
///
/// assert_eq!(Side::ALL.map(Side::name), ["left", "right"]);
/// assert_eq!(Side::named("right"), Some(Side::Right));
/// assert_eq!("left".parse(), Ok(Side::Left));
/// assert_eq!("up".parse::<Side>(), Err("no side `up`; there are left, right".to_owned()));
/// ```
#[macro_export]
macro_rules! named {
    (
        $(#[$of_enum:meta])*
        $visible:vis enum $Enum:ident $(: $what:literal)? {
            $($(#[$of_variant:meta])* $Variant:ident = $name:literal,)*
        }
    ) => {
        $(#[$of_enum])*
        $visible enum $Enum {
            $($(#[$of_variant])* $Variant,)*
        }

        impl $Enum {
            /// Every variant, in order.
            $visible const ALL: [Self; [$($name),*].len()] = [$(Self::$Variant),*];

            /// Returns the variant's name.
            $visible const fn name(self) -> &'static str {
                match self {
                    $(Self::$Variant => $name,)*
                }
            }

            /// Returns the variant with a name.
            $visible fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|variant| variant.name() == name)
            }
        }

        $(
            impl std::fmt::Display for $Enum {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.pad(self.name())
                }
            }

            impl std::str::FromStr for $Enum {
                type Err = String;

                fn from_str(name: &str) -> Result<Self, String> {
                    let names = || Self::ALL.map(Self::name).join(", ");
                    let message = || format!("no {} `{name}`; there are {}", $what, names());
                    Self::named(name).ok_or_else(message)
                }
            }
        )?
    };
}
