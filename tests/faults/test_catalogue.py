"""Every fault file is complete, fits the programs that it names and gives nothing away too early."""

import re

import pytest

import bugzoo.faults as faults
from bugzoo import programs
from bugzoo.errors import UserError
from bugzoo.faults.evidence import parse
from bugzoo.scenario import Scenario, fits

CATALOGUE = faults.catalogue()
PAIRS = [(fault_id, program) for fault_id, fault in CATALOGUE.items() for program in fits(fault)]


@pytest.mark.parametrize("fault_id", CATALOGUE)
def test_file_is_complete(fault_id):
    fault = CATALOGUE[fault_id]
    assert fault.report and fault.title and fault.why and fault.fix and fault.sources
    assert 1 <= fault.level <= 5
    assert fits(fault), "it fits no program"
    assert set(fault.not_on) <= set(programs.names())
    assert len(set(fault.hints)) == 3 and all(hint.endswith((".", "?")) for hint in fault.hints)
    assert bool(fault.evidence) != fault.trap, "a fault needs evidence, a trap must not have any"
    for text in (*fault.evidence, *([] if fault.trap else [fault.effect])):
        parse(text)
    for param in fault.params.values():
        assert param.low <= param.default <= param.high


@pytest.mark.parametrize("fault_id", CATALOGUE)
def test_symptom_and_first_hint_do_not_name_the_fault(fault_id):
    fault = CATALOGUE[fault_id]
    name = fault_id.rsplit("/", 1)[1]
    for text in (fault.report, fault.hints[0]):
        assert name not in text and name.replace("_", " ") not in text.lower()


@pytest.mark.parametrize(("fault_id", "program"), PAIRS)
def test_swap_fits_undoes_and_leaves_no_trace_of_its_name(fault_id, program):
    scenario = Scenario(program, (fault_id,))  # compiles it
    assert scenario.source != scenario.base == scenario.healthy().source
    assert scenario.injection.undo(scenario.source) == scenario.base
    added = "\n".join(line for line in scenario.diff().splitlines() if line.startswith("+"))
    family, name = fault_id.rsplit("/", 1)
    assert name not in added and "bugzoo" not in added and "fault" not in added.lower()
    assert not re.search(rf"\b{family}/", added)
    assert name not in scenario.ticket


def test_files_and_entries_are_one_to_one(tmp_path):
    root = faults.__path__[0]
    from pathlib import Path

    files = {f"{p.parent.name}/{p.stem}" for p in Path(root).glob("*/*.py") if p.stem != "__init__"}
    assert files == {i for i in CATALOGUE if ":" not in i}


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(UserError, match=r"Did you mean loss/double_softmax.*`bugzoo list`"):
        faults.load("loss/double_sofmax")
    with pytest.raises(UserError, match="Did you mean loop/stale_gradients"):
        faults.load("stale_gradient")
