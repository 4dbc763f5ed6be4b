//! Operands as `nvdisasm` prints them.

/// Register, number or place that an operand names.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum OperandKind<'t> {
    /// `R7`; `RZ` is 255.
    Register(u8),
    /// `UR7`; `URZ` is 255.
    Uniform(u8),
    /// `P3`; `PT` is 7.
    Predicate(u8),
    /// `UP3`; `UPT` is 7.
    UniformPredicate(u8),
    /// `PR`: all predicates.
    Predicates,
    /// `B0`, a convergence barrier.
    Barrier(u8),
    /// `SR_TID.X`.
    Special(&'t str),
    /// `{2,1}`: scoreboards.
    Scoreboards,
    /// `0x10`.
    Number(i64),
    /// `1.5`, `+INF`: its bits stand in the instruction.
    Float,
    /// `c[0x0][R2+0x10]`.
    Constant {
        /// Number of the bank.
        bank: u8,
        /// Offset, or a part of it.
        base: Base,
        /// The other part.
        offset: i64,
    },
    /// `desc[UR4][R2.64+UR6+0x10]`.
    Memory(Memory),
    /// `` `(.L_x_5) ``
    Label(&'t str),
}

/// Register in an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    /// No register.
    None,
    /// A lane's own register.
    Register(u8),
    /// The warp's uniform register.
    Uniform(u8),
}

/// A place in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Memory {
    /// A lane's own register.
    pub base: Option<u8>,
    /// True if the base is a pair of 64 bits, which is the case without `.U32`.
    pub base_is_wide: bool,
    /// The warp's register.
    pub uniform: Option<u8>,
    /// True if the uniform register is a pair of 64 bits.
    pub uniform_is_wide: bool,
    /// Number that is added to both registers.
    pub offset: i64,
    /// Factor on a lane's own register, as a number of bits: 2 for `R0.X4`.
    pub shift: u32,
}

/// Part of a register that is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Part {
    /// The whole register.
    #[default]
    All,
    /// `.H0_H0`, `.H1`: a half, by its number.
    Half(u8),
    /// `.B0` to `.B3`.
    Byte(u8),
}

/// A place, with the operations on its value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Argument<'t> {
    /// Place of the value.
    pub place: OperandKind<'t>,
    /// `-`
    pub is_negative: bool,
    /// `!` or `~`
    pub is_inverted: bool,
    /// `| |`
    pub is_absolute: bool,
    /// Part of a register.
    pub part: Part,
}

const ZERO: u8 = 255;

/// Reads an operand; `None` if the text is not an operand.
pub fn operand(text: &str) -> Option<Argument<'_>> {
    let mut remaining = text.trim();
    let is_negative =
        remaining.strip_prefix('-').filter(|it| !it.starts_with(|c: char| is_digit(c)));
    let is_negative = is_negative.is_some_and(|it| !it.starts_with(['I', 'Q', 'S']));
    remaining = if is_negative { &remaining[1..] } else { remaining };
    let is_inverted = remaining.starts_with(['!', '~']);
    remaining = remaining.trim_start_matches(['!', '~']);
    // `|R4|.reuse`: the suffix stands after the bars.
    let bars = remaining.strip_prefix('|').map(|it| it.split_once('|'));
    let (remaining, behind, is_absolute) = match bars {
        None => (remaining, "", false),
        Some(bars) => bars.map(|(name, behind)| (name, behind, true))?,
    };
    let (remaining, part) = split_part(remaining, behind)?;
    let place = place(remaining)?;
    Some(Argument { place, is_negative, is_inverted, is_absolute, part })
}

fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit() || letter == '.'
}

/// Removes a suffix that names a part of a register.
fn split_part<'t>(text: &'t str, behind: &'t str) -> Option<(&'t str, Part)> {
    let behind = behind.trim_start_matches('.');
    let (name, suffix) = match text.rfind(']') {
        // `c[0x0] [0x160].H1_H1`
        Some(at) if text.starts_with("c[") => {
            let (name, suffix) = text.split_at(at + 1);
            (name, if suffix.is_empty() { behind } else { suffix.trim_start_matches('.') })
        }
        _ if text.starts_with(['R', 'U']) => text.split_once('.').unwrap_or((text, behind)),
        _ => return Some((text, Part::All)),
    };
    // `.reuse` may stand before the part or behind it.
    let mut suffixes = suffix.split('.').filter(|it| *it != "reuse");
    let part = match suffixes.next().unwrap_or_default() {
        // Tiles of bytes always have the suffixes `ROW` and `COL`.
        "" | "64" | "ROW" | "COL" => Part::All,
        "H0" | "H0_H0" => Part::Half(0),
        "H1" | "H1_H1" => Part::Half(1),
        "B0" => Part::Byte(0),
        "B1" => Part::Byte(1),
        "B2" => Part::Byte(2),
        "B3" => Part::Byte(3),
        _ => return None,
    };
    suffixes.next().is_none().then_some((name, part))
}

/// Reads `R7`, `RZ` and similar registers by their letters.
fn numbered(text: &str, letters: &str, zero: &str, zero_is: u8) -> Option<u8> {
    let number = text.strip_prefix(letters)?;
    if number == zero { Some(zero_is) } else { number.parse().ok() }
}

fn place(text: &str) -> Option<OperandKind<'_>> {
    if let Some(number) = numbered(text, "R", "Z", ZERO) {
        return Some(OperandKind::Register(number));
    }
    if let Some(number) = numbered(text, "UR", "Z", ZERO) {
        return Some(OperandKind::Uniform(number));
    }
    if let Some(number) = numbered(text, "P", "T", 7) {
        return Some(OperandKind::Predicate(number));
    }
    if let Some(number) = numbered(text, "UP", "T", 7) {
        return Some(OperandKind::UniformPredicate(number));
    }
    if let Some(number) = numbered(text, "B", "", 0) {
        return Some(OperandKind::Barrier(number));
    }
    if text == "PR" {
        return Some(OperandKind::Predicates);
    }
    if text.starts_with('{') && text.ends_with('}') {
        return Some(OperandKind::Scoreboards);
    }
    if text.starts_with("SR") || text.starts_with("SB") {
        return Some(OperandKind::Special(text));
    }
    if let Some(label) = text.strip_prefix("`(") {
        return Some(OperandKind::Label(label.strip_suffix(')')?));
    }
    if let Some(inside) = text.strip_prefix("c[") {
        return constant(inside);
    }
    if text.starts_with("desc[") || text.starts_with('[') {
        return memory(text).map(OperandKind::Memory);
    }
    if let Some(number) = number(text) {
        return Some(OperandKind::Number(number));
    }
    let is_float = text.ends_with("INF") || text.ends_with("NAN") || text.parse::<f64>().is_ok();
    is_float.then_some(OperandKind::Float)
}

/// Reads a printed number: hexadecimal, or decimal without a point.
fn number(text: &str) -> Option<i64> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |it| (-1, it));
    let value = match digits.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(sign * value)
}

/// Reads the text after `c[`, such as `0x0][R2+0x10]`.
fn constant(inside: &str) -> Option<OperandKind<'static>> {
    let (bank, at) = inside.strip_suffix(']')?.split_once(']')?;
    let at = at.trim_start().strip_prefix('[')?;
    let bank = u8::try_from(number(bank)?).ok()?;
    let (mut base, mut offset) = (Base::None, 0);
    for part in terms(at) {
        if let Some(register) = numbered(part, "R", "Z", ZERO) {
            base = Base::Register(register);
        } else if let Some(register) = numbered(part, "UR", "Z", ZERO) {
            base = Base::Uniform(register);
        } else {
            offset += number(part)?;
        }
    }
    Some(OperandKind::Constant { bank, base, offset })
}

/// Splits a sum into its terms; `-0x10` is one term.
fn terms(text: &str) -> impl Iterator<Item = &str> {
    text.split('+').flat_map(|part| {
        let cut = part.rfind('-').filter(|at| *at > 0).unwrap_or(part.len());
        let (first, second) = part.split_at(cut);
        [first, second].into_iter().filter(|it| !it.is_empty())
    })
}

fn memory(text: &str) -> Option<Memory> {
    let inside = text.strip_suffix(']')?.rsplit_once('[')?.1;
    let mut memory = Memory {
        base: None,
        base_is_wide: false,
        uniform: None,
        uniform_is_wide: false,
        offset: 0,
        shift: 0,
    };
    for part in terms(inside) {
        let (name, suffix) = part.split_once('.').unwrap_or((part, ""));
        if let Some(register) = numbered(name, "R", "Z", ZERO) {
            (memory.base, memory.base_is_wide) = (Some(register), suffix != "U32");
            memory.shift = match suffix {
                "" | "64" | "U32" => 0,
                "X4" => 2,
                "X8" => 3,
                "X16" => 4,
                _ => return None,
            };
        } else if let Some(register) = numbered(name, "UR", "Z", ZERO) {
            (memory.uniform, memory.uniform_is_wide) = (Some(register), suffix == "64");
            matches!(suffix, "" | "64").then_some(())?;
        } else {
            memory.offset += number(part)?;
        }
    }
    // A base of 32 bits is added to a uniform register of 64.
    memory.uniform_is_wide |= memory.base.is_some() && !memory.base_is_wide;
    Some(memory)
}
