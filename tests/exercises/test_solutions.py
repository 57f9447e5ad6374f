"""Solutions and exercises as notebooks: solutions run under nbval; unsolved ones report failure without an exception."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bugzoo.grading.exercises import exercises
from bugzoo.proving.notebook_run import run_notebook
from tests.exercises.course import ROOT
from tests.sampling import only_in_prove

QUICKEST = "17_second_opinion"
"""`bugzoo check` has proved the programs of all. What is tried here is the notebooks. In the gate nbval runs the map, and
nbgrader runs an exercise, solved and unsolved."""

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("notebooks", "00_start_here"),
        only_in_prove("exercises", QUICKEST),
        *(only_in_prove("solutions", name) for name in exercises()),
    ],
)
def test_it_runs_under_nbval(folder: str, name: str, tmp_path: Path) -> None:
    variables = {"IPYTHONDIR": str(tmp_path), "BUGZOO_DATA": str(tmp_path / "data"), "OMP_NUM_THREADS": "1"}
    options = ["--nbval-lax", "--nbval-cell-timeout=300", "-q", "-p", "no:cacheprovider", "-W", "default"]
    file = ROOT / folder / f"{name}.ipynb"
    process = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(file)],
        cwd=ROOT, env=os.environ | variables, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert process.returncode == 0, process.stdout[-4000:] + process.stderr[-2000:]


@pytest.mark.parametrize(
    "name", [only_in_prove(QUICKEST), only_in_prove("10_restless_loss")]
)  # nbgrader's round trip hands in an unsolved one
def test_unsolved_says_so_without_an_exception(name: str) -> None:
    text = (ROOT / "exercises" / f"{name}.ipynb").read_text()
    outputs = {output["cell"]: output["text"] for output in run_notebook(text)}
    for cell, points in zip(("repair", "diagnosis"), exercises()[name].points, strict=True):
        message = "The program is unchanged." if cell == "repair" else f"0 of {points:g} points"
        assert outputs[cell].startswith(f"not attempted: {message}"), outputs[cell]
        assert outputs[cell].endswith("0.0")  # a number last, as nbgrader wants it
        assert "Traceback" not in outputs[cell] and "Error" not in outputs[cell]
