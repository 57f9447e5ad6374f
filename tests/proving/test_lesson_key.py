"""A lesson's proof ages with what it ran: which changes ask for a new proof, which make it stale, and which neither."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bugzoo import fingerprint, views
from bugzoo.course.source import Lesson, read
from bugzoo.proving import lesson_key, opened
from bugzoo.proving.lesson_proof import run
from tests.proving.test_fingerprint import forget

TEXT = """
# %% [case] second
# mlp loss/double_softmax

# %% [markdown] title
# # 07 · Small
#
# The loss ends at {1.5 = late}.

# %% setup
from bugzoo import Scenario, lab, views

rows = len(views.measure(Scenario("mlp", ("numerics/log_at_step?step=3&eps=0",), {"epochs": 1}).run(), ["updates"]))

# %% [check] why
# Why?
#
# ( ) So
#     no.
# (x) Because
#     yes.

# %% recap
view = lab.table

# %% [proof]
late = 1.5 * rows
"""
FOUND = {
    "programs": [{"program": "mlp", "faults": [], "settings": {}, "seed": 0}],
    "views": ["updates"],
    "instruments": [],
}


def lesson(folder: Path, old: str = "", new: str = "") -> Lesson:
    assert old in TEXT
    (folder / "07_small.py").write_text(TEXT.replace(old, new), encoding="utf-8")
    return read(folder / "07_small.py")


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("The loss ends at", "In the end the loss is", False),
        ("    yes.", "    yes, as you see.", False),
        ("view = lab.table", "view = lab.table  # a table", False),
        ("{1.5 = late}", "{1.6 = late}", True),
        ("{1.5 = late}", "{1.5 = rows}", True),
        ("view = lab.table", "view = lab.lines", True),
        ("late = 1.5", "late = 1.6", True),
        ("loss/double_softmax", "loss/sign_flipped", True),
        ("# ( ) So\n#     no.\n# (x) Because\n#     yes.", "# (x) So\n#     no.\n# ( ) Because\n#     yes.", True),
    ],
)
def test_what_asks_for_a_new_proof(tmp_path: Path, old: str, new: str, changed: bool) -> None:
    before = lesson_key.about(lesson(tmp_path), FOUND)
    assert (lesson_key.about(lesson(tmp_path, old, new), FOUND) != before) is changed


def test_a_renamed_row_and_another_text_of_a_program_ask_for_a_new_proof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft, row = lesson(tmp_path), views.rows("updates")[0]
    before = lesson_key.about(draft, FOUND)
    other = (replace(row, label="a new name"), *views.rows("updates")[1:])
    monkeypatch.setattr(views, "rows", lambda name: other)
    assert lesson_key.about(draft, FOUND) != before
    monkeypatch.undo()
    assert lesson_key.about(draft, FOUND) == before
    deeper = {**FOUND, "programs": [{**FOUND["programs"][0], "settings": {"epochs": 9}}]}
    assert lesson_key.about(draft, deeper) != before
    for gone in ({**FOUND, "programs": [{"program": "mlpp"}]}, {**FOUND, "views": ["updatess"]}):
        assert lesson_key.about(draft, gone) != before


def test_a_view_computed_in_another_way_makes_it_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And so does a function that a cell names; not what it never reaches."""
    draft = lesson(tmp_path)

    def changed_by(module: str, edit: Callable[[str], str]) -> list[str]:
        file, real = fingerprint._file(module), Path.read_text
        before = lesson_key.reached(draft, FOUND)
        edited = lambda self, *more, **how: edit(real(self)) if self == file else real(self, *more, **how)  # noqa: E731
        forget()
        monkeypatch.setattr(Path, "read_text", edited)
        now = lesson_key.reached(draft, FOUND)
        monkeypatch.undo()
        forget()
        return sorted({part.split()[0] for part in set(before) ^ set(now)})

    another = lambda text: text.replace("def measure(", "def other(): return 1\n\n\ndef measure(")  # noqa: E731
    assert changed_by("bugzoo.views.updates", another) == ["views.updates"]
    assert changed_by("bugzoo.views.updates", lambda text: f"# why\n{text}") == []
    assert changed_by("bugzoo.lab.table", lambda text: text.replace(") -> Table:", ", new: int = 1) -> Table:")) == [
        "lab.table"
    ]
    assert changed_by("bugzoo.lab.timer", lambda text: text.replace("def ", "def _", 1)) == []


@pytest.mark.sampled(1)
@pytest.mark.slow
def test_a_run_says_what_it_opened(tmp_path: Path) -> None:
    question = TEXT[TEXT.index("# %% [check]") : TEXT.index("# %% recap")]  # a question needs its lesson in the package
    ran = run(lesson(tmp_path, question, ""))
    assert ran.problems == [] and ran.opened["views"] == ["updates"]
    assert "learning_rate_log" in ran.opened["instruments"]
    (program,) = ran.opened["programs"]
    assert (program["program"], program["settings"]) == ("mlp", {"epochs": 1})
    assert program["faults"] == ["numerics/log_at_step?step=3&eps=0"]
    assert opened.contents(ran.opened)[0] != opened.contents(FOUND)[0]
