"""Names of NVIDIA Warp that programs import beside its public ones, once `gbxcule.warp` stands in for it."""

import contextlib
import ctypes
import os
import sys
import typing
import unittest

import numpy as np
import pytest

import gbxcule.warp as wp


@pytest.fixture
def warp(monkeypatch):
    before = dict(sys.modules)
    yield wp.stand_in()
    for name in set(sys.modules) - set(before):
        if name.split(".")[0] == "warp":
            del sys.modules[name]
    monkeypatch.undo()


def test_private_modules_give_what_is_public_and_name_what_is_missing(warp, monkeypatch):
    from warp._src.context import builtin_functions
    from warp._src.thirdparty.appdirs import user_cache_dir
    from warp._src.types import Any, Int

    assert Any is typing.Any and Int is wp.Int and not isinstance(3, builtin_functions)
    monkeypatch.setenv("XDG_CACHE_HOME", os.sep + "cache")
    assert user_cache_dir("newton", "newton-physics") == os.path.join(os.sep + "cache", "newton")
    with pytest.raises(NotImplementedError, match=r"warp\._src\.context\.builtin_functions"):
        builtin_functions()


def test_functions_of_the_library_in_c_give_what_builtins_give(warp):
    core = warp._src.context.runtime.core
    one = wp.transform(wp.vec3(1.0, 2.0, 3.0), wp.quat(0.5, 0.5, 0.5, 0.5))
    result = wp.transform()
    core.wp_builtin_mul_transformf_transformf(one, one, ctypes.byref(result))
    assert result == one * one
    length = ctypes.c_float()
    core.wp_builtin_length_vec3f(wp.vec3(3.0, 4.0, 0.0), ctypes.byref(length))
    assert length.value == 5.0
    points = wp.array(np.arange(6, dtype=np.float32).reshape(2, 3), dtype=wp.vec3)
    total = wp.zeros(1)
    core.wp_array_inner_float_host(points.ptr, points.ptr, total.ptr, 2, 12, 12, 3)
    assert total.numpy()[0] == 55.0
    with pytest.raises(AttributeError, match="wp_builtin_spam_vec3f"):
        core.wp_builtin_spam_vec3f


def test_helpers_of_tests_add_and_check(warp, capfd):
    from warp.tests.unittest_utils import add_function_test, add_kernel_test, assert_np_equal, get_test_devices

    @wp.kernel
    def count(x: wp.array(dtype=int)):
        x[wp.tid()] = wp.tid()

    class Case(unittest.TestCase):
        pass

    ran = []
    add_function_test(Case, "test_it", lambda test, device: ran.append(str(device)), devices=get_test_devices())
    add_function_test(Case, "test_nowhere", lambda test, device: ran.append("nowhere"), devices=[])
    add_function_test(Case, "test_speaks", lambda test, device: print("spoken"))
    add_kernel_test(Case, count, dim=3, expect=[0, 1, 2])
    add_kernel_test(Case, count, dim=3, name="test_wrong", expect=[0, 1, 3])
    with capfd.disabled(), open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        result = unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(unittest.TestResult())
    assert ran == ["cpu"] and len(result.skipped) == 1
    # One test prints, one expects another number.
    assert {case.id().rpartition(".")[2] for case, _ in result.failures} == {"test_speaks", "test_wrong_cpu"}
    assert_np_equal(np.ones(2), np.ones(2) + 1e-3, tol=1e-2)
    with pytest.raises(AssertionError):
        assert_np_equal(np.ones(2), np.zeros(2))


def test_renderers_are_those_of_the_wheel_on_arrays_of_this_module(warp, monkeypatch, tmp_path):
    folder = tmp_path / "warp" / "_src" / "render"
    folder.mkdir(parents=True)
    (tmp_path / "warp" / "__init__.py").write_text("raise ImportError('the wheel itself is not imported')")
    (folder / "utils.py").write_text("import warp as wp\nKIND = wp.array\n")
    text = "from warp._src.logger import log_error\nfrom .utils import KIND\nclass UsdRenderer:\n    kind = KIND\n"
    (folder / "render_usd.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    import warp.render

    assert warp.render.UsdRenderer.kind is wp.array
    with pytest.raises(AttributeError, match="has no `Spam`"):
        warp.render.Spam  # noqa: B018
