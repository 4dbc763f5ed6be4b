//! Writes the first inputs of all targets, made of this project's own material: built-in ROMs, the
//! examples, rows, states, a bundle's fields, requests. `seeds FOLDER` makes FOLDER/TARGET.

use gbxcule_lab::artifact::RomImage;
use gbxcule_lab::verify::{Judgement, VerifyPlan, verify};
use gbxcule_lab::{BackendConfig, BackendKind, bundle};
use gbxcule_rows::row::{Mode, Plan, Row, Texts, make};
use gbxcule_swarm::{NativeSwarm, Rom, SwarmConfig};
use std::path::{Path, PathBuf};

const REQUESTS: [&str; 10] = [
    r#"{"type":"look","first":2,"count":3,"shrink":4,"chosen":null}"#,
    r#"{"type":"run"}"#,
    r#"{"type":"step"}"#,
    r#"{"type":"speed","times":0.5}"#,
    r#"{"type":"reset"}"#,
    r#"{"type":"hold","env":1,"buttons":255}"#,
    r#"{"type":"save","env":3}"#,
    "GET / HTTP/1.1\r\nHost: localhost:8117\r\n\r\n",
    "GET /socket?token=0123456789abcdef HTTP/1.1\r\nHost: localhost:8117\r\nUpgrade: websocket\r\n\
     Connection: Upgrade\r\nOrigin: http://localhost:8117\r\nSec-WebSocket-Key: dGhlIHNhbXBsZQ==\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: [::1]:8117\r\nContent-Length: 3\r\n\r\nabc",
];
/// Pairs of a program and the file `a.py`, from which it imports.
const IMPORTS: [[&str; 2]; 3] = [
    [
        "@wp.kernel\ndef k(y: wp.array(dtype=float)):\n    y[0] = f(y[1])\n",
        "import warp as wp\nfrom b import *\n",
    ],
    [
        "@wp.kernel\ndef k(y: wp.array(dtype=float)):\n    y[0] = c.f(G)\n",
        "G = 1.0\nfrom main import *\n",
    ],
    [
        "X = 1\nfor i in range(3):\n    X = X + X\n@wp.kernel\ndef k(y: wp.array(dtype=int)):\n    y[0] = X\n",
        "X = 2\n",
    ],
];
const FUNCTION: &str =
    "import warp as wp\n@wp.func\ndef f(x: float):\n    return wp.sin(x) * 2.0\n";

struct Seeds {
    folder: PathBuf,
}

impl Seeds {
    fn add(&self, target: &str, name: &str, first: &[u8], rest: &[u8]) {
        let folder = self.folder.join(target);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join(name), [first, rest].concat()).expect("a file");
    }

    fn machines(&self) {
        for rom in gbxcule_assembler::all() {
            self.add("rom", rom.name, &[], rom.bytes());
        }
        for at in 0..16u8 {
            self.add("state", &at.to_string(), &[at, at / 4, 255], &[at.wrapping_mul(37), 1, 0]);
        }
        for name in ["ALU_LOOP", "MBC3_RTC"] {
            let bytes = gbxcule_assembler::by_name(name).expect("a built-in ROM").bytes();
            let rom = Rom::new(bytes).expect("a header");
            let mut swarm = NativeSwarm::new(rom, SwarmConfig::new(1)).expect("a swarm");
            swarm.step(&[0]).expect("an action");
            let state = swarm.export_bess(0).expect("an env");
            self.add("foreign_state", name, &[0], &state);
            self.add("foreign_state", &format!("{name}_changed"), &[1], &[0, 1, 0, 9]);
            self.add("foreign_state", &format!("{name}_pyboy"), &[2], &[0, 1, 0, 9]);
        }
    }

    fn programs(&self) {
        let plan =
            Plan { seed: 14, mode: Mode::Run, device: Texts::Both, host_every: 0, sampled: 100 };
        let rows: Vec<Row> = (0..60).map(|id| make(plan, id)).collect();
        for (at, row) in rows.iter().enumerate() {
            self.add("dialect", &at.to_string(), &[0], row.source.as_bytes());
            self.add("import", &format!("row{at}"), &[0], row.source.as_bytes());
            let json = serde_json::to_vec(row).expect("JSON");
            self.add("row", &at.to_string(), &[7], &json);
            self.add(
                "row",
                &format!("{at}_inputs"),
                &[at as u8 % 7, 0],
                row.inputs_json.as_bytes(),
            );
            self.add("row", &format!("{at}_source"), &[at as u8 % 7, 2], row.source.as_bytes());
        }
        for (at, [source, first]) in IMPORTS.iter().enumerate() {
            let files = format!("{source}\0{first}\0{FUNCTION}\0{FUNCTION}");
            self.add("import", &format!("files{at}"), &[1], files.as_bytes());
        }
        for (at, request) in REQUESTS.iter().enumerate() {
            self.add("message", &at.to_string(), &[], request.as_bytes());
        }
    }

    fn bundle(&self) {
        let rom = RomImage::find("ALU_LOOP").expect("a ROM of the suite");
        let config = BackendConfig::of_single_frames(rom);
        let plan = VerifyPlan::new(BackendKind::SwarmCpu, BackendKind::StubBad, config);
        let verdict = verify(&plan, &mut |_| Judgement::Stop, &mut |_| ()).expect("both run");
        let mismatch = verdict.mismatch.as_ref().expect("the stub is wrong");
        let made = bundle::write(&self.folder.join("made"), &plan, &verdict, mismatch);
        let made = made.expect("a folder");
        let read = |name: &str| std::fs::read_to_string(made.join(name)).expect("a file");
        let metadata: serde_json::Value =
            serde_json::from_str(&read("metadata.json")).expect("JSON");
        for (at, (name, value)) in metadata["plan"].as_object().expect("fields").iter().enumerate()
        {
            self.add("bundle", name, &[at as u8], value.to_string().as_bytes());
        }
        self.add("bundle", "actions", &[255], read("actions.jsonl").as_bytes());
        std::fs::remove_dir_all(self.folder.join("made")).expect("a folder");
    }
}

fn main() {
    let folder = std::env::args().nth(1).expect("a folder as the argument");
    let seeds = Seeds { folder: Path::new(&folder).to_owned() };
    seeds.machines();
    seeds.programs();
    seeds.bundle();
}
