//! An oracle for questions that may be its end.

use std::time::Duration;

use serde_json::Value;

use crate::{Answer, OracleChild, OracleError, Python};

/// An oracle that is started when it is first asked, and again when it is asked after it died.
pub struct PatientOracle {
    name: &'static str,
    python: Python,
    child: Option<OracleChild>,
}

impl PatientOracle {
    /// The oracle of this name, not started yet.
    #[must_use]
    pub fn new(name: &'static str, python: Python) -> Self {
        Self { name, python, child: None }
    }

    /// Ask and wait for the answer.
    ///
    /// # Errors
    /// The oracle cannot be started, died, hung, printed rubbish or refused.
    pub fn call(
        &mut self,
        header: &Value,
        payload: &[u8],
        limit: Duration,
    ) -> Result<Answer, OracleError> {
        let mut child = match self.child.take() {
            Some(child) => child,
            None => OracleChild::start(self.name, self.python.oracle(self.name))?,
        };
        let answer = child.call(header, payload, limit);
        if matches!(answer, Ok(_) | Err(OracleError::Refused { .. })) {
            self.child = Some(child);
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn an_oracle_that_died_is_started_again() {
        let folder = std::env::temp_dir().join(format!("gbxcule-patient-{}", std::process::id()));
        // Of a process of this number that was killed.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        let program = folder.join("python");
        // Dies of its first question, and answers the second life's.
        let script = "#!/bin/sh\nif mkdir \"$0.lived\" 2>/dev/null; then exit 3; fi\n\
                      printf 'GBX1\\013\\0\\0\\0\\0\\0\\0\\0{\"ok\":true}'; sleep 60\n";
        fs::write(&program, script).expect("a script");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("executable");
        let mut oracle = PatientOracle::new("warp", Python { program, package_folder: None });
        let mut ask = || oracle.call(&json!({"command": "hello"}), b"", Duration::from_secs(60));
        assert!(matches!(ask(), Err(OracleError::Died { .. })));
        assert_eq!(ask().expect("an answer").header["ok"], true);
        fs::remove_dir_all(folder).expect("the folder");
    }
}
