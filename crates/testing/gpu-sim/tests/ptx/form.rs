//! The forms of PTX instructions that the tests give to the assembler: opcode, modifiers and types
//! as NVRTC prints them. `value.rs` and `memory.rs` test each by its rule in the PTX ISA document.
//!
//! A pattern stands for several mnemonics: `{a,b}` stands for `a` or `b`, and a name of [`SETS`]
//! for one of its types.

use super::ty::Type;

/// Sets of types by their names in patterns.
const SETS: [(&str, &str); 6] = [
    ("int", "{u16,s16,u32,s32,u64,s64}"),
    ("bits", "{b16,b32,b64}"),
    ("float", "{f32,f64}"),
    ("memory", "{b8,u8,s8,b16,u16,s16,b32,u32,s32,f32,b64,u64,s64,f64}"),
    ("small", "{b8,u8,s8,b16,u16,s16,b32,u32,s32,f32}"),
    ("byte_or_int", "{u8,s8,u16,s16,u32,s32,u64,s64}"),
];

/// Forms that compute a value from values, each with the types of its destination and, after a
/// colon, of its sources. A type is a letter: `t` the last type of the mnemonic, `s` the first of
/// two, `w` twice the width of `t`, `i` 32 bits without a sign, `p` a predicate, `c` the carry.
const VALUES: &[(&str, &str)] = &[
    // Integers.
    ("add.{int}", "t:tt"),
    ("sub.{int}", "t:tt"),
    ("mul.{lo,hi}.{int}", "t:tt"),
    ("mul.wide.{u16,s16,u32,s32}", "w:tt"),
    ("mad.lo.{int}", "t:ttt"),
    ("mad.wide.{u16,s16,u32,s32}", "w:ttw"),
    ("div.{int}", "t:tt"),
    ("rem.{int}", "t:tt"),
    ("neg.{s16,s32,s64}", "t:t"),
    ("abs.{s16,s32,s64}", "t:t"),
    ("min.{int}", "t:tt"),
    ("max.{int}", "t:tt"),
    // Integers with a carry.
    ("{add,sub}.cc.u32", "t:ttc"),
    ("{addc,subc}{,.cc}.u32", "t:ttc"),
    ("mad.{lo,hi}.cc.u32", "t:tttc"),
    ("madc.{lo,hi}{,.cc}.u32", "t:tttc"),
    // Bits.
    ("{and,or,xor}.{b16,b32,b64,pred}", "t:tt"),
    ("not.{b16,b32,b64,pred}", "t:t"),
    ("shl.{bits}", "t:ti"),
    ("shr.{b16,b32,b64,u16,s16,u32,s32,u64,s64}", "t:ti"),
    ("shf.{l,r}.{wrap,clamp}.b32", "t:tti"),
    ("bfe.{u32,s32,u64,s64}", "t:tii"),
    ("bfi.{b32,b64}", "t:ttii"),
    ("prmt.b32", "t:ttt"),
    ("popc.{b32,b64}", "i:t"),
    ("clz.{b32,b64}", "i:t"),
    ("brev.{b32,b64}", "t:t"),
    // Choices.
    ("selp.{b16,u16,s16,b32,u32,s32,f32,b64,u64,s64,f64}", "t:ttp"),
    ("setp.{eq,ne,lt,le,gt,ge}.{int}", "p:tt"),
    ("setp.{eq,ne}.{bits}", "p:tt"),
    ("setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.{float}", "p:tt"),
    // Conversions.
    ("cvt.{byte_or_int}.{byte_or_int}", "s:t"),
    ("cvt.rn.{float}.{byte_or_int}", "s:t"),
    ("cvt.{rni,rzi,rmi,rpi}.{u32,s32,u64,s64}.{float}", "s:t"),
    ("cvt.{rni,rzi,rmi,rpi}.f32.f32", "s:t"),
    ("cvt.{rni,rzi,rmi,rpi}.f64.f64", "s:t"),
    ("cvt.rn.f32.f64", "s:t"),
    ("cvt.f64.f32", "s:t"),
    ("cvt.rn.f16.f32", "s:t"),
    ("cvt.f32.f16", "s:t"),
    ("cvt.sat.f32.f32", "s:t"),
    // Floats, rounded as IEEE 754 says.
    ("{add,sub,mul}.{rn,rz,rm,rp}.f32", "t:tt"),
    ("{add,sub,mul}.rn.f64", "t:tt"),
    ("add.rz.f64", "t:tt"),
    ("fma.{rn,rz,rm,rp}.f32", "t:ttt"),
    ("fma.rn.f64", "t:ttt"),
    ("div.rn.{float}", "t:tt"),
    ("rcp.rn.{float}", "t:t"),
    ("sqrt.rn.{float}", "t:t"),
    ("neg.{float}", "t:t"),
    ("abs.{float}", "t:t"),
    ("copysign.{float}", "t:tt"),
    ("min.{float}", "t:tt"),
    ("max.{float}", "t:tt"),
    // Floats, approximately.
    ("div.approx{,.ftz}.f32", "t:tt"),
    ("rcp.approx.ftz.{float}", "t:t"),
    ("rsqrt.approx.ftz.{float}", "t:t"),
    ("rsqrt.approx.{float}", "t:t"),
    ("{ex2,lg2,sin,cos}.approx{,.ftz}.f32", "t:t"),
];

/// Forms that read scalars or vectors. `control.rs` reads parameters, which belong to calls.
const LOADS: [&str; 3] = [
    "ld{,.volatile,.volatile.global,.global,.global.nc,.local,.const}.{memory}",
    "ld{,.global,.global.nc,.local,.const}.v2.{memory}",
    "ld{,.global,.global.nc,.local,.const}.v4.{small}",
];

/// Forms that write scalars or vectors.
const STORES: [&str; 3] = [
    "st{,.volatile,.volatile.global,.global,.local}.{memory}",
    "st{,.global,.local}.v2.{memory}",
    "st{,.global,.local}.v4.{small}",
];

/// Forms that change a place in global memory and give its old value. `device.rs` has generic
/// addresses.
const ATOMICS: [&str; 4] = [
    "atom{,.relaxed.gpu}.global.add.{u32,s32,u64,f32,f64}",
    "atom{,.relaxed.gpu}.global.{min,max}.{u32,s32,u64,s64}",
    "atom{,.relaxed.gpu}.global.{and,or,xor,exch}.{b32,b64}",
    "atom{,.relaxed.gpu}.global.cas.{b32,b64}",
];

/// A form that computes a value.
pub(crate) struct ValueForm {
    pub(crate) mnemonic: String,
    operands: &'static str,
}

impl ValueForm {
    /// Returns the type of the destination.
    pub(crate) fn to(&self) -> Type {
        self.ty(self.operands.chars().next().expect("a letter"))
    }

    /// Returns the types of the sources.
    pub(crate) fn from(&self) -> Vec<Type> {
        let letters = self.operands.chars().skip("t:".len());
        letters.filter(|letter| *letter != 'c').map(|letter| self.ty(letter)).collect()
    }

    /// Returns true if the form reads or writes the carry.
    pub(crate) fn has_carry(&self) -> bool {
        self.operands.contains('c')
    }

    fn ty(&self, letter: char) -> Type {
        let types = types(&self.mnemonic);
        let last = *types.last().expect("a value's mnemonic ends with a type");
        match letter {
            's' => types[0],
            'w' => last.wide(),
            'i' => Type::U32,
            'p' => Type::PREDICATE,
            _ => last,
        }
    }
}

/// Returns the types that a mnemonic names, in its order.
pub(crate) fn types(mnemonic: &str) -> Vec<Type> {
    mnemonic.split('.').filter_map(Type::named).collect()
}

/// Returns every form that computes a value.
pub(crate) fn values() -> Vec<ValueForm> {
    let forms = VALUES.iter().flat_map(|(pattern, operands)| {
        mnemonics(pattern).into_iter().map(|mnemonic| ValueForm { mnemonic, operands })
    });
    forms.collect()
}

/// Returns the mnemonics of every load.
pub(crate) fn loads() -> Vec<String> {
    LOADS.into_iter().flat_map(mnemonics).collect()
}

/// Returns the mnemonics of every store.
pub(crate) fn stores() -> Vec<String> {
    STORES.into_iter().flat_map(mnemonics).collect()
}

/// Returns the mnemonics of every atomic operation.
pub(crate) fn atomics() -> Vec<String> {
    ATOMICS.into_iter().flat_map(mnemonics).collect()
}

/// Returns the mnemonics that a pattern stands for.
fn mnemonics(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('{') else { return vec![pattern.into()] };
    let (choices, after) = rest.split_once('}').expect("braces in pairs");
    let set = SETS.iter().find(|(name, _)| *name == choices);
    let choices = set.map_or(choices, |(_, types)| types.trim_matches(['{', '}']));
    let after = mnemonics(after);
    let all = choices
        .split(',')
        .flat_map(|choice| after.iter().map(move |text| format!("{before}{choice}{text}")));
    all.collect()
}
