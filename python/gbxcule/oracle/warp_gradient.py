"""Backward launches of NVIDIA Warp.

A tape records the forward launch; then it runs backward from the given gradients of all arrays.
"""

import warp as wp

from gbxcule.oracle import warp_server


def backward(header: dict, payload: bytes) -> "tuple[dict, bytes]":
    """Launch kernels of a text; return the gradients of the arrays of all launches, in order."""
    module = warp_server.load(header["source"], backward=True)
    return launched(header, payload, lambda described: warp_server.named(module, described["kernel"]))


def launched(header: dict, payload: bytes, kernel_of) -> "tuple[dict, bytes]":
    """Run all launches; one that fails answers with its error in place of memory."""
    results, errors, at = [], [], 0
    for described in header["launches"]:
        result, problem = b"", ""
        parts, at = split(described["arguments"], payload, at)
        try:
            result = launch(kernel_of(described), described, parts)
        except Exception as error:  # noqa: BLE001 - the caller decides what a failure means
            problem = f"{type(error).__name__}: {error}"
        results.append(result)
        errors.append(problem)
    return {"errors": errors}, b"".join(results)


def split(arguments: "list[dict]", payload: bytes, at: int) -> "tuple[list[tuple[bytes, bytes]], int]":
    """Split the payload into each argument's memory, and its gradient's if it is an array."""
    parts = []
    for given in arguments:
        size = given["bytes"]
        end = at + size
        value, at = payload[at:end], end
        beside = b""
        if "shape" in given:
            beside, at = payload[at : at + size], at + size
        parts.append((value, beside))
    return parts, at


def launch(kernel, described: dict, parts: "list[tuple[bytes, bytes]]") -> bytes:
    inputs, gradients = [], []
    types = warp_server.part_types(kernel, described)
    for declared, given, (value, beside) in zip(types, described["arguments"], parts, strict=True):
        actual = warp_server.Actual(declared, given, value)
        inputs.append(actual)
        if actual.is_array:
            gradients.append(warp_server.Actual(declared, given, beside))
            actual.value.grad = gradients[-1].value
    with wp.Tape() as tape:
        warp_server.execute(kernel, described, [actual.value for actual in inputs])
    tape.backward()
    return b"".join(gradient.bytes_after() for gradient in gradients)


def backward_file(header: dict, payload: bytes) -> "tuple[dict, bytes]":
    """Launch kernels of a file backward, chosen by their lines."""
    made = warp_server.kernels_of(warp_server.Path(header["file"]), header["kernels"], backward=True)

    def kernel_of(described: dict):
        kernel = made[described["line"]]
        if isinstance(kernel, Exception):
            raise kernel
        return kernel

    return launched(header, payload, kernel_of)
