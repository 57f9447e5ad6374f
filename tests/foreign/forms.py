"""Rewrite a training script into five forms by machine: the same steps and the same evaluation, written differently.

`rewritten(source)` returns form -> text, or why the script cannot be written in that form. A text may still be wrong where the
script does something unusual: compare the losses of its run with those of the original.
"""

import ast
import copy
from collections.abc import Iterable

from bugzoo.syntax import called, last_name, parse
from tests.foreign.written_out import (
    DEFINITIONS,
    GUARD,
    LOOPS,
    Unwritable,
    assign,
    at_top_level,
    free,
    functions,
    loaded,
    loop_of,
    reaches,
    stored,
    top_level,
    trains,
    unguarded,
)

FORMS = ("top level", "main()", "class with fit", "evaluation in the epoch loop", "batches by slices")
IMPORTS = (ast.Import, ast.ImportFrom)


def rewritten(source: str) -> dict[str, str | Unwritable]:
    """Return form -> text of the script in that form, or why it has none."""
    texts: dict[str, str | Unwritable] = {}
    for form, rewrite in zip(FORMS, (top_level, in_main, in_class, evaluated_in_loop, by_slices), strict=True):
        try:
            tree = rewrite(parse(source))
            texts[form] = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        except Unwritable as why:
            texts[form] = why
    return texts


# ---- main(): what needs the script's names becomes local


def in_main(tree: ast.Module) -> ast.Module:
    """Return the script with its statements in `main()`; functions that read its names move there too."""
    own = functions(tree)
    if any(isinstance(n, ast.FunctionDef) and trains(n, own) for n in tree.body) and any(
        isinstance(n, ast.If) and GUARD in loaded([n.test]) for n in tree.body
    ):
        return tree
    tree = unguarded(tree)
    top: list[ast.stmt] = [node for node in tree.body if isinstance(node, IMPORTS)]
    rest = [node for node in tree.body if not isinstance(node, IMPORTS)]
    statements = [node for node in rest if not isinstance(node, DEFINITIONS)]
    again = [node for node in statements if not is_constant(node)]
    constants = [node for node in statements if is_constant(node) and not stored([node]) & stored(again)]
    moved = stored([node for node in statements if node not in constants])
    definitions = [node for node in rest if isinstance(node, DEFINITIONS)]
    while True:
        inner = {node.name for node in definitions if free([node]) & moved} - moved
        if not inner:
            break
        moved |= inner
    body = [
        node
        for node in rest
        if node not in constants and not (isinstance(node, DEFINITIONS) and node.name not in moved)
    ]
    outside = [node for node in rest if node not in body]

    class Inward(ast.NodeTransformer):
        def visit_Global(self, node: ast.Global) -> ast.AST:
            return ast.Nonlocal(node.names) if set(node.names) <= moved else node

    main = parse("def main():\n    pass\nif __name__ == '__main__':\n    main()\n")
    main.body[0].body = [Inward().visit(node) for node in body]
    return ast.Module([*top, *outside, *main.body], [])


def is_constant(node: ast.stmt) -> bool:
    """Return whether a statement is a docstring or a setting such as `lr = 0.1`."""
    value = getattr(node, "value", None)
    plain = isinstance(value, ast.Constant) or (
        isinstance(value, ast.UnaryOp) and isinstance(value.operand, ast.Constant)
    )
    return (
        plain
        and isinstance(node, (ast.Expr, ast.Assign))
        and not any(not isinstance(t, ast.Name) for t in getattr(node, "targets", []))
    )


# ---- a class with fit


def in_class(tree: ast.Module) -> ast.Module:
    """Return the script with its loop in `Trainer.fit` and what follows in `Trainer.evaluate`."""
    own = functions(tree)
    for node in [] if at_top_level(tree) else tree.body:
        methods = node.body if isinstance(node, ast.ClassDef) else []
        if any(
            isinstance(f, ast.FunctionDef) and any(isinstance(n, LOOPS) and trains(n, own) for n in ast.walk(f))
            for f in methods
        ):
            return tree
    tree = top_level(tree)
    place = loop_of(tree)
    definitions = [node for node in tree.body[place:] if isinstance(node, (*DEFINITIONS, *IMPORTS))]
    before, loop = [*tree.body[:place], *definitions], tree.body[place]
    after = [node for node in tree.body[place + 1 :] if node not in definitions]
    kept = stored(node for node in before if not isinstance(node, (*DEFINITIONS, *IMPORTS)))
    everywhere = free(node for node in before if isinstance(node, DEFINITIONS))
    shared = (stored([loop]) | stored(after)) & everywhere  # functions of the script read them as globals
    wanted = stored([loop]) & (loaded(after) | kept) - shared
    fit = method("fit", [loop], kept - shared, wanted, shared)
    evaluate = method("evaluate", after, (kept | wanted) - shared, set(), shared, gives=sorted(stored(after) - shared))
    needs = sorted((loaded([loop]) | loaded(after)) & kept - shared)
    start = parse(
        f"def __init__(self, {', '.join(needs)}):\n" + "".join(f"    self.{n} = {n}\n" for n in needs) + "    return\n"
    ).body
    trainer = ast.ClassDef("Trainer", [], [], [*start, fit, *([evaluate] if after else [])], [])
    calls = f"trainer = Trainer({', '.join(needs)})\ntrainer.fit()\n"
    if after:
        names = ", ".join(sorted(stored(after) - shared))
        calls += f"({names},) = trainer.evaluate()\n" if names else "trainer.evaluate()\n"
    return ast.Module([*before, trainer, *parse(calls).body], [])


def method(
    name: str, body: list[ast.stmt], kept: set[str], wanted: set[str], shared: set[str], gives: Iterable[str] = ()
) -> ast.FunctionDef:
    """Return a method with these statements. Names in `kept` are attributes; names in `wanted` become some."""
    local = stored(body)

    class Attributes(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            if node.id in kept - local and isinstance(node.ctx, ast.Load):
                return ast.Attribute(ast.Name("self", ast.Load()), node.id, ast.Load())
            return node

    start = [
        assign(n, ast.Attribute(ast.Name("self", ast.Load()), n, ast.Load()))
        for n in sorted(local & kept & (loaded(body) | wanted))
    ]
    end: list[ast.stmt] = [
        ast.Assign([ast.Attribute(ast.Name("self", ast.Load()), n, ast.Store())], ast.Name(n, ast.Load()))
        for n in sorted(wanted)
    ]
    returned = [ast.Name(n, ast.Load()) for n in gives]
    end += [ast.Return(ast.Tuple(list(returned), ast.Load()))] if returned else []
    declared: list[ast.stmt] = [ast.Global(sorted(shared & local))] if shared & local else []
    inner: list[ast.stmt] = [*declared, *start, *(Attributes().visit(copy.deepcopy(part)) for part in body), *end]
    function: ast.FunctionDef = parse(f"def {name}(self):\n    pass").body[0]
    function.body = inner
    return function


# ---- evaluation inside the epoch loop

QUIET = {"no_grad", "inference_mode", "eval"}
ROUND = """
import random as random_
import numpy as numpy_
import torch as torch_
states_ = torch_.get_rng_state(), numpy_.random.get_state(), random_.getstate()
torch_.set_rng_state(states_[0]), numpy_.random.set_state(states_[1]), random_.setstate(states_[2])
"""


def evaluated_in_loop(tree: ast.Module) -> ast.Module:
    """Return the script with what follows its loop at the end of each epoch. Random generators stay as they were."""
    original, tree = tree, top_level(tree)
    place, own = loop_of(tree), functions(tree)
    loop = tree.body[place]
    if reaches(loop, QUIET, own):
        return original
    definitions = [node for node in tree.body[place:] if isinstance(node, (*DEFINITIONS, *IMPORTS))]
    after = [node for node in tree.body[place + 1 :] if node not in definitions]
    if not any(reaches(node, QUIET, own) or QUIET & loaded_attributes(node) for node in after):
        raise Unwritable("nothing is evaluated after the loop")
    calls = [n.func for part in after for n in ast.walk(part) if isinstance(n, ast.Call) and not n.args]
    modes = [f"{ast.unparse(f.value)}.train()" for f in calls if isinstance(f, ast.Attribute) and f.attr == "eval"]
    *imports, keep, restore = parse(ROUND).body
    end = [*after, *parse("\n".join(modes)).body]
    epochs = isinstance(loop, ast.For) and any(
        (isinstance(n, LOOPS) and trains(n, own))
        or (isinstance(n, (ast.Expr, ast.Assign)) and not has(n, "backward") and trains(n, own))
        for n in loop.body
    )
    if epochs:
        loop.body += [keep, *end, restore]
        rest: list[ast.stmt] = [loop]
    else:
        outer: ast.For = parse("for round_ in range(1):\n    pass").body[0]
        outer.body = [loop, *after]
        rest = [outer]
    return ast.Module([*imports, *tree.body[:place], *definitions, *rest] if not future(tree) else
                      [tree.body[0], *imports, *tree.body[1:place], *definitions, *rest], [])  # fmt: skip


def future(tree: ast.Module) -> bool:
    return isinstance(tree.body[0], ast.ImportFrom) and tree.body[0].module == "__future__"


def has(node: ast.AST, name: str) -> bool:
    return name in called(node)


def loaded_attributes(node: ast.AST) -> set[str]:
    return {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}


# ---- batches by slices

SLICED = """
torch_.empty((), dtype=torch_.int64).random_(generator=LOADER.generator)
rows_ = [row for some in LOADER.batch_sampler for row in some]
for start_ in range(0, len(rows_), LOADER.batch_size):
    BATCH = LOADER.collate_fn([LOADER.dataset[row] for row in rows_[start_:start_ + LOADER.batch_size]])
"""


def by_slices(tree: ast.Module) -> ast.Module:
    """Return the script with its batches cut from the rows of the data set, in the order that the loader would draw."""
    text = ast.unparse(tree)
    loops = [n for n in ast.walk(tree) if isinstance(n, ast.For) and has(n, "backward") and not any(
        isinstance(m, LOOPS) and m is not n and has(m, "backward") for m in ast.walk(n))]  # fmt: skip
    loops = loops or [n for n in ast.walk(tree) if isinstance(n, ast.For) and trains(n, functions(tree)) and not any(
        isinstance(m, LOOPS) and m is not n and trains(m, functions(tree)) for m in ast.walk(n))]  # fmt: skip
    if not loops:
        raise Unwritable("no for loop around backward()")
    if "DataLoader" not in text:
        return tree
    changed = False

    class Slices(ast.NodeTransformer):
        def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
            nonlocal changed
            mine = node in loops
            self.generic_visit(node)
            if not mine or (isinstance(node.iter, ast.Call) and last_name(node.iter.func) not in ("enumerate", "tqdm")):
                return node
            inner, counter, target = node.iter, [], node.target
            while isinstance(inner, ast.Call):
                if last_name(inner.func) == "enumerate" and isinstance(target, ast.Tuple):
                    counter, target = (
                        [
                            parse(
                                f"{ast.unparse(target.elts[0])} = start_ // {ast.unparse(inner.args[0])}.batch_size"
                            ).body[0]
                        ],
                        target.elts[1],
                    )
                inner = inner.args[0]
            if not isinstance(inner, (ast.Name, ast.Attribute)):
                return node
            changed = True
            new = parse(SLICED.replace("LOADER", ast.unparse(inner)).replace("BATCH", ast.unparse(target)))
            new.body[-1].body += [*counter, *node.body]
            return new.body

    tree = Slices().visit(tree)
    if not changed:
        return tree
    first = 1 if future(tree) else 0
    return ast.Module([*tree.body[:first], *parse("import torch as torch_").body, *tree.body[first:]], [])
