"""Time from Run to the first point on the plot, kernel warm, and the time of a whole lab run, healthy and broken.

    python -m tests.benchmarks.first_point [--repeats 5] [--threads 1] [--save]

First point: from `start()` to the first point handed to the front end, with widgets on and the twin not known from
before, so that the first point is the twin's. A browser adds one message (about 10 ms on the same machine).
Lab run: the healthy twin and the broken program, one after the other, as fast as they go (a view that people look at is
slowed down to 60 steps a second on purpose). Bars: 1 s and 10 s.
"""

import os
import statistics
import time

from tests.benchmarks import report

os.environ["BUGZOO_WIDGETS"] = "1"
CASES = {
    "mlp": "numerics/log_at_step?step=50&eps=0",
    "digits_cnn": "loop/stale_gradients",
    "sentiment_lstm": "loss/double_softmax",
    "sequence_classifier": "attention/mask_after_softmax",
    "mini_transformer": "attention/causal_mask_missing",
}
"""Program -> a fault that runs to the end on it."""


def measure(program: str, fault: str, repeats: int) -> tuple[list[float], list[float]]:
    """(seconds to the first point, seconds of a whole run), `repeats` of each, after one run that warms the kernel up."""
    from bugzoo import Scenario, lab
    from bugzoo.lab import healthy_twin
    from bugzoo.lab.view_widgets import ViewWidgets

    view = lab.LiveView(Scenario(program, (fault,)), pace=0)
    view.widgets = ViewWidgets(view)
    points, whole = [], []
    for _ in range(repeats + 1):
        healthy_twin._KEPT.clear()
        begin = time.perf_counter()
        view.start()
        view.wait()
        whole.append(time.perf_counter() - begin)
        assert view.result.trace.outcome in ("finished", "non_finite") and view.healthy is not None
        points.append(view.first_point_seconds)
    return points[1:], whole[1:]


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    import torch

    torch.set_num_threads(options.threads)
    rows = {}
    print(f"{'':20} {'first point':^21}  {'healthy + broken':^21}")
    print(f"{'program':20} {'median':>10} {'worst':>10}  {'median':>10} {'worst':>10}")
    for program, fault in CASES.items():
        points, whole = measure(program, fault, options.repeats)
        row = rows[program] = {
            "first_point_median_s": round(statistics.median(points), 3), "first_point_worst_s": round(max(points), 3),
            "run_median_s": round(statistics.median(whole), 2), "run_worst_s": round(max(whole), 2),
        }  # fmt: skip
        first, run = (
            (row["first_point_median_s"], row["first_point_worst_s"]),
            (row["run_median_s"], row["run_worst_s"]),
        )
        print(f"{program:20} {first[0]:8.3f} s {first[1]:8.3f} s  {run[0]:8.2f} s {run[1]:8.2f} s", flush=True)
    print(f"{'bar':20} {'1 s':>10} {'':>10}  {'10 s':>10}")
    if options.save:
        report.save("first_point", {"bars": {"first_point_s": 1.0, "run_s": 10.0}, "programs": rows})


if __name__ == "__main__":
    main()
