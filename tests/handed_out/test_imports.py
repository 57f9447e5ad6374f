"""What notebooks and packs of that day import is there, their pack of faults loads, and none of these files has changed."""

import importlib
from typing import Any

import pytest

import bugzoo.faults as faults
from bugzoo import Scenario
from tests.handed_out.files import DIGEST, HERE, digest

NAMES = (HERE / "imports.txt").read_text(encoding="utf-8").split()
"""`module:name` of every import in the notebooks, and of what a fault's file may use; `Class.field` for its arguments."""


def test_nothing_that_was_handed_out_has_changed() -> None:
    assert digest() == DIGEST, "others have the old files: put them back"


@pytest.mark.parametrize("module", sorted({name.partition(":")[0] for name in NAMES}))
def test_a_module_has_the_names_that_others_import(module: str) -> None:
    there: Any = importlib.import_module(module)
    names = [rest for place, _, rest in (name.partition(":") for name in NAMES) if place == module and rest]
    gone = [name for name in names if not _has(there, name)]
    assert gone == [], f"{module} has none of these any more"


def _has(module: Any, name: str) -> bool:
    first, _, field = name.partition(".")
    if not hasattr(module, first):  # a submodule, not yet imported
        try:
            importlib.import_module(f"{module.__name__}.{first}")
        except ModuleNotFoundError:
            return False
    return not field or field in getattr(module, first).__dataclass_fields__


class Entry:
    """An installed entry point, without installing one into the environment of the tests."""

    name = "theirs"

    def load(self) -> Any:
        return importlib.import_module("sample_faults")


def test_a_pack_of_that_day_loads_and_breaks_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HERE / "pack"))
    monkeypatch.setattr(faults, "entry_points", lambda group: [Entry()] if group == "bugzoo.faults" else [])
    catalogue = faults.catalogue.__wrapped__()
    theirs = {name: fault for name, fault in catalogue.items() if name.startswith("theirs:")}
    assert set(theirs) == {"theirs:loop/gradients_wiped", "theirs:loss/sign_flipped", "theirs:optimizer/lr_too_low"}
    monkeypatch.setattr(faults, "catalogue", lambda: catalogue)
    assert "+        optimizer.zero_grad()" in Scenario("mlp", ("theirs:loop/gradients_wiped",)).diff()
