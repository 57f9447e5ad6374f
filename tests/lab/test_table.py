"""A table of checks by causes: rows that look alike are joined, each cell has its word, and it reads on any page."""

import importlib
import re
from html.parser import HTMLParser

import pytest

from bugzoo import UserError, lab

module = importlib.import_module("bugzoo.lab.table")  # `lab.table` is the function

SAID = {
    "rate too high": {"clipping": "no", "two samples": "stuck", "print": "fine"},
    "a nan in <x>": {"clipping": "no", "two samples": "learned", "print": "nan"},
    "rate too low": {"print": "fine", "two samples": "stuck", "clipping": "no"},
}


class Cells(HTMLParser):
    """(tag, attributes, text) of each cell."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        if tag in ("th", "td"):
            self.found.append((tag, dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self.found and self.lasttag in ("th", "td") and not self.found[-1][2]:
            self.found[-1] = (*self.found[-1][:2], data)


def test_causes_that_look_alike_are_joined_whatever_the_order_of_their_checks(capsys) -> None:
    table = lab.table(SAID, quiet=("no", "fine"))
    assert table.checks == ("clipping", "two samples", "print")
    assert table.groups[0] == (("rate too high", "rate too low"), ("no", "stuck", "fine")) and len(table.groups) == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split("   ")[0].strip() == "cause" and [line.split("  ")[0] for line in lines[1:]] == [
        "rate too high", "rate too low", "a nan in <x>",
    ]  # fmt: skip
    assert lines[2].endswith("same as above") and "stuck" not in lines[2]
    assert lines[1].index("stuck") == lines[3].index("learned") == lines[0].index("two samples"), "columns"


def test_the_page_gets_a_table_with_headings_words_and_a_place_for_the_keyboard(monkeypatch) -> None:
    bundles: list = []
    monkeypatch.setattr(module, "headless", lambda: False)
    monkeypatch.setattr(module, "kernel", lambda: "one")
    monkeypatch.setattr("IPython.display.display", lambda *what, **_: bundles.extend(what))
    table = lab.table(SAID, quiet=("no", "fine"))
    page, text = (bundles[0][kind] for kind in ("text/html", "text/plain"))
    assert len(bundles) == 1
    assert text == table.text(), "a front end without HTML shows the text"
    cells = Cells(page).found
    assert [cell[2] for cell in cells if cell[1].get("scope") == "row"] == [
        "rate too high", "rate too low", "a nan in <x>",
    ]  # fmt: skip
    assert "<x>" not in page, "escaped"
    words = [(entry[2], entry[1]["rowspan"], "style" in entry[1]) for entry in cells if entry[0] == "td"]
    assert words == [
        ("no", "2", False), ("stuck", "2", True), ("fine", "2", False),
        ("no", "1", False), ("learned", "1", True), ("nan", "1", True),
    ]  # fmt: skip
    assert 'tabindex="0"' in page and 'role="region"' in page and "<script" not in page


def test_words_of_one_column_differ_in_color_and_a_word_has_one_color() -> None:
    many = {f"cause {n}": {"one": f"word {n}", "two": f"word {n // 2 + 4}"} for n in range(6)}
    tones = module._table(many, ()).tones()
    for check in ("one", "two"):
        words = {row[check] for row in many.values()}
        assert len({tones[word] for word in words}) == len(words)
    assert len(tones) == 7 > len(module.TONES), "so that a color comes twice, in two columns"


def _light(rgb: tuple[float, ...]) -> float:
    red, green, blue = (v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in rgb)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(("page", "ink"), [("#ffffff", "#212121"), ("#111111", "#f5f5f5")])
def test_words_are_read_on_colored_cells_of_a_light_and_of_a_dark_page(page: str, ink: str) -> None:
    def parts(color: str) -> list[float]:
        return [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]

    share = int(module.STRENGTH, 16) / 255
    for tone in module.TONES:
        ground = tuple(share * a + (1 - share) * b for a, b in zip(parts(tone), parts(page), strict=True))
        low, high = sorted((_light(ground), _light(tuple(parts(ink)))))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (tone, page)


def test_the_device_is_named_where_it_is_not_the_cpu(monkeypatch, capsys) -> None:
    monkeypatch.setattr(module.device, "used", lambda: "cuda")
    table = lab.table(SAID)
    assert capsys.readouterr().out.endswith("\nMeasured on cuda.\n") and "Measured on cuda." in table.html()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({}, "no causes"),
        ({"one": {}}, "no checks"),
        ({"one": {"a": "x"}, "two": {"b": "x"}}, "'two' has the checks b, and the first cause has a"),
        ({"one": {"a": "x"}, "two": {"a": "x", "b": "y"}}, "b is missing in one"),
        ({"one": {"a": " "}}, "'a' says ' ' of 'one'"),
        ({"one": {"a": 3}}, "'a' says 3 of 'one'"),
    ],
)
def test_what_is_no_table_is_told(said: dict, told: str, capsys) -> None:
    with pytest.raises(UserError, match=re.escape(told)):
        lab.table(said)
    assert not capsys.readouterr().out
