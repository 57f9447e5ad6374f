"""The page of a checkup: everything in one file, nothing of it from elsewhere, and a script's text stays text."""

import re

import pytest

from bugzoo.diagnostics.checkup import checkup
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
