//! The build id, which the linker wrote into the machine code: the id of the shared library or
//! the program that contains this function.
#![allow(unsafe_code, reason = "reading the headers of loaded files")]

use std::sync::OnceLock;

/// Returns the build id; `None` if the linker wrote none, or on a system other than Linux.
pub fn build_id() -> Option<&'static [u8]> {
    static ID: OnceLock<Option<Vec<u8>>> = OnceLock::new();
    ID.get_or_init(loaded::find).as_deref()
}

#[cfg(target_os = "linux")]
mod loaded {
    use std::ffi::{c_int, c_void};

    /// Type of a note that holds a build id, and its owner.
    const BUILD_ID: u32 = 3;
    const OWNER: &[u8] = b"GNU\0";

    /// Search for the file that contains an address.
    struct Search {
        address: usize,
        id: Option<Vec<u8>>,
    }

    pub(super) fn find() -> Option<Vec<u8>> {
        let mut search = Search { address: find as *const () as usize, id: None };
        let data = std::ptr::from_mut(&mut search).cast();
        // SAFETY: `visit` has the signature that the loader calls, and `data` outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(visit), data) };
        search.id
    }

    /// Looks at one loaded file; ends the iteration at the file that contains the address.
    unsafe extern "C" fn visit(
        file: *mut libc::dl_phdr_info,
        _bytes: usize,
        search: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader passes the pointer to the `Search`, which `find` borrows.
        let search = unsafe { &mut *search.cast::<Search>() };
        // SAFETY: the loader gives a description of a loaded file, valid during the call.
        let file = unsafe { &*file };
        if file.dlpi_phdr.is_null() {
            return 0;
        }
        let count = usize::from(file.dlpi_phnum);
        // SAFETY: the description has this many headers, which stay loaded as the file does.
        let headers = unsafe { std::slice::from_raw_parts(file.dlpi_phdr, count) };
        let start = |header: &libc::Elf64_Phdr| (file.dlpi_addr as usize) + header.p_vaddr as usize;
        let holds = |header: &libc::Elf64_Phdr| {
            let offset = search.address.wrapping_sub(start(header));
            header.p_type == libc::PT_LOAD && offset < header.p_memsz as usize
        };
        if !headers.iter().any(holds) {
            return 0;
        }
        search.id = headers.iter().filter(|header| header.p_type == libc::PT_NOTE).find_map(|it| {
            // SAFETY: a segment of notes lies inside of a loaded, readable segment of this file.
            // The file contains this code, so it isn't unloaded while the code runs.
            let notes =
                unsafe { std::slice::from_raw_parts(start(it) as *const u8, it.p_memsz as usize) };
            id_of(notes)
        });
        1
    }

    /// Returns the build id among notes. Each note has the lengths of its owner's name and of its
    /// content, its type, and then the name and the content, each padded to words.
    pub(super) fn id_of(mut notes: &[u8]) -> Option<Vec<u8>> {
        loop {
            let (head, rest) = notes.split_first_chunk::<12>()?;
            let [name, content, kind] = [0, 4, 8]
                .map(|at| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]));
            let [name, content] = [name, content].map(|bytes| bytes as usize);
            let (owner, rest) = rest.split_at_checked(name.next_multiple_of(4))?;
            let id = rest.get(..content)?;
            if kind == BUILD_ID && owner.starts_with(OWNER) && !id.is_empty() {
                return Some(id.to_vec());
            }
            notes = rest.get(content.next_multiple_of(4)..)?;
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod loaded {
    pub(super) fn find() -> Option<Vec<u8>> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_found_among_notes_and_never_behind_their_end() {
        let note = |name: &[u8], kind: u32, content: &[u8]| {
            let mut note = Vec::new();
            for number in [name.len() as u32, content.len() as u32, kind] {
                note.extend(number.to_le_bytes());
            }
            for part in [name, content] {
                note.extend(part);
                note.resize(note.len().next_multiple_of(4), 0);
            }
            note
        };
        let other = note(b"Other\0", 3, &[9; 5]);
        let id = note(b"GNU\0", 3, &[1, 2, 3, 4, 5, 6]);
        let all = [other, note(b"GNU\0", 1, &[7; 16]), id].concat();
        assert_eq!(loaded::id_of(&all), Some(vec![1, 2, 3, 4, 5, 6]));
        (0..all.len() - 2).for_each(|end| assert_eq!(loaded::id_of(&all[..end]), None, "{end}"));
    }

    #[test]
    fn this_program_has_an_id() {
        assert!(build_id().is_some_and(|id| id.len() >= 8));
    }
}
