"""What Canvas, Moodle, Gradescope and nbgrader let one download, in their own formats, and a class that handed in."""

import json
import zipfile
from pathlib import Path

from bugzoo.grading.model import Result
from bugzoo.instructor import tasks

NAME = "16_flat_loss"

CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Week 2 (700001),Flat loss (700002),Current Score,Final Score\r\n"
    "    Points Possible,,,,,10.00,10.00,(read only),(read only)\r\n"
    '"Doe, Jane",12345,S001,jdoe,"Deep Learning, A",8.00,,80.0,40.0\r\n'
    '"Müller-Lüdenscheidt, Jürgen",12346,S002,jmueller,"Deep Learning, A",9.00,3.00,90.0,45.0\r\n'
    '"לוי, נועה",12347,S003,nlevi,"Deep Learning, A",,,,\r\n'
    '"Student, Test",99999,,5d41402abc4b2a76b9719d911017c592c4ca4238,"Deep Learning, A",,,,\r\n'
)
MOODLE = (
    "\ufeffIdentifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    '"Last modified (submission)","Last modified (grade)","Feedback comments"\r\n'
    'Participant 123456,Jane Doe,jane@x.edu,"Submitted for grading - ",,20.00,Yes,"Monday, 2 November 2026, 10:15 AM",-,\r\n'
    'Participant 123457,"Jürgen Müller-Lüdenscheidt",jm@x.edu,"Submitted",5.00,20.00,Yes,-,"Tuesday, 3 November 2026",old\r\n'
    "Participant 123458,נועה לוי,noa@x.edu,No submission,,20.00,Yes,-,-,\r\n"
)
METADATA = """---
submission_500001:
  :submitters:
  - :name: Jane Doe
    :sid: S001
    :email: jane@x.edu
  :created_at: 2026-11-02 10:15:00.123456000 Z
  :score: 0.0
  :status: processed
submission_500002:
  :submitters:
  - :name: Jürgen Müller-Lüdenscheidt
    :sid: S002
    :email: jm@x.edu
  - :name: נועה לוי
    :sid: S003
    :email: noa@x.edu
  :created_at: 2026-11-02 11:00:00.000000000 Z
submission_500003:
  :submitters:
  - :name: Somebody Else
    :sid:
    :email: else@x.edu
  :created_at: 2026-11-02 11:00:00.000000000 Z
"""


def notebook(kind: str = "") -> bytes:
    """The notebook of `NAME` as handed out; `kind` is written into its first cell, so that two are not the same."""
    made = tasks.load(NAME).original()
    made["cells"].insert(0, {"cell_type": "markdown", "id": f"own-{kind}", "metadata": {}, "source": [kind]})
    return json.dumps(made).encode()


def zipped(path: Path, files: dict[str, bytes | str]) -> Path:
    """A zip of these files; the folder of each gets an entry of its own, as Moodle and Gradescope write it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for folder in sorted({name.rsplit("/", 1)[0] for name in files if "/" in name}):
            archive.writestr(f"{folder}/", b"")
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def unzipped(path: Path, files: dict[str, bytes | str]) -> Path:
    """The same as a folder."""
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def canvas() -> dict[str, bytes | str]:
    """One in time, one late with a name in capitals that was there before, one whom no roster knows."""
    return {
        f"doejane_12345_678901_{NAME}-2.ipynb": notebook("jane"),
        "müllerlüdenscheidtjürgen_LATE_12346_678902_My Work.IPYNB": notebook("jürgen"),
        f"elsesomebody_55555_678903_{NAME}.ipynb": notebook("else"),
    }


def moodle() -> dict[str, bytes | str]:
    return {
        f"Jane Doe_123456_assignsubmission_file_/{NAME}.ipynb": notebook("jane"),
        "Jane Doe_123456_assignsubmission_onlinetext_/onlinetext.html": "<p>see the file</p>",
        f"Jürgen Müller-Lüdenscheidt_123457_assignsubmission_file_/{NAME}.ipynb": notebook("jürgen"),
        f"Somebody Else_999999_assignsubmission_file_/{NAME}.ipynb": notebook("else"),
    }


def moodle_flat() -> dict[str, bytes | str]:
    """Without folders."""
    return {name.replace("_/", "_"): data for name, data in moodle().items()}


def gradescope() -> dict[str, bytes | str]:
    files = {f"assignment_42_export/submission_50000{one}/{NAME}.ipynb": notebook(str(one)) for one in (1, 2, 3)}
    return {"assignment_42_export/submission_metadata.yml": METADATA, **files}


def graded(monkeypatch) -> list[str]:
    """Hand-ins are graded at once: half of the repair's points, nothing for the diagnosis. Returns who was."""
    from bugzoo.instructor import classroom

    seen: list[str] = []

    def repair(self, owner, source, records, strict):
        seen.append(owner)
        return Result("wrong", 0.5, message="<b>half</b> of it", points=3.5, max_points=7.0)

    monkeypatch.setattr(tasks.ExerciseTask, "repair", repair)
    monkeypatch.setattr(classroom.diagnosis_cell, "check_sandbox", lambda: None)
    monkeypatch.setattr(classroom, "run_all", one_by_one)
    return seen


def one_by_one(work, todo, executor=None, workers=None, on_done=None, **more):
    """As `run_all`, in this process."""
    for number, one in enumerate(todo):
        on_done(number, work(one))
