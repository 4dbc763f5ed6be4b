//! A ROM ready to run: its header understood, its bytes padded to what the machine indexes without
//! a check.

use std::sync::Arc;

use gbxcule_gameboy::{Cartridge, Model};

use crate::SwarmError;

/// One ROM, shared by all machines of a swarm.
#[derive(Debug, Clone)]
pub struct Rom {
    cartridge: Cartridge,
    model: Model,
    bytes: Arc<[u8]>,
}

impl Rom {
    /// Reads the header and pads with 0xFF, as an empty ROM chip reads; for the Color if the
    /// program runs on nothing else.
    ///
    /// # Errors
    /// The header is damaged or asks for a mapper that does not exist here.
    pub fn new(bytes: &[u8]) -> Result<Self, SwarmError> {
        Self::for_model(bytes, None)
    }

    /// Does what [`Rom::new`] does, for machines of a model; `None` chooses by the header.
    ///
    /// # Errors
    /// As [`Rom::new`], or the program does not run on that model.
    pub fn for_model(bytes: &[u8], model: Option<Model>) -> Result<Self, SwarmError> {
        let cartridge = Cartridge::from_rom(bytes)?;
        let model = model.unwrap_or(match cartridge.check_model(Model::Original) {
            Ok(()) => Model::Original,
            Err(_) => Model::Color,
        });
        cartridge.check_model(model)?;
        let mut padded = bytes.to_vec();
        padded.resize(cartridge.rom_bytes as usize, 0xFF);
        Ok(Self { cartridge, model, bytes: padded.into() })
    }

    /// The facts that the cartridge's header states.
    #[must_use]
    pub fn cartridge(&self) -> &Cartridge {
        &self.cartridge
    }

    /// The model of the machines that run it.
    #[must_use]
    pub fn model(&self) -> Model {
        self.model
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
