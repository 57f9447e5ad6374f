"""A scenario: a program, its faults, its settings and a seed. It gives source code that can be run."""

import ast
import hashlib
import json
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache, reduce
from typing import TYPE_CHECKING, Any

from bugzoo import faults as catalogue
from bugzoo import injection as injected
from bugzoo import programs, seeds
from bugzoo.errors import UserError, unknown
from bugzoo.faults.model import Fault, Needs
from bugzoo.injection import Injection, diff, inject
from bugzoo.syntax import assigned, source_lines, written

if TYPE_CHECKING:
    from bugzoo.running import Run

SIZES = ("tiny", "full")
_LETTERS = "BCDFGHJKMNPQRSTVWXYZ"  # without vowels, so that no ticket spells a word
_SIGNS = "0123456789" + _LETTERS
# 20 * 30**8 tickets: among 100,000 variants, the probability that two share a ticket is below 0.001
_SPEC = re.compile(r"^(?P<id>[\w:/]+)(\?(?P<params>.*))?$")


def parse_spec(text: str) -> tuple[str, dict[str, float | int]]:
    """Parse `numerics/log_at_step?step=73&eps=0` into the fault's id and all parameters, with defaults filled in.

    Raises UserError for an unknown fault or parameter, or a value out of range.
    """
    match = _SPEC.match(text.strip())
    if not match:
        raise UserError(f"{text!r} is not a fault spec; write family/name or family/name?param=value&param=value.")
    fault = catalogue.load(match["id"])
    values: dict[str, float | int] = {name: param.default for name, param in fault.params.items()}
    texts: dict[str, str] = {}
    for pair in filter(None, (match["params"] or "").split("&")):
        name, _, value = pair.partition("=")
        if name not in fault.params:
            if not fault.params:
                raise UserError(f"{fault.id} has no parameters; {pair!r} was given. Type `bugzoo show {fault.id}`.")
            raise unknown(f"parameter of {fault.id}", name, fault.params, f"bugzoo show {fault.id}")
        if name in texts:
            raise UserError(f"{text!r} gives {name} twice, {texts[name]!r} and {value!r}; give it once.")
        texts[name] = value
        values[name] = _value(fault, name, value)
    return fault.id, values


def _value(fault: Fault, name: str, text: str) -> float | int:
    param = fault.params[name]
    whole = isinstance(param.default, int)
    allowed = f"{'a whole number' if whole else 'a number'} from {param.low:g} to {param.high:g}"
    try:
        value = int(text) if whole else float(text)
    except ValueError:
        value = None
    if value is None or not param.low <= value <= param.high:
        raise UserError(f"{fault.id}: {name}={text} is not allowed; use {allowed} ({param.doc}).")
    return value


def _literal(value: object) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)  # double quotes, as the programs write them


@lru_cache(maxsize=64)
def _assigned(source: str) -> dict[str, ast.expr]:
    """Cache `assigned`: the same program is needed many times."""
    return assigned(source)


def with_settings(source: str, settings: Mapping[str, object], label: str) -> str:
    """Return `source` with new values in top-level assignments `name = literal`. Raises UserError for unknown names."""
    lines, places = source_lines(source, keepends=True), _assigned(source)
    for name, value in settings.items():
        if name not in places:
            raise unknown(f"setting of {label}", name, places, f"bugzoo source {label}")
        node = places[name]
        if node.lineno != node.end_lineno:
            raise UserError(f"{label}: the setting {name} spans several lines, so it cannot be replaced.")
        written(lines, node, _literal(value))
    return "".join(lines)


def misfit(fault: Fault, program: str) -> str:
    """Return why a fault does not fit a program, in one sentence. Empty if it fits."""
    # all inputs of the cached function; a Fault itself cannot be hashed
    reason = fault.not_on.get(program, "")
    return _misfit(fault.id, _told(fault.edits), program, fault.needs.ranks, reason, _Unhashed(fault))


_texts: dict[int, tuple[object, str]] = {}
"""Edits by identity, and their text: to write it takes longer than what is asked about them."""


def _told(edits: Any) -> str:
    if (cached := _texts.get(id(edits))) is None or cached[0] is not edits:
        cached = _texts[id(edits)] = (edits, repr(edits))
    return cached[1]


@lru_cache(maxsize=256)
def _injected(base: str, told: str, program: str, given: "_Unhashed") -> Injection:
    """Cache `inject`: an exercise needs the same text many times. `told` stands for the value of `given` in the key."""
    return inject(base, given.value, program)


def _put(text: str, program: str, specs: tuple[tuple[Fault, dict[str, float | int]], ...]) -> Injection:
    key = repr([(fault.id, fault.edits, params) for fault, params in specs])
    return _injected(text, key, program, _Unhashed(specs))


class _Unhashed:
    """A value that passes through a cache without being part of the key."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Unhashed)


@cache
def _misfit(fault_id: str, edits: str, program: str, ranks: int, reason: str, given: _Unhashed) -> str:
    loaded = programs.load(program)
    if reason:
        return reason
    if ranks > int(loaded.facts.get("ranks", 1)):
        return f"it needs {ranks} processes."
    fault: Fault = given.value
    sentence = injected.misfit(loaded.source, fault, program)
    return sentence.removeprefix(f"{fault_id} does not fit {program}: ").partition("\n")[0]


def fits(fault: Fault) -> tuple[str, ...]:
    """Return the programs that a fault fits, sorted: its edits match exactly once, and `not_on` does not exclude them."""
    return tuple(name for name in programs.names() if not misfit(fault, name))


def plainest(fault: Fault) -> str:
    """Return the shortest program that a fault fits."""
    return min(fits(fault), key=lambda name: (len(programs.load(name).source), name))


@dataclass(frozen=True)
class Scenario:
    """One program with faults that can be run, watched and repaired.

    `faults` are spec texts. `settings` replace assignments in the program's Settings section and take precedence over
    those of size "tiny". `decoy` is the spec of a trap, which is odd and harmless: the healthy twin has it too. Names,
    values and fit are checked on construction.
    """

    program: str
    faults: tuple[str, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    seed: int = 0
    device: str = "cpu"
    size: str = "tiny"
    decoy: str = ""

    def __post_init__(self) -> None:
        if self.size not in SIZES:
            raise unknown("size", self.size, SIZES, "bugzoo run --help")
        for seed in (self.seed, self.settings.get("seed", 0)):
            seeds.check(seed)
        object.__setattr__(self, "faults", tuple(self.faults))
        for trap, _ in self.odd:
            if not trap.trap:
                advice = "Use one of the traps: `bugzoo list faults`."
                raise UserError(f"{trap.id} is a fault, and a decoy is harmless. {advice}")
        for fault, _ in (*self.specs, *self.odd):
            if why := misfit(fault, self.program):
                raise UserError(f"{fault.id} does not fit {self.program}: {why} It fits {', '.join(fits(fault))}.")
        assert self.injection  # raises now if faults conflict, where the user sees the cause

    @cached_property
    def specs(self) -> tuple[tuple[Fault, dict[str, float | int]], ...]:
        """Return (fault, its parameters) for each spec text."""
        parsed = [parse_spec(text) for text in self.faults]
        return tuple((catalogue.load(fault_id), params) for fault_id, params in parsed)

    @cached_property
    def odd(self) -> tuple[tuple[Fault, dict[str, float | int]], ...]:
        """Return the same for the decoy; nothing without one."""
        parsed = [parse_spec(self.decoy)] if self.decoy else []
        return tuple((catalogue.load(fault_id), params) for fault_id, params in parsed)

    @cached_property
    def base(self) -> str:
        """Return the healthy source with this scenario's settings, seed, device and decoy."""
        program = programs.load(self.program)
        settings: dict[str, object] = dict(program.tiny) if self.size == "tiny" else {}
        for fault, _ in (*self.odd, *self.specs):
            settings |= fault.settings
        settings |= {"seed": self.seed, "device": self.device} | dict(self.settings)
        text = with_settings(program.source, settings, self.program)
        return _put(text, self.program, self.odd).broken if self.odd else text

    @cached_property
    def injection(self) -> Injection:
        return _put(self.base, self.program, self.specs)

    @property
    def source(self) -> str:
        """Return the source that runs: ordinary Python with the faults in it."""
        return self.injection.broken

    def healthy(self) -> "Scenario":
        """Return the healthy twin: same program, settings, seed and decoy, no fault."""
        settings: dict[str, object] = {}
        for fault, _ in self.specs:
            settings |= fault.settings
        return replace(self, faults=(), settings=settings | dict(self.settings))

    def undecoyed(self) -> "Scenario":
        """Return the same scenario without its decoy."""
        settings: dict[str, object] = {}
        for trap, _ in self.odd:
            settings |= trap.settings
        return replace(self, settings=settings | dict(self.settings), decoy="")

    def diff(self) -> str:
        """Return the unified diff from the healthy source to the broken one: the answer key."""
        return diff(self.base, self.source, f"{self.program}.py")

    @property
    def facts(self) -> dict[str, Any]:
        return programs.load(self.program).facts

    @property
    def ticket(self) -> str:
        """Return an opaque name such as `Z-017K-4PQ2`. It reveals nothing about the fault and is always the same."""
        odd = (self.decoy,) if self.decoy else ()
        text = repr((self.program, sorted(self.faults), sorted(self.settings.items()), self.seed, self.size, *odd))
        digest = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
        letters = ""
        for signs in (_LETTERS, *[_SIGNS] * 8):
            digest, index = divmod(digest, len(signs))
            letters += signs[index]
        return f"{letters[0]}-{letters[1:5]}-{letters[5:]}"

    @cached_property
    def needs(self) -> Needs:
        """Return the combined needs of all its faults."""
        return reduce(operator.or_, (fault.needs for fault, _ in self.specs), Needs())

    @property
    def ranks(self) -> int:
        """Return how many processes this scenario needs."""
        return int(self.facts.get("ranks", 1))

    def check_device(self) -> None:
        """Raise UserError if a fault needs a CUDA device and this scenario does not run on one."""
        if self.needs.cuda and not self.device.startswith("cuda"):
            names = " and ".join(fault.id for fault, _ in self.specs if fault.needs.cuda)
            problem = f"{names} shows only on a CUDA device; on the CPU the broken script works."
            advice = "On a machine with a GPU, add --device cuda (in Python: Scenario(..., device='cuda'))."
            raise UserError(f"{problem} {advice}")

    def job(self, *, after: str | None = None, **extra: Any) -> Any:
        """Return this scenario as a running.Job: its source, limits and ranks. `extra` goes to Job unchanged."""
        from bugzoo.running import Job, Limits

        usual = Limits(seconds=self.needs.seconds or 120, memory_mib=self.needs.memory_mib)
        limits = extra.pop("limits", None) or usual
        return Job(self.source, file=f"{self.program}.py", limits=limits, ranks=self.ranks, after=after, **extra)

    def run(
        self,
        where: str = "here",
        on_step: Callable[[dict[str, Any]], None] | None = None,
        after: str | None = None,
        **extra: Any,
    ) -> "Run":
        """Run the scenario. `here` keeps the live objects; `worker` is a process with limits that can be killed.

        A scenario that needs several ranks or a memory limit always runs in workers.
        """
        from bugzoo.running import run_here, run_worker

        if where not in ("here", "worker"):
            raise UserError(f"where={where!r} is not allowed; use 'here' or 'worker'.")
        self.check_device()
        alone = self.ranks == 1 and self.needs.memory_mib is None
        if where == "here" and alone:
            return run_here(self.source, file=f"{self.program}.py", on_step=on_step, **extra)
        return run_worker(self.job(after=after, **extra), on_step=on_step)


def break_source(source: str, specs: Iterable[str], label: str = "this script", at: int | None = None) -> Injection:
    """Put faults into a user's script. `at` (a line number) chooses the place if a fault fits several.

    Raises UserError for an unknown fault, a swap that does not fit exactly once, or a text that is not Python.
    """
    parsed = [parse_spec(text) for text in specs]
    return inject(source, [(catalogue.load(fault_id), params) for fault_id, params in parsed], label, at)
