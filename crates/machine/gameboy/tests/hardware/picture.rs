//! Whole pictures compared with one that is computed pixel by pixel by the rules of Pan Docs for
//! tiles, maps, the window and objects.

use gbxcule_gameboy::ppu::write_ppu;
use gbxcule_gameboy::{Cartridge, Machine};
use proptest::prelude::*;

/// Settings that do not change while a frame is drawn.
#[derive(Clone, Debug)]
struct Scene {
    seed: u64,
    lcdc: u8,
    scroll: (u8, u8),
    palettes: [u8; 3],
    window: (u8, u8),
    /// Number of the 40 objects that lie in a few lines.
    crowd: usize,
}

fn scenes() -> impl Strategy<Value = Scene> {
    // WX = 0 and 166 have bugs of their own.
    let window = (0u8..170, prop_oneof![3 => 7u8..166, 1 => 1u8..7, 1 => 167u8..]);
    (any::<u64>(), any::<u8>(), any::<(u8, u8)>(), any::<[u8; 3]>(), window, 0usize..40).prop_map(
        |(seed, lcdc, scroll, palettes, window, crowd)| Scene {
            seed,
            lcdc: lcdc | 0x80,
            scroll,
            palettes,
            window,
            crowd,
        },
    )
}

struct Memory {
    vram: [u8; 0x2000],
    oam: [u8; 160],
}

fn memory(scene: &Scene) -> Memory {
    let mut random = crate::noise::bytes(scene.seed);
    let mut memory = Memory { vram: [0; 0x2000], oam: [0; 160] };
    memory.vram.fill_with(&mut random);
    memory.oam.fill_with(&mut random);
    for object in memory.oam.chunks_mut(4).take(scene.crowd) {
        object[0] = 60 + object[0] % 24;
        object[1] %= 176;
    }
    memory
}

/// The shade of each pixel.
fn expected(scene: &Scene, memory: &Memory) -> Vec<u8> {
    let mut picture = Vec::new();
    let mut window_line = 0;
    let (wy, wx) = scene.window;
    for y in 0..144u8 {
        let objects = objects_on(scene, memory, y);
        let window_here = scene.lcdc & 0x20 != 0 && y >= wy && wx <= 166;
        for x in 0..160u8 {
            let in_window = window_here && u16::from(x) + 7 >= u16::from(wx);
            let background = if scene.lcdc & 0x01 == 0 {
                0
            } else if in_window {
                tile_pixel(scene, memory, scene.lcdc & 0x40, (x + 7).wrapping_sub(wx), window_line)
            } else {
                let (scy, scx) = scene.scroll;
                tile_pixel(
                    scene,
                    memory,
                    scene.lcdc & 0x08,
                    x.wrapping_add(scx),
                    y.wrapping_add(scy),
                )
            };
            let object =
                objects.iter().find_map(|object| object_pixel(scene, memory, object, x, y));
            picture.push(match object {
                Some((colour, flags)) if flags & 0x80 == 0 || background == 0 => {
                    scene.palettes[if flags & 0x10 != 0 { 2 } else { 1 }] >> (2 * colour) & 3
                }
                _ => scene.palettes[0] >> (2 * background) & 3,
            });
        }
        window_line += u8::from(window_here);
    }
    picture
}

// Pan Docs "Tile Data" and "Tile Maps".
fn tile_pixel(scene: &Scene, memory: &Memory, high_map: u8, x: u8, y: u8) -> u8 {
    let map = if high_map != 0 { 0x1c00 } else { 0x1800 };
    let tile = memory.vram[map + usize::from(y / 8) * 32 + usize::from(x / 8)];
    let number = if scene.lcdc & 0x10 != 0 || tile >= 128 {
        usize::from(tile)
    } else {
        256 + usize::from(tile)
    };
    colour(memory, number, x % 8, y % 8)
}

fn colour(memory: &Memory, tile: usize, x: u8, y: u8) -> u8 {
    let row = tile * 16 + usize::from(y) * 2;
    (memory.vram[row] >> (7 - x) & 1) | (memory.vram[row + 1] >> (7 - x) & 1) << 1
}

// Pan Docs "Object Priority and Conflicts": the first ten of the line in OAM; of these the leftmost
// wins, then the first.
fn objects_on(scene: &Scene, memory: &Memory, y: u8) -> Vec<[u8; 4]> {
    if scene.lcdc & 0x02 == 0 {
        return Vec::new();
    }
    let height = if scene.lcdc & 0x04 != 0 { 16 } else { 8 };
    let all = memory.oam.chunks(4).map(|object| [object[0], object[1], object[2], object[3]]);
    let on_line = all.filter(|object| {
        (i16::from(object[0])..i16::from(object[0]) + height).contains(&(i16::from(y) + 16))
    });
    let mut found: Vec<[u8; 4]> = on_line.take(10).collect();
    found.sort_by_key(|object| object[1]);
    found
}

fn object_pixel(
    scene: &Scene,
    memory: &Memory,
    object: &[u8; 4],
    x: u8,
    y: u8,
) -> Option<(u8, u8)> {
    let [top, left, tile, flags] = *object;
    let column = (x + 8).wrapping_sub(left);
    if x + 8 < left || column >= 8 {
        return None;
    }
    let tall = scene.lcdc & 0x04 != 0;
    let height = if tall { 16 } else { 8 };
    let mut row = y + 16 - top;
    if flags & 0x40 != 0 {
        row = height - 1 - row;
    }
    let tile =
        if tall { usize::from(tile & 0xfe) + usize::from(row / 8) } else { usize::from(tile) };
    let column = if flags & 0x20 != 0 { 7 - column } else { column };
    match colour(memory, tile, column, row % 8) {
        0 => None,
        colour => Some((colour, flags)),
    }
}

/// The second frame of a program that does nothing, or writes BGP all the time, so that every line
/// is drawn dot by dot.
fn drawn(scene: &Scene, memory: &Memory, busy: bool) -> Vec<u8> {
    let mut rom = vec![0; 0x8000];
    let wait: &[u8] = if busy { &[0xe0, 0x47, 0x18, 0xfc] } else { &[0x18, 0xfe] };
    rom[0x100..0x100 + wait.len()].copy_from_slice(wait);
    let cartridge = Cartridge::from_rom(&rom).unwrap();
    let mut machine = Machine::power_on(&cartridge);
    (machine.vram, machine.oam) = (memory.vram, memory.oam);
    let ([bgp, obp0, obp1], (scy, scx), (wy, wx)) = (scene.palettes, scene.scroll, scene.window);
    let registers = [bgp, obp0, obp1, wy, wx, scy, scx, scene.lcdc];
    for (low, value) in [0x47, 0x48, 0x49, 0x4a, 0x4b, 0x42, 0x43, 0x40].into_iter().zip(registers)
    {
        write_ppu(&mut machine, low, value);
    }
    machine.cpu.a = bgp;
    machine.run_frame(&rom, &mut [], false);
    machine.run_frame(&rom, &mut [], true);
    machine
        .frame
        .iter()
        .flat_map(|byte| [byte >> 6, byte >> 4 & 3, byte >> 2 & 3, byte & 3])
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn every_pixel_is_the_one_that_registers_and_memory_say(scene in scenes(), busy: bool) {
        let memory = memory(&scene);
        let (seen, expected) = (drawn(&scene, &memory, busy), expected(&scene, &memory));
        if let Some(at) = seen.iter().zip(&expected).position(|(seen, expected)| seen != expected) {
            prop_assert!(false, "pixel {}, {}: {}, not {}", at % 160, at / 160, seen[at], expected[at]);
        }
    }
}
