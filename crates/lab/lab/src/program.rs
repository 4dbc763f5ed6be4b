//! Programs in artifacts: names and, unless a program is built in, its text, so that an artifact is
//! complete without the user's files.

use gbxcule_swarm::{ProgramText, Programs};
use serde_json::{Value, json};

/// Writes programs in the form that artifacts have.
pub fn to_json(programs: &Programs) -> Value {
    let text = |program: &ProgramText| {
        let mut value = json!({ "name": program.name(), "sha256": program.sha256() });
        if !programs.is_built_in() {
            value["text"] = json!(program.text());
        }
        if !program.files().is_empty() {
            value["files"] = json!(program.files());
        }
        value
    };
    json!({
        "reward": text(programs.reward_text()),
        "obs": text(programs.observation_text()),
        "obs_dim": programs.obs_dim(),
        "has_done": programs.has_done(),
    })
}

/// Reads the programs that [`to_json`] wrote.
///
/// # Errors
/// A program is missing, or has another SHA-256 than the artifact says.
pub fn from_json(recorded: &Value) -> Result<Programs, String> {
    let program = |role: &str| {
        let field = |name: &str| {
            recorded[role][name].as_str().ok_or_else(|| format!("no `{name}` of program `{role}`"))
        };
        let name = field("name")?;
        let program = match recorded[role]["text"].as_str() {
            Some(text) => {
                let files = recorded[role].get("files").cloned().unwrap_or_else(|| json!([]));
                let files = serde_json::from_value(files);
                let files = files.map_err(|error| format!("files of program `{role}`: {error}"))?;
                ProgramText::with_files(name, text, files)
            }
            // Only a built-in program may lack its text: an artifact must not read a file of this
            // computer.
            None if name.ends_with(".py") => return Err(format!("no text of program `{role}`")),
            None => ProgramText::find(name).map_err(|error| error.to_string())?,
        };
        if program.sha256() != field("sha256")? {
            return Err(format!(
                "program `{name}` has SHA-256 {}, not the one it had",
                program.sha256()
            ));
        }
        Ok(program)
    };
    Programs::new(program("reward")?, program("obs")?).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "import warp as wp\nimport gbxcule as gb\n\n@wp.func\ndef reward(machine: gb.Machine, \
                        scratch: wp.array(dtype=wp.float32)) -> wp.float32:\n    return 2.0\n";

    #[test]
    fn programs_come_back_from_what_an_artifact_records() {
        let own = Programs::new(
            ProgramText::new("mine.py", TEXT),
            ProgramText::find("obs_v0").expect("built in"),
        );
        let shape = ("shape.py".to_owned(), "TWO = 2.0\n".to_owned());
        let text = TEXT
            .replace("2.0", "TWO")
            .replace("import gbxcule", "from shape import TWO\nimport gbxcule");
        let imports = ProgramText::with_files("mine.py", &text, vec![shape]);
        assert_ne!(imports.sha256(), ProgramText::new("mine.py", &text).sha256());
        let imports = Programs::new(imports, ProgramText::find("obs_v0").expect("built in"));
        for programs in [Programs::default(), own.expect("right"), imports.expect("right")] {
            let recorded = to_json(&programs);
            assert_eq!(from_json(&recorded).expect("whole"), programs);
            let mut damaged = recorded;
            damaged["reward"]["sha256"] = json!("00");
            assert!(from_json(&damaged).is_err());
        }
    }
}
