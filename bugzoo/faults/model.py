"""What a fault file holds: one frozen `FAULT` value, read by injection and proved by `bugzoo verify`."""

from dataclasses import dataclass, field

SYMPTOMS = (
    "crash", "non_finite", "diverges", "stuck", "plateau", "degraded", "too_good",
    "noisy_eval", "leak", "oom", "slow", "hang", "drift", "none",
)  # fmt: skip
"""Symptom classes of the catalogue; "none" belongs to healthy traps alone."""


@dataclass(frozen=True)
class Param:
    """A number that makes a fault louder or subtler, written `$name` in a swap.

    `low` and `high` are inclusive; an int default admits whole numbers only.
    """

    default: float | int
    low: float
    high: float
    doc: str


@dataclass(frozen=True)
class Swap:
    """One structural edit: `before -> after` in ast-grep's Python patterns.

    `$NAME` matches one node, `$$$REST` any number; lower-case `$name` in `after` is a parameter.
    A `before` of several lines matches consecutive statements. An empty `after` removes the statement.
    `where`: further patterns that must match somewhere in the file with the same metavariables
    (for example `$CRITERION = nn.CrossEntropyLoss($$$)`).
    """

    before: str
    after: str
    where: str | tuple[str, ...] = ()


@dataclass(frozen=True)
class Fault:
    """One way in which training goes wrong, as an edit to a program's text.

    `swaps`: each entry is a Swap, or a tuple of alternative Swaps of which the first that fits once counts.
    `evidence`: texts such as `fresh_gradient.stale_share > 0.5`, instrument, number, threshold; all must hold on the
    broken run and none on its healthy twin.
    `effect`: the number whose change against the healthy twin must have the same sign on every seed, written
    `metrics.accuracy < healthy`, `gradient_health.total_norm > healthy`, ...
    """

    title: str
    level: int
    symptom: str
    programs: tuple[str, ...]
    swaps: tuple[Swap | tuple[Swap, ...], ...]
    evidence: tuple[str, ...]
    effect: str
    why: str
    fix: str
    hints: tuple[str, str, str]
    params: dict[str, Param] = field(default_factory=dict)
    confused_with: dict[str, str] = field(default_factory=dict)
    """Look-alike fault id -> the discriminating test that tells the two apart."""
    sources: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    """What the machine must have: "cuda", "2 ranks", "memory 1500 MiB" (the limit the worker sets), "timeout 20 s"."""
    settings: dict[str, object] = field(default_factory=dict)
    """Settings of the program under which this fault shows, for both twins, such as `{"num_workers": 0}`."""
    trap: bool = False
    """Looks wrong, is right: every instrument must stay quiet."""
    id: str = ""
    """`family/bad_pattern`, set by the loader from the file's place."""
    report: str = ""
    """The symptom as a learner would report it: the file's docstring, set by the loader."""

    @property
    def family(self) -> str:
        return self.id.rsplit("/", 1)[0]
