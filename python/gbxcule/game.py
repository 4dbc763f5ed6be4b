"""Addresses and rewards of the built-in game, so that training it needs no settings.

The addresses are those of docs/roms.md; they are found by label.
"""

from gbxcule.memory import Change, Number

NAME = "PEARL_DRIFT"
REWARD = Change("Score", 2)
DONE = Number("GameOver")
INFO = {"score": Number("Score", 2), "hulls": Number("Hulls"), "level": Number("Level")}
# Sixteen bits from which every sea is made; zero would stay zero.
CHANCE = Number("Random", 2)
