//! Numbers that a module's variables keep from launch to launch, such as counters and flags. An
//! answer may be right in the first launches alone.

use std::collections::BTreeMap;

/// Bytes of each variable of a module.
pub(crate) type ModuleState = BTreeMap<String, Vec<u8>>;

/// Binary logarithm of the number of launches that [`advanced`] skips.
const SKIPPED: u32 = 20;

/// Returns the state after a million further launches, given the states after three equal launches:
/// words that grew by one number twice go on growing by it. `None` if no word did.
pub(crate) fn advanced(states: [&ModuleState; 3]) -> Option<ModuleState> {
    let [first, second, third] = states;
    let mut later = third.clone();
    for (name, bytes) in &mut later {
        let words = |state: &ModuleState| -> Vec<u32> {
            let bytes = state.get(name).map_or(&[][..], Vec::as_slice).chunks_exact(4);
            bytes.map(|it| u32::from_le_bytes([it[0], it[1], it[2], it[3]])).collect()
        };
        let words = words(first).into_iter().zip(words(second)).zip(words(third));
        for (bytes, ((first, second), third)) in bytes.chunks_exact_mut(4).zip(words) {
            let step = third.wrapping_sub(second);
            if step == second.wrapping_sub(first) {
                let word = third.wrapping_add(step << SKIPPED);
                bytes.copy_from_slice(&word.to_le_bytes());
            }
        }
    }
    (later != *third).then_some(later)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_go_on_and_other_words_stay() {
        let state = |words: [u32; 3]| -> ModuleState {
            [("v".to_owned(), words.iter().flat_map(|it| it.to_le_bytes()).collect())].into()
        };
        let after = [[1, 7, 5], [3, 7, 6], [5, 7, 9]].map(state);
        let later = advanced([&after[0], &after[1], &after[2]]);
        assert_eq!(later, Some(state([5 + (2 << SKIPPED), 7, 9])));
        assert_eq!(advanced([&after[2]; 3]), None);
    }
}
