"""What a case is: a script in another style and a small edit that breaks it."""

from dataclasses import dataclass
from pathlib import Path

SCRIPTS = Path(__file__).parent / "scripts"


@dataclass(frozen=True)
class Case:
    script: str
    before: str
    after: str
    cause: str
    at: str = ""

    @property
    def source(self) -> str:
        text = (SCRIPTS / f"{self.script}.py").read_text(encoding="utf-8")
        assert text.count(self.before) >= 1, f"{self.script} does not hold {self.before!r}"
        return text.replace(self.before, self.after, 1)

    @property
    def name(self) -> str:
        return f"{self.script}-{self.cause.split('/')[1]}"


STALE, SOFTMAX, FROZEN = "loop/stale_gradients", "loss/double_softmax", "freezing/frozen_layers"
LEAK, EVAL, RATE = "memory/losses_kept_with_graph", "modes/eval_mode_missing", "optimizer/lr_too_high"
