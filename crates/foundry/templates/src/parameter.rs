//! Parameters of a template's kernel: direction, type, shape, and the numbers that make sense for
//! each.

use crate::condition::Condition;
use crate::expression::Expression;
use gbxcule_grammar::input::{ArgumentInput, Arrangement, FieldRange, NumberRange};

/// Direction of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direction {
    /// Read only.
    In,
    /// Written, completely or in part; the other elements stay zeros.
    Out,
    /// Read and written.
    InOut,
    /// Zeros to which threads add.
    Add,
}

impl Direction {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "in" => Self::In,
            "out" => Self::Out,
            "inout" => Self::InOut,
            "add" => Self::Add,
            _ => return None,
        })
    }

    /// Returns true if the kernel writes the parameter.
    pub(crate) fn is_written(self) -> bool {
        self != Self::In
    }

    /// Returns the words of a specification.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::In => "input",
            Self::Out => "output, zeros before the launch",
            Self::InOut => "input and output",
            Self::Add => "output that threads add to, zeros before the launch",
        }
    }
}

/// A bound of a range: a number, or a size.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Bound {
    Float(f64),
    Size(Expression),
}

/// Numbers that make sense for a parameter.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Domain {
    /// Zeros; nothing is drawn.
    Zero,
    /// One value.
    Value(Bound),
    /// A range, with a relation between the numbers.
    Range(Arrangement, Bound, Bound),
    /// Ranges of a struct's fields, by name.
    Fields(Vec<(String, Bound, Bound)>),
}

/// A parameter of a template.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) direction: Direction,
    /// Possible names; the text of the template uses the first.
    pub(crate) names: Vec<String>,
    pub(crate) shape: Vec<Expression>,
    /// Type of a value or an element, such as `real`, `vec3` or the name of a struct.
    pub(crate) ty: String,
    pub(crate) domain: Domain,
    pub(crate) unit: String,
    pub(crate) words: String,
    pub(crate) condition: Condition,
}

/// Values of sizes and draws.
pub(crate) type Sizes<'a> = dyn Fn(&str) -> Option<i64> + 'a;

impl Parameter {
    /// Reads a line such as `in offsets[rows+1] int offsets 0..entries: begin of each row`.
    pub(crate) fn parse(line: &str) -> Result<Self, String> {
        let (line, condition) = line.rsplit_once("#?").unwrap_or((line, ""));
        let (head, words) = line
            .split_once(": ")
            .ok_or_else(|| format!("`{line}` lacks `: ` and what the parameter is"))?;
        let mut tokens = tokens(head).into_iter();
        let direction = tokens.next().and_then(|word| Direction::parse(&word));
        let (Some(direction), Some(name), Some(ty)) = (direction, tokens.next(), tokens.next())
        else {
            return Err(format!("`{head}` lacks a direction, a name or a type"));
        };
        let (names, shape) = match name.split_once('[') {
            Some((names, shape)) => (names, shape.trim_end_matches(']')),
            None => (&*name, ""),
        };
        let shape = shape.split(',').filter(|it| !it.is_empty()).map(Expression::parse);
        let (domain, unit) = domain(&tokens.collect::<Vec<_>>())?;
        Ok(Self {
            direction,
            names: names.split('|').map(str::to_owned).collect(),
            shape: shape.collect::<Result<_, _>>()?,
            ty,
            domain,
            unit,
            words: words.trim().into(),
            condition: Condition::parse(condition)?,
        })
    }

    /// Makes a parameter that holds a count of threads or elements.
    pub(crate) fn count(size: &str, words: String) -> Self {
        Self {
            direction: Direction::In,
            names: vec![size.into()],
            shape: Vec::new(),
            ty: "int".into(),
            domain: Domain::Value(Bound::Size(Expression::Size(size.into()))),
            unit: String::new(),
            words,
            condition: Condition::default(),
        }
    }

    /// Returns the input of a launch.
    pub(crate) fn input(&self, name: &str, sizes: &Sizes<'_>) -> Result<ArgumentInput, String> {
        let extent = |it: &Expression| {
            let extent = it.value(sizes)?;
            u32::try_from(extent).map_err(|_| format!("`{name}` has an extent of {extent}"))
        };
        let shape = self.shape.iter().map(extent).collect::<Result<Vec<_>, _>>()?;
        let number = |bound: &Bound| match bound {
            Bound::Float(number) => Ok(*number),
            Bound::Size(expression) => expression.value(sizes).map(|it| it as f64),
        };
        let range = |low: &Bound, high: &Bound| -> Result<NumberRange, String> {
            let (low, high) = (number(low)?, number(high)?);
            let least = low.ceil() as i64;
            Ok(NumberRange { low, high, least, most: least.max(high.floor() as i64) })
        };
        let (zero, written) = (self.domain == Domain::Zero, self.direction.is_written());
        let mut given = ArgumentInput { zero, written, ..ArgumentInput::integers(shape, 0, 0) };
        name.clone_into(&mut given.name);
        let mut within = |range: NumberRange| {
            (given.low, given.high) = (range.low, range.high);
            (given.least, given.most) = (range.least, range.most);
        };
        match &self.domain {
            Domain::Zero => {}
            Domain::Value(value) => within(range(value, value)?),
            Domain::Range(arrangement, low, high) => {
                within(range(low, high)?);
                given.arrangement = *arrangement;
            }
            Domain::Fields(fields) => {
                for (name, low, high) in fields {
                    let range = range(low, high)?;
                    given.fields.push(FieldRange { name: name.clone(), range });
                }
            }
        }
        Ok(given)
    }

    /// Describes the numbers that the parameter may hold, with the sizes' names.
    pub(crate) fn domain_text(&self, sizes: &Sizes<'_>) -> String {
        let bound = |bound: &Bound| match bound {
            Bound::Float(number) => format!("{number}"),
            Bound::Size(it) => it.value(sizes).map_or(String::new(), |value| value.to_string()),
        };
        match &self.domain {
            Domain::Zero => String::new(),
            Domain::Value(value) => format!("equal to {}", bound(value)),
            Domain::Range(arrangement, low, high) => {
                let range = format!("{} to {}", bound(low), bound(high));
                match arrangement {
                    Arrangement::Free => range,
                    Arrangement::Sorted => format!("{range}, sorted along the last dimension"),
                    Arrangement::Offsets => format!("offsets that never fall, from {range}"),
                    Arrangement::Permutation => "a permutation of the numbers from 0".into(),
                    Arrangement::Distinct => format!("{range}, the components all different"),
                    Arrangement::Unit => "vectors of length 1".into(),
                    Arrangement::Shares => {
                        "positive, with a sum of 1 along the last dimension".into()
                    }
                    Arrangement::Dominant => "diagonally dominant matrices".into(),
                    Arrangement::Definite => "symmetric positive definite matrices".into(),
                    Arrangement::Clipped => format!("{range}, negative numbers made 0"),
                    Arrangement::Parents => {
                        "the earlier element that is the parent, -1 for the root".into()
                    }
                }
            }
            Domain::Fields(fields) => {
                let field = |(name, low, high): &(String, Bound, Bound)| {
                    format!("`{name}` {} to {}", bound(low), bound(high))
                };
                fields.iter().map(field).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

/// Splits a line into words; text in parentheses or brackets belongs to the word before it.
fn tokens(text: &str) -> Vec<String> {
    let (mut tokens, mut depth) = (vec![String::new()], 0_i32);
    for letter in text.chars() {
        depth += i32::from(matches!(letter, '(' | '[')) - i32::from(matches!(letter, ')' | ']'));
        match (letter, tokens.last_mut()) {
            (' ', _) if depth == 0 => tokens.push(String::new()),
            (letter, Some(last)) => last.push(letter),
            _ => {}
        }
    }
    tokens.retain(|token| !token.is_empty());
    tokens
}

fn bound(text: &str) -> Result<Bound, String> {
    match text.parse() {
        Ok(number) => Ok(Bound::Float(number)),
        Err(_) => Expression::parse(text).map(Bound::Size),
    }
}

fn range(text: &str) -> Result<(Bound, Bound), String> {
    let (low, high) =
        text.split_once("..").ok_or_else(|| format!("`{text}` is no range: write `low..high`"))?;
    Ok((bound(low)?, bound(high)?))
}

/// Reads the domain and the unit of a parameter.
fn domain(words: &[String]) -> Result<(Domain, String), String> {
    let Some(first) = words.first() else { return Ok((Domain::Zero, String::new())) };
    if let Some(value) = first.strip_prefix('=') {
        return Ok((Domain::Value(bound(value)?), words[1..].join(" ")));
    }
    if let Some(fields) = first.strip_prefix('(') {
        let field = |text: &str| {
            let (name, numbers) = text
                .trim()
                .split_once(' ')
                .ok_or_else(|| format!("`{text}` lacks a field or a range"))?;
            let (low, high) = range(numbers)?;
            Ok((name.to_owned(), low, high))
        };
        let fields = fields.trim_end_matches(')').split(',').map(field);
        let fields = fields.collect::<Result<_, String>>()?;
        return Ok((Domain::Fields(fields), words[1..].join(" ")));
    }
    let arrangement = match first.as_str() {
        "sorted" => Some(Arrangement::Sorted),
        "offsets" => Some(Arrangement::Offsets),
        "permutation" => Some(Arrangement::Permutation),
        "distinct" => Some(Arrangement::Distinct),
        "unit" => Some(Arrangement::Unit),
        "shares" => Some(Arrangement::Shares),
        "dominant" => Some(Arrangement::Dominant),
        "definite" => Some(Arrangement::Definite),
        "parents" => Some(Arrangement::Parents),
        "clipped" => Some(Arrangement::Clipped),
        _ => None,
    };
    let rest = &words[usize::from(arrangement.is_some())..];
    let numbers = rest.first().filter(|it| it.contains(".."));
    let (low, high) = match numbers {
        Some(numbers) => range(numbers)?,
        // Permutations and unit vectors don't depend on the drawn range.
        None => match arrangement {
            Some(Arrangement::Permutation) => (Bound::Float(0.0), Bound::Float(1e9)),
            Some(Arrangement::Unit) => (Bound::Float(-1.0), Bound::Float(1.0)),
            Some(Arrangement::Shares) => (Bound::Float(0.1), Bound::Float(1.0)),
            Some(Arrangement::Dominant | Arrangement::Definite) => {
                (Bound::Float(-1.0), Bound::Float(1.0))
            }
            Some(Arrangement::Parents) => (Bound::Float(0.0), Bound::Float(999.0)),
            _ => return Ok((Domain::Zero, words.join(" "))),
        },
    };
    let unit = rest[usize::from(numbers.is_some())..].join(" ");
    Ok((Domain::Range(arrangement.unwrap_or_default(), low, high), unit))
}
