"""The page of a checkup: everything in one file, nothing of it from elsewhere, and a script's text stays text."""

import re

import pytest

from bugzoo.diagnostics.checkup import Measured, checkup
from bugzoo.pages.report import page
from bugzoo.proving.next_test import next_test

TRAIN = """\
import torch
from torch import nn
torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2), nn.Softmax(-1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
said = "<script>alert(1)</script>"
for rows in torch.arange(256).repeat(3).split(32):
    loss = nn.functional.cross_entropy(net(x[rows]), y[rows])  # <b> & co
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "train.py"
    path.write_text(TRAIN)
    return checkup(path, seconds=60, most_reruns=0)


@pytest.fixture(scope="module")
def text(report):
    return page(report, {"loss/double_softmax": next_test("loss/double_softmax")})


def test_it_holds_what_the_report_says(report, text):
    assert report.suspects[0].cause == "loss/double_softmax"
    for part in (
        "Something is wrong",
        "1. loss/double_softmax",
        "next test",
        "Not checked, and why",
        "The run",
    ):
        assert part in text
    assert all(item["instrument"] in text for item in report.not_checked)
    assert text.count("<svg") == 1 + sum(verdict.fired for verdict in report.verdicts)


def test_the_suspects_line_is_shown_and_marked_by_more_than_its_colour(report, text):
    line = report.suspects[0].line
    (marked,) = re.findall(r"<span class=at>(.*?)</span>", text)[:1]
    assert marked.split() == [str(line), "&gt;", *marked.split()[2:]] and "oftmax" in marked


def test_nothing_comes_from_elsewhere(text):
    links = re.findall(r'<a href="https://[^"<>]*">', text)  # to the documentation: followed by a click only
    assert len(links) == 1 and "CrossEntropyLoss" in links[0]
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!\#)|@import|url\((?!#)""", text.replace(links[0], ""))
    assert "default-src 'none'" in text and "<script" not in text


def test_it_is_made_for_a_dark_screen_as_well_and_for_who_does_not_see_the_curve(text):
    assert "prefers-color-scheme: dark" in text
    assert re.search(r'role="img" aria-label="The loss starts at [\d.]+', text)


def test_a_script_that_was_not_judged_has_a_page(tmp_path):
    path = tmp_path / "hello.py"
    path.write_text("print('hello')\n")
    text = page(checkup(path, most_reruns=0), {})
    assert "Not judged" in text and "no optimizer step" in text and "<svg" not in text


MASKS = """\
import torch
torch.manual_seed(0)
x = torch.randn(64, 4)
masks = (x[:, :1] > 0) * 255.0
net = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
for step in range(40):
    loss = torch.nn.functional.binary_cross_entropy_with_logits(net(x), masks)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_a_demand_that_is_a_suspect_of_its_own_and_a_reading_have_their_place(tmp_path):
    path = tmp_path / "masks.py"
    path.write_text(MASKS)
    report = checkup(path, most_reruns=0)
    report.readings.append(Measured("clip_rate", "clipping cuts 46% & more", ("clipping/clipped_by_value",)))
    text = page(report, {})
    assert "1. contracts/bce_target" in text and "values from 0 to 255" in text and "&gt; masks = (x" in text
    assert "Also measured, and too little to name a cause" in text and "Clipping cuts 46% &amp; more." in text
    report.suspects.clear()
    report.outcome = "nothing"
    assert "No cause named" in page(report, {})
