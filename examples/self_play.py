"""PEARL_HEIST learned in self-play: PPO in NumPy alone, against the player that it is and those that it was.

    pip install .
    python examples/self_play.py --minutes 10
    python -m gbxcule.duel --player examples/self_play.py:play

Both sides see the 32 bytes that a player of `gbxcule.duel` sees. In every round the opponent is the newest player or one
of an earlier round. The weights go to `runs/self_play.npz`, from which `play` plays; at the end the player meets each of the
scripted ones.
"""

import argparse
import functools
import os
import time
from typing import Any

import gbxcule
import numpy as np
from gbxcule.duel import ACTIONS, SCRIPTED, DuelVectorEnv, played

WEIGHTS = os.environ.get("SELF_PLAY_WEIGHTS", "runs/self_play.npz")
GAMMA, LAMBDA, CLIP, ENTROPY, RATE = 0.98, 0.95, 0.2, 0.01, 1e-3
STEPS, EPOCHS, BATCHES, HIDDEN = 64, 4, 4, 64
REWARD_SCALE = 0.2
# A player of an earlier round is kept every so many rounds.
KEEP_EVERY = 10


def features(seen: Any) -> Any:
    """Numbers around 1 of what the bytes mean (games/pearl_heist/program.py)."""
    bytes_ = np.asarray(seen).astype(np.float32)
    diver = bytes_[:, 6:8]
    ways = (bytes_[:, 0x17:0x1D].reshape(-1, 3, 2) - diver[:, None] - 4) / 32
    nearest = np.abs(ways).sum(2).argmin(1)
    near = ways[np.arange(len(ways)), nearest]
    other = [
        bytes_[:, 5:6] == 1, diver / 80 - 1, bytes_[:, 0:1] / 20, bytes_[:, 2:3] / 20, bytes_[:, 8:9] / 60,
        bytes_[:, 0x0E:0x0F] == 0, bytes_[:, 0x0E:0x0F] / 120, bytes_[:, 0x12:0x13], bytes_[:, 0x13:0x15] / 48,
        np.asarray(seen)[:, 0x0A:0x0B] & 1, np.clip(near, -1, 1), np.sign(near), ways.reshape(-1, 6),
    ]
    return np.concatenate(other, 1).astype(np.float32)


class Player:
    """A policy and a value: one hidden layer."""

    def __init__(self, weights: "list[Any] | None" = None, seed: int = 0) -> None:
        rng, inputs = np.random.default_rng(seed), features(np.zeros((1, 32), np.uint8)).shape[1]
        sizes = [(inputs, HIDDEN), (HIDDEN, len(ACTIONS)), (HIDDEN, 1)]
        made = [(rng.normal(size=size) / np.sqrt(size[0]) * scale, np.zeros(size[1])) for size, scale in zip(sizes, (1, 0.01, 1), strict=True)]
        self.weights = weights or [part.astype(np.float32) for pair in made for part in pair]
        self.rng = rng

    def look(self, seen: Any) -> tuple[Any, Any, Any]:
        """The hidden layer, the logarithms of all actions' chances, and the value."""
        w1, b1, w2, b2, w3, b3 = self.weights
        hidden = np.tanh(seen @ w1 + b1)
        logits = hidden @ w2 + b2
        logits -= logits.max(1, keepdims=True)
        return hidden, logits - np.log(np.exp(logits).sum(1, keepdims=True)), (hidden @ w3 + b3)[:, 0]

    def __call__(self, seen: Any) -> Any:
        """Draw an action of each row of bytes."""
        chances = np.exp(self.look(features(seen))[1])
        return (chances.cumsum(1) > self.rng.random((len(chances), 1))).argmax(1)

    def gradients(self, seen: Any, actions: Any, before: Any, gains: Any, targets: Any) -> list[Any]:
        """Gradients of PPO's loss: the clipped gain, a quarter of the squared error of the value, less the entropy."""
        w1, _, w2, _, w3, _ = self.weights
        hidden, logs, values = self.look(seen)
        rows, count = np.arange(len(seen)), len(seen)
        ratio = np.exp(logs[rows, actions] - before)
        is_clipped = np.where(gains > 0, ratio > 1 + CLIP, ratio < 1 - CLIP)
        chances = np.exp(logs)
        by_logit = chances * np.where(is_clipped, 0, ratio * gains)[:, None]
        by_logit[rows, actions] -= np.where(is_clipped, 0, ratio * gains)
        by_logit += ENTROPY * chances * (logs - (chances * logs).sum(1, keepdims=True))
        by_value = 0.5 * (values - targets)[:, None]
        by_hidden = (by_logit @ w2.T + by_value @ w3.T) * (1 - hidden**2)
        pairs = [(seen, by_hidden), (hidden, by_logit), (hidden, by_value)]
        return [part / count for inputs, by in pairs for part in (inputs.T @ by, by.sum(0))]


class Adam:
    """Adam, with gradients of a norm of at most 0.5."""

    def __init__(self, weights: list[Any]) -> None:
        self.weights, self.count = weights, 0
        self.mean, self.square = ([np.zeros_like(each) for each in weights] for _ in range(2))

    def step(self, gradients: list[Any]) -> None:
        self.count += 1
        norm = np.sqrt(sum(float((each**2).sum()) for each in gradients))
        for weight, mean, square, gradient in zip(self.weights, self.mean, self.square, gradients, strict=True):
            gradient = gradient * min(1.0, 0.5 / (norm + 1e-6))
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient**2 - square)
            weight -= RATE * (mean / (1 - 0.9**self.count)) / (np.sqrt(square / (1 - 0.999**self.count)) + 1e-5)


def learn(player: Player, adam: Adam, steps: "list[tuple[Any, ...]]", last: Any, rng: Any) -> None:
    """Improve the player by the steps of a round: what was seen, done, its chance, the value, reward, end, and whether the
    step counts; the one behind an end begins the next duel."""
    seen, actions, before, values, rewards, over, counts = (np.stack(each) for each in zip(*steps, strict=True))
    gains, gain = np.zeros_like(rewards), np.zeros_like(last)
    for step in reversed(range(len(steps))):
        after = last if step + 1 == len(steps) else values[step + 1]
        goes_on = 1.0 - over[step]
        gain = rewards[step] + GAMMA * after * goes_on - values[step] + GAMMA * LAMBDA * goes_on * gain
        gain = gain * counts[step]
        gains[step] = gain
    kept = counts.reshape(-1) > 0
    seen, actions, before, targets, gains = (
        each.reshape(-1, *each.shape[2:])[kept] for each in (seen, actions, before, gains + values, gains)
    )
    for _ in range(EPOCHS):
        for part in np.array_split(rng.permutation(len(seen)), BATCHES):
            gain = (gains[part] - gains[part].mean()) / (gains[part].std() + 1e-8)
            adam.step(player.gradients(seen[part], actions[part], before[part], gain, targets[part]))


def play(seen: Any) -> Any:
    """The trained player, for `python -m gbxcule.duel --player`."""
    return _trained()(seen)


@functools.cache
def _trained() -> Player:
    with np.load(WEIGHTS) as kept:
        return Player([kept[name] for name in kept.files])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--envs", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--games", type=int, default=64, help="against each scripted player at the end")
    given = parser.parse_args()
    rng, player = np.random.default_rng(given.seed), Player(seed=given.seed)
    adam, rival, past = Adam(player.weights), Player(seed=given.seed + 1), [[each.copy() for each in player.weights]]
    env = DuelVectorEnv(
        given.envs, opponent=rival, obs=gbxcule.Ram("C000:C020"), reward="PEARL_HEIST", threads=given.threads
    )
    seen, _ = env.reset(seed=given.seed)
    begin, rounds, was_over = time.monotonic(), 0, np.zeros(given.envs, np.bool_)
    while time.monotonic() - begin < 60 * given.minutes:
        newest = rng.random() < 0.5
        rival.weights = player.weights if newest else past[rng.integers(len(past))]
        steps: list[tuple[Any, ...]] = []
        for _ in range(STEPS):
            inputs = features(seen)
            _, logs, values = player.look(inputs)
            actions = (np.exp(logs).cumsum(1) > rng.random((given.envs, 1))).argmax(1)
            # The title waits for the environment's own call.
            counts = ~was_over & (seen[:, 5] == 1)
            seen, rewards, terminated, truncated, _ = env.step(actions)
            over = terminated | truncated
            chosen = logs[np.arange(given.envs), actions]
            steps.append((inputs, actions, chosen, values, rewards * REWARD_SCALE, over, counts.astype(np.float32)))
            was_over = over
        learn(player, adam, steps, player.look(features(seen))[2], rng)
        rounds += 1
        if rounds % KEEP_EVERY == 0:
            past.append([each.copy() for each in player.weights])
            print(f"round {rounds}, {rounds * STEPS * given.envs:,} steps, {(time.monotonic() - begin) / 60:.1f} minutes", flush=True)
    env.close()
    os.makedirs(os.path.dirname(WEIGHTS) or ".", exist_ok=True)
    np.savez(WEIGHTS, *player.weights)
    for name, scripted in SCRIPTED.items():
        results = played(player, scripted, given.games, seed=given.seed)
        print(f"{name}: won {(results == 1).sum()}, lost {(results == 0).sum()} of {given.games}")


if __name__ == "__main__":
    main()
