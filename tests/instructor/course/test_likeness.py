"""Likeness between hand-ins: a renamed copy is found, a repair that everybody has is not, and nothing is called copied."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bugzoo.grading.exercises import load
from bugzoo.grading.notebook import build
from bugzoo.instructor import Assignment, classroom, handout, tasks
from bugzoo.instructor.course import likeness, likeness_page
from bugzoo.instructor.course.shapes import changes, shape
from bugzoo.instructor.key import Key
from bugzoo.instructor.tasks import AssignmentTask
from tests.instructor.class_of import cell, hand_in, replace, text

NAME = "16_flat_loss"
SOFT = "        loss = F.cross_entropy(F.softmax(logits, dim=-1), targets)\n"
PLAIN = "        loss = F.cross_entropy(logits, targets)\n"
ODD = (
    "        shifted = logits - logits.max(dim=-1, keepdim=True).values\n"
    "        total_mass = shifted.exp().sum(dim=-1).log()\n"
    "        loss = (total_mass - shifted.gather(1, targets[:, None]).squeeze(1)).mean()\n"
)
RENAMED = (
    "        # my own idea\n"
    "        z = (logits -\n             logits.max(keepdim=True, dim=-1).values)\n"
    "        norm: object = z.exp().sum(dim=-1).log()\n"
    "        verlust = (norm - z.gather(1, targets[:, None]).squeeze(1)).mean()\n"
)
OTHERS = (
    "        loss = F.nll_loss(torch.log(F.softmax(logits, dim=-1)), targets)\n",
    "        chances = F.softmax(logits, dim=-1)\n        loss = -chances[range(len(targets)), targets].log().mean()\n",
)


def notebook(student: str, loss: str, swap: dict[str, str] | None = None) -> dict[str, Any]:
    """The exercise as handed out, with another line of the loss; every file differs in a cell of the student's own."""
    made = json.loads(build(load(NAME), "student"))
    source = text(made, "program-training")
    assert source.count(SOFT) == 1
    source = source.replace(SOFT, loss)
    for old, new in (swap or {}).items():
        source = re.sub(rf"\b{old}\b", new, source)
    cell(made, "program-training")["source"] = source.splitlines(keepends=True)
    made["metadata"]["author"] = student
    return made


def hand_in_class(folder: Path) -> None:
    """Twelve: eight with the usual line, two with an unusual one of which one is renamed, two with others."""
    for number in range(8):
        swap = {"loss": f"loss{number}"} if number % 2 else {}  # half of them rename, as dialects do
        hand_in(folder, f"usual{number}", notebook(str(number), PLAIN, swap), NAME)
    hand_in(folder, "ada", notebook("ada", ODD), NAME)
    hand_in(folder, "eve", notebook("eve", RENAMED, {"loss": "verlust", "inputs": "x"}), NAME)
    for number, loss in enumerate(OTHERS):
        hand_in(folder, f"other{number}", notebook(f"o{number}", loss), NAME)


def compared(folder: Path) -> likeness.Report:
    task = tasks.load(NAME)
    return likeness.compare(classroom.collect(folder, task).found, task)


def test_a_renamed_copy_comes_first(tmp_path: Path) -> None:
    hand_in_class(tmp_path / "in")
    report = compared(tmp_path / "in")
    assert len(report.works) == 12 and not report.left and not report.few
    first, *rest = report.pairs
    assert (first.one, first.other, first.look) == ("ada", "eve", True) and first.alike > 0.95, first
    assert [pair for pair in rest if pair.look] == []
    usual = [pair for pair in rest if pair.one.startswith("usual") and pair.other.startswith("usual")]
    assert len(usual) == 28 and max(pair.alike for pair in usual) < 0.3 and not any(pair.rare for pair in usual)


def test_what_the_catalogue_names_is_not_rare(tmp_path: Path) -> None:
    """In a class that does not come far, two have the usual line: it is the solution, and says nothing."""
    hand_in(tmp_path / "in", "ada", notebook("a", PLAIN), NAME)
    hand_in(tmp_path / "in", "ben", notebook("b", PLAIN, {"logits": "outputs"}), NAME)
    for number in range(10):
        hand_in(
            tmp_path / "in", f"s{number}", notebook(str(number), SOFT + f"        loss = loss * 1.{number}1\n"), NAME
        )
    report = compared(tmp_path / "in")
    assert not [pair for pair in report.looked_at if {pair.one, pair.other} & {"ada", "ben"}]


def test_files_and_metadata(tmp_path: Path) -> None:
    hand_in_class(tmp_path / "in")
    hand_in(tmp_path / "in", "twin", notebook("ada", ODD), NAME)
    bare = notebook("bare", PLAIN)
    del bare["metadata"]["bugzoo"]
    hand_in(tmp_path / "in", "bare", bare, NAME)
    hand_in(tmp_path / "in", "none", notebook("none", SOFT), NAME)
    hand_in(tmp_path / "in", "nobody", notebook("none", SOFT), NAME)
    hand_in(tmp_path / "in", "deep", notebook("deep", f"        loss = {'-' * 100_000}1\n"), NAME)
    report = compared(tmp_path / "in")
    flagged = {(pair.one, pair.other): pair.flags for pair in report.pairs if pair.flags}
    assert flagged == {("ada", "twin"): ("the same file, byte for byte",)}  # what nobody changed says nothing
    assert report.alone == {"bare": ["the notebook's metadata were removed"]}
    assert report.left["none"] == "nothing was changed in the program" and "cannot be read" in report.left["deep"]


def test_variants(tmp_path: Path, small: Assignment) -> None:
    """Everybody got another seed and another order of settings: whose notebook it was is told by tag, and by the text."""
    students = {}
    for number, name in enumerate(("ada", "ben", "cem", "dot", "eve", "fay", "gus", "hal", "ida")):
        students[name] = {"tag": f"tag{number}", "seed": 100 + number, "faults": list(small.faults)}
    task = AssignmentTask(Key(small, [], 60.0, (0, 1, 2), students, 10.0))

    def made(name: str, loss: str) -> dict[str, Any]:
        about = {"variant": {"version": 1, "tag": students[name]["tag"]}}
        one = json.loads(handout.build(task.key.own(name), "student", [], about))
        replace(one, "program-training", SOFT.strip(), loss.strip())
        return one

    for name in students:
        hand_in(tmp_path / "in", name, made(name, PLAIN), small.name)
    hand_in(tmp_path / "in", "ben", made("ada", PLAIN), small.name)  # with ada's tag
    stripped = made("dot", PLAIN)
    del stripped["metadata"]["bugzoo"]
    hand_in(tmp_path / "in", "cem", stripped, small.name)
    forged = made("fay", PLAIN)
    forged["metadata"]["bugzoo"]["variant"]["tag"] = "tag4"
    hand_in(tmp_path / "in", "eve", forged, small.name)
    report = likeness.compare(classroom.collect(tmp_path / "in", task).found, task)
    flags = {(pair.one, pair.other): pair.flags[0] for pair in report.looked_at}
    assert flags == {
        ("ada", "ben"): "ben's notebook is the one that was drawn for ada",
        ("cem", "dot"): "cem's program is nearer to the one that was drawn for dot than to the own one",
        ("eve", "fay"): "eve's program is nearer to the one that was drawn for fay than to the own one",
    }
    assert report.alone == {"cem": ["the notebook's metadata were removed"]}
    assert {work.owner for work in report.works.values()} == {"ada", "dot", "fay", "gus", "hal", "ida"}
    assert len({work.changed for work in report.works.values()}) == 1, "the seed is the variant's and no change"


def test_few(tmp_path: Path) -> None:
    for name in ("ada", "eve", "ben"):
        hand_in(tmp_path / "in", name, notebook(name, PLAIN if name == "ben" else ODD), NAME)
    report = compared(tmp_path / "in")
    assert report.few and not report.looked_at and "nobody can say what is rare" in likeness_page.page(report, "x")


def test_the_command(tmp_path: Path, bugzoo: Callable) -> None:
    hand_in_class(tmp_path / "in")
    for name in ("mal", "<script>mol"):
        hand_in(tmp_path / "in", name, notebook(name, "        loss = '<script>alert(1)</script>'\n"), NAME)
    words = ("likeness", str(tmp_path / "in"), "--assignment", NAME)
    done = bugzoo(*words, "-o", str(tmp_path / "p.html"), "--json", str(tmp_path / "p.json"))
    assert done.code == 0, done.err
    found = json.loads((tmp_path / "p.json").read_text())
    assert {(pair["one"], pair["other"]) for pair in found["pairs"] if pair["look"]} == {
        ("ada", "eve"),
        ("<script>mol", "mal"),
    }
    assert "2 pairs to look at" in done.out
    made = (tmp_path / "p.html").read_text()
    assert "total_mass" in made and "verlust" in made and "<script" not in made and made.count("&lt;script") > 4
    assert not re.search("cop(y|ied|ies)|cheat|plagiar", made + done.out, re.IGNORECASE)
    assert bugzoo("likeness", str(tmp_path / "no"), "--assignment", NAME).code == 2
    assert bugzoo(*words, "-o", str(tmp_path / "no" / "p.html")).code == 2


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a = f(b)", "c = f(b)", True),
        ("def f(a, b=1):\n    return a + b\nf(1, b=2)", "def g(x, y=1):\n    return x + y\ng(1, y=2)", True),
        ("import torch.nn.functional as F\nF.relu(x)", "from torch.nn import functional\nfunctional.relu(x)", True),
        ("f(a=1, b=2)", "f(b=2, a=1)", True),
        ("class A:\n    def go(self):\n        self.x = 1", "class B:\n    def run(me):\n        me.y = 1", True),
        ("x: int = 1  # one", "x = 1", True),
        ("try:\n    a()\nexcept E as e:\n    b()", "try:\n    c()\nexcept E as x:\n    d()", True),
        ("x = 1", "x = 2", False),
        ("x = 1", "x = 1.0", False),
        ("a = b - c", "a = c - a", False),
        ("a.step(); a.zero_grad()", "a.zero_grad(); a.step()", False),
        ("for i in x:\n    f(i)\ng()", "for i in x:\n    f(i)\n    g()", False),
        ("if x:\n    f()\nelse:\n    g(1)", "if x:\n    g(1)\nelse:\n    f()", False),
        ("print(x)", "len(x)", False),
    ],
)
def test_shapes(one: str, other: str, same: bool) -> None:
    assert (not changes(shape(one), shape(other)) and not changes(shape(other), shape(one))) == same
