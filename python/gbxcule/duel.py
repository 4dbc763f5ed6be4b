"""PEARL_HEIST as a duel: scripted players of three strengths, an environment against a player, and a table of Elo numbers.

    python -m gbxcule.duel                                    # the scripted players against each other
    python -m gbxcule.duel --player mine.py:play --games 100  # and a function of yours

A player is a function: of the 32 bytes from C000 on of many machines, uint8 `[n, 32]`, it makes n numbers of actions (see
`ACTIONS`). The game's page explains the bytes.
"""

import argparse
import runpy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space

from gbxcule.argument_check import reset_options, shown, whole, without
from gbxcule.game import GAMES
from gbxcule.observation import Ram
from gbxcule.vector import SwarmVectorEnv

GAME = "PEARL_HEIST"
ACTIONS = GAMES[GAME].actions.split(",")
_NOOP, _UP, _DOWN, _LEFT, _RIGHT, _A, _B = (ACTIONS.index(name) for name in ("NOOP", "UP", "DOWN", "LEFT", "RIGHT", "A", "B"))
# Offsets among the 32 bytes.
_RESULT, _STATE, _X, _HELD, _REST, _RIVALS_EEL, _REEF = 0x04, 0x05, 0x06, 0x0A, 0x0E, 0x14, 0x17
_TITLE = 0
_BYTES = "gbxcule.duel bytes"
# Steps of the longest game, a minute, and of the title before it.
_MAX_STEPS = 1100

Bytes: TypeAlias = npt.NDArray[np.uint8]
Player: TypeAlias = Callable[[Any], Any]


def gatherer(seen: Bytes) -> npt.NDArray[np.int64]:
    """Swim to the nearest pearl."""
    diver = seen[:, None, _X : _X + 2].astype(np.int64) + 4
    ways = seen[:, _REEF : _REEF + 6].reshape(-1, 3, 2).astype(np.int64) - diver
    nearest = np.abs(ways).sum(2).argmin(1)
    right, down = ways[np.arange(len(seen)), nearest].T
    sideways, upright = np.where(right > 0, _RIGHT, _LEFT), np.where(down > 0, _DOWN, _UP)
    return np.where(np.abs(right) > np.abs(down), sideways, upright)


def thief(seen: Bytes) -> npt.NDArray[np.int64]:
    """Gather pearls, and launch an eel as soon as one is ready."""
    # A button must be released before it launches again.
    ready = (seen[:, _REST] == 0) & (seen[:, _HELD] & 1 == 0)
    return np.where(ready, _A, gatherer(seen))


def guard(seen: Bytes) -> npt.NDArray[np.int64]:
    """Steal, and shut the shell while an eel is near."""
    eel = seen[:, _RIVALS_EEL]
    return np.where((eel > 0) & (eel <= 8), _B, thief(seen))


SCRIPTED: dict[str, Player] = {"gatherer": gatherer, "thief": thief, "guard": guard}


class DuelVectorEnv(VectorEnv[Any, Any, Any]):
    """Duels of an agent against an opponent: the name of a scripted player, or a function from the opponents'
    observations to their actions, as in self-play. The other options are those of `make_vec`.

    A step's reward is the agent's earnings minus the rival's, so that both rewards add up to 0. On the title the
    environment itself asks for a game, in every second duel from the opponent's machine.
    """

    def __init__(self, num_envs: int = 1, *, opponent: "str | Player" = "thief", **options: Any) -> None:
        without(
            options,
            {
                "rom": f"a duel plays {GAME}", "link": "a duel has its own cable",
                "actions": "both players press the game's own, gbxcule.duel.ACTIONS",
            },
        )
        if not callable(opponent) and opponent not in SCRIPTED:
            raise ValueError(f"no opponent {shown(opponent)}; there are {', '.join(SCRIPTED)}, or give a function")
        obs = options.pop("obs", "mean")
        self._is_mapping = isinstance(obs, Mapping)
        parts = {**obs} if isinstance(obs, Mapping) else {"": obs}
        self.num_envs = whole("num_envs", num_envs, 1)
        self.swarm = SwarmVectorEnv(GAME, 2 * num_envs, link="pairs", obs={**parts, _BYTES: Ram("C000:C020")}, **options)
        self.opponent = opponent
        self.metadata = self.swarm.metadata
        self.render_mode = self.swarm.render_mode
        named = self.swarm.single_observation_space
        assert isinstance(named, gymnasium.spaces.Dict)
        own = {name: named[name] for name in parts}
        self.single_observation_space = gymnasium.spaces.Dict(own) if self._is_mapping else own[""]
        self.single_action_space = self.swarm.single_action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._seen: dict[str, Any] = {}
        self._calls = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin new duels, in all envs or in those that `options["reset_mask"]` marks."""
        chosen = dict(reset_options(options, ("reset_mask",)))
        if "reset_mask" in chosen:
            chosen["reset_mask"] = np.repeat(np.asarray(chosen["reset_mask"]), 2)
        self._seen, infos = self.swarm.reset(seed=seed, options=chosen)
        return self._of_side(self._seen, 0), self._infos(infos)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Press the agent's actions, and the opponents' actions for the current observations."""
        if not self._seen:
            raise gymnasium.error.ResetNeeded("call reset before the first step")
        seen = self._seen[_BYTES][1::2] if isinstance(self.opponent, str) else self._of_side(self._seen, 1)
        player = SCRIPTED[self.opponent] if isinstance(self.opponent, str) else self.opponent
        both = [self._checked("the agent", actions), self._checked("the opponent", player(seen))]
        pressed = self._called(np.stack(both, 1).reshape(-1))
        self._seen, rewards, terminated, truncated, infos = self.swarm.step(pressed)
        over = terminated[::2] | terminated[1::2]
        balance = rewards[::2] - rewards[1::2]
        return self._of_side(self._seen, 0), balance, over, truncated[::2] & ~over, self._infos(infos)

    def close_extras(self, **_kwargs: Any) -> None:
        """Free the machines."""
        if not self.swarm.closed:
            self.swarm.close()

    def _checked(self, who: str, actions: Any) -> npt.NDArray[Any]:
        """Return a player's actions as an array; refuse a wrong number of actions, and numbers of no action."""
        numbers = np.asarray(actions)
        if numbers.shape != (self.num_envs,) or numbers.dtype.kind not in "iu":
            raise ValueError(
                f"{who}: expected one whole number for each of the {self.num_envs} duels, found {numbers.dtype} {numbers.shape}"
            )
        most = len(ACTIONS) - 1
        if ((numbers < 0) | (numbers > most)).any():
            raise ValueError(f"{who}: actions are 0 to {most}, found {numbers.tolist()}")
        return numbers

    def _called(self, actions: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Replace the actions on the title: one machine of each pair presses A, in every second step."""
        self._calls = not self._calls
        waits = self._seen[_BYTES][:, _STATE] == _TITLE
        number = np.arange(len(actions))
        calls = (number % 2 == number // 2 % 2) & self._calls
        return np.where(waits, np.where(calls, _A, _NOOP), actions)

    def _of_side(self, seen: Mapping[str, Any], side: int) -> Any:
        own = {name: rows[side::2] for name, rows in seen.items() if name != _BYTES}
        return own if self._is_mapping else own[""]

    def _own_part(self, seen: Any) -> Any:
        own = {name: one for name, one in seen.items() if name != _BYTES}
        return own if self._is_mapping else own[""]

    def _infos(self, infos: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, values in infos.items():
            if isinstance(values, Mapping):
                found[name] = self._infos(values)
            elif name == "final_obs":
                found[name] = np.full(self.num_envs, None, object)
                for env, one in enumerate(values[::2]):
                    found[name][env] = None if one is None else self._own_part(one)
            else:
                found[name] = values[::2]
        return found


def one_duel(**_options: Any) -> NoReturn:
    """Refuse `gymnasium.make` of the id of the duels."""
    raise TypeError("duels are a vector environment: call gymnasium.make_vec with this id, with num_envs=1 for one duel")


def played(one: Player, other: Player, games: int, seed: int = 0) -> npt.NDArray[np.float64]:
    """Play duels of two players; return for each 1 if `one` won, 0 if `other` won, and 0.5 for a draw."""
    env = DuelVectorEnv(
        whole("games", games, 1), opponent=lambda seen: other(seen), obs=Ram("C000:C020"), reward=False, autoreset_mode="Disabled"
    )
    seen, _ = env.reset(seed=seed)
    over, results = np.zeros(games, np.bool_), np.full(games, 0.5)
    for _ in range(_MAX_STEPS):
        seen, _, terminated, truncated, _ = env.step(one(seen))
        finished = terminated | truncated
        ended = finished & ~over
        results[ended] = np.choose(seen[ended, _RESULT] - 1, [1.0, 0.0, 0.5])
        over |= ended
        if over.all():
            break
        if finished.any():
            # Envs that have finished play another game, uncounted, until all have finished.
            seen, _ = env.reset(options={"reset_mask": finished})
    env.close()
    return results


Results: TypeAlias = Mapping[tuple[str, str], npt.NDArray[np.float64]]


def elo(results: Results, anchor: str) -> dict[str, float]:
    """Return the most likely Elo numbers, with the anchor at 1000. Each player gets an added draw against an average
    player, so that a player who won every game has a finite number."""
    names = sorted({name for pair in results for name in pair})
    strength = np.zeros(len(names))
    for _ in range(2000):
        gained = 0.5 - 1 / (1 + np.exp(-strength))
        weight = np.full(len(names), 0.25)
        for (one, other), games in results.items():
            first, second = names.index(one), names.index(other)
            chance = 1 / (1 + np.exp(strength[second] - strength[first]))
            difference = games.sum() - len(games) * chance
            gained[first] += difference
            gained[second] -= difference
            weight[[first, second]] += len(games) / 4
        strength += gained / weight
    numbers = strength * 400 / np.log(10)
    return {name: float(number - numbers[names.index(anchor)] + 1000) for name, number in zip(names, numbers, strict=True)}


def drawn_again(results: Results, numbers: Mapping[str, float], rng: np.random.Generator) -> Results:
    """Draw the results of decided games by the chances that Elo numbers give. Draws stay draws."""
    again = {}
    for (one, other), games in results.items():
        chance = 1 / (1 + 10 ** ((numbers[other] - numbers[one]) / 400))
        again[one, other] = np.where(games == 0.5, 0.5, (rng.random(len(games)) < chance).astype(np.float64))
    return again


def _table(results: Results, anchor: str) -> str:
    """Write the table. Its 95 % intervals come from games drawn by the chances of the numbers: a resample of the games
    themselves would give a player who won all of them an interval without width."""
    numbers = elo(results, anchor)
    rng = np.random.default_rng(0)
    again = [elo(drawn_again(results, numbers, rng), anchor) for _ in range(100)]
    lines = ["| player | Elo | 95 % | games | won | lost |", "|---|---:|---:|---:|---:|---:|"]
    for name in sorted(numbers, key=lambda name: -numbers[name]):
        own = np.concatenate([games if one == name else 1 - games for (one, other), games in results.items() if name in (one, other)])
        low, high = np.percentile([each[name] for each in again], [2.5, 97.5])
        lines.append(f"| {name} | {numbers[name]:.0f} | {low:.0f} to {high:.0f} | {len(own)} | {(own == 1).sum()} | {(own == 0).sum()} |")
    return "\n".join(lines)


def _loaded(spelling: str) -> Player:
    path, _, name = spelling.rpartition(":")
    if not path:
        raise SystemExit(f"--player takes FILE.py:FUNCTION, found {spelling}")
    player = runpy.run_path(path).get(name)
    if not callable(player):
        raise SystemExit(f"{path} has no function {name}")
    found: Player = player
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table of Elo numbers."""
    parser = argparse.ArgumentParser(prog="python -m gbxcule.duel", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--player", action="append", default=[], metavar="FILE.py:FUNCTION", help="may be given several times")
    parser.add_argument("--games", type=int, default=64, help="of each two players (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    players = SCRIPTED | {spelling: _loaded(spelling) for spelling in given.player}
    names = list(players)
    pairs = [(one, other) for place, one in enumerate(names) for other in names[place + 1 :]]
    results = {
        (one, other): played(players[one], players[other], whole("--games", given.games, 1), given.seed + number)
        for number, (one, other) in enumerate(pairs)
    }
    print(_table(results, "gatherer"))


if __name__ == "__main__":
    main()
