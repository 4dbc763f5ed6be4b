"""A dataset by the executors of a Spark cluster, one task a shard.

    spark-submit examples/scale/spark_shards.py --shards 64 --out /shared/kernels -- --count 1000000 --seed 7 --device both

Every executor has the program `gbxcule` (GBXCULE names another one) and sees the folder. A task that fails is tried
again (`spark.task.maxFailures` times), and the whole script may be started again: a shard makes only missing blocks.
Options after `--` go to `gbxcule synth batch`.
"""

import argparse
import os
import subprocess

from pyspark.sql import SparkSession


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shards", type=int, required=True, help="tasks; at most one for each 500 rows has work")
    parser.add_argument("--out", required=True, help="the folder, seen by all nodes")
    parser.add_argument("batch", nargs="*", help="options of `gbxcule synth batch`, behind --")
    options = parser.parse_args()
    program = os.environ.get("GBXCULE", "gbxcule")
    shards, common = options.shards, [*options.batch, "--resume", "--out", options.out]

    def shard(at: int) -> str:
        command = [program, "synth", "batch", "--shard", f"{at}/{shards}", *common]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
        return done.stdout.strip()

    spark = SparkSession.builder.appName("kernels").getOrCreate()
    for line in spark.sparkContext.parallelize(range(shards), shards).map(shard).collect():
        print(line)
    spark.stop()
    subprocess.run([program, "synth", "card", options.out], check=True)


if __name__ == "__main__":
    main()
