//! The search for a game's variables: its answers are compared with a search of all memory, and
//! its page is used as people use it.

use gbxcule_swarm::{NativeSwarm, ProgramText, Programs, in_bank};
use serde_json::{Value, json};

use crate::browser::{WIDE, picture, text, wait_for_text};
use crate::chromium::Chromium;
use crate::client::Client;
use crate::serving::{Serving, TASK, fresh_swarm, fresh_swarm_of, step_randomly, wait_until};

/// Comparison of a byte at the last filter with the present one.
type Comparison = fn(u8, u8) -> bool;

/// All of work RAM and high RAM.
fn memory(swarm: &NativeSwarm, env: usize) -> Vec<(u32, u8)> {
    let ranges = [0xC000..0xE000, 0xFF80..0xFFFF];
    let bytes = ranges.into_iter().flat_map(|range| {
        let bytes = swarm.read_memory(env, range.clone()).expect("an env");
        range.zip(bytes)
    });
    bytes.collect()
}

fn searched(client: &mut Client, chosen: usize) -> Value {
    client.send(&json!({ "type": "look", "first": 0, "count": 0, "shrink": 8, "chosen": chosen, "search": true }));
    client.view().head["search"].clone()
}

#[test]
fn a_search_leaves_what_a_search_of_all_memory_leaves() {
    const ENVS: usize = 5;
    let serving = Serving::start(&["watch", "--num-envs", "5", "--paused"]);
    let mut client = Client::connect(&serving);
    assert!(client.hello["labels"].as_array().expect("labels").contains(&json!([0xC006, "SubX"])));
    let mut swarm = fresh_swarm(ENVS, 24, Programs::default());
    client.send(&json!({ "type": "search", "keep": "all" }));
    let all = |swarm: &NativeSwarm| (0..ENVS).map(|env| memory(swarm, env)).collect::<Vec<_>>();
    let mut before = all(&swarm);
    let mut expected: Vec<usize> = (0..before[0].len()).collect();
    assert_eq!(searched(&mut client, 2)["count"], expected.len());
    let filters: [(&str, &str, Comparison); 5] = [
        ("changed", "some", |before, now| before != now),
        ("greater", "chosen", |before, now| now > before),
        ("unchanged", "some", |before, now| now == before),
        ("less", "some", |before, now| now < before),
        ("equal", "some", |_, now| now == 9),
    ];
    for (step, (keep, scope, holds)) in filters.into_iter().enumerate() {
        client.send(&json!({ "type": "step" }));
        step_randomly(&mut swarm, step as u64);
        client.send(
            &json!({ "type": "search", "keep": keep, "scope": scope, "env": 2, "number": 9 }),
        );
        let now = all(&swarm);
        expected.retain(|at| {
            let mut envs = (0..ENVS).filter(|env| scope != "chosen" || *env == 2);
            envs.any(|env| holds(before[env][*at].1, now[env][*at].1))
        });
        before = now;
        let search = searched(&mut client, 2);
        assert_eq!(search["count"], expected.len(), "{keep}");
        let found = search["found"].as_array().expect("addresses");
        for (found, at) in found.iter().zip(&expected) {
            let numbers = before.iter().map(|memory| memory[*at].1);
            let low_high = (numbers.clone().min(), numbers.max());
            assert_eq!(found["place"], before[2][*at].0);
            assert_eq!(found["value"], before[2][*at].1);
            assert_eq!((&found["low"], &found["high"]), (&json!(low_high.0), &json!(low_high.1)));
        }
    }
}

#[test]
fn a_byte_is_changed_and_requests_for_no_memory_change_nothing() {
    let serving = Serving::start(&["watch", "--num-envs", "2", "--paused"]);
    let mut client = Client::connect(&serving);
    for (env, place) in [(1, 0xC013_u32), (2, 0xC014), (1, u32::MAX), (1, in_bank(99, 0xD000))] {
        client.send(&json!({ "type": "poke", "env": env, "place": place, "byte": 7 }));
    }
    let mut expected = fresh_swarm(2, 24, Programs::default());
    expected.write_memory(1, 0xC013, &[7]).expect("memory");
    for from in [json!(0xC010), json!(u32::MAX), json!(in_bank(99, 0xD000))] {
        let look = json!({ "type": "look", "first": 0, "count": 0, "shrink": 8, "chosen": 1,
                           "memory": from, "watched": from, "form": "word" });
        client.send(&look);
        let head = client.view().head;
        let is_memory = from == json!(0xC010);
        let bytes = expected.read_memory(1, 0xC010..0xC090).expect("memory");
        assert_eq!(head["chosen"]["memory"], json!(if is_memory { bytes } else { Vec::new() }));
        assert_eq!(head["watched"].is_null(), !is_memory);
    }
    client.send(&json!({ "type": "step" }));
    step_randomly(&mut expected, 0);
    let view = client.look(0, 0, 8, Some(1));
    let bytes = expected.read_memory(1, 0xC000..0xC020).expect("memory");
    assert_eq!(view.head["chosen"]["memory"], json!(bytes));
}

#[test]
fn programs_write_the_labels_beside_the_rom() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let rom = gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game").bytes();
    std::fs::write(file("game.gb"), rom).expect("a file");
    std::fs::write(file("game.sym"), "00:c006 wHeroX\n").expect("a file");
    let text = TASK.replace("gb.read(machine, 0xC006)", "gb.read(machine, \"wHeroX\")");
    std::fs::write(file("task.py"), text).expect("a file");
    let (rom, task) = (file("game.gb"), file("task.py"));
    let options = ["watch", "--paused", "--num-envs", "1", "--rom", &rom, "--reward", &task];
    let serving = Serving::start(&options);
    let mut client = Client::connect(&serving);
    assert_eq!(client.hello["labels"], json!([[0xC006, "wHeroX"]]));
    client.send(&json!({ "type": "step" }));
    let chosen = client.look(0, 0, 8, Some(0)).head["chosen"].clone();
    assert_eq!(chosen["reward"].as_f64(), chosen["memory"][6].as_f64().map(|x| x + 0.5));
}

fn click(browser: &mut Chromium, selector: &str) {
    browser.evaluate(&format!("document.querySelector('{selector}').click()"));
}

/// Steps with a key held, then drops the addresses that did something else.
fn step_and_keep(browser: &mut Chromium, key: Option<&str>, keep: &str) {
    key.inspect(|key| browser.key(key, true));
    let before = text(browser, "step-count");
    browser.press(".");
    wait_until("it steps", || text(browser, "step-count") != before);
    key.inspect(|key| browser.key(key, false));
    let filters = text(browser, "search-state");
    click(browser, &format!("[data-keep={keep}]"));
    wait_until("it is filtered", || text(browser, "search-state") != filters);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn a_position_is_found_watched_and_changed() {
    let serving = Serving::start(&["watch", "--num-envs", "6", "--paused"]);
    let mut browser = Chromium::start();
    browser.open(&serving.url(), WIDE);
    wait_for_text(&mut browser, "rate", "paused");
    browser.press("ArrowRight");
    wait_for_text(&mut browser, "name", "Machine 0");
    click(&mut browser, "#finder summary");
    browser.click_on("hands");
    wait_for_text(&mut browser, "hands", "Let go");
    for _ in 0..4 {
        browser.press(".");
    }
    wait_for_text(&mut browser, "step-count", "4");
    click(&mut browser, "[data-keep=all]");
    wait_until("it begins", || text(&mut browser, "search-state").contains("a new search"));
    let right_and_left = [
        (Some("ArrowRight"), "greater"),
        (None, "unchanged"),
        (Some("ArrowLeft"), "less"),
        (Some("ArrowRight"), "greater"),
        (None, "unchanged"),
    ];
    for (key, keep) in right_and_left {
        step_and_keep(&mut browser, key, keep);
    }
    let found = text(&mut browser, "found");
    assert!(found.contains("SubX"), "{found}");
    assert!(browser.evaluate("document.getElementById('found').rows.length").as_u64() < Some(9));
    browser.evaluate("[...document.getElementById('found').rows].find((row) => row.textContent.includes('SubX')).querySelector('button').click()");
    wait_until("it is watched", || !text(&mut browser, "history-range").is_empty());
    for _ in 0..5 {
        browser.press(".");
    }
    let lines = ["line-python", "line-program"].map(|id| text(&mut browser, id));
    assert_eq!(
        lines,
        [
            "reward=gbxcule.Change(\"SubX\"), info={\"SubX\": gbxcule.Number(\"SubX\")}",
            "value = wp.float32(gb.read(machine, \"SubX\"))",
        ]
    );
    browser.evaluate("document.getElementById('finder').scrollIntoView()");
    picture(&mut browser, "finder", WIDE);
    edit_and_give_back(&mut browser);
    assert_eq!(browser.thrown, [""; 0]);
}

/// Changes a byte of the memory on the page, and lets the machine go.
fn edit_and_give_back(browser: &mut Chromium) {
    let cell = "document.getElementById('memory').rows[0].cells[7]";
    browser.evaluate(&format!("{cell}.click(); document.activeElement.value = '42'"));
    browser.press("Enter");
    wait_until("the next byte is edited", || {
        browser.holds("document.activeElement.ariaLabel === 'Byte at C007'")
    });
    browser.press("Escape");
    wait_until("the byte is changed", || browser.holds(&format!("{cell}.textContent === '42'")));
    wait_until("the number follows", || text(browser, "watched-value").starts_with("66,"));
    click(browser, "#hands");
    wait_for_text(browser, "hands", "Take the controls");
}

/// Every line of text reads the number that the search reads.
#[test]
#[ignore = "needs Chromium: make test-browser"]
fn programs_read_with_the_lines_of_the_page_what_the_page_shows() {
    let serving = Serving::start(&["watch", "--rom", "AMBER_ROAD", "--num-envs", "1", "--paused"]);
    let (mut client, mut browser) = (Client::connect(&serving), Chromium::start());
    browser.open(&serving.url(), WIDE);
    let places = [
        (0xC800, Some("Label")),
        (0xC801, None),
        (in_bank(3, 0xD123), None),
        (0xD234, Some("Label")),
    ];
    for place in places.iter().flat_map(|(place, _)| [*place, *place + 1]) {
        client.send(
            &json!({ "type": "poke", "env": 0, "place": place, "byte": 0x25 + place % 2 * 0x31 }),
        );
    }
    for (place, label) in places {
        for form in ["byte", "word", "word_high", "bcd", "bcd_word", "bcd_word_high"] {
            let look = json!({ "type": "look", "first": 0, "count": 0, "shrink": 8, "chosen": 0,
                               "watched": place, "form": form });
            client.send(&look);
            let shown = client.view().head["watched"]["value"].as_f64().expect("a number");
            let label_text = label.map_or("undefined".to_owned(), |label| format!("'{label}'"));
            let line = browser.evaluate(&format!(
                "import('/finder.js').then(({{ linesOf }}) => linesOf({place}, {label_text}, '{form}')[1])"
            ));
            let line = line.as_str().expect("a line");
            assert_eq!(f64::from(observed(place, line)), shown, "{line}");
        }
    }
}

/// Returns what a program with a line observes on a machine with the test's bytes.
fn observed(place: u32, line: &str) -> f32 {
    let program = format!(
        "import gbxcule as gb\nimport warp as wp\n\nOBS_DIM = 1\n\n@wp.func\n\
         def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):\n    \
         {line}\n    obs[0] = value\n"
    );
    let text = ProgramText::new("task.py", &program).with_labels([("Label", 0xC800)]);
    let programs = Programs::new(ProgramText::find("reward_v0").expect("built-in"), text);
    let mut swarm = fresh_swarm_of("AMBER_ROAD", 1, 1, programs.expect("a program"));
    for place in [place, place + 1] {
        let byte = 0x25 + (place % 2 * 0x31) as u8;
        swarm.write_memory(0, place, &[byte]).expect("memory");
    }
    swarm.begin_again(&[true]).expect("an env");
    swarm.observations()[0]
}
