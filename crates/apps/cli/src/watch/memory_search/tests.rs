//! Forms of numbers, filters over machines, and labels.

use gbxcule_runtime::Device;
use gbxcule_swarm::SwarmConfig;

use super::*;

fn swarm(rom: &str, num_envs: usize) -> Swarm {
    let rom = Rom::new(gbxcule_assembler::by_name(rom).expect("a built-in ROM").bytes());
    Swarm::new(rom.expect("a ROM"), SwarmConfig::new(num_envs), Device::Cpu).expect("a swarm")
}

fn filter(keep: Keep) -> Filter {
    Filter { keep, number: 0, form: Form::Byte, scope: Scope::Every, env: None }
}

fn found(search: &MemorySearch) -> Vec<u32> {
    search.candidates.iter().map(|at| search.places[*at]).collect()
}

#[test]
fn a_number_is_read_in_every_form() {
    let bytes = [0x12, 0x34];
    for (form, number) in [
        (Form::Byte, 0x12),
        (Form::Word, 0x3412),
        (Form::WordHigh, 0x1234),
        (Form::Bcd, 12),
        (Form::BcdWord, 3412),
        (Form::BcdWordHigh, 1234),
    ] {
        assert_eq!(form.number(&bytes), Some(number), "{form:?}");
        assert_eq!(form.number(&[]), None);
    }
    assert_eq!((Form::Bcd.number(&[0x1A]), Form::BcdWord.number(&[0x10])), (None, None));
}

#[test]
fn filters_keep_what_every_some_or_the_enlarged_machine_does() {
    let mut swarm = swarm("PEARL_DRIFT", 3);
    let mut search = MemorySearch::default();
    search.apply(&swarm, filter(Keep::All)).expect("memory");
    assert_eq!(search.candidates.len(), 0x2000 + 0x7F);
    for (env, byte) in [(0, 200), (1, 201), (2, 0)] {
        let before = swarm.read_memory(env, 0xD234..0xD235).expect("memory");
        let byte = if byte == 0 { before[0] } else { byte };
        swarm.write_memory(env, 0xD234, &[byte]).expect("memory");
    }
    let some = Filter { scope: Scope::Some, ..filter(Keep::Changed) };
    search.apply(&swarm, some).expect("memory");
    assert_eq!(found(&search), [0xD234]);
    // No machine changed since then.
    search.apply(&swarm, filter(Keep::Unchanged)).expect("memory");
    assert_eq!(found(&search), [0xD234]);
    let number = |number, scope, env| Filter { number, scope, env, ..filter(Keep::Equal) };
    search.apply(&swarm, number(201, Scope::Chosen, Some(1))).expect("memory");
    assert_eq!(found(&search), [0xD234]);
    let listed = search.describe(&swarm, Form::Byte, Some(1)).expect("memory");
    let before = swarm.read_memory(2, 0xD234..0xD235).expect("memory")[0];
    assert_eq!(listed["found"][0]["value"], 201);
    assert_eq!(listed["found"][0]["low"], json!(before.min(200)));
    swarm.write_memory(1, 0xD234, &[202]).expect("memory");
    search
        .apply(&swarm, Filter { env: Some(1), scope: Scope::Chosen, ..filter(Keep::Greater) })
        .expect("memory");
    assert_eq!(found(&search), [0xD234]);
    search.apply(&swarm, number(202, Scope::Every, None)).expect("memory");
    assert_eq!(found(&search), [0; 0]);
}

#[test]
fn a_filter_of_no_machine_says_so_and_drops_nothing() {
    let swarm = swarm("PEARL_DRIFT", 2);
    let mut search = MemorySearch::default();
    search.apply(&swarm, filter(Keep::All)).expect("memory");
    for env in [None, Some(2)] {
        let chosen = Filter { scope: Scope::Chosen, env, ..filter(Keep::Changed) };
        search.apply(&swarm, chosen).expect("memory");
        assert!(search.refused.is_some(), "{env:?}");
        assert_eq!(search.candidates.len(), search.places.len());
    }
}

#[test]
fn a_color_is_searched_bank_by_bank_and_labels_are_of_their_bank() {
    let swarm = swarm("AMBER_ROAD", 1);
    let rom = swarm.rom();
    let places: usize = ranges(rom).iter().map(ExactSizeIterator::len).sum();
    assert_eq!(places, 0x8000 + 0x7F);
    let text = "; labels\n00:C000 wFirst\n02:d123 wSecond ; in a bank\n00:D000 wThird\n01:4000 Code\nrubbish\n";
    let labels = labels(text, rom);
    let expected =
        [(0xC000, "wFirst"), (in_bank(2, 0xD123), "wSecond"), (in_bank(1, 0xD000), "wThird")];
    assert_eq!(labels, expected.map(|(place, name)| (place, name.to_owned())));
    assert!(holds(&swarm, &(in_bank(7, 0xDFFE)..in_bank(7, 0xDFFF) + 1)));
    assert!(!holds(&swarm, &(in_bank(7, 0xDFFF)..in_bank(7, 0xDFFF) + 2)));
    assert!(!holds(&swarm, &(in_bank(9, 0xD000)..in_bank(9, 0xD001))));
}

#[test]
fn places_that_are_no_memory_have_no_numbers() {
    let swarm = swarm("PEARL_DRIFT", 1);
    let places = [0xC000, 0xFFFF, u32::MAX, in_bank(9, 0xD000)];
    let numbers = numbers(&swarm, &places, Form::Word, None).expect("memory");
    assert_eq!(numbers.len(), 1);
}
