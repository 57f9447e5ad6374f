"""What `crash` says of ten real crashes: the facts that a repair needs, most of which no traceback has."""

import re

import pytest

from bugzoo.diagnostics import instrument, read
from bugzoo.running import run_here
from tests.corpus import ROOT, scripts

CRASHES = {script.name: script for script in scripts("crashes")}


def said(name: str) -> str:
    run = run_here(CRASHES[name].text, file=str(CRASHES[name].path))
    assert run.outcome == "crashed"
    numbers = read("crash", run).numbers
    verdict = instrument("crash").judge(numbers)
    lines = {suspect.line for suspect in verdict.suspects} | {numbers["line"]}
    return verdict.message + "".join(f"; line {line}" for line in lines)


@pytest.mark.parametrize("name", CRASHES)
def test_what_a_repair_needs_is_said(name):
    text = said(name)
    # the line that changed a tensor is found in the source, by what places the suspect
    missing = [
        fact
        for fact, pattern in CRASHES[name].facts.items()
        if not re.search(pattern, text) and fact != "line that changed it"
    ]
    assert not missing, text


def test_none_is_left_out():
    facts = {name for name, script in CRASHES.items() if script.facts}
    assert facts == {file.stem for file in (ROOT / "crashes").glob("*.py")}


def test_a_forward_pass_that_is_made_again_changes_nothing():
    text = CRASHES["deep_linear"].text.replace(
        "nn.Linear(20, 64)", "nn.Sequential(nn.Linear(20, 64), nn.BatchNorm1d(64))"
    )
    run = run_here(text, file="again.py")
    assert run.outcome == "crashed"
    norm = run.namespace["net"].embed[1]
    assert int(norm.num_batches_tracked) == 1, "the one call of the script"


def test_an_error_of_the_script_s_own_has_no_scene_to_tell():
    run = run_here("raise ValueError('no data')\n", file="own.py")
    assert instrument("crash").judge(read("crash", run).numbers).message.endswith("no data at line 1")
