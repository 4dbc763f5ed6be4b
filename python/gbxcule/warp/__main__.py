"""Run a program of NVIDIA Warp's with `gbxcule.warp` in Warp's place: `python -m gbxcule.warp PROGRAM ARGUMENTS..`.

With `--record FOLDER` before the program it writes inputs of the program's launches there.
"""

import argparse
import os
import runpy
import sys

from gbxcule import warp
from gbxcule.warp import recording


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m gbxcule.warp", description="Run a program for NVIDIA Warp.")
    parser.add_argument(
        "--record", metavar="FOLDER", help="write inputs of launches there, for `gbxcule synth harvest --inputs FOLDER`"
    )
    parser.add_argument("program", help="a Python file that says `import warp`")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own arguments")
    given = parser.parse_args()
    if not os.path.isfile(given.program):
        parser.error(f"there is no file `{given.program}`")
    warp.stand_in()
    if given.record is not None:
        recording.record(given.record)
    sys.argv = [given.program, *given.arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(given.program))
    runpy.run_path(given.program, run_name="__main__")


if __name__ == "__main__":
    main()
