"""The idioms carry the faults that are still to come: edits of planned ones, as they would stand in their files.

Each must find its place in a program and leave valid Python that differs. When a fault gets its file, its line here goes.
"""

import pytest

from bugzoo import faults, programs
from bugzoo.faults.idioms import (
    CLIP,
    EPOCHS,
)  # fmt: skip
from bugzoo.faults.verbs import remove, rewrite
from bugzoo.injection import change

PLANNED = {
    "clipping/clipping_missing": ("sentiment_lstm", remove(CLIP)),
    "fit/trained_too_short": ("mlp", rewrite(EPOCHS, COUNT="1")),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANNED)
def test_a_planned_fault_is_an_edit_of_a_place_that_has_a_name(name):
    program, edits = PLANNED[name]
    assert name not in faults.catalogue(), "it has a file now: take its line out"
    source = programs.load(program).source
    injection = change(source, edits if isinstance(edits, tuple) else (edits,), owner=name)
    assert injection.broken != source and injection.undo(injection.broken) == source
    compile(injection.broken, program, "exec")
