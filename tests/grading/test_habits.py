"""What honest students write beside a repair: it is read as plain, it runs in the sandbox, and the repair passes."""

import pytest

from bugzoo.grading.exercises import load
from bugzoo.grading.grade import grade
from bugzoo.grading.plain import outside
from bugzoo.grading.texts import broken_text, healthy_text

EXERCISE = "04_flat_loss"
IMPORTS = """from __future__ import annotations

import argparse
import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import matplotlib.pyplot as plt
from tqdm import tqdm
"""
SETTINGS = """
@dataclass
class Options:
    rate: float = 1e-3
    name: Optional[str] = None

    def __repr__(self) -> str:
        return f"Options({self.rate})"


parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float, default=Options.rate)
options: argparse.Namespace = parser.parse_args()
_log = logging.getLogger("training")
logging.basicConfig(level=logging.INFO, format="%(message)s")
folder: Path = Path("runs")

# %% Data
"""
PICTURE = """        losses.append(loss.item())
        _log.info("step %d: %.3f", step, loss.item())
    plt.figure()
    plt.plot(losses)
    plt.savefig(f"loss_{epoch}.png")
    plt.show()
    torch.save(model.state_dict(), "model.pt")
"""
HABITS = {
    "    for inputs, targets in train_loader:": "    for inputs, targets in tqdm(train_loader, desc=f'epoch {epoch}'):",
    "\n# %% Data\n": SETTINGS,
    "        losses.append(loss.item())\n": PICTURE,
    "def forward(self, inputs):": "def forward(self, inputs: 'torch.Tensor') -> torch.Tensor:",
    "print(metrics)": "print(json.dumps(metrics), folder / 'model.pt', options)",
}


def with_habits(text: str) -> str:
    for old, new in {**HABITS, "\nimport torch\n": f"\n{IMPORTS}import torch\n"}.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize("right", [True, False])
def test_a_repair_with_all_habits_is_judged_as_the_repair(right: bool) -> None:
    exercise = load(EXERCISE)
    text = with_habits(healthy_text(exercise) if right else broken_text(exercise))
    assert outside(text, exercise.handed_out) == []
    result = grade(text, exercise.scenario, seeds=exercise.seeds, seconds=exercise.seconds)
    assert result.passed == right, str(result)
