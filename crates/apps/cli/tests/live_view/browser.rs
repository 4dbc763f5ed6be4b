//! The page in a real browser: its pixels are compared, and pictures of it are written for people.

use std::path::PathBuf;

use gbxcule_swarm::{NativeSwarm, corrected_rgb, rgb};

use crate::chromium::{Chromium, Window};
use crate::serving::{Serving, TASK, expected_colors, expected_swarm, game_file, wait_until};

pub(crate) const WIDE: Window = Window { width: 1280, height: 800, ratio: 1.0, dark: false };
const PHONE: Window = Window { width: 390, height: 844, ratio: 2.0, dark: false };
const PHONE_ON_ITS_SIDE: Window = Window { width: 844, height: 390, ratio: 2.0, dark: false };

/// Script that looks for a speed whose text is wider than its label, and so covers its neighbour.
const SPEEDS_OVERLAP: &str = "[...document.querySelectorAll('#speed span')].some((span) => { \
     const text = document.createRange(); text.selectNodeContents(span); \
     return text.getBoundingClientRect().width > span.getBoundingClientRect().width; })";

/// Returns the shades of 160 x 144 pixels in a canvas's upper left corner, as digits; the reds of
/// the green palette identify them.
fn shades(browser: &mut Chromium, canvas: &str) -> String {
    let script = format!(
        "(() => {{ const context = document.getElementById('{canvas}').getContext('2d'); \
         const data = context.getImageData(0, 0, 160, 144).data; let text = ''; \
         for (let at = 0; at < data.length; at += 4) text += [0xe0, 0x88, 0x34, 0x08].indexOf(data[at]); \
         return text; }})()"
    );
    browser.evaluate(&script).as_str().expect("a text").to_owned()
}

fn expected_shades(swarm: &NativeSwarm, env: usize) -> String {
    let packed = swarm.frame(env).expect("an env").iter();
    let digits =
        packed.flat_map(|byte| [6, 4, 2, 0].map(|shift| char::from(b'0' + (byte >> shift & 3))));
    digits.collect()
}

pub(crate) fn text(browser: &mut Chromium, id: &str) -> String {
    let value = browser.evaluate(&format!("document.getElementById('{id}').textContent"));
    value.as_str().unwrap_or_default().to_owned()
}

pub(crate) fn step_count(browser: &mut Chromium) -> u64 {
    text(browser, "step-count").replace(',', "").parse().unwrap_or(0)
}

pub(crate) fn wait_for_text(browser: &mut Chromium, id: &str, expected: &str) {
    wait_until(&format!("{id} says {expected}"), || text(browser, id) == expected);
}

/// Writes pictures in both colour schemes.
pub(crate) fn picture(browser: &mut Chromium, name: &str, window: Window) {
    let folder = std::env::var_os("GBXCULE_SCREENSHOTS").map_or_else(
        || PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("screenshots"),
        PathBuf::from,
    );
    std::fs::create_dir_all(&folder).expect("a folder");
    for dark in [false, true] {
        browser.set_window(Window { dark, ..window });
        // Waits for four more pictures: by then the browser has laid out and drawn everything.
        for _ in 0..4 {
            browser.evaluate(
                "new Promise((done) => requestAnimationFrame(() => setTimeout(done, 60)))",
            );
        }
        let scheme = if dark { "dark" } else { "light" };
        browser.screenshot(&folder.join(format!("{name}-{scheme}.png")));
    }
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn the_page_shows_the_swarm_and_obeys() {
    let serving =
        Serving::start(&["watch", "--num-envs", "12", "--paused", "--frames-per-step", "6"]);
    let mut browser = Chromium::start();
    browser.open(&serving.url(), WIDE);
    wait_for_text(&mut browser, "rate", "paused");
    wait_until("the first picture is there", || {
        browser.holds("document.getElementById('loading').hidden")
    });
    // Keys work before the first click.
    browser.press("ArrowRight");
    wait_for_text(&mut browser, "name", "Machine 0");
    browser.press("Escape");
    // All pixels of a machine have the same size, at every size of the window.
    let scale = "(() => { const canvas = document.getElementById('mosaic'); \
                 return canvas.getBoundingClientRect().width * devicePixelRatio / canvas.width; })()";
    for button in ["larger", "larger", "smaller", "smaller", "smaller", "fit"] {
        let scale = browser.evaluate(scale).as_f64().expect("a number");
        assert!(scale >= 1.0 && (scale - scale.round()).abs() < 1e-6, "{scale}");
        browser.click_on(button);
    }

    // After a step by a click and one by a key, every pixel is the swarm's.
    browser.click_on("step");
    wait_for_text(&mut browser, "step-count", "1");
    browser.press(".");
    browser.press(".");
    wait_for_text(&mut browser, "step-count", "3");
    let expected = expected_shades(&expected_swarm(12, 6, 3), 0);
    wait_until("the third step is drawn", || shades(&mut browser, "mosaic") == expected);

    // The tiles change while the swarm runs.
    browser.click_on("run");
    wait_for_text(&mut browser, "run", "Pause");
    wait_until("tiles change", || shades(&mut browser, "mosaic") != expected);
    let slow = "document.querySelector('[name=speed][value=\"16\"]').click()";
    browser.evaluate(slow);

    enlarge_and_step(&mut browser);
    take_over(&mut browser);
    browser.press("Escape");
    wait_until("it is closed", || browser.holds("document.getElementById('machine').hidden"));
    assert_eq!(browser.thrown, [""; 0]);
}

/// Enlarges a machine with a click, goes to its neighbour by a button, and shows its registers in
/// steps.
fn enlarge_and_step(browser: &mut Chromium) {
    let corner = browser.evaluate(
        "(({ x, y }) => [x, y])(document.getElementById('sheet').getBoundingClientRect())",
    );
    let at = |index: usize| corner[index].as_f64().expect("a number") + 12.0;
    browser.click(at(0), at(1));
    wait_for_text(browser, "name", "Machine 0");
    browser.click_on("next");
    wait_for_text(browser, "name", "Machine 1");
    browser.evaluate("document.getElementById('swarm').focus()");
    browser.press(" ");
    wait_for_text(browser, "run", "Run");
    let steps = step_count(browser);
    browser.press(".");
    browser.press(".");
    wait_for_text(browser, "run", "Run");
    wait_until("it steps", || step_count(browser) == steps + 2);
    let swarm = expected_swarm(12, 6, steps + 2);
    assert!(shades(browser, "screen") == expected_shades(&swarm, 1), "the enlarged machine");
    let pc = swarm.cpu_state(1).expect("an env").pc;
    let registers = text(browser, "registers");
    assert!(registers.ends_with(&format!("PC{pc:04X}")), "{registers}, not {pc:04X}");
}

/// Takes the machine over by the keyboard, and gives it back.
fn take_over(browser: &mut Chromium) {
    browser.click_on("run");
    browser.click_on("hands");
    browser.key("ArrowRight", true);
    wait_for_text(browser, "action", "RIGHT");
    browser.key("x", true);
    wait_for_text(browser, "action", "RIGHT + A");
    browser.key("x", false);
    browser.key("ArrowRight", false);
    wait_for_text(browser, "action", "your hands");
    browser.click_on("hands");
    wait_until("actions drive it again", || text(browser, "action") != "your hands");
}

/// Returns red, green and blue of 160 x 144 pixels in a canvas's upper left corner.
fn colors(browser: &mut Chromium, canvas: &str) -> Vec<[u8; 3]> {
    let script = format!(
        "(() => {{ const context = document.getElementById('{canvas}').getContext('2d'); \
         const data = context.getImageData(0, 0, 160, 144).data; let text = ''; \
         for (let at = 0; at < data.length; at++) text += String.fromCharCode(data[at]); \
         return text; }})()"
    );
    let text = browser.evaluate(&script);
    let text = text.as_str().expect("a text");
    let bytes: Vec<u8> = text.chars().map(|byte| byte as u8).collect();
    bytes.as_chunks().0.iter().map(|&[red, green, blue, _]| [red, green, blue]).collect()
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn machines_of_the_color_are_drawn_in_colour() {
    let curves = [("raw", rgb as fn(u16) -> [u8; 3]), ("corrected", corrected_rgb)];
    for (curve, rgb) in curves {
        let arguments = ["--num-envs", "12", "--paused", "--frames-per-step", "30"];
        let file = game_file("AMBER_ROAD");
        let game = ["watch", "--rom", file.path().to_str().expect("a path"), "--curve", curve];
        let serving = Serving::start(&[&game[..], &arguments].concat());
        let mut browser = Chromium::start();
        browser.open(&serving.url(), WIDE);
        wait_for_text(&mut browser, "rate", "paused");
        for step in 1..=10 {
            browser.press(".");
            wait_for_text(&mut browser, "step-count", &step.to_string());
        }
        let swarm = expected_colors(12, 30, 10);
        let expected = |env| -> Vec<_> {
            let (pixels, _) = swarm.frame(env).expect("an env").as_chunks();
            pixels.iter().map(|pixel| rgb(u16::from_le_bytes(*pixel))).collect()
        };
        assert!(expected(0).iter().any(|[red, green, blue]| red != green || green != blue));
        wait_until("a tile", || colors(&mut browser, "mosaic") == expected(0));
        browser.press("ArrowRight");
        browser.click_on("next");
        wait_for_text(&mut browser, "name", "Machine 1");
        wait_until("the enlarged machine", || colors(&mut browser, "screen") == expected(1));
        assert!(browser.holds("document.getElementById('palette').hidden"));
        // The palette of shades has no effect.
        let amber = "(() => { const palette = document.getElementById('palette'); \
                     palette.value = 'amber'; palette.onchange(); })()";
        browser.evaluate(amber);
        assert!(colors(&mut browser, "screen") == expected(1));
        picture(&mut browser, &format!("color-{curve}"), WIDE);
        assert_eq!(browser.thrown, [""; 0]);
    }
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn results_of_programs_are_on_the_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("task.py").display().to_string();
    std::fs::write(&file, TASK).expect("a file");
    let arguments = ["watch", "--num-envs", "12", "--paused", "--heatmap", "C006,C007"];
    let programs = ["--reward", &file, "--obs", &file];
    let serving = Serving::start(&[&arguments[..], &programs].concat());
    let mut browser = Chromium::start();
    browser.open(&serving.url(), WIDE);
    wait_for_text(&mut browser, "rate", "paused");
    // The brightness of a machine's upper left corner, which shows only water.
    let light = |env: usize| {
        format!(
            "(() => {{ const canvas = document.getElementById('mosaic'); const wide = Math.round(canvas.width / \
             Math.round(canvas.width / 164)); const columns = Math.round(canvas.width / wide); return \
             canvas.getContext('2d').getImageData(({env} % columns) * wide + 80, Math.floor({env} / columns) * \
             Math.round(wide * 148 / 164) + 20, 1, 1).data[0]; }})()"
        )
    };
    browser.evaluate("document.getElementById('swarm').focus()");
    for env in 0..12 {
        browser.press(if env == 0 { "Enter" } else { "ArrowRight" });
        browser.evaluate("document.getElementById('swarm').focus()");
        wait_for_text(&mut browser, "name", &format!("Machine {env}"));
    }
    let mut seen = [false; 2];
    for step in 1..=12 {
        browser.press(".");
        wait_for_text(&mut browser, "step-count", &step.to_string());
        let is_over = !browser.holds("document.getElementById('over').hidden");
        seen[usize::from(is_over)] = true;
        let dark = browser.evaluate(&light(11)).as_u64().expect("a number") < 0xA0;
        assert_eq!(dark, is_over, "step {step}");
        assert!(text(&mut browser, "observation").starts_with("observation "), "step {step}");
        assert!(text(&mut browser, "observation").ends_with(" … 40"), "step {step}");
        let number = |text: String| text.parse::<f64>().unwrap_or_else(|_| panic!("{text}"));
        assert!(number(text(&mut browser, "reward")) <= number(text(&mut browser, "return")));
    }
    assert_eq!(seen, [true; 2], "episodes end and begin");
    // The page shows all machines together: their episodes, the leader, and the map of where they
    // were.
    assert!(text(&mut browser, "episode-count").parse::<u64>().is_ok_and(|count| count > 0));
    browser.click_on("leader");
    let leader = text(&mut browser, "leader");
    let leader = leader.split_whitespace().next().expect("a machine");
    wait_for_text(&mut browser, "name", &format!("Machine {leader}"));
    assert!(text(&mut browser, "map-size").ends_with(" at most"));
    let is_painted = "document.getElementById('heat').getContext('2d')\
                      .getImageData(0, 0, 1024, 1024).data.some((value) => value > 0)";
    assert!(browser.holds(is_painted));
    picture(&mut browser, "programs", WIDE);
    assert_eq!(browser.thrown, [""; 0]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn the_keyboard_plays() {
    let serving = Serving::start(&["play"]);
    let mut browser = Chromium::start();
    browser.open(&serving.url(), WIDE);
    let x = "parseInt(document.getElementById('memory').rows[0]?.cells[7].textContent, 16)";
    wait_until("the game runs", || step_count(&mut browser) > 60);
    let before = browser.evaluate(x).as_u64().expect("a number");
    browser.key("ArrowRight", true);
    wait_until("it steers right", || browser.evaluate(x).as_u64() > Some(before + 8));
    browser.key("ArrowRight", false);

    // A pointer on the cross steers as well.
    browser.evaluate("document.querySelector('[data-button=left]').id = 'left'");
    let before = browser.evaluate(x).as_u64().expect("a number");
    let middle = "(({ x, y, width, height }) => [x + width / 3, y + height / 2])(document.getElementById('left').getBoundingClientRect())";
    let at = browser.evaluate(middle);
    let press = |kind: &str| serde_json::json!({ "type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1 });
    browser.call("Input.dispatchMouseEvent", &press("mousePressed"));
    wait_until("it steers left", || browser.evaluate(x).as_u64() < Some(before));
    browser.call("Input.dispatchMouseEvent", &press("mouseReleased"));

    browser.press(" ");
    wait_for_text(&mut browser, "rate", "paused");
    let paused = step_count(&mut browser);
    browser.press(".");
    wait_until("it steps", || step_count(&mut browser) == paused + 1);
    browser.press(" ");
    picture(&mut browser, "play-wide", WIDE);
    picture(&mut browser, "play-phone", PHONE);
    assert!(!browser.holds(SPEEDS_OVERLAP), "a speed's label is wider than its place");
    picture(&mut browser, "play-phone-on-its-side", PHONE_ON_ITS_SIDE);
    assert_eq!(browser.thrown, [""; 0]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn thousands_of_machines_are_shown_small_and_scrolled() {
    let serving = Serving::start(&["watch", "--num-envs", "2048"]);
    let mut browser = Chromium::start();
    browser.open(&serving.url(), WIDE);
    wait_until("it runs", || step_count(&mut browser) > 12);
    let top = "document.getElementById('mosaic').style.top";
    assert_eq!(browser.evaluate(top), "0px");
    picture(&mut browser, "thousands", WIDE);
    browser.evaluate("document.getElementById('swarm').scrollTo(0, 1e6)");
    wait_until("the last rows are drawn", || browser.evaluate(top) != "0px");
    wait_until("it is all in sight", || {
        browser.press("-");
        browser.holds("document.getElementById('swarm').scrollHeight <= document.getElementById('swarm').clientHeight + 1")
    });
    assert_eq!(browser.thrown, [""; 0]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn a_phone_shows_it_too_and_a_lost_connection_says_so() {
    let mut serving = Serving::start(&["watch", "--num-envs", "48", "--speed", "16"]);
    let mut browser = Chromium::start();
    browser.open(&serving.url(), WIDE);
    wait_until("it runs", || step_count(&mut browser) > 40);
    let speed = browser.evaluate("document.querySelector('[name=speed]:checked').value");
    assert_eq!(speed, "16");
    picture(&mut browser, "watch-wide", WIDE);
    browser.press("ArrowRight");
    browser.evaluate("document.getElementById('swarm').focus()");
    browser.press("ArrowDown");
    browser.press("ArrowRight");
    wait_until("the arrows chose one", || {
        !browser.holds("document.getElementById('machine').hidden")
    });
    picture(&mut browser, "watch-enlarged", WIDE);
    picture(&mut browser, "watch-phone-enlarged", PHONE);
    let is_wider = "document.documentElement.scrollWidth > screen.width";
    assert!(!browser.holds(is_wider), "the page is wider than a phone");
    browser.press("Escape");
    picture(&mut browser, "watch-phone", PHONE);
    assert!(!browser.holds(SPEEDS_OVERLAP), "a speed's label is wider than its place");
    assert!(!browser.holds(is_wider), "the page is wider than a phone");
    browser.set_window(WIDE);
    serving.child.kill().expect("ours to end");
    wait_until("it says so", || !browser.holds("document.getElementById('lost').hidden"));
    assert_eq!(browser.thrown, [""; 0]);
}
