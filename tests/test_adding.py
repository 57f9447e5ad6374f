"""The table in CONTRIBUTING.md, followed: one of each kind is added to a copy of the repository, and no other file is touched."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

WORDS = """    cause=Cause("gradients that are cleared too late"),
    terms=("optimizer.step()",),
    beside={"mlp": ("data/labels_out_of_sync",)},
"""
FAULT = (ROOT / "tests/sample_pack/sample_faults/loop/gradients_wiped.py").read_text(encoding="utf-8")
FAULT = FAULT.replace("    sources=", f"{WORDS}    sources=").replace("import Fault", "import Cause, Fault")

ADDED = {
    "fault": "bugzoo/faults/loop/cleared_too_late.py",
    "program": "bugzoo/programs/small_mlp.py",
    "instrument": "bugzoo/diagnostics/gain.py",
    "lesson": "bugzoo/lessons/98_one_and_one.py",
    "exercise": "bugzoo/grading/exercises/e98_standing_still.py",
}

ASKED = """
import json
from bugzoo import diagnostics, faults, course, programs, scenario
from bugzoo.grading import exercises, files
fault = faults.load("loop/cleared_too_late")
numbers = diagnostics.measure_all(scenario.Scenario("small_mlp", (fault.id,)).run(), ["gain"])
print(json.dumps({
    "fits": scenario.fits(fault),
    "old fault on the new program": "small_mlp" in scenario.fits(faults.load("loop/stale_gradients")),
    "fired": diagnostics.judge_all(numbers)[0].fired,
    "lessons": course.build(),
    "exercises": files.build(),
}))
"""


WORDED = """
import json
from bugzoo.diagnostics.causes import cause, words
from bugzoo.instructor.combinations import listed
from bugzoo.pages.entries import of_term
word = cause("loop/cleared_too_late").word
pairs = [one.name for one in listed(["loop/cleared_too_late"])]
print(json.dumps([word, word in words(), [fault.id for fault in of_term("optimizer.step()")], pairs]))
"""


COMMANDS = """
import contextlib, io, json, sys
from bugzoo.cli import main
printed = []
for line in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            main(line)
        except SystemExit as end:
            assert not end.code, line
    printed.append(out.getvalue())
print(json.dumps(printed))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """The repository as it would be committed, with one file of each kind more."""
    place = tmp_path_factory.mktemp("grown")
    for folder in ("bugzoo", "notebooks", "exercises", "solutions"):
        shutil.copytree(ROOT / folder, place / folder, ignore=shutil.ignore_patterns(".*"))  # modules compiled already
    shutil.copy(ROOT / "pyproject.toml", place)
    # the notebooks say how long a measured cell took, and what is known of a GPU
    shutil.copytree(ROOT / "proofs" / "lessons", place / "proofs" / "lessons")
    shutil.copy(ROOT / "proofs" / "lessons_cuda.json", place / "proofs")
    assert not [path for path in ADDED.values() if (place / path).exists()]
    (place / ADDED["fault"]).write_text(FAULT, encoding="utf-8")
    # the others as `bugzoo new` writes them, which have to work as they are
    others = [
        ["new", kind, Path(path).stem.removeprefix("e"), "--json"] for kind, path in ADDED.items() if kind != "fault"
    ]
    files = [json.loads(answer)["file"] for answer in commands(place, *others)]
    assert files == [str(place / path) for kind, path in ADDED.items() if kind != "fault"]
    return place


def commands(copy: Path, *lines: list[str]) -> list[str]:
    """What each command of `bugzoo` prints, one after the other in one process of the copy."""
    return json.loads(called(copy, "-c", COMMANDS, json.dumps(lines)).splitlines()[-1])


def called(copy: Path, *arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(copy), "BUGZOO_CACHE": str(copy / "cache")}
    environment["BUGZOO_PROOFS"] = str(copy / "proofs")
    process = subprocess.run(
        [sys.executable, *arguments],
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert process.returncode == 0, process.stdout[-2000:] + process.stderr[-3000:]
    return process.stdout


@pytest.mark.slow
def test_everything_that_is_drawn_from_a_file_is_there_once_the_file_is(copy):
    answer = json.loads(called(copy, "-c", ASKED).splitlines()[-1])
    assert "small_mlp" in answer["fits"] and "mini_transformer" in answer["fits"]
    assert answer["old fault on the new program"] and answer["fired"]
    assert answer["lessons"] == ["notebooks/98_one_and_one.ipynb"]
    assert sorted(answer["exercises"]) == ["exercises/98_standing_still.ipynb", "solutions/98_standing_still.ipynb"]
    everything, lessons = commands(copy, ["list", "--json"], ["lessons", "list"])
    rows = json.loads(everything)
    listed = {row["id"] for row in (rows if isinstance(rows, list) else rows["rows"])}
    assert {"loop/cleared_too_late", "small_mlp", "gain", "98_standing_still"} <= listed
    assert "98_one_and_one" in lessons


def test_a_new_fault_s_words_terms_and_neighbors_stand_in_its_file(copy):
    assert "1 files written" in commands(copy, ["causes", "build"])[0]
    word, is_a_choice, of_term, pairs = json.loads(called(copy, "-c", WORDED).splitlines()[-1])
    assert word == "gradients that are cleared too late" and is_a_choice and "loop/cleared_too_late" in of_term
    assert pairs == ["loop/cleared_too_late + data/labels_out_of_sync"]


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_a_new_fault_costs_its_own_runs_and_writes_its_own_entry(copy):
    arguments = ("-m", "bugzoo", "verify", "loop/cleared_too_late", "--program", "small_mlp", "--json")
    report = json.loads(called(copy, *arguments))
    assert report["ok"], report
    assert (copy / "proofs" / "faults" / "loop" / "cleared_too_late.json").is_file()
    assert not list((copy / "proofs").rglob("stale_gradients.json"))
    again = json.loads(called(copy, *arguments))
    assert again["ok"] and again["runs"] == 0


def test_the_table_names_these_files():
    """What CONTRIBUTING.md says must be touched is what was touched here."""
    table = re.findall(r"^\| (?:an? )?([\w ]+?) \| `([^`]+)` \|", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    paths = {kind: path for kind, path in table if kind in ADDED}
    assert set(paths) == set(ADDED)
    for kind, path in ADDED.items():
        pattern = (
            re.escape(paths[kind]).replace("FAMILY", r"\w+").replace("NAME", r"\w+").replace("NN_topic", r"98_\w+")
        )
        assert re.fullmatch(pattern, path), (paths[kind], path)
