"""NVIDIA Warp behind the framed protocol: kernels as text in, memory after launches out.

Warp wants to read a kernel's source from a file, so the text goes to a temporary one. All kernels
of a text share one module and one run of clang, which takes most of the time: send many kernels at
once. The module is named by the text's hash, so that Warp's own cache on disk finds it again.

Kernels of an existing file are named by their lines; see `warp_source`. A command that takes longer than `LIMIT_S`
ends the process with a traceback, so that no caller waits for ever.
"""

import ctypes
import faulthandler
import hashlib
import importlib.metadata
import importlib.util
import platform
import struct
import tempfile
import time
from pathlib import Path

import warp as wp
from warp._src import context

from gbxcule.oracle import framing, warp_source

LIMIT_S = 300
MODULES: "dict[tuple[str, bool], object]" = {}


def hello(header: dict, payload: bytes) -> "tuple[dict, bytes]":
    """Name the program that answers, and its version."""
    return {
        "protocol": framing.PROTOCOL_VERSION,
        "warp": importlib.metadata.version("warp-lang"),
        "python": platform.python_version(),
        "package": str(Path(wp.__file__).parent),
    }, b""


def load(source: str, backward: bool):
    """Return the Python module of a text; it is kept for later launches."""
    key = (source, backward)
    if key not in MODULES:
        name = "text_" + hashlib.sha256(f"{backward}\n{source}".encode()).hexdigest()[:16]
        with tempfile.TemporaryDirectory(prefix="gbxcule-") as folder:
            path = Path(folder) / f"{name}.py"
            path.write_text(source)
            spec = importlib.util.spec_from_file_location(name, path)
            module = importlib.util.module_from_spec(spec)
            wp.config.enable_backward = backward
            spec.loader.exec_module(module)
            # A kernel may have a module of its own.
            kernels = [it for it in vars(module).values() if isinstance(it, wp.Kernel)]
            for compiled in {kernel.module.name: kernel.module for kernel in kernels}.values():
                wp.load_module(compiled, device="cpu")
        MODULES[key] = module
    return MODULES[key]


class Actual:
    """One argument: the bytes that Warp reads, and writes if the argument is an array."""

    def __init__(self, declared, given: dict, payload: bytes) -> None:
        self.memory = ctypes.create_string_buffer(payload, max(len(payload), 1))
        self.size = len(payload)
        self.is_array = not isinstance(declared, type) and hasattr(declared, "dtype")
        if self.is_array:
            self.value = self.array(declared, given)
        else:
            self.value = scalar_or_composite(declared, payload)

    def array(self, declared, given: dict):
        address = ctypes.addressof(self.memory)
        strides = given.get("strides")
        return wp.array(
            ptr=address + given.get("offset", 0),
            dtype=declared.dtype,
            shape=tuple(given["shape"]),
            strides=tuple(strides) if strides else None,
            device="cpu",
        )

    def bytes_after(self) -> bytes:
        return self.memory.raw[: self.size] if self.is_array else b""


def scalar_or_composite(declared, payload: bytes):
    declared = {int: wp.int32, float: wp.float32}.get(declared, declared)
    if hasattr(declared, "ctype"):  # a struct
        instance = declared()
        ctypes.memmove(ctypes.addressof(instance._ctype), payload, len(payload))
        return instance
    if issubclass(declared, ctypes.Array):
        return declared.from_buffer_copy(payload)
    if declared in (bool, wp.bool):
        return bool(payload[0])
    if declared is wp.float16:
        return wp.float16(struct.unpack("<e", payload)[0])
    if declared is wp.bfloat16:
        return wp.bfloat16(struct.unpack("<f", b"\0\0" + payload)[0])
    return declared(declared._type_.from_buffer_copy(payload).value)


def parameter_types(kernel) -> list:
    """Return the types of the parameters of a kernel, or of host code that launches several kernels."""
    if isinstance(kernel, wp.Kernel):
        return [argument.type for argument in kernel.adj.args]
    return list(kernel.__annotations__.values())


def part_types(kernel, described: dict) -> list:
    """Return the type of each described argument: of a parameter, or of a field that `of` and `path` name."""
    types, number, found = parameter_types(kernel), -1, []
    for given in described["arguments"]:
        number = given.get("of", number + 1)
        declared = types[number]
        for name in given.get("path", ()):
            declared = declared.vars[name].type
        found.append(declared)
    if number + 1 != len(types):
        raise ValueError(f"the kernel has {len(types)} parameters, found {number + 1} arguments")
    return found


def arguments(kernel, described: dict, values: list) -> list:
    """Return one value for each parameter; fields that were described one by one are put into a struct."""
    types, whole = parameter_types(kernel), []
    for given, value in zip(described["arguments"], values, strict=True):
        if "of" not in given:
            whole.append(value)
            continue
        if given["of"] == len(whole):
            whole.append(types[given["of"]]())
        *outer, last = given["path"]
        instance = whole[-1]
        for name in outer:
            instance = getattr(instance, name)
        setattr(instance, last, value)
    return whole


def execute(kernel, described: dict, values: list) -> None:
    """Launch a kernel, or call host code that launches several."""
    values = arguments(kernel, described, values)
    if isinstance(kernel, wp.Kernel):
        wp.launch(kernel, dim=tuple(described["dims"]), inputs=values, device="cpu")
        return
    with wp.ScopedDevice("cpu"):
        kernel(*values)


def launch(kernel, described: dict, payload: bytes, at: int) -> "tuple[bytes, int]":
    """Launch a kernel; return its arrays' memory, and where the next one's payload begins."""
    actuals = []
    for declared, given in zip(part_types(kernel, described), described["arguments"], strict=True):
        actuals.append(Actual(declared, given, payload[at : at + given["bytes"]]))
        at += given["bytes"]
    execute(kernel, described, [actual.value for actual in actuals])
    return b"".join(actual.bytes_after() for actual in actuals), at


def named(module, name: str):
    """Return the kernel or host code of this name; of a generic kernel, the overload that the text declares."""
    kernel = getattr(module, name)
    if isinstance(kernel, wp.Kernel) and kernel.is_generic:
        (kernel,) = kernel.overloads.values()
    return kernel


def run(header: dict, payload: bytes) -> "tuple[dict, bytes]":
    """Compile a text and launch kernels of it; return the arrays of all launches, in order."""
    begin = time.perf_counter()
    module = load(header["source"], header.get("backward", False))
    compiled = time.perf_counter()
    results, at = [], 0
    for described in header["launches"]:
        result, at = launch(named(module, described["kernel"]), described, payload, at)
        results.append(result)
    times = {"compile_s": compiled - begin, "launch_s": time.perf_counter() - compiled}
    return {"sizes": [len(result) for result in results], **times}, b"".join(results)


def concrete(described, declared):
    """Return the type that a description names; parts that it leaves out are those of the declared type."""
    if described is None:
        return declared
    if isinstance(described, str):
        return getattr(wp, described)
    kind, *rest = described
    if kind == "array":
        of = declared.dtype if rest[0] is None else concrete(rest[0], None)
        return wp.array(dtype=of, ndim=rest[1])
    makers = {"vector": wp.types.vector, "matrix": wp.types.matrix}
    makers |= {"quaternion": wp.types.quaternion, "transformation": wp.types.transformation}
    sizes = [tuple(size) if isinstance(size, list) else size for size in rest[:-1]]
    return makers[kind](*sizes, getattr(wp, rest[-1]))


def kernels_of(path: Path, wanted: "list[dict]", backward: bool = False) -> dict:
    """Make the kernels at these lines of a file, in few modules; one that fails is replaced by its error."""
    found = warp_source.kernels(path, {kernel["line"] for kernel in wanted})
    made = {}
    for kernel in wanted:
        try:
            trial = in_module(f"trial_{kernel['line']}", found, [kernel], backward)
            module = next(iter(trial.values())).module
            context.ModuleBuilder(module, module.resolve_options(wp.config) | {"output_arch": None})
        except Exception as error:  # noqa: BLE001 - the caller decides what a failure means
            made[kernel["line"]] = error
    return made | loaded(path, found, [kernel for kernel in wanted if kernel["line"] not in made], backward)


def loaded(path: Path, found: dict, kernels: "list[dict]", backward: bool) -> dict:
    """Compile kernels in one module, or each in its own module if that fails."""
    if not kernels:
        return {}
    own = "own_" + hashlib.sha256(repr((str(path), kernels, backward)).encode()).hexdigest()[:16]
    try:
        made = in_module(own, found, kernels, backward)
        wp.load_module(wp.get_module(own), device="cpu")
    except Exception as error:  # noqa: BLE001
        if len(kernels) == 1:
            return {kernels[0]["line"]: error}
        made = {}
        for kernel in kernels:
            made |= loaded(path, found, [kernel], backward)
    return made


def in_module(name: str, found: dict, kernels: "list[dict]", backward: bool) -> dict:
    """Make kernels in a module of this name.

    Floats are rounded at each operation; by default Warp would fuse a product with a sum.
    """
    module = wp.get_module(name)
    module.options |= {"enable_backward": backward, "fuse_fp": False}
    made = {}
    for kernel in kernels:
        if kernel["line"] not in found:
            raise LookupError("defined only when the file is run")
        function = getattr(found[kernel["line"]], "func", found[kernel["line"]])
        same = wp.Kernel(function, key=f"{kernel['name']}_{kernel['line']}", module=module)
        if same.is_generic:
            arguments = zip(kernel["types"], same.adj.args, strict=True)
            same = same.add_overload([concrete(given, argument.type) for given, argument in arguments])
        made[kernel["line"]] = same
    return made


def run_file(header: dict, payload: bytes) -> "tuple[dict, bytes]":
    """Launch kernels of a file; a launch that fails answers with its error in place of memory."""
    made = kernels_of(Path(header["file"]), header["kernels"])
    results, errors, at = [], [], 0
    for described in header["launches"]:
        end = at + sum(given["bytes"] for given in described["arguments"])
        kernel, result, problem = made[described["line"]], b"", ""
        try:
            if isinstance(kernel, Exception):
                raise kernel
            result, _ = launch(kernel, described, payload, at)
        except Exception as error:  # noqa: BLE001
            problem = f"{type(error).__name__}: {error}"
        results.append(result)
        errors.append(problem)
        at = end
    return {"sizes": [len(result) for result in results], "errors": errors}, b"".join(results)


def limited(command: framing.Command) -> framing.Command:
    """Wrap a command so that it ends the process if it takes too long."""

    def run_in_time(header: dict, payload: bytes) -> "tuple[dict, bytes]":
        faulthandler.dump_traceback_later(LIMIT_S, exit=True)
        try:
            return command(header, payload)
        finally:
            faulthandler.cancel_dump_traceback_later()

    return run_in_time


def commands() -> "dict[str, framing.Command]":
    from gbxcule.oracle import warp_gradient, warp_text  # the first builds on this module

    wp.config.quiet = True
    wp.init()
    launches = {"run": run, "run_file": run_file, "texts": warp_text.texts}
    launches |= {"backward": warp_gradient.backward, "backward_file": warp_gradient.backward_file}
    return {"hello": hello} | {name: limited(command) for name, command in launches.items()}
