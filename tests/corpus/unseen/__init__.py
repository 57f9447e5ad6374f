"""The scripts beside this file, and what is known of them."""

import json
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Unseen:
    """`cause`: None for a healthy script. `first_pass`: causes that checkup named at first sight, the likeliest first."""

    name: str
    cause: str | None
    line: int | None
    first_pass: list[str]
    ranks: int = 1

    @property
    def path(self) -> Path:
        return HERE / f"{self.name}.py"

    def right(self, causes: list[str]) -> bool:
        return causes[:1] == [self.cause] if self.cause else not causes


def unseen() -> list[Unseen]:
    answers = json.loads((HERE / "answers.json").read_text(encoding="utf-8"))
    return [Unseen(name, **answer) for name, answer in answers.items()]
