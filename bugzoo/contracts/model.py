"""`Contract`: one demand of a library call, and `Finding`: where a script did not meet it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

import torch

from bugzoo.contracts.place import dropped

if TYPE_CHECKING:
    from bugzoo.contracts.memory import Memory, Steps

Site = tuple[CodeType, int]
"""A place in the script: its code and line."""
Numbers = Mapping[str, Any]
"""Name -> float, text, or a tensor with one number, which is fetched later."""
KINDS = (
    "values", "shape", "order of calls", "mode", "returned", "unit", "convention", "shared object", "used twice",
)  # fmt: skip
PAGES = "https://docs.pytorch.org/docs/stable/"


class Aside(Exception):
    """The contract cannot judge this call; says why."""


@dataclass
class Call:
    """One call at which a contract looks. `call["input"]` is an argument by its name, positional or not, with defaults."""

    arguments: Mapping[str, Any]
    kept: dict[str, Any]
    """Empty at first, and the same for all calls of one place in the script."""
    memory: "Memory" = field(repr=False)
    contract: str = ""
    step: int = 1
    """The optimizer step that comes next, from 1."""
    count: int = 1
    """How often this place of the script has called."""
    result: Any = None
    """What the call returned, for a contract that looks `after` it."""
    target: str = ""
    """Which name of `Contract.on` was called."""
    given: frozenset[str] = frozenset()
    """Names of the arguments that the script passed itself, and did not leave at their defaults."""
    site: Site | None = None
    """Where it was called. `measure` may set another place that it has kept, and the finding names that one."""
    frame: FrameType | None = field(default=None, repr=False)
    """The script's own frame, None if a library made the call on its behalf."""

    def direct(self) -> bool:
        """Return whether the script's own line made the call, and not a library on its behalf."""
        return self.frame is not None

    def owner(self) -> torch.nn.Module | None:
        """Return the module whose own method made the call, None if a library or no module did."""
        if self.frame is None or not self.frame.f_code.co_argcount:
            return None
        module = self.frame.f_locals.get(self.frame.f_code.co_varnames[0])
        return module if isinstance(module, torch.nn.Module) else None

    @property
    def dropped(self) -> bool:
        """Whether the script throws the result away: a line of its own that holds only the call."""
        return self.frame is not None and self.frame.f_code.co_name != "__init__" and dropped(self.frame)

    def about(self, thing: Any) -> dict[Any, Any]:
        """Return what this contract notes of an object, at all its calls: empty at first. Raises Aside."""
        return self.memory.about(self.contract, thing, self.site, self.step)

    @property
    def shared(self) -> dict[Any, Any]:
        """What all calls of this contract note together, empty at first."""
        return self.memory.shared(self.contract)

    def steps_of(self, optimizer: Any) -> "Steps":
        """Return a counter of the optimizer's steps, which goes on counting."""
        return self.memory.steps_of(optimizer)

    @property
    def optimizers(self) -> list[Any]:
        """The optimizers that have stepped, or that were asked for."""
        return list(self.memory.steps)

    @property
    def made(self) -> int:
        """Steps that all optimizers together have made."""
        return sum(self.steps_of(optimizer).made for optimizer in self.optimizers)

    def __getitem__(self, name: str) -> Any:
        return self.arguments.get(name)

    def tensor(self, name: str) -> torch.Tensor:
        """Return an argument, detached, if it is a plain dense tensor with numbers. Raises Aside."""
        return dense(self[name], name)


Measure = Callable[[Call], Numbers | None]
"""Takes the numbers that a contract judges from a call; None where the call is not of its kind."""


@dataclass(frozen=True)
class Contract:
    """What a call demands. `measure` looks at a call, `broken` judges the numbers."""

    name: str
    on: tuple[str, ...]
    """Where the watch listens: dotted names, such as `torch.nn.functional.kl_div`. Modules that call it count, too."""
    demand: str
    """A sentence in the field's terms: what the documentation asks for."""
    given: str
    """A sentence with the user's own numbers: a format of what `measure` returns."""
    instead: str
    """A sentence: what to type."""
    page: str
    """Address of the documentation."""
    kind: str
    measure: Measure
    """Return numbers, or None if the call asks for nothing here. Raises Aside where it cannot judge."""
    broken: Callable[[Numbers], bool]
    breaks: str
    """A few lines of Python that break it. Names: torch, nn, F, and what they import."""
    keeps: str
    """The same, kept."""
    wrong: str
    """A sentence: where the finding may be wrong."""
    explains: tuple[str, ...] = ()
    """Effects by which a finding becomes a suspect: names of `bugzoo.diagnostics._effects.EFFECTS`."""
    causes: tuple[str, ...] = ()
    """Causes of the catalogue that its breach may be. If an instrument names one as well, the two are one suspect."""
    argument: tuple[int, str] = (-1, "")
    """Place (from 0, without self) and name of the argument at fault: the report names the line that makes it."""
    handle: bool = False
    """Whether the script has to keep what the call returns: the report names the line that throws it away."""
    after: bool = False
    every: bool = False
    """Whether it has to see each call, and not only the first ones and then fewer and fewer."""
    pairs: bool = False
    """Whether it has to see the call before each one that is looked at, too."""
    own: bool = False
    """Whether only calls from the script's own lines matter, and none that a library makes for it."""
    like: Callable[..., Any] | None = None
    """A function with the same parameters, for a function in C, whose parameters Python cannot tell."""
    last: Callable[[dict[str, Any]], Numbers | None] | None = None
    """Looks, at the end of the run, at what `call.about` noted of each object: numbers, or None if nothing is asked."""

    @property
    def id(self) -> str:
        return f"contracts/{self.name}"


@dataclass
class Finding:
    """A contract that a place of the script does not meet."""

    contract: str
    """Its id."""
    file: str
    line: int
    step: int
    """The optimizer step that came next when it was first seen, from 1."""
    numbers: dict[str, Any] = field(default_factory=dict)
    """What was measured then; floats and text."""
    broken: int = 1
    """Calls of this place that broke it."""
    seen: int = 1
    """Calls of this place that were looked at."""
    silenced: str = ""
    """The reason in the script's `# bugzoo: ok NAME reason`, "" if there is no such comment."""


def dense(value: Any, name: str = "it") -> torch.Tensor:
    """Return a plain dense tensor, detached. Raises Aside for anything else."""
    if type(value) not in (torch.Tensor, torch.nn.Parameter):
        raise Aside(f"`{name}` is a {type(value).__name__}")
    if value.layout is not torch.strided or value.is_meta or value.is_quantized or value.is_nested:
        raise Aside(f"`{name}` is a tensor without dense numbers")
    if not value.numel():
        raise Aside(f"`{name}` is empty")
    return value.detach()
