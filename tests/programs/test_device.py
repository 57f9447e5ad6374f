"""Every program takes its `device` seriously: on 'meta', where tensors have no numbers, it goes as far as its first number."""

import pytest

from bugzoo import programs
from bugzoo.running import Job, run_worker
from bugzoo.scenario import with_settings

FIRST = {
    "amp_transformer": "unsupported autocast device_type 'meta'",
    "sentiment_lstm": "Cannot copy out of meta tensor",  # lengths are wanted on the CPU
}
"""What stops it there before its first loss.item()."""
QUICK = ("mlp", "sequence_classifier")
ALONE = [name for name in programs.names() if programs.load(name).facts.get("ranks", 1) == 1]


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in ALONE]
)
def test_no_tensor_is_left_on_another_device(name):
    """A tensor that was made without its device would meet the others in an operation, and that one says so."""
    program = programs.load(name)
    text = with_settings(program.source, {**program.tiny, "device": "meta"}, name)
    run = run_worker(Job(text, file=f"{name}.py"))
    assert FIRST.get(name, "item() cannot be called on meta tensors") in run.trace.error["message"]
