//! The forms of instructions that the simulator runs: opcode, modifiers and operands as
//! `nvdisasm` prints them for sm_80, sm_90 and sm_100. Any other instruction is refused by its
//! name.
//!
//! In a pattern `{a,b}` stands for `a` or `b`. Operands are letters, with `?` if they are optional:
//!
//! | letter | operand |
//! |---|---|
//! | `d` | register that is written, or the first of several |
//! | `q` | predicate that is written |
//! | `i`, `x` | integer: a register, a number, a constant; `x` is not negated |
//! | `e` | integer, or a half or a byte of a register |
//! | `f`, `g` | float of 32 bits, float of 64 bits |
//! | `v` | two floats of 16 bits: a register, a half of it twice, two numbers (`l` is the second) |
//! | `z`, `r` | `RZ`, any register |
//! | `p` | predicate |
//! | `o` | the number 0 of the block's barrier |
//! | `n`, `l` | number; number of any type, which the function takes from the encoding |
//! | `m`, `c` | place in memory, place in a constant bank |
//! | `t`, `b`, `s`, `a` | label, barrier, special register, all predicates |
//!
//! No document of NVIDIA defines these instructions. So `tests/ptx/machine.rs` tests each form by
//! kernels whose results the rules of PTX define.

use super::decoded::Run;
use super::op::{
    arrival, barrier, control, convert, copy, float, half, integer, logic, matrix, memory, vote,
};
use super::operand::{Argument, Base, OperandKind, Part};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// Type of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandType {
    /// Register that is written.
    Destination,
    /// Predicate that is written.
    DestinationPredicate,
    /// Integer that may be negated or inverted.
    Integer,
    /// Integer that may be inverted.
    Word,
    /// Integer, or a part of a register.
    Part,
    /// Float of 32 bits.
    Float,
    /// Float of 64 bits.
    Double,
    /// Two floats of 16 bits.
    Halves,
    /// The register that is zero.
    Zero,
    /// Register.
    Register,
    /// Predicate.
    PredicateOperand,
    /// The number 0 of the block's barrier.
    BlockBarrier,
    /// Number.
    Number,
    /// Number that is read from the encoding.
    Literal,
    /// Place in memory.
    Memory,
    /// Place in a constant bank.
    Constant,
    /// Label.
    Label,
    /// Barrier of convergence.
    Barrier,
    /// Special register.
    Special,
    /// All predicates.
    Predicates,
    /// Scoreboards.
    Scoreboards,
}

impl OperandType {
    fn of(letter: char) -> Self {
        match letter {
            'd' => Self::Destination,
            'q' => Self::DestinationPredicate,
            'i' => Self::Integer,
            'x' => Self::Word,
            'e' => Self::Part,
            'f' => Self::Float,
            'g' => Self::Double,
            'v' => Self::Halves,
            'z' => Self::Zero,
            'r' => Self::Register,
            'p' => Self::PredicateOperand,
            'o' => Self::BlockBarrier,
            'n' => Self::Number,
            'l' => Self::Literal,
            'm' => Self::Memory,
            'c' => Self::Constant,
            't' => Self::Label,
            'b' => Self::Barrier,
            's' => Self::Special,
            'a' => Self::Predicates,
            'k' => Self::Scoreboards,
            _ => unreachable!("the table of forms has no operand `{letter}`"),
        }
    }

    /// Returns true if an operand is of this type.
    pub(super) fn takes(self, operand: &Argument<'_>) -> bool {
        let Argument { place, is_negative, is_inverted, is_absolute, part } = *operand;
        let is_plain = !is_negative && !is_inverted && !is_absolute && part == Part::All;
        let is_constant = matches!(place, OperandKind::Constant { base: Base::None, .. });
        let is_register = matches!(place, OperandKind::Register(_) | OperandKind::Uniform(_));
        let is_value = is_register || is_constant || matches!(place, OperandKind::Number(_));
        let is_truth =
            matches!(place, OperandKind::Predicate(_) | OperandKind::UniformPredicate(_));
        match self {
            Self::Destination => is_register && is_plain,
            Self::DestinationPredicate => is_truth && is_plain,
            Self::PredicateOperand => is_truth && !is_negative && !is_absolute,
            Self::Integer => is_value && !is_absolute && part == Part::All,
            Self::Word => is_value && !is_absolute && !is_negative && part == Part::All,
            Self::Part => is_value && !is_absolute && !is_inverted,
            Self::Halves => {
                let is_part = matches!(part, Part::All | Part::Half(_));
                (is_value || place == OperandKind::Float) && !is_inverted && is_part
            }
            Self::Float | Self::Double => {
                (is_value || place == OperandKind::Float) && !is_inverted && part == Part::All
            }
            Self::Zero => place == OperandKind::Register(255) && !is_inverted && !is_absolute,
            Self::Register => is_register && is_plain,
            Self::Number => matches!(place, OperandKind::Number(_)) && is_plain,
            Self::Literal => matches!(place, OperandKind::Number(_) | OperandKind::Float),
            Self::BlockBarrier => place == OperandKind::Number(0) && is_plain,
            Self::Memory => matches!(place, OperandKind::Memory(_)) && is_plain,
            Self::Constant => matches!(place, OperandKind::Constant { .. }) && is_plain,
            Self::Label => matches!(place, OperandKind::Label(_)),
            Self::Barrier => matches!(place, OperandKind::Barrier(_)),
            Self::Special => matches!(place, OperandKind::Special(_)),
            Self::Predicates => place == OperandKind::Predicates,
            Self::Scoreboards => place == OperandKind::Scoreboards,
        }
    }

    /// Returns the number of the list of a decoded instruction that holds operands of this type:
    /// predicates written, predicates read, numbers, values, other places.
    pub(super) fn list(self) -> usize {
        use OperandType::{Double, Float, Halves, Integer, Part, Register, Word, Zero};
        match self {
            Self::DestinationPredicate => 0,
            Self::PredicateOperand => 1,
            Self::Number => 2,
            Integer | Word | Part | Float | Double | Halves | Zero | Register => 3,
            Self::Memory => 5,
            _ => 4,
        }
    }
}

/// An operand of a form.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Type of the operand.
    pub ty: OperandType,
    /// True if the operand is optional.
    pub is_optional: bool,
}

/// Forms that have one meaning.
#[derive(Debug)]
pub struct Row {
    /// Mnemonics of the forms.
    pub pattern: &'static str,
    /// Operands of the forms, as letters.
    pub signature: &'static str,
    /// Operands one by one.
    pub operands: Vec<Slot>,
    /// Function that executes the instruction.
    pub run: Run,
    /// True if the instruction may change which lanes run.
    pub is_control: bool,
}

fn row(pattern: &'static str, signature: &'static str, run: Run) -> Row {
    let slot = |text: &str| {
        let mut letters = text.chars();
        let ty = letters.next().map_or(OperandType::Zero, OperandType::of);
        Slot { ty, is_optional: letters.next().is_some() }
    };
    let operands = signature.split_whitespace().map(slot).collect();
    Row { pattern, signature, operands, run, is_control: false }
}

fn control(pattern: &'static str, signature: &'static str, run: Run) -> Row {
    Row { is_control: true, ..row(pattern, signature, run) }
}

/// The table of forms.
#[expect(clippy::too_many_lines, reason = "the table of instructions")]
fn rows() -> Vec<Row> {
    vec![
        // Integers.
        row("{,U}IADD3", "d q? q? i i i", integer::add3),
        row("{,U}IADD3.X", "d q? q? x x x p p?", integer::add3_carry),
        row("{,U}VIADD", "d i i", integer::add),
        row("{,U}IMAD", "d i i i", integer::multiply_add),
        row(
            "{,U}IMAD.{IADD,IADD.U32,MOV,MOV.U32,U32,SHL,SHL.U32}",
            "d i i i",
            integer::multiply_add,
        ),
        row("{,U}IMAD{,.U32}.X", "d i i x p", integer::multiply_add_carry),
        row("{,U}IMAD.HI{,.U32}", "d q? i i i", integer::multiply_high),
        row("{,U}IMAD.WIDE{,.U32}", "d q? i i i", integer::multiply_wide),
        row("{,U}IMAD.WIDE{,.U32}.X", "d q? i i x p", integer::multiply_wide_carry),
        row("{,U}LEA", "d q? i i n", integer::shift_add),
        row("{,U}LEA.HI", "d q? i i i n", integer::shift_add_high),
        row("{,U}LEA.HI.X", "d q? i x i n p", integer::shift_add_high_carry),
        row("{,U}LEA.HI.SX32", "d q? i i n", integer::shift_add_sign),
        row("{,U}LEA.HI.X.SX32", "d q? i x n p", integer::shift_add_sign_carry),
        row("IABS", "d i", integer::absolute),
        row("VABSDIFF{,.U32}", "d i i i", integer::add_distance),
        row("VABSDIFF4.U8", "d i i z", integer::distances_of_bytes),
        row("VABSDIFF4.U8.ACC", "d i i i", integer::add_distances_of_bytes),
        row("IDP.4A.{U8,S8}.{U8,S8}", "d i i i", integer::add_product_of_bytes),
        row("IDP.2A.{LO,HI}.{U16,S16}.{U8,S8}", "d i i i", integer::add_product_of_halves),
        row("{I,VI,UI,UVI}MNMX{,.U32}", "d i i p", integer::least),
        row("{VIMNMX}{,.U32}", "d q q i i p", integer::least_of),
        row("VIMNMX.{U16x2,S16x2}", "d q? q? i i p", integer::least_of_halves::<2>),
        row("VIMNMX3.{U16x2,S16x2}", "d i i i p", integer::least_of_halves::<3>),
        row("{VIADDMNMX}{,.U32}", "d i i i p", integer::add_least),
        row("{,U}ISETP.{F,LT,EQ,LE,GT,NE,GE,T}{,.U32}.{AND,OR,XOR}", "q q i i p", integer::compare),
        row(
            "{,U}ISETP.{F,LT,EQ,LE,GT,NE,GE,T}{,.U32}.{AND,OR,XOR}.EX",
            "q q i i p p",
            integer::compare_high,
        ),
        // Bits.
        row("{,U}MOV", "d i", logic::copy),
        row("{,U}SEL", "d i i p", logic::select),
        row("{,U}LOP3.LUT", "q? d x x x n p", logic::lut),
        row("{,U}PLOP3.LUT", "q q p p p n n", logic::truth_lut),
        row("{,U}SHF.{L,R}.{U32,S32,U64,S64}{,.HI}", "d i i i", logic::shift),
        row("{,U}SHF.{L,R}.W.{U32,S32,U64,S64}{,.HI}", "d i i i", logic::shift_wrap),
        row("{,U}PRMT", "d i i i", logic::permute),
        row("{,U}SGXT{,.U32}", "d i i", logic::extend),
        row("{,U}BMSK", "d i i", logic::mask),
        row("{,U}BREV", "d i", logic::reverse),
        row("{,U}FLO{,.U32}{,.SH}", "d i", logic::leading_one),
        row("{,U}POPC", "d i", logic::count_ones),
        row("R2P", "a e n", logic::unpack_predicates),
        row("P2R", "d a z n", logic::pack_predicates),
        // Floats.
        row("FADD{,.FTZ}{,.RN,.RZ,.RM,.RP}{,.SAT}", "d f f", float::add),
        row("FMUL{,.FTZ}{,.RN,.RZ,.RM,.RP}{,.SAT}", "d f f", float::multiply),
        row("FFMA{,.FTZ}{,.RN,.RZ,.RM,.RP}{,.SAT}", "d f f f", float::multiply_add),
        row("FMNMX{,.FTZ}{,.NAN}", "d f f p", float::least),
        row("FMNMX3{,.FTZ}{,.NAN}", "d f f f p", float::least_of_three),
        row("FSEL", "d f f p", float::select),
        row("FCHK", "q f f", float::check_division),
        row(
            "FSETP.{F,LT,EQ,LE,GT,NE,GE,NUM,NAN,LTU,EQU,LEU,GTU,NEU,GEU,T}{,.FTZ}.{AND,OR,XOR}",
            "q q f f p",
            float::compare,
        ),
        row(
            "FSET.BF.{F,LT,EQ,LE,GT,NE,GE,NUM,NAN,LTU,EQU,LEU,GTU,NEU,GEU,T}{,.FTZ}.{AND,OR,XOR}",
            "d f f p",
            float::one_if,
        ),
        row("MUFU.{RCP,RSQ,SQRT,EX2,LG2,SIN,COS,TANH}", "d f", float::approximate),
        row("MUFU.{RCP64H,RSQ64H}", "d f", float::approximate_high),
        row("DADD{,.RZ,.RM,.RP}", "d g g", float::add_doubles),
        row("DMUL{,.RZ,.RM,.RP}", "d g g", float::multiply_doubles),
        row("DFMA{,.RZ,.RM,.RP}", "d g g g", float::multiply_add_doubles),
        row(
            "DSETP.{F,LT,EQ,LE,GT,NE,GE,NUM,NAN,LTU,EQU,LEU,GTU,NEU,GEU,T}.{AND,OR,XOR}",
            "q q g g p",
            float::compare_doubles,
        ),
        row("DSETP.{MIN,MAX}.AND", "q q g g p", float::least_double),
        // Two floats of 16 bits in a register.
        row("HADD2{,.BF16_V2}{,.SAT}", "d v v l?", half::add),
        row("HMUL2{,.BF16_V2}{,.SAT}", "d v v l?", half::multiply),
        row("HFMA2{,.MMA}", "d z z l l", float::literal_halves),
        row("HFMA2{,.MMA}{,.BF16_V2}{,.SAT,.RELU}", "d v v l? v l?", half::multiply_add),
        row("HMNMX2{,.BF16_V2}{,.NAN}", "d v v l? p", half::least),
        row(
            "HSET2{,.BF16_V2}{,.BF}.{F,LT,EQ,LE,GT,NE,GE,NUM,NAN,LTU,EQU,LEU,GTU,NEU,GEU,T}.{AND,OR,XOR}",
            "d v v l? p",
            half::set,
        ),
        row(
            "HSETP2{,.BF16_V2}.{F,LT,EQ,LE,GT,NE,GE,NUM,NAN,LTU,EQU,LEU,GTU,NEU,GEU,T}.{AND,OR,XOR}",
            "q q v v l? p",
            half::compare,
        ),
        row("HADD2.F32", "d z v", half::widen),
        row("{F2FP.F16.F32.PACK_AB,F2FP.PACK_AB}{,.RZ}", "d f f", half::pack),
        row("{F2FP.BF16.F32.PACK_AB,F2FP.BF16.PACK_AB}{,.RZ}", "d f f", half::pack_brain),
        row("F2F.{F16,BF16}.F32{,.RZ,.RM,.RP}", "d f", half::narrow),
        row("F2F.{F16,BF16}.F64{,.RZ,.RM,.RP}", "d g", half::narrow_double),
        row("I2F.{F16,BF16}{,.U8,.U16,.U32,.S8,.S16}{,.RP,.RZ,.RM}", "d e", half::from_word),
        row("I2F.{F16,BF16}.{S64,U64}{,.RP,.RZ,.RM}", "d i", half::from_long),
        row("F2I{,.U32,.S16,.U16}.{F16,BF16}{,.TRUNC,.FLOOR,.CEIL}{,.NTZ}", "d v", half::to_word),
        row("F2I.{S64,U64}.{F16,BF16}{,.TRUNC,.FLOOR,.CEIL}", "d v", half::to_long),
        row("FRND.{F16,BF16}{,.TRUNC,.FLOOR,.CEIL}", "d v", half::round),
        // Conversions.
        row("I2F{,.RP,.RZ,.RM}", "d i", convert::from_signed),
        row("I2F.{U8,U16,U32,S8,S16}{,.RP,.RZ,.RM}", "d e", convert::from_small),
        row("I2FP.F32.{S32,U32}{,.RP,.RZ,.RM}", "d i", convert::from_word),
        row("I2F.{S64,U64}{,.RP,.RZ,.RM}", "d i", convert::from_long),
        row("I2F.F64{,.U32,.S64,.U64,.S16,.U16,.S8,.U8}{,.RP,.RZ,.RM}", "d e", convert::to_double),
        row("I2I.{U8,S8,U16,S16}.S32.SAT", "d i", convert::clamp),
        row("F2I{,.FTZ}{,.U32,.S16,.U16}{,.TRUNC,.FLOOR,.CEIL}{,.NTZ}", "d f", convert::to_word),
        row("F2I.{S64,U64}{,.TRUNC,.FLOOR,.CEIL}", "d f", convert::to_long),
        row("F2I{,.U32,.S16,.U16}.F64{,.TRUNC,.FLOOR,.CEIL}", "d g", convert::double_to_word),
        row("F2I.{S64,U64}.F64{,.TRUNC,.FLOOR,.CEIL}", "d g", convert::double_to_long),
        row("FRND{,.FTZ}{,.TRUNC,.FLOOR,.CEIL}", "d f", convert::round),
        row("FRND.F64{,.TRUNC,.FLOOR,.CEIL}", "d g", convert::round_double),
        row("F2F.F64.F32", "d f", convert::widen),
        row("F2F.F32.F64{,.RZ,.RM,.RP}", "d g", convert::narrow),
        // Memory.
        row("{S2R,S2UR}", "d s", memory::special),
        row("CS2R{,.32}", "d s", memory::special_pair),
        row("{LDC,ULDC,LDCU}{,.U8,.S8,.U16,.S16,.64,.128}", "d c", memory::constant),
        row(
            "{LD,LDG}.E{,.U8,.S8,.U16,.S16,.64,.128}{,.CONSTANT,.STRONG.GPU,.STRONG.SYS,.STRONG.SM}",
            "d m",
            memory::load,
        ),
        row(
            "{ST,STG}.E{,.U8,.U16,.64,.128,.S8,.S16}{,.STRONG.GPU,.STRONG.SYS,.STRONG.SM}",
            "m r",
            memory::store,
        ),
        row("LDL{,.LU}{,.U8,.S8,.U16,.S16,.64,.128}", "d m", memory::load_local),
        row("{STL}{,.U8,.U16,.64,.128,.S8,.S16}", "m r", memory::store_local),
        row("{LDS}{,.U8,.S8,.U16,.S16,.64,.128}", "d m", memory::load_shared),
        row("{STS}{,.U8,.U16,.64,.128,.S8,.S16}", "m r", memory::store_shared),
        row("QSPC.E.{S,D,G,L}", "q z m", memory::is_in_space),
        row(
            "{ATOMS}.{ADD,MIN,MAX,AND,OR,XOR,EXCH,INC,DEC}{,.S32,.64,.S64}",
            "d m r",
            memory::atomic,
        ),
        row("{ATOMS}.POPC.INC.32", "z m", memory::increment),
        row("ATOMS.ARRIVE.64", "d m", arrival::arrive),
        row("ARRIVES.LDGSTSBAR.64", "m", arrival::arrive_by_copy),
        row("{ATOMS}.CAS{,.64}", "d m r r", memory::atomic_exchange),
        row("{ATOMS}.CAST.SPIN{,.64}", "d m r r", memory::exchange_or_fail),
        row("{ATOMS}.CAST.SPIN{,.64}", "q m r r", memory::exchange_or_fail),
        row("{ATOM}.E.CAST.SPIN{,.64}.STRONG.{GPU,SYS,SM}", "q d m r r", memory::exchange_or_fail),
        row(
            "{ATOM,ATOMG}.E.ADD.{F16x2,BF16_V2}.RN.STRONG.{GPU,SYS,SM}",
            "q d m r",
            memory::atomic_halves,
        ),
        row(
            "{RED,REDG}.E.ADD.{F16x2,BF16_V2}.RN.STRONG.{GPU,SYS,SM}",
            "m r",
            memory::atomic_halves,
        ),
        row(
            "{ATOM,ATOMG}.E.{ADD,MIN,MAX,AND,OR,XOR,EXCH,INC,DEC}{,.S32,.64,.S64}.STRONG.{GPU,SYS,SM}",
            "q d m r",
            memory::atomic,
        ),
        row(
            "{ATOM,ATOMG}.E.ADD.{F32.FTZ.RN,F64.RN}.STRONG.{GPU,SYS,SM}",
            "q d m r",
            memory::atomic_float,
        ),
        row("{ATOM,ATOMG}.E.CAS{,.64}.STRONG.{GPU,SYS,SM}", "q d m r r", memory::atomic_exchange),
        row(
            "{RED,REDG}.E.{ADD,MIN,MAX,AND,OR,XOR,EXCH,INC,DEC}{,.S32,.64,.S64}.STRONG.{GPU,SYS,SM}",
            "m r",
            memory::atomic,
        ),
        row(
            "{RED,REDG}.E.ADD.{F32.FTZ.RN,F64.RN}.STRONG.{GPU,SYS,SM}",
            "m r",
            memory::atomic_float,
        ),
        row("LDGSTS.E{,.64,.128}{,.ZFILL}", "m m p?", copy::begin),
        row("LDGDEPBAR", "", copy::close),
        row("DEPBAR.LE", "s n k?", copy::wait),
        row("LDSM.16.{M88,MT88}{,.2,.4}", "d m", matrix::load_tiles),
        // Matrices.
        row("HMMA.{16816,1688}.{F32,F16,F32.BF16}", "d r r r", matrix::multiply_halves),
        row("HMMA.{1688,1684}.F32.TF32", "d r r r", matrix::multiply_tf32),
        row("IMMA.{16816,16832,8816}.{U8,S8}.{U8,S8}{,.SAT}", "d r r r", matrix::multiply_bytes),
        row("DMMA.884", "d r r r", matrix::multiply_doubles),
        row("MOVM.16.MT88", "d r", matrix::transpose),
        row("MEMBAR.{SC,ALL}.{GPU,CTA,SYS}", "", barrier::fence),
        row("{ERRBAR,CGAERRBAR,CCTL.IVALL,YIELD}", "", control::nothing),
        // A prefetch of an address without memory does nothing, either.
        row("CCTL.E.{PF1,PF2}", "m", control::nothing),
        row("NANOSLEEP", "i", control::nothing),
        row("NOP", "", barrier::sync_warp),
        row("BPT.TRAP", "n", control::trap),
        // Control flow.
        control("BRA", "p? t", control::jump),
        control("BRA.U", "p t", control::jump),
        control("BRA.{DIV,CONV}", "x t", control::jump_by_mask),
        control("BRX", "i n", control::jump_by_table),
        control("CALL.REL.NOINC", "t", control::jump),
        control("CALL.REL.NOINC", "i t", control::return_to),
        control("RET.REL.NODEC", "i t", control::return_to),
        control("EXIT", "p?", control::exit),
        control("{BSSY,BSSY.RECONVERGENT,BSSY.RELIABLE}", "b t", control::set_barrier_lanes),
        control("{BSYNC,BSYNC.RECONVERGENT,BSYNC.RELIABLE}", "b", control::wait_at_barrier),
        control("{BREAK,BREAK.RELIABLE}", "p? b", control::break_barrier),
        control("WARPSYNC{,.EXCLUSIVE}", "i", control::sync_lanes),
        control("WARPSYNC.ALL", "", control::sync_all),
        control("WARPSYNC.COLLECTIVE", "r t", control::begin_collective),
        control("ENDCOLLECTIVE", "", control::end_collective),
        control("BAR.SYNC{,.DEFER_BLOCKING}", "o", barrier::wait),
        control("BAR.SYNC{,.DEFER_BLOCKING}", "i i?", barrier::wait_named),
        control("BAR.ARV", "i i", barrier::come),
        control("BAR.RED.{OR,AND,POPC}{,.DEFER_BLOCKING}", "o p", barrier::vote),
        row("B2R.RESULT", "z", barrier::drop_result),
        row("B2R.RESULT", "d", barrier::count),
        row("B2R.RESULT", "z q", barrier::holds),
        row("BMOV.32", "b i", control::set_barrier),
        row("BMOV.32.CLEAR", "d b", control::take_barrier),
        // Exchanges among lanes.
        row("R2UR", "q? d i", vote::first),
        row("{VOTE,VOTEU}.{ANY,ALL}", "d? q p", vote::vote),
        row(
            "{REDUX,CREDUX}{,.OR,.XOR,.SUM,.MIN,.MAX,.MIN.S32,.MAX.S32,.SUM.S32}",
            "d i",
            vote::reduce,
        ),
        row("SHFL.{IDX,UP,DOWN,BFLY}", "q d i i i", vote::shuffle),
        row("MATCH.ANY{,.U64}", "d i", vote::match_any),
        row("MATCH.ALL{,.U64}", "q d i", vote::match_all),
    ]
}

/// Returns the patterns of all rows.
pub fn patterns() -> Vec<&'static str> {
    rows().iter().map(|row| row.pattern).collect()
}

/// A row, and the chosen modifiers of its pattern.
#[derive(Clone, Copy, Debug)]
pub struct RowChoice {
    /// The row.
    pub row: &'static Row,
    /// Numbers of the chosen modifiers.
    pub modifiers: [u8; 6],
}

/// Returns the rows of a mnemonic, which differ in operands; empty if the mnemonic is unknown.
pub fn known(mnemonic: &str) -> &'static [RowChoice] {
    static TABLE: OnceLock<FxHashMap<String, Vec<RowChoice>>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let mut table: FxHashMap<String, Vec<RowChoice>> = FxHashMap::default();
        for row in Box::leak(Box::new(rows())).iter() {
            for (mnemonic, modifiers) in expand(row.pattern) {
                table.entry(mnemonic).or_default().push(RowChoice { row, modifiers });
            }
        }
        table
    });
    let rows = table.get(mnemonic).or_else(|| table.get(&without_cache_hint(mnemonic)));
    rows.map_or(&[], Vec::as_slice)
}

/// Returns the mnemonic without hints for caches, which change no value: `LDG.E.64` for
/// `LDG.E.EF.64`.
fn without_cache_hint(mnemonic: &str) -> String {
    const HINTS: [&str; 9] =
        ["EF", "EL", "EU", "LU", "NA", "BYPASS", "LTC64B", "LTC128B", "LTC256B"];
    let parts = mnemonic.split('.').filter(|part| !HINTS.contains(part));
    parts.collect::<Vec<_>>().join(".")
}

/// Returns all mnemonics of a pattern.
fn expand(pattern: &str) -> Vec<(String, [u8; 6])> {
    let mut all = vec![(String::new(), [0; 6])];
    let (mut rest, mut number) = (pattern, 0);
    while let Some((before, behind)) = rest.split_once('{') {
        let (choices, behind) = behind.split_once('}').unwrap_or((behind, ""));
        let choices: Vec<&str> = choices.split(',').collect();
        let longer = |(text, taken): (String, [u8; 6])| {
            choices.clone().into_iter().enumerate().map(move |(position, modifier)| {
                let mut taken = taken;
                taken[number] = position as u8;
                (format!("{text}{before}{modifier}"), taken)
            })
        };
        all = all.into_iter().flat_map(longer).collect();
        (rest, number) = (behind, number + 1);
    }
    for (text, _) in &mut all {
        text.push_str(rest);
    }
    all
}
