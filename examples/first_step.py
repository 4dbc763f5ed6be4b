"""Seconds of processor time from `make_vec` to the first step, each game in a separate process.

    python examples/first_step.py --num-envs 64

A game's own program makes each process read the machine's sources once, and compile the program. A second environment
takes the machine code of the first while the first exists, and otherwise compiles it again.
"""

import argparse
import subprocess
import sys
import time

from gbxcule.game import GAMES

ONE = "--one"


def made(game: str, has_program: bool, num_envs: int):
    """An environment, and seconds to make it, to reset it and to step it."""
    import gbxcule

    begun = time.process_time()
    options = {"obs": game, "reward": game} if has_program else {}
    env = gbxcule.make_vec(game, num_envs, threads=1, **options)
    made_at = time.process_time()
    env.reset(seed=0)
    reset_at = time.process_time()
    env.step([0] * num_envs)
    return env, (made_at - begun, reset_at - made_at, time.process_time() - reset_at)


def row(game: str, has_program: bool, num_envs: int) -> str:
    env, seconds = made(game, has_program, num_envs)
    twin, again = made(game, has_program, num_envs)
    del env, twin
    _, anew = made(game, has_program, num_envs)
    columns = (seconds[0], again[0], anew[0], *seconds[1:])
    kind = "its program" if has_program else "pictures"
    return f"| {game} | {kind} | " + " | ".join(f"{one:.3f}" for one in columns) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument(ONE, nargs=2, metavar=("GAME", "KIND"), help="this one, in this process")
    arguments = parser.parse_args()
    if arguments.one:
        game, kind = arguments.one
        print(row(game, kind == "program", arguments.num_envs))
        return
    print("| game | seen by | made first | beside another | when none is left | reset | first step |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for game in GAMES:
        for kind in ("pictures", "program"):
            command = [sys.executable, __file__, ONE, game, kind, "--num-envs", str(arguments.num_envs)]
            print(subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="", flush=True)


if __name__ == "__main__":
    main()
