//! A machine with a ROM in it, for the tests of the games and of the assembler.

use gbxcule_gameboy::Cartridge;

/// Buttons as `Machine::set_buttons` takes them.
pub(crate) const RIGHT: u8 = 0x01;
pub(crate) const LEFT: u8 = 0x02;
pub(crate) const UP: u8 = 0x04;
pub(crate) const DOWN: u8 = 0x08;
pub(crate) const A: u8 = 0x10;
pub(crate) const B: u8 = 0x20;
pub(crate) const SELECT: u8 = 0x40;
pub(crate) const START: u8 = 0x80;

/// Beginning of a scripted player's game.
#[derive(Clone, Copy)]
pub(crate) enum Begin {
    /// So many frames later than other games.
    Later(u32),
    /// As `make_vec(levels=..)` begins this level.
    Level(u32),
    /// A level as `make_vec(levels=.., variant=..)` begins it, with this byte at `Variant`.
    Variant(u32, u8),
}

impl Begin {
    /// Number of frames from power-on to the title on which `python/gbxcule/game.py` writes the
    /// level seed and presses START.
    const LEVEL_FRAMES: u32 = 120;

    /// Number of frames that a try of a player who waits begins later than the try before.
    pub(crate) const TRY_FRAMES: u32 = 37;

    /// Returns the first game of a level that is won, or the last try. Tries have numbers from 0
    /// on, by which the player varies its play. Games without a level are played once.
    pub(crate) fn first_good<Played>(
        self,
        game: impl Fn(u32) -> Played,
        is_good: impl Fn(&Played) -> bool,
    ) -> Played {
        let tries = if matches!(self, Begin::Later(_)) { 1 } else { 16 };
        (0..tries - 1).map(&game).find(is_good).unwrap_or_else(|| game(tries - 1))
    }
}

/// The random state of all games, and the bits of their variants.
const RANDOM: u16 = 0xC00C;
const VARIANT: u16 = 0xDFAB;

/// Returns the level seed of a level, as `python/gbxcule/game.py` has it: another for each of
/// 65,535 levels, and never 0.
pub(crate) fn level_seed(level: u32) -> u16 {
    (1 + level * 40_507 % 65_535) as u16
}

/// Returns the address of a label of a game's source.
pub(crate) fn label(game: &str, name: &str) -> u16 {
    let rom = gbxcule_assembler::by_name(game).unwrap_or_else(|| panic!("no ROM {game}")).rom();
    rom.address(name).unwrap_or_else(|| panic!("no label {name} in {game}"))
}

/// Defines a console of a model: the two machines have the same calls.
macro_rules! console {
    ($name:ident, $machine:ty) => {
        #[derive(Clone)]
        pub(crate) struct $name {
            machine: $machine,
            rom: Vec<u8>,
            cart_ram: Vec<u8>,
            /// Number of frames run so far.
            pub(crate) frames: u32,
        }

        impl $name {
            pub(crate) fn with(name: &str) -> $name {
                let rom =
                    gbxcule_assembler::by_name(name).unwrap_or_else(|| panic!("no ROM {name}"));
                $name::of(rom.bytes())
            }

            pub(crate) fn of(rom: &[u8]) -> $name {
                let cartridge = Cartridge::from_rom(rom).unwrap_or_else(|error| panic!("{error}"));
                $name {
                    machine: <$machine>::power_on(&cartridge),
                    rom: rom.to_vec(),
                    cart_ram: vec![0xFF; cartridge.ram_bytes as usize],
                    frames: 0,
                }
            }

            /// Runs a number of frames and draws the last one.
            pub(crate) fn run(&mut self, frames: u32) {
                self.frames += frames;
                for left in (0..frames).rev() {
                    self.machine.run_frame(&self.rom, &mut self.cart_ram, left == 0);
                }
            }

            /// Returns a console on the title of a game that is about to begin, after `wait` frames
            /// where no level is named.
            pub(crate) fn begun(name: &str, begin: Begin, wait: u32) -> $name {
                let mut console = $name::with(name);
                let (level, variant) = match begin {
                    Begin::Later(frames) => {
                        console.run(wait + frames);
                        return console;
                    }
                    Begin::Level(level) => (level, 0),
                    Begin::Variant(level, bits) => (level, bits),
                };
                console.run(Begin::LEVEL_FRAMES);
                console.poke_word(RANDOM, level_seed(level));
                console.poke(VARIANT, variant);
                console
            }

            pub(crate) fn hold(&mut self, buttons: u8) {
                self.machine.set_buttons(buttons);
            }

            pub(crate) fn peek(&self, address: u16) -> u8 {
                self.machine.peek(&self.rom, &self.cart_ram, address)
            }

            /// Returns the bytes at some addresses.
            pub(crate) fn peek_all<const N: usize>(&self, addresses: [u16; N]) -> [u8; N] {
                addresses.map(|address| self.peek(address))
            }

            /// Changes a byte of RAM, to reach a state that play reaches seldom.
            pub(crate) fn poke(&mut self, address: u16, value: u8) {
                self.machine.poke(&self.rom, &mut self.cart_ram, address, value);
            }

            pub(crate) fn poke_word(&mut self, address: u16, value: u16) {
                let [low, high] = value.to_le_bytes();
                self.poke(address, low);
                self.poke(address + 1, high);
            }

            pub(crate) fn word(&self, address: u16) -> u16 {
                u16::from_le_bytes([self.peek(address), self.peek(address + 1)])
            }

            pub(crate) fn range(&self, from: u16, to: u16) -> Vec<u8> {
                (from..to).map(|address| self.peek(address)).collect()
            }
        }
    };
}

console!(Console, gbxcule_gameboy::Machine);
console!(ColorConsole, gbxcule_gameboy_color::Machine);

impl Console {
    /// Returns a console with a copy of a machine whose cartridge has no RAM.
    pub(crate) fn of_machine(machine: gbxcule_gameboy::Machine, rom: &[u8]) -> Self {
        Self { machine, rom: rom.to_vec(), cart_ram: Vec::new(), frames: 0 }
    }

    /// Returns the picture as shades from 0 to 3, row by row.
    pub(crate) fn shades(&self) -> Vec<u8> {
        let quad = |byte: &u8| [byte >> 6, byte >> 4 & 3, byte >> 2 & 3, byte & 3];
        self.machine.frame.iter().flat_map(quad).collect()
    }
}

impl ColorConsole {
    /// Returns the picture as the hardware's words, row by row.
    pub(crate) fn colors(&self) -> Vec<u16> {
        let word = |pair: &[u8]| u16::from_le_bytes([pair[0], pair[1]]);
        self.machine.frame.chunks(2).map(word).collect()
    }

    /// Returns both banks of video memory.
    pub(crate) fn video_memory(&self) -> &[u8] {
        &self.machine.vram
    }
}
