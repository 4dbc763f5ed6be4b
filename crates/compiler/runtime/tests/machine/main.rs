//! The machine, translated and compiled in this process, is equal to rustc's in every byte, on all
//! ROMs.

mod kernel;

use gbxcule_gameboy::{Cartridge, Machine};
use gbxcule_runtime::{Array, Build, Compiled, DataType, Device, Kernel, compile};
use gbxcule_testkit::machine_image::Image;
use std::sync::{Arc, OnceLock};

/// Returns the translated machine with a kernel that runs one frame of each machine of an array.
fn compiled() -> &'static Arc<Compiled> {
    static COMPILED: OnceLock<Arc<Compiled>> = OnceLock::new();
    COMPILED.get_or_init(|| {
        compile(&kernel::module(), Device::Cpu, Build::default()).expect("machine code")
    })
}

/// Machines with one cartridge, run by rustc's code and by our compiler's.
struct Pair {
    kernel: Kernel,
    image: Image,
    cartridge: Cartridge,
    rom: Vec<u8>,
    natives: Vec<(Machine, Vec<u8>)>,
    machines: Array,
    rom_array: Array,
    rams: Array,
}

impl Pair {
    fn new(rom: &[u8], count: usize) -> Self {
        let compiled = compiled();
        let module = compiled.module();
        let cartridge = Cartridge::from_rom(rom).expect("a ROM that runs");
        let mut rom = rom.to_vec();
        rom.resize(cartridge.padded_len(), 0xff);
        let ram_bytes = cartridge.ram_bytes as usize;
        let natives = vec![(Machine::power_on(&cartridge), vec![0; ram_bytes]); count];
        let image = Image::new(&module.types);
        let run = module.find("Machine::run_frame").expect("an entry point");
        let machine = module.functions[run].params[0].ty;
        let data_type = DataType::of(module, machine).expect("no arrays inside");
        let bytes = image.of(&natives[0].0, &cartridge, &natives[0].1).repeat(count);
        let stride = image.size as isize;
        let machines =
            Array::from_bytes(&bytes, data_type, 0, &[count], &[stride]).expect("an array");
        let rom_array = Array::from_slice(&rom);
        let u8s = rom_array.data_type().clone();
        let rams = Array::zeros(u8s, &[count, ram_bytes]).expect("an array");
        let kernel = compiled.kernel("run_frame").expect("the kernel");
        Self { kernel, image, cartridge, rom, natives, machines, rom_array, rams }
    }

    fn run_frame(&mut self, buttons: &[u8], draw: bool) {
        for ((machine, ram), &pressed) in self.natives.iter_mut().zip(buttons) {
            machine.set_buttons(pressed);
            machine.run_frame(&self.rom, ram, draw);
        }
        let args = [
            (&self.machines).into(),
            (&self.rom_array).into(),
            (&self.rams).into(),
            Array::from_slice(buttons).into(),
            draw.into(),
        ];
        self.kernel.launch(&[buttons.len()], &args).expect("no fault");
    }

    fn assert_equal(&self, when: &str) {
        let images = self.machines.memory_bytes().expect("its bytes");
        let rams = self.rams.memory_bytes().expect("its bytes");
        for (env, (native, ram)) in self.natives.iter().enumerate() {
            assert!(rams[env * ram.len()..][..ram.len()] == **ram, "{when}, {env}: cartridge RAM");
            let ours = &images[env * self.image.size..][..self.image.size];
            if *ours != *self.image.of(native, &self.cartridge, ram) {
                let ours = self.image.machine(ours, native, &self.cartridge, &mut ram.clone());
                match ours.first_difference(native) {
                    Some(difference) => panic!("{when}, {env}: {difference}"),
                    None => panic!("{when}, {env}: padding was written"),
                }
            }
        }
    }
}

/// Returns the buttons that each of `count` machines presses in a frame.
fn buttons(count: usize, frame: u32) -> Vec<u8> {
    let hash = |env: usize| (frame / 5).wrapping_mul(0x9e37_79b9) ^ (env as u32) << 13;
    (0..count).map(|env| (hash(env).wrapping_mul(0x85eb_ca6b) >> 24) as u8).collect()
}

#[test]
fn every_rom_runs_alike_for_many_frames() {
    for rom in gbxcule_assembler::all() {
        let mut pair = Pair::new(rom.bytes(), 3);
        for frame in 0..120 {
            pair.run_frame(&buttons(3, frame), frame % 8 == 7);
            pair.assert_equal(&format!("{} after frame {frame}", rom.name));
        }
    }
}

#[test]
#[ignore = "measures"]
fn speed_beside_native() {
    let began = std::time::Instant::now();
    compiled();
    println!("compiled in {:?}", began.elapsed());
    for rom in gbxcule_assembler::all() {
        let mut pair = Pair::new(rom.bytes(), 1);
        let (mut native, mut ours) = (0.0, 0.0);
        for frame in 0..300 {
            let pressed = buttons(1, frame);
            let began = std::time::Instant::now();
            let (machine, ram) = &mut pair.natives[0];
            machine.set_buttons(pressed[0]);
            machine.run_frame(&pair.rom, ram, false);
            native += began.elapsed().as_secs_f64();
            let args = [
                (&pair.machines).into(),
                (&pair.rom_array).into(),
                (&pair.rams).into(),
                Array::from_slice(&pressed).into(),
                false.into(),
            ];
            let began = std::time::Instant::now();
            pair.kernel.launch(&[1], &args).expect("no fault");
            ours += began.elapsed().as_secs_f64();
        }
        pair.assert_equal(rom.name);
        println!(
            "{:24} native {:8.0}  ours {:8.0} frames/s",
            rom.name,
            300.0 / native,
            300.0 / ours
        );
    }
}
