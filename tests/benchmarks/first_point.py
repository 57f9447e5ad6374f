"""Time from Run to the first point on the plot, kernel warm. `python tests/benchmarks/first_point.py [--json FILE]`

Measured in the kernel, from `start()` to the first point handed to the front end, with widgets on and without the twin
known from before, so the first point is the twin's. A browser adds one message (about 10 ms on the same machine).
"""

import argparse
import datetime
import json
import os
import platform
import statistics
import time
from pathlib import Path

os.environ["BUGZOO_WIDGETS"] = "1"
PROGRAMS = ("mlp", "digits_cnn", "sentiment_lstm", "mini_transformer")


def measure(program: str, repeats: int) -> list[float]:
    """Seconds to the first point, `repeats` times, after one run that warms the kernel up."""
    from bugzoo import Scenario, lab
    from bugzoo.lab import twin
    from bugzoo.lab.face import Face

    view = lab.LiveView(Scenario(program), pace=0)
    view.widgets = Face(view)
    seconds = []
    for _ in range(repeats + 1):
        twin._KEPT.clear()
        view.start()
        while view.first_point_seconds is None and view.state != "ended":
            time.sleep(0.001)
        seconds.append(view.first_point_seconds)
        view.stop()
        view.wait()
    return [value for value in seconds[1:] if value is not None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the numbers to this file")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    import torch

    rows = {}
    print(f"{'program':18} {'median':>8} {'worst':>8}   of {options.repeats}, bar 1 s")
    for program in PROGRAMS:
        seconds = measure(program, options.repeats)
        rows[program] = {"median_s": round(statistics.median(seconds), 3), "worst_s": round(max(seconds), 3)}
        print(f"{program:18} {rows[program]['median_s']:6.3f} s {rows[program]['worst_s']:6.3f} s")
    if options.json:
        where = {"torch": torch.__version__, "python": platform.python_version(), "cores": os.cpu_count()}
        result = {"date": str(datetime.date.today()), "environment": where, "bar_s": 1.0, "first_point": rows}
        options.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
