"""What part of a repair earns: the curve, the weights, and who says them."""

from pathlib import Path

import pytest

from bugzoo.cli.asked import credit
from bugzoo.errors import UserError
from bugzoo.grading.model import Result
from bugzoo.instructor import Assignment, findings, key, pools
from bugzoo.instructor.credit import Credit

IDS = ("loop/stale_gradients", "loss/double_softmax", "data/shuffled_labels")


def earned(of: Credit, *repaired: str, ids: tuple[str, ...] = IDS[:2]) -> float:
    return of.share(Result("wrong", 0.3, repaired=repaired), ids)


def test_the_usual_is_what_it_was() -> None:
    usual = Credit()
    assert earned(usual, IDS[0]) == earned(usual, IDS[1]) == 0.3
    assert earned(usual, IDS[0], ids=IDS) == 0.2 and earned(usual, *IDS[:2], ids=IDS) == 0.4
    assert [usual.share(Result("wrong", share), IDS) for share in (0.0, 1.0)] == [0.0, 1.0]


def test_a_curve_and_weights() -> None:
    assert earned(Credit((0.0,)), IDS[0]) == 0.0
    steep = Credit((0.1, 0.6))
    assert earned(steep, IDS[0]) == 0.1
    assert earned(steep, IDS[0], ids=IDS) == pytest.approx(0.0667) and earned(steep, *IDS[:2], ids=IDS) == 0.2667
    heavy = Credit(weights=(("loss", 3.0),))
    assert earned(heavy, IDS[0]) == 0.15 and earned(heavy, IDS[1]) == 0.45
    own = Credit(weights=(("loss", 3.0), ("loss/double_softmax", 1.0)))
    assert earned(own, IDS[1]) == 0.3, "a fault's own weight stands above its family's"


def test_findings_weigh_as_repairs_do() -> None:
    made = Assignment("mlp", IDS[:2], credit=Credit(weights=(("loss", 3.0),)))
    right = key.answers(made)
    records = [{"cause": one.cause, "place": one.places[0][0], "evidence": one.evidence[:1]} for one in right]
    shares = [findings.grade(right, [record], 4.0, made.credit).points for record in records]
    assert shares == [1.0, 3.0] and findings.grade(right, records, 4.0, made.credit).points == 4.0
    assert [findings.grade(right, [record], 4.0).points for record in records] == [2.0, 2.0]


@pytest.mark.parametrize(
    ("partial", "weights", "said"),
    [
        (1, None, r"partial = \[1.0\] is not allowed; it is a share from 0 to below 1"),
        (-0.1, None, "is not allowed"),
        ([0.5, 0.2], None, "that do not fall"),
        ([], None, "is not allowed"),
        (float("nan"), None, "is not allowed"),
        (True, None, "it is a number or a list of numbers"),
        ("much", None, "it is a number or a list of numbers"),
        (None, {"los": 2}, "los.*loss"),
        (None, {"loss": 0}, "The weight 0 of loss is not allowed; it is a number above 0, at most 100"),
        (None, {"loss": "2"}, "it is a table of numbers"),
        (None, [2], "it is a table of numbers"),
    ],
)
def test_what_is_refused(partial: object, weights: object, said: str) -> None:
    with pytest.raises(UserError, match=said):
        Credit.of(partial, weights)


def test_options_stand_above_the_file(tmp_path: Path) -> None:
    (tmp_path / "pool.toml").write_text("partial = [0.1, 0.6]\nweights = { loss = 2 }\ntogether = 2\nlevels = [3]\n")
    pool = pools.read(tmp_path / "pool.toml")
    assert pool.credit == Credit((0.1, 0.6), (("loss", 2.0),))
    assert credit(None, None, pool.credit) is pool.credit and credit(None, None, None) is None
    assert credit("0.5", ["loop=3"], pool.credit) == Credit((0.5,), (("loss", 2.0), ("loop", 3.0)))
    changed = pools.with_options(pool, ["loop"], [], None, Credit((0.0,)))
    assert (changed.families, changed.levels, changed.together, changed.credit) == (("loop",), (3,), 2, Credit((0.0,)))
    assert pools.with_options(None, [], [2], 3, None) == pools.Pool(levels=(2,), together=3)
    for words, said in ((("half", None), "--partial 'half' is not allowed"), ((None, ["loop"]), "--weight 'loop'")):
        with pytest.raises(UserError, match=said):
            credit(*words, None)
    for given, said in (((["lop"], [], None), "lop"), (([], [6], None), "--level 6"), (([], [], 0), "--together 0")):
        with pytest.raises(UserError, match=said):
            pools.with_options(None, *given, None)


def test_the_key_keeps_it(tmp_path: Path) -> None:
    made = Assignment("mlp", IDS[:1], dialect="7", how_many=4, credit=Credit((0.1, 0.6), (("loop", 2.0),)))
    found = key.to_json(made, [], 20.0)
    assert (found["dialect"], found["how_many"]) == ("7", 4) and Credit.of(**found["credit"]) == made.credit
    assert made.source != Assignment("mlp", IDS[:1]).source
