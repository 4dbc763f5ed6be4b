"""Does PyTorch see what a step left on the device, without a copy and on a side stream? Can a step be captured in a CUDA
graph? How long does a step take, with actions of the host and of the device?

`--small` tries the same with the stand-in for the driver, where PyTorch has no device.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

import gbxcule

FRAMES = 24
GAME = "PEARL_DRIFT"


def timed(name: str, act: object, count: int, envs: int) -> None:
    """Print the time of an act."""
    begun = time.perf_counter()
    for at in range(count):
        act(at)  # type: ignore[operator]
    step_s = (time.perf_counter() - begun) / count
    print(json.dumps({"what": name, "envs": envs, "ms": 1e3 * step_s, "frames_per_s": FRAMES * envs / step_s}), flush=True)


def check(torch: object, env: object, actions: object) -> None:
    """The arrays that PyTorch takes are the memory that the step writes, on the default stream and on another."""
    arrays = env.device_arrays
    found, reward, *_ = env.step(actions[0])
    view, again = (torch.from_dlpack(arrays["observations"]) for _ in range(2))
    assert view.data_ptr() == again.data_ptr(), "a copy was made"
    assert np.array_equal(view.cpu().numpy(), found), "PyTorch sees other observations"
    assert np.array_equal(torch.from_dlpack(arrays["rewards"]).cpu().numpy(), reward), "other rewards"
    env.step(actions[1])
    fresh = torch.from_dlpack(arrays["observations"])
    assert fresh.data_ptr() == view.data_ptr(), "the step wrote elsewhere"
    print("zero copy: the same memory, equal values", flush=True)
    current = torch.cuda.current_device()
    with torch.cuda.stream(torch.cuda.Stream()):
        for row in actions[2:8]:
            found = env.step(row)[0]
            assert np.array_equal(torch.from_dlpack(arrays["observations"]).cpu().numpy(), found), "on a side stream"
    assert torch.cuda.current_device() == current, "PyTorch's device was changed"
    print("side stream: equal", flush=True)


def on_device(torch: object, actions: object) -> object:
    """Actions in the device's memory."""
    if torch is not None:
        return torch.as_tensor(actions, device="cuda")
    from gbxcule import kernel

    return kernel.array(actions, "int64", device="cuda")


def check_device_actions(torch: object, env: object, actions: object) -> None:
    """Steps whose actions lie on the device do what those of the host do."""
    found = []
    for act in (lambda row: row, lambda row: on_device(torch, row)):
        env.reset(seed=3)
        for row in actions[:8]:
            env.step(act(row))
        found.append([env.device_arrays[name].numpy().copy() for name in ("observations", "rewards")])
    for host, device in zip(*found, strict=True):
        assert np.array_equal(host, device), "other results than with actions of the host"
    print("actions on the device: equal", flush=True)


def check_graph(torch: object, env: object, actions: object) -> None:
    """A step captured once and replayed does what steps do."""
    given = torch.as_tensor(actions[0], device="cuda")
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    try:
        env.step(given)
        with torch.cuda.graph(graph, stream=stream):
            env.wait_for(stream)
            env.step(given)
            env.ready_on(stream)
    except (RuntimeError, ValueError) as error:
        print(f"graph: not captured: {error}", flush=True)
        return
    found = []
    for play in (lambda: env.step(given), graph.replay):
        env.reset(seed=4)
        for row in actions[:8]:
            given.copy_(torch.as_tensor(row, device="cuda"))
            torch.cuda.synchronize()
            play()
            torch.cuda.synchronize()
        found.append(torch.from_dlpack(env.device_arrays["observations"]).cpu().numpy())
    print(f"graph: {'equal' if np.array_equal(*found) else 'DIFFERENT'}", flush=True)


def main() -> None:
    """Checks, then measures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true")
    small = parser.parse_args().small
    envs, count = (8, 2) if small else (4096, 50)
    torch = None
    if not small:
        import torch

        torch.zeros(1, device="cuda")
    env = gbxcule.make_vec(GAME, envs, obs=GAME, reward=GAME, device="cuda")
    env.reset(seed=1)
    actions = np.random.default_rng(0).integers(0, env.single_action_space.n, (64, envs))
    print({name: (array.shape, array.dtype) for name, array in env.device_arrays.items()}, flush=True)
    if torch is not None:
        check(torch, env, actions)
    check_device_actions(torch, env, actions)
    for row in actions[:4]:
        env.step(row)
    timed("env.step", lambda at: env.step(actions[at % 64]), count, envs)
    there = [on_device(torch, row) for row in actions[:8]]
    env.step(there[0])
    timed("env.step, actions on the device", lambda at: env.step(there[at % 8]), count, envs)
    if torch is not None:
        check_graph(torch, env, actions)
    print("done")


if __name__ == "__main__":
    main()
