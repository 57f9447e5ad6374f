"""A real nbgrader course in a folder of its own: instructor's versions in, student versions and points out."""

import contextlib
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

from bugzoo.grading.files import course

ROOT = Path(__file__).resolve().parents[2]


class Course:
    """`folder` holds everything that nbgrader writes; removing it leaves nothing behind.

    `made`: a course folder to copy; else that of all exercises is made.
    """

    def __init__(self, folder: Path, made: Path | None = None) -> None:
        self.folder = folder / "course"
        if made is not None:
            shutil.copytree(made, self.folder)
        else:
            self.folder.mkdir(parents=True)
            course(self.folder)
        bin_folder = str(Path(sys.executable).parent)  # nbgrader calls alembic by its bare name
        self.environment = os.environ | {
            "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
            "IPYTHONDIR": str(folder / "ipython"),
            "JUPYTER_CONFIG_DIR": str(folder / "config"),
            "BUGZOO_DATA": str(folder / "data"),
            "OMP_NUM_THREADS": "1",
        }

    def call(self, *arguments: str, seconds: float = 900) -> str:
        """`nbgrader ARGUMENTS` in the course. Returns what it said; raises AssertionError when it failed."""
        process = subprocess.run(
            [sys.executable, "-m", "nbgrader", *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        assert process.returncode == 0, process.stderr[-3000:]
        return process.stderr

    def generate(self, name: str) -> Path:
        """The student's notebook, as nbgrader makes it."""
        self.call("generate_assignment", name, "--create")
        return self.folder / "release" / name / f"{name}.ipynb"

    def hand_in(self, student: str, name: str, notebook: Path) -> None:
        target = self.folder / "submitted" / student / name / f"{name}.ipynb"
        target.parent.mkdir(parents=True)
        shutil.copy(notebook, target)

    def autograde(self, name: str, student: str = "*") -> None:
        self.call("autograde", name, f"--student={student}", "--create")

    def points(self, name: str, student: str) -> dict[str, tuple[float, float]]:
        """Graded cell -> (points that nbgrader gave, points that can be had)."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nbgrader's own, of sqlalchemy
            from nbgrader.api import Gradebook

            with contextlib.closing(Gradebook(f"sqlite:///{self.folder}/gradebook.db")) as book:
                notebook: Any = book.find_submission(name, student).notebooks[0]
                return {grade.name: (grade.auto_score, grade.max_score) for grade in notebook.grades}
