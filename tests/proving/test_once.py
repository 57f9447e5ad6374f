"""A first look at a new device: each fault once, and what is another thing there is left aside with the reason."""

from bugzoo import faults
from bugzoo.proving.cells import SEEDS
from bugzoo.proving.parts import case_of
from bugzoo.proving.tried import shortest
from bugzoo.proving.verify import cells_of
from bugzoo.scenario import fits

FAULT = faults.load("loss/double_softmax")


def test_the_shortest_of_those_asked_for() -> None:
    assert shortest(FAULT) in fits(FAULT)
    assert shortest(FAULT, ["digits_cnn", "mini_transformer"]) == "digits_cnn"
    assert shortest(FAULT, ["sampler_that_is_not_there"]) == ""


def test_each_fault_once() -> None:
    every = list(faults.catalogue().values())
    once = cells_of(every, once=True)
    assert sorted(cell.fault for cell in once) == sorted(fault.id for fault in every)
    assert len(cells_of(every)) > 4 * len(once)
    assert [cell.program for cell in cells_of([FAULT], ["digits_cnn", "mini_transformer"], once=True)] == ["digits_cnn"]
    assert {cell.program for cell in cells_of([FAULT], ["digits_cnn"])} == {"digits_cnn"}


def test_what_a_gpu_makes_another_thing_is_proved_on_the_cpu() -> None:
    other = [fault for fault in faults.catalogue().values() if fault.on_cuda]
    assert len(other) >= 2 and all(fault.on_cuda.endswith(".") for fault in other)
    for fault in other:
        (cell,) = cells_of([fault], once=True)
        assert case_of(cell, "cuda", SEEDS, True, True) is None
        assert cell.skipped == f"proved on the CPU: {fault.on_cuda}" and not cell.proved
    (cell,) = cells_of([FAULT], once=True)
    assert case_of(cell, "cuda", SEEDS, True, True) is not None and not cell.skipped
