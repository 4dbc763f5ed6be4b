"""The adapters. The package imports one when it is first used."""

from gbxcule.adapter import pettingzoo as pettingzoo
from gbxcule.adapter import pool as pool
from gbxcule.adapter import puffer as puffer
from gbxcule.adapter import sb3 as sb3
