"""Functions for `Job.after` in these tests."""

import numpy as np

from bugzoo.running import Reading


def names(run):
    return {"names": Reading({name: value for name, value in run.namespace.items() if isinstance(value, int)})}


def steps(run):
    numbers = {"count": np.int64(len(run.trace.step)), "last": run.trace.loss[-1:], "bad": float("nan")}
    return {"steps": Reading(numbers), "none": Reading(why_not="there is nothing to measure")}


def plain(run):
    return {"names": {"x": 1}}


def failing(run):
    raise LookupError("no such number")
