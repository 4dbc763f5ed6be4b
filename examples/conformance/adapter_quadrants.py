"""Quadrants: a pattern's kernel is rewritten in Quadrants' dialect, as one loop that runs the threads in order."""

import ast
import importlib.util
import tempfile

import numpy as np
import pattern

NAMES = {"float64": "f64", "where": "select", "mod": "mod", "trunc": "trunc"}


class Adapter:
    def __init__(self, _framework: str) -> None:
        import quadrants

        self.qd = quadrants
        options = {"log_level": "error", "offline_cache": False, "ad_stack_experimental_enabled": True}
        quadrants.init(arch=quadrants.cpu, default_fp=quadrants.f64, **options)
        self.x, self.o = (quadrants.field(quadrants.f64, shape=size, needs_grad=True) for size in (6, 4))

    def patterns(self, path) -> "list[pattern.Pattern]":
        if path.stem in ("vectors", "matrices", "rotations", "tiles", "launches"):
            return []
        tree = ast.parse(path.read_text())
        functions = {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef)}
        kernels = [each for each in functions.values() if [arg.arg for arg in each.args.args] == ["x", "o", "n", "m"]]
        return [pattern.Pattern(each.name, ast.get_docstring(each), self.written(each, functions)) for each in kernels]

    def written(self, kernel: ast.FunctionDef, functions: dict):
        """Give a function that makes the kernel, so that a text is refused only when the pattern runs."""
        names = {each.id for each in ast.walk(kernel) if isinstance(each, ast.Name)}
        if names & set(functions) or "wp.vec3d" in ast.unparse(kernel):
            return None
        body = [Rewritten().visit(each) for each in kernel.body[1:]]
        text = "\n".join(line for each in body for line in ast.unparse(ast.fix_missing_locations(each)).splitlines())
        lines = "\n".join(f"        {line}" for line in text.splitlines())
        return (
            "import quadrants as qd\n\n\n@qd.kernel\ndef run(x: qd.template(), o: qd.template(), n: int, m: int):\n"
            f"    qd.loop_config(serialize=True)\n    for thread in range(2):\n{lines}\n"
        )

    def kernel(self, tried: pattern.Pattern):
        if tried.call is None:
            raise TypeError("functions and structs aren't written anew")
        with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
            file.write(tried.call)
        spec = importlib.util.spec_from_file_location("quadrants_pattern", file.name)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.run

    def launch(self, tried: pattern.Pattern, x, o):
        self.x.from_numpy(x)
        self.o.from_numpy(o)
        kernel = self.kernel(tried)
        kernel(self.x, self.o, 5, 3)
        return kernel

    def forward(self, tried: pattern.Pattern, x, o) -> "list[np.ndarray]":
        self.launch(tried, x, o)
        return [self.x.to_numpy(), self.o.to_numpy()]

    def backward(self, tried: pattern.Pattern, x, o, weights_x, weights_o) -> "list[np.ndarray]":
        kernel = self.launch(tried, x, o)
        self.x.grad.from_numpy(weights_x)
        self.o.grad.from_numpy(weights_o)
        kernel.grad(self.x, self.o, 5, 3)
        return [self.x.grad.to_numpy(), self.o.grad.to_numpy()]


class Rewritten(ast.NodeTransformer):
    """Warp's names, mapped to those of Quadrants."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = ast.unparse(node.func)
        if name == "wp.tid":
            return ast.Name("thread", ast.Load())
        if name in ("Real", "wp.float64", "float"):
            return ast.Call(expression("qd.cast"), [*node.args, expression("qd.f64")], [])
        if name == "int":
            return ast.Call(expression("qd.cast"), [*node.args, expression("qd.i32")], [])
        if name in ("wp.atomic_add", "wp.atomic_sub", "wp.atomic_min", "wp.atomic_max"):
            array, at, value = node.args
            return ast.Call(expression(name.replace("wp.", "qd.")), [ast.Subscript(array, at, ast.Load()), value], [])
        if name == "wp.clamp":
            inner = ast.Call(expression("qd.max"), node.args[:2], [])
            return ast.Call(expression("qd.min"), [inner, node.args[2]], [])
        if name.startswith("wp."):
            short = name.removeprefix("wp.")
            return ast.Call(expression(f"qd.{NAMES.get(short, short)}"), node.args, node.keywords)
        return node


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
