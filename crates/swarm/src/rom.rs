//! A ROM ready to run: its header understood, its bytes padded to what the machine indexes without
//! a check.

use std::sync::Arc;

use gbxcule_gameboy::Cartridge;

use crate::SwarmError;

/// One ROM, shared by all machines of a swarm.
#[derive(Debug, Clone)]
pub struct Rom {
    cartridge: Cartridge,
    bytes: Arc<[u8]>,
}

impl Rom {
    /// Understand the header and pad with 0xFF, as an empty ROM chip reads.
    ///
    /// # Errors
    /// The header is damaged or asks for a mapper that does not exist here.
    pub fn new(bytes: &[u8]) -> Result<Self, SwarmError> {
        let cartridge = Cartridge::from_rom(bytes)?;
        let mut padded = bytes.to_vec();
        padded.resize(cartridge.rom_bytes as usize, 0xFF);
        Ok(Self { cartridge, bytes: padded.into() })
    }

    /// The facts that the cartridge's header states.
    #[must_use]
    pub fn cartridge(&self) -> &Cartridge {
        &self.cartridge
    }

    /// The padded bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The padded bytes, to be kept.
    pub(crate) fn shared_bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// Bytes of cartridge RAM that each machine needs.
    #[must_use]
    pub fn cart_ram_bytes(&self) -> usize {
        self.cartridge.ram_bytes as usize
    }
}
