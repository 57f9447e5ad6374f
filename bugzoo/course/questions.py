"""The questions of a lesson: what an author writes in [check] and [predict] cells, and which mistakes are reported.

    # ( ) The loss climbs              one of several answers, exactly one (x); each explanation is indented below its answer
    #     that is divergence.
    # (x) Nothing at all
    #     as you will see.

    # (=) {0.693 = first} +- 0.02      a number: one right value, which a proof cell measures,
    #     each class has half.
    # (~) 0.5 +- 0.03                  any number of known mistakes, tried in this order,
    #     that is the probability.
    # (~) else                         and the reply to every other number
    #     cross-entropy is a negative logarithm.

    # 2 classes -> a loss of ln 2      match, only in [check]: each left belongs to one right; one explanation after the last
    # 10 classes -> a loss of ln 10
    #     exp(loss) is the number of classes.

    # 1) forward                       order, only in [check]: three or more lines; one explanation after the last
    # 2) backward
    # 3) step
    #     a step needs gradients.

The list begins after an empty line, as the text may hold an arrow or a number, too.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from bugzoo.course.drawings import NUMBER, is_axis
from bugzoo.errors import UserError

_CHOICE = re.compile(r"\(([ x])\) (.+)")
_VALUE = re.compile(rf"\(([=~])\) +(?:(else)|({NUMBER})(?: *\+- *({NUMBER}))?)\s*")
_PAIR = re.compile(r"(\S.*?) +-> +(\S.*)")
_PLACE = re.compile(r"(\d+)\) +(\S.*)")

MOST = 8
"""Most lines of one question: each is answered by a letter from a to h."""


@dataclass(frozen=True)
class Choices:
    """One of several answers. `answers`: (text, explanation, whether it is right)."""

    text: str
    answers: tuple[tuple[str, str, bool], ...]


@dataclass(frozen=True)
class Near:
    """Numbers within `within` of `value`, which is written `shown`, and the reply to them."""

    shown: str
    value: float
    within: float
    why: str

    def fits(self, number: float) -> bool:
        """Return whether a number counts as this one; the borders belong to it."""
        return abs(number - self.value) <= self.within * (1 + 1e-9) + 1e-12 * abs(self.value)  # 0.713 - 0.693 > 0.02


@dataclass(frozen=True)
class Number:
    """A number as the answer. `known`: usual mistakes, tried in order after `right`; `otherwise`: any other number's reply."""

    text: str
    right: Near
    known: tuple[Near, ...]
    otherwise: str


@dataclass(frozen=True)
class Match:
    """Each left belongs to one right. `pairs`: (left, right); two lefts may share a right."""

    text: str
    pairs: tuple[tuple[str, str], ...]
    why: str


@dataclass(frozen=True)
class Order:
    """Lines to put in order. `items`: in the right order."""

    text: str
    items: tuple[str, ...]
    why: str


Question = Choices | Number | Match | Order


def read_question(kind: str, text: str, where: str) -> Question:
    """Parse the text of a [check] or [predict] cell. Raises UserError that begins with `where`."""
    lines = text.splitlines()
    choices, values = (any(re.match(sign, line) for line in lines) for sign in (r"\([ x]\) ", r"\([=~]\)"))
    if choices and values:
        problem = "a question has either answers with ( ) and (x), or numbers with (=) and (~)"
        raise UserError(f"{where}: {problem}. Use one.")
    if values:
        return _number(lines, where)
    read: Callable[[list[str], str], Question] | None = None
    if not choices:
        listed = lines[_list_start(lines) :]
        if any(_PLACE.fullmatch(line) for line in listed):
            read = _order
        elif any(_PAIR.fullmatch(line) for line in listed):
            read = _match
    if read is None:
        return _choices(lines, where)
    if kind == "predict":
        raise UserError(f"{where}: a prediction has answers or a number. Write `# %% [check]` to match or to order.")
    return read(lines, where)


def without_settings(kind: str, text: str) -> str:
    """Return the text whose numbers need a proof: without tolerances, values of known mistakes, and a drawing's axes."""
    if kind == "draw":
        return "\n".join(line for line in text.splitlines() if not is_axis(line))
    if kind in ("check", "predict"):
        return re.sub(r"(?m)^(\(=\) .*?) *\+- *\S+ *$", r"\1", re.sub(r"(?m)^\(~\) .*$", "", text))
    return text


def _choices(lines: list[str], where: str) -> Choices:
    """Parse text, then answers: `( ) text` or `(x) text` on one line, with the explanation indented below."""
    text, entries = _entries(lines, _CHOICE)
    if not entries:
        advice = "Write ( ) and (x), (=) and (~), `left -> right` or `1) text`, after an empty line"
        examples = "`bugzoo/course/questions.py` has an example of each"
        raise UserError(f"{where}: this is no kind of question. {advice}; {examples}.")
    choices = Choices(text, tuple((match[2], why, match[1] == "x") for match, why in entries))
    if len(entries) < 2 or sum(right for *_, right in choices.answers) != 1 or not text:
        raise UserError(f"{where}: a question needs a text, two or more answers, and exactly one (x).")
    if len(entries) > MOST:
        raise UserError(f"{where}: a question has at most {MOST} answers, this one has {len(entries)}.")
    if bare := [answer for answer, why, _ in choices.answers if not why]:
        raise UserError(f"{where}: the answer {bare[0]!r} has no explanation. Indent one below it.")
    return choices


def _number(lines: list[str], where: str) -> Number:
    if wrong := [line for line in lines if re.match(r"\([=~]\)", line) and not _VALUE.fullmatch(line)]:
        advice = "Write `(=) 0.693 +- 0.02`, `(~) 0.5 +- 0.03` or `(~) else`."
        raise UserError(f"{where}: {wrong[0]!r} is not a number. {advice}")
    text, entries = _entries(lines, _VALUE)
    if bare := [answer[0] for answer, why in entries if not why]:
        raise UserError(f"{where}: {bare[0]!r} has no explanation. Indent one below it.")
    numbers = [(answer, why) for answer, why in entries if answer[3]]
    near = [(answer[1], Near(answer[3], float(answer[3]), float(answer[4] or 0), why)) for answer, why in numbers]
    right = [answer for sign, answer in near if sign == "="]
    otherwise = [(answer[1], why) for answer, why in entries if answer[2]]
    if len(right) != 1 or not text:
        needs = "a question for a number needs a text and exactly one (=)"
        raise UserError(f"{where}: {needs}, this one has {len(right)}.")
    if [sign for sign, _ in otherwise] != ["~"] or not entries[-1][0][2]:
        raise UserError(f"{where}: the last answer must be `(~) else`, the reply to every other number. Add one.")
    foreseen = tuple(answer for sign, answer in near if sign == "~")
    for place, answer in enumerate(foreseen):
        if answer.within < 0 or right[0].within < 0:
            raise UserError(f"{where}: a tolerance after +- is at least 0.")
        if before := [first for first in (*right, *foreseen[:place]) if first.fits(answer.value)]:
            first = before[0].shown
            raise UserError(f"{where}: nothing reaches (~) {answer.shown}, as {first} accepts it first. Narrow that.")
    return Number(text, right[0], foreseen, otherwise[0][1])


def _match(lines: list[str], where: str) -> Match:
    text, entries, why = _listed(lines, _PAIR, where, "`left -> right`")
    pairs = tuple((match[1], match[2]) for match in entries)
    lefts, rights = {left for left, _ in pairs}, {right for _, right in pairs}
    if len(lefts) < max(2, len(pairs)) or len(rights) < 2:
        needs = "two or more lines, different on the left and not all equal on the right"
        raise UserError(f"{where}: a match needs {needs}.")
    return Match(text, pairs, why)


def _order(lines: list[str], where: str) -> Order:
    text, entries, why = _listed(lines, _PLACE, where, "`1) text`")
    numbers = [int(match[1]) for match in entries]
    if numbers != list(range(1, len(numbers) + 1)):
        numbering = ", ".join(map(str, numbers))
        raise UserError(f"{where}: the lines of an order are numbered 1), 2), 3) and so on, these are {numbering}.")
    items = tuple(match[2] for match in entries)
    if len(set(items)) < max(3, len(items)):
        raise UserError(f"{where}: an order needs three or more different lines.")
    return Order(text, items, why)


def _list_start(lines: list[str]) -> int:
    """Return where the list of a question begins: after the first empty line, as its text may hold an arrow, too."""
    return next((place for place, line in enumerate(lines) if not line.strip()), 0)


def _entries(lines: list[str], head: re.Pattern[str]) -> tuple[str, list[tuple[re.Match[str], str]]]:
    """Return (the text before the first head, each head with the explanation below it)."""
    texts: list[str] = []
    entries: list[tuple[re.Match[str], list[str]]] = []
    for line in lines:
        if match := head.fullmatch(line):
            entries.append((match, []))
        elif line.strip():
            (entries[-1][1] if entries else texts).append(line.strip())
    return " ".join(texts), [(match, " ".join(why)) for match, why in entries]


def _listed(lines: list[str], head: re.Pattern[str], where: str, form: str) -> tuple[str, list[re.Match[str]], str]:
    """Return (the text, the lines of a list, the one explanation after the last of them)."""
    start = _list_start(lines)
    for line in lines[start:]:
        if line.strip() and not line[0].isspace() and not head.fullmatch(line):
            advice = "Indent an explanation, and end the text with an empty line."
            raise UserError(f"{where}: {line!r} is not of the form {form}. {advice}")
    text = " ".join(line.strip() for line in lines[:start] if line.strip())
    _, entries = _entries(lines[start:], head)
    if early := [match[0] for match, why in entries[:-1] if why]:
        raise UserError(f"{where}: the explanation below {early[0]!r} belongs after the last line.")
    if not text or not entries[-1][1]:
        lacks = "an explanation, indented after the last line" if text else "a text before the first line"
        raise UserError(f"{where}: the question needs {lacks}.")
    if len(entries) > MOST:
        raise UserError(f"{where}: a question has at most {MOST} lines, this one has {len(entries)}.")
    return text, [match for match, _ in entries], entries[-1][1]
