"""The built-in games in Gymnasium's registry."""

import gymnasium

from gbxcule.game import GAMES


def register() -> None:
    """Register the built-in games with Gymnasium: `gbxcule/PearlDrift-v0` and so on, whose observations are pictures, and
    `gbxcule/PearlDrift-features-v0`, seen and paid as the game's program says. Importing the package does so."""
    for name, game in GAMES.items():
        _register(f"gbxcule/{game.title}-v0", {"rom": name})
        _register(f"gbxcule/{game.title}-features-v0", {"rom": name, "obs": name, "reward": name})


def _register(id: str, arguments: dict[str, str]) -> None:
    if id not in gymnasium.registry:
        gymnasium.register(
            id,
            entry_point="gbxcule.single:SwarmEnv",
            vector_entry_point="gbxcule.factory:make_vec",
            kwargs=arguments,
        )
