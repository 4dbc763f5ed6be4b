//! Two copies of one machine: rustc's, and the translated one in the interpreter.

use gbxcule_gameboy::{Cartridge, Machine};
use gbxcule_interp::{self as interp, Argument, Array, Buffer};
use gbxcule_ir::Module;
use gbxcule_ir::check::Valid;
use gbxcule_testkit::machine_image::Image;

pub(crate) struct Twin<'m> {
    pub(crate) native: Machine,
    pub(crate) cart_ram: Vec<u8>,
    cartridge: Cartridge,
    rom: Vec<u8>,
    module: &'m Valid<Module>,
    image: Image,
    interpreter: interp::Interpreter<'m>,
    machine: Buffer,
    roms: [Array; 2],
    ram: Buffer,
}

impl<'m> Twin<'m> {
    pub(crate) fn new(module: &'m Valid<Module>, rom: &[u8]) -> Self {
        let cartridge = Cartridge::from_rom(rom).expect("a ROM that runs");
        let mut rom = rom.to_vec();
        rom.resize(cartridge.padded_len(), 0xff);
        let cart_ram = vec![0; cartridge.ram_bytes as usize];
        let native = Machine::power_on(&cartridge);
        let image = Image::new(&module.types);
        let mut interpreter = interp::Interpreter::new(module);
        interpreter.budget = u64::MAX;
        let memory = &mut interpreter.memory;
        let machine = memory.add(image.of(&native, &cartridge, &cart_ram));
        let (code, ram) = (memory.add(rom.clone()), memory.add(cart_ram.clone()));
        let roms = [
            Array::dense(code, 1, &[rom.len() as u32]),
            Array::dense(ram, 1, &[cart_ram.len() as u32]),
        ];
        Self { native, cart_ram, cartridge, rom, module, image, interpreter, machine, roms, ram }
    }

    /// Copies the state of the native machine to the translated one.
    pub(crate) fn copy_native(&mut self) {
        let image = self.image.of(&self.native, &self.cartridge, &self.cart_ram);
        self.interpreter.memory.bytes_mut(self.machine).copy_from_slice(&image);
        self.interpreter.memory.bytes_mut(self.ram).copy_from_slice(&self.cart_ram);
    }

    fn call(&mut self, function: &str, rest: &[Argument]) -> Vec<u8> {
        let function = self.module.find(function).expect("an entry point");
        let mut args = vec![Argument::Place(self.machine.into())];
        args.extend_from_slice(rest);
        self.interpreter.call(function, &args).unwrap_or_else(|failure| panic!("{failure:?}"))
    }

    pub(crate) fn begin_frame(&mut self, draw: bool) {
        self.native.begin_frame(draw);
        self.call("Machine::begin_frame", &[Argument::Bytes(vec![u8::from(draw)])]);
    }

    pub(crate) fn set_buttons(&mut self, pressed: u8) {
        self.native.set_buttons(pressed);
        self.call("Machine::set_buttons", &[pressed.into()]);
    }

    pub(crate) fn run_frame(&mut self, draw: bool) {
        self.native.run_frame(&self.rom, &mut self.cart_ram, draw);
        let [rom, ram] = self.roms;
        let draw = Argument::Bytes(vec![u8::from(draw)]);
        self.call("Machine::run_frame", &[rom.into(), ram.into(), draw]);
    }

    /// Returns true if the frame ended.
    pub(crate) fn run_instruction(&mut self) -> bool {
        let native = self.native.run_instruction(&self.rom, &mut self.cart_ram);
        let [rom, ram] = self.roms;
        let ours = self.call("Machine::run_instruction", &[rom.into(), ram.into()]);
        assert_eq!(ours, [u8::from(native)], "whether the frame ended");
        native
    }

    /// Compares every byte of both machines.
    pub(crate) fn assert_equal(&self, when: &str) {
        let memory = &self.interpreter.memory;
        assert!(memory.bytes(self.ram) == self.cart_ram, "{when}: cartridge RAM differs");
        let ours = memory.bytes(self.machine);
        if *ours != *self.image.of(&self.native, &self.cartridge, &self.cart_ram) {
            let mut ram = self.cart_ram.clone();
            let ours = self.image.machine(ours, &self.native, &self.cartridge, &mut ram);
            match ours.first_difference(&self.native) {
                Some(difference) => panic!("{when}: {difference}"),
                None => panic!("{when}: padding was written"),
            }
        }
    }
}
