"""Sliders over a function: their values reach it, its error and its figure come back, a wrong range is told at once."""

import math
from types import SimpleNamespace

import ipywidgets as w
import numpy as np
import pytest
from IPython.display import Image
from matplotlib.figure import Figure

from bugzoo import UserError, lab


class Notebook:
    """A function of a notebook that keeps what it was called with."""

    def __init__(self) -> None:
        self.got: list[dict] = []

    def train(self, items: int, rate: float = 0.1) -> None:
        self.got.append({"items": items, "rate": rate})
        print(f"trained on {items} with {rate:g}")


@pytest.fixture
def notebook() -> Notebook:
    return Notebook()


@pytest.fixture
def displayed(monkeypatch: pytest.MonkeyPatch) -> list:
    """What a kernel would send to the page."""
    objects: list = []
    monkeypatch.setattr(lab, "kernel", lambda: "one")
    monkeypatch.setattr("IPython.display.display", lambda *what, **_: objects.extend(what))
    return objects


def test_the_values_of_the_sliders_reach_the_call_when_run_is_pressed(front_end, notebook, capsys) -> None:
    play = lab.play(notebook.train, items=(2, 64, 8), rate=(0.0, 0.9, 0.3))
    items, rate = play.sliders["items"], play.sliders["rate"]
    assert (items.min, items.max, items.value) == (2, 64, 8) and (rate.min, rate.max, rate.value) == (0, 0.9, 0.3)
    assert not (items.continuous_update or rate.continuous_update) and items.description == "items"
    items.value, rate.value = 64, 0.9
    assert notebook.got == [] and play.calls == 0, "a moved slider calls nothing"
    play.button.click()
    items.value = 3
    play.button.click()
    assert notebook.got == [{"items": 64, "rate": 0.9}, {"items": 3, "rate": 0.9}] and play.calls == 2
    assert type(notebook.got[0]["items"]) is int, "a size of a tensor must be a whole number"
    assert "trained on 3 with 0.9" in capsys.readouterr().out
    assert play.told.value.endswith(" s</div>") and not play.button.disabled
    assert repr(play) == "<Play of items, rate: 2 runs>"


@pytest.mark.parametrize(
    ("given", "kind", "ends"),
    [
        ((2, 64, 8), w.IntSlider, (2, 64)),
        ((0, 100_000, 8), w.IntSlider, (0, 100_000)),
        ((-100, 100, -20), w.IntSlider, (-100, 100)),
        ((np.int64(1), np.int64(9), np.int64(5)), w.IntSlider, (1, 9)),
        ((0.5, 3.5, 1), w.FloatSlider, (0.5, 3.5)),
        ((-1.0, 1.0, 0.0), w.FloatSlider, (-1, 1)),
        ((3e-4, 0.5, 0.05), w.SelectionSlider, (3e-4, 0.5)),
    ],
)
def test_a_slider_reaches_both_ends_and_begins_at_the_start(front_end, given, kind, ends) -> None:
    got: list = []
    play = lab.play(lambda value: got.append(value), value=given)
    slider = play.sliders["value"]
    assert type(slider) is kind and slider.value == given[2]
    for end in ends:
        slider.value = end
        play.button.click()
    assert got == list(ends)
    if kind is w.SelectionSlider:
        assert [value for _, value in slider.options] == [3e-4, 1e-3, 1e-2, 0.05, 0.1, 0.5], "one step a decade"


def test_run_is_locked_while_the_call_runs(front_end) -> None:
    states: list = []
    play = lab.play(lambda items: states.append((play.button.disabled, play.told.value)), items=(1, 9, 5))
    play.button.click()
    [(locked, message)] = states
    assert locked and "running" in message and not play.button.disabled


@pytest.mark.parametrize("shell", [None, SimpleNamespace(showtraceback=lambda *_, **__: None)])
def test_an_error_of_the_call_stands_under_the_button(front_end, shell, monkeypatch) -> None:
    """With IPython's shell, as in a kernel, an Output widget swallows what is raised inside it."""
    monkeypatch.setattr("ipywidgets.widgets.widget_output.get_ipython", lambda: shell)

    def fails(items: int) -> None:
        if items > 4:
            raise ValueError(f"<b>{items} rows</b> are too many")

    play = lab.play(fails, items=(1, 9, 5))
    play.button.click()
    assert "ValueError: &lt;b&gt;5 rows&lt;/b&gt; are too many" in play.told.value
    assert not play.button.disabled and play.calls == 1
    play.sliders["items"].value = 4
    play.button.click()
    assert "ValueError" not in play.told.value and play.calls == 2, "the next press begins anew"


def test_a_figure_that_the_call_returns_is_shown(front_end, displayed) -> None:
    play = lab.play(lambda items: Figure(figsize=(items, 1)), items=(1, 9, 5))
    displayed.clear()
    play.button.click()
    [picture] = displayed
    assert isinstance(picture, Image) and picture.data.startswith(b"\x89PNG")


def test_without_a_front_end_it_is_called_once_with_the_starts(notebook, capsys, monkeypatch) -> None:
    monkeypatch.setenv("BUGZOO_WIDGETS", "0")
    play = lab.play(notebook.train, items=(2, 64, 8), rate=(1e-3, 1.0, 0.1))
    assert notebook.got == [{"items": 8, "rate": 0.1}] and play.calls == 1 and play.sliders == {}
    assert capsys.readouterr().out.splitlines() == [
        "train(items=8, rate=0.1)",
        "  call it with other values: items from 2 to 64, rate from 0.001 to 1",
        "trained on 8 with 0.1",
    ]


def test_without_a_front_end_an_error_is_the_cells(monkeypatch) -> None:
    monkeypatch.setenv("BUGZOO_WIDGETS", "0")
    with pytest.raises(ZeroDivisionError):
        lab.play(lambda items: items / 0, items=(1, 9, 5))


@pytest.mark.parametrize("widgets", ["0", "1"])
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((64, 2, 8), r"items goes from 64 to 2, and the first number is not below the second\. Write \(lowest"),
        ((8, 8, 8), "goes from 8 to 8"),
        ((math.nan, 8, 8), "goes from nan to 8"),
        ((1, math.inf, 8), "goes from 1 to inf"),
        ((2, 64, 1), r"items starts at 1, outside of its range 2 to 64\. Write .* such as items=\(1, 64, 8\)"),
        ((2, 64, math.nan), "starts at nan, outside of its range 2 to 64"),
        ((2, 64), r"items=\(2, 64\) is not a range of numbers\. Write \(lowest, highest, start\)"),
        ((2, 64, 8, 1), "is not a range of numbers"),
        (("2", "64", "8"), "is not a range of numbers"),
        ((False, True, True), "is not a range of numbers"),
        (8, "items=8 is not a range of numbers"),
    ],
)
def test_a_wrong_range_is_told_and_nothing_is_called(front_end, notebook, monkeypatch, widgets, given, said) -> None:
    monkeypatch.setenv("BUGZOO_WIDGETS", widgets)
    with pytest.raises(UserError, match=said):
        lab.play(notebook.train, items=given)
    assert notebook.got == []


@pytest.mark.parametrize(
    ("ranges", "said"),
    [
        ({"rate": (0.1, 1.0, 0.5)}, "train takes items, rate, and the ranges are for rate: missing a required argument: 'items'"),
        ({}, "the ranges are for none of them"),
        ({"items": (1, 9, 5), "rat": (0.1, 1.0, 0.5)}, r"unexpected keyword argument 'rat'\. Give a range to each parameter"),
    ],
)  # fmt: skip
def test_parameters_that_do_not_fit_are_told_and_nothing_is_called(front_end, notebook, ranges, said) -> None:
    with pytest.raises(UserError, match=said):
        lab.play(notebook.train, **ranges)
    assert notebook.got == []


def test_what_is_no_function_is_told(notebook) -> None:
    with pytest.raises(UserError, match=r"takes a function, not None\. Write the function's name without parentheses"):
        lab.play(notebook.train(8), items=(1, 9, 5))
