"""Every script outside the catalogue that was opened while checkup was made: what is wrong with it, or that nothing is."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks import accuracy_folder
from tests.corpus.case import SCRIPTS
from tests.corpus.cases import BROKEN, TRAPS, healthy
from tests.corpus.reported import reported
from tests.corpus.unseen import unseen

MISSED, THREADS, CALLS, FIXES = (
    Path(__file__).parents[1] / "corpus" / name for name in ("missed", "threads", "calls", "fixes")
)
FOLDERS = (MISSED, THREADS, CALLS, FIXES)
MENDED = {"grid_ppo", "slim_conv", "transfer_head", "panel_tasks", "tool_planner", "tool_planner, repaired"}
"""Those of these four that an instrument was mended with."""


@dataclass(frozen=True)
class Opened:
    """`of`: the set it is from. `accept`: ids that name its mistake, none for a healthy one. `lines`: where a contract may be."""

    name: str
    of: str
    path: Path
    accept: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()
    ranks: int = 1
    reruns: int = 1
    healthy: bool = False
    made_on: bool = False
    """Whether instruments were made or mended with it. Which one was is not known, so that it counts for none."""

    def right(self, suspect: Any) -> bool:
        return accuracy_folder.right(suspect, self.accept, self.lines)


def opened(into: Path) -> Iterator[Opened]:
    """Yield each of them. The texts of changed scripts are written to `into`."""
    for name in healthy():
        yield Opened(name, "first", SCRIPTS / f"{name}.py", healthy=True, made_on=True)
    for number, case in enumerate([*TRAPS, *BROKEN]):
        path = into / f"{case.script}_{number}.py"
        path.write_text(case.source, encoding="utf-8")
        accept = () if case in TRAPS else (case.cause,)
        reruns = int(case.cause.startswith("reproducibility"))
        yield Opened(case.name, "first", path, accept, reruns=reruns, healthy=not accept, made_on=True)
    for one in unseen():
        accept = (one.cause,) if one.cause else ()
        mended = not one.right(one.first_pass)
        yield Opened(one.name, "unseen", one.path, accept, ranks=one.ranks, healthy=not accept, made_on=mended)
    for two in reported():
        if not two.sealed:
            accept = tuple(filter(None, (two.cause, two.second, *two.also)))
            mended = not two.right(two.first_pass)
            yield Opened(two.name, "reported", two.path, accept, healthy=not accept, made_on=mended)
    for folder in FOLDERS:
        for three in accuracy_folder.truths(folder):
            told = {"healthy": not three.faulty, "made_on": three.name in MENDED}
            yield Opened(three.name, folder.name, three.path, tuple(three.accept), tuple(three.lines), **told)
