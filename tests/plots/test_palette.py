"""One palette of roles in every plot of the lab, with text that can be read on a light and on a dark page."""

import ast
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import is_color_like

import bugzoo
from bugzoo import plots
from bugzoo.plots import _labels, _palette, _style
from bugzoo.syntax import parse
from tests.plots import samples
from tests.plots.checks import PAGES, complaints, contrast

ROOMS = ("plots", "views", "lab", "lessons")
PLACE = Path(bugzoo.__file__).parent
HEX = re.compile(r"#[0-9a-fA-F]{3,8}")


def named_colors(text: str) -> list[str]:
    """The colors that a script names: as #rrggbb anywhere, by a name or a letter where a color is passed."""
    names: list[str] = []
    for node in ast.walk(parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and HEX.fullmatch(node.value):
            names.append(node.value)
        if isinstance(node, ast.Call):
            passed = [keyword.value for keyword in node.keywords if keyword.arg and "color" in keyword.arg]
            formats = [arg for arg in node.args if isinstance(node.func, ast.Attribute) and node.func.attr == "plot"]
            names += [name for name in constants(passed) if name != "none" and is_color_like(name)]
            names += [name for name in constants(formats) if set(name) & set("bgrcmykw")]
        if isinstance(node, ast.Dict):
            values = [
                value for key, value in zip(node.keys, node.values, strict=True) if "color" in "".join(constants([key]))
            ]
            names += [name for name in constants(values) if name != "none" and is_color_like(name)]
    return names


def constants(nodes: list[Any]) -> list[str]:
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


@pytest.mark.parametrize("room", ROOMS)
def test_colors_are_named_in_the_palette_alone(room: str) -> None:
    files = [file for file in (PLACE / room).rglob("*.py") if file.name != "_palette.py"]
    named = {file.name: names for file in files if (names := named_colors(file.read_text(encoding="utf-8")))}
    assert files and named == {}


def test_the_search_for_colors_finds_some() -> None:
    script = (
        'ax.plot(x, y, "k--", label="bold")\nax.text(0, 0, "red", color="gray")\nlook = {"color": "C1"}\nINK = "#888"\n'
    )
    assert sorted(named_colors(script)) == ["#888", "C1", "gray", "k--"]
    assert named_colors('ax.plot(x, y, ":o", color="none", label="gray")\nimage(cmap="gray")\n') == []


def test_each_role_has_a_color_of_its_own() -> None:
    colors = [*_palette.ROLES, _palette.INK, *_palette.SERIES]
    assert len({color.lower() for color in colors}) == 10
    for one, other in combinations(colors, 2):
        assert np.abs(np.subtract(*(rgb(color) for color in (one, other)))).sum() > 70, (one, other)


def rgb(color: str) -> list[int]:
    return [int(color[at : at + 2], 16) for at in (1, 3, 5)]


@pytest.mark.parametrize("page", PAGES)
def test_every_color_is_seen_on_both_pages(page: str) -> None:
    for color in (*_palette.ROLES, *_palette.SERIES):
        assert contrast(color, page) >= 3, color
    assert contrast(_palette.INK, page) >= 4.3


def test_no_gray_is_read_better_on_the_worse_page() -> None:
    def worse(gray: str) -> float:
        return min(contrast(gray, page) for page in PAGES)

    assert worse(_palette.INK) == max(worse(f"#{part:02x}{part:02x}{part:02x}") for part in range(256)) < 4.5


def test_a_name_tells_the_role() -> None:
    names = ("healthy twin", "incident", "its rival", "my repair", "sorted", "in random order", "this choice")
    blue, red, green, pink, *others, choice = plots.colors_of(names).values()
    assert (blue, red, green, pink) == (plots.HEALTHY, plots.THIS_RUN, plots.RIVAL, plots.REPAIR)
    assert others == list(plots.SERIES[:2]) and choice == plots.THIS_RUN


@pytest.mark.parametrize("name", samples.FIGURES)
def test_a_plot_has_the_palette_and_readable_text(name: str) -> None:
    assert complaints(samples.FIGURES[name]()) == []


def test_the_search_for_complaints_finds_each() -> None:
    figure = plots.figure(2.0, 3)
    ax = figure.subplots()
    ax.plot([1, 2, 3], [3, 4, 3], color=plots.RIVAL, label="incident")
    ax.plot([1, 2, 3], [2, 2, 2], color="#123456", label="of no palette")
    ax.text(1, 3, "tiny", fontsize=4, color=plots.INK)
    ax.text(1, 3, "over it", fontsize=9, color=plots.INK)
    ax.text(1, 3.6, "dark", color="black")
    ax.legend(loc="lower center")
    lines = " ".join(complaints(figure))
    parts = (
        "'incident' is #009E73",
        "#123456, which is not in the palette",
        "'tiny' is 6.1 px",
        "'tiny' lies over 'over it'",
    )
    for part in (*parts, "'dark' in black cannot be read", "the legend covers 'of no palette'"):
        assert part in lines, part


def test_names_at_the_ends_do_not_overlap_and_stay_near() -> None:
    heights = [0.1, 0.2, 0.1]
    assert _labels.spread([0.2, 0.5, 0.9], heights) == pytest.approx([0.2, 0.5, 0.9]), "where there is room they stay"
    places = _labels.spread([0.5, 0.5, 0.0], heights)
    assert places == pytest.approx([0.425, 0.575, 0.05]), "two share the room around their end; none leaves the axes"
    assert _labels.spread([1.0, 1.0, 1.0], heights) == pytest.approx([0.65, 0.8, 0.95])
    assert _labels.spread([], []) == []


def test_many_names_stand_in_a_legend_above() -> None:
    figure = plots.figure(2.5)
    ax = figure.subplots()
    plots.prepare(ax, "Title", "step", "loss")
    plots.lines.draw(ax, {f"run {number}": ([1, 2], [number, 1]) for number in range(8)})
    plots.end_labels(ax)
    assert ax.get_legend() is not None and not ax.texts and complaints(figure) == []


def test_a_figure_of_a_lesson_is_dressed() -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 3), layout="constrained")
    ax = figure.subplots()
    ax.plot([1, 2], [3, 4], color=plots.HEALTHY)
    ax.set_title("loss", fontsize=6)
    ax.set_xlabel("step")
    ax.tick_params(labelsize=5)
    assert complaints(figure) and complaints(plots.dress(figure)) == []
    assert figure.patch.get_alpha() == 0 and ax.get_facecolor()[3] == 0 and ax.title.get_fontsize() == _style.TEXT
