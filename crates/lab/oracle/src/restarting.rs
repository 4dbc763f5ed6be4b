//! An oracle that is restarted after a request killed it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::{Answer, OracleChild, OracleError, Python};

/// An oracle that is started at the first request, and restarted at the first request after it
/// died.
pub struct RestartingOracle {
    name: &'static str,
    python: Python,
    /// Folder in which a confined oracle may write.
    folder: Option<PathBuf>,
    child: Option<OracleChild>,
}

impl RestartingOracle {
    /// Makes the oracle of a name, without starting it.
    #[must_use]
    pub fn new(name: &'static str, python: Python) -> Self {
        Self { name, python, folder: None, child: None }
    }

    /// Makes an oracle that runs in the sandbox, for foreign programs: it reads installed files and
    /// writes only in `folder`. It ends with the thread that made the first request.
    #[must_use]
    pub fn confined(name: &'static str, python: Python, folder: &Path) -> Self {
        Self { folder: Some(folder.into()), ..Self::new(name, python) }
    }

    fn start(&self) -> Result<OracleChild, OracleError> {
        match &self.folder {
            Some(folder) => {
                let (command, policy) = self.python.confined_oracle(self.name, folder)?;
                OracleChild::start_within(self.name, command, &policy)
            }
            None => OracleChild::start(self.name, self.python.oracle(self.name)),
        }
    }

    /// Sends a request and waits for the answer.
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
            None => self.start()?,
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
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("python");
        // The script ends at its first start, and answers at the second.
        let script = "#!/bin/sh\nif mkdir \"$0.lived\" 2>/dev/null; then exit 3; fi\n\
                      printf 'GBX1\\013\\0\\0\\0\\0\\0\\0\\0{\"ok\":true}'; sleep 60\n";
        fs::write(&program, script).expect("a script");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("executable");
        let mut oracle = RestartingOracle::new("warp", Python { program, package_folder: None });
        let mut ask = || oracle.call(&json!({"command": "hello"}), b"", Duration::from_secs(60));
        assert!(matches!(ask(), Err(OracleError::Died { .. })));
        assert_eq!(ask().expect("an answer").header["ok"], true);
    }
}
