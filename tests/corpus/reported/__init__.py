"""The scripts beside this file: each rebuilt from a mistake that somebody reported, or healthy; see README.md."""

import json
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Reported:
    """`cause`: None for a healthy script. `also`: what names the same mistake. `second`: another one in the same script.

    `first_pass`: causes that checkup named at first sight, the likeliest first. `report`: where somebody had it.
    """

    name: str
    cause: str | None
    line: int | None = None
    also: list[str] = field(default_factory=list)
    second: str | None = None
    report: str | None = None
    first_pass: list[str] = field(default_factory=list)

    @property
    def path(self) -> Path:
        return HERE / f"{self.name}.py"

    @property
    def sealed(self) -> bool:
        """The even ones are looked into by nobody who works on the instruments: they are there for the number."""
        return int(self.name[1:]) % 2 == 0

    def right(self, causes: list[str], among: int = 1) -> bool:
        """Is the mistake (one of the two, where there are two) among the first so many? Nothing is right for a healthy one."""
        if self.cause is None:
            return not causes
        return bool({self.cause, self.second, *self.also} & set(causes[:among]))


def reported() -> list[Reported]:
    answers = json.loads((HERE / "answers.json").read_text(encoding="utf-8"))
    return [Reported(name, **answer) for name, answer in answers.items()]
