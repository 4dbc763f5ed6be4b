//! Arithmetic and its flags: pure functions of the registers, no memory, no time.

use crate::cpu::{C, Cpu, H, N, Z};

#[inline(always)]
fn zero_flag(value: u8) -> u8 {
    if value == 0 { Z } else { 0 }
}

#[inline(always)]
fn flag(condition: bool, bit: u8) -> u8 {
    if condition { bit } else { 0 }
}

impl Cpu {
    #[inline(always)]
    fn add_with(&mut self, value: u8, carry: u8) {
        let sum = self.a as u32 + value as u32 + carry as u32;
        let result = sum as u8;
        let half = (self.a ^ value ^ result) & 0x10;
        self.f = zero_flag(result) | half << 1 | (sum >> 4) as u8 & C;
        self.a = result;
    }

    #[inline(always)]
    fn subtract_with(&mut self, value: u8, carry: u8) -> u8 {
        let difference = (self.a as u32).wrapping_sub(value as u32).wrapping_sub(carry as u32);
        let result = difference as u8;
        let half = (self.a ^ value ^ result) & 0x10;
        self.f = zero_flag(result) | N | half << 1 | (difference >> 4) as u8 & C;
        result
    }

    /// `ADD A,x   Z 0 H C`
    #[inline(always)]
    pub fn add(&mut self, value: u8) {
        self.add_with(value, 0);
    }

    /// `ADC A,x   Z 0 H C`
    #[inline(always)]
    pub fn adc(&mut self, value: u8) {
        self.add_with(value, self.f >> 4 & 1);
    }

    /// `SUB x   Z 1 H C`
    #[inline(always)]
    pub fn sub(&mut self, value: u8) {
        self.a = self.subtract_with(value, 0);
    }

    /// `SBC A,x   Z 1 H C`
    #[inline(always)]
    pub fn sbc(&mut self, value: u8) {
        self.a = self.subtract_with(value, self.f >> 4 & 1);
    }

    /// `CP x   Z 1 H C`
    #[inline(always)]
    pub fn cp(&mut self, value: u8) {
        self.subtract_with(value, 0);
    }

    /// `AND x   Z 0 1 0`
    #[inline(always)]
    pub fn and(&mut self, value: u8) {
        self.a &= value;
        self.f = zero_flag(self.a) | H;
    }

    /// `XOR x   Z 0 0 0`
    #[inline(always)]
    pub fn xor(&mut self, value: u8) {
        self.a ^= value;
        self.f = zero_flag(self.a);
    }

    /// `OR x   Z 0 0 0`
    #[inline(always)]
    pub fn or(&mut self, value: u8) {
        self.a |= value;
        self.f = zero_flag(self.a);
    }

    /// `INC x   Z 0 H -`
    #[inline(always)]
    pub fn inc(&mut self, value: u8) -> u8 {
        let result = value.wrapping_add(1);
        self.f = self.f & C | zero_flag(result) | flag(result & 0x0f == 0, H);
        result
    }

    /// `DEC x   Z 1 H -`
    #[inline(always)]
    pub fn dec(&mut self, value: u8) -> u8 {
        let result = value.wrapping_sub(1);
        self.f = self.f & C | zero_flag(result) | N | flag(result & 0x0f == 0x0f, H);
        result
    }

    /// `ADD HL,xx   - 0 H C`
    #[inline(always)]
    pub fn add_hl(&mut self, value: u16) {
        let hl = self.hl();
        let sum = hl as u32 + value as u32;
        let half = (hl ^ value ^ sum as u16) & 0x1000;
        self.f = self.f & Z | (half >> 7) as u8 | (sum >> 12) as u8 & C;
        self.set_hl(sum as u16);
    }

    /// SP plus a signed byte, for `ADD SP,e` and `LD HL,SP+e   0 0 H C`
    #[inline(always)]
    pub fn sp_plus(&mut self, offset: u8) -> u16 {
        let result = self.sp.wrapping_add(offset as i8 as u16);
        // The carries are those of the lower bytes added unsigned.
        let carries = self.sp ^ offset as i8 as u16 ^ result;
        self.f = flag(carries & 0x10 != 0, H) | flag(carries & 0x100 != 0, C);
        result
    }

    /// `DAA   Z - 0 C`
    pub fn daa(&mut self) {
        let mut adjust = 0;
        let mut carry = self.f & C;
        if self.f & H != 0 || self.f & N == 0 && self.a & 0x0f > 0x09 {
            adjust |= 0x06;
        }
        if carry != 0 || self.f & N == 0 && self.a > 0x99 {
            adjust |= 0x60;
            carry = C;
        }
        self.a =
            if self.f & N != 0 { self.a.wrapping_sub(adjust) } else { self.a.wrapping_add(adjust) };
        self.f = zero_flag(self.a) | self.f & N | carry;
    }

    /// `CPL   - 1 1 -`
    pub fn cpl(&mut self) {
        self.a = !self.a;
        self.f |= N | H;
    }

    /// `SCF   - 0 0 1`
    pub fn scf(&mut self) {
        self.f = self.f & Z | C;
    }

    /// `CCF   - 0 0 C`
    pub fn ccf(&mut self) {
        self.f = (self.f & (Z | C)) ^ C;
    }

    /// `RLC x   Z 0 0 C`
    #[inline(always)]
    pub fn rlc(&mut self, value: u8) -> u8 {
        let result = value.rotate_left(1);
        self.f = zero_flag(result) | flag(value & 0x80 != 0, C);
        result
    }

    /// `RRC x   Z 0 0 C`
    #[inline(always)]
    pub fn rrc(&mut self, value: u8) -> u8 {
        let result = value.rotate_right(1);
        self.f = zero_flag(result) | flag(value & 1 != 0, C);
        result
    }

    /// `RL x   Z 0 0 C`
    #[inline(always)]
    pub fn rl(&mut self, value: u8) -> u8 {
        let result = value << 1 | self.f >> 4 & 1;
        self.f = zero_flag(result) | flag(value & 0x80 != 0, C);
        result
    }

    /// `RR x   Z 0 0 C`
    #[inline(always)]
    pub fn rr(&mut self, value: u8) -> u8 {
        let result = value >> 1 | self.f << 3 & 0x80;
        self.f = zero_flag(result) | flag(value & 1 != 0, C);
        result
    }

    /// `SLA x   Z 0 0 C`
    #[inline(always)]
    pub fn sla(&mut self, value: u8) -> u8 {
        let result = value << 1;
        self.f = zero_flag(result) | flag(value & 0x80 != 0, C);
        result
    }

    /// `SRA x   Z 0 0 C`
    #[inline(always)]
    pub fn sra(&mut self, value: u8) -> u8 {
        let result = value >> 1 | value & 0x80;
        self.f = zero_flag(result) | flag(value & 1 != 0, C);
        result
    }

    /// `SWAP x   Z 0 0 0`
    #[inline(always)]
    pub fn swap(&mut self, value: u8) -> u8 {
        self.f = zero_flag(value);
        value.rotate_left(4)
    }

    /// `SRL x   Z 0 0 C`
    #[inline(always)]
    pub fn srl(&mut self, value: u8) -> u8 {
        let result = value >> 1;
        self.f = zero_flag(result) | flag(value & 1 != 0, C);
        result
    }

    /// `BIT n,x   Z 0 1 -`
    #[inline(always)]
    pub fn bit(&mut self, number: u8, value: u8) {
        self.f = self.f & C | H | flag(value >> number & 1 == 0, Z);
    }
}
