"""The texts of a history: what each commit does, and that the fault hides behind a rewriting. Nothing is run here."""

import pytest

from bugzoo.errors import UserError
from bugzoo.incidents import history, messages, repository, trial
from bugzoo.incidents.trial import unsteady
from bugzoo.scenario import Scenario

CASE = Scenario("mlp", ("loop/stale_gradients",), seed=3)


@pytest.fixture(scope="module", params=[12, 20, 40])
def made(request) -> history.History:
    return history.write(CASE, request.param)


def test_it_has_as_many_commits_as_were_asked_for_and_most_are_rewritings(made):
    kinds = [one.kind for one in made.commits]
    assert len(kinds) in (12, 20, 40) and kinds[0] == "first"
    assert kinds.count("fault") == kinds.count("slip") == kinds.count("mended") == 1
    assert kinds.count("dialect") + 1 > len(kinds) / 2


def test_every_commit_changes_something(made):
    for before, after in zip(made.commits, made.commits[1:], strict=False):
        assert after.files and (after.script != before.script) == (history.SCRIPT in after.files), after.message


def test_the_fault_comes_with_a_rewriting_and_stays(made):
    number = made.fault
    assert "zero_grad" in made.commits[number - 1].script
    assert all("zero_grad" not in one.script for one in made.commits[number:] if one.kind != "slip")
    changed = sum(line[:1] in "+-" for line in made.diff()[2:])
    before = made.commits[number - 1].script.splitlines()
    assert changed == 1 and before != made.healthy.splitlines(), "the commit holds a rewriting as well"
    assert made.commits[number].message in [line for lines in messages.MESSAGES.values() for line in lines]


def test_what_does_not_run_stands_neither_before_the_fault_nor_at_it(made):
    assert made.slip not in (made.fault, made.fault - 1) and made.slip + 1 != made.fault


def test_one_seed_gives_one_history_and_another_seed_another():
    again = history.write(CASE, 20)
    assert again.commits == history.write(Scenario("mlp", ("loop/stale_gradients",), seed=3), 20).commits
    assert again.commits != history.write(Scenario("mlp", ("loop/stale_gradients",), seed=4), 20).commits


def test_hashes_are_the_same_everywhere(tmp_path, monkeypatch):
    commits = history.write(CASE, 12).commits
    found = []
    for name, zone in (("a", "UTC"), ("b", "Asia/Tokyo")):
        monkeypatch.setenv("TZ", zone)
        monkeypatch.setenv("GIT_AUTHOR_NAME", name)
        repository.begin(tmp_path / name)
        found.append([repository.commit(tmp_path / name, c.files, c.message, n) for n, c in enumerate(commits)])
    assert found[0] == found[1]


@pytest.mark.parametrize("count", [12, 13, 21])
def test_halving_asks_first_for_the_commit_that_does_not_run(count, tmp_path):
    made = history.write(CASE, count)
    folder = tmp_path / "repository"
    repository.begin(folder)
    hashes = [repository.commit(folder, one.files, one.message, n) for n, one in enumerate(made.commits)]
    repository.git(folder, "bisect", "start", "main", hashes[0])
    assert repository.resolved(folder, "HEAD") == hashes[made.slip]


@pytest.mark.parametrize("count", [11, 41, 0, -1])
def test_a_number_of_commits_that_there_is_not(count):
    with pytest.raises(UserError, match=r"from 12 to 40"):
        history.write(CASE, count)


def test_every_dialect_that_may_come_has_its_messages():
    from bugzoo import dialects

    assert set(dialects.in_sight()) <= set(messages.MESSAGES)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ([0.95, 0.94], [0.80, 0.81], False),
        ([0.95, 0.93], [0.94, 0.81], True),
        ([0.10, 0.16], [2.0, 2.1], True),
        ([1.0, 1.1], [float("nan")], False),
        ([1.0, 1.1], [None], False),
        ([None], [1.0], False),
    ],
)
def test_which_numbers_are_unsteady(before, after, said):
    assert unsteady(before, after) is said


@pytest.mark.parametrize("wrong", ["early", "late", "slip"])
def test_a_commit_that_is_not_what_its_place_says_makes_no_history(monkeypatch, wrong):
    """What the runs said is put there by hand: a healthy commit looks ill, an ill one healthy, the slip runs."""
    made = history.write(CASE, 12)
    slip, odd = made.commits[made.slip].script, {"early": 1, "late": 11, "slip": made.slip}[wrong]

    def said(script: str) -> tuple[str, dict[str, float]]:
        value = "skip" if script == slip else "good" if "zero_grad" in script else "bad"
        number = next((n for n, one in enumerate(made.commits) if one.script == script), None)
        if number == odd:
            value = {"early": "bad", "late": "good", "slip": "good"}[wrong]
        return value, {"loss": len(script) * (1.0 if "zero_grad" in script else 9.0)}

    monkeypatch.setattr(trial, "verdict", said)
    monkeypatch.setattr(trial, "unsteady", lambda before, after: True)
    with pytest.raises(trial.Unfit, match=f"commit {odd + 1} must be"):
        trial.tried(made)
