"""Running again what a user ran: the one room in which that is done, on the user's own objects or in a process of its own.

| what | function | it costs, in processor seconds | it is refused |
|---|---|---|---|
| a call of the model on a kept batch | `model.call`, within `model.quiet` | one forward pass | never |
| the loss on a kept batch | `loss.again` | one forward pass | where the loss keeps no targets |
| the body of the training loop | `body.repeat`, `again`, `at_rate`; `heard.calls` listens | 4, or what is given | * |
| an evaluation | `evaluation.evaluated` | 5 at most | *, and where it would train |
| one step | `step.replay`, as `Trace.replay` | up to some hundred iterations of the loop | * |
| the first step with a non-finite number | `explain.explain`, as `Trace.explain` | the same, at most four times | * |
| a forward pass that crashed | `crashed.found`, as `Trace.explain` | one forward pass, with gradients a second one | * |
| the script | `script.once_more`, `interrupted`, `experimented`, `fresh` | the run's own, 1, 2, 5 and 2 times | * |

\\* Where `trace.live.no_rerun` says why: the user asked for it (`--no-rerun`), or the script wrote, sent or started something
and nothing would keep that from happening again. `permit.permitted` asks; it raises NotApplicable, as every function here does
that cannot do what it is for (`Trace.replay` raises UserError, and `Trace.explain` leaves the trace as it is).

Everything but the script runs in the process that the user's objects live in, in silence (`silence`), within a budget of that
thread's processor time (`budget`), and leaves everything as it was: `restore` alone puts things back. A crash, an exit or an
interrupt in what is run again does not keep it from doing so.
"""
