"""Every script outside the catalogue that was opened while checkup was made: what is wrong with it, or that nothing is."""

from collections.abc import Iterator
from pathlib import Path

from tests.corpus import TWINNED, Script, scripts, variants

MENDED = {"grid_ppo", "slim_conv", "transfer_head", "panel_tasks", "tool_planner", "tool_planner, repaired"}
"""Those of the sets with twins that an instrument was mended with."""


def made_on(script: Script) -> bool:
    """Return whether instruments were made or mended with it. Which one was is not known, so that it counts for none."""
    if script.set in TWINNED:
        return script.name in MENDED
    return script.set == "scripts" or not script.named(script.first_pass)


def opened(into: Path) -> Iterator[Script]:
    """Yield each of them. The texts of changed scripts are written to `into`."""
    for script in (*variants(), *scripts("scripts", "unseen", "reported", *TWINNED)):
        if not script.sealed:
            yield script.placed(into)
