//! The forms of instructions that have a meaning: opcode, modifiers and types as NVRTC prints them.
//!
//! A pattern stands for several mnemonics: `{a,b}` stands for `a` or `b`, and a name of [`SETS`]
//! for one of its types. No other mnemonic is translated. `ptx.h` computes the forms, and
//! `value.rs`, `memory.rs` and `control.rs` of `tests/ptx` compare each with its rule in the PTX
//! ISA document.

use super::ty::Type;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// Forms of one meaning.
#[derive(Debug)]
pub struct Form {
    /// Their mnemonics.
    pub pattern: &'static str,
    /// Their meaning.
    pub meaning: Meaning,
}

/// Effect of a form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// Computes a value from values.
    Value {
        /// Types of the destination and, after a colon, of the sources, a letter for each: `t` the
        /// last type of the mnemonic, `s` the first of two, `w` twice the width of `t`, `i` 32 bits
        /// without a sign, `p` a predicate, `m` a place in memory of type `t`, `c` the carry.
        operands: &'static str,
        /// Function in `ptx.h`; `$0` is the first choice in the pattern, `$1` the second.
        function: &'static str,
    },
    /// Reads scalars or vectors.
    Load,
    /// Writes scalars or vectors.
    Store,
    /// Copies a value, an address or a special register; packs and unpacks vectors.
    Move,
    /// Gives the mask of the lanes that run together: only the thread's own, because threads run
    /// one after the other.
    Lanes,
    /// Gives the thread's own value, if its mask has no other lane.
    Reduction,
    /// Gives the thread's own vote at the block's barrier, as if no other thread was in the block.
    Vote,
    /// Jumps to a label.
    Branch,
    /// Jumps to a label of a list, by its number.
    BranchTable,
    /// Calls a function.
    Call,
    /// Leaves the function.
    Return,
    /// Ends the thread.
    Exit,
    /// Ends the launch.
    Trap,
}

/// Sets of types by their names in patterns.
pub const SETS: [(&str, &str); 6] = [
    ("int", "{u16,s16,u32,s32,u64,s64}"),
    ("bits", "{b16,b32,b64}"),
    ("float", "{f32,f64}"),
    ("memory", "{b8,u8,s8,b16,u16,s16,b32,u32,s32,f32,b64,u64,s64,f64}"),
    ("small", "{b8,u8,s8,b16,u16,s16,b32,u32,s32,f32}"),
    ("byte_or_int", "{u8,s8,u16,s16,u32,s32,u64,s64}"),
];

const fn value(pattern: &'static str, operands: &'static str, function: &'static str) -> Form {
    Form { pattern, meaning: Meaning::Value { operands, function } }
}

const fn form(pattern: &'static str, meaning: Meaning) -> Form {
    Form { pattern, meaning }
}

/// The table of forms.
pub const FORMS: &[Form] = &[
    // Integers.
    value("add.{int}", "t:tt", "add"),
    value("sub.{int}", "t:tt", "sub"),
    value("mul.{lo,hi}.{int}", "t:tt", "mul_$0"),
    value("mul.wide.{u16,s16,u32,s32}", "w:tt", "mul_wide"),
    value("mad.lo.{int}", "t:ttt", "mad_lo"),
    value("mad.wide.{u16,s16,u32,s32}", "w:ttw", "mad_wide"),
    value("div.{int}", "t:tt", "div"),
    value("rem.{int}", "t:tt", "rem"),
    value("neg.{s16,s32,s64}", "t:t", "neg"),
    value("abs.{s16,s32,s64}", "t:t", "abs"),
    value("min.{int}", "t:tt", "min"),
    value("max.{int}", "t:tt", "max"),
    // Integers with a carry.
    value("{add,sub}.cc.u32", "t:ttc", "$0_cc"),
    value("{addc,subc}{,.cc}.u32", "t:ttc", "$0<is_there(\"$1\")>"),
    value("mad.{lo,hi}.cc.u32", "t:tttc", "mad_$0_cc"),
    value("madc.{lo,hi}{,.cc}.u32", "t:tttc", "madc_$0<is_there(\"$1\")>"),
    // Bits.
    value("{and,or,xor}.{b16,b32,b64,pred}", "t:tt", "bitwise_$0"),
    value("not.{b16,b32,b64,pred}", "t:t", "bitwise_not"),
    value("shl.{bits}", "t:ti", "shl"),
    value("shr.{b16,b32,b64,u16,s16,u32,s32,u64,s64}", "t:ti", "shr"),
    value("shf.{l,r}.{wrap,clamp}.b32", "t:tti", "shf_$0_$1"),
    value("bfe.{u32,s32,u64,s64}", "t:tii", "bfe"),
    value("bfi.{b32,b64}", "t:ttii", "bfi"),
    value("prmt.b32", "t:ttt", "prmt"),
    value("popc.{b32,b64}", "i:t", "popc"),
    value("clz.{b32,b64}", "i:t", "clz"),
    value("brev.{b32,b64}", "t:t", "brev"),
    // Choices.
    value("selp.{b16,u16,s16,b32,u32,s32,f32,b64,u64,s64,f64}", "t:ttp", "selp"),
    value("setp.{eq,ne,lt,le,gt,ge}.{int}", "p:tt", "compare_$0"),
    value("setp.{eq,ne}.{bits}", "p:tt", "compare_$0"),
    value("setp.{eq,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.{float}", "p:tt", "compare_$0"),
    value("setp.ne.{float}", "p:tt", "compare_ordered_ne"),
    // Conversions.
    value("cvt.{byte_or_int}.{byte_or_int}", "s:t", "convert<$0>"),
    value("cvt.rn.{float}.{byte_or_int}", "s:t", "from_integer<$0>"),
    value("cvt.{rni,rzi,rmi,rpi}.{u32,s32,u64,s64}.{float}", "s:t", "to_integer<$1, $0>"),
    value("cvt.{rni,rzi,rmi,rpi}.f32.f32", "s:t", "to_integral<$0>"),
    value("cvt.{rni,rzi,rmi,rpi}.f64.f64", "s:t", "to_integral<$0>"),
    value("cvt.rn.f32.f64", "s:t", "narrow"),
    value("cvt.f64.f32", "s:t", "widen"),
    value("cvt.rn.f16.f32", "s:t", "to_half"),
    value("cvt.f32.f16", "s:t", "from_half"),
    value("cvt.sat.f32.f32", "s:t", "saturate"),
    // Floats, rounded as IEEE 754 says.
    value("{add,sub,mul}.{rn,rz,rm,rp}.f32", "t:tt", "$0<$1>"),
    value("{add,sub,mul}.{rn}.f64", "t:tt", "$0<$1>"),
    value("{add}.{rz}.f64", "t:tt", "$0<$1>"),
    value("fma.{rn,rz,rm,rp}.f32", "t:ttt", "fma<$0>"),
    value("fma.{rn}.f64", "t:ttt", "fma<$0>"),
    value("div.rn.{float}", "t:tt", "div"),
    value("rcp.rn.{float}", "t:t", "reciprocal"),
    value("sqrt.rn.{float}", "t:t", "square_root"),
    value("neg.{float}", "t:t", "neg"),
    value("abs.{float}", "t:t", "abs"),
    value("copysign.{float}", "t:tt", "copysign"),
    value("min.{float}", "t:tt", "min"),
    value("max.{float}", "t:tt", "max"),
    // Floats, approximately: GPUs give other last bits.
    value("div.approx{,.ftz}.f32", "t:tt", "div_approx<is_there(\"$0\")>"),
    value("rcp.approx.ftz.{float}", "t:t", "rcp_approx"),
    value("rsqrt.approx.ftz.{float}", "t:t", "rsqrt_approx_ftz"),
    value("rsqrt.approx.{float}", "t:t", "rsqrt_approx"),
    value("{ex2,lg2,sin,cos}.approx{,.ftz}.f32", "t:t", "$0_approx<is_there(\"$1\")>"),
    // Memory.
    form(
        "ld{,.volatile,.volatile.global,.global,.global.nc,.local,.const,.param}.{memory}",
        Meaning::Load,
    ),
    form("ld{,.global,.global.nc,.local,.const,.param}.v2.{memory}", Meaning::Load),
    form("ld{,.global,.global.nc,.local,.const,.param}.v4.{small}", Meaning::Load),
    form("st{,.volatile,.volatile.global,.global,.local,.param}.{memory}", Meaning::Store),
    form("st{,.global,.local,.param}.v2.{memory}", Meaning::Store),
    form("st{,.global,.local,.param}.v4.{small}", Meaning::Store),
    value("atom{,.relaxed.gpu}{,.global}.{add}.{u32,s32,u64,f32,f64}", "t:mt", "atom_add"),
    value("atom{,.relaxed.gpu}{,.global}.{min,max}.{u32,s32,u64,s64}", "t:mt", "atom_$2"),
    value("atom{,.relaxed.gpu}{,.global}.{and,or,xor,exch}.{b32,b64}", "t:mt", "atom_$2"),
    value("atom{,.relaxed.gpu}{,.global}.cas.{b32,b64}", "t:mtt", "atom_cas"),
    form("mov.{b16,u16,s16,b32,u32,s32,f32,b64,u64,s64,f64,pred}", Meaning::Move),
    form("cvta{,.to}.{global,local,const}.u64", Meaning::Move),
    // Threads that run together.
    form("activemask.b32", Meaning::Lanes),
    form("redux.sync.min.u32", Meaning::Reduction),
    form("bar.red.{and,or}.pred", Meaning::Vote),
    // The order of things.
    form("bra{,.uni}", Meaning::Branch),
    form("brx.idx{,.uni}", Meaning::BranchTable),
    form("call{,.uni}", Meaning::Call),
    form("ret{,.uni}", Meaning::Return),
    form("exit", Meaning::Exit),
    form("trap", Meaning::Trap),
];

/// The row of the table that a mnemonic matches.
#[derive(Debug)]
pub struct Known {
    /// The mnemonic's meaning.
    pub meaning: Meaning,
    /// Part of the mnemonic for each choice in the pattern.
    pub choices: Vec<&'static str>,
    /// Types at the mnemonic's end, in its order.
    pub types: Vec<Type>,
}

impl Known {
    fn new(form: &Form, mnemonic: &str, choices: Vec<&'static str>) -> Self {
        let types = mnemonic.split('.').filter_map(Type::named).collect();
        Self { meaning: form.meaning, choices, types }
    }

    /// Returns the C++ function of a value's form, with the choices filled in.
    pub fn function(&self, name: &str) -> String {
        let numbered = self.choices.iter().enumerate();
        numbered.fold(name.to_owned(), |name, (at, choice)| name.replace(&format!("${at}"), choice))
    }

    /// Returns the type for a letter of a value's operands.
    pub fn ty(&self, letter: char) -> Type {
        let last = *self.types.last().expect("a value's mnemonic ends with a type");
        match letter {
            's' => self.types[0],
            'w' => last.wide(),
            'i' => Type::U32,
            'p' => Type::PREDICATE,
            _ => last,
        }
    }
}

/// Finds a mnemonic in the table.
pub fn find(mnemonic: &str) -> Option<&'static Known> {
    known().get(mnemonic)
}

/// Returns every mnemonic of the table.
pub fn known() -> &'static FxHashMap<String, Known> {
    static KNOWN: OnceLock<FxHashMap<String, Known>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let expanded = FORMS.iter().flat_map(|form| {
            let mnemonics = mnemonics(form.pattern);
            mnemonics.into_iter().map(move |(text, choices)| {
                let known = Known::new(form, &text, choices);
                (text, known)
            })
        });
        expanded.collect()
    })
}

/// Returns the mnemonics that a pattern stands for, each with its choices.
pub fn mnemonics(pattern: &'static str) -> Vec<(String, Vec<&'static str>)> {
    let Some((before, rest)) = pattern.split_once('{') else {
        return vec![(pattern.into(), Vec::new())];
    };
    let (choices, after) = rest.split_once('}').expect("braces in pairs");
    let set = SETS.iter().find(|(name, _)| *name == choices);
    let choices = set.map_or(choices, |(_, types)| types.trim_matches(['{', '}']));
    let after = mnemonics(after);
    let all = choices.split(',').flat_map(|choice| {
        after.iter().map(move |(text, later)| {
            let mut taken = vec![choice];
            taken.extend(later);
            (format!("{before}{choice}{text}"), taken)
        })
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_mnemonic_has_two_meanings() {
        let mut found = BTreeSet::new();
        for (text, _) in FORMS.iter().flat_map(|form| mnemonics(form.pattern)) {
            assert!(found.insert(text.clone()), "{text} is in two rows");
        }
    }

    #[test]
    fn patterns_give_choices_and_types() {
        let known = find("cvt.rzi.s64.f32").expect("a form");
        assert_eq!(known.choices, ["rzi", "s64", "f32"]);
        assert_eq!(known.ty('s'), Type::named("s64").expect("a type"));
        assert_eq!(known.ty('t'), Type::named("f32").expect("a type"));
        assert_eq!(known.function("to_integer<$1, $0>"), "to_integer<s64, rzi>");
    }

    #[test]
    fn a_modifier_more_is_another_form() {
        assert!(find("add.s32").is_some());
        for other in
            ["add.sat.s32", "add", "add.s8", "add.f32", "min.NaN.f32", "shl.u32", "bar.sync"]
        {
            assert!(find(other).is_none(), "{other}");
        }
    }
}
