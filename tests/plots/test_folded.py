"""Epochs that are laid on each other: what comes back is told from noise."""

import numpy as np
import pytest

from bugzoo.plots import folded


def test_epochs_that_are_alike_are_told_from_noise() -> None:
    place, noise = np.sin(np.arange(20)), np.random.default_rng(0).normal(size=(6, 20))
    falling = np.repeat(np.arange(6.0)[::-1], 20)
    waves = np.tile(place, 6) + falling + 0.1 * noise.ravel()
    epochs, alike = folded.measure(waves, 20)
    assert epochs.shape == (5, 20) and abs(epochs.mean(axis=1)).max() < 1e-12 and alike > 0.95
    assert abs(folded.measure(noise.ravel() + falling, 20)[1]) < 0.3
    assert folded.measure(np.append(waves, 9.0), 20)[1] == alike, "a rest is left out"
    with pytest.raises(ValueError, match="50 losses are fewer than three epochs of 20 steps"):
        folded.measure(waves[:50], 20)
    figure = folded.picture({"waves": waves, "noise": noise.ravel()}, 20)
    assert [ax.lines[-1].get_linestyle() for ax in figure.axes] == ["-", "--"] and figure.patch.get_alpha() == 0
