//! The four channels of a Color: a copy of its audio unit, which keeps their levels for programs.

use std::iter::RepeatN;

use gbxcule_gameboy::Machine;
use gbxcule_gameboy::apu::Apu;

use crate::fields::Fields;
use crate::mixer::Levels;

/// A copy of what the machine keeps.
#[derive(Clone, Debug)]
pub(crate) struct ColorChannels {
    apu: Apu,
    div_base: u32,
}

impl ColorChannels {
    /// Channels of a machine, up to where its own are.
    pub(crate) fn of(machine: &Machine) -> Self {
        Self { apu: machine.apu, div_base: machine.timer.div_base }
    }

    /// Writes nothing down: the machine's state holds all of it.
    pub(crate) fn write_to(&self, _: &mut Vec<u8>) {}

    /// Channels of a machine.
    pub(crate) fn read(machine: &Machine, _: &mut Fields<'_>) -> Option<Self> {
        Some(Self::of(machine))
    }

    pub(crate) fn now(&self) -> u32 {
        self.apu.synced_at
    }

    pub(crate) fn apu(&self) -> &Apu {
        &self.apu
    }

    /// A write to FF10-FF3F, by the address's low byte, at the present moment.
    pub(crate) fn write(&mut self, address: u8, value: u8) {
        self.apu.write(self.now(), self.div_base, 0xff00 | u16::from(address), value);
    }

    /// A write to DIV, at the present moment.
    pub(crate) fn reset_div(&mut self, div_base: u32) {
        self.apu.div_reset(self.now(), self.div_base);
        self.div_base = div_base;
    }

    /// The machine counts from another moment, which changes nothing.
    pub(crate) fn rebase_div(&mut self, div_base: u32) {
        self.div_base = div_base;
    }

    /// M-cycles have another length from now on.
    pub(crate) fn change_speed(&mut self, is_double: bool) {
        self.apu.double_speed = is_double;
    }

    /// Lets one M-cycle pass; gives the levels of each 2 T-cycles of it, of which it has one at
    /// double speed.
    pub(crate) fn advance(&mut self) -> RepeatN<Levels> {
        let mut levels = [None; 4];
        for (channel, level) in (0..).zip(&mut levels) {
            *level = self.apu.has_dac(channel).then(|| self.apu.level(channel));
        }
        self.apu.sync(self.now().wrapping_add(1), self.div_base);
        std::iter::repeat_n(levels, if self.apu.double_speed { 1 } else { 2 })
    }
}
