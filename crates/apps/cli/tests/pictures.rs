//! `record` and `demo`: compares their files with a swarm of the test's own.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output};

use gbxcule_lab::action_source::ActionSource;
use gbxcule_swarm::{Codec, NativeSwarm, Rom, Schedule, SwarmConfig};

fn gbxcule(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gbxcule"));
    command.args(arguments).current_dir(folder).output().expect("the binary runs")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Returns the shades of a machine of PEARL_DRIFT, one byte a pixel, after each of some numbers of
/// frames.
fn shades_after(frames: &[u64], env: usize, num_envs: usize) -> Vec<Vec<u8>> {
    let rom = Rom::new(gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game").bytes());
    let schedule = Schedule::new(1, 1).expect("a schedule");
    let config = SwarmConfig { schedule, draw_last: true, ..SwarmConfig::new(num_envs) };
    let mut swarm = NativeSwarm::new(rom.expect("a ROM"), config).expect("a swarm");
    let noop = Codec::default().action("NOOP").expect("an action");
    let (mut actions, mut shades) = (vec![0; num_envs], Vec::new());
    for frame in 0..=frames.iter().copied().max().unwrap_or(0) {
        if frames.contains(&frame) {
            let packed = swarm.frame(env).expect("an env").iter();
            shades.push(
                packed.flat_map(|byte| [6, 4, 2, 0].map(|shift| byte >> shift & 3)).collect(),
            );
        }
        ActionSource::Random.fill(&Codec::default(), 0, frame / 24, &mut actions);
        if frame % 24 >= 8 {
            actions.fill(noop);
        }
        swarm.step(&actions).expect("a step");
    }
    shades
}

#[test]
fn a_gif_shows_the_chosen_machine_frame_by_frame_at_the_right_time() {
    let folder = folder();
    let arguments = ["record", "--num-envs", "4", "--envs", "3", "--steps", "5", "--every", "4"];
    for out in ["one.gif", "two.gif"] {
        let output = gbxcule(folder.path(), &[&arguments[..], &["--out", out]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let bytes = fs::read(folder.path().join("one.gif")).expect("the file");
    assert_eq!(bytes, fs::read(folder.path().join("two.gif")).expect("the file"));

    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::Indexed);
    let mut decoder = options.read_info(bytes.as_slice()).expect("a GIF");
    assert_eq!((decoder.width(), decoder.height()), (160, 144));
    let mut canvas = vec![0; 160 * 144];
    let mut shown: Vec<(u64, Vec<u8>)> = Vec::new();
    let mut time = 0;
    while let Some(frame) = decoder.read_next_frame().expect("a picture") {
        for (index, pixel) in frame.buffer.iter().enumerate() {
            let (x, y) = (index % usize::from(frame.width), index / usize::from(frame.width));
            if frame.transparent != Some(*pixel) {
                canvas[(y + usize::from(frame.top)) * 160 + x + usize::from(frame.left)] = *pixel;
            }
        }
        shown.push((time, canvas.clone()));
        time += u64::from(frame.delay);
    }
    // The film has 120 frames at 59.7275 a second.
    assert_eq!(time, 201);
    let frames: Vec<u64> = (1..=30).map(|picture| picture * 4).collect();
    for (frame, expected) in frames.iter().zip(shades_after(&frames, 3, 4)) {
        let moment = ((frame - 4) as f64 / 59.7275 * 100.0).round() as u64;
        let (_, found) = shown.iter().rfind(|(since, _)| *since <= moment).expect("a picture");
        assert!(*found == expected, "after {frame} frames");
    }
}

#[test]
fn a_still_shows_every_machine_at_the_end() {
    let folder = folder();
    let arguments =
        ["record", "--num-envs", "3", "--columns", "3", "--steps", "4", "--out", "x/y.png"];
    let output = gbxcule(folder.path(), &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = File::open(folder.path().join("x/y.png")).expect("the file");
    let mut decoder = png::Decoder::new(std::io::BufReader::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().expect("a header");
    let mut rgb = vec![0; reader.output_buffer_size().expect("a size")];
    reader.next_frame(&mut rgb).expect("an image");
    for env in 0..3 {
        let expected = shades_after(&[96], env, 3).remove(0);
        for (index, shade) in expected.iter().enumerate() {
            let at = (index / 160) * (3 * 164 - 4) + env * 164 + index % 160;
            let red = [0xE0, 0x88, 0x34, 0x08][usize::from(*shade)];
            assert_eq!(rgb[at * 3], red, "env {env}, pixel {index}");
        }
    }
}

#[test]
fn recordings_that_cannot_be_made_are_refused_and_leave_no_file() {
    let folder = folder();
    let cases: [(&[&str], &str); 4] = [
        (&["--out", "swarm.avi"], ".gif, an .mp4, a .png or a .wav"),
        (&["--envs", "5", "--num-envs", "3", "--out", "a.gif"], "the envs 0 to 2"),
        (&["--num-envs", "4000", "--columns", "4000", "--out", "a.png"], "fewer"),
        (&["--rom", "NO_SUCH_ROM", "--out", "a.gif"], "gbxcule roms"),
    ];
    for (arguments, expected) in cases {
        let output = gbxcule(folder.path(), &[&["record", "--steps", "1"], arguments].concat());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

/// Records a video with this folder as PATH, expects a refusal, and returns the message.
fn refused_video(path: &Path) -> String {
    let folder = folder();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gbxcule"));
    command.args(["record", "--num-envs", "1", "--steps", "40", "--out", "swarm.mp4"]);
    let output = command.current_dir(folder.path()).env("PATH", path).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_video_without_ffmpeg_says_what_brings_it() {
    let empty = folder();
    let stderr = refused_video(empty.path());
    assert!(stderr.contains("`apt-get install ffmpeg`"), "{stderr}");
}

#[cfg(unix)]
#[test]
fn complaints_of_ffmpeg_are_passed_on() {
    use std::os::unix::fs::PermissionsExt;
    let path = folder();
    let ffmpeg = path.path().join("ffmpeg");
    fs::write(&ffmpeg, "#!/bin/sh\necho no such codec >&2\nexit 1\n").expect("a file");
    fs::set_permissions(&ffmpeg, fs::Permissions::from_mode(0o755)).expect("ours to change");
    let stderr = refused_video(path.path());
    assert!(stderr.contains("no such codec"), "{stderr}");
}

#[test]
#[ignore = "needs ffmpeg"]
fn a_video_shows_the_chosen_machine_frame_by_frame() {
    let folder = folder();
    let arguments = ["record", "--num-envs", "4", "--envs", "3", "--steps", "3", "--every", "2"];
    let output = gbxcule(folder.path(), &[&arguments[..], &["--out", "v/one.mp4"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let files = fs::read_dir(folder.path().join("v")).expect("a folder").count();
    assert_eq!(files, 1, "the video and nothing else");
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args(["-loglevel", "error", "-i", "v/one.mp4", "-f", "rawvideo", "-pix_fmt", "rgb24"]);
    let decoded = ffmpeg.arg("-").current_dir(folder.path()).output().expect("ffmpeg runs");
    assert!(decoded.status.success(), "{}", String::from_utf8_lossy(&decoded.stderr));
    let pictures: Vec<&[u8]> = decoded.stdout.chunks(160 * 144 * 3).collect();
    let frames: Vec<u64> = (1..=36).map(|picture| picture * 2).collect();
    assert_eq!(pictures.len(), frames.len());
    for (picture, expected) in pictures.iter().zip(shades_after(&frames, 3, 4)) {
        let reds = expected.iter().map(|shade| [0xE0, 0x88, 0x34, 0x08_i32][usize::from(*shade)]);
        let off: i32 = picture
            .iter()
            .step_by(3)
            .zip(reds)
            .map(|(found, red)| (i32::from(*found) - red).abs())
            .sum();
        assert!(off < 160 * 144 * 6, "off by {} a pixel", f64::from(off) / 23_040.0);
    }
}

/// Records the sound of env 3 over 5 steps, and returns the samples in the WAV file.
fn recorded_sound(folder: &Path, more: &[&str]) -> Vec<[i16; 2]> {
    let arguments = ["record", "--envs", "3", "--steps", "5", "--out", "tune.wav"];
    let output = gbxcule(folder, &[&arguments[..], more].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let bytes = fs::read(folder.join("tune.wav")).expect("a file");
    assert!(bytes.starts_with(b"RIFF"));
    let halves: Vec<i16> = bytes[44..]
        .chunks_exact(2)
        .map(|half| i16::from_le_bytes(half.try_into().expect("two bytes")))
        .collect();
    halves.chunks_exact(2).map(|sample| [sample[0], sample[1]]).collect()
}

#[test]
fn a_wav_is_what_the_chosen_machine_sounds_like() {
    let folder = folder();
    let sound = recorded_sound(folder.path(), &["--skip-steps", "4"]);
    let config = SwarmConfig { sound: true, ..SwarmConfig::new(4) };
    let rom = gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game");
    let rom = Rom::new(rom.bytes()).expect("a good header");
    let mut swarm = NativeSwarm::new(rom, config).expect("a swarm");
    let mut expected = Vec::new();
    for step in 0..9 {
        let mut actions = vec![0; 4];
        ActionSource::Random.fill(&Codec::default(), 0, step, &mut actions);
        swarm.step(&actions).expect("good actions");
        if step >= 4 {
            expected.extend_from_slice(swarm.samples(3).expect("an env"));
        }
    }
    assert!(sound == expected, "{} samples, {} expected", sound.len(), expected.len());
    let output = gbxcule(folder.path(), &["record", "--steps", "1", "--out", "all.wav"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--envs 0"));
}

#[test]
#[ignore = "needs ffmpeg"]
fn a_video_of_one_machine_has_its_sound() {
    let folder = folder();
    let sound = recorded_sound(folder.path(), &[]);
    let arguments = ["record", "--envs", "3", "--steps", "5", "--out", "v/one.mp4"];
    let output = gbxcule(folder.path(), &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let files = fs::read_dir(folder.path().join("v")).expect("a folder").count();
    assert_eq!(files, 1, "the video and nothing else");
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args(["-loglevel", "error", "-i", "v/one.mp4", "-vn", "-f", "s16le", "-ac", "2"]);
    let decoded = ffmpeg.arg("-").current_dir(folder.path()).output().expect("ffmpeg runs");
    assert!(decoded.status.success(), "{}", String::from_utf8_lossy(&decoded.stderr));
    // AAC has frames of 1024 samples, and one before the first.
    let samples = decoded.stdout.len() / 4;
    assert!(samples.abs_diff(sound.len()) <= 3 * 1024, "{samples} of {}", sound.len());
}

#[test]
fn the_demo_ends_with_a_table_and_a_picture() {
    let folder = folder();
    let output = gbxcule(folder.path(), &["demo", "--env-counts", "1,2"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    for expected in [
        "frames/s",
        "picture of 42 machines",
        "runs/demo/mosaic.png",
        "runs/demo/scaling.png",
        "gbxcule watch",
    ] {
        assert!(stdout.contains(expected), "{expected} in {stdout}");
    }
    for picture in ["mosaic.png", "scaling.png"] {
        let bytes = fs::read(folder.path().join("runs/demo").join(picture)).expect("the picture");
        assert!(bytes.starts_with(b"\x89PNG"));
    }
}
