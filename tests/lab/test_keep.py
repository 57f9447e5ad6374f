"""A function that a reader keeps: what is written, that its tests run with and without pytest, and what is refused."""

import re
import subprocess
import sys
import types

import pytest

from bugzoo import course, lab
from bugzoo.course.source import read
from bugzoo.errors import UserError
from bugzoo.lab.keep import FILE
from bugzoo.lab.tryout import Solution

LESSON = """# %% [markdown] title
# # 90 · Lost losses

# %% [task] lost
def lost(losses):
    ...

# %% [solution] lost
def lost(losses):
    return [step for step, loss in enumerate(losses, 1) if math.isnan(loss)]

# %% [judge] lost
def judge(lost):
    yield lost([float("nan")]) == [1], "it finds the one", ""

# %% [keep] lost
def test_lost_finds_the_incident():
    assert lab.case("03/incident").specs and lost([1.0, float("nan")]) == [2]


def test_lost_is_silent_on_the_healthy_twin():
    assert not lab.case("03/incident").healthy().specs and not lost([1.0, 0.5])
"""
LOST = """def lost(losses):
    return [step for step, loss in enumerate(losses, 1) if math.isnan(loss)]
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a notebook, and a lesson 90 that has tests for `lost`."""
    lesson = tmp_path / "90_lost.py"
    lesson.write_text(LESSON)
    files = course.files() | {"90_lost": lesson}
    monkeypatch.setattr(course, "files", lambda: files)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def written(place, text, name="lost", before="import math\n"):
    """Return a function whose text can be read, as in a notebook's cell."""
    file = place.parent / f"cell_{len(list(place.parent.glob('cell_*')))}.py"
    file.write_text(before + text)
    module = types.ModuleType("__main__")
    exec(compile(file.read_text(), str(file), "exec"), module.__dict__)
    return module.__dict__[name]


def run_alone(place, *command):
    return subprocess.run([sys.executable, *command], cwd=place, capture_output=True, text=True)


def test_pytest_finds_it_and_python_runs_it(place):
    lab.keep(written(place, LOST))
    text = (place / FILE).read_text()
    assert "import math\nfrom bugzoo import lab" in text or "from bugzoo import lab\nimport math" in text, text
    alone = run_alone(place, FILE)
    assert alone.returncode == 0 and alone.stdout.count("ok ") == 2, alone.stderr
    listed = run_alone(place, "-m", "pytest", "-q", "-p", "no:cacheprovider", FILE)
    assert "2 passed" in listed.stdout, listed.stdout


def test_a_function_that_no_longer_finds_the_incident_fails(place):
    lab.keep(written(place, "def lost(losses):\n    return []\n"))
    assert run_alone(place, FILE).returncode == 1


def test_a_second_keep_replaces_its_own_part_only(place):
    lab.keep(written(place, LOST))
    file = place / FILE
    file.write_text(file.read_text().replace("if __name__", "MINE = 1  # a reader's own line\n\n\nif __name__"))
    before = file.read_text()
    lab.keep(written(place, LOST))
    assert file.read_text() == before
    lab.keep(written(place, LOST.replace("math.isnan(loss)", "loss != loss")))
    after = file.read_text()
    assert "loss != loss" in after and "isnan" not in after and "import math" not in after and "MINE = 1" in after
    assert after.count("def lost(") == after.count("# ---- end of lost") == 1


def test_a_part_without_its_last_line_is_refused(place):
    lab.keep(written(place, LOST))
    file = place / FILE
    file.write_text(file.read_text().replace("# ---- end of lost\n", ""))
    before = file.read_text()
    with pytest.raises(UserError, match="end of lost"):
        lab.keep(written(place, LOST))
    assert file.read_text() == before


REFUSED = {
    "a name of the notebook": ("limit = 3\n", LOST.replace("math.isnan(loss)", "loss > limit"), "`limit`"),
    "a helper of the notebook": ("def bad(x):\n    return x != x\n", LOST.replace("math.isnan", "bad"), "`bad`"),
    "a lambda": ("", "lost = lambda losses: losses\n", "not a lambda"),
    "a class": ("", "class lost:\n    pass\n", "not a class"),
    "a decorator that hides it": (
        "def twice(f):\n    def inner(x):\n        return f(x)\n    inner.__name__ = f.__name__\n    return inner\n",
        "@twice\n" + LOST,
        "decorator",
    ),
    "a decorator of the notebook": (
        "import functools\ndef twice(f):\n    @functools.wraps(f)\n    def inner(x):\n        return f(x)\n    return inner\n",
        "@twice\n" + LOST,
        "`twice`",
    ),
    "another name": ("", "def gone(losses):\n    return losses\n", "takes one of .*lost"),
}


@pytest.mark.parametrize("title", REFUSED)
def test_refused_with_a_reason(place, title):
    before, text, reason = REFUSED[title]
    name = "gone" if "def gone" in text else "lost"
    function = written(place, text, name, "import math\n" + before)
    with pytest.raises(UserError) as refusal:
        lab.keep(function)
    assert re.search(reason, str(refusal.value)), refusal.value
    assert not (place / FILE).exists()


def test_a_decorator_of_a_library_stays(place):
    lab.keep(written(place, "@torch.no_grad()\n" + LOST, before="import math\nimport torch\n"))
    text = (place / FILE).read_text()
    assert "import torch\n" in text and "@torch.no_grad()" in text


def test_the_solution_in_place_of_code_that_fails_is_not_kept(place, capsys):
    lab.keep(Solution(written(place, LOST), lambda losses: []))
    assert "does not pass its checks yet" in capsys.readouterr().out
    assert not (place / FILE).exists()


def test_a_lesson_must_call_keep(tmp_path):
    from bugzoo.proving.lesson_proof import read_through

    lesson = tmp_path / "90_lost.py"
    lesson.write_text(LESSON)
    assert any("lab.keep(lost)" in problem for problem in read_through(read(lesson)))
