//! Translates an instruction to a C++ statement, by its form. Operands must have the form's width;
//! only loads, stores and conversions may use wider registers, as in PTX.

use super::super::form::{self, Known, Meaning};
use super::super::syntax::{Instruction, Operand};
use super::super::ty::{Kind, Type};
use super::Result;
use super::name;
use super::scope::Scope;

/// Special registers with the position of the thread, and their expressions in `ptx.h`.
const SPECIAL: [(&str, &str); 13] = [
    ("%tid.x", "thread.tid.x"),
    ("%tid.y", "thread.tid.y"),
    ("%tid.z", "thread.tid.z"),
    ("%ntid.x", "thread.ntid.x"),
    ("%ntid.y", "thread.ntid.y"),
    ("%ntid.z", "thread.ntid.z"),
    ("%ctaid.x", "thread.ctaid.x"),
    ("%ctaid.y", "thread.ctaid.y"),
    ("%ctaid.z", "thread.ctaid.z"),
    ("%nctaid.x", "thread.nctaid.x"),
    ("%nctaid.y", "thread.nctaid.y"),
    ("%nctaid.z", "thread.nctaid.z"),
    ("%laneid", "thread.laneid"),
];

/// Translates an instruction.
pub(super) fn instruction(it: &Instruction<'_>, scope: &Scope<'_>) -> Result<String> {
    let Some(known) = form::find(it.mnemonic) else {
        return Err("no form in the table of forms has this name".into());
    };
    let printer = Printer { scope, known, mnemonic: it.mnemonic, operands: &it.operands };
    let statement = match known.meaning {
        Meaning::Value { operands, function } => printer.value(operands, function)?,
        Meaning::Load => printer.load()?,
        Meaning::Store => printer.store()?,
        Meaning::Move => printer.copy()?,
        Meaning::Lanes => {
            printer.set(printer.count([0])?[0], Type::U32, "thread.own_lane()", false)?
        }
        Meaning::Reduction => printer.reduction()?,
        Meaning::Vote => printer.vote()?,
        Meaning::Branch => format!("goto {};", printer.label(printer.count([0])?)?),
        Meaning::BranchTable => printer.branch_table()?,
        Meaning::Call => printer.call()?,
        Meaning::Return => "return;".into(),
        Meaning::Exit => "thread.exit();".into(),
        Meaning::Trap => "end(\"the kernel ran into a trap\");".into(),
    };
    let Some(guard) = &it.guard else { return Ok(statement) };
    let predicate = printer.register(guard.register, Type::PREDICATE, false)?;
    Ok(format!("if ({}{predicate}) {{ {statement} }}", if guard.is_negated { "!" } else { "" }))
}

struct Printer<'p> {
    scope: &'p Scope<'p>,
    known: &'p Known,
    mnemonic: &'p str,
    operands: &'p [Operand<'p>],
}

impl<'p> Printer<'p> {
    /// Returns the operands at these positions, which must be all operands.
    fn count<const N: usize>(&self, positions: [usize; N]) -> Result<[&'p Operand<'p>; N]> {
        if self.operands.len() == N {
            Ok(positions.map(|at| &self.operands[at]))
        } else {
            Err(format!("{} operands instead of {N}", self.operands.len()))
        }
    }

    /// Returns the type at the end of the mnemonic.
    fn ty(&self) -> Type {
        self.known.ty('t')
    }

    /// Returns the C++ variable of a register of the type's width, or of a wider one if that is
    /// allowed.
    fn register(&self, name: &str, ty: Type, may_be_wider: bool) -> Result<String> {
        let found = self.scope.register(name).ok_or_else(|| format!("`{name}` is no register"))?;
        let is_predicate = found == Type::PREDICATE;
        let fits = found.bits == ty.bits || may_be_wider && found.bits > ty.bits;
        if is_predicate != (ty == Type::PREDICATE) || !fits {
            return Err(format!("`{name}` has {} bits where {} are used", found.bits, ty.bits));
        }
        Ok(name::register(name))
    }

    /// Returns the value of an operand as a type.
    fn source(&self, operand: &Operand<'_>, ty: Type, may_be_wider: bool) -> Result<String> {
        let bits = match operand {
            Operand::Name(name) => {
                if let Some((_, special)) = SPECIAL.iter().find(|(known, _)| known == name) {
                    let is_known = ty.bits == 32;
                    let wrong = || format!("`{name}` has 32 bits where {} are used", ty.bits);
                    return is_known.then(|| format!("{}({special})", ty.cpp())).ok_or_else(wrong);
                }
                self.register(name, ty, may_be_wider)?
            }
            Operand::Integer(bits) if ty == Type::PREDICATE => return Ok((*bits != 0).to_string()),
            Operand::Integer(bits) if ty.kind != Kind::Float => format!("0x{bits:x}u"),
            Operand::F32(bits) if ty.bits == 32 => format!("u32(0x{bits:x}u)"),
            Operand::F64(bits) if ty.bits == 64 => format!("u64(0x{bits:x}u)"),
            _ => return Err(format!("{operand:?} is no value of {} bits", ty.bits)),
        };
        Ok(match ty.kind {
            Kind::Predicate => bits,
            Kind::Float => format!("as<{}>({bits})", ty.cpp()),
            Kind::Bits | Kind::Unsigned | Kind::Signed => format!("{}({bits})", ty.cpp()),
        })
    }

    /// Returns a statement that assigns a value of a type to a register.
    fn set(
        &self,
        operand: &Operand<'_>,
        ty: Type,
        value: &str,
        may_be_wider: bool,
    ) -> Result<String> {
        let Operand::Name(name) = operand else {
            return Err(format!("{operand:?} is no register"));
        };
        if *name == "_" {
            return Ok(format!("(void)({value});"));
        }
        let register = self.register(name, ty, may_be_wider)?;
        // A signed value is sign-extended in a wider register.
        let is_float = ty.kind == Kind::Float;
        Ok(if is_float {
            format!("{register} = raw({value});")
        } else {
            format!("{register} = {value};")
        })
    }

    /// Returns the address of a place of so many bytes, as a number.
    fn address(&self, operand: &Operand<'_>, bytes: u64) -> Result<String> {
        let Operand::Address { base, offset } = operand else {
            return Err(format!("{operand:?} is no address"));
        };
        let Operand::Name(name) = **base else {
            return Err(format!("{base:?} is no base of an address"));
        };
        let Some(size) = self.scope.variable(name) else {
            let base = self.register(name, Type { kind: Kind::Bits, bits: 64 }, false)?;
            return Ok(format!("{base} + u64({offset})"));
        };
        let is_inside = u64::try_from(*offset).is_ok_and(|offset| offset + bytes <= size);
        if is_inside {
            Ok(format!("u64({}) + {offset}", name::memory(name)))
        } else {
            Err(format!("bytes {offset} and on of `{name}`, which has {size}"))
        }
    }

    fn label(&self, [operand]: [&Operand<'_>; 1]) -> Result<String> {
        match operand {
            Operand::Name(name) => Ok(name::label(name)),
            _ => Err(format!("{operand:?} is no label")),
        }
    }

    fn value(&self, letters: &str, function: &str) -> Result<String> {
        let (to, from) = letters.split_once(':').expect("a destination and sources");
        let shown = from.trim_end_matches('c').len() + to.len();
        if self.operands.len() != shown {
            return Err(format!("{} operands instead of {shown}", self.operands.len()));
        }
        // Conversions between types.
        let may_be_wider = self.known.types.len() == 2;
        let mut sources = Vec::new();
        for (at, letter) in from.chars().enumerate() {
            let ty = self.known.ty(letter);
            sources.push(match letter {
                'c' => "carry".into(),
                'm' => {
                    let address = self.address(&self.operands[to.len() + at], ty.bytes())?;
                    format!("place<{}>({address})", ty.cpp())
                }
                _ => self.source(&self.operands[to.len() + at], ty, may_be_wider)?,
            });
        }
        let value = format!("{}({})", self.known.function(function), sources.join(", "));
        let ty = self.known.ty(to.chars().next().expect("a destination"));
        self.set(&self.operands[0], ty, &value, may_be_wider)
    }

    /// Returns the reduction of a thread that is alone in its mask: its own value.
    fn reduction(&self) -> Result<String> {
        let [to, value, mask] = self.count([0, 1, 2])?;
        let [value, mask] = [value, mask].map(|it| self.source(it, Type::U32, false));
        self.set(to, Type::U32, &format!("thread.alone({}, {})", value?, mask?), false)
    }

    /// Returns the vote of a thread that is alone at barrier 0 of its block.
    fn vote(&self) -> Result<String> {
        let [to, barrier, vote] = self.count([0, 1, 2])?;
        if *barrier != Operand::Integer(0) {
            return Err(format!("{barrier:?} where barrier 0 alone is known"));
        }
        let vote = self.source(vote, Type::PREDICATE, false)?;
        self.set(to, Type::PREDICATE, &vote, false)
    }

    /// Returns the parts of a vector, or a single operand.
    fn parts<'o>(&self, operand: &'o Operand<'o>) -> Result<&'o [Operand<'o>]> {
        let wanted = match self.mnemonic {
            it if it.contains(".v2.") => 2,
            it if it.contains(".v4.") => 4,
            _ => 1,
        };
        let parts = match operand {
            Operand::Vector(parts) => parts.as_slice(),
            _ => std::slice::from_ref(operand),
        };
        let is_vector = matches!(operand, Operand::Vector(_));
        if parts.len() == wanted && is_vector == (wanted > 1) {
            Ok(parts)
        } else {
            Err(format!("{} values where {wanted} are moved", parts.len()))
        }
    }

    fn load(&self) -> Result<String> {
        let [to, from] = self.count([0, 1])?;
        let (parts, ty) = (self.parts(to)?, self.ty());
        let place = self.address(from, ty.bytes() * parts.len() as u64)?;
        let mut text = format!("{{ auto from = place<{}, {}>({place});", ty.cpp(), parts.len());
        for (at, part) in parts.iter().enumerate() {
            text += " ";
            text += &self.set(part, ty, &format!("from[{at}]"), true)?;
        }
        Ok(text + " }")
    }

    fn store(&self) -> Result<String> {
        let [to, from] = self.count([0, 1])?;
        let (parts, ty) = (self.parts(from)?, self.ty());
        let place = self.address(to, ty.bytes() * parts.len() as u64)?;
        let mut text = format!("{{ auto to = place<{}, {}>({place});", ty.cpp(), parts.len());
        for (at, part) in parts.iter().enumerate() {
            text += &format!(" to[{at}] = {};", self.source(part, ty, true)?);
        }
        Ok(text + " }")
    }

    fn copy(&self) -> Result<String> {
        let [to, from] = self.count([0, 1])?;
        let ty = self.ty();
        match (to, from) {
            (Operand::Vector(parts), _) => self.unpack(parts, from),
            (_, Operand::Vector(parts)) => self.pack(to, parts),
            (_, Operand::Name(name)) if ty.bits == 64 && self.scope.variable(name).is_some() => {
                self.set(to, ty, &format!("u64({})", name::memory(name)), false)
            }
            _ => self.set(to, ty, &self.source(from, ty, false)?, false),
        }
    }

    fn part_type(&self, parts: &[Operand<'_>]) -> Result<Type> {
        let bits = self.ty().bits / parts.len() as u32;
        let is_known = bits >= 8 && bits * parts.len() as u32 == self.ty().bits;
        let wrong = || format!("{} parts of {} bits", parts.len(), self.ty().bits);
        is_known.then_some(Type { kind: Kind::Bits, bits }).ok_or_else(wrong)
    }

    /// Translates `mov.b32 {%rs1, %rs2}, %r1`; the first part gets the low bits.
    fn unpack(&self, parts: &[Operand<'_>], from: &Operand<'_>) -> Result<String> {
        let part = self.part_type(parts)?;
        let whole = Type { kind: Kind::Bits, ..self.ty() };
        let mut text = format!("{{ auto whole = {};", self.source(from, whole, false)?);
        for (at, to) in parts.iter().enumerate() {
            let value = format!("{}(whole >> {})", part.cpp(), at as u32 * part.bits);
            text += " ";
            text += &self.set(to, part, &value, false)?;
        }
        Ok(text + " }")
    }

    /// Translates `mov.b32 %r1, {%rs1, %rs2}`.
    fn pack(&self, to: &Operand<'_>, parts: &[Operand<'_>]) -> Result<String> {
        let part = self.part_type(parts)?;
        let whole = Type { kind: Kind::Bits, ..self.ty() };
        let shifted = parts.iter().enumerate().map(|(at, from)| {
            let value = self.source(from, part, false)?;
            Ok(format!("{}({value}) << {}", whole.cpp(), at as u32 * part.bits))
        });
        let value = shifted.collect::<Result<Vec<_>>>()?.join(" | ");
        self.set(to, whole, &format!("{}({value})", whole.cpp()), false)
    }

    fn branch_table(&self) -> Result<String> {
        let [index, list] = self.count([0, 1])?;
        let index = self.source(index, Type::U32, false)?;
        let Operand::Name(name) = list else {
            return Err(format!("{list:?} is no list of labels"));
        };
        let labels =
            self.scope.targets(name).ok_or_else(|| format!("`{name}` is no list of labels"))?;
        let cases = labels.iter().enumerate();
        let cases = cases.map(|(at, label)| format!("case {at}: goto {}; ", name::label(label)));
        let cases: String = cases.collect();
        Ok(format!(
            "switch ({index}) {{ {cases}default: end(\"a jump beyond a table of labels\"); }}"
        ))
    }

    fn call(&self) -> Result<String> {
        let (results, rest) = match self.operands {
            [Operand::List(results), rest @ ..] => (results.as_slice(), rest),
            rest => (&[][..], rest),
        };
        let (callee, params) = match rest {
            [Operand::Name(callee)] => (*callee, &[][..]),
            [Operand::Name(callee), Operand::List(params)] => (*callee, params.as_slice()),
            _ => return Err("a call that is not to a name".into()),
        };
        let function =
            self.scope.callees.get(callee).filter(|it| it.body.is_some() || callee == "vprintf");
        let Some(function) = function else {
            return Err(format!("`{callee}` is not in this text"));
        };
        let wanted: Vec<u64> =
            function.results.iter().chain(&function.params).map(|it| it.bytes()).collect();
        let passed: Vec<&Operand<'_>> = results.iter().chain(params).collect();
        let mut text = String::from("thread");
        if wanted.len() != passed.len() {
            return Err(format!(
                "{} values for `{callee}`, which has {}",
                passed.len(),
                wanted.len()
            ));
        }
        for (operand, bytes) in passed.into_iter().zip(wanted) {
            let Operand::Name(name) = operand else {
                return Err(format!("{operand:?} is not passed by its name"));
            };
            if self.scope.variable(name) != Some(bytes) {
                return Err(format!("`{name}` is no parameter of {bytes} bytes"));
            }
            text += ", ";
            text += &name::memory(name);
        }
        Ok(format!("{}({text});", name::function(callee)))
    }
}
