"""What a declared incident says of itself: a ticket, the night's chat, and questions whose answers were measured."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from types import ModuleType
from typing import Any, Protocol, cast

DEPTHS = {1: "what is seen", 2: "what it comes from", 3: "where it is mended"}


@dataclass(frozen=True)
class Question:
    """`kind`: number, right within `tolerance`, or choice, one of `choices` in lower case. `why` is shown with the answer."""

    depth: int
    text: str
    kind: str
    answer: float | str
    why: str
    tolerance: float = 0.0
    choices: tuple[str, ...] = ()
    room: str = ""
    """How near a number must come, where the number of that would tell the answer."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def number(depth: int, text: str, answer: float, why: str, tolerance: float = 0.0, room: str = "") -> Question:
    return Question(depth, text, "number", float(answer), why, float(tolerance), (), room)


def choice(depth: int, text: str, answer: str, choices: tuple[str, ...], why: str) -> Question:
    if answer not in choices:
        raise ValueError(f"{answer!r} is none of the choices {choices}")
    return Question(depth, text, "choice", answer, why, 0.0, choices)


@dataclass(frozen=True)
class Told:
    """What is written beside the artefacts. `chat`: (time, who, what) of the night, red herrings among it."""

    ticket: str
    chat: tuple[tuple[str, str, str], ...]
    questions: tuple[Question, ...]


class Declared(Protocol):
    """A file of `declared/`. `FAULTS` are the specs of what is planted; none of them is named in the folder."""

    ABOUT: str
    ARTEFACTS: tuple[str, ...]
    PROGRAM: str
    FAULTS: tuple[str, ...]
    QUESTIONS: int
    RUNS: int
    make: Callable[..., Told]


def declared(module: ModuleType) -> Declared:
    return cast(Declared, module)
