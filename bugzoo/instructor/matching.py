"""Whose each hand-in is: by the instructor's map, by the name of the upload, or else by the notebook's own variant.

Nothing is guessed. What fits no student, or several, is left over, and the instructor decides.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bugzoo.errors import UserError
from bugzoo.instructor.downloads import CANVAS, OTHER, Upload, joined, parse, words
from bugzoo.instructor.roster import Student
from bugzoo.instructor.submission import NO_NOTEBOOK, Submission, once_each, shown

STRANGER = "no student in the class list has this name or number"


@dataclass
class Matches:
    """The hand-ins with their students, those left over with the reason, and the students without a hand-in."""

    found: list[Submission] = field(default_factory=list)
    strangers: list[tuple[Submission, str]] = field(default_factory=list)
    absent: list[Student] = field(default_factory=list)

    def refuse(self) -> None:
        """Raise UserError with every hand-in and every student that is left over; do nothing if everything fits."""
        if not self.strangers and not self.absent:
            return
        counts = [_count(len(self.strangers), "hand-in", "a student"), _count(len(self.absent), "student", "a hand-in")]
        lines = [f"Not everything fits the class list: {', '.join(filter(None, counts))}. Nothing was graded."]
        left = []
        if self.strangers:
            lines.append("Hand-ins without a student:")
            lines += [f"  {shown(hand_in.entry)}: {why}" for hand_in, why in self.strangers]
            left.append("hand-ins without a student are graded under their own names")
        if self.absent:
            lines.append("Students without a hand-in:")
            lines += [f"  {student.id} {student.name}".rstrip() for student in self.absent]
            left.append("students without a hand-in get 0 points")
        if self.strangers:
            lines.append("Write whose they are into a CSV file that begins with hand_in,student, and add --map FILE.")
        raise UserError("\n".join([*lines, f"To go on, add --unmatched ok: {', and '.join(left)}."]))

    def all(self) -> list[Submission]:
        """Return every hand-in; one left over keeps its own name and says why."""
        others = [replace(file, upload_notes=(f"left over: {why}", *file.upload_notes)) for file, why in self.strangers]
        return [*self.found, *once_each(others)]


def match(hand_ins: Iterable[Submission], students: Sequence[Student], drawn: Mapping[str, str], name: str) -> Matches:
    """Return whose each hand-in is. They have been read. `drawn`: a variant's tag -> student. `name`: the assignment's.

    A map wins over the name of the upload, and that over the variant: who uploaded a notebook answers for it.
    """
    index, matches = _Index(students), Matches()
    by_upload: dict[str, list[Submission]] = defaultdict(list)
    by_notebook: dict[str, list[Submission]] = defaultdict(list)
    for hand_in in hand_ins:
        fitting = {hand_in.mapped} if hand_in.mapped else index.fitting(hand_in)
        owner = drawn.get(hand_in.tag, "") if hand_in.tag else ""
        if len(fitting) == 1:
            by_upload[fitting.pop()].append(hand_in)
        elif owner and owner in (fitting or index.ids):
            by_notebook[owner].append(hand_in)
        elif fitting:
            matches.strangers.append((hand_in, f"its name or number fits {' and '.join(sorted(fitting))}"))
        else:
            matches.strangers.append((hand_in, STRANGER))
    for owner, several in by_notebook.items():
        if owner not in by_upload and len(several) == 1:
            note = f"found by its notebook, which was drawn for {owner}"
            by_upload[owner] = [replace(several[0], upload_notes=(note, *several[0].upload_notes))]
        else:
            others = "who has another hand-in" if owner in by_upload else f"as {len(several) - 1} more"
            matches.strangers += [(hand_in, f"its notebook was drawn for {owner}, {others}") for hand_in in several]
    for student in students:
        several, others = _by_uploader(by_upload.get(student.id, []))
        why = f"it fits {student.id}, like another hand-in under another number"
        matches.strangers += [(hand_in, why) for hand_in in others]
        if several:
            matches.found.append(replace(_one_of(several, name), student=student.id))
        else:
            matches.absent.append(student)
    matches.found.sort(key=lambda one: one.student)
    matches.strangers.sort(key=lambda one: one[0].entry)
    return matches


class _Index:
    """The students by what a name of an upload can say."""

    def __init__(self, students: Iterable[Student]) -> None:
        self.ids: set[str] = set()
        self.numbers: dict[str, set[str]] = defaultdict(set)
        self.names: dict[tuple[str, ...], set[str]] = defaultdict(set)
        self.joined: dict[str, set[str]] = defaultdict(set)
        for student in students:
            self.ids.add(student.id)
            for number in filter(None, (student.id, student.email, *student.numbers)):
                self.numbers[number.casefold()].add(student.id)
            for text in filter(words, {student.name, student.full_name}):
                self.names[tuple(sorted(words(text)))].add(student.id)
                for word in joined(text):
                    self.joined[word].add(student.id)

    def fitting(self, one: Submission) -> set[str]:
        """Return the students whom the name of the upload fits. If number and name disagree, those of both."""
        name = one.entry.removesuffix(".ipynb")
        if name in self.ids:
            return {name}
        upload = _upload(one)
        parts = words(upload.name)
        by_word = self.joined.get(parts[0], set()) if len(parts) == 1 else set()
        named = self.names.get(tuple(sorted(parts)), set()) | by_word
        numbered = self.numbers.get((upload.number or name).casefold(), set())
        return (named & numbered) or (named | numbered)


def _by_uploader(several: Sequence[Submission]) -> tuple[list[Submission], list[Submission]]:
    """Return the hand-ins of a student, and those under another number of the same site: two people may share a name."""
    if len({_upload(hand_in).number for hand_in in several if _upload(hand_in).number}) < 2:
        return list(several), []
    numbers = {_upload(hand_in).number for hand_in in several if hand_in.mapped}
    hand_ins = [hand_in for hand_in in several if _upload(hand_in).number in numbers]
    return hand_ins, [hand_in for hand_in in several if hand_in not in hand_ins]


def _one_of(several: Sequence[Submission], name: str) -> Submission:
    """Return the hand-in of a student that counts, with a note on the others; one with a problem if that is unclear."""
    left = [hand_in for hand_in in several if hand_in.mapped] or list(several)
    left = [hand_in for hand_in in left if not hand_in.problem.startswith(NO_NOTEBOOK)] or left[:1]
    if len(left) > 1 and len(layouts := {_upload(hand_in).layout for hand_in in left}) == 1 and OTHER not in layouts:
        left = [hand_in for hand_in in left if hand_in.notebook == name] or left
        if layouts == {CANVAS} and len({hand_in.notebook for hand_in in left}) == 1:
            latest = max(_upload(hand_in).version for hand_in in left)
            left = [hand_in for hand_in in left if _upload(hand_in).version == latest]
    names = [shown(hand_in.entry) for hand_in in several if len(left) != 1 or hand_in is not left[0]]
    if len(left) != 1:
        why = f"there are {len(several)} hand-ins of this student ({', '.join(names[:4])}); keep the one that counts"
        return replace(several[0], path=None, problem=why, broken=True)
    if not names:
        return left[0]
    note = f"{len(several)} hand-ins; {shown(left[0].entry)} counts, not {', '.join(names[:4])}"
    return replace(left[0], upload_notes=(note, *left[0].upload_notes))


def _upload(one: Submission) -> Upload:
    return parse(one.entry.removesuffix(".ipynb"))


def _count(number: int, what: str, missing: str) -> str:
    return f"{number} {what}{'s' * (number != 1)} without {missing}" if number else ""
