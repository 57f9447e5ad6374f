"""Does `level` in the fault files agree with measured difficulty? `python -m tests.benchmarks.levels` prints the order.

Reads the ledger and runs nothing.
"""

from bugzoo.proving.difficulty import agreement, difficulties


def main() -> None:
    found = difficulties()
    print(f"{'fault':44} level  difficulty  effect (sd)  seen  instruments  silenced by")
    for one in found:
        seen = "-" if one.seen is None else f"{one.seen:.1f}"
        quiet = "-" if one.quiet is None else f"{one.quiet:.0%}"
        print(
            f"{one.fault:44} {one.level:5}  {one.score:10.2f}  {one.effect:11.3g}  {seen:>4}  {one.instruments:11.1f}  "
            f"{quiet:>11}"
        )
    rho, p = agreement(found)
    print(f"{len(found)} faults; Spearman's rank correlation of level and difficulty: {rho:.2f} (p = {p:.2g})")


if __name__ == "__main__":
    main()
