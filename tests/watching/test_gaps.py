"""The arithmetic of `Gaps`, on a device that is played: events that pass when the work before them is done."""

import pytest
import torch

from bugzoo.watching import gaps
from bugzoo.watching.table import COLUMNS, NAN, Table

HERE = torch.device("cpu")


class Played:
    """A host clock that is moved by hand, and a device whose queue ends at `busy_until`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.busy_until = 100.0, 100.0
        monkeypatch.setattr(gaps, "_now", lambda: self.now)
        monkeypatch.setattr(gaps, "_mark", lambda device: Event(self))

    def launch(self, seconds: float) -> None:
        self.busy_until = max(self.busy_until, self.now) + seconds


class Event:
    def __init__(self, device: Played) -> None:
        self.device, self.at = device, max(device.now, device.busy_until)

    def query(self) -> bool:
        return self.device.now >= self.at

    def synchronize(self) -> None:
        self.device.now = max(self.device.now, self.at)

    def elapsed_time(self, other: "Event") -> float:
        return (other.at - self.at) * 1e3


@pytest.mark.parametrize(
    "kernels, item, loading, expected",
    [(0.5, True, 0.1, 100), (0.5, False, 0.1, 0), (0.5, False, 0.9, 400), (0.0, True, 0.3, 300)],
    ids=["item waits for kernels", "the host runs ahead", "data take longer than the kernels", "no kernels"],
)
def test_only_a_device_without_work_waits_for_data(monkeypatch, kernels, item, loading, expected):
    played, table = Played(monkeypatch), Table()
    meter, loads = gaps.Gaps(table), []
    meter.leave(HERE)
    for row in range(4):
        left = played.now
        if row and item:
            played.now = max(played.now, played.busy_until)
        played.now += loading
        meter.enter()
        data_ms = (played.now - left) * 1e3
        played.launch(kernels)
        table.append(tuple({"data_ms": data_ms, "step_ms": 1.0}.get(name, NAN) for name in COLUMNS))
        loads.append(data_ms)
        meter.close(row, True)
        meter.leave(HERE)
    meter.finish()
    moved = table.column("step_ms") - 1 + table.column("data_ms")
    assert moved.tolist() == pytest.approx(loads), "what is not a wait for data is a wait for the kernels"
    assert table.column("data_ms")[2:].tolist() == pytest.approx([expected] * 2)
