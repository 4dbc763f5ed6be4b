"""The public names of the package, each with its module. The package imports a name when it is first used."""

from gbxcule import kernel as kernel
from gbxcule import observation as observation
from gbxcule import rank as rank
from gbxcule import symbol as symbol
from gbxcule.action import Buttons as Buttons
from gbxcule.action import Choices as Choices
from gbxcule.action import Press as Press
from gbxcule.checkpoint import restore as restore
from gbxcule.factory import make_vec as make_vec
from gbxcule.info import Cell as Cell
from gbxcule.info import Hook as Hook
from gbxcule.memory import Change as Change
from gbxcule.memory import Number as Number
from gbxcule.observation import Flags as Flags
from gbxcule.observation import Numbers as Numbers
from gbxcule.observation import Ram as Ram
from gbxcule.program import Machine as Machine
from gbxcule.program import program_text as program_text
from gbxcule.rank import make_vec_for_rank as make_vec_for_rank
from gbxcule.record_best import RecordBest as RecordBest
from gbxcule.registration import register as register
from gbxcule.single import SwarmEnv as SwarmEnv
from gbxcule.single import make as make
from gbxcule.symbol import load_symbols as load_symbols
from gbxcule.tiles import tile_program as tile_program
from gbxcule.vector import SwarmVectorEnv as SwarmVectorEnv
