//! Games of random players are written, sealed, replayed and altered.

use std::io::Write;

use super::*;

#[test]
fn buttons_read_back_as_they_are_written() {
    let mut buttons = Buttons::default();
    for (byte, steps) in [(0, 12), (0x81, 1), (0x81, 2), (0x10, 1), (3, 0)] {
        buttons.push(byte, steps);
    }
    assert_eq!(buttons.to_string(), "00*12 81*3 10");
    assert_eq!(buttons.to_string().parse(), Ok(buttons.clone()));
    assert_eq!((buttons.steps(), buttons.iter().count()), (16, 16));
    buttons.truncate(13);
    assert_eq!((buttons.to_string().as_str(), buttons.steps()), ("00*12 81", 13));
    for refused in ["0", "000", "zz", "00*0", "00*-1", "00*", "00*99999999999", "03", "1c*2"] {
        assert!(refused.parse::<Buttons>().is_err(), "{refused}");
    }
}

/// Plays some seeds at random, and seals the games.
fn log() -> GameLog {
    let rom = gbxcule_assembler::by_name("EMBER_LEAP").expect("a game").bytes();
    let header = Header::new("EMBER_LEAP", rom, 4, 4);
    let mut bits = 1;
    let games: Vec<LoggedGame> = (0..6)
        .map(|seed| {
            let mut buttons = Buttons::default();
            for _ in 0..5000 {
                bits = gbxcule_swarm::splitmix64(bits);
                buttons.push([0x01, 0x11, 0x21, 0x31, 0x00][(bits % 5) as usize], 1);
            }
            LoggedGame {
                seed: (seed > 0).then_some(seed),
                level: None,
                episode: seed / 3,
                buttons,
                claim: None,
            }
        })
        .collect();
    let outcomes = replay(&header, &games, &mut |_| ()).expect("games");
    let games =
        games.into_iter().zip(&outcomes).map(|(game, outcome)| game.sealed(&header, outcome));
    GameLog { games: games.collect(), header }
}

#[test]
fn a_sealed_log_holds_and_every_altered_step_is_refused() {
    let log = log();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("games.jsonl");
    log.write(&path).expect("a file");
    assert_eq!(GameLog::read(&path).expect("a log"), log);
    let outcomes = replay(&log.header, &log.games, &mut |_| ()).expect("games");
    for (game, outcome) in log.games.iter().zip(&outcomes) {
        assert_eq!(game.check(&log.header, outcome), Ok(()));
    }
    // A game played alone has the same outcome.
    for (game, outcome) in log.games.iter().zip(&outcomes) {
        let alone = replay(&log.header, std::slice::from_ref(game), &mut |_| ());
        assert_eq!(alone.expect("a game"), std::slice::from_ref(outcome));
    }
    let game = &log.games[1];
    for altered in [3, 40, game.buttons.steps() - 1] {
        let mut buttons = Buttons::default();
        for (step, byte) in game.buttons.iter().enumerate() {
            buttons.push(if step == altered { byte ^ 0x20 } else { byte }, 1);
        }
        let game = LoggedGame { buttons, ..game.clone() };
        let outcome =
            &replay(&log.header, std::slice::from_ref(&game), &mut |_| ()).expect("a game")[0];
        assert!(game.check(&log.header, outcome).is_err(), "step {altered}");
    }
}

#[test]
fn level_variant_and_difficulty_decide_the_game() {
    let mut log = log();
    log.header.variant = Some("moon".to_owned());
    let power_on = replay(&log.header, &log.games, &mut |_| ()).expect_err("power-on");
    assert!(power_on.to_string().contains("a game from power-on is no variant"), "{power_on}");
    for (game, level) in log.games.iter_mut().zip(0..) {
        (game.seed, game.level, game.episode) = (None, Some(level), 0);
    }
    let game = log.games.remove(0);
    let played = |header: &Header, level| {
        let game = LoggedGame { level: Some(level), claim: None, ..game.clone() };
        replay(header, &[game], &mut |_| ()).expect("a game")[0].clone()
    };
    let outcome = played(&log.header, 3);
    let sealed = LoggedGame { level: Some(3), ..game.clone() }.sealed(&log.header, &outcome);
    assert_eq!(sealed.check(&log.header, &played(&log.header, 3)), Ok(()));
    assert_ne!(played(&log.header, 4), outcome);
    for (variant, difficulty) in [(None, None), (Some("night"), None), (Some("moon"), Some("easy"))]
    {
        let (variant, difficulty) = (variant.map(str::to_owned), difficulty.map(str::to_owned));
        let header = Header { variant, difficulty, ..log.header.clone() };
        let again = replay(&header, std::slice::from_ref(&sealed), &mut |_| ()).expect("a game");
        assert!(sealed.check(&header, &again[0]).is_err(), "{header:?}");
    }
    let header = Header { variant: Some("fast".to_owned()), ..log.header };
    let refused = replay(&header, &[game], &mut |_| ()).expect_err("no such variant").to_string();
    assert!(
        refused.contains("EMBER_LEAP has no variant `fast`; it has easy, night, moon"),
        "{refused}"
    );
}

#[test]
fn a_file_that_is_no_log_says_so() {
    let log = log();
    let header = serde_json::to_string(&log.header).expect("JSON");
    let game = r#"{"seed":7,"buttons":"00*9"}"#;
    for (text, found) in [
        (String::new(), "the first line is no header"),
        ("{}".to_owned(), "the first line is no header"),
        (header.replace("\"version\":1", "\"version\":9"), "version 9 of the format"),
        (format!("{header}\n{game}\n{game}"), "line 3: a second game of this seed"),
        (
            format!("{header}\n{}", game.replace("00*9", "0x")),
            "line 2: buttons are two hexadecimal",
        ),
        (format!("{header}\n{}", game.replace("00*9", "")), "line 2: a game without steps"),
        (format!("{header}\n{}", game.replace("seed", "seeds")), "line 2: unknown field `seeds`"),
        (
            format!("{header}\n{}", game.replace("seed", "level\":3,\"seed")),
            "line 2: a game has a level, or a seed",
        ),
        (
            format!("{header}\n{}", game.replace("seed\":7", "level\":65535")),
            "line 2: levels are 0 to 65534",
        ),
        (
            format!("{header}\n{0}\n{0}", game.replace("seed", "level")),
            "line 3: a second game of this level",
        ),
        (
            format!("{header}\n{0}\n{0}", game.replace("\"seed\":7,", "")),
            "line 3: a second game from power-on with these buttons",
        ),
    ] {
        let refused = GameLog::parse(&text).expect_err("no log");
        assert!(refused.starts_with(found), "{refused}");
    }
    let header = Header { game: "PEARL_HEIST".to_owned(), ..log.header };
    let refused = replay(&header, &log.games, &mut |_| ()).expect_err("two players");
    assert!(
        refused.to_string().contains("no built-in game for one player `PEARL_HEIST`"),
        "{refused}"
    );
}

#[test]
fn a_file_may_be_packed_by_gzip() {
    let log = log();
    let folder = tempfile::tempdir().expect("a folder");
    let [plain, packed] = ["games.jsonl", "games.jsonl.gz"].map(|name| folder.path().join(name));
    log.write(&plain).expect("written");
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(&std::fs::read(&plain).expect("a file")).expect("packed");
    let bytes = packer.finish().expect("packed");
    std::fs::write(&packed, &bytes).expect("written");
    assert_eq!(GameLog::read(&packed).expect("a log").games, log.games);
    std::fs::write(&packed, &bytes[..bytes.len() - 9]).expect("written");
    let error = GameLog::read(&packed).expect_err("cut off").to_string();
    assert!(error.contains("the gzip file can't be unpacked"), "{error}");
}
