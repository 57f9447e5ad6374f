"""The corpus's manifest: each file has an entry, each entry a file, and what an entry names exists."""

import pytest

from bugzoo.faults import catalogue
from tests.corpus import MANIFEST, ROOT, TWINNED, patched, scripts, variants

EVERY = [*scripts(*MANIFEST), *variants()]


def test_the_manifest_lists_the_files_of_the_room():
    files = {path for path in ROOT.glob("*/*") if path.parent.name != "__pycache__"}
    patches = {script.path.with_suffix(".patch") for script in scripts(*TWINNED) if script.faulty}
    assert files == {script.path for script in EVERY} | patches


def test_each_cause_is_a_fault():
    assert set().union(*(script.accept for script in EVERY)) <= set(catalogue())


def test_each_line_lies_in_its_file():
    lines = [(script.name, line, len(script.text.splitlines())) for script in EVERY for line in script.lines]
    assert len(lines) > 200 and not [place for place in lines if not 1 <= place[1] <= place[2]]


def test_each_change_fits_its_script_and_is_python():
    changed = [script for script in EVERY if script.patch or script.before]
    assert len(changed) >= 83 + 137
    for script in changed:
        assert script.text != script.path.read_text(encoding="utf-8"), script.name
        compile(script.text, script.name, "exec")


def test_a_variant_points_at_a_line_of_its_text():
    assert not [script.name for script in variants() if script.at not in script.text]


PATCH = "--- a.py\n+++ a.py\n@@ -2,2 +2,3 @@\n two\n-three\n+3\n+3.5\n@@ -5,1 +6,1 @@\n-five\n+5\n"


def test_a_patch_changes_its_lines_alone():
    assert patched("one\ntwo\nthree\nfour\nfive\nsix\n", PATCH) == "one\ntwo\n3\n3.5\nfour\n5\nsix\n"


@pytest.mark.parametrize(
    "text", ["one\n2\nthree\nfour\nfive\n", "one\ntwo\n3\nfour\nfive\n", "one\ntwo\nthree\nfour\n"]
)
def test_a_patch_of_another_text_is_refused(text):
    with pytest.raises(ValueError, match=r"line \d is not"):
        patched(text, PATCH)
