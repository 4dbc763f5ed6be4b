//! A decoded instruction: the function that executes it, and the positions of its operands in the
//! register file.

use super::form::{OperandType, Row};
use super::kernel_code::{LaunchConstant, Pool, word};
use super::listing::{Line, STRIDE};
use super::operand::{Argument, Base, Memory, OperandKind, Part};
use super::warp::{FALSE, Mask, NO_PREDICATE, SINK, TRUE, UNIFORM, UNIFORM_PREDICATES, Warp, ZERO};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// Function that executes an instruction for a set of lanes that isn't empty.
pub type Run = fn(&mut Warp<'_>, &DecodedInstruction, Mask);

/// A predicate as an operand, perhaps inverted.
#[derive(Clone, Copy, Debug)]
pub struct PredicateOperand {
    /// Number of the predicate.
    pub index: u8,
    /// All ones if the predicate is inverted.
    pub flip: Mask,
}

/// A value that an instruction reads: `((entry & keep) ^ flip) - minus`; for a pair, `high` is
/// the slot of the upper word.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Slot of the register file.
    pub low: u16,
    /// Slot of the upper word.
    pub high: u16,
    /// Mask of the bits that stay: `|x|` of a float clears one bit.
    pub keep: u32,
    /// Mask of the inverted bits: all bits for `~x` and `-x`, the sign for a float.
    pub flip: u32,
    /// All ones if 1 is added, as `-x` is `~x + 1`.
    pub minus: u32,
    /// Part of a register.
    pub part: Part,
}

impl Default for Source {
    fn default() -> Self {
        Self { low: ZERO, high: ZERO, keep: !0, flip: 0, minus: 0, part: Part::All }
    }
}

/// A place in memory: the sum of both registers and a number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Address {
    /// Entries of a lane's own register.
    pub base: Option<(u16, u16)>,
    /// Entries of the warp's register.
    pub uniform: Option<(u16, u16)>,
    /// Number of bytes to add.
    pub offset: i64,
    /// Factor on a lane's own register, as a number of bits.
    pub shift: u32,
}

/// A constant at an offset from a register.
#[derive(Clone, Copy, Debug, Default)]
pub struct Constant {
    /// Number of the bank.
    pub bank: u8,
    /// Slot of the register.
    pub base: u16,
    /// Number that is added.
    pub offset: i64,
}

/// Special registers that a kernel reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Special {
    /// `SRZ`, and `SB0`, the counter of pending copies.
    #[default]
    Zero,
    /// `SR_TID.X`, `.Y`, `.Z`, by number
    Thread(usize),
    /// `SR_CTAID.X`, `.Y`, `.Z`
    Block(usize),
    /// `SR_LANEID`
    Lane,
    /// `SR_VIRTID`, whose bits 8 to 14 are the number of the warp
    Warp,
    /// `SR_CLOCKLO`, `SR_GLOBALTIMERLO`
    Clock,
    /// `SR_EQMASK`, `SR_LTMASK`, `SR_LEMASK`, `SR_GTMASK`, `SR_GEMASK`: the lanes whose number is
    /// equal, less, and so on.
    Lanes(Ordering, bool),
}

/// A decoded instruction.
#[derive(Clone, Debug)]
pub struct DecodedInstruction {
    /// Function that executes the instruction.
    pub run: Run,
    /// Predicate by which lanes execute the instruction.
    pub guard: PredicateOperand,
    /// True if the instruction may change which lanes run.
    pub is_control: bool,
    /// All ones if the result is the same for all lanes of the warp.
    pub whole: Mask,
    /// First entry of the result.
    pub to: u16,
    /// Predicates that the instruction sets.
    pub truths: [u8; 2],
    /// Values that the instruction reads.
    pub from: [Source; 3],
    /// Predicates that the instruction reads.
    pub given: [PredicateOperand; 3],
    /// True for each optional operand of the form that is present, in their order.
    pub has: [bool; 4],
    /// Numbers in the instruction.
    pub numbers: [u32; 2],
    /// The number of 32 bits in the encoding, of any type.
    pub literal: u32,
    /// Numbers of the modifiers that the mnemonic has, one for each `{..}` of the form's pattern.
    pub modifiers: [u8; 6],
    /// Address of the instruction.
    pub address: u32,
    /// Number of the instruction to which a jump leads.
    pub target: u32,
    /// Place in memory.
    pub place: Address,
    /// Place that a copy reads.
    pub source: Address,
    /// Place in a constant bank.
    pub constant: Constant,
    /// Special register that `S2R` and similar instructions read.
    pub special: Special,
    /// Barrier of convergence.
    pub barrier: u8,
    /// True for an atomic operation, and for the load of the value that a compare-and-exchange then
    /// expects.
    pub is_exchange: bool,
    /// Line of the source, or 0 if the listing has none.
    pub source_line: u32,
    /// Line of the listing.
    pub text: String,
    /// Pattern of the instruction's row in the table of forms.
    pub pattern: &'static str,
}

/// Context in which a line is decoded.
pub(super) struct Context<'a> {
    pub(super) labels: &'a FxHashMap<&'a str, u32>,
    pub(super) pool: &'a mut Pool,
    pub(super) banks: &'a [Vec<u8>; 8],
    pub(super) bank0_bytes: usize,
    /// Bytes of the section.
    pub(super) code: &'a [u8],
}

/// Decodes a line by its row in the table of forms.
pub(super) fn decode(
    line: &Line<'_>,
    row: &Row,
    modifiers: [u8; 6],
    context: &mut Context<'_>,
) -> Result<DecodedInstruction, String> {
    let literal = word(context.code, line.address as usize + 4).ok_or("no code at its address")?;
    let always = PredicateOperand { index: TRUE, flip: 0 };
    let never = PredicateOperand { index: FALSE, flip: 0 };
    let mut inst = DecodedInstruction {
        run: row.run,
        guard: line
            .guard
            .as_ref()
            .map_or(Some(always), truth)
            .ok_or("its guard is no predicate")?,
        is_control: row.is_control,
        whole: 0,
        to: SINK,
        truths: [NO_PREDICATE; 2],
        from: [Source::default(); 3],
        given: [never; 3],
        has: [false; 4],
        numbers: [0; 2],
        literal,
        modifiers,
        address: line.address,
        target: 0,
        place: Address::default(),
        source: Address::default(),
        constant: Constant::default(),
        special: Special::Zero,
        barrier: 0,
        is_exchange: row.pattern.contains("ATOM"),
        source_line: line.source_line,
        text: line.text.into(),
        pattern: row.pattern,
    };
    let mut operands = line.operands.iter().peekable();
    let (mut counts, mut optional) = ([0; 6], 0);
    for slot in &row.operands {
        let fits = operands.peek().is_some_and(|it| slot.ty.takes(it));
        if slot.is_optional {
            inst.has[optional] = fits;
            optional += 1;
        }
        if !fits && slot.is_optional {
            // An absent operand leaves its position in the list of its operand type empty.
            counts[slot.ty.list()] += 1;
            continue;
        }
        let Some(operand) = operands.next().filter(|_| fits) else {
            return Err(format!("the form takes `{}`", row.signature));
        };
        let at = &mut counts[slot.ty.list()];
        inst.take(slot.ty, operand, *at, context)?;
        *at += 1;
    }
    // The jump itself tests whether all active lanes pass its guard, so all lanes execute it.
    if row.pattern.starts_with("BRA.{DIV") {
        inst.given[0] = std::mem::replace(&mut inst.guard, always);
    }
    match operands.next() {
        None => Ok(inst),
        Some(_) => Err(format!("the form takes `{}`", row.signature)),
    }
}

impl DecodedInstruction {
    /// True for a load of several words of shared memory.
    pub(super) fn is_wide_shared_load(&self) -> bool {
        // `.64` and `.128` are the last two sizes of the pattern.
        self.pattern.starts_with("{LDS}") && self.modifiers[1] >= 5
    }

    /// Returns the line of the source, if the listing has it.
    pub fn line(&self) -> Option<u32> {
        (self.source_line != 0).then_some(self.source_line)
    }

    fn take(
        &mut self,
        ty: OperandType,
        operand: &Argument<'_>,
        at: usize,
        context: &mut Context<'_>,
    ) -> Result<(), String> {
        match ty {
            OperandType::Destination => self.to = self.result(operand.place),
            OperandType::DestinationPredicate => {
                let index = truth(operand).ok_or("no predicate")?.index;
                let is_constant = index % UNIFORM_PREDICATES == TRUE;
                if index >= UNIFORM_PREDICATES {
                    self.whole = !0;
                }
                self.truths[at] = if is_constant { NO_PREDICATE } else { index };
            }
            OperandType::PredicateOperand => {
                self.given[at] = truth(operand).ok_or("no predicate")?;
            }
            OperandType::Integer
            | OperandType::Word
            | OperandType::Part
            | OperandType::Float
            | OperandType::Double
            | OperandType::Halves
            | OperandType::Zero
            | OperandType::Register => {
                self.from[at] = self.source(ty, operand, context)?;
            }
            OperandType::Number => {
                if let OperandKind::Number(number) = operand.place {
                    self.numbers[at] = number as u32;
                }
            }
            OperandType::BlockBarrier
            | OperandType::Literal
            | OperandType::Predicates
            | OperandType::Scoreboards => {}
            OperandType::Label
            | OperandType::Barrier
            | OperandType::Special
            | OperandType::Memory
            | OperandType::Constant => self.take_named(ty, operand, at, context)?,
        }
        Ok(())
    }

    /// Takes an operand that is neither a register's value nor a number.
    fn take_named(
        &mut self,
        ty: OperandType,
        operand: &Argument<'_>,
        at: usize,
        context: &Context<'_>,
    ) -> Result<(), String> {
        match ty {
            OperandType::Label => {
                let OperandKind::Label(name) = operand.place else { return Err("no label".into()) };
                let address = context.labels.get(name).ok_or(format!("no label `{name}`"))?;
                self.target = address / STRIDE;
            }
            OperandType::Barrier => {
                let OperandKind::Barrier(number) = operand.place else {
                    return Err("no barrier".into());
                };
                self.barrier = number;
            }
            OperandType::Special => self.special = special(operand.place)?,
            OperandType::Memory => {
                let OperandKind::Memory(place) = operand.place else {
                    return Err("no place".into());
                };
                *(if at == 0 { &mut self.place } else { &mut self.source }) = address(&place);
            }
            OperandType::Constant => {
                let OperandKind::Constant { bank, base, offset } = operand.place else {
                    return Err("no constant".into());
                };
                let base = match base {
                    Base::None => ZERO,
                    Base::Register(number) => register(number),
                    Base::Uniform(number) => uniform(number),
                };
                self.constant = Constant { bank, base, offset };
            }
            _ => unreachable!("`take` handles registers and numbers"),
        }
        Ok(())
    }

    fn result(&mut self, place: OperandKind<'_>) -> u16 {
        match place {
            OperandKind::Register(number) if number < 255 => u16::from(number),
            OperandKind::Uniform(number) if number < 255 => {
                self.whole = !0;
                uniform(number)
            }
            _ => SINK,
        }
    }

    fn source(
        &self,
        ty: OperandType,
        operand: &Argument<'_>,
        context: &mut Context<'_>,
    ) -> Result<Source, String> {
        let is_halves = ty == OperandType::Halves;
        let is_float = is_halves || matches!(ty, OperandType::Float | OperandType::Double);
        let mut source = Source { part: operand.part, ..Source::default() };
        match operand.place {
            OperandKind::Register(number) => {
                (source.low, source.high) = pair(register(number));
            }
            OperandKind::Uniform(number) => (source.low, source.high) = pair(uniform(number)),
            OperandKind::Number(_) | OperandKind::Float if is_float => {
                let entry = context.pool.entry(LaunchConstant::Number(self.literal));
                // The instruction holds the upper word of a double.
                (source.low, source.high) =
                    if ty == OperandType::Double { (ZERO, entry) } else { (entry, ZERO) };
            }
            OperandKind::Number(number) => {
                source.low = context.pool.entry(LaunchConstant::Number(number as u32));
                source.high = context.pool.entry(LaunchConstant::Number((number >> 32) as u32));
            }
            OperandKind::Constant { bank, base: Base::None, offset } => {
                source.low = constant(bank, offset, context)?;
                source.high = constant(bank, offset + 4, context).unwrap_or(ZERO);
            }
            _ => return Err("no value".into()),
        }
        let signs = if is_halves { 0x8000_8000 } else { 0x8000_0000 };
        // The bits of a float in the instruction include its sign.
        let is_literal = matches!(operand.place, OperandKind::Number(_) | OperandKind::Float);
        if operand.is_absolute {
            source.keep = !signs;
        }
        match (is_float, operand.is_negative && !is_literal, operand.is_inverted) {
            (true, true, false) => source.flip = signs,
            (false, true, false) => (source.flip, source.minus) = (!0, !0),
            (false, false, true) => source.flip = !0,
            _ => {}
        }
        Ok(source)
    }
}

fn constant(bank: u8, offset: i64, context: &mut Context<'_>) -> Result<u16, String> {
    let at = usize::try_from(offset).map_err(|_| "a constant below its bank")?;
    if bank == 0 {
        return match at + 4 <= context.bank0_bytes {
            true => Ok(context.pool.entry(LaunchConstant::Parameter(at))),
            false => Err("a constant behind bank 0".into()),
        };
    }
    let bytes = context.banks.get(usize::from(bank)).map_or(&[][..], Vec::as_slice);
    let value = word(bytes, at).ok_or_else(|| format!("no constant in bank {bank} at {at:x}"))?;
    Ok(context.pool.entry(LaunchConstant::Number(value)))
}

fn register(number: u8) -> u16 {
    u16::from(number)
}

fn uniform(number: u8) -> u16 {
    if number == 255 { ZERO } else { UNIFORM + u16::from(number) }
}

/// Returns the entries of the pair that begins with this one.
fn pair(low: u16) -> (u16, u16) {
    (low, if low == ZERO { ZERO } else { low + 1 })
}

fn truth(operand: &Argument<'_>) -> Option<PredicateOperand> {
    let index = match operand.place {
        OperandKind::Predicate(number) => number,
        OperandKind::UniformPredicate(number) => UNIFORM_PREDICATES + number,
        _ => return None,
    };
    Some(PredicateOperand { index, flip: if operand.is_inverted { !0 } else { 0 } })
}

fn special(place: OperandKind<'_>) -> Result<Special, String> {
    match place {
        OperandKind::Special("SRZ" | "SB0") => Ok(Special::Zero),
        OperandKind::Special("SR_TID.X") => Ok(Special::Thread(0)),
        OperandKind::Special("SR_TID.Y") => Ok(Special::Thread(1)),
        OperandKind::Special("SR_TID.Z") => Ok(Special::Thread(2)),
        OperandKind::Special("SR_CTAID.X") => Ok(Special::Block(0)),
        OperandKind::Special("SR_CTAID.Y") => Ok(Special::Block(1)),
        OperandKind::Special("SR_CTAID.Z") => Ok(Special::Block(2)),
        OperandKind::Special("SR_LANEID") => Ok(Special::Lane),
        OperandKind::Special("SR_VIRTID") => Ok(Special::Warp),
        OperandKind::Special("SR_CLOCKLO" | "SR_GLOBALTIMERLO") => Ok(Special::Clock),
        OperandKind::Special("SR_EQMASK") => Ok(Special::Lanes(Ordering::Equal, true)),
        OperandKind::Special("SR_LTMASK") => Ok(Special::Lanes(Ordering::Less, false)),
        OperandKind::Special("SR_LEMASK") => Ok(Special::Lanes(Ordering::Less, true)),
        OperandKind::Special("SR_GTMASK") => Ok(Special::Lanes(Ordering::Greater, false)),
        OperandKind::Special("SR_GEMASK") => Ok(Special::Lanes(Ordering::Greater, true)),
        _ => Err("a special register without meaning here".into()),
    }
}

fn address(place: &Memory) -> Address {
    let entries = |low: u16, is_wide: bool| if is_wide { pair(low) } else { (low, ZERO) };
    Address {
        base: place.base.map(|it| entries(register(it), place.base_is_wide)),
        uniform: place.uniform.map(|it| entries(uniform(it), place.uniform_is_wide)),
        offset: place.offset,
        shift: place.shift,
    }
}
