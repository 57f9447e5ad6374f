"""Numbers are kept instrument by instrument: what is run again is what changed, and no more."""

import pytest

from bugzoo.proving import code, measured
from bugzoo.running import Job, Limits

JOBS = [(Job("a"), {"loss_curve", "crash"}), (Job("b"), {"crash"})]


def look(wanted=JOBS, **more):
    return measured.measured(wanted, **more)


def changed(monkeypatch: pytest.MonkeyPatch, which: str, *names: str) -> None:
    """As if the code of these instruments were another."""
    real = getattr(code, which)
    monkeypatch.setattr(measured, which, lambda name: real(name) + ("!" if name in names else ""), raising=False)


def test_the_second_time_costs_nothing(runs) -> None:
    calls: list[tuple[int, int]] = []
    first = look(progress=lambda *now: calls.append(now))
    assert first[1:] == (2, 2) and calls == [(0, 2), (1, 2), (2, 2)]
    assert look() == (first[0], 2, 0) and len(runs.asked) == 2
    assert set(first[0][0]["numbers"]) == {"loss_curve", "crash"}


def test_one_job_is_run_once_for_all_who_ask(runs) -> None:
    results, jobs, ran = look([*JOBS, (Job("a"), {"mode_watch"})])
    assert (jobs, ran) == (2, 2) and ("a", ("crash", "loss_curve", "mode_watch")) in runs.asked
    assert [set(entry["numbers"]) for entry in results] == [{"loss_curve", "crash"}, {"crash"}, {"mode_watch"}]


def test_another_instrument_is_measured_alone(runs) -> None:
    look()
    results, _, ran = look([(Job("a"), {"loss_curve", "crash", "mode_watch"}), JOBS[1]])
    assert ran == 1 and runs.asked[2:] == [("a", ("mode_watch",))]
    assert {name: numbers["seen"] > 2 for name, numbers in results[0]["numbers"].items()} == {
        "crash": False, "loss_curve": False, "mode_watch": True
    }  # fmt: skip


def test_a_measure_that_changed_is_measured_again(runs, monkeypatch: pytest.MonkeyPatch) -> None:
    look()
    changed(monkeypatch, "measuring", "loss_curve")
    assert look()[2] == 1 and runs.asked[2:] == [("a", ("loss_curve",))]
    assert look()[2] == 0


def test_a_judge_that_changed_costs_no_run(runs, monkeypatch: pytest.MonkeyPatch) -> None:
    look()
    changed(monkeypatch, "judging", "loss_curve", "crash")
    assert look()[2] == 0


def test_what_every_run_needs(runs, monkeypatch: pytest.MonkeyPatch) -> None:
    look()
    monkeypatch.setattr(measured, "core", lambda: "another watch")
    assert look()[2] == 2


@pytest.mark.parametrize(
    "other", [Job("a "), Job("a", limits=Limits(seconds=9)), Job("a", ranks=2), Job("a", threads=2)]
)
def test_another_job(runs, other: Job) -> None:
    look()
    assert look([(other, {"crash"})])[2] == 1


def test_fresh_believes_nothing(runs) -> None:
    look()
    assert look(fresh=True)[2] == 2


def test_a_trouble_of_this_machine_is_not_kept(runs) -> None:
    runs.trouble = "no more processes"
    look()
    runs.trouble = ""
    assert look()[2] == 2 and look()[2] == 0


def test_ctrl_c_loses_only_what_was_running(runs) -> None:
    def interrupt(done: int, _: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        look(progress=interrupt)
    assert look()[2] <= 1


def test_a_spoilt_file_is_measured_again(runs, tmp_path) -> None:
    look()
    for file in (tmp_path / "cache").glob("run-*.json"):
        file.write_text(file.read_text()[:20])
    assert look()[2] == 2
