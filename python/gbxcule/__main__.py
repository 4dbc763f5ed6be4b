"""The command `gbxcule`, also as `python -m gbxcule`; the work is done in Rust."""

import os
import signal
import sys
from pathlib import Path


def main() -> int:
    """Run the command line of this process; return its exit status."""
    from gbxcule import _native

    # Python's own handler would wait for Rust to return; the system's ends the process at once.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Rust looks for PyBoy and NVRTC in the environment of this interpreter.
    os.environ.setdefault("GBXCULE_PYTHON", sys.executable)
    script = Path(sys.argv[0])
    beside = Path(sys.executable).with_name("gbxcule")
    # Bundles record this path in the command that repeats them.
    if script.name != "gbxcule" and beside.exists():
        script = beside
    is_module = script.name != "gbxcule"
    if is_module:
        # A `gbxcule` somewhere on the PATH may be of another version.
        script = Path(sys.executable)
    return _native.run_command([str(script.absolute()), *sys.argv[1:]], is_module)


if __name__ == "__main__":
    sys.exit(main())
