"""The games for one player as a benchmark: random play, scripted players and PPO, as a table and a plot.

    pip install . torch matplotlib
    python examples/benchmark.py --out runs/benchmark --minutes 20 --threads 1 --at-once 2    # hours: docs/benchmark.md
    python examples/benchmark.py --out runs/small --steps 500000 --minutes 1000

PPO is `examples/ppo.py` with one set of settings for all games. It sees each game's own features and is paid by the
game's own reward, divided by the spread of its returns and clipped (`--obs mean` gives it pictures). A score is the
game's own, at the end of an episode of at most 4,500 steps. It is normalised per game: 0 is random play, 100 the
scripted player, which knows the game's memory; the tests of the games hold these players, and `cargo` runs them.

What is done lies in the folder. An interrupted command that is given again goes on where it was.
"""

import argparse
import hashlib
import itertools
import json
import multiprocessing
import os
import pickle
import platform
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import gbxcule
import numpy as np
import ppo
import torch
from gbxcule import _native, registration
from gbxcule.game import EPISODE_STEPS
from gbxcule.game import GAMES as ROWS
from gymnasium.wrappers.vector import ClipReward, NormalizeReward

EPISODES = 20
# Training has the seeds 0, 1, 2 and so on. Swarms of two seeds share no env's episodes.
EVALUATION_SEED = 10_000
# For one player.
GAMES = [name for name, row in ROWS.items() if not row.has_rival]
SCRIPTED_EPISODES = 3
RANDOM, SCRIPTED, PPO = "random", "scripted", "PPO"
# Of a step, in spreads of the returns: a rare one that is larger would drown the others.
MAX_REWARD = 10.0
# Seconds between two states of a training that are kept.
KEEP_EVERY = 60
ROOT = Path(__file__).resolve().parent.parent

Run = dict[str, Any]


def make(game: str, obs: str, envs: int, threads: int) -> gbxcule.SwarmVectorEnv:
    return gbxcule.make_vec(
        game, envs, obs=game if obs == "features" else obs, reward=game, max_episode_steps=EPISODE_STEPS,
        autoreset_mode="SameStep", threads=threads,
    )


def scores_of(env: gbxcule.SwarmVectorEnv, seed: int, agent: ppo.Agent | None) -> list[float]:
    """Score of each env's first episode, played by an agent or by chance."""
    rng = np.random.default_rng(seed)
    obs = torch.from_numpy(env.reset(seed=seed)[0]).clone()
    seen = torch.stack([obs, obs], 1)
    scores = np.full(env.num_envs, np.nan)
    while np.isnan(scores).any():
        if agent is None:
            actions = rng.integers(env.single_action_space.n, size=env.num_envs)
        else:
            with torch.no_grad():
                actions = agent(seen)[0].sample().numpy()
        obs, _, terminated, truncated, infos = env.step(actions)
        over = terminated | truncated
        seen = ppo.beside_the_last(seen, obs, torch.from_numpy(over))
        if over.any():
            first = over & np.isnan(scores)
            scores[first] = infos["final_info"]["score"][first]
    return scores.tolist()


def scripted_scores(game: str) -> list[float]:
    """Scores of the player that the game's tests have, which is written in Rust."""
    frames = EPISODE_STEPS * ROWS[game].frames_per_step
    told = {"GBXCULE_GAME": game, "GBXCULE_FRAMES": str(frames), "GBXCULE_EPISODES": str(SCRIPTED_EPISODES)}
    command = ["cargo", "test", "--quiet", "--package", "gbxcule-games", "--test", "games", "--", "--ignored"]
    command += ["--exact", "--nocapture", "score::scripted_players_earn_points"]
    try:
        ran = subprocess.run(command, cwd=ROOT, env=os.environ | told, check=True, capture_output=True, text=True)
    except FileNotFoundError as error:
        missing = "the scripted players are written in Rust: install `cargo`, or leave `scripted` out"
        raise SystemExit(missing) from error
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"the scripted player of {game} failed:\n{error.stdout}{error.stderr}") from error
    return [float(line.split()[1]) for line in ran.stdout.splitlines() if line.startswith("score ")]


class Training:
    """One run of PPO, whose state lies in a file while it is not done.

    Its seconds are processor time, so that what else a machine does costs no steps.
    """

    def __init__(self, path: Path, game: str, seed: int, arguments: argparse.Namespace) -> None:
        self.path = path
        self.threads = arguments.threads
        self.curve: list[tuple[int, float]] = []
        self.seconds = 0.0
        kept = torch.load(path, weights_only=False) if path.exists() else None
        machines = pickle.loads(kept["env"]) if kept else make(game, arguments.obs, ppo.ENVS, arguments.threads)
        self.spread = NormalizeReward(machines, gamma=ppo.GAMMA)
        self.env = ClipReward(self.spread, -MAX_REWARD, MAX_REWARD)
        self.learner = ppo.Learner(self.env, seed) if kept is None else self._learner_of(kept)

    def _learner_of(self, kept: dict[str, Any]) -> ppo.Learner:
        learner = ppo.Learner.__new__(ppo.Learner)
        learner.__dict__.update(kept["learner"], env=self.env)
        self.spread.return_rms, self.spread.accumulated_reward = kept["spread"]
        self.curve, self.seconds = kept["curve"], kept["seconds"]
        torch.set_rng_state(kept["random"])
        return learner

    def keep(self) -> None:
        learner = {name: value for name, value in self.learner.__dict__.items() if name != "env"}
        kept = {
            "env": pickle.dumps(self.env.unwrapped), "learner": learner, "curve": self.curve, "seconds": self.seconds,
            "spread": (self.spread.return_rms, self.spread.accumulated_reward), "random": torch.get_rng_state(),
        }
        written = self.path.with_suffix(".new")
        torch.save(kept, written)
        written.replace(self.path)

    def run(self, steps: int, minutes: float) -> None:
        last = time.process_time()
        unkept = 0.0
        while (left := 1 - max(self.learner.steps / steps, self.seconds / (60 * minutes))) > 0:
            self.learner.update(left)
            now = time.process_time()
            took, last = (now - last) / self.threads, now
            self.seconds, unkept = self.seconds + took, unkept + took
            if self.learner.scores:
                self.curve.append((self.learner.steps, float(np.mean(self.learner.scores))))
            if unkept > KEEP_EVERY:
                self.keep()
                unkept = 0.0
                command = multiprocessing.parent_process()
                if command is not None and not command.is_alive():
                    # Killed. An exception would wait for a command that takes it.
                    os._exit(1)


def played(game: str, player: str, seed: int, arguments: argparse.Namespace) -> Run:
    """One row of the results: a player, a game, a seed."""
    torch.set_num_threads(arguments.threads)
    run: Run = {"game": game, "player": player, "seed": seed}
    if player == SCRIPTED:
        return run | {"scores": scripted_scores(game)}
    env = make(game, arguments.obs, EPISODES, arguments.threads)
    if player == RANDOM:
        return run | {"scores": scores_of(env, EVALUATION_SEED + seed, None)}
    training = Training(arguments.out / f"{game}-{seed}.pt", game, seed, arguments)
    training.run(arguments.steps, arguments.minutes)
    learner = training.learner
    scores = scores_of(env, EVALUATION_SEED + seed, learner.agent)
    ran = {"steps": learner.steps, "seconds": round(training.seconds), "curve": training.curve}
    return run | {"scores": scores} | ran


def played_at_once(rows: list[tuple[str, str, int]], arguments: argparse.Namespace) -> Iterator[Run]:
    """Play the rows, some beside each other, each in a process of its own; the first that is done comes first."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(arguments.at_once, fresh) as pool:
        runs: list[Future[Run]] = [pool.submit(played, *row, arguments) for row in rows]
        try:
            yield from (run.result() for run in as_completed(runs))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def machine() -> str:
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")] \
        if Path("/proc/cpuinfo").exists() else []
    name = names[0].split(":", 1)[1].strip() if names else platform.processor()
    return f"{name}, {os.cpu_count()} cores, {platform.system()}"


def results_in(path: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    settings = {
        "obs": arguments.obs, "steps": arguments.steps, "minutes": arguments.minutes, "episode_steps": EPISODE_STEPS,
        "episodes": EPISODES, "evaluation_seed": EVALUATION_SEED, "ids": f"v{registration.VERSION}",
        "roms": {name: hashlib.sha256(_native.built_in_rom(name)).hexdigest() for name in GAMES},
    }
    if not path.exists():
        made = {"machine": machine(), "threads": arguments.threads, "gbxcule": _native.version()}
        return {"settings": settings, **made, "runs": []}
    results: dict[str, Any] = json.loads(path.read_text())
    if results["settings"] != settings:
        raise SystemExit(f"{path} was made with {results['settings']}: give the same, or another --out")
    return results


def write(path: Path, text: str) -> None:
    written = path.with_suffix(".new")
    written.write_text(text)
    written.replace(path)


def scores_by_player(results: dict[str, Any], game: str) -> dict[str, list[list[float]]]:
    """Lists of scores, one of each seed."""
    found: dict[str, list[list[float]]] = {}
    for run in results["runs"]:
        if run["game"] == game:
            found.setdefault(run["player"], []).append(run["scores"])
    return found


def normalised(score: float, players: dict[str, list[list[float]]]) -> float:
    low, high = np.mean(players[RANDOM]), np.mean(players[SCRIPTED])
    return float(100 * (score - low) / (high - low))


def table(results: dict[str, Any]) -> str:
    """Means, and the least and the greatest mean of a seed."""
    lines = ["| game | random | scripted | PPO | its seeds | PPO, normalised |", "|---|---:|---:|---:|---:|---:|"]
    for game in GAMES:
        players = scores_by_player(results, game)
        if {RANDOM, SCRIPTED, PPO} <= players.keys():
            seeds = [float(np.mean(scores)) for scores in players[PPO]]
            means = " | ".join(f"{np.mean(players[player]):,.0f}" for player in (RANDOM, SCRIPTED, PPO))
            spread = f"{min(seeds):,.0f} to {max(seeds):,.0f}"
            lines.append(f"| {game} | {means} | {spread} | {normalised(float(np.mean(seeds)), players):.1f} |")
    return "\n".join(lines) + "\n"


def plot(results: dict[str, Any], path: Path) -> None:
    """Curves of all seeds of each game, beside random play and the scripted player."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(-(-len(GAMES) // 4), 4, squeeze=False, figsize=(14, 6), layout="constrained")
    games = [game for game in GAMES if any(run["game"] == game for run in results["runs"])]
    for axes in panels.flat[len(games) :]:
        axes.set_axis_off()
    for axes, game in zip(panels.flat, games, strict=False):
        players = scores_by_player(results, game)
        curves = [run["curve"] for run in results["runs"] if run["game"] == game and run["player"] == PPO]
        curves = [np.array(curve) for curve in curves if curve]
        if curves:
            first, last = max(curve[0, 0] for curve in curves), min(curve[-1, 0] for curve in curves)
            steps = np.linspace(first, last, 200)
            scores = np.array([np.interp(steps, curve[:, 0], curve[:, 1]) for curve in curves])
            axes.plot(steps / 1e6, scores.mean(0), color="tab:blue", label="PPO, mean and range of the seeds")
            axes.fill_between(steps / 1e6, scores.min(0), scores.max(0), color="tab:blue", alpha=0.25, linewidth=0)
        for player, style in ((RANDOM, "--"), (SCRIPTED, "-")):
            if player in players:
                axes.axhline(np.mean(players[player]), color="gray", linestyle=style, label=player)
        axes.set_yscale("symlog", linthresh=10)
        axes.set(title=game, xlabel="million steps", ylabel="score", ylim=(0, None))
    panels.flat[0].legend(fontsize="small")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("runs/benchmark"))
    parser.add_argument("--steps", type=int, default=10**12, help="environment steps of each training")
    parser.add_argument("--minutes", type=float, default=20.0, help="its longest time, of a processor per thread")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--games", nargs="+", default=GAMES, choices=GAMES)
    parser.add_argument("--players", nargs="+", default=[RANDOM, SCRIPTED, PPO], choices=[RANDOM, SCRIPTED, PPO])
    parser.add_argument("--obs", default="features", choices=["features", "mean"], help="what PPO sees")
    parser.add_argument("--threads", type=int, default=2, help="threads of each run")
    parser.add_argument("--at-once", type=int, default=1, help="runs beside each other")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "results.json"
    results = results_in(path, arguments)
    done = {(run["game"], run["player"], run["seed"]) for run in results["runs"]}
    rows = [
        (game, player, seed)
        for seed, player, game in itertools.product(range(arguments.seeds), arguments.players, arguments.games)
        if (game, player, seed) not in done and (player != SCRIPTED or seed == 0)
    ]
    for run in played_at_once(rows, arguments):
        game, player, seed = run["game"], run["player"], run["seed"]
        results["runs"].append(run)
        write(path, json.dumps(results, indent=1))
        write(arguments.out / "table.md", table(results))
        plot(results, arguments.out / "curves.png")
        if player == PPO:
            (arguments.out / f"{game}-{seed}.pt").unlink(missing_ok=True)
        print(f"{game} {player} {seed}: score {np.mean(run['scores']):.1f} {run.get('seconds', '')}", flush=True)
    print(table(results), end="")


if __name__ == "__main__":
    main()
