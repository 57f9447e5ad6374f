"""Lessons as files: no outputs in git, valid, and every cell runs without a front end (nbval)."""

import os
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("file", LESSONS, ids=lambda file: file.stem)
def test_committed_clean(file: Path) -> None:
    notebook = nbformat.read(file, as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert not cell.outputs and cell.execution_count is None, cell.id


@pytest.mark.slow
@pytest.mark.parametrize("file", LESSONS, ids=lambda file: file.stem)
def test_runs_headless(file: Path, tmp_path: Path) -> None:
    own = {"IPYTHONDIR": str(tmp_path), "BUGZOO_DATA": str(tmp_path / "data"), "OMP_NUM_THREADS": "1"}
    own |= {"BUGZOO_INTERVIEW_SEED": "55"}
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--nbval-lax", "-q", "-p", "no:cacheprovider", "-W", "default", str(file)],
        cwd=ROOT, env=os.environ | own, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    print(f"{file.stem}: {time.monotonic() - begin:.0f} s")
