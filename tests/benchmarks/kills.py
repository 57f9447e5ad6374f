"""The table of a class after many kill -9: `python -m tests.benchmarks.kills [--kills 50] [--save]`

Grades one class without a disturbance, then again with as many kills, each at a random moment and followed by the same command,
and prints how many came while it was at work, and whether the tables are the same.
"""

import tempfile
from pathlib import Path

from bugzoo.instructor import Assignment, prove, write
from tests.benchmarks import report
from tests.instructor.conftest import FAULTS, TITLE
from tests.instructor.test_class import hand_in_class
from tests.instructor.test_same_table import killed, table


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("--kills", type=int, default=50)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        week, folder = Path(place) / "week_3", Path(place) / "submitted"
        write(prove(Assignment("mlp", FAULTS, seed=7, title=TITLE)), week)
        hand_in_class(week, folder)
        tables, hits, left = [], 0, options.kills
        out = Path(place) / "out.json"

        def once(name: str, kills: int) -> int:
            given = [folder, "--assignment", week, "--results", Path(place) / name, "--json", out]
            hit = killed(given, kills, len(tables))
            tables.append(table(out))
            return hit

        once("quiet", 0)
        while left > 0:  # a class is soon graded: ten kills each
            hits += once(f"killed_{left}", min(10, left))
            left -= 10
    same = all(one == tables[0] for one in tables)
    print(f"{options.kills} kills, {hits} of them at work; {len(tables) - 1} classes; the same table: {same}")
    if options.save:
        report.save("kills", {"kills": options.kills, "at_work": hits, "classes": len(tables) - 1, "same_table": same})


if __name__ == "__main__":
    main()
