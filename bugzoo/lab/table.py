"""A table of checks by causes: what each check says of each cause, and which causes look alike to all of them.

    lab.table({"rate too high": {"two samples": "stuck", "print": "nothing odd"}, ...}, quiet=("nothing odd",))

Causes of which every check says the same stand together in one row, as the checks cannot tell them apart.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from bugzoo import device
from bugzoo.errors import UserError
from bugzoo.lab.frontend import headless, kernel
from bugzoo.plots import INK, SERIES
from bugzoo.templates import render

TONES = (*SERIES, INK)
"""Colors of words that are not quiet. Each cell has its word, so that no color is needed."""
STRENGTH = "40"
"""Opacity of a cell's color, as two hexadecimal digits: text keeps a contrast of 4.5 : 1 on light and dark pages."""


@dataclass(frozen=True)
class Table:
    """`groups`: (causes that look alike, what the checks say of them), both in the order in which they were given."""

    checks: tuple[str, ...]
    groups: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    quiet: frozenset[str] = frozenset()

    def text(self) -> str:
        """Return it as lines: of causes that look alike, the first has the words."""
        rows = [("cause", *self.checks)]
        for causes, words in self.groups:
            rows.append((causes[0], *words))
            rows += [(cause, "same as above") for cause in causes[1:]]
        whole = [row for row in rows if len(row) == len(self.checks) + 1]
        wide = [
            max(len(row[0]) for row in rows),
            *(max(map(len, column)) for column in list(zip(*whole, strict=True))[1:]),
        ]
        return "\n".join("   ".join(f"{cell:{n}}" for cell, n in zip(row, wide, strict=False)).rstrip() for row in rows)

    def html(self) -> str:
        """Return it as an HTML table: the words of causes that look alike stand once, in a cell that spans their rows."""
        size = f"{len(self.checks)} checks by {sum(len(causes) for causes, _ in self.groups)} causes"
        values = {"table": self, "tones": self.tones(), "strength": STRENGTH, "size": size, "where": _where()}
        return render("bugzoo.lab", "table.html.j2", **values)

    def tones(self) -> dict[str, str]:
        """Return word -> color: two words of one column share a color only if the column has more words than TONES."""
        columns = list(zip(*(words for _, words in self.groups), strict=True))
        tones: dict[str, str] = {}
        for word in dict.fromkeys(word for _, words in self.groups for word in words if word not in self.quiet):
            beside = [tones[other] for column in columns if word in column for other in set(column) & set(tones)]
            tones[word] = min(TONES, key=lambda tone: (beside.count(tone), list(tones.values()).count(tone)))
        return tones

    def __repr__(self) -> str:
        return f"<Table of {len(self.checks)} checks: {len(self.groups)} groups of causes>"


def table(said: Mapping[str, Mapping[str, str]], quiet: Collection[str] = ()) -> Table:
    """Show what each check says of each cause. `said`: cause -> {check: word}; `quiet`: words that get no color.

    It is an HTML table, and text where there is no front end. Raises UserError for no causes, no checks, a cause that lacks
    a check or has another one, and for a word that is empty or no text.
    """
    grid = _table(said, quiet)
    if headless() or kernel() is None:
        print(grid.text() + (f"\n{_where().strip()}" if _where() else ""))
    else:
        from IPython.display import display

        display({"text/html": grid.html(), "text/plain": grid.text()}, raw=True)
    return grid


def _table(said: Mapping[str, Mapping[str, str]], quiet: Collection[str]) -> Table:
    checks = tuple(next(iter(said.values()), {}))
    if not checks:
        example = 'lab.table({"rate too high": {"two samples": "stuck"}})'
        raise UserError(f"The table has no {'checks' if said else 'causes'}. Write, for example, `{example}`.")
    groups: dict[tuple[str, ...], list[str]] = {}
    for cause, words in said.items():
        if differ := sorted(set(checks) ^ set(words)):
            raise UserError(
                f"{cause!r} has the checks {', '.join(words) or 'none'}, and the first cause has {', '.join(checks)}. "
                f"Give each cause the same checks: {', '.join(differ)} is missing in one of the two."
            )
        for check, word in words.items():
            if not isinstance(word, str) or not word.strip():
                raise UserError(
                    f'{check!r} says {word!r} of {cause!r}, which is not a word. Write a short text, such as "stuck".'
                )
        groups.setdefault(tuple(words[check] for check in checks), []).append(cause)
    return Table(checks, tuple((tuple(causes), words) for words, causes in groups.items()), frozenset(quiet))


def _where() -> str:
    """Return where it was measured, unless that is the CPU."""
    return "" if device.used() == device.CPU else f" Measured on {device.used()}."
