"""The scorecard counts right, and its table credits findings with causes that there are."""

import importlib.metadata
from pathlib import Path

import pytest

from bugzoo import faults
from tests.benchmarks import one_batch
from tests.benchmarks.scorecard import COLUMNS, OURS, count, table
from tests.benchmarks.scorecard_rules import RULES
from tests.benchmarks.scorecard_tools import tidy, validation
from tests.corpus import scripts


def test_rules_mean_causes_that_there_are():
    catalogue = set(faults.catalogue())
    families = {name.split("/")[0] + "/" for name in catalogue}
    for tool, rules in RULES.items():
        for name, rule in rules.items():
            assert set(rule.causes) <= catalogue | families, f"{tool} {name}"


def counted(tool: str, reading, accepted: set[str]) -> dict[str, int]:
    row = dict.fromkeys(COLUMNS, 0)
    count(row, tool, reading, frozenset(accepted))
    return {name: value for name, value in row.items() if value}


def test_a_made_up_reading_is_counted():
    stale, softmax = {"loop/stale_gradients"}, {"loss/double_softmax"}
    slip, advice, note = ("TG003", False), ("TG004", False), ("TG008", True)
    preflight = "torch-preflight"
    assert counted(preflight, [slip], stale) == {"broken": 1, "said": 1, "among": 1, "first": 1}
    assert counted(preflight, [slip], softmax) == {"broken": 1, "said": 1}
    assert counted(preflight, [advice, note], stale) == {"broken": 1}
    assert counted(preflight, [], set()) == {"healthy": 1}
    assert counted(preflight, [advice, note], set()) == {"healthy": 1, "advice alone": 1}
    assert counted(preflight, [advice, slip], set()) == {"healthy": 1, "false alarms": 1}
    assert counted(preflight, None, stale) == {"broken": 1, "no reading": 1}
    # advice that may mean the cause counts, behind what accuses
    assert counted(preflight, [advice, slip], {"speed/starved_loader"}) == {"broken": 1, "said": 1, "among": 1}
    # a family stands for each of its causes
    assert counted("losslint", [("nan_inf", False)], {"numerics/log_at_step"}) == counted(preflight, [slip], stale)
    assert counted(OURS, [("loss/double_softmax", False)], softmax)["first"] == 1


def test_the_gravest_comes_first_and_each_once():
    assert tidy([(0, "a", True), (2, "b", False), (2, "b", False), (1, "c", False)]) == [
        ("b", False),
        ("c", False),
        ("a", True),
    ]
    assert validation({"losses": [1.0], "val_losses": [0.5, 0.4], "test_loss": 3.0}) == [0.5, 0.4]


def test_the_table_tells_nothing_of_a_single_script():
    rows = {"reported, sealed": {tool: dict.fromkeys(COLUMNS, 7) for tool in (*RULES, OURS)}}
    text = table(rows)
    assert not any(script.path.stem in text for script in scripts("reported"))
    assert all(tool in text for tool in RULES)


def test_what_one_batch_catches_is_counted():
    cells = {"mlp": {"fired": ["overfit_one_batch"], "problems": []}, "vae": {"fired": [], "problems": []}}
    unproved = {"mlp": {"fired": ["overfit_one_batch"], "problems": ["it does not show"]}}
    rows = one_batch.count({"loss/double_softmax": cells, "data/no_shuffle": unproved})
    assert list(rows) == ["loss", "all"]
    assert rows["loss"] == rows["all"]
    assert [rows["all"][name] for name in one_batch.COLUMNS] == [1, 2, 1, 0, 1, 1]
    assert "1 50%" in one_batch.table(rows)


@pytest.fixture(scope="module")
def installed():
    for tool in RULES:
        try:
            importlib.metadata.version(tool)
        except importlib.metadata.PackageNotFoundError:
            pytest.skip(f"{tool} is not installed: pip install -e '.[scorecard]'")


def test_rules_are_those_of_the_installed_tools(installed):
    from losslint.checks import ALL_CHECKS
    from neural_net_checklist import torch_diagnostics
    from torch_audit.api import load_default_validators
    from torch_audit.loader import load_runtime_validators
    from torch_preflight.rules import all_rules

    assert set(RULES["torch-preflight"]) == {rule.code for rule in all_rules()}
    validators = [*load_default_validators(), *load_runtime_validators()]
    assert set(RULES["torch-audit"]) == {rule.id for validator in validators for rule in validator.rules}
    assert set(RULES["losslint"]) == {check.__name__.removeprefix("check_") for check in ALL_CHECKS} | {"parse"}
    for name in RULES["neural-net-checklist"]:
        assert hasattr(torch_diagnostics, f"assert_{name}"), name


def test_every_tool_reads_a_script(installed, tmp_path: Path):
    from tests.benchmarks.scorecard_tools import readings, ready

    ready()
    script = tmp_path / "train.py"
    script.write_text(SCRIPT, encoding="utf-8")
    by_tool = readings(script)
    assert ("TG003", False) in by_tool["torch-preflight"], by_tool
    assert all(by_tool[tool] is not None for tool in RULES), by_tool


SCRIPT = """
import torch
from torch import nn
torch.manual_seed(0)
x = torch.randn(64, 8)
y = (x[:, 0] > 0).long()
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
"""
