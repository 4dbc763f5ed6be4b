//! Heads of a ROM's blocks on disk, for CPUs and for kernels, so that a later process makes the
//! blocks at once.
//!
//! The machine code is made again from the heads. A wrong head does no harm: it makes a block that
//! never runs.

use crate::block::MemoryMap;
#[cfg(not(color))]
use crate::hot_code::HotCode;
use crate::learning::HotHead;
use gbxcule_runtime::CodeFolder;

const EXTENSION: &str = ".heads";
/// Version of the records.
const VERSION: (u32, u32) = (2, 0);
#[cfg(not(color))]
/// Version of the search for a kernel's heads; a changed search gets a new number.
const HOT_CODE_VERSION: (u32, u32) = (3, 0);
#[cfg(not(color))]
/// Size of the two counts of instructions before the heads of a kernel.
const HOT_CODE_BYTES: usize = 8 + 8;
/// Size of PC in a record; the memory map follows.
const PC_BYTES: usize = 2;
const RECORD_BYTES: usize = PC_BYTES + MemoryMap::RECORD_BYTES;

/// Reads the heads that are stored for a ROM; returns none if nothing is stored or the file is
/// damaged.
pub(crate) fn load(rom: &[u8]) -> Vec<HotHead> {
    let stored = CodeFolder::find(EXTENSION)
        .and_then(|folder| folder.find_code(&key("heads", rom), |version| version == VERSION));
    stored.map_or_else(Vec::new, |records| read(&records))
}

/// Writes the heads of a ROM's blocks. Errors are ignored, because heads only save time.
pub(crate) fn save(rom: &[u8], heads: &[HotHead]) {
    if let Some(folder) = CodeFolder::find(EXTENSION) {
        _ = folder.keep(&key("heads", rom), VERSION, &records(heads));
    }
}

#[cfg(not(color))]
/// Reads the hot code that is stored for kernels of a ROM.
pub(crate) fn load_hot_code(rom: &[u8]) -> Option<HotCode> {
    let key = key("hot code", rom);
    let is_known = |version| version == HOT_CODE_VERSION;
    read_hot_code(&CodeFolder::find(EXTENSION)?.find_code(&key, is_known)?)
}

#[cfg(not(color))]
/// Writes the hot code of a ROM; ignores errors, as `save` does.
pub(crate) fn save_hot_code(rom: &[u8], hot_code: &HotCode) {
    if let Some(folder) = CodeFolder::find(EXTENSION) {
        _ = folder.keep(&key("hot code", rom), HOT_CODE_VERSION, &hot_code_record(hot_code));
    }
}

fn key(purpose: &str, rom: &[u8]) -> String {
    CodeFolder::key(&[purpose.as_bytes(), rom])
}

#[cfg(not(color))]
fn hot_code_record(hot_code: &HotCode) -> Vec<u8> {
    let counts = hot_code.instructions.iter().flat_map(|count| count.to_le_bytes());
    counts.chain(records(&hot_code.heads)).collect()
}

#[cfg(not(color))]
fn read_hot_code(record: &[u8]) -> Option<HotCode> {
    let (first, heads) = record.split_first_chunk::<HOT_CODE_BYTES>()?;
    let (counts, _) = first.as_chunks::<8>();
    Some(HotCode {
        heads: read(heads),
        instructions: [u64::from_le_bytes(counts[0]), u64::from_le_bytes(counts[1])],
    })
}

fn records(heads: &[HotHead]) -> Vec<u8> {
    let record = |head: &HotHead| [&head.pc.to_le_bytes()[..], &head.map.record()].concat();
    heads.iter().flat_map(record).collect()
}

fn read(records: &[u8]) -> Vec<HotHead> {
    let (records, _) = records.as_chunks::<RECORD_BYTES>();
    let head = |record: &[u8; RECORD_BYTES]| {
        let (pc, map) = record.split_first_chunk::<PC_BYTES>()?;
        let map = MemoryMap::from_record(map.as_array()?)?;
        Some(HotHead { pc: u16::from_le_bytes(*pc), map })
    };
    records.iter().filter_map(head).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::make;
    use crate::table::BlockTable;

    fn rom() -> &'static [u8] {
        gbxcule_assembler::by_name("PEARL_DRIFT").expect("a built-in ROM").bytes()
    }

    #[test]
    fn heads_come_back_as_they_were() {
        let map = |at: u8| {
            let mut record = [at; MemoryMap::RECORD_BYTES];
            (record[18], record[19]) = (at & 1, at);
            MemoryMap::from_record(&record).expect("a map")
        };
        let heads: Vec<HotHead> =
            [0, 1, 0x7e, 0x80].map(|at| HotHead { pc: 0x150 + u16::from(at), map: map(at) }).into();
        let stored = records(&heads);
        assert_eq!(stored.len(), 4 * RECORD_BYTES);
        assert_eq!(read(&stored), heads);
        assert_eq!(
            read(&stored[..2 * RECORD_BYTES + 5]),
            heads[..2],
            "a record is whole or not there"
        );
        // Code can't lie at this offset.
        let mut beyond = [0; MemoryMap::RECORD_BYTES];
        beyond[19] = 0x7f;
        assert_eq!(MemoryMap::from_record(&beyond), None);
    }

    #[cfg(not(color))]
    #[test]
    fn hot_code_comes_back_as_it_was() {
        let map = MemoryMap::from_record(&[0; MemoryMap::RECORD_BYTES]).expect("a map");
        let heads = vec![HotHead { pc: 0x150, map }, HotHead { pc: 0x200, map }];
        let hot_code = HotCode { heads, instructions: [7, u64::MAX] };
        let record = hot_code_record(&hot_code);
        assert_eq!(read_hot_code(&record), Some(hot_code));
        assert_eq!(read_hot_code(&record[..HOT_CODE_BYTES - 1]), None);
    }

    /// A block from a damaged file is refused, or never runs.
    #[test]
    fn any_heads_make_blocks_or_none() {
        let mut random = 1_u64;
        let mut byte = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 56) as u8
        };
        let mut records: Vec<u8> = (0..60 * RECORD_BYTES).map(|_| byte()).collect();
        for (at, record) in records.as_chunks_mut::<RECORD_BYTES>().0.iter_mut().enumerate() {
            // `from_record` takes only some values of the flag of OAM DMA and of the offset in high
            // RAM.
            let (dma, place) = (PC_BYTES + 18, PC_BYTES + 19);
            (record[dma], record[place]) = (record[dma] & 1, record[place] & 0x7f);
            if at % 2 == 0 {
                (record[1], record[place]) = (record[1] & 0x7f, 0x80);
            }
        }
        let heads = read(&records);
        assert!(heads.len() >= 30);
        let made = make(&BlockTable::new(), rom(), &heads);
        assert!(made.refused.len() + made.codes.len() <= heads.len());
    }
}
