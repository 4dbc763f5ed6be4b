"""A dataset by the workers of a Ray cluster, one task a shard.

    python examples/scale/ray_shards.py --shards 64 --out /shared/kernels -- --count 1000000 --seed 7 --device both

Every node has the program `gbxcule` (GBXCULE names another one) and sees the folder. A task whose node is lost is
started again, and so may be the whole script: a shard makes only missing blocks. Options after `--` go to `gbxcule
synth batch`. The address of the cluster is RAY_ADDRESS; without it, Ray starts on this computer.
"""

import argparse
import os
import subprocess

import ray


@ray.remote(max_retries=3)
def shard(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shards", type=int, required=True, help="tasks; at most one for each 500 rows has work")
    parser.add_argument("--cpus", type=int, default=1, help="of a task: its workers")
    parser.add_argument("--out", required=True, help="the folder, seen by all nodes")
    parser.add_argument("batch", nargs="*", help="options of `gbxcule synth batch`, behind --")
    options = parser.parse_args()
    program = os.environ.get("GBXCULE", "gbxcule")
    common = [*options.batch, "--workers", str(options.cpus), "--resume", "--out", options.out]
    ray.init(log_to_driver=False)
    waiting = [
        shard.options(num_cpus=options.cpus).remote(
            [program, "synth", "batch", "--shard", f"{at}/{options.shards}", *common]
        )
        for at in range(options.shards)
    ]
    while waiting:
        done, waiting = ray.wait(waiting)
        print(f"{options.shards - len(waiting)}/{options.shards} shards; {ray.get(done[0]).strip()}", flush=True)
    subprocess.run([program, "synth", "card", options.out], check=True)


if __name__ == "__main__":
    main()
