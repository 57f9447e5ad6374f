"""list, show, source and new."""

import ast
import importlib
import json
import shutil
import sys
from pathlib import Path

import pytest

from bugzoo import diagnostics, faults, programs
from bugzoo.faults import walk
from bugzoo.proving import listing
from tests.sampling import only_in_prove


def test_list_json_is_an_array_of_objects_with_ids(bugzoo):
    rows = json.loads(bugzoo("list", "--json").out)
    ids = {row["id"] for row in rows}
    assert set(faults.catalogue()) | set(programs.names()) | set(diagnostics.names()) <= ids
    assert all(row["kind"] and row["title"] for row in rows)


def test_list_one_kind(bugzoo):
    rows = json.loads(bugzoo("list", "programs", "--json").out)
    assert {row["id"] for row in rows} == set(programs.names())
    text = bugzoo("list", "faults").out
    assert all(fault in text for fault in faults.catalogue())
    assert "double_normalisation" in bugzoo("list", "instruments").out


def test_list_exercises_says_level_and_minutes(bugzoo):
    from bugzoo.grading import effort
    from bugzoo.grading.exercises import exercises

    rows = {row["id"]: row for row in json.loads(bugzoo("list", "exercises", "--json").out)}
    assert {name: row["level"] for name, row in rows.items()} == {
        name: effort.level(exercise) for name, exercise in exercises().items()
    }
    assert all(row["minutes"] % 5 == 0 < row["minutes"] for row in rows.values())
    lines = [line.split() for line in bugzoo("list", "exercises").out.splitlines()]
    columns = {words[0]: words[1:3] for words in lines if words and words[0] in rows}
    assert columns == {name: [str(row["level"]), str(row["minutes"])] for name, row in rows.items()}
    row = rows["04_flat_loss"]
    assert f"level {row['level']} of 5, about {row['minutes']} minutes" in bugzoo("show", "04").out


def test_list_to_a_file(bugzoo, tmp_path):
    out = tmp_path / "all.json"
    called = bugzoo("list", "--json", str(out))
    assert called.code == 0
    assert json.loads(out.read_text())


def test_list_unknown_kind(bugzoo):
    called = bugzoo("list", "fualts")
    assert called.code == 2
    assert "exercises, faults, instruments or programs" in called.err
    assert "Traceback" not in called.err


@pytest.mark.parametrize("name", ["loop/stale_gradients", "mlp", "gradient_health"])
def test_show(bugzoo, name):
    called = bugzoo("show", name)
    assert called.code == 0
    assert name in called.out
    assert json.loads(bugzoo("show", name, "--json").out)["id"] == name


def test_show_says_which_look_alikes_cannot_be_shown(bugzoo, monkeypatch):
    existing, *_, planned = (look_alike.other for look_alike in faults.load("loop/stale_gradients").look_alikes)
    fewer = {name: row for name, row in listing._faults().items() if name != planned}
    monkeypatch.setattr(listing, "_faults", lambda: fewer)
    text = " ".join(bugzoo("show", "loop/stale_gradients").out.split())
    assert f"{planned} (not in" in text and existing in text and f"{existing} (not in" not in text


@pytest.mark.slow
@pytest.mark.parametrize("share", [18, only_in_prove(1)], ids=["some", "all"])
def test_show_everything_there_is(bugzoo, share):
    rows = json.loads(bugzoo("list", "--json").out)
    for row in rows[::share]:
        assert bugzoo("show", row["id"]).code == 0, row["id"]


def test_show_unknown_suggests_the_nearest(bugzoo):
    called = bugzoo("show", "stale_gradient")
    assert called.code == 2
    assert "Did you mean loop/stale_gradients" in called.err
    assert "bugzoo list" in called.err


def test_the_source_of_an_open_exercise_asks_first(bugzoo):
    from bugzoo import record
    from bugzoo.grading.workbench import Program

    program = Program()
    program.begin("04")
    refused = bugzoo("source", "mlp")
    assert refused.code == 2 and "04_flat_loss" in refused.err and "--yes" in refused.err and not refused.out
    assert bugzoo("source", "digits_cnn").code == 0 and bugzoo("source", "mlp", "--yes").code == 0
    record.note(program.ticket, "diagnosis", {"cause": "a mask"})
    assert bugzoo("source", "mlp").code == 0


def test_source_is_the_text_that_runs(bugzoo):
    healthy = bugzoo("source", "mlp").out
    broken = bugzoo("source", "mlp", "--fault", "loop/stale_gradients").out
    ast.parse(broken)
    assert healthy.count("zero_grad") == broken.count("zero_grad") + 1
    change = bugzoo("source", "mlp", "--fault", "loop/stale_gradients", "--diff").out
    assert [line for line in change.splitlines() if line.startswith("-") and "zero_grad" in line]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mpl"], "Did you mean mlp"),
        (["mlp", "--fault", "loop/stale_gradient"], "Did you mean loop/stale_gradients"),
        (["mlp", "--fault", "numerics/log_at_step?stepp=3"], "step"),
        (["mlp", "--fault", "numerics/log_at_step?step=-3"], "from 0 to"),
        (["mlp", "--fault", "numerics/log_at_step?eps=2"], "from 0 to 1"),
        (["mlp", "--fault", "numerics/log_at_step?step=many"], "whole number"),
        (["mlp", "--fault", "modes/eval_mode_missing"], "does not fit mlp"),
        (["mlp", "--fault", "loop/stale_gradients", "--fault", "loop/stale_gradients"], "cannot be combined"),
        (["mlp", "--fault", "what is this"], "not a fault spec"),
        (["mlp", "--size", "huge"], "full or tiny"),
    ],
)
def test_mistakes_name_what_is_allowed(bugzoo, arguments, said):
    called = bugzoo("source", *arguments)
    assert called.code == 2
    assert said in called.err
    assert "Traceback" not in called.err
    assert called.out == ""


def test_new_fault_is_taken_by_the_loader(bugzoo, tmp_path, monkeypatch):
    package = tmp_path / "own_faults"
    package.mkdir()
    (package / "__init__.py").write_text("")
    called = bugzoo("new", "fault", "loop/brand_new", "--folder", str(package))
    assert called.code == 0
    assert "bugzoo verify loop/brand_new" in called.out
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        loaded = walk(importlib.import_module("own_faults"))
    finally:
        for name in [name for name in sys.modules if name.startswith("own_faults")]:
            del sys.modules[name]
    assert list(loaded) == ["loop/brand_new"]
    assert bugzoo("new", "fault", "loop/brand_new", "--folder", str(package)).code == 2, "nothing is overwritten"


def test_new_fault_lands_in_the_catalogue_by_default(bugzoo, tmp_path, monkeypatch):
    folder = tmp_path / "faults"
    shutil.copytree(Path(faults.__file__).parent, folder)
    monkeypatch.setattr(faults, "__file__", str(folder / "__init__.py"))
    assert bugzoo("new", "fault", "loop/brand_new").code == 0
    assert (folder / "loop" / "brand_new.py").exists()


@pytest.mark.parametrize("name", ["step_missing", "loop/Step", "loop/../x", "loop/"])
def test_new_fault_with_a_bad_name(bugzoo, name, tmp_path):
    called = bugzoo("new", "fault", name, "--folder", str(tmp_path))
    assert called.code == 2
    assert "family/bad_pattern" in called.err
