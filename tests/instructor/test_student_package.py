"""What students install opens their notebooks and holds no answer."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from bugzoo import faults, programs
from bugzoo.grading.exercises import exercises
from bugzoo.grading.grade import tidy
from bugzoo.instructor import Assignment, handout, student_package
from bugzoo.instructor.students import curves
from bugzoo.instructor.variants import draw, variant
from tests.instructor.class_of import answer

RUN = """
import sys
import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], 4)
NotebookClient(notebook, timeout=300, resources={"metadata": {"path": sys.argv[2]}}).execute()
for cell in notebook.cells:
    for output in cell.get("outputs", []):
        print(cell.id, output.get("text", ""))
"""


def test_nothing_of_the_answers_is_in_it() -> None:
    texts = {path: data.decode() for path, data in student_package.files().items() if path.endswith(".py")}
    whole = "\n".join(texts.values())
    for fault in faults.catalogue().values():
        for said in (fault.why, fault.fix, *fault.hints):
            assert said not in whole, f"{fault.id}: {said}"
        assert f"bugzoo/faults/{fault.id}.py" not in texts
    for name in programs.names():
        assert f"bugzoo/programs/{name}.py" not in texts
        model = tidy(programs.load(name).source).split("# %% Training")[1].strip()
        assert model not in whole, name
    assert len(exercises()) > 40 and not [path for path in texts if "grading/exercises" in path or "proving" in path]


def test_a_room_that_is_new_is_not_handed_out_by_chance() -> None:
    """Whoever adds a room says whether students get it."""
    there = {
        path.split("/")[1] for path in student_package.files() if path.count("/") > 1 and path.startswith("bugzoo/")
    }
    known = {"diagnostics", "grading", "injection", "lab", "plots", "running", "watching", *student_package.KEPT}
    assert there == known, "name it in ROOMS or KEPT, or here"


def test_the_same_bytes_and_a_record_that_is_true(tmp_path: Path) -> None:
    one, two = student_package.write(tmp_path / "one"), student_package.write(tmp_path / "two")
    assert one.read_bytes() == two.read_bytes() and one.stat().st_size < 2**20
    with zipfile.ZipFile(one) as wheel:
        (record,) = (name for name in wheel.namelist() if name.endswith("RECORD"))
        rows = [line.split(",") for line in wheel.read(record).decode().splitlines()]
        assert {path for path, *_ in rows} == set(wheel.namelist())
        assert all(int(size) == wheel.getinfo(path).file_size for path, _, size in rows if size)


@pytest.mark.slow
def test_a_students_notebook_runs_with_it_alone(tmp_path: Path) -> None:
    """Installed by pip into a folder of its own: the program runs beside the healthy curve, and its end is looked at."""
    wheel = student_package.write(tmp_path)
    site = tmp_path / "site"
    installed = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        str(site),
        str(wheel),
    ]
    subprocess.run(installed, check=True, capture_output=True)
    mine = variant(
        Assignment("mlp", ("loss/double_softmax",), title="Week 3"), ("loss/double_softmax",), draw("s" * 20, "w", "a")
    )
    made = json.loads(handout.build(mine, "student", [], curve=curves([mine])[0]))
    answer(made, 'first.hand_in(cause=first.causes[0], place=3, evidence=["loss_curve"])')
    probe = {"cell_type": "code", "execution_count": None, "id": "probe", "metadata": {}, "outputs": []}
    made["cells"].append(probe | {"source": "import bugzoo, sys; print(bugzoo.__file__, *sorted(sys.modules))"})
    (tmp_path / "week_3.ipynb").write_text(json.dumps(made))
    own = {"PYTHONPATH": str(site), "BUGZOO_DATA": str(tmp_path / "data"), "BUGZOO_CACHE": str(tmp_path / "cache")}
    called = [sys.executable, "-c", RUN, str(tmp_path / "week_3.ipynb"), str(tmp_path)]
    ran = subprocess.run(called, env=os.environ | own, capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert f"probe {site}" in ran.stdout and "healthy: finished after" in ran.stdout
    assert "ok  outcome: it ended as finished" in ran.stdout and "NO  training loss" in ran.stdout
