"""What a fault file holds: one frozen `FAULT` value, read by injection and proved by `bugzoo verify`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bugzoo.faults.forms import Idiom

SYMPTOMS = (
    "crash", "non_finite", "diverges", "stuck", "plateau", "degraded", "too_good",
    "noisy_eval", "leak", "oom", "slow", "hang", "drift", "none",
)  # fmt: skip
"""Symptom classes of the catalogue; "none" belongs to healthy traps alone."""


@dataclass(frozen=True)
class Param:
    """A number that makes a fault louder or subtler, written `$name` in an edit.

    `low` and `high` are inclusive; an int default admits whole numbers only.
    """

    default: float | int
    low: float
    high: float
    doc: str


@dataclass(frozen=True)
class Swap:
    """One structural edit: `before -> after` in ast-grep's Python patterns, for places that no idiom names.

    `$NAME` matches one node, `$$$REST` any number; lower-case `$name` in `after` is a parameter.
    A `before` of several lines matches consecutive statements. An empty `after` removes the statement.
    `where`: further patterns that must match somewhere in the file with the same metavariables
    (for example `$CRITERION = nn.CrossEntropyLoss($$$)`).
    """

    before: str
    after: str
    where: str | tuple[str, ...] = ()

    def __str__(self) -> str:
        """Both patterns, one line each."""
        return " -> ".join(text.replace("\n", " ; ") or "(nothing)" for text in (self.before, self.after))


@dataclass(frozen=True)
class Change:
    """One edit of a place that an idiom names; the functions in `verbs` make it.

    `how` is rewrite, remove, before or after; `texts`: (metavariable, alternative texts), with "" for before and after.
    `given`: places that the script must have as well, whose metavariables a text may use.
    """

    place: "Idiom"
    how: str
    texts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    given: tuple["Idiom", ...] = ()

    def __str__(self) -> str:
        """As it is written in a fault file."""
        parts = [(f"{name}=" if name else "") + " | ".join(map(repr, texts)) for name, texts in self.texts]
        parts += [f"given={', '.join(map(repr, self.given))}"] if self.given else []
        return f"{self.how}({', '.join([self.place.name, *parts])})"


@dataclass(frozen=True)
class Either:
    """Alternatives for one edit: the first of which every edit fits exactly once is made."""

    alternatives: tuple["Edits", ...]

    def __str__(self) -> str:
        """As it is written in a fault file."""
        return f"either({', '.join(' + '.join(map(str, edits)) or 'nothing' for edits in self.alternatives)})"


Edits = tuple[Swap | Change | Either, ...]
"""Edits that are made together, each found in the same starting text."""

Written = Edits | Swap | Change | Either
"""As a fault file writes them: one edit needs no tuple around it."""


@dataclass(frozen=True)
class LookAlike:
    """Another fault that shows the same symptom, and the test that tells the two apart.

    `test`: what to do, in a sentence without the name of a cause: it is one of the choices that people get. `here` and
    `there`: what it shows on this fault and on the other one, in sentences for people. A claim in backticks, such as
    `fresh_gradient.stale_share > 0.5`, is checked by a run of that fault, where both fit one program. `other` is an id of
    the catalogue, or one that is planned. The first of a fault's look-alikes is the one that exercises ask for.
    """

    other: str
    test: str
    here: str
    there: str

    @property
    def claims(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What is checked by runs: of this fault, and of the other one."""
        return tuple(re.findall(r"`([^`]+)`", self.here)), tuple(re.findall(r"`([^`]+)`", self.there))


@dataclass(frozen=True)
class Needs:
    """What a run must have, or be denied, for a fault to show."""

    cuda: bool = False
    ranks: int = 1
    """Processes, at least."""
    memory_mib: int | None = None
    """The limit that the worker sets, in MiB."""
    seconds: float | None = None
    """After so many seconds the run is ended: a hang never ends by itself."""
    compile: bool = False
    """A working torch.compile."""

    def __or__(self, other: "Needs") -> "Needs":
        """What two faults need together: of two limits the tighter one."""

        def tighter(one: float | None, two: float | None) -> float | None:
            return min((value for value in (one, two) if value is not None), default=None)

        memory = tighter(self.memory_mib, other.memory_mib)
        return Needs(
            self.cuda or other.cuda,
            max(self.ranks, other.ranks),
            None if memory is None else int(memory),
            tighter(self.seconds, other.seconds),
            self.compile or other.compile,
        )

    def __bool__(self) -> bool:
        return self != Needs()

    def to_json(self) -> dict[str, bool | int | float]:
        """What differs from an ordinary run, name -> value."""
        needs = {need.name: getattr(self, need.name) for need in fields(self)}
        return {name: value for name, value in needs.items() if value != getattr(Needs(), name)}

    def __str__(self) -> str:
        phrases = {
            "cuda": "a CUDA device",
            "ranks": f"{self.ranks} processes",
            "memory_mib": f"a memory limit of {self.memory_mib} MiB",
            "seconds": f"a time limit of {self.seconds:g} s" if self.seconds is not None else "",
            "compile": "torch.compile",
        }
        return ", ".join(phrases[name] for name in self.to_json())


@dataclass(frozen=True)
class Cause:
    """The words for a fault's cause. What a fault leaves open is its family's, which is `CAUSE` in the family's `__init__.py`.

    After a change type `bugzoo causes build`: `diagnostics.causes` reads the table that this writes.
    """

    word: str = ""
    """The choice of a form, in the field's terms; not the fault's name. `words` holds those that several faults share."""
    also: tuple[str, ...] = ()
    """Other words that people use for it; a form takes them for `word`."""
    either: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)
    """Choices that are as true as `word`, each while these parameters of the fault lie between two numbers; {} is always."""
    explains: tuple[str, ...] = ()
    """Beginnings of ids of what follows from this cause by itself, and is ranked below it; added to the family's."""


@dataclass(frozen=True)
class Fault:
    """One way in which training goes wrong, as an edit to a program's text.

    `edits`: one edit, or a tuple of edits that are made together.
    `evidence`: texts such as `fresh_gradient.stale_share > 0.5`, instrument, number, threshold; all must hold on the
    broken run and none on its healthy twin.
    `effect`: the number whose change against the healthy twin must have the same sign on every seed, written
    `metrics.accuracy < healthy`, `gradient_health.total_norm > healthy`, ...
    """

    title: str
    level: int
    symptom: str
    edits: Written
    evidence: tuple[str, ...]
    effect: str
    why: str
    fix: str
    hints: tuple[str, str, str]
    params: Mapping[str, Param] = field(default_factory=dict)
    repairs: Mapping[str, Written] = field(default_factory=dict)
    """Name -> edits of the *broken* text: correct repairs whose result is not the healthy text. Like pretences, each is tried on
    a program that it fits. Exercises, assignments and interviews are graded by them, and quizzes draw their choices from them."""
    by_counter: tuple[str, ...] = ()
    """Names of repairs that decide something by a counter: all else of them passes, and a person looks at them."""
    pretences: Mapping[str, Written] = field(default_factory=dict)
    """Name -> edits of the *broken* text that look like a repair and repair nothing. Generic ones are in `attacks`."""
    look_alikes: tuple[LookAlike, ...] = ()
    sources: tuple[str, ...] = ()
    needs: Needs = Needs()
    settings: Mapping[str, object] = field(default_factory=dict)
    """Settings of the program under which this fault shows, for both twins, such as `{"num_workers": 0}`."""
    not_on: Mapping[str, str] = field(default_factory=dict)
    """Program -> why the fault does not show there, although its edits fit."""
    room: float = 1.0
    """Times the usual room below the healthy twin, where a correct repair may change what the network computes."""
    own_forward: bool = False
    """Correct repairs may compute something else than the reference's forward pass does, with the same weights."""
    same_forward: bool = False
    """The repaired model must answer as the reference does with its weights, whatever the inputs (masks, padding)."""
    free: tuple[str, ...] = ()
    """What a correct repair may change at a single step, which is otherwise compared with the healthy program's own
    (`grading.each_step`): "gradient", its "length" only, its "rounding" (precision), "update" (rate, momentum, decay),
    "answers" (the outputs in eval mode) or "order" (which samples are drawn)."""
    ignore: tuple[str, ...] = ()
    """Instruments that stay out of the grading: a correct repair may set them off."""
    shown_by: tuple[str, ...] = ()
    """Instruments that show the fault as well, beside those of `evidence` and `effect`; as evidence, each of them counts."""
    trap: bool = False
    """Looks wrong, is right: every instrument must stay quiet."""
    cause: Cause = field(default_factory=Cause)
    """What its cause is called, where that is not its family's word alone."""
    terms: tuple[str, ...] = ()
    """Terms of the glossary where it is met, the closest first: a term's page begins with the faults that are closest to it."""
    beside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Program -> other faults that it goes well with, "loss/double_softmax" or several as "a/b + c/d": often seen together, or
    one masks another. A trap there is a decoy. `bugzoo pairs --prove` measures them; the file of the first fault lists them."""
    id: str = ""
    """`family/bad_pattern`, set by the loader from the file's place."""
    report: str = ""
    """The symptom as a learner would report it: the file's docstring, set by the loader."""

    def __post_init__(self) -> None:
        # one edit needs no tuple around it
        object.__setattr__(self, "edits", together(self.edits))
        for name in ("repairs", "pretences"):
            named = {title: together(edits) for title, edits in getattr(self, name).items()}
            object.__setattr__(self, name, named)

    @property
    def family(self) -> str:
        return self.id.rsplit("/", 1)[0]


def together(edits: Written) -> Edits:
    """One edit or several as a tuple."""
    return edits if isinstance(edits, tuple) else (edits,)
