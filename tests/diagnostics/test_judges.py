"""Each judge on hand-written numbers of a sick and of a healthy run, and proof that this test can fail."""

import math

import pytest

from bugzoo.diagnostics import Verdict, instrument, names
from bugzoo.diagnostics.numbers import of_instrument

NAN = math.nan
HEALTHY = {
    "fresh_gradient": {"stale_share": 0.0, "empty_share": 0.0, "backwards_per_step": 4, "update_ratio": 0.001},
    "double_normalisation": {
        "log_missing": 0.0, "row_sum": -3.2, "softmax_before_loss": 0.0, "sigmoid_before_loss": 0.0,
        "log_prob_spread": 7.0, "classes": 10, "lowest_loss": 0.1, "floor": 1.461},
    "first_non_finite": {"autocast": "", "scaler": 0.0, "bad_input": 0.0, "found": 0.0, "step": NAN, "loss_step": NAN},
    "initial_loss": {
        "first_loss": 2.35, "chance": 2.303, "ratio": 1.02, "classes": 10, "later_ratio": 0.2, "rows": 32,
        "averaged": 0.0},
    "loss_curve": {
        "optimizers": 1.0, "non_finite_share": 0.0, "diverged": 0.0, "stuck_at_chance": 0.0, "first_loss": 2.3,
        "final_loss": 0.2, "best_loss": 0.1, "peak_loss": 2.4, "steps": 100, "pattern": "healthy"},
    "memory_audit": {"graphs_kept": 0.0, "graphs_alive": 2.0, "marked": 30, "growth_mib_per_step": 0.01, "steps": 120},
    "step_timeline": {
        "idle_share": 0.5, "forward_share": 0.22, "backward_share": 0.22, "step_share": 0.11, "data_share_of_all": 0.45,
        "mean_data_ms": 0.4, "data_ms": 0.4, "forward_ms": 0.2, "backward_ms": 0.2, "step_ms": 0.1, "data_share": 0.45,
        "num_workers": 0.0},
    "rank_check": {
        "parted": 0.0, "stacks": ["", ""], "ranks": 2, "hung": 0.0, "steps_fewest": 40, "steps_most": 40,
        "rank_behind": 0, "spread": 0.1, "parameter_spread": 0.0, "loss_factor": 0.5, "loss_by_ranks": 1.0,
        "plain_mean": 1.0},
    "determinism": {"size": 0.0, "largest": 0.0, "steps": 50, "first_difference": 0.0, "compared": 50},
    "transfers": {"batch_copies": 1.0, "inside": 0.0},
    "attention_scale": {"factor": 0.25, "width": 16.0, "spread": 0.3},
    "class_balance": {
        "classes": 10, "rare_classes": 5, "rarity": 0.1, "common_recall": 0.97, "rare_recall": 0.9, "recall_gap": 0.07,
        "accuracy": 0.94, "balanced_accuracy": 0.93, "flattery": 0.01},
    "batch_order": {
        "mixed": 0.98, "classes": 10.0, "classes_in_batch": 9.7, "same_batch_share": 0.0, "loader_batches": 36.0,
        "repeated_epoch_share": 0.05, "epochs": 5.0},
    "batch_statistics": {"rows": 32.0, "values": 512.0, "scatter": 0.13},
    "compiled_graphs": {"breaks": 0.0, "versions": 2.0},
    "kept_losses": {"kept_first": 4.4, "chance": 4.56, "ratio": 0.96, "scale": 65536.0},
    "normalisation_source": {"columns": 8, "mean_train": 1e-07},
    "input_detail": {"values": 17, "held": 17, "whole_share": 0.6, "ones": 0.51, "largest": 0.09},
    "loss_spikes": {"height": 6.0, "step": 40.0, "times": 1.7, "spikes": 0.0, "steps": 200.0},
    "generalisation": {"train_accuracy": 0.97, "validation_accuracy": 0.95, "gap": 0.02, "samples": 224.0},
    "train_validation_overlap": {"shared": 0.02, "same_loader": 0.0, "validated": 300.0, "trained": 1200.0},
    "validation_shift": {
        "label_distance": 0.1, "unseen_classes": 0.0, "mean_shift": 0.1, "spread_ratio": 1.03, "redrawn": 0.0},
    "reported_metric": {
        "by_batches": 0.0, "reported": 0.95, "recomputed": 0.95, "gap": 0.0, "reported_loss": 0.2,
        "recomputed_loss": 0.2, "loss_gap": 0.0, "samples": 300.0},
    "resumption": {
        "first_rate": 0.0, "largest": 0.0, "compared": 50.0, "steps": 50.0, "first_difference": 0.0, "stopped_at": 25.0,
        "more_steps": 0.0, "metric_gap": 0.0, "size": 0.0},
    "gradient_health": {
        "non_finite_share": 0.0, "update_ratio": 0.001, "total_norm": 1.0, "largest_norm": 3.0, "growth": 0.5,
        "first_over_last": 0.3, "layers": 5},
    "loss_scale": {
        "zero_share": 0.0, "half_without_scaler": 0.0, "half_parameters": 0.0, "skipped_share": 0.02,
        "underflow_share": 0.0, "overflow_share": 0.0, "non_finite_share": 0.0, "steps": 100, "scale_changes": 2,
        "scale": 65536.0, "rise": 2.0, "rise_from": 32768.0, "rise_step": 40.0, "skipped_after_rise": 1.0,
        "autocast": "float16"},
    "overfit_one_batch": {
        "repetitions": [1.0, 60.0], "losses": [2.3, 0.2], "first_loss": 2.3, "best_loss": 0.2, "ratio": 0.09,
        "steps": 60, "late_fall": 0.2, "training_loss": 0.3, "highest_loss": 2.3, "lost_step": NAN},
    "mode_watch": {
        "eval_in_train_mode": 0.0, "evaluations": 9, "train_in_eval_mode": 0.0, "train_in_eval_share": 0.0,
        "drops_in_eval": 0.0, "kinds": ["dropout"]},
    "parameter_audit": {
        "elements": 387.0, "unmoved_share": 0.0, "unregistered_share": 0.0, "left_out": "", "frozen_share": 0.9,
        "frozen_at_random_share": 0.0, "frozen_untouched_share": 0.0, "unchanged_share": 0.0,
        "without_gradient_share": 0.0, "not_in_optimizer_share": 0.0, "outside_and_untouched_share": 0.0,
        "optimised_share": 0.1, "steps": 100, "learning_rate": 0.001, "largest_change": 0.5, "frozen_names": ["body"],
        "outside_names": [], "unchanged_names": []},
    "dependency": {
        "attention_deficit": 0.0, "nan_output": 0.0, "future_leak": 0.0, "padding_leak": 1e-07, "masked_leak": 1e-07,
        "attention_partial_rows": 0.0, "attention": 1, "recurrent": 0.0, "softmax_over_queries": 0.0,
        "copies_input": 0.0, "future_reach": 0},
    "data_inspection": {
        "outer_broadcast": 0.0, "mask_stretched": 0.0, "samples": 256, "shape": [64], "dtype": "float32",
        "non_finite_share": 0.0, "min": 0.0, "max": 1.0, "classes": 10, "neighbour_agreement": 0.85,
        "chance_agreement": 0.1, "agreement_over_chance": 0.75, "agreement_sigmas": 60.0, "label_entropy": 2.3,
        "final_loss": 0.2, "early_loss": 2.0},
    "activation_stats": {
        "dead_share": 0.1, "worst_dead_share": 0.2, "saturated_share": 0.1, "growth": 0.8, "inner_growth": 0.9,
        "samples": 512.0},
    "batch_independence": {
        "again_gap": 0.0, "alone_gap": 1e-06, "batch_leak": 1e-06, "recurrent": 1.0, "alone": 8.0, "axes": 2.0,
        "other_inputs": 0.0, "next_token": 0.0},
    "decoding": {"gap": 1e-06, "first_gap": 1e-06, "later_gap": 1e-06, "written": 8.0},
    "retained_graphs": {"evaluations_with_graph": 0.0, "evaluations_without": 12.0, "passes": 1.0, "held_mib": 0.5},
    "replay": {
        "loss_step": 3.0, "autocast": "", "scaler": 0.0, "bad_input": 0.0, "found": 0.0, "faithful": 1.0, "step": 3.0},
    "clip_rate": {
        "calls": 1.0, "before": 3.0, "used_share": 1.0, "late_share": 0.0, "limit": 1.0, "by_value": 0.0, "cosine": 1.0,
        "touched_share": 0.0, "times_over": 3.0, "bites_share": 0.03, "over_share": 0.0},
    "learning_rate_log": {
        "spent_share": 0.0, "steps": 216.0, "first_rate": 0.002, "last_rate": 0.0001, "largest_rate": 0.002,
        "changes": 5.0, "update_ratio": 0.01, "loss_left": 0.1, "takeovers": 0.0, "schedulers": 1.0,
        "scheduler_steps": 6.0, "planned": 6.0, "of_plan": 1.0, "intended_first_rate": 0.002, "first_skipped": 0.0},
    "output_gradient": {
        "answers": 32.0, "classes": 10.0, "passes": 1.0, "backwards": 1.0, "row_sum": 1e-07, "column_sum": 0.14,
        "even_share": 0.03, "fit": 1.0, "weight": 1.0, "asked_label_share": 1.0, "asked_input_share": NAN,
        "label_shift_share": 0.0, "beyond_share": 0.0},
    "kept_weights": {
        "copies": 1.0, "loss": 4.0, "kept_loss": 4.0, "better": 0.0, "restored": 1.0, "chosen_on_report": 0.0},
    "untrained_rows": {"read": 3000.0, "untrained_share": 0.001, "untrained_rows": 2.0, "reached_share": 0.97},
    "weight_size": {"shrunk_to": 0.3, "smallest": 0.2, "weight_decay": 1.0, "loss_left": 0.01},
    "optimizer_handover": {
        "left_out_share": 0.0, "frozen_share": 0.3, "new_share": 0.03, "rate_ratio": 0.1, "inside_share": 0.0},
    "retain_graph": {"kept_share": 0.1, "kept_mib": 0.2, "backwards": 1.0},
    "backward_checks": {"checked_share": 0.0, "noted": 0.0},
    "fresh_noise": {"seeded": 0.0, "looked_at": 3.0},
    "host_syncs": {"syncs": 2.0, "printed": 1.0},
    "worker_noise": {"noise": 1.0, "identical": 0.0, "repeated": 0.0, "workers": 2.0},
    "fresh_process": {"differs": 0.0},
    "input_independence": {"moved": 2.0, "loss": 0.3, "dealt_loss": 4.0, "zero_loss": 2.2, "input_spread": 0.8},
    "feature_leak": {"copies": 0.0, "columns": 8.0, "column": -1.0, "nearest": 0.8, "samples": 224.0},
    "shape_trace": {
        "modules": 3.0, "samples_in": 32.0, "samples_out": 32.0, "changed_at": 0.0, "answer_axes": 2.0,
        "target_axes": 1.0, "path": ["0 (Linear): (32, 8) -> (32, 3)"]},
    "five_minute_checklist": {"first_loss": 2.3, "final_loss": 0.2, "steps": 100.0} | {
        f"{name}_{what}": value for name in ("tenth_of_the_rate", "clipped", "full_precision", "two_samples",
        "other_seed")
        for what, value in {"ran": 1.0, "same": 0.0, "first_loss": 2.3, "final_loss": 0.3}.items()},
    "learning_rate_finder": {
        "losses": [1.1, 50.0], "first_loss": 1.1, "lowest_loss": 1.1, "used": 0.01, "best": 0.01, "climbs": 1.0,
        "of_limit": 0.01, "rates": [1e-05, 10.0]},
}  # fmt: skip

SICK = [
    ("fresh_gradient", {"stale_share": 1.0, "backwards_per_step": 1}, "loop/stale_gradients"),
    ("fresh_gradient", {"stale_share": 1.0}, "loop/step_every_n_never_zeroed"),
    ("double_normalisation", {"softmax_before_loss": 1.0, "log_prob_spread": 0.9}, "loss/double_softmax"),
    ("double_normalisation", {"sigmoid_before_loss": 1.0}, "loss/sigmoid_into_bce_with_logits"),
    ("first_non_finite", {"found": 1.0, "step": 51.0, "op": "LogBackward0"}, "numerics/log_at_step"),
    ("first_non_finite", {"found": 1.0, "step": 51.0, "op": "sqrt"}, "numerics/sqrt_at_zero"),
    ("first_non_finite", {"found": 1.0, "step": 5.0, "autocast": "float16", "scaler": 0}, "precision/no_grad_scaler"),
    ("initial_loss", {"ratio": 9.0, "first_loss": 20.0, "later_ratio": 3.0}, "initialisation/confident_head"),
    ("initial_loss", {"ratio": 32.0, "first_loss": 74.0}, "loss/sum_reduction"),
    ("loss_curve", {"diverged": 1.0, "largest_update": 4.0}, "optimizer/lr_too_high"),
    ("memory_audit", {"graphs_kept": 22.0, "graphs_alive": 30.0}, "memory/losses_kept_with_graph"),
    ("step_timeline", {"data_ms": 80.0, "data_share": 0.9}, "speed/starved_loader"),
    ("rank_check", {"hung": 1.0, "steps_fewest": 9}, "distributed/skipped_batch"),
    ("rank_check", {"parameter_spread": 0.1}, "distributed/unsynchronised_model"),
    ("determinism", {"first_difference": 1.0, "first_large_difference": 1.0, "size": 0.1}, "reproducibility/unseeded"),
    ("determinism", {"first_difference": 2.0, "size": 1e-7, "largest": 0.02},
        "reproducibility/nondeterministic_kernel"),
    ("transfers", {"batch_copies": 2.0}, "speed/data_copied_twice"),
    ("transfers", {"batch_copies": 0.0, "inside": 2.0}, "device/half_on_cpu_half_on_gpu"),
    ("resumption", {"first_difference": 27.0, "size": 0.2}, "resume/optimizer_state_lost"),
    ("resumption", {"first_difference": 26.0, "size": 0.2}, "resume/generator_not_restored"),
    ("gradient_health", {"first_over_last": 1e-9}, "initialisation/saturating_stack"),
    ("loss_scale", {"half_without_scaler": 1.0, "underflow_share": 0.4}, "precision/no_grad_scaler"),
    ("overfit_one_batch", {"ratio": 1.0, "best_loss": 2.3, "training_loss": 2.3}, "initialisation/dead_relu"),
    ("overfit_one_batch", {"ratio": 0.65, "best_loss": 1.49, "training_loss": 1.5, "late_fall": 0.01},
     "loss/double_softmax"),
    ("overfit_one_batch", {"ratio": 0.95, "best_loss": 2.2, "training_loss": 2.3, "late_fall": 0.0,
        "highest_loss": 9.0},
     "optimizer/lr_too_high"),
    ("mode_watch", {"eval_in_train_mode": 9.0}, "modes/eval_mode_missing"),
    ("mode_watch", {"train_in_eval_share": 0.8}, "modes/train_mode_not_restored"),
    ("mode_watch", {"drops_in_eval": 1.0}, "modes/dropout_in_functional_form"),
    ("parameter_audit", {"frozen_at_random_share": 0.9}, "freezing/frozen_layers"),
    ("parameter_audit", {"outside_and_untouched_share": 0.3, "still": 0.3}, "optimizer/some_parameters_left_out"),
    ("dependency", {"future_leak": 0.3, "future_reach": 9}, "attention/causal_mask_missing"),
    ("dependency", {"future_leak": 0.3, "future_reach": 2, "attention": 2}, "attention/causal_off_by_one"),
    ("dependency", {"nan_output": 1.0}, "numerics/all_masked_row"),
    ("fresh_gradient", {"never_stepped": 1.0, "backwards": 40}, "loop/step_missing"),
    ("fresh_gradient", {"empty_share": 1.0, "update_ratio": 0, "leaf_loss": 1.0}, "graph/loss_rebuilt_from_item"),
    ("fresh_gradient", {"empty_share": 1.0, "update_ratio": 0, "elsewhere_share": 0.5},
        "freezing/optimizer_on_old_model"),
    ("double_normalisation", {"log_missing": 1.0}, "loss/log_of_softmax"),
    ("data_inspection", {"outer_broadcast": 1.0}, "loss/target_column_broadcast"),
    ("data_inspection", {"mask_stretched": 1.0}, "loss/mask_broadcast"),
    ("parameter_audit", {"unregistered_share": 0.4, "still": 0.4}, "freezing/unregistered_layers"),
    ("parameter_audit",
     {"unchanged_share": 0.36, "still": 0.36, "unchanged_names": ["lstm.weight_ih_l1", "lstm.bias_hh_l1_reverse"]},
     "recurrent/last_layer_state_wrong"),
    ("loss_curve", {
        "stuck_at_chance": 1.0, "chance": 2.3, "still_zero_share": 1.0, "update_ratio": 0.01, "grad_norm": 1.0,
        "dead_share": 1.0}, "initialisation/zero_weights"),
    ("dependency", {"padding_leak": 0.01, "attention_partial_rows": 0.9}, "attention/mask_after_softmax"),
    ("dependency", {"padding_leak": 0.4, "recurrent": 1.0}, "recurrent/padding_read_as_text"),
    ("data_inspection", {"agreement_sigmas": 0.2, "agreement_over_chance": 0.01, "final_loss": 2.3, "early_loss": 2.3},
     "data/labels_out_of_sync"),
    ("data_inspection", {"min": 0.0, "max": 0.004}, "data/double_scaling"),
    ("activation_stats", {"worst_dead_share": 0.97}, "initialisation/dead_relu"),
    ("activation_stats", {"saturated_share": 0.8}, "initialisation/saturating_stack"),
    ("activation_stats", {"growth": 80.0}, "initialisation/confident_head"),
    ("activation_stats", {"growth": 300.0, "inner_growth": 60.0}, "initialisation/weights_too_large"),
    ("activation_stats", {"growth": 1e-5}, "initialisation/weights_too_small"),
    ("batch_independence", {"again_gap": 0.004}, "recurrent/state_kept_between_batches"),
    ("batch_independence", {"alone_gap": 0.2}, "recurrent/batch_first_mismatch"),
    ("batch_independence", {"alone_gap": 0.2, "recurrent": 0.0}, "loss/wrong_axis_reduction"),
    ("batch_independence", {"batch_leak": 0.3, "axes": 3.0, "recurrent": 0.0}, "shape/view_instead_of_permute"),
    ("decoding", {"gap": 0.1, "first_gap": 0.1}, "generation/cache_off_by_one"),
    ("retained_graphs", {"evaluations_with_graph": 3.0}, "modes/no_grad_missing"),
    ("attention_scale", {"factor": 1.0, "spread": 2.9}, "attention/scale_missing"),
    ("class_balance", {"rare_recall": 0.5, "recall_gap": 0.47}, "data/class_imbalance_ignored"),
    ("class_balance", {"rare_recall": 0.5, "recall_gap": 0.47, "flattery": 0.2}, "metrics/accuracy_on_imbalance"),
    ("batch_order", {"mixed": 0.0, "classes_in_batch": 1.0}, "data/no_shuffle"),
    ("batch_statistics", {"rows": 2.0, "values": 32.0, "scatter": 0.3}, "modes/batch_norm_tiny_batches"),
    ("compiled_graphs", {"breaks": 1.0, "file": "train.py", "line": 59}, "speed/graph_breaks"),
    ("compiled_graphs", {"versions": 8.0}, "speed/recompiles"),
    ("loss_scale", {"rise": 256.0, "rise_from": 2.7e8, "skipped_after_rise": 8.0}, "resume/scaler_state_lost"),
    ("kept_losses", {"kept_first": 2.9e5, "ratio": 6.3e4}, "precision/scaled_loss_logged"),
    ("normalisation_source", {"mean_train": 0.06}, "data/leaky_normalisation"),
    ("input_detail", {"values": 2, "whole_share": 1.0, "ones": 0.09}, "precision/integer_features"),
    ("loss_spikes", {"height": 50.0, "times": 5.0, "spikes": 1.0}, "data/corrupt_batch"),
    ("generalisation", {"train_accuracy": 0.6, "validation_accuracy": 0.93, "gap": -0.33}, "data/label_noise"),
    ("generalisation", {"validation_accuracy": 0.5, "gap": 0.47}, "fit/no_regularisation"),
    ("train_validation_overlap", {"shared": 0.67}, "data/leaky_split"),
    ("train_validation_overlap", {"shared": 1.0, "same_loader": 1.0}, "fit/metric_on_train_set"),
    ("validation_shift", {"label_distance": 0.99, "unseen_classes": 0.99}, "data/ordered_split"),
    ("validation_shift", {"mean_shift": 0.42, "spread_ratio": 0.39}, "data/wrong_normalisation"),
    ("validation_shift", {"redrawn": 0.9}, "data/augmented_validation"),
    ("reported_metric", {"reported": 0.0, "gap": 0.95}, "metrics/argmax_over_wrong_dim"),
    ("reported_metric", {"reported": 0.97, "gap": 0.02}, "metrics/mean_of_batch_means"),
    ("replay", {"found": 1.0, "op": "log", "file": "train.py", "line": 7}, "numerics/log_at_step"),
    ("clip_rate", {"used_share": 0.0, "over_share": 0.4}, "clipping/clipped_before_backward"),
    ("clip_rate", {"used_share": 0.0, "late_share": 1.0}, "clipping/clipped_after_step"),
    ("clip_rate", {"by_value": 1.0, "cosine": 0.5, "touched_share": 0.9}, "clipping/clipped_by_value"),
    ("clip_rate", {"times_over": 250.0, "bites_share": 1.0}, "clipping/threshold_too_low"),
    ("clip_rate", {"times_over": 33.0, "bites_share": 0.0}, "precision/clip_without_unscale"),
    ("learning_rate_log", {"scheduler_steps": 0.0, "changes": 0.0}, "loop/scheduler_never_stepped"),
    ("learning_rate_log", {"scheduler_steps": 216.0, "of_plan": 36.0}, "loop/scheduler_per_microbatch"),
    ("learning_rate_log", {"first_skipped": 1.0}, "loop/scheduler_before_optimizer"),
    ("learning_rate_log", {"takeovers": 5.0}, "optimizer/momentum_reset_each_epoch"),
    ("learning_rate_log", {"update_ratio": 1e-6, "loss_left": 0.99}, "optimizer/lr_too_low"),
    ("batch_order", {"same_batch_share": 1.0}, "loop/same_batch_forever"),
    ("output_gradient", {"column_sum": 1e-8, "row_sum": 2e-3}, "loss/wrong_softmax_dim"),
    ("output_gradient", {"even_share": 1.0, "fit": 0.1}, "loss/log_of_softmax"),
    ("output_gradient", {"asked_label_share": 0.0, "label_shift_share": 1.0}, "loss/labels_off_by_one"),
    ("output_gradient", {"asked_label_share": 0.1, "asked_input_share": 1.0}, "loss/next_token_not_shifted"),
    ("output_gradient", {"weight": 32.0}, "loss/sum_reduction"),
    ("output_gradient", {"weight": 3.2}, "loss/wrong_axis_reduction"),
    ("output_gradient", {"weight": 4.0, "passes": 4.0, "backwards": 4.0}, "loop/accumulation_not_scaled"),
    ("output_gradient", {"beyond_share": 0.17}, "loss/padding_counted"),
    ("kept_weights", {"loss": 4.4, "better": 0.09, "restored": 0.0}, "resume/last_instead_of_best"),
    ("kept_weights", {"chosen_on_report": 1.0}, "metrics/epoch_chosen_on_test"),
    ("untrained_rows", {"untrained_share": 0.05}, "data/leaky_vocabulary"),
    ("weight_size", {"loss_left": 0.99}, "optimizer/weight_decay_too_strong"),
    ("optimizer_handover", {"left_out_share": 0.9, "frozen_share": 0.0}, "freezing/unfrozen_after_optimizer"),
    ("optimizer_handover", {"frozen_share": 1.0, "rate_ratio": NAN}, "freezing/never_unfrozen"),
    ("optimizer_handover", {"rate_ratio": 1.0}, "optimizer/one_lr_for_pretrained"),
    ("retain_graph", {"kept_share": 1.0}, "memory/retain_graph_left_on"),
    ("retained_graphs", {"passes": 2.0}, "memory/evaluation_keeps_graph"),
    ("backward_checks", {"checked_share": 0.5}, "speed/anomaly_mode_left_on"),
    ("fresh_noise", {"seeded": 1.0}, "reproducibility/seed_inside_loop"),
    ("host_syncs", {"syncs": 7.0}, "speed/sync_every_step"),
    ("batch_order", {"repeated_epoch_share": 1.0}, "distributed/set_epoch_missing"),
    ("worker_noise", {"identical": 1.0}, "reproducibility/identical_worker_augmentation"),
    ("fresh_process", {"differs": 1.0}, "reproducibility/hash_order"),
    ("input_independence", {"moved": 0.0, "loss": 2.3, "dealt_loss": 2.3}, "initialisation/dead_relu"),
    ("input_independence", {"moved": 0.0, "loss": 2.3, "dealt_loss": 2.3, "input_spread": 0.0},
        "data/everything_unknown"),
    ("feature_leak", {"copies": 1.0, "column": 5.0, "nearest": 1.0}, "data/target_among_inputs"),
    ("five_minute_checklist", {"final_loss": math.inf, "full_precision_same": 1.0, "clipped_final_loss": 4.0},
     "optimizer/lr_too_high"),
    ("five_minute_checklist", {"final_loss": math.inf, "tenth_of_the_rate_final_loss": math.inf},
        "precision/no_grad_scaler"),
    ("five_minute_checklist", {"final_loss": 9.0, "full_precision_same": 1.0, "tenth_of_the_rate_ran": 0.0},
     "clipping/clipping_missing"),
    ("rank_check", {"loss_factor": 0.5, "loss_by_ranks": 1.0, "plain_mean": 0.0},
        "distributed/loss_normalised_per_rank"),
]  # fmt: skip


def failures(judge_of):
    """Which of the cases above a set of judges gets wrong."""
    wrong = [name for name, numbers in HEALTHY.items() if judge_of(name)(dict(numbers)).fired]
    for name, change, cause in SICK:
        verdict = judge_of(name)(HEALTHY[name] | change)
        if not verdict.fired or not verdict.suspects or verdict.suspects[0].cause != cause:
            wrong.append((name, cause, verdict.message))
    return wrong


def test_every_judge_fires_on_the_sick_and_is_quiet_on_the_healthy():
    assert failures(lambda name: instrument(name).judge) == []
    assert set(HEALTHY) == set(names()) - {"crash"}


def test_a_verdict_names_numbers_of_the_record():
    for name, change, _ in [*SICK, *((name, {}, "") for name in HEALTHY)]:
        assert {*instrument(name).judge(HEALTHY[name] | change).numbers} <= {*of_instrument(name)}, name


def test_a_judge_that_has_gone_deaf_turns_this_red():
    deaf = failures(lambda name: lambda numbers: Verdict(name, False, "all is well"))
    assert len(deaf) == len(SICK)


def test_a_judge_that_always_fires_turns_this_red():
    alarmed = failures(lambda name: lambda numbers: Verdict(name, True, "alarm"))
    assert set(HEALTHY) <= {entry for entry in alarmed if isinstance(entry, str)}


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("one of the variables needed for gradient computation has been modified by an inplace operation: [x]",
         "graph/inplace_activation"),
        ("Trying to backward through the graph a second time (or directly access saved tensors)",
        "graph/backward_twice"),
        ("element 0 of tensors does not require grad and does not have a grad_fn", "graph/detached_activation"),
        ("mat1 and mat2 shapes cannot be multiplied (8x3 and 4x2)", "shape/shape_mismatch_deep"),
        ("Expected all tensors to be on the same device, but found at least two devices", "device/batch_left_on_cpu"),
    ],
)  # fmt: skip
def test_torchs_messages_are_explained(message, cause):
    numbers = {
        "outcome": "crashed",
        "steps": 0.0,
        "type": "RuntimeError",
        "message": message,
        "file": "a.py",
        "line": 3,
        "told": [],
        "in_step": 0.0,
        "devices": 0.0,
    }
    verdict = instrument("crash").judge(numbers)
    assert verdict.fired and verdict.suspects[0].cause == cause and verdict.suspects[0].line == 3


def test_a_skipped_step_of_a_scaler_is_no_accident():
    verdict = instrument("loss_scale").judge(HEALTHY["loss_scale"] | {"skipped_share": 0.2})
    assert not verdict.fired


@pytest.mark.parametrize(
    ("workers", "idle", "fired"), [(2, 0.02, False), (2, 0.5, True), (0, 0.02, True), (2, NAN, True)]
)
def test_worker_processes_are_not_blamed_for_a_busy_machine(workers, idle, fired):
    numbers = HEALTHY["step_timeline"] | {
        "data_ms": 80.0,
        "data_share": 0.9,
        "num_workers": workers,
        "idle_share": idle,
    }
    assert instrument("step_timeline").judge(numbers).fired is fired


def test_scores_that_are_small_may_go_into_the_softmax_as_they_are():
    """Cosines, or weights that begin smaller: nobody divides them, and nothing is wrong."""
    judge = instrument("attention_scale").judge
    assert not judge({"factor": 1.0, "width": 64.0, "spread": 0.9}).fired
    assert judge({"factor": 1.0, "width": 64.0, "spread": 3.0}).fired


def test_one_answer_for_all_is_none_where_dealing_the_samples_makes_it_worse():
    """A value that moves by little beside the spread of its targets may be all that there is to know."""
    numbers = HEALTHY["input_independence"] | {"moved": 1e-4, "loss": 1.0, "dealt_loss": 1.2}
    assert not instrument("input_independence").judge(numbers).fired


def test_where_the_first_axis_changes_is_said_and_nobody_accused():
    verdict = instrument("shape_trace").judge(HEALTHY["shape_trace"] | {"changed_at": 1.0, "samples_out": 64.0})
    assert not verdict.fired and "0 (Linear): (32, 8) -> (32, 3)" in verdict.message


def test_a_vocabulary_from_elsewhere_has_rows_that_nothing_uses():
    """One of a tokenizer that somebody else made: what training did not show it leaked nowhere."""
    numbers = HEALTHY["untrained_rows"] | {"untrained_share": 0.05, "reached_share": 0.1}
    assert not instrument("untrained_rows").judge(numbers).fired
