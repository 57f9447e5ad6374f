"""The frozen file, and that a candidate's folder tells nothing."""

import json
from pathlib import Path

import pytest

from bugzoo import faults
from bugzoo.errors import UserError
from bugzoo.interview.hunt import case as cases
from bugzoo.interview.hunt import packet, recipe, sitting


def test_what_is_written_is_read(hunt, tmp_path: Path) -> None:
    file = tmp_path / "panel.case"
    cases.write(hunt, file)
    assert cases.load(file) == hunt
    with pytest.raises(UserError, match="exists"):
        cases.write(hunt, file)


def test_the_same_recipe_is_the_same_case(hunt) -> None:
    assert cases.freeze(hunt.recipe) == hunt
    assert cases.freeze(hunt.recipe, identical=True).ticket != hunt.ticket


@pytest.mark.parametrize("change", ["source", "brief", "minutes", "answers", "hash"])
def test_a_case_that_was_changed_is_known(hunt, tmp_path: Path, change: str) -> None:
    row = hunt.to_json()
    row[change] = row[change] + 1 if change == "minutes" else row[change][:-4] + "abcd"
    (tmp_path / "panel.case").write_text(json.dumps(row))
    with pytest.raises(UserError, match="was changed after it was frozen"):
        cases.load(tmp_path / "panel.case")


@pytest.mark.parametrize("text", ["", "{}", "[1]", "\0", '{"bugzoo_hunt": 99}', "[" * 100_000])
def test_what_is_no_case(tmp_path: Path, text: str) -> None:
    (tmp_path / "panel.case").write_text(text)
    with pytest.raises(UserError):
        cases.load(tmp_path / "panel.case")


def test_another_catalogue_is_told(hunt, tmp_path: Path) -> None:
    from dataclasses import replace

    other = replace(hunt, recipe=replace(hunt.recipe, key="0" * 16))
    with pytest.raises(UserError, match="Score it with the bugzoo that froze it"):
        other.scenario  # noqa: B018


def test_the_lines_of_each_bug_are_those_of_the_text_that_is_handed_out(hunt) -> None:
    lines = hunt.source.splitlines()
    for name in hunt.recipe.ids:
        places = hunt.lines(name)
        assert places and all(1 <= a <= b <= len(lines) + 1 for a, b in places)
        assert hunt.without(name) != hunt.source
    assert hunt.without(*hunt.recipe.ids) == hunt.solution


def test_a_candidates_folder_tells_nothing(hunt, tmp_path: Path) -> None:
    packet.pack(hunt, tmp_path / "packet", "Ada")
    told = ""
    for file in (tmp_path / "packet" / "candidate").rglob("*"):
        assert file.name not in (packet.SHEET, packet.CASE, "solution.py")
        told += file.name + file.read_text(encoding="utf-8")
    for name in faults.catalogue():
        assert name not in told and name.split("/")[1] not in told, name
    assert hunt.recipe.name not in told and hunt.recipe.program not in told
    for fault, _ in hunt.scenario.specs:
        assert fault.title not in told and fault.fix not in told


def test_the_sheet_tells_everything(hunt, tmp_path: Path) -> None:
    sheet = packet.sheet(hunt)
    for fault, _ in hunt.scenario.specs:
        assert fault.title in sheet and fault.fix in sheet and all(hint in sheet for hint in fault.hints)
    assert all(text in sheet for _, text in packet.RUBRIC)
    assert "--method" in sheet


def test_levels_tell_less_and_less() -> None:
    for one in recipe.published():
        text = cases.freeze(one, plain=True).brief
        reports = [fault.report in text for fault, _ in one.scenario.specs]
        first = {name: name in one.waves[0] for name in one.ids}
        assert reports == {1: [True] * len(reports), 2: list(first.values()), 3: [False] * len(reports)}[one.level]


def test_a_folder_that_is_there_is_left_alone(hunt, tmp_path: Path) -> None:
    (tmp_path / "ada").mkdir()
    with pytest.raises(UserError, match="exists"):
        sitting.sit(hunt, tmp_path / "ada")
    other = cases.freeze(hunt.recipe, identical=True)
    sitting.sit(other, tmp_path / "bob")
    with pytest.raises(UserError, match="belongs to the hunt"):
        sitting.of(hunt, tmp_path / "bob")
