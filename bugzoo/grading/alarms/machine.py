"""What a verdict says of an instrument that fires: the machine, the ranks and further runs."""

from bugzoo.grading.alarms import Table, above, always, below, both, measured

TABLE: Table = {
    "crash": (
        "End of the run",
        [(always, "The run ended after {steps:.0f} optimizer steps, before its end.", "The run should finish.")],
    ),
    "rank_check": (
        "Ranks",
        [
            (
                above("hung"),
                "The steps of each rank were counted. One took {steps_fewest:.0f}, another {steps_most:.0f}, and then all "
                "ranks hang.",
                "All ranks should take the same number of steps.",
            ),
            (
                above("parted"),
                "The steps of each rank were counted. After {steps_fewest:.0f} common steps the connection broke.",
                "All ranks should take the same steps to the end.",
            ),
            (
                above("parameter_spread", 1e-5),
                "The parameters of the ranks were compared at the end. They differ by {parameter_spread:.2g} of their size.",
                "They should be equal; up to 0.00001 passes.",
            ),
            (
                both(above("spread", -1), below("spread", 1e-300)),
                "The losses of the ranks were compared at each step. They are equal to the last digit (difference "
                "{spread:.0f}).",
                "They should differ, as each rank has its own data.",
            ),
            (
                always,
                "The first loss was compared with the loss of guessing. It is {loss_factor:.2g} times as large.",
                "About 1 time passes.",
            ),
        ],
    ),
    "fresh_noise": (
        "Random numbers of the steps",
        [
            (
                always,
                "Steps ran again, and the generators were watched. {seeded:.2g} times per step one starts from the "
                "same number.",
                "No step should do so (0).",
            )
        ],
    ),
    "worker_noise": (
        "Random numbers of the workers",
        [
            (
                always,
                "2 workers of a loader fetched the same batch. Both drew the same random numbers.",
                "They should draw different ones.",
            )
        ],
    ),
    "determinism": (
        "A second run",
        [
            (
                always,
                "The script ran 2 times with the same seed. The losses differ from step {first_difference:.0f} on, by "
                "{size:.2g} of "
                "the loss.",
                "They should be equal, up to rounding.",
            )
        ],
    ),
    "fresh_process": (
        "Two fresh processes",
        [
            (
                always,
                "The script ran in 2 fresh processes with different hash seeds. The results differ.",
                "They should be equal.",
            )
        ],
    ),
    "resumption": (
        "A run that was stopped and resumed",
        [
            (
                lambda n: n.get("more_steps", 0) != 0,
                "Training was stopped after step {stopped_at:.0f} and resumed. The number of steps changed by "
                "{more_steps:+.0f}.",
                "It should not change (0).",
            ),
            (
                above("first_difference"),
                "Training was stopped after step {stopped_at:.0f} and resumed. From step {first_difference:.0f} on "
                "the losses differ, "
                "by {size:.2g}.",
                "They should be equal, up to rounding.",
            ),
            (
                always,
                "Training was stopped after step {stopped_at:.0f} and resumed. The results at the end differ by "
                "{metric_gap:.2g}.",
                "They should be equal, up to rounding.",
            ),
        ],
    ),
    "memory_audit": (
        "Memory",
        [
            (
                measured("growth_mib_per_step"),
                "The memory was measured at each step. It grows by {growth_mib_per_step:.3g} MiB a step, and "
                "{graphs_kept:.0f} "
                "graphs stay alive.",
                "At most 5 graphs may stay alive.",
            ),
            (
                always,
                "The computation graphs were counted. {graphs_kept:.0f} of them stay alive.",
                "At most 5 may stay alive.",
            ),
        ],
    ),
    "retain_graph": (
        "Memory after backward()",
        [
            (
                always,
                "Memory was measured after backward(). {kept_share:.0%} of the operations still hold tensors, "
                "{kept_mib:.2g} MiB.",
                "At most 50% passes; 0% is usual.",
            )
        ],
    ),
    "retained_graphs": (
        "Computation graphs",
        [
            (
                above("passes", 1),
                "Memory was measured at the end. {passes:.0f} forward passes still hold their activations, "
                "{held_mib:.2g} MiB.",
                "At most 1 of them may hold them.",
            ),
            (
                always,
                "The evaluation's forward passes were recorded. {evaluations_with_graph:.0f} of them built a "
                "computation graph.",
                "None of them should (0).",
            ),
        ],
    ),
    "host_syncs": (
        "Host syncs",
        [
            (
                always,
                "The host syncs of a step were counted. There are {syncs:.0f} per forward pass.",
                "At most 4 pass; 1 or 2 are usual.",
            )
        ],
    ),
    "compiled_graphs": (
        "Compiled pieces of the model",
        [
            (
                above("breaks"),
                "The compiled pieces of the model were counted. The number of places at which it is split is {breaks:.0f}.",
                "It should be split nowhere (0).",
            ),
            (
                always,
                "The compilations of the model were counted. One piece was compiled {versions:.0f} times.",
                "At most 4 times passes; 1 or 2 are usual.",
            ),
        ],
    ),
    "transfers": (
        "Copies between devices",
        [
            (
                above("inside", 0.5),
                "The copies of a step were counted. {inside:.2g} outputs of layers change device.",
                "None should change it (0).",
            ),
            (
                always,
                "The copies of a step were counted. The batch is copied {batch_copies:.2g} times before the model gets it.",
                "At most 1 copy passes.",
            ),
        ],
    ),
    "step_timeline": (
        "Time of a step",
        [
            (
                always,
                "The time of a step was measured. {data_ms:.3g} ms, {data_share:.0%} of it, pass before the forward "
                "pass begins.",
                "At most 60% passes, or 8 ms.",
            )
        ],
    ),
}
