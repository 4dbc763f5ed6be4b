"""The built-in games in Gymnasium's registry.

The version of an id is raised when the same actions and seed give other observations, rewards or ends than before, by a
change of the game's ROM, its row, its program, or how seeds become episodes. It is one for all games.
"""

import gymnasium

from gbxcule.game import GAMES

VERSION = 1


def register() -> None:
    """Register the built-in games with Gymnasium: `gbxcule/PearlDrift-v1` and so on, whose observations are pictures, and
    `gbxcule/PearlDrift-features-v1`, seen and paid as the game's program says; and the duels of PEARL_HEIST, for
    `gymnasium.make_vec`. Importing the package does so."""
    for name, game in GAMES.items():
        for kind, arguments in (("", {}), ("-features", {"obs": name, "reward": name})):
            _register(f"gbxcule/{game.title}{kind}-v{VERSION}", game.max_episode_steps, {"rom": name, **arguments})
    duel = f"gbxcule/PearlHeist-duel-v{VERSION}"
    if duel not in gymnasium.registry:
        gymnasium.register(duel, vector_entry_point="gbxcule.duel:DuelVectorEnv")


def _register(id: str, max_episode_steps: int | None, arguments: dict[str, str]) -> None:
    if id not in gymnasium.registry:
        gymnasium.register(
            id,
            entry_point="gbxcule.single:RegisteredEnv",
            vector_entry_point="gbxcule.factory:make_vec",
            max_episode_steps=max_episode_steps,
            kwargs=arguments,
        )
