"""`torch.utils.data`: one dataset that several workers or loaders read."""

from types import CodeType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves
from torch.utils.data import Subset
from torch.utils.data.dataloader import _DatasetKind

from bugzoo.contracts.loaders import DATA
from bugzoo.contracts.model import PAGES, Call, Contract, Numbers
from bugzoo.contracts.place import is_users

_D = "torch.utils.data."
_ITER = _D + "DataLoader.__iter__"
_PAGE = PAGES + "data.html"
IMAGES = (
    "class Images(Dataset):\n    transform = staticmethod(lambda x: x)\n    def __len__(self): return 8\n"
    "    def __getitem__(self, index): return self.transform(index)\n"
    "images = Images()\ntrain, val = random_split(images, [6, 2])\n"
)
STAGED = (
    "class Images(Dataset):\n    stage = 0\n    def __init__(self): self.stage = 0\n    def __len__(self): return 2\n"
    "    def __getitem__(self, index): return self.stage\n"
    "images = Images()\nloader = DataLoader(images, num_workers=1, persistent_workers=True)\nfor epoch in range(2):\n"
)

FIRST = 4
"""Workers whose first batches are compared."""
SAMPLE = 4096
"""Numbers of a batch that are compared."""
_PLAIN = (int, float, str, bool, type(None))


def names_in(code: CodeType, space: dict[str, Any], owner: type, seen: set[CodeType]) -> set[str]:
    """Return the names in a function's code, and in the functions of the script that these name."""
    if code in seen:
        return set()
    seen.add(code)
    names = {*code.co_names, *code.co_freevars}
    inner = [nested for nested in code.co_consts if isinstance(nested, CodeType)]
    for name in tuple(names):
        other = getattr(owner, name, space.get(name))
        if isinstance(other := getattr(other, "__code__", None), CodeType):
            inner.append(other)
    return names.union(*(names_in(nested, space, owner, seen) for nested in inner))


def _workers(call: Call) -> Numbers | None:
    """Compare the first batches of the workers, which come in turn: one batch of each."""
    reader = call["self"]
    if reader._dataset_kind != _DatasetKind.Iterable or reader._num_workers < 2:
        return None
    place, notes, last = reader._num_yielded, call.about(reader), min(reader._num_workers, FIRST)
    tensors = [leaf for leaf in tree_leaves(call.result) if isinstance(leaf, torch.Tensor) and leaf.numel()]
    if not tensors or place > last:
        return None
    rows = max(tensors, key=torch.Tensor.numel).flatten()[:SAMPLE].cpu()
    if place == 1:
        notes.update(first=rows.clone(), same=1)
        return None
    if "first" not in notes:
        return None
    notes["same"] += bool(torch.equal(rows, notes["first"]) and (rows != rows[0]).any())
    if place < last:
        return None
    code = getattr(type(reader._dataset).__iter__, "__code__", None)
    if code is not None and is_users(code.co_filename):
        call.site = (code, code.co_firstlineno)
    return {
        "workers": float(reader._num_workers),
        "told": float(notes["same"] < place),
        "name": type(reader._dataset).__name__,
    }


def _transform(call: Call) -> Numbers | None:
    """Look whether two parts of one dataset are read with a transform that was put there after the split."""
    if call.target.endswith("random_split"):
        dataset = call["dataset"]
        if getattr(dataset, "transform", None) is not None:
            call.about(dataset).setdefault("first", dataset.transform)
        return None
    part = call["self"].dataset
    if not isinstance(part, Subset):
        return None
    notes = call.about(part.dataset)
    if "first" not in notes:
        return None
    now = getattr(part.dataset, "transform", None)
    notes.setdefault("parts", {})[id(part.indices)] = now
    if now is notes["first"]:
        return None
    same = sum(transform is now for transform in notes["parts"].values())
    return {"parts": float(same), "name": type(part.dataset).__name__}


def _changed(call: Call) -> Numbers | None:
    """Look whether a plain attribute of the dataset was changed after persistent workers took their copies."""
    loader = call["self"]
    if not loader.persistent_workers or not hasattr(loader.dataset, "__dict__"):
        return None
    code = getattr(getattr(type(loader.dataset), "__getitem__", None), "__code__", None)
    if code is None:
        return None
    notes, now = call.about(loader), vars(loader.dataset)
    if loader._iterator is None:
        notes["then"] = {name: value for name, value in now.items() if isinstance(value, _PLAIN) or callable(value)}
        return None
    read = names_in(code, {}, type(loader.dataset), set())
    then = {name: value for name, value in notes.get("then", {}).items() if name in now and name in read}
    moved = [name for name, value in then.items() if now[name] is not value and now[name] != value]
    return {"changed": float(len(moved)), "name": moved[0] if moved else "", "workers": float(loader.num_workers)}


CONTRACTS = (
    Contract(
        name="iterable_dataset_not_split",
        on=(_D + "dataloader._BaseDataLoaderIter.__next__",),
        demand="Each worker reads a copy of an `IterableDataset`: its `__iter__` asks `get_worker_info()` which part to give.",
        given="The first batches of the {workers:.0f} workers are the same: each worker gives the whole of `{name}`.",
        instead="Start at `info.id` and step by `info.num_workers` in `__iter__`, or pass a `worker_init_fn`.",
        page=_PAGE + "#torch.utils.data.IterableDataset",
        kind="shared object",
        measure=_workers,
        broken=lambda numbers: numbers["told"] == 0,
        breaks=(
            DATA + "class Rows(IterableDataset):\n    def __iter__(self): return iter(range(8))\n"
            "for batch in DataLoader(Rows(), 4, num_workers=2): pass"
        ),
        keeps=(
            DATA
            + "def share(rows):\n    info = get_worker_info()\n    return rows[info.id :: info.num_workers] if info else rows\n"
            "class Rows(IterableDataset):\n    def __iter__(self): return iter(share(range(8)))\n"
            "for batch in DataLoader(Rows(), 4, num_workers=2): pass"
        ),
        wrong="Parts that begin with the same rows.",
        explains=("by itself",),
        after=True,
    ),
    Contract(
        name="subsets_share_a_transform",
        on=(_D + "random_split", _ITER),
        demand="The parts of `random_split` hold one and the same dataset: its `transform` is that of all of them.",
        given="{parts:.0f} parts of one `{name}` are read with a transform that was set after the split.",
        instead="Make two datasets, one with each transform, and take a `Subset` of each with the same indices.",
        page=_PAGE + "#torch.utils.data.random_split",
        kind="shared object",
        measure=_transform,
        broken=lambda numbers: numbers["parts"] >= 2,
        breaks=(
            DATA + IMAGES + "val.dataset.transform = lambda x: -x\n"
            "for part in (train, val):\n    for batch in DataLoader(part): pass"
        ),
        keeps=(
            DATA
            + IMAGES
            + "for epoch in range(2):\n    for part, how in ((train, lambda x: x), (val, lambda x: -x)):\n"
            "        images.transform = how\n        for batch in DataLoader(part): pass"
        ),
        wrong="A transform that is meant for all parts and is set late.",
        explains=("by itself",),
    ),
    Contract(
        name="persistent_workers_dataset",
        on=(_ITER,),
        demand="With `persistent_workers=True` the workers keep the dataset that they got at the first pass.",
        given="`{name}` of the dataset was changed since, which its {workers:.0f} workers do not see.",
        instead="Leave out `persistent_workers`, make the loader anew, or share a tensor: `torch.tensor(0).share_memory_()`.",
        page=_PAGE + "#torch.utils.data.DataLoader",
        kind="shared object",
        measure=_changed,
        broken=lambda numbers: numbers["changed"] > 0,
        breaks=DATA + STAGED + "    images.stage = epoch\n    for batch in loader: pass",
        keeps=DATA + STAGED + "    images.seen = epoch\n    for batch in loader: pass",
        wrong="An attribute that only the main process reads, such as a counter.",
        explains=("by itself",),
    ),
)
