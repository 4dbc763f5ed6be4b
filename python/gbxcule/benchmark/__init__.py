"""The benchmark of the built-in games, protocol 1: `python -m gbxcule.benchmark` (docs/benchmark.md).

Data flow: `protocol` names tasks and makes environments -> an agent of `agent`, `play`'s random or scripted player plays
-> `results` keeps scores and curves in a folder -> `report` makes the table, by `statistic`, and the picture.
"""
