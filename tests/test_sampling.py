"""A sampled test runs as many cases as it says, the same each time, and all of them where that is asked for."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import sampling

CASES = """import pytest

@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", [1, 2, 3, pytest.param(4, marks=pytest.mark.sampled(0))])
def test_some(case):
    pass

@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", range(40))
def test_many(case):
    pass

def test_one():
    pass
"""


class Collected:
    """The test items of a file as pytest collects them."""

    def __init__(self) -> None:
        self.items: list[pytest.Item] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.items = list(items)


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[pytest.Item]]:
    file = Path(tmp_path_factory.mktemp("sampled")) / "test_cases.py"
    file.write_text(CASES, encoding="utf-8")
    plugin = Collected()
    ini = file.with_name("pytest.ini")
    ini.write_text("[pytest]\nmarkers = sampled(n): as many\n", encoding="utf-8")
    code = pytest.main(
        ["--collect-only", "-q", "-c", str(ini), "-p", "no:cacheprovider", "-p", "no:nbval", str(file)],
        plugins=[plugin],
    )
    assert code == 0 and len(plugin.items) == 45
    yield plugin.items


def drawn(items: list[pytest.Item], monkeypatch: pytest.MonkeyPatch, seed: int) -> list[str]:
    monkeypatch.delenv(sampling.ALL, raising=False)
    monkeypatch.setenv(sampling.SEED, str(seed))
    chosen, left_out = sampling.split(items)
    assert len(chosen) + len(left_out) == len(items) and set(chosen).isdisjoint(left_out)
    assert chosen == [item for item in items if item in chosen], "in their order"
    return [item.name for item in chosen]


def test_as_many_as_it_says_others_with_another_seed(items, monkeypatch):
    first, same, other = (drawn(items, monkeypatch, seed) for seed in (1, 1, 2))
    assert len(first) == 6 and "test_one" in first
    assert first == same and first != other
    turns = {name for seed in range(200) for name in drawn(items, monkeypatch, seed)}
    assert turns == {item.name for item in items} - {"test_some[4]"}, "each has its turn, but the one of `make prove`"


def test_the_gate_draws_the_same_cases_every_time(items, monkeypatch):
    monkeypatch.delenv(sampling.ALL, raising=False)
    monkeypatch.delenv(sampling.SEED, raising=False)
    assert sampling.seed() == sampling.CHOSEN
    chosen = [item.name for item in sampling.split(items)[0]]
    assert chosen == drawn(items, monkeypatch, int(sampling.CHOSEN))


def test_a_new_case_changes_one_draw_at_most(items, monkeypatch):
    for seed in range(20):
        fewer, all_of_them = set(drawn(items[:-2], monkeypatch, seed)), set(drawn(items[:-1], monkeypatch, seed))
        assert len(all_of_them - fewer) <= 1


def test_all_where_that_is_asked_for_and_what_is_named(items, monkeypatch):
    monkeypatch.setenv(sampling.SEED, "1")
    monkeypatch.setenv(sampling.ALL, "all")
    assert sampling.split(items) == (items, [])
    monkeypatch.delenv(sampling.ALL)
    chosen, _ = sampling.split(items, [items[-2].nodeid.split("[")[0]])
    assert len(chosen) == 43
