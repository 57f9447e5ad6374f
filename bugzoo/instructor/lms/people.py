"""Whose hand-in is it: what a system says about somebody, laid on the people of the roster.

Only one who alone fits is taken. Numbers of the system itself come first, then addresses, ids, and names last.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from bugzoo.instructor.lms.handin import Who
from bugzoo.instructor.submission import shown

LOGIN = "login"
LIKE = 0.8
"""Likeness of two ids from which one may be the other, mistyped."""


@dataclass(frozen=True)
class Person:
    """Somebody on the roster, in the forms that are compared."""

    id: str
    ids: frozenset[str]
    email: str
    numbers: Mapping[str, str]
    names: frozenset[str]
    loose: frozenset[str]
    squashed: frozenset[str]


def person(id: str, facts: Mapping[str, Any]) -> Person:
    """`facts` are those of a roster's row: names, e-mail, other ids, the numbers of Canvas and Moodle."""
    last, first, name = (str(facts.get(word) or "") for word in ("last_name", "first_name", "name"))
    names = [one for one in (name, f"{first} {last}".strip()) if one]
    email = _small(str(facts.get("email") or ""))
    ids = {_small(one) for one in (id, *facts.get("others", ())) if one}
    numbers = {system: str(facts[system]) for system in ("canvas", "moodle") if facts.get(system)}
    squashed = {
        _squash("".join(words[at:] + words[:at]))
        for one in names
        for words in [one.split()]
        for at in range(len(words))
    }
    if last and first:
        squashed.add(_squash(last + first))
    squashed |= {_bare(one) for one in squashed}
    tokens = frozenset(key for one in names if (key := _tokens(one)))
    return Person(id, frozenset(ids), email, numbers, tokens, frozenset(map(_bare, tokens)), frozenset(squashed - {""}))


class People:
    """The people of a roster, to be asked whose a hand-in is.

    `asked` is everybody who handed in. Numbers and logins rule somebody out only where one of them was found on the roster:
    else the roster holds others, such as those of another assignment of Moodle's.
    """

    def __init__(self, facts: Mapping[str, Mapping[str, Any]], asked: Iterable[Who] = ()) -> None:
        self.all = [person(id, one) for id, one in facts.items()]
        there = {(system, number) for one in self.all for system, number in one.numbers.items()}
        ids = {id for one in self.all for id in one.ids}
        self.known: set[str] = set()
        for who in asked:
            self.known |= {system for system, number in who.numbers if (system, number) in there}
            self.known |= {LOGIN} if who.sure and any(_small(id) in ids for id in who.ids) else set()

    def could_be(self, who: Who, one: Person) -> bool:
        """Whether nothing speaks against it: the same system's numbers that differ, or a login that is another one."""
        numbers = [(system, number) for system, number in who.numbers if system in self.known]
        if any(one.numbers.get(system, number) != number for system, number in numbers):
            return False
        if not who.sure or LOGIN not in self.known:
            return True
        mine = {_small(id) for id in who.ids}
        return any(SequenceMatcher(None, a, b).ratio() >= LIKE for a in mine for b in one.ids)

    def find(self, who: Who) -> tuple[str, str]:
        """(id, how it was found), or ("", why nobody is)."""
        possible = [one for one in self.all if self.could_be(who, one)]
        for how, fits in _ways(who):
            fitting = [one for one in possible if fits(one)]
            if len(fitting) > 1:
                said = ", ".join(shown(one.id) for one in fitting[:4])
                return "", f"its {how} fits {len(fitting)} on the roster ({said})"
            if not fitting:
                continue
            if how == "number" and (named := self._named(who, possible)) and named != fitting[0].id:
                return "", f"its number is an id of {shown(fitting[0].id)}, and its name that of {shown(named)}"
            return fitting[0].id, how
        return "", "nobody on the roster fits it"

    def _named(self, who: Who, possible: list[Person]) -> str:
        """Who alone has the name, where somebody has it."""
        for how, fits in _ways(who):
            fitting = [one.id for one in possible if how == "name" and fits(one)]
            if len(fitting) == 1:
                return fitting[0]
        return ""


Way = tuple[str, Callable[[Person], bool]]


def _ways(who: Who) -> list[Way]:
    """(what is compared, whether somebody fits), the surest first."""
    numbers, ids, email = dict(who.numbers), {_small(one) for one in who.ids}, _small(who.email)
    names = {key for one in who.names if (key := _tokens(one))}
    squashed = _squash(who.squashed)
    addresses = {email, *(one for one in ids if "@" in one)} - {""}
    return [
        ("system's number", lambda one: any(one.numbers.get(system) == number for system, number in numbers.items())),
        ("id as it is", lambda one: one.id in who.ids),
        ("e-mail", lambda one: bool(one.email) and one.email in addresses),
        ("id", lambda one: bool(one.ids & (ids | addresses))),
        ("number", lambda one: any(system not in one.numbers and number in one.ids for system, number in numbers.items())),
        ("name", lambda one: bool(one.names & names) or (bool(squashed) and squashed in one.squashed)),
        ("name", lambda one: bool(one.loose & set(map(_bare, names))) or (bool(squashed) and _bare(squashed) in one.squashed)),
    ]  # fmt: skip


def _small(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip().casefold()


def _tokens(name: str) -> str:
    """The words of a name in the order of the alphabet: `Doe, Jane` and `Jane Doe` are one."""
    marks = "".join(one if one.isalnum() or unicodedata.category(one)[0] == "M" else " " for one in _small(name))
    return " ".join(sorted(marks.split()))


def _squash(name: str) -> str:
    return re.sub(r"[\W_]", "", _small(name))


def _bare(name: str) -> str:
    """Without accents: systems and people leave them out."""
    return "".join(one for one in unicodedata.normalize("NFKD", name) if not unicodedata.combining(one))
