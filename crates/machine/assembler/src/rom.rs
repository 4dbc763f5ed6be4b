//! Finished cartridge, with the names of its addresses.

/// A label of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The label; a local label's name includes the label before it: `Start.loop`.
    pub name: String,
    /// ROM bank; 0 for RAM.
    pub bank: u16,
    /// Address as the CPU sees it.
    pub address: u16,
}

/// An assembled cartridge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rom {
    /// The ROM file, header and checksums included.
    pub bytes: Vec<u8>,
    /// The title in the header.
    pub title: String,
    /// All labels, by bank and address.
    pub symbols: Vec<Symbol>,
}

impl Rom {
    /// Returns the address of a label.
    pub fn address(&self, name: &str) -> Option<u16> {
        self.symbols.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.address)
    }

    /// Returns the labels in the `.sym` form that debuggers read: `00:0150 Start`.
    pub fn symbol_listing(&self) -> String {
        let lines = self
            .symbols
            .iter()
            .map(|symbol| format!("{:02x}:{:04x} {}\n", symbol.bank, symbol.address, symbol.name));
        lines.collect()
    }
}
