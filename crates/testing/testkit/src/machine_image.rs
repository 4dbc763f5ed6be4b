//! Conversions between the machine's memory image and the native machine, by the names of the
//! fields.
//!
//! A saved state holds every scalar of the machine in the order of its field list, without gaps;
//! in the image each scalar lies at the offset that `layout` gives. So one walk over the struct's
//! type serves both directions.

use gbxcule_gameboy::state::PREAMBLE_BYTES;
use gbxcule_gameboy::{Cartridge, Machine};
use gbxcule_ir::layout::{Leaf, leaves};
use gbxcule_ir::{Shape, Types};

/// Offsets of the machine's scalars in its image, in the order of a state.
pub struct Image {
    /// Offset in the image and number of bytes of each run of scalars that are neighbours in both.
    runs: Vec<(usize, usize)>,
    /// Number of bytes of the image.
    pub size: usize,
}

impl Image {
    /// Finds the machine among the types of a translation.
    pub fn new(types: &Types) -> Self {
        let machine = types.structs().iter().find(|(_, item)| item.name == "Machine");
        let (id, _) = machine.expect("the machine's struct");
        let ty = types.find(&Shape::Struct(id)).expect("its type");
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for Leaf { offset, scalar, .. } in leaves(types, ty) {
            let bytes = scalar.bytes() as usize;
            match runs.last_mut() {
                Some((begin, length)) if *begin + *length == offset => *length += bytes,
                _ => runs.push((offset, bytes)),
            }
        }
        Self { runs, size: types.layout(ty).expect("a layout").size as usize }
    }

    /// Returns the image of a native machine.
    pub fn of(&self, machine: &Machine, cartridge: &Cartridge, cart_ram: &[u8]) -> Vec<u8> {
        let mut state = vec![0; machine.state_len(cartridge)];
        machine.save_state(cartridge, cart_ram, &mut state).expect("a buffer that fits");
        let mut image = vec![0; self.size];
        let mut at = PREAMBLE_BYTES;
        for &(offset, bytes) in &self.runs {
            image[offset..offset + bytes].copy_from_slice(&state[at..at + bytes]);
            at += bytes;
        }
        assert_eq!(at + cart_ram.len(), state.len(), "the state holds other fields");
        image
    }

    /// Returns the native machine of an image, made from another machine with the same cartridge.
    pub fn machine(
        &self,
        image: &[u8],
        like: &Machine,
        cartridge: &Cartridge,
        cart_ram: &mut [u8],
    ) -> Machine {
        let mut state = vec![0; like.state_len(cartridge)];
        like.save_state(cartridge, cart_ram, &mut state).expect("a buffer that fits");
        let mut at = PREAMBLE_BYTES;
        for &(offset, bytes) in &self.runs {
            state[at..at + bytes].copy_from_slice(&image[offset..offset + bytes]);
            at += bytes;
        }
        Machine::load_state(cartridge, &state, cart_ram).expect("a state that makes sense")
    }
}
