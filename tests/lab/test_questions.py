"""Questions for a number, to match and to order: as widgets, as text, after a restart, and with answers that are not one."""

import re
from pathlib import Path

import ipywidgets as w
import pytest

from bugzoo import UserError, course, lab, record
from bugzoo.lab.arrange import shuffled
from bugzoo.lab.number import number

SMALL = """
# %% [markdown] title
# # 07 · Small

# %% [predict] first_loss
# Two classes. What is the first loss, in nats?
#
# (=) {0.693 = ln2} +- 0.02
#     ln 2: each class gets half.
# (~) 0.5 +- 0.03
#     Half is the *probability*.
# (~) 1
#     One bit.
# (~) else
#     Take the logarithm.

# %% [predict] turns tags=["how-sure"]
# How many turns?
#
# (=) 2
#     two.
# (~) else
#     two.

# %% [check] bits
# How many bits are that?
#
# (=) 1
#     yes.
# (~) else
#     one.

# %% [check] classes
# Which number of classes belongs to which loss?
#
# `ln 2` -> 2 classes
# ln 10 -> 10 classes
# ln 30,000 -> about 30,000 classes
#     exp(loss) is the number of classes.

# %% [check] parts
# In which order?
#
# 1) forward
# 2) `backward`
# 3) clip
# 4) step
#     A step needs gradients.
"""


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "07_small.py").write_text(SMALL)
    monkeypatch.setattr(course, "PLACE", tmp_path)


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("0.693", 0.693), (".7", 0.7), ("0,693", 0.693), ("1e-3", 0.001), (" -2 ", -2), ("\u22122.5", -2.5), ("7.", 7),
        ("1,5E2", 150), (0.5, 0.5), (3, 3),
    ],
)  # fmt: skip
def test_a_number_is_read_in_each_usual_form(typed, value) -> None:
    assert number(typed) == value


@pytest.mark.parametrize(
    "typed", ["ln 2", "", "  ", "nan", "inf", "1e999", "1,000,000", "0.7 nats", "1_0", "٣", None, True, [1]]
)
def test_anything_else_is_told_and_costs_no_try(typed) -> None:
    check = lab.quick_check("07/bits")
    with pytest.raises(UserError, match=r"Type digits, such as 0\.7, 0,7 or 1e-3; this cost no try"):
        check.answer(typed)
    assert check.tries == [] and record.kept("quick check", "07/bits") is None


def test_a_number_is_predicted_and_revealed(capsys: pytest.CaptureFixture) -> None:
    prediction = lab.predict("07/first_loss")
    assert "call say(1.5), with your number" in capsys.readouterr().out
    message = prediction.say("0,50")
    assert message == "Saved: 0.5. The cell with the result comes back to it."
    assert lab.predict("07/first_loss").said == "0.5", "a new kernel knows it"
    capsys.readouterr()
    prediction.reveal("0.70 in step 1")
    assert capsys.readouterr().out.splitlines() == [
        "You said: 0.5", "Half is the probability.", "It was: 0.693 (0.70 in step 1)", "ln 2: each class gets half.",
    ]  # fmt: skip
    assert "stays" in prediction.say(0.7) and prediction.said == "0.5"
    assert record.kept("prediction", "07/first_loss") == {"said": "0.5", "revealed": True, "right": False}


@pytest.mark.parametrize(
    ("said", "lines"),
    [
        (0.713, ["You said: 0.713", "It was: 0.693", "ln 2: each class gets half."]),
        (0.714, ["You said: 0.714", "Take the logarithm.", "It was: 0.693", "ln 2: each class gets half."]),
        (1, ["You said: 1", "One bit.", "It was: 0.693", "ln 2: each class gets half."]),
        (None, ["You said nothing before the run.", "It was: 0.693", "ln 2: each class gets half."]),
    ],
)
def test_each_number_has_its_reply(said, lines, capsys: pytest.CaptureFixture) -> None:
    prediction = lab.predict("07/first_loss")
    if said is not None:
        prediction.say(said)
    capsys.readouterr()
    prediction.reveal()
    assert capsys.readouterr().out.splitlines() == lines
    assert record.kept("prediction", "07/first_loss")["right"] is (said == 0.713)


def test_a_number_in_a_field(front_end) -> None:
    prediction = lab.predict("07/first_loss")
    field, button = prediction.choice.field, prediction.choice.button
    assert field.value == "" and prediction.said == ""
    field.value = "ln 2"
    assert prediction.said == "", "only the button answers"
    button.click()
    assert prediction.said == ""
    field.value = "0,7"
    button.click()
    assert prediction.said == "0.7"
    again = lab.predict("07/first_loss")
    assert again.choice.field.value == "0.7"
    again.reveal()
    assert again.choice.field.disabled and again.choice.button.disabled and again.choice.disabled


def test_a_field_says_what_it_does_not_understand_and_counts_what_it_does(front_end) -> None:
    check = lab.quick_check("07/bits")
    for typed, message, tries in (("<b>", "&lt;b&gt;&#x27; is not a number", []), ("", "There is no number yet", [])):
        check.choice.field.value = typed
        check.choice.button.click()
        assert message in check.told.value and check.tries == tries
    check.choice.field.value = "2"
    check.choice.button.click()
    assert "Not quite (2): one." in check.told.value and not check.solved
    check.choice.field.value = "1.0"
    check.choice.button.click()
    assert "Right (1): yes." in check.told.value and check.solved
    assert record.kept("quick check", "07/bits") == {"tries": ["2", "1"], "solved": True}


def right_letters(question) -> str:
    return "".join("abcdefgh"[question.rights.index(right)] for _, right in question.asked.pairs)


def test_match_as_text(capsys: pytest.CaptureFixture) -> None:
    check = lab.quick_check("07/classes")
    printed = capsys.readouterr().out
    assert "  1. ln 2\n" in printed and "a) " in printed and 'check.answer("aaa")' in printed and "exp" not in printed
    right = right_letters(check.question)
    swapped = right[1] + right[0] + right[2]
    assert check.answer(swapped) == "Not quite: 1 of 3 are right." and not check.solved
    assert check.answer("aaa") == "Not quite: 1 of 3 are right."
    assert check.answer(f" {right[0].upper()}, {right[1]} {right[2]}") == "Right: exp(loss) is the number of classes."
    assert record.kept("quick check", "07/classes") == {"tries": [swapped, "aaa", right], "solved": True}
    again = lab.quick_check("07/classes")
    assert again.solved and again.question.rights == check.question.rights, "after a restart as before"
    again.answer("aaa")
    assert record.kept("quick check", "07/classes")["solved"], "once solved, it stays solved"


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("classes", "ab", "Write 3 letters from a, b, c, a letter for each line, such as 'aaa'"),
        ("classes", "abcd", "Write 3 letters"),
        ("classes", "abz", "this cost no try"),
        ("classes", "", "'' is not an answer"),
        ("classes", None, "'None' is not an answer"),
        ("parts", "aabc", "Write 4 letters from a, b, c, d, each once, such as 'abcd'"),
        ("parts", "abc", "Write 4 letters"),
        ("parts", 1234, "'1234' is not an answer"),
    ],
)
def test_wrong_letters_are_told_and_cost_no_try(name, given, said) -> None:
    check = lab.quick_check(f"07/{name}")
    with pytest.raises(UserError, match=said):
        check.answer(given)
    assert check.tries == [] and record.kept("quick check", f"07/{name}") is None


def test_match_by_lists(front_end) -> None:
    check = lab.quick_check("07/classes")
    lists, button = check.choice.lists, check.choice.button
    assert [dropdown.value for dropdown in lists] == [""] * 3, "nothing is preselected"
    assert [label for label, _ in lists[0].options][1:] == [
        f"{letter}) {right}" for letter, right in zip("abc", check.question.rights, strict=True)
    ]
    right = right_letters(check.question)
    lists[0].value = right[0]
    button.click()
    assert "Choose one for ln 10 first" in check.told.value and check.tries == []
    for dropdown in lists[1:]:
        dropdown.value = right[0]
    button.click()
    assert "1 of 3 are right" in check.told.value and "exp" not in check.told.value
    for dropdown, letter in zip(lists, right, strict=True):
        dropdown.value = letter
    button.click()
    assert "Right: exp(loss)" in check.told.value and check.solved and check.tries[-1] == right


def right_order(question) -> str:
    return "".join("abcdefgh"[question.shown.index(line)] for line in question.asked.items)


def test_order_as_text(capsys: pytest.CaptureFixture) -> None:
    check = lab.quick_check("07/parts")
    printed = capsys.readouterr().out
    assert "  a) " in printed and 'check.answer("abcd")' in printed and "gradients" not in printed
    right = right_order(check.question)
    assert right != "abcd", "it is never shown in order"
    assert check.answer(right[1] + right[0] + right[2:]) == "Not quite: 2 of 3 pairs of neighbors are in order."
    assert check.answer(right[::-1]) == "Not quite: 0 of 3 pairs of neighbors are in order."
    assert check.answer(right) == "Right: A step needs gradients." and check.solved
    assert lab.quick_check("07/parts").solved


def test_order_by_buttons_up_and_down(front_end, monkeypatch: pytest.MonkeyPatch) -> None:
    focused: list = []
    monkeypatch.setattr(w.Button, "focus", lambda button: focused.append(button))
    check = lab.quick_check("07/parts")
    ups, downs, texts = check.choice.ups, check.choice.downs, check.choice.texts

    def lines() -> list[str]:
        return [text.value for text in texts]

    start = lines()
    assert ups[0].disabled and downs[-1].disabled and not any(button.disabled for button in (*ups[1:], *downs[:-1]))
    check.choice.button.click()
    assert check.tries == ["abcd"] and "Not quite" in check.told.value
    downs[0].click()
    assert [line[2:] for line in bare(lines())] == [bare(start)[place][2:] for place in (1, 0, 2, 3)]
    assert focused == [downs[1]] and check.told.value == "", "the focus goes with the line"
    ups[1].click()
    assert lines() == start and focused[1:] == [downs[0]], "at the top the line can only go down"
    downs[2].click()
    assert focused[2:] == [ups[3]], "and at the end only up"
    ups[3].click()
    assert lines() == start
    letters = right_order(check.question)
    order = list("abcd")
    for place, letter in enumerate(letters):  # as a learner sorts: each line up to its place
        for at in range(order.index(letter), place, -1):
            ups[at].click()
            order[at - 1], order[at] = order[at], order[at - 1]
    check.choice.button.click()
    assert check.tries[-1] == letters and "Right: A step" in check.told.value
    assert "<code>backward</code>" in lines()[1]


def bare(lines: list[str]) -> list[str]:
    return [re.sub(r"<[^>]*>", "", line) for line in lines]


def test_lines_stand_in_the_same_places_each_time() -> None:
    texts = list("abcdef")
    assert shuffled(texts, "07/a") == shuffled(texts, "07/a") != shuffled(texts, "07/b")
    assert all(shuffled(list("abc"), str(seed), moved=True) != ("a", "b", "c") for seed in range(50))
    assert len({shuffled(list("abc"), str(seed)) for seed in range(100)}) == 6


def test_an_older_record_of_another_kind_of_question_is_left_out() -> None:
    record.keep("prediction", "07/first_loss", {"said": "a", "revealed": True, "right": True})
    prediction = lab.predict("07/first_loss")
    assert prediction.said == ""
    prediction.reveal()
    record.keep("quick check", "07/parts", {"tries": ["b", "abcd"], "solved": True})
    assert lab.quick_check("07/parts").tries == ["abcd"]
    record.keep("quick check", "07/bits", {"solved": False})
    assert lab.quick_check("07/bits").tries == []


def test_an_arrangement_is_no_prediction() -> None:
    with pytest.raises(UserError, match=r"Write `lab\.quick_check\('07/parts'\)`"):
        lab.predict("07/parts")


def test_how_sure_is_kept_and_summed_up(capsys):
    lab.calibration("07")
    assert "did not say" in capsys.readouterr().out
    turns = lab.predict("07/turns")
    assert "how sure" in capsys.readouterr().out
    with pytest.raises(UserError, match="guess, rather, sure"):
        turns.say(2, "very")
    assert turns.said == ""
    turns.say(3, "sure")
    turns.say(2)  # the answer may change, and the sureness stays
    again = lab.predict("07/turns")
    assert (again.said, again.sure) == ("2", "sure")
    again.reveal()
    again.say_sure("guess")  # too late
    capsys.readouterr()
    lab.calibration("07")
    assert capsys.readouterr().out == "Your predictions: sure: 1 of 1 right.\n"


def test_only_a_tagged_prediction_asks_how_sure(capsys):
    lab.predict("07/first_loss").say(0.7)
    assert "how sure" not in capsys.readouterr().out
    assert "sure" not in (record.kept("prediction", "07/first_loss") or {})


def test_the_buttons_save_how_sure(front_end):
    turns = lab.predict("07/turns")
    turns.sureness.value = "rather"
    assert record.kept("prediction", "07/turns")["sure"] == "rather"
    turns.reveal()
    assert turns.sureness.disabled
