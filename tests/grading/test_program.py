"""Cells and the program's text: every section, in its order, whatever its name."""

import pytest

from bugzoo import programs
from bugzoo.errors import UserError
from bugzoo.grading.docstring import without_facts
from bugzoo.grading.program import cell_heads, cell_name, join, split
from bugzoo.grading.workbench import Program

RANKS = split(without_facts(programs.load("data_parallel").source))


@pytest.mark.parametrize("name", programs.names())
def test_no_line_of_a_program_is_lost(name):
    text = without_facts(programs.load(name).source)
    again = join(split(text))
    assert [line for line in again.splitlines() if line.strip()] == [line for line in text.splitlines() if line.strip()]


def test_a_section_of_any_name_stays_where_it_stands():
    assert list(RANKS)[:4] == ["Head", "Settings", "Ranks", "Data"]
    text = "# %% Settings\na\n# %% My own, part 2\nb\n# %% Data\nc\n# %% Model\nd\n# %% Training\n# %% Evaluation\ne\n"
    assert list(split(text)) == ["Head", "Settings", "My own, part 2", "Data", "Model", "Training", "Evaluation"]
    assert "a\n\n# %% My own, part 2\nb\n\n# %% Data\n" in join(split(text))
    with pytest.raises(UserError, match="Two sections of the program have the name 'Data'"):
        split(text.replace("Model", "Data"))


def test_cells_say_where_they_stand_only_where_their_name_does_not():
    heads = cell_heads(RANKS)
    assert heads["Ranks"] == "%%program Ranks after Settings" and heads["Data"] == "%%program Data after Ranks"
    assert heads["Head"] == "%%program Head" and heads["Model"] == "%%program Model"
    assert set(cell_heads(split(programs.load("mlp").source)).values()) == {
        f"%%program {name}" for name in RANKS if name != "Ranks"
    }
    assert cell_name(" Ranks after Settings") == ("Ranks", "Settings") and cell_name("Data") == ("Data", "")


def test_cells_that_were_run_in_any_order_give_the_same_text():
    program = Program()
    for name in reversed(RANKS):
        section, before = cell_name(cell_heads(RANKS)[name].removeprefix("%%program"))
        program.sections[section] = RANKS[name]
        program.after |= {section: before} if before else {}
    assert program.source == join(RANKS)
    del program.sections["Ranks"]
    with pytest.raises(UserError, match="the cell `%%program Ranks` was not run"):
        _ = program.source
