"""Relatives stand close by in a file that is sorted by something that is no label, and anywhere in one that is mixed."""

import torch

from bugzoo.plots import relatives


def made(mixed: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """200 rows of ten writers, two classes; a row is its writer's hand and a little noise."""
    dice = torch.Generator().manual_seed(0)
    hands = torch.randn(10, 6, generator=dice).repeat_interleave(20, 0)
    rows, labels = hands + 0.1 * torch.randn(200, 6, generator=dice), torch.arange(200) % 2
    order = torch.randperm(200, generator=dice) if mixed else torch.arange(200)
    return rows[order], labels[order]


def test_relatives_stand_close_by_where_the_file_is_sorted_by_them() -> None:
    edges = [0, 20, 200]
    close, expected = relatives.shares(*relatives.measure(*made(mixed=False)), edges)
    assert close[0] == 1 and expected[0] < 0.25 and abs(expected.sum() - 1) < 1e-9
    close, expected = relatives.shares(*relatives.measure(*made(mixed=True)), edges)
    assert abs(close[0] - expected[0]) < 0.1


def test_told_apart_without_colour() -> None:
    figure = relatives.picture(*made(mixed=False), width=20)
    assert len(figure.axes[0].patches) > 5 and figure.patch.get_alpha() == 0
    assert [one.get_linestyle() for one in figure.axes[0].patches if hasattr(one, "get_data")] == ["--"]
