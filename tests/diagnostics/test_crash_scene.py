"""What `crash` says of ten real crashes: the facts that a repair needs, most of which no traceback has."""

import re

import pytest
import torch

from bugzoo.diagnostics import instrument, read
from bugzoo.running import run_here
from tests.foreign.crashes import FACTS, FOLDER, source


def said(name: str) -> str:
    run = run_here(source(name), file=str(FOLDER / f"{name}.py"))
    assert run.outcome == "crashed"
    numbers = read("crash", run).numbers
    verdict = instrument("crash").judge(numbers)
    lines = {suspect.line for suspect in verdict.suspects} | {numbers["line"]}
    return verdict.message + "".join(f"; line {line}" for line in lines)


@pytest.mark.parametrize("name", FACTS)
def test_what_a_repair_needs_is_said(name):
    text = said(name)
    # the line that changed a tensor is found in the source, by what places the suspect
    missing = [
        fact for fact, pattern in FACTS[name].items() if not re.search(pattern, text) and fact != "line that changed it"
    ]
    assert not missing, text


def test_none_is_left_out():
    assert set(FACTS) == {file.stem for file in FOLDER.glob("*.py")} - {"__init__"}


def test_a_forward_pass_that_is_made_again_changes_nothing():
    text = source("deep_linear").replace("nn.Linear(20, 64)", "nn.Sequential(nn.Linear(20, 64), nn.BatchNorm1d(64))")
    run = run_here(text, file="again.py")
    assert run.outcome == "crashed"
    norm = run.namespace["net"].embed[1]
    assert int(norm.num_batches_tracked) == 1, "the one call of the script"


def test_an_error_of_the_script_s_own_has_no_scene_to_tell():
    run = run_here("raise ValueError('no data')\n", file="own.py")
    assert instrument("crash").judge(read("crash", run).numbers).message.endswith("no data at line 1")


@pytest.fixture
def one_of_several(tmp_path):
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


def test_a_rank_makes_no_forward_pass_alone(one_of_several):
    """The others might not make it, and what waits for them inside would wait for ever; the rest is told as ever."""
    counted = source("deep_linear").replace("import torch\n", "import torch\ncalls = []\n", 1)
    assert counted != source("deep_linear")
    counted = re.sub(r"( +)def forward\((.*)\):.*\n", r"\g<0>\1    calls.append(1)\n", counted)
    run = run_here(counted, file="rank.py")
    scene = run.trace.error["scene"]
    assert run.outcome == "crashed" and "module" in scene and "way" not in scene
    alone = len(run.namespace["calls"])
    torch.distributed.destroy_process_group()
    again = run_here(counted, file="rank.py")
    assert "way" in again.trace.error["scene"] and len(again.namespace["calls"]) > alone
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
