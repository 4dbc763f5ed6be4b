//! A played machine's battery: a `.sav` file that is loaded into the cartridge at the start, and
//! written while the machine runs.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use gbxcule_swarm::SwarmError;

use crate::driver::Driver;
use crate::print;

/// Time between two reads of the cartridge, which is the time of play that can be lost when the
/// program ends.
const READ_INTERVAL: Duration = Duration::from_secs(1);

/// Greatest size of a battery file in bytes: more than any cartridge keeps.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// File with the battery-backed memory of machine 0.
#[derive(Debug)]
pub(crate) struct BatteryFile {
    path: PathBuf,
    /// Contents of the cartridge's RAM at the last read or write of the file.
    last_ram: Vec<u8>,
    next_read: Instant,
    /// True if the last attempt to write failed, and the user was told.
    has_failed: bool,
}

impl BatteryFile {
    /// Loads a file into machine 0; if the file doesn't exist, begins with the machine's RAM.
    pub(crate) fn inserted(path: &Path, driver: &mut Driver) -> anyhow::Result<Self> {
        let shown = || format!("--battery {}", path.display());
        ensure!(
            driver.has_battery(),
            "{}: this cartridge has no RAM with a battery, so there is nothing to keep",
            shown()
        );
        if path.symlink_metadata().is_ok() {
            let file = gbxcule_files::read(path, MAX_FILE_BYTES).with_context(shown)?;
            driver.insert_battery(&file).with_context(shown)?;
        }
        gbxcule_files::check_writable(path).with_context(shown)?;
        let last_ram = driver.cartridge_ram()?;
        Ok(Self {
            path: path.to_owned(),
            last_ram,
            next_read: Instant::now() + READ_INTERVAL,
            has_failed: false,
        })
    }

    /// Writes the file if a second has passed and the RAM has changed.
    pub(crate) fn write_if_due(&mut self, driver: &Driver) -> Result<(), SwarmError> {
        if Instant::now() < self.next_read { Ok(()) } else { self.write_if_changed(driver) }
    }

    /// Writes the file if the RAM has changed, ignoring the cartridge's clock. A failure is
    /// reported once, and the next call tries again.
    pub(crate) fn write_if_changed(&mut self, driver: &Driver) -> Result<(), SwarmError> {
        self.next_read = Instant::now() + READ_INTERVAL;
        let ram = driver.cartridge_ram()?;
        if ram == self.last_ram {
            return Ok(());
        }
        match gbxcule_files::write(&self.path, &driver.battery()?) {
            Ok(()) => (self.last_ram, self.has_failed) = (ram, false),
            Err(error) => {
                if !self.has_failed {
                    let path = self.path.display();
                    print::error(&format!("warning: --battery {path}: {error}; play goes on\n"));
                }
                self.has_failed = true;
            }
        }
        Ok(())
    }
}
