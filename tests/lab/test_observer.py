"""A first guess from the run alone: the page listened, and nothing of the program had been opened."""

import json

import pytest

from bugzoo import record
from bugzoo.grading import cell
from bugzoo.grading.debrief import from_the_run
from bugzoo.grading.exercises import load
from bugzoo.grading.workbench import Program
from bugzoo.lab import observer

NAME = "10_restless_loss"
RIGHT, WRONG = "gradients from earlier batches", "a wrong learning rate"


def begun(listening: bool = True) -> Program:
    program = Program()
    program.begin(NAME)
    if listening:
        observer._heard(program.ticket, json.dumps([{"what": "listening", "at": 1.0}]))
    return program


def guess(cause: str = RIGHT, sure: int = 60) -> None:
    cell.form(NAME).keep(cause, sure)


def seen() -> str:
    return from_the_run(load(NAME))


def test_named_before_anything_was_opened() -> None:
    begun()
    guess()
    assert seen() == " You named it from the run alone, rather sure."
    guess(WRONG)
    assert seen(), "the first guess counts"


def test_a_wrong_first_guess_is_none() -> None:
    begun()
    guess(WRONG)
    guess()
    assert seen() == ""


@pytest.mark.parametrize("look", ["lines", "source", "original", "a cell that was run", "a cell that was opened"])
def test_after_a_look_at_the_program_nothing_is_said(look: str) -> None:
    program = begun()
    if look == "lines":
        program.lines()
    elif look == "a cell that was run":
        program._keep("Settings", "", "seed = 0")
    elif look == "a cell that was opened":
        observer._heard(program.ticket, json.dumps([{"what": "listening", "at": 1.0}, {"what": "Model", "at": 2.0}]))
    else:
        getattr(program, look)
    guess()
    assert seen() == "" and len(record.notes(program.ticket, "opened")) == 1


def test_without_an_observer_it_is_unknown() -> None:
    begun(listening=False)
    guess()
    assert seen() == ""


def test_a_run_a_view_and_the_grader_open_nothing() -> None:
    program = begun()
    assert program.as_run and cell._source(program) and repr(program)
    assert record.notes(program.ticket, "opened") == []


def test_a_record_from_before_the_observer_goes_on() -> None:
    record.note(load(NAME).scenario.ticket, "started", {"exercise": NAME, "program": "mlp"})
    guess()
    assert seen() == "" and begun().ticket == load(NAME).scenario.ticket


def test_the_grains() -> None:
    assert [observer.how_sure(percent) for percent in (0, 49, 50, 79, 80, 100)] == [
        "as a guess", "as a guess", "rather sure", "rather sure", "sure", "sure",
    ]  # fmt: skip
