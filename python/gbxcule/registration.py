"""The built-in games in Gymnasium's registry.

The version of an id, common to all games, is raised when a change makes the same actions and seed give other
observations, rewards or ends: a change of a game's ROM, row or program, or of how seeds become episodes.
"""

import gymnasium

from gbxcule.game import GAMES

VERSION = 1


def register() -> None:
    """Register the built-in games with Gymnasium; importing the package does so. `gbxcule/PearlDrift-v1` and so on
    have pictures as observations, `gbxcule/PearlDrift-features-v1` the observations and rewards of the game's
    program. The duels of PEARL_HEIST are for `gymnasium.make_vec`."""
    for name, game in GAMES.items():
        for kind, arguments in (("", {}), ("-features", {"obs": name, "reward": name})):
            _register(f"gbxcule/{game.title}{kind}-v{VERSION}", game.max_episode_steps, {"rom": name, **arguments})
    duel = f"gbxcule/PearlHeist-duel-v{VERSION}"
    if duel not in gymnasium.registry:
        gymnasium.register(duel, entry_point="gbxcule.duel:one_duel", vector_entry_point="gbxcule.duel:DuelVectorEnv")


def _register(id: str, max_episode_steps: int | None, arguments: dict[str, str]) -> None:
    if id not in gymnasium.registry:
        gymnasium.register(
            id,
            entry_point="gbxcule.single:RegisteredEnv",
            vector_entry_point="gbxcule.factory:make_vec",
            max_episode_steps=max_episode_steps,
            kwargs=arguments,
        )
