"""What a hash of code notices and what it does not; and that nothing runs in a measurement which it has not seen."""

import ast
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from inspect import CO_OPTIMIZED
from multiprocessing import get_context
from pathlib import Path

import pytest

import bugzoo
from bugzoo import fingerprint
from bugzoo.diagnostics import names
from bugzoo.fingerprint import code_of, reached
from bugzoo.proving import code

FILE = '''"""What it asks."""
from bugzoo.pack.tools import helper, other
import bugzoo.pack.tools as tools
from bugzoo.pack import far

LIMIT = 3
THRESHOLD = 0.5


class Reader:
    """Reads."""

    def read(self): return helper(LIMIT)


def measure(run: int) -> dict:
    # why
    from bugzoo.pack.late import late
    return Reader().read() + late() + far.far()


def judge(numbers):
    return numbers > THRESHOLD and other() and tools.third()
'''
OTHERS = {
    "tools": "def helper(n): return n\n\ndef other(): return 1\n\ndef third(): return 3\n",
    "late": "def late(): return 1\n",
    "far": "def far(): return 1\n\ndef near(): return 2\n",
    "__init__": "",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "bugzoo" / "pack"
    folder.mkdir(parents=True)
    (folder / "one.py").write_text(FILE)
    for name, text in OTHERS.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.setattr(fingerprint, "_ROOT", tmp_path / "bugzoo")
    forget()
    yield folder
    forget()


def forget() -> None:
    for cached in (fingerprint._file, fingerprint._module, fingerprint._needed, code_of):
        cached.cache_clear()


def both() -> tuple[str, str]:
    forget()
    return code_of("bugzoo.pack.one:measure"), code_of("bugzoo.pack.one:judge")


@pytest.mark.parametrize(
    ("file", "before", "after", "changed"),
    [
        ("one", '"""What it asks."""', '"""What it asks now."""', ""),
        ("one", "# why", "# why not", ""),
        ("one", '"""Reads."""', "", ""),
        ("one", "run: int) -> dict", "run)", ""),
        ("one", "    return Reader().read()", "\n    return (Reader().read())", ""),
        ("tools", "def helper(n): return n", "def helper(n):\n    '''It helps.'''\n    return n", ""),
        ("far", "return 2", "return 3", ""),
        ("one", "THRESHOLD = 0.5", "THRESHOLD = 0.6", "judge"),
        ("one", "and other()", "or other()", "judge"),
        ("tools", "return 1", "return 2", "judge"),
        ("tools", "return 3", "return 4", "judge"),
        ("one", "LIMIT = 3", "LIMIT = 4", "measure"),
        ("one", "return helper(LIMIT)", "return helper(LIMIT + 1)", "measure"),
        ("tools", "return n", "return n + 1", "measure"),
        ("late", "return 1", "return 2", "measure"),
        ("far", "return 1", "return 2", "measure"),
        ("one", "LIMIT = 3", "LIMIT = 3\nprint(LIMIT)", "measure judge"),
    ],
)
def test_what_is_noticed(package: Path, file: str, before: str, after: str, changed: str) -> None:
    measure, judge = both()
    text = (package / f"{file}.py").read_text()
    assert text.count(before) == 1
    (package / f"{file}.py").write_text(text.replace(before, after))
    now = both()
    assert [name for name, old, new in zip(("measure", "judge"), (measure, judge), now, strict=True) if old != new] == (
        changed.split()
    )


def test_a_module_may_be_left_out(package: Path) -> None:
    assert "bugzoo.pack.late" in {module for module, _ in reached("bugzoo.pack.one:measure")}
    without = reached("bugzoo.pack.one:measure", without={"bugzoo.pack.late"})
    assert "bugzoo.pack.late" not in {module for module, _ in without}


def test_unknown_roots() -> None:
    for root in ("bugzoo.nowhere", "bugzoo.errors:Nothing", "torch:nn"):
        with pytest.raises(LookupError, match=root):
            reached(root)


def test_a_name_that_is_looked_up_when_it_is_used(package: Path) -> None:
    """As in packages with a `__getattr__`: what TYPE_CHECKING imports is what it finds; else nobody could follow."""
    lazy = "def __getattr__(name): ...\n"
    (package / "__init__.py").write_text(lazy)
    (package / "one.py").write_text("from bugzoo.pack import helper\n\ndef measure(run): return helper(run)\n")
    forget()
    with pytest.raises(LookupError, match=r"bugzoo\.pack\.helper"):
        reached("bugzoo.pack.one:measure")
    imports = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from bugzoo.pack.tools import helper\n"
    (package / "__init__.py").write_text(imports + lazy)
    forget()
    assert ("bugzoo.pack.tools", "helper") in reached("bugzoo.pack.one:measure")


def test_a_dump_is_the_same_under_every_python() -> None:
    tree = ast.parse("def f(a: int, *b, c=1) -> str:\n    return f'{a!r:>{c}} x' if b else (1.5, None, ...)")
    assert fingerprint._dump(tree, set()) == (
        "Module(body=[FunctionDef(args=arguments(args=[arg(arg='a')],kw_defaults=[Constant(value=1)],"
        "kwonlyargs=[arg(arg='c')],vararg=arg(arg='b')),body=[Return(value=IfExp(body=JoinedStr(values=["
        "FormattedValue(conversion=114,format_spec=JoinedStr(values=[Constant(value='>'),FormattedValue(conversion=-1,"
        "value=Name(id='c'))]),value=Name(id='a')),Constant(value=' x')]),orelse=Tuple(elts=[Constant(value=1.5),"
        "Constant(),Constant(value=Ellipsis)]),test=Name(id='b')))],name='f')])"
    )


SCOPES = """
def f(x):
    total = 0
    for item in x:
        total += item

    def inner(z):
        near = z + total
        return near

    try:
        return [inner(k) for k in x]
    except ValueError as error:
        raise error


class A:
    field = 1
"""


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("total", "sum_of_all", False), ("item", "part", False), ("near", "close", False), ("inner", "deep", False),
        ("k)", "j)", True), ("as error:\n        raise error", "as e:\n        raise e", False),
        ("z + total", "z + item", True), ("field", "other", True), ("(z):\n        near = z", "(y):\n        near = y", True),
        ("return near", "return far", True), ("total += item", "item += total", True),
    ],
)  # fmt: skip
def test_only_the_name_of_a_local_variable_may_change(before: str, after: str, changed: bool) -> None:
    """Callers use a parameter's name, and everybody that of a class attribute."""
    assert before in SCOPES
    now = ast.parse(SCOPES.replace(before, after))
    assert (fingerprint._dump(now, set()) != fingerprint._dump(ast.parse(SCOPES), set())) is changed


REWORDED = (
    ("diagnostics/clip_rate.py", "gradients are clipped to", "gradients are limited to"),
    ("diagnostics/clip_rate.py", ", at {share(numbers.bites_share)}", "; {share(numbers.bites_share)}"),
    ("diagnostics/resumption.py", '"steps are skipped"', '"steps are missing"'),
    ("diagnostics/determinism.py", "first step whose loss differs (0: none)", "first step that differs"),
    ("grading/recovery.py", "The weights of the trained model were shuffled", "The trained model got shuffled weights"),
    ("grading/vital.py", "None of them raises an alarm", "No alarm was raised"),
    ("grading/integrity.py", "The optimizer steps were counted", "All optimizer steps were counted"),
    ("diagnostics/fresh_gradient.py", "The gradients were read when", "All gradients were read when"),
    ("grading/lines.py", "Instruments that are not listed", "All other instruments"),
    ("grading/groups.py", "It runs and trains", "The program runs and trains"),
    ("running/worker.py", "The worker ended without a result", "A worker left no result"),
)
"""File, what stands in a text that it says, and what might."""


@pytest.mark.slow
def test_rewording_moves_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / "bugzoo"
    shutil.copytree(Path(bugzoo.__file__).parent, copy, ignore=shutil.ignore_patterns("*.ipynb", "__pycache__"))
    monkeypatch.setattr(fingerprint, "_ROOT", copy)

    def keys() -> dict[str, str]:
        forget(), code._grading.cache_clear()
        each = {f"{name}, {part.__name__}": part(name) for name in names() for part in (code.measuring, code.judging)}
        return each | {"core": code.core(), "grading": code.grading()}

    before = keys()
    for file, text, other in REWORDED:
        was = (copy / file).read_text()
        assert text in was, (file, text)
        (copy / file).write_text(was.replace(text, other, 1))
    assert keys() == before
    (copy / "diagnostics/clip_rate.py").write_text(
        (copy / "diagnostics/clip_rate.py").read_text().replace("0.85", "0.8")
    )
    assert {name for name, key in keys().items() if key != before[name]} == {"clip_rate, judging", "grading"}


def called(spec: str) -> set[tuple[str, str]]:
    """(file, function) of everything of ours that is called while a program runs and is measured."""
    import sklearn.datasets  # noqa: F401  other people's modules, before their calls are listened to
    import torchvision  # noqa: F401

    from bugzoo.diagnostics import measure_all
    from bugzoo.running.here import execute
    from bugzoo.running.torch_state import preserved
    from bugzoo.scenario import Scenario

    program, settings = ("mini_transformer", {"steps": 20}) if "attention" in spec else ("mlp", {"epochs": 1})
    source = Scenario(program, (spec,) if spec else (), settings).source
    root, calls = str(Path(bugzoo.__file__).parent) + os.sep, set[tuple[str, str]]()

    def look(frame, event, _) -> None:
        file = frame.f_code.co_filename
        runs = frame.f_code.co_flags & CO_OPTIMIZED or frame.f_code.co_name == "<module>"  # not the body of a class
        if event == "call" and runs and file.startswith(root):
            calls.add((file, frame.f_code.co_qualname))

    with preserved():
        threading.setprofile(look)
        sys.setprofile(look)
        try:
            run = execute(source, f"{program}.py")
            measure_all(run, [name for name in names() if name != "determinism"])  # it starts workers
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return calls


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize("spec", ["", "numerics/log_at_step", "attention/causal_mask_missing"])
def test_nothing_runs_that_was_not_reached(spec: str) -> None:
    """Every function of ours that a watched and measured run really calls is in the hash of the measurement."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:  # what other tests imported is not there
        calls = fresh.submit(called, spec).result()
    root = str(Path(bugzoo.__file__).parent) + os.sep
    places = reached(*code.CORE, *(f"bugzoo.diagnostics.{name}:measure" for name in names()), words=True)
    places |= reached(*(f"bugzoo.diagnostics.{name}:judge" for name in names()))  # conditions are made at an import
    modules = {module for module, _ in places}
    missing = set()
    for file, name in calls:
        module = "bugzoo." + file.removeprefix(root).removesuffix(".py").removesuffix("/__init__").replace(os.sep, ".")
        top = name.split(".")[0]
        if (
            module == "bugzoo.diagnostics._example"
        ):  # HEALTHY and SICK, made when an instrument is imported; measures nothing
            continue
        if module not in modules if top.startswith("<") else (module, top) not in places:
            missing.add((module, name))
    assert len(calls) > 100 and not missing


def test_the_hash_of_the_files_changes_with_each_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprint, "_ROOT", tmp_path)
    (tmp_path / "one.py").write_text("LIMIT = 3\n")
    before = fingerprint.of_files()
    (tmp_path / "one.py").write_text("LIMIT = 4\n")
    changed = fingerprint.of_files()
    (tmp_path / "one.py").rename(tmp_path / "two.py")
    assert len({before, changed, fingerprint.of_files()}) == 3
