"""Re-run parts of a user's run, on the live objects or in a new process. Only this package does that.

| what | function | cost in processor seconds | refused |
|---|---|---|---|
| a call of the model on a kept batch | `model.call`, within `model.quiet` | one forward pass | never |
| the loss on a kept batch | `loss.again` | one forward pass | if the loss keeps no targets |
| the body of the training loop | `body.repeat`, `again`, `at_rate`; `heard.calls` records | 4, or as given | * |
| an evaluation | `evaluation.evaluated` | 5 at most | *, and if it would train |
| one step | `step.replay`, as `Trace.replay` | up to some hundred iterations of the loop | * |
| the first step with NaN or infinity | `explain.explain`, as `Trace.explain` | the same, at most four times | * |
| a forward pass that crashed | `crashed.found`, as `Trace.explain` | one forward pass, with gradients a second one | * |
| the script | `script.once_more`, `interrupted`, `experimented`, `fresh` | the run's own, 1, 2, 5 and 2 times | * |

\\* If `trace.live.no_rerun` gives a reason: the user's `--no-rerun`, or the script wrote, sent or started something that
a re-run would repeat. `permit.permitted` checks this and raises NotApplicable. Every function here raises it if it
cannot do its work. `Trace.replay` raises UserError instead, and `Trace.explain` leaves the trace unchanged.

Except for whole scripts, everything runs in the process of the user's objects, silently (`silence`), within a budget of
that thread's processor time (`budget`). Afterwards `restore` restores everything, even after a crash, an exit or an
interrupt in the re-run code.
"""
