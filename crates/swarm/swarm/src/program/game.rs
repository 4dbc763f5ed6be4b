//! Programs for the built-in games: reward, begin, done and an observation of features for each.

/// The ROM's name and the text.
pub(super) const GAMES: [(&str, &str); 8] = [
    ("KEEP_OF_KEYS", include_str!("game/keep_of_keys.py")),
    ("EMBER_LEAP", include_str!("game/ember_leap.py")),
    ("TARN_MASON", include_str!("game/tarn_mason.py")),
    ("LANTERN_WING", include_str!("game/lantern_wing.py")),
    ("LAST_BEACON", include_str!("game/last_beacon.py")),
    ("AMBER_ROAD", include_str!("game/amber_road.py")),
    ("PEARL_HEIST", include_str!("game/pearl_heist.py")),
    ("PEARL_DRIFT", include_str!("game/pearl_drift.py")),
];
