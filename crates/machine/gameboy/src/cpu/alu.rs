//! Arithmetic and its flags: functions of the registers, no memory, no time.

use crate::cpu::Cpu;

/// Flag H among the carries.
const HALF: u16 = 0x010;
/// Flag C among the carries.
const FULL: u16 = 0x100;
/// Flag N, beside the carries.
const SUBTRACTED: u16 = 0x200;

impl Cpu {
    /// Flag Z.
    #[inline(always)]
    pub(crate) fn is_zero(&self) -> bool {
        self.zero == 0
    }

    /// Flag C.
    #[inline(always)]
    pub(crate) fn is_carry(&self) -> bool {
        self.carries & FULL != 0
    }

    #[inline(always)]
    pub(super) fn carry(&self) -> u16 {
        self.carries >> 8 & 1
    }

    #[inline(always)]
    fn set_flags(&mut self, result: u8, carries: u16) {
        self.zero = result;
        self.carries = carries;
    }

    #[inline(always)]
    fn add_with(&mut self, value: u8, carry: u16) {
        let sum = self.a as u16 + value as u16 + carry;
        self.set_flags(sum as u8, self.a as u16 ^ value as u16 ^ sum);
        self.a = sum as u8;
    }

    #[inline(always)]
    fn subtract_with(&mut self, value: u8, carry: u16) -> u8 {
        let difference = (self.a as u16).wrapping_sub(value as u16).wrapping_sub(carry);
        self.set_flags(difference as u8, self.a as u16 ^ value as u16 ^ difference | SUBTRACTED);
        difference as u8
    }

    /// `ADD A,x   Z 0 H C`
    #[inline(always)]
    pub(crate) fn add(&mut self, value: u8) {
        self.add_with(value, 0);
    }

    /// `ADC A,x   Z 0 H C`
    #[inline(always)]
    pub(crate) fn adc(&mut self, value: u8) {
        self.add_with(value, self.carry());
    }

    /// `SUB x   Z 1 H C`
    #[inline(always)]
    pub(crate) fn sub(&mut self, value: u8) {
        self.a = self.subtract_with(value, 0);
    }

    /// `SBC A,x   Z 1 H C`
    #[inline(always)]
    pub(crate) fn sbc(&mut self, value: u8) {
        self.a = self.subtract_with(value, self.carry());
    }

    /// `CP x   Z 1 H C`
    #[inline(always)]
    pub(crate) fn cp(&mut self, value: u8) {
        self.subtract_with(value, 0);
    }

    /// `AND x   Z 0 1 0`
    #[inline(always)]
    pub(crate) fn and(&mut self, value: u8) {
        self.a &= value;
        self.set_flags(self.a, HALF);
    }

    /// `XOR x   Z 0 0 0`
    #[inline(always)]
    pub(crate) fn xor(&mut self, value: u8) {
        self.a ^= value;
        self.set_flags(self.a, 0);
    }

    /// `OR x   Z 0 0 0`
    #[inline(always)]
    pub(crate) fn or(&mut self, value: u8) {
        self.a |= value;
        self.set_flags(self.a, 0);
    }

    /// `INC x   Z 0 H -`
    #[inline(always)]
    pub(crate) fn inc(&mut self, value: u8) -> u8 {
        let result = value.wrapping_add(1);
        self.set_flags(result, self.carries & FULL | (value ^ result) as u16 & HALF);
        result
    }

    /// `DEC x   Z 1 H -`
    #[inline(always)]
    pub(crate) fn dec(&mut self, value: u8) -> u8 {
        let result = value.wrapping_sub(1);
        self.set_flags(result, self.carries & FULL | (value ^ result) as u16 & HALF | SUBTRACTED);
        result
    }

    /// `ADD HL,xx   - 0 H C`
    #[inline(always)]
    pub(crate) fn add_hl(&mut self, value: u16) {
        let hl = self.hl();
        let sum = hl as u32 + value as u32;
        // The flags are those of the upper bytes' sum.
        self.set_flags(self.zero, ((hl as u32 ^ value as u32 ^ sum) >> 8) as u16);
        self.set_hl(sum as u16);
    }

    /// SP plus a signed byte, for `ADD SP,e` and `LD HL,SP+e   0 0 H C`
    #[inline(always)]
    pub(crate) fn sp_plus(&mut self, offset: u8) -> u16 {
        let offset = offset as i8 as u16;
        let sum = self.sp.wrapping_add(offset);
        // The flags are those of the lower bytes' sum.
        self.set_flags(1, (self.sp ^ offset ^ sum) & (HALF | FULL));
        sum
    }

    /// `DAA   Z - 0 C`
    #[inline(always)]
    pub(crate) fn daa(&mut self) {
        let mut adjust = 0;
        let subtracted = self.carries & SUBTRACTED != 0;
        let mut carries = self.carries & (FULL | SUBTRACTED);
        if self.carries & HALF != 0 || !subtracted && self.a & 0x0f > 0x09 {
            adjust |= 0x06;
        }
        if carries & FULL != 0 || !subtracted && self.a > 0x99 {
            adjust |= 0x60;
            carries |= FULL;
        }
        self.a = if subtracted { self.a.wrapping_sub(adjust) } else { self.a.wrapping_add(adjust) };
        self.set_flags(self.a, carries);
    }

    /// `CPL   - 1 1 -`
    #[inline(always)]
    pub(crate) fn cpl(&mut self) {
        self.a = !self.a;
        self.set_flags(self.zero, self.carries | HALF | SUBTRACTED);
    }

    /// `SCF   - 0 0 1`
    #[inline(always)]
    pub(crate) fn scf(&mut self) {
        self.set_flags(self.zero, FULL);
    }

    /// `CCF   - 0 0 C`
    #[inline(always)]
    pub(crate) fn ccf(&mut self) {
        self.set_flags(self.zero, !self.carries & FULL);
    }

    /// Sets the flags of a shift, and returns its result   `Z 0 0 C`
    #[inline(always)]
    pub(super) fn shifted(&mut self, result: u8, carry: u8) -> u8 {
        self.set_flags(result, (carry as u16) << 8);
        result
    }

    /// `RLCA`, `RRCA`, `RLA` and `RRA` set A like their namesakes but clear Z   `0 0 0 C`
    #[inline(always)]
    pub(crate) fn set_a_nonzero(&mut self, result: u8) {
        self.a = result;
        self.zero = 1;
    }

    /// `BIT n,x   Z 0 1 -`
    #[inline(always)]
    pub(crate) fn bit(&mut self, number: u8, value: u8) {
        self.set_flags(value & 1 << number, self.carries & FULL | HALF);
    }
}
