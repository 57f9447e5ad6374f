"""Are variants variants? Draws a class from a pool and compares what everybody was handed and what would repair it.

    python -m tests.benchmarks.variants [--students 300] [--sample 12] [--cases 12] [--save]

Prints how many texts and how many repairs (the lines that the right repair changes, as they stand in the notebook) are
different ones, how far the difficulties lie apart, and, of a sample graded by real runs: whether the own right repair passes,
whether the program as handed out fails, and what a neighbour's right repair earns that was handed in with its marks removed.
"""

import difflib
import random
from collections import Counter
from statistics import mean, pstdev

from bugzoo.grading.grade import grade
from bugzoo.instructor import pools, roster
from bugzoo.instructor.model import GRADING_SEEDS, Assignment
from bugzoo.instructor.students import _draw
from bugzoo.running.pool import run_all
from tests.benchmarks import report

SECRET = "a secret of the benchmark's own"


def repair_of(one: Assignment) -> str:
    """The changed lines, as anybody would copy them."""
    pair = one.source.splitlines(), one.solution.splitlines()
    return "\n".join(
        line for line in difflib.unified_diff(*pair, n=0, lineterm="") if not line.startswith(("---", "+++", "@@"))
    )


def points(asked: tuple[str, Assignment]) -> float:
    """What a text earns as somebody's repair."""
    text, whose = asked
    return grade(text, whose.scenario, seeds=GRADING_SEEDS, seconds=120.0).share


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--cases", type=int, default=12)
    parser.add_argument("--sample", type=int, default=12)
    options = parser.parse_args()
    cases = pools.choose(pools.Pool(title="Bench", cases=options.cases), SECRET, "bench")
    base = Assignment(cases[0].program, cases[0].faults, title="Bench")
    class_of = roster.numbered(options.students)
    own = [_draw(base, (), student, SECRET, 0, cases).assignment for student in class_of]
    repairs = [repair_of(one) for one in own]
    same = Counter(repairs)
    pairs = sum(count * (count - 1) // 2 for count in same.values())
    hard = [one.difficulty for one in cases]
    dealt = Counter((one.program, one.faults) for one in own)
    used = Counter(name for one in own for name in one.dialects)
    numbers = {
        "students": len(own),
        "cases": len(cases),
        "students_a_case": [min(dealt.values()), max(dealt.values())],
        "different_texts": len({one.source for one in own}),
        "different_repairs": len(same),
        "pairs_with_the_same_repair": pairs,
        "of_pairs": len(own) * (len(own) - 1) // 2,
        "difficulty": {"lowest": min(hard), "mean": mean(hard), "highest": max(hard), "deviation": pstdev(hard)},
        "dialects_used": len(used),
        "dialects_a_text": mean(len(one.dialects) for one in own),
    }
    for name, value in numbers.items():
        print(f"{name.replace('_', ' '):28s} {value}", flush=True)
    some = random.Random(0).sample(range(len(own)), min(options.sample, len(own)))
    asked = [
        *((own[i].solution, own[i]) for i in some),
        *((own[i].source, own[i]) for i in some),
        *((own[j].solution, own[i]) for i, j in zip(some, [*some[1:], some[0]], strict=True)),
    ]
    found = run_all(points, asked, workers=2)
    count = len(some)
    graded = {
        "own_repair_passes": sum(share == 1 for share in found[:count]),
        "as_handed_out_earns": sum(found[count : 2 * count]),
        "neighbours_repair_passes": sum(share == 1 for share in found[2 * count :]),
        "of": count,
    }
    for name, value in graded.items():
        print(f"{name.replace('_', ' '):28s} {value}", flush=True)
    if options.save:
        report.save("variants", numbers | graded)


if __name__ == "__main__":
    main()
