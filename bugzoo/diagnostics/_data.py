"""The data of a run: the DataLoader of its training loop, and the rows of a dataset."""

import ast
from typing import Any

import torch
from torch.utils.data import DataLoader

from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.rerun.model import variables
from bugzoo.running.result import Run
from bugzoo.syntax import called, callees, last_name, parse, reached


def training_loader(run: Run) -> Any:
    """The DataLoader of the training loop, None if the loop reads something else."""
    names, tree = variables(run), parse(run.source)
    own = callees(tree.body)
    for loop in ast.walk(tree):
        if isinstance(loop, ast.For) and "backward" in reached(called(loop), own):
            for node in ast.walk(loop.iter):
                if isinstance(node, ast.Name | ast.Attribute) and isinstance(names.get(last_name(node)), DataLoader):
                    return names[last_name(node)]
    return None


def rows(dataset: Any, most: int = 4000) -> tuple[list[bytes], list[float]]:
    """(inputs as bytes, labels) of a map-style dataset's samples. Padding at the end of token sequences is stripped.

    Raises NotApplicable for a dataset that gives no pairs of tensors.
    """
    inputs, labels = [], []
    try:
        for index in range(min(len(dataset), most)):
            sample = dataset[index]
            x, y = sample[0], sample[1]
            array = torch.as_tensor(x).detach().cpu().contiguous().numpy()
            inputs.append(array.tobytes() if array.dtype.kind == "f" else array.tobytes().rstrip(b"\0"))
            labels.append(float(y))
    except Exception as error:
        raise NotApplicable(
            f"the dataset gives no pairs of numbers, input and label ({type(error).__name__})"
        ) from None
    return inputs, labels
