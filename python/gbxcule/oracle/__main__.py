"""`python -m gbxcule.oracle NAME`: serve one oracle on stdin and stdout until stdin closes."""

import argparse
import sys

from gbxcule.oracle import framing

# Packages that the oracles need, by the name of the module that is imported.
PACKAGES = {"pyboy": "pyboy==2.8.1", "warp": "warp-lang==1.19.0"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m gbxcule.oracle", description=__doc__)
    parser.add_argument("name", choices=["pyboy", "warp"], help="which reference to serve")
    arguments = parser.parse_args()
    channel = framing.Channel.from_standard_streams()
    try:
        if arguments.name == "pyboy":
            from gbxcule.oracle import pyboy_server as server
        else:
            from gbxcule.oracle import warp_server as server
    except ModuleNotFoundError as error:
        if error.name not in PACKAGES:
            raise
        sys.exit(
            f"{sys.executable} has no `{error.name}`: `{sys.executable} -m pip install {PACKAGES[error.name]}`, "
            "or name another Python in GBXCULE_PYTHON"
        )
    return framing.serve(channel, server.commands())


if __name__ == "__main__":
    sys.exit(main())
