"""The form in two parts: cause, certainty and test before the code, line and step after it."""

import pytest

from bugzoo import lab, record
from bugzoo.errors import UserError

CAUSES = ("a wrong learning rate", "data leakage", "nothing is wrong", "something else")
PAIRS = {
    "a wrong learning rate": ("data leakage", ("Halve it.", "Look at the split.")),
    "data leakage": ("a wrong learning rate", ("Compare the rows.", "Halve it.")),
}


def made(ticket: str = "Z-301", **options) -> lab.DiagnosisForm:
    return lab.DiagnosisForm(ticket, causes=CAUSES, pairs=PAIRS, source="a = 1\nb = 2\n", **options)


def test_the_test_belongs_to_the_cause(front_end) -> None:
    face = made().show().face
    assert face.test.layout.display == "none" and not face.test.options
    face.cause.value = "a wrong learning rate"
    assert "Which test tells “a wrong learning rate” from “data leakage”?" in face.question.value
    assert [label for label, _ in face.test.options] == ["A) Halve it.", "B) Look at the split."]
    face.test.value = "B"
    face.cause.value = "data leakage"
    assert face.test.value is None and "Compare the rows." in face.test.options[0][0]
    face.cause.value = "something else"
    assert face.test.layout.display == "none" and face.question.value == ""


def test_changes_are_kept_until_the_line_is_in(front_end) -> None:
    form = made("Z-302").show()
    form.face.button.click()
    assert "Choose a cause first" in form.face.told.value and record.notes("Z-302") == []
    form.face.cause.value = "data leakage"
    form.face.button.click()
    assert "50 %  data leakage, before any view" in form.face.told.value
    assert "question about the test is still open" in form.face.told.value
    form.line()
    form.last.button.click()
    message = form.last.told.value
    assert "Not complete: a test and a line are missing, and nothing is graded yet." in message
    assert record.first_diagnosis("Z-302") is None
    form.face.test.value, form.face.sure.value = "A", 80
    form.face.button.click()
    form.last.place.value = 2
    form.last.button.click()
    assert "Saved in your record, graded as your first: run the cell below." in form.last.told.value
    first = record.first_diagnosis("Z-302")
    assert (first["cause"], first["sure"], first["test"], first["place"]) == ("data leakage", 80, "A", 2)
    form.face.cause.value = "a wrong learning rate"
    form.face.button.click()
    assert "What you change now is practice" in form.face.told.value
    form.last.button.click()
    assert "Not complete: a test is missing" in form.last.told.value, "of the new cause"
    form.face.test.value = "A"
    form.face.button.click()
    form.last.button.click()
    assert "as practice: your first complete diagnosis is graded." in form.last.told.value
    assert record.first_diagnosis("Z-302")["cause"] == "data leakage"


def test_another_kernel_goes_on_where_the_last_one_stopped(front_end) -> None:
    made("Z-303").keep("data leakage", 30, "B")
    face = made("Z-303").show().face
    assert (face.cause.value, face.sure.value, face.test.value) == ("data leakage", 30, "B")
    assert made("Z-303").hand_in(place=1).cause == "data leakage"


def test_what_is_complete() -> None:
    assert made("").lacks() == ["a cause", "a line"]
    form = made("")
    form.hand_in(cause="nothing is wrong")
    assert form.lacks() == []
    form.hand_in(cause="something else")
    assert form.lacks() == ["a line"]
    form.hand_in(cause="data leakage", place=1)
    assert form.lacks() == ["a test"]
    form.hand_in(test="A")
    assert form.lacks() == []


def test_a_first_part_that_cannot_be_kept() -> None:
    with pytest.raises(UserError, match="whole number from 0"):
        made("Z-304").keep("data leakage", 101)
    with pytest.raises(UserError, match="not a cause in this form"):
        made("Z-304").keep("gremlins", 50)
    assert record.notes("Z-304") == []


def test_the_program_is_listed_after_a_guess(front_end, capsys) -> None:
    form = made("Z-307").show()
    form.line()
    assert form.last is None and "First keep a guess in the form above." in capsys.readouterr().out
    assert record.notes("Z-307", "opened") == []
    form.keep("data leakage", 30, "A")
    form.line()
    assert form.last is not None and record.notes("Z-307", "opened")[0]["what"] == "form.line()"


def test_nothing_is_wrong_goes_with_no_line(front_end) -> None:
    form = made("Z-308").show()
    form.keep("nothing is wrong", 90)
    form.line()
    form.last.place.value = 2
    form.last.button.click()
    assert "“nothing is wrong” goes with no line, not with line 2" in form.last.told.value and not form.handed_in
    with pytest.raises(UserError, match="not with line 1"):
        form.hand_in(cause="nothing is wrong", place=1)
    assert record.notes("Z-308", "diagnosis") == []
    form.last.place.value = None
    form.last.button.click()
    assert "graded as your first" in form.last.told.value


def test_a_hand_in_without_a_view_is_asked_for_once_more(front_end, monkeypatch) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", "/home/me/exercises/01_wild_start.ipynb")
    record.note("Z-309", "started", {"exercise": "01_wild_start"})
    form = made("Z-309").show()
    form.keep("data leakage", 30, "A")
    form.line()
    form.last.place.value = 1
    form.last.button.click()
    assert "no view was opened" in form.last.told.value and not form.handed_in
    form.last.button.click()
    assert "Saved in 01_wild_start.ipynb, graded as your first: run the cell below." in form.last.told.value


def test_without_a_front_end_no_cause_is_named(capsys, monkeypatch) -> None:
    monkeypatch.setenv("BUGZOO_WIDGETS", "0")
    made("Z-305").show().line()
    printed = capsys.readouterr().out
    assert "form.asked(cause)" in printed and "form.hand_in(place=<line>" in printed
    assert not [cause for cause in CAUSES if cause in printed]


def test_of_two_forms_each_names_its_finding_and_both_are_needed(front_end) -> None:
    tickets = ("Z-306/1", "Z-306/2")
    first, second = (made(ticket, tickets=tickets).show() for ticket in tickets)
    assert "Finding 1. What is wrong?" in first.face.box.children[0].value
    assert "Finding 2. What is wrong?" in second.face.box.children[0].value
    for form, line in ((first, 1), (second, 2)):
        form.face.cause.value, form.face.test.value = "data leakage", "A"
        form.face.button.click()
        form.line()
        form.last.place.value = line
    assert "Finding 2. Which line" in second.last.box.children[0].value
    second.last.button.click()
    assert "The other finding is missing, and nothing is graded yet" in second.last.told.value
    second.face.button.click()
    assert "practice" not in second.face.told.value
    second.last.place.value = 1
    second.last.button.click()
    assert "The other finding" in second.last.told.value, "it may still be changed"
    first.last.button.click()
    assert "graded as your first: run the cell below" in first.last.told.value
    second.last.place.value = 2
    second.last.button.click()
    assert "as practice" in second.last.told.value
    second.face.button.click()
    assert "What you change now is practice" in second.face.told.value
    assert [diagnosis["place"] for diagnosis in record.first_diagnoses(tickets)] == [1, 1]
    assert record.first_diagnoses(("Z-306/1", "Z-306/3")) is None
