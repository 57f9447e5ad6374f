"""What is forked must be able to use a GPU: on a machine without one, only whether torch still allows it is seen."""

from bugzoo.running import Job, run_worker

ASKS = """
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
print("kept away:", torch.cuda._is_in_bad_fork())
dist.destroy_process_group()
"""


def test_ranks_may_use_a_gpu():
    """The launcher asked the CUDA runtime whether there is one, which poisons every fork: no rank ever ran on a GPU."""
    run = run_worker(Job(ASKS, ranks=2, env={"CUDA_VISIBLE_DEVICES": ""}))
    assert run.outcome == "finished", run.trace.error
    assert run.stdout.count("kept away: False") == 2
