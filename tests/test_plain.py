"""One way to JSON: any reader takes what comes out, and Python reads back what went in."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from bugzoo.plain import plain

CASES = {
    "not a number": (math.nan, "NaN"),
    "infinite": ([math.inf, -math.inf], ["Infinity", "-Infinity"]),
    "numbers of numpy": ({"a": np.float32("nan"), "b": np.int64(3)}, {"a": "NaN", "b": 3}),
    "arrays of numpy": (np.array([1.5, np.inf]), [1.5, "Infinity"]),
    "of torch": (torch.tensor([[1.0, math.nan]]), [[1.0, "NaN"]]),
    "keys and sets": ({1: {2}, None: (True,)}, {"1": [2], "None": [True]}),
    "a path": (Path("a") / "b", "a/b"),
    "nothing": (None, None),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_json_has_no_word_for(name):
    value, expected = CASES[name]
    assert plain(value) == expected
    text = json.dumps(plain(value), allow_nan=False)
    assert json.loads(text) == expected


def test_the_texts_are_numbers_to_python():
    assert math.isnan(float(plain(math.nan))) and float(plain(-math.inf)) == -math.inf


def test_between_our_own_processes_they_stay_numbers():
    answer = json.loads(json.dumps(plain({"loss": [math.nan, np.float64("inf"), True, None]}, finite=False)))
    assert math.isnan(answer["loss"][0]) and answer["loss"][1:] == [math.inf, True, None]
    assert isinstance(answer["loss"][2], bool)
