"""Which code a proof depends on, hashed; read from the files, so that nobody waits for torch to be told that all stands."""

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from bugzoo import diagnostics
from bugzoo.fingerprint import code_of

CORE = (
    "bugzoo.running.worker:run_worker",
    "bugzoo.running.supervisor:supervise",
    "bugzoo.running.zygote:serve",
    "bugzoo.running.child:enter",
    "bugzoo.diagnostics:measure_all",
)
"""Where the code begins that every run needs, whatever is measured."""
ASIDE = frozenset({"bugzoo.running.isolation", "bugzoo.running.identity"})
"""The sandbox, which programs of our own do not go through."""


def core() -> str:
    """Hash of the code that runs and watches."""
    return code_of(*CORE, without=ASIDE)


def measuring(name: str) -> str:
    """Hash of what an instrument's `measure` needs."""
    return code_of(f"bugzoo.diagnostics.{name}:measure")


def judging(name: str) -> str:
    """Hash of what an instrument's `judge` needs."""
    return code_of(f"bugzoo.diagnostics.{name}:judge")


def instruments(names: Iterable[str]) -> list[tuple[str, str, str]]:
    """(name, measuring, judging) of each, in alphabetical order."""
    return [(name, measuring(name), judging(name)) for name in sorted(names)]


@cache
def everything() -> frozenset[str]:
    """The instruments that every run can be asked for: those that run the script again are measured where they are named."""
    return frozenset(name for name in diagnostics.names() if not _runs_again(name))


def _runs_again(name: str) -> bool:
    tree = ast.parse((Path(diagnostics.__file__).parent / f"{name}.py").read_text(encoding="utf-8"))
    said = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return bool(said.get("RERUNS"))


def short(*parts: object) -> str:
    """A key of the ledger: 16 letters over everything that an entry depends on, by `repr`."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
