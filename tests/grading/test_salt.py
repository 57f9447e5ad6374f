"""The salt of the grader's draws: where it comes from, what it changes, and what stays as it is without one."""

import stat
import threading
from pathlib import Path

import numpy as np
import pytest

from bugzoo.grading import __main__ as of_a_cell
from bugzoo.grading import baseline, evaluation, reference, salt
from bugzoo.grading.exercises import load
from bugzoo.running import sandbox
from bugzoo.scenario import Scenario
from tests.grading.attempt import must_fail, must_pass
from tests.grading.tricks import BROKEN, MENDED
from tests.sampling import only_in_prove

REVIEWS = Scenario("sequence_classifier", size="tiny")
TEXT = Scenario("mini_transformer", size="tiny")


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A machine that has drawn no salt yet."""
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "data"))
    monkeypatch.delenv(salt.VARIABLE)
    return tmp_path / "data" / salt.FILE


def drawn(scenario: Scenario, secret: str) -> list[np.ndarray]:
    with salt.used(secret):
        return list(reference.questions(scenario))


def equal(one: list[np.ndarray], other: list[np.ndarray]) -> bool:
    return all(np.array_equal(left, right) for left, right in zip(one, other, strict=True))


@pytest.mark.parametrize("scenario", [REVIEWS, TEXT], ids=["reviews", "windows of text"])
def test_each_salt_draws_other_examples_and_none_draws_those_of_the_proofs(scenario, sandboxed):
    names = reference.space(reference.healthy_text(scenario), scenario.program)
    usual = evaluation._work_out("held_out", names, scenario.program, scenario.seed + evaluation.SHIFT)
    assert equal(drawn(scenario, ""), [np.asarray(array) for array in usual])
    assert equal(drawn(scenario, "one"), drawn(scenario, "one"))
    assert not equal(drawn(scenario, "one"), drawn(scenario, "")) and not equal(
        drawn(scenario, "one"), drawn(scenario, "two")
    )
    other = Scenario(scenario.program, size="tiny", seed=1)
    assert not equal(drawn(other, "one"), drawn(scenario, "one"))


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_the_healthy_twin_is_measured_on_the_same_draw(sandboxed, tmp_path, monkeypatch):
    monkeypatch.setenv("BUGZOO_CACHE", str(tmp_path))
    twins = {}
    for secret in ("", "one", ""):
        with salt.used(secret):
            twins.setdefault(secret, []).append(baseline.twin(REVIEWS))
    (first, again), (salted,) = twins[""], twins["one"]
    assert first == again and first.losses == salted.losses and first.loss != salted.loss


@pytest.mark.slow
def test_a_repair_passes_and_the_fault_fails_under_a_salt(sandboxed):
    with salt.used("one"):
        must_pass(MENDED)
        must_fail(BROKEN)


def test_a_machine_draws_its_salt_once_and_keeps_it_from_others(place):
    first = salt.drawn()
    assert len(first) == 32 and place.read_text().strip() == first == salt.drawn()
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    salt._kept.cache_clear()
    assert salt.drawn() == first, "another process reads it"
    place.unlink()
    salt._kept.cache_clear()
    assert salt.drawn() != first


def test_a_salt_that_cannot_be_kept_lasts_for_this_process(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.delenv(salt.VARIABLE)
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "file" / "data"))
    assert salt.drawn() and salt.drawn() == salt.drawn()


def test_the_variable_replaces_it(place, monkeypatch):
    monkeypatch.setenv(salt.VARIABLE, "fixed")
    assert salt.drawn() == "fixed" and not place.exists() and salt.derived("week 3") not in ("", "fixed")
    monkeypatch.setenv(salt.VARIABLE, "")
    assert salt.drawn() == salt.derived("week 3") == ""


def test_there_is_none_without_a_sandbox(monkeypatch):
    with salt.used("one"):
        monkeypatch.setattr(sandbox, "missing", lambda: "")
        assert salt.current() == "one" and 0 < salt.number() < 2**60
        monkeypatch.setattr(sandbox, "missing", lambda: "no namespaces")
        assert salt.current() == "" and salt.number() == 0


def test_it_holds_within_its_block_and_its_thread(sandboxed):
    salts = []
    with salt.used("one"):
        with salt.used("two"):
            salts.append(salt.current())
        other = threading.Thread(target=lambda: salts.append(salt.current()))
        other.start()
        other.join()
        salts.append(salt.current())
    assert [*salts, salt.current()] == ["two", "", "one", ""]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["repair", only_in_prove("try")])
def test_a_cell_is_graded_with_the_salt_of_its_machine(kind, place, monkeypatch, sandboxed):
    salts = []
    questions = reference.questions

    def noted(scenario):
        salts.append(salt.current())
        return questions(scenario)

    monkeypatch.setattr(reference, "questions", noted)
    source = load("04_flat_loss").handed_out + "\n1 / 0\n"
    of_a_cell.answer("04_flat_loss", {"kind": kind, "source": source})
    assert set(salts) == {place.read_text().strip()}


def test_the_code_of_the_twin_is_followed_once_for_the_same_files(tmp_path, monkeypatch):
    monkeypatch.setenv("BUGZOO_CACHE", str(tmp_path))
    followed = []
    monkeypatch.setattr(baseline, "code_of", lambda *roots: followed.append(roots) or f"code {len(followed)}")
    codes = []
    for files in ("as now", "as now", "another"):
        monkeypatch.setattr(baseline, "of_files", lambda files=files: files)
        codes.append(baseline._code.__wrapped__())
    assert codes == ["code 1", "code 1", "code 2"] and len(followed) == 2
