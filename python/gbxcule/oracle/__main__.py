"""`python -m gbxcule.oracle NAME`: serve one oracle on stdin and stdout until stdin closes."""

import argparse
import sys

from gbxcule.oracle import framing


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m gbxcule.oracle", description=__doc__)
    parser.add_argument("name", choices=["pyboy", "warp"], help="which reference to serve")
    arguments = parser.parse_args()
    channel = framing.Channel.from_standard_streams()
    if arguments.name == "pyboy":
        from gbxcule.oracle import pyboy_server as server
    else:
        from gbxcule.oracle import warp_server as server
    return framing.serve(channel, server.commands())


if __name__ == "__main__":
    sys.exit(main())
