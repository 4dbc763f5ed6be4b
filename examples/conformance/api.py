"""Count the names of NVIDIA Warp's public interface that `gbxcule.warp` has, and those that behave as Warp's.

    python api.py            prints the table and the differences
    python api.py --hold     the same; fails if docs/conformance.md has other numbers
    python api.py --write    writes the table into docs/conformance.md

Needs a Python that has both. A builtin that Python can call is called in both, for each of its overloads, with the same
random numbers.
"""

import argparse
import inspect
import pathlib
import sys
from collections import Counter

import numpy as np
import warp
import warp.optim
from warp._src.context import builtin_functions

import gbxcule.warp as ours

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "conformance.md"
BEGIN, END = "<!-- api: begin -->", "<!-- api: end -->"
CLASSES = ("array", "indexedarray", "Tape", "Mesh", "Bvh", "HashGrid")
# Greatest difference of close results, in units in the last place of the largest number.
SPREAD = 16
CLOSE = f"within {SPREAD} units in the last place of the largest number"


def public(of) -> "list[str]":
    return [name for name in dir(of) if not name.startswith("_")]


def is_public(builtin) -> bool:
    """Tell whether Warp documents one of a builtin's overloads; functions in Python have no overloads."""
    overloads = getattr(builtin, "overloads", [])
    return not overloads or any(not each.hidden for each in overloads)


def is_here(of, name: str) -> bool:
    """Tell whether a name exists and its use raises no error about a missing name."""
    try:
        return type(getattr(of, name)).__name__ != "Missing"
    except (AttributeError, NotImplementedError):
        return False


def takes_as_much(theirs, mine) -> "bool | None":
    """Tell whether one function takes every parameter of another; `None` if a signature is unknown."""
    try:
        wanted, taken = inspect.signature(theirs).parameters, inspect.signature(mine).parameters
    except (TypeError, ValueError):
        return None
    kinds = {each.kind for each in taken.values()}
    if inspect.Parameter.VAR_KEYWORD in kinds and inspect.Parameter.VAR_POSITIONAL in kinds:
        return True
    variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    named = {name for name, each in wanted.items() if each.kind not in variable and not name.startswith("_")}
    return named <= set(taken) or inspect.Parameter.VAR_KEYWORD in kinds


def drawn(of, at: int, random):
    """Draw the numbers of an argument of a Warp type; `None` if the type is neither a number nor a row of numbers.

    Whole numbers rise from argument to argument, so that ranges have numbers in them.
    """
    scalar = getattr(of, "_wp_scalar_type_", of)
    if not isinstance(scalar, type) or scalar not in (*warp._src.types.scalar_types, bool, int, float):
        return None
    count = int(np.prod(getattr(of, "_shape_", (1,))))
    if scalar in (bool, warp.bool):
        return [bool(random.integers(2)) for _ in range(count)]
    if scalar in warp._src.types.float_types or scalar is float:
        return [float(np.float16(random.uniform(0.125, 0.9))) for _ in range(count)]
    return [int(random.integers(1 + 4 * at, 5 + 4 * at)) for _ in range(count)]


def made(module, of, numbers):
    """Make an argument of numbers, of the type of the same name."""
    if of in (bool, int, float) or of.__name__ == "bool":
        return numbers[0]
    if hasattr(of, "_wp_scalar_type_"):
        return spelled(module, of)(*numbers)
    return getattr(module, of.__name__)(numbers[0])


def spelled(module, of):
    scalar = getattr(module, of._wp_scalar_type_.__name__)
    if of.__name__.startswith("quat"):
        return module.types.quaternion(dtype=scalar)
    if of.__name__.startswith("transform"):
        return module.types.transformation(dtype=scalar)
    shape = of._shape_
    if len(shape) == 2:
        return module.types.matrix(shape=shape, dtype=scalar)
    return module.types.vector(length=shape[0], dtype=scalar)


def flat(result) -> np.ndarray:
    """Give the numbers of a result, one after the other."""
    parts = result if isinstance(result, (tuple, list)) else [result]
    numbers = []
    for part in parts:
        value = getattr(part, "value", part)
        numbers.extend(np.ravel(np.array(value if np.isscalar(value) else list(value), dtype=np.float64)).tolist())
    return np.array(numbers)


def apart(theirs: np.ndarray, mine: np.ndarray, scalar) -> str:
    if theirs.shape != mine.shape:
        return "differs"
    if np.array_equal(theirs, mine, equal_nan=True):
        return "equal to the bit"
    width = {"float16": np.float16, "float64": np.float64}.get(getattr(scalar, "__name__", ""), np.float32)
    if not (np.isfinite(theirs) & np.isfinite(mine)).all():
        return "differs"
    unit = float(np.spacing(width(np.abs(theirs).max())))
    return CLOSE if (np.abs(theirs - mine) <= SPREAD * unit).all() else "differs"


def called(name: str, function, random) -> "tuple[str, str] | None":
    """Compare one overload in both; `None` if Python can't call it in Warp."""
    types = list(function.input_types.values())
    numbers = [drawn(each, at, random) for at, each in enumerate(types)]
    # A number that Warp takes for the id of a mesh or another structure ends its process.
    if not function.export or function.generic or None in numbers or "id" in function.input_types:
        return None
    try:
        theirs = getattr(warp, name)(*(made(warp, of, each) for of, each in zip(types, numbers, strict=True)))
    except Exception:  # noqa: BLE001 - Warp exports overloads that its Python refuses
        return None
    if theirs is None:
        return None
    spelled_types = ", ".join(getattr(each, "__name__", str(each)) for each in types)
    try:
        mine = getattr(ours, name)(*(made(ours, of, each) for of, each in zip(types, numbers, strict=True)))
    except Exception as error:  # noqa: BLE001
        return "refused", f"{name}({spelled_types}): {type(error).__name__}: {str(error).splitlines()[0]}"
    scalar = getattr(types[0], "_wp_scalar_type_", types[0]) if types else float
    verdict = apart(flat(theirs), flat(mine), scalar)
    return verdict, f"{name}({spelled_types}) of {numbers}: {theirs} by Warp, {mine} here"


def builtins() -> "tuple[Counter, list[str]]":
    counts: Counter = Counter()
    notes = []
    random = np.random.default_rng(11)
    for name, function in builtin_functions.items():
        for overload in getattr(function, "overloads", []):
            compared = called(name, overload, random)
            if compared:
                verdict, note = compared
                counts[verdict] += 1
                if verdict in ("refused", "differs"):
                    notes.append(f"{verdict}: {note}")
    return counts, notes


def table() -> "tuple[str, list[str]]":
    notes = []

    def row(what: str, names: "list[str]", here: "list[str]") -> str:
        notes.extend(f"missing in {what}: {name}" for name in names if name not in here)
        return f"| {what} | {len(names)} | {len(here)} | {100 * len(here) / len(names):.1f} % |"

    lines = [f"| of NVIDIA Warp {warp.__version__} | in Warp | here | share |", "|---|---|---|---|"]
    names = [name for name in public(warp) if name not in builtin_functions]
    lines.append(row("names of the module, builtins aside", names, [name for name in names if is_here(ours, name)]))
    kernel_names = [name for name, function in builtin_functions.items() if is_public(function)]
    lines.append(row("builtins", kernel_names, [name for name in kernel_names if is_here(ours, name)]))
    for module in ("types", "utils", "optim", "config"):
        theirs, mine = getattr(warp, module), getattr(ours, module)
        wanted = [name for name in public(theirs) if not inspect.ismodule(getattr(theirs, name))]
        present = [name for name in wanted if is_here(mine, name)]
        lines.append(row(f"names of `warp.{module}`", wanted, present))
    for name in CLASSES:
        wanted = public(getattr(warp, name))
        present = [each for each in wanted if is_here(getattr(ours, name), each)]
        lines.append(row(f"members of `{name}`", wanted, present))
    both = [name for name in names if is_here(ours, name) and callable(getattr(warp, name))]
    answers = {name: takes_as_much(getattr(warp, name), getattr(ours, name)) for name in both}
    answers = {name: answer for name, answer in answers.items() if answer is not None}
    taking = [name for name, answer in answers.items() if answer]
    lines.append(row("functions and classes with all of Warp's parameters", list(answers), taking))
    counts, more = builtins()
    whole = sum(counts.values())
    equal = counts["equal to the bit"]
    share = 100 * equal / whole
    lines.append(f"| overloads of builtins called in both: equal to the bit | {whole} | {equal} | {share:.1f} % |")
    for verdict in (CLOSE, "differs", "refused"):
        lines.append(f"| {verdict} | | {counts[verdict]} | {100 * counts[verdict] / whole:.1f} % |")
    return "\n".join(lines), notes + more


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the table into docs/conformance.md")
    parser.add_argument("--hold", action="store_true", help="fail where docs/conformance.md says something else")
    given = parser.parse_args()
    warp.config.log_level = warp.LOG_ERROR
    text, notes = table()
    print("\n".join(notes))
    print(text)
    page = PAGE.read_text()
    head, rest = page.split(BEGIN)
    before, tail = rest.split(END)
    if given.write:
        PAGE.write_text(f"{head}{BEGIN}\n{text}\n{END}{tail}")
    elif given.hold and before.strip() != text:
        sys.exit("docs/conformance.md says something else: `--write` writes the table")


if __name__ == "__main__":
    main()
