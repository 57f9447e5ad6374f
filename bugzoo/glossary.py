"""The field's terms that bugzoo uses: what each means, where it matters, and the wording that each replaces."""

from collections.abc import Container
from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """One term of the field: what it is, when it matters, and where bugzoo teaches it. A fault's file names its terms."""

    name: str
    """As an engineer types it into a search box: "gradient accumulation"."""
    text: str
    """Two sentences of at most 25 words: what it is; when it matters in debugging a training run."""
    instruments: tuple[str, ...] = ()
    """Names of modules in `bugzoo.diagnostics`."""
    lessons: tuple[str, ...] = ()
    """Two-digit numbers of lessons."""
    instead_of: tuple[str, ...] = ()
    """Lower-case spellings and phrases that no text for users may contain as whole words."""

    @property
    def link(self) -> str:
        """Where the term stands in the glossary's notebook: JupyterLab, VS Code and GitHub find its heading so."""
        return f"glossary.ipynb#{self.name.replace(' ', '-')}"

    def lesson_line(self, there: Container[str]) -> str:
        """Return a line that names the lessons on this term, of those that are `there`; empty without any."""
        numbers = [number for number in self.lessons if number in there]
        return f"Lesson{'s' * (len(numbers) > 1)} {', '.join(numbers)}." if numbers else ""


TITLE = "# Glossary\n\nThe terms that bugzoo uses, in the words of the field."
TERMS: tuple[Term, ...] = (
    Term(
        "ablation",
        "An ablation removes one component of a training script and repeats the run with the same seeds. Use at "
        "least three to five seeds, because a difference of half a point is often seed noise.",
        lessons=("19",),
    ),
    Term(
        "accuracy on imbalanced classes",
        "Accuracy on imbalanced classes mostly measures the common classes. At 10:1, always predicting the common "
        "class reaches 91 % accuracy, so report recall per class or balanced accuracy.",
        instruments=("class_balance",),
        lessons=("08",),
    ),
    Term(
        "activation checkpointing",
        "Activation checkpointing drops activations in the forward pass and recomputes them during the backward "
        "pass. Expect much lower activation memory for about a third more compute.",
        instruments=("memory_audit",),
        lessons=("13",),
    ),
    Term(
        "all_reduce",
        "An all_reduce combines one tensor from every rank, for example by a sum, and returns the result to all. "
        "Every rank must call all_reduce, or the others wait until the timeout, 10 minutes with NCCL.",
        instruments=("rank_check",),
        lessons=("17",),
    ),
    Term(
        "anomaly mode",
        "Anomaly mode (`torch.autograd.set_detect_anomaly`) stores the stack of each forward operation and checks "
        "each gradient for NaN. Use anomaly mode for one step only, because training runs about twice as slowly "
        "on small models.",
        instruments=("backward_checks", "replay"),
        lessons=("03", "16", "19"),
    ),
    Term(
        "attention head",
        "An attention head computes attention on its own slice of the model width, such as 512 / 8 = 64. Use "
        "`view(batch, time, heads, 64)` and then `transpose(1, 2)`, because `view(batch, heads, time, 64)` mixes "
        "tokens.",
        instruments=("dependency",),
        lessons=("10",),
    ),
    Term(
        "augmentation",
        "Augmentation applies random changes, such as shifts or flips, to training samples. Disable augmentation "
        "in the validation dataset itself: eval() does not disable augmentation, and the validation metric "
        "becomes noisy and lower.",
        instruments=("validation_shift", "worker_noise"),
        lessons=("08", "15"),
    ),
    Term(
        "autocast",
        "`torch.autocast` runs matrix multiplications in fp16 or bf16 and keeps sensitive operations in fp32. "
        "Wrap only the forward pass and the loss, because backward() reuses the dtype of each forward operation.",
        instruments=("loss_scale", "first_non_finite"),
        lessons=("12",),
    ),
    Term(
        "baseline",
        "A baseline is the simplest reference result, such as always predicting the most common class. With ten "
        "balanced classes, a useful model must beat 10 % accuracy and a loss of 2.303 nats.",
        instruments=("initial_loss", "input_independence"),
        lessons=("02", "06"),
    ),
    Term(
        "batch",
        "A batch is the group of samples in one forward pass. Activation memory grows in proportion to the batch "
        "size, so halve the batch size first after an out-of-memory error.",
        instruments=("batch_order", "memory_audit"),
        lessons=("02", "13"),
    ),
    Term(
        "batch norm",
        "Batch norm normalizes each channel with the mean and variance of the batch in train mode. Two rows per "
        "batch give noisy statistics, so use larger batches or group norm.",
        instruments=("batch_statistics", "mode_watch"),
        lessons=("09",),
    ),
    Term(
        "bf16",
        "The bf16 dtype (bfloat16) has the exponent range of fp32 but only 8 significant bits. Training in bf16 "
        "needs no GradScaler, but long sums lose small terms: 256 + 1 is 256.",
        instruments=("loss_scale", "reported_metric"),
        lessons=("12",),
    ),
    Term(
        "binary cross-entropy (BCE)",
        "Binary cross-entropy (BCE) is the loss for yes/no targets, and `BCEWithLogitsLoss` contains the sigmoid. "
        "A second sigmoid keeps the loss above 0.313 per positive sample and 0.693 per negative sample.",
        instruments=("double_normalisation",),
        lessons=("06",),
    ),
    Term(
        "broadcasting",
        "Broadcasting expands axes of length 1 or missing axes until two shapes match. Shapes (32,) and (32, 1) "
        "give (32, 32), so a loss or metric compares wrong pairs without an error.",
        instruments=("data_inspection", "output_gradient", "reported_metric"),
        lessons=("02", "06"),
    ),
    Term(
        "buffer",
        "A buffer is a tensor of a model's state that the optimizer does not train, such as a mask or batch norm's "
        "running mean. Compare buffers after load_state_dict(), because a wrong buffer is loaded like a weight.",
        instruments=("batch_statistics", "resumption"),
        lessons=("09", "10"),
    ),
    Term(
        "catastrophic forgetting",
        "Catastrophic forgetting means that fine-tuning destroys an earlier skill. Measure the old task before "
        "and after, and give pretrained layers about a tenth of the learning rate of the new head.",
        instruments=("optimizer_handover",),
        lessons=("11",),
    ),
    Term(
        "causal mask",
        "A causal mask stops each position from attending to later positions. With a missing or off-by-one causal "
        "mask the loss falls below the entropy of the text, but generated text is poor.",
        instruments=("dependency",),
        lessons=("10",),
    ),
    Term(
        "checkpoint",
        "A checkpoint saves the state of a run: model, optimizer, scheduler, GradScaler, RNG states and epoch "
        "number. Stop a run halfway, resume it, and compare losses: a complete checkpoint gives the same losses.",
        instruments=("resumption", "loss_scale", "kept_weights"),
        lessons=("15",),
        instead_of=("bring everything back",),
    ),
    Term(
        "class imbalance",
        "Class imbalance means that some classes have far more samples than others. At 10:1, plain cross-entropy "
        "shifts the decision boundary by ln 10 = 2.3 nats, so check recall per class.",
        instruments=("class_balance",),
        lessons=("08",),
        instead_of=("classes of very different sizes",),
    ),
    Term(
        "collate function",
        "A collate function (`collate_fn`) combines samples into one batch, often with padding to equal length. "
        "Print one collated batch beside its raw samples, because collating can separate sequences from their "
        "labels.",
        instruments=("data_inspection",),
        lessons=("08",),
    ),
    Term(
        "computation graph",
        "The computation graph records the operations of a forward pass, so that backward() can compute "
        "gradients. Store `loss.item()` instead of the loss tensor, because each stored tensor keeps graph nodes "
        "in memory.",
        instruments=("retained_graphs", "memory_audit", "retained_graphs"),
        lessons=("13", "14"),
    ),
    Term(
        "confusion matrix",
        "A confusion matrix counts predictions for each pair of true class and predicted class. A class that the "
        "model never predicts has an empty column, even if overall accuracy is high.",
        instruments=("class_balance", "output_gradient"),
        lessons=("08",),
    ),
    Term(
        "cross-entropy",
        "Cross-entropy is the negative log-probability of the correct class, and `nn.CrossEntropyLoss` expects "
        "logits. Softmax before cross-entropy keeps the loss of ten classes above 1.461.",
        instruments=("double_normalisation", "output_gradient", "initial_loss"),
        lessons=("02", "06"),
    ),
    Term(
        "data inspection",
        "Data inspection prints shape, dtype, range and label counts of one batch before training. A maximum of "
        "0.004 in an image batch shows that the script divided by 255 twice.",
        instruments=("data_inspection", "input_detail"),
        lessons=("01",),
        instead_of=("taken apart", "take apart", "takes apart"),
    ),
    Term(
        "data leakage",
        "Data leakage gives the model information that is missing in real use, such as validation rows or the "
        "target. The metric is too good, so count shared rows before you trust a high metric.",
        instruments=("train_validation_overlap", "normalisation_source", "feature_leak", "untrained_rows"),
        lessons=("08",),
        instead_of=("knowledge of the test", "text of the test", "texts of the test"),
    ),
    Term(
        "DataLoader worker",
        "A DataLoader worker is a process that loads and transforms samples, set by `num_workers`. With "
        "`num_workers=0` the training process loads the data itself, and the GPU waits for slow transforms.",
        instruments=("step_timeline", "worker_noise"),
        lessons=("15", "16"),
    ),
    Term(
        "DDP",
        "DDP (DistributedDataParallel) runs one process per device and averages the gradients of all ranks during "
        "backward(). Call the DDP wrapper instead of `.module`, or the ranks train different models.",
        instruments=("rank_check", "rank_check"),
        lessons=("17",),
    ),
    Term(
        "dead ReLU",
        "A dead ReLU outputs zero for every sample, so its input weights get no gradient. A few dead units are "
        "normal, but a layer with more than half of its units dead is suspicious.",
        instruments=("activation_stats",),
        lessons=("07",),
        instead_of=("rectifier shut",),
    ),
    Term(
        "detach",
        "`detach()` returns the same values without a computation graph. Layers before a detached activation keep "
        "`.grad = None`, and the optimizer skips them without a warning.",
        instruments=("parameter_audit", "gradient_health"),
        lessons=("13", "14"),
        instead_of=("cut off from the graph", "cut off on its way"),
    ),
    Term(
        "device mismatch",
        "A device mismatch means that one operation gets tensors on different devices, such as a CPU batch and a "
        "CUDA model. Register constant tensors with `register_buffer`, because `.to()` does not move plain "
        "attributes.",
        instruments=("crash", "transfers"),
        lessons=("14",),
    ),
    Term(
        "DistributedSampler",
        "A DistributedSampler gives each rank a different part of the training set. Call `set_epoch(epoch)` "
        "before every epoch, or each epoch repeats the same order.",
        instruments=("rank_check", "batch_order"),
        lessons=("17",),
    ),
    Term(
        "divergence",
        "Divergence means that the loss rises and does not recover, or becomes inf or NaN. Repeat the run with "
        "one tenth of the learning rate: persistent divergence points to other causes, such as bad data or a "
        "wrong sign.",
        instruments=("loss_curve", "five_minute_checklist", "learning_rate_finder"),
        lessons=("01", "03", "05"),
    ),
    Term(
        "dropout",
        "Dropout zeroes each activation with probability p in train mode and scales the rest by 1/(1-p). Unlike "
        "`nn.Dropout`, the function `F.dropout` ignores eval() unless you pass `training=self.training`.",
        instruments=("mode_watch", "batch_independence"),
        lessons=("09",),
    ),
    Term(
        "dtype",
        "A dtype is the number type of a tensor, such as float32, bfloat16 or int64. Print the dtypes of inputs "
        "and parameters, because a cast to an integer dtype turns 0.9 into 0.",
        instruments=("input_detail", "loss_scale", "data_inspection"),
        lessons=("01", "12"),
        instead_of=("number format", "number formats"),
    ),
    Term(
        "early stopping",
        "Early stopping ends training when the validation loss has not improved for several epochs. Reload the "
        "weights of the best epoch, because the last epoch may be overfitted.",
        instruments=("kept_weights", "generalisation"),
        lessons=("05", "18"),
    ),
    Term(
        "early stopping on the test set",
        "Early stopping on the test set chooses the epoch with the best test metric. The reported metric is too "
        "good, so choose the epoch on a validation set and test once.",
        instruments=("kept_weights",),
        lessons=("08",),
    ),
    Term(
        "entropy",
        "Entropy is the mean surprise of a distribution, in nats: ln 10 = 2.303 for ten equally likely classes. "
        "Compare the first loss with the entropy of the labels, because a model that guesses cannot be lower.",
        instruments=("initial_loss", "batch_order"),
        lessons=("02", "06"),
    ),
    Term(
        "epoch",
        "An epoch is one pass over the training set. A jump in the loss that repeats every epoch points to the "
        "data order or to state that the script resets.",
        instruments=("batch_order", "loss_curve"),
        lessons=("05",),
    ),
    Term(
        "eval mode",
        "Eval mode, set by `model.eval()`, turns dropout off and makes batch norm use running statistics. Add "
        "torch.no_grad(), because eval mode does not stop autograd from recording the graph.",
        instruments=("mode_watch", "batch_independence"),
        lessons=("09",),
    ),
    Term(
        "exploding gradients",
        "Exploding gradients grow from layer to layer during the backward pass until training diverges. Look for "
        "a gradient norm of 100 times its median, and compare activation sizes of the first and last layer.",
        instruments=("gradient_health", "activation_stats"),
        lessons=("07",),
    ),
    Term(
        "false positive",
        "A false positive, or false alarm, is a fault report about a healthy run. Run each check on the healthy "
        "twin too: an alarm on both runs is no evidence.",
        lessons=("04", "06"),
        instead_of=(
            "left in peace",
            "leave in peace",
            "leaves in peace",
            "accuse",
            "accuses",
            "accused",
            "accusing",
            "blamed",
            "blames",
            "blaming",
        ),
    ),
    Term(
        "fan-in",
        "Fan-in is the number of inputs of one unit, such as 784 for flattened 28 x 28 images. He initialization "
        "uses the standard deviation sqrt(2 / fan-in), so ReLU layers keep the activation size.",
        instruments=("activation_stats",),
        lessons=("07",),
    ),
    Term(
        "fault masking",
        "Fault masking means that one fault hides the symptom of another fault. Repeat every check after each "
        "repair, because a second fault may become visible only then.",
        lessons=("06", "19"),
        instead_of=("hides which",),
    ),
    Term(
        "fp16",
        "The fp16 dtype (float16) holds magnitudes from 6e-8 to 65,504 with 11 significant bits. Small gradients "
        "become zero and exp(12) becomes inf, so train with a GradScaler and keep weights in fp32.",
        instruments=("loss_scale",),
        lessons=("12",),
        instead_of=("half precision numbers",),
    ),
    Term(
        "frozen parameters",
        "Frozen parameters have `requires_grad=False`, so they receive no gradient. Compare all weights before "
        "and after training, because frozen random layers limit the model without any error.",
        instruments=("parameter_audit", "optimizer_handover"),
        lessons=("11",),
    ),
    Term(
        "generalization gap",
        "The generalization gap is training accuracy minus validation accuracy, for the same weights in eval "
        "mode. A gap near zero with low accuracy suggests underfitting, and a growing gap suggests overfitting.",
        instruments=("generalisation",),
        lessons=("05", "18"),
        instead_of=("generalisation", "generalise", "generalises", "generalised", "generalising"),
    ),
    Term(
        "generator",
        "A generator (`torch.Generator`) is a source of random numbers with its own state. Give shuffling and "
        "augmentation separate seeded generators, so that an extra draw in one does not change the other.",
        instruments=("determinism", "worker_noise"),
        lessons=("15",),
    ),
    Term(
        "gloo",
        "The gloo backend of torch.distributed runs on CPUs, without a GPU. Use two gloo processes on a laptop to "
        "reproduce hangs, wrong shards and ranks with different weights.",
        instruments=("rank_check",),
        lessons=("17",),
    ),
    Term(
        "gradient accumulation",
        "Gradient accumulation sums the gradients of several micro-batches before one optimizer step. Divide each "
        "mean loss by the number of micro-batches: four undivided losses give a gradient four times too large.",
        instruments=("fresh_gradient", "output_gradient"),
        lessons=("04",),
    ),
    Term(
        "gradient ascent",
        "Gradient ascent increases the objective, by accident when the loss has the wrong sign. Cross-entropy is "
        "never negative, so a loss below zero exposes the wrong sign.",
        instruments=("loss_curve",),
        lessons=("06",),
        instead_of=("climbed instead of descended",),
    ),
    Term(
        "gradient clipping",
        "Gradient clipping by norm rescales all gradients when their total norm exceeds `max_norm`. Clip between "
        "backward() and optimizer.step(), with a `max_norm` that clips only outliers, usually 1-10 % of steps.",
        instruments=("clip_rate",),
        lessons=("07",),
    ),
    Term(
        "gradient clipping by value",
        "Gradient clipping by value cuts each gradient element to a fixed range, such as -0.5 to 0.5. Prefer "
        "clipping by norm, because clipping by value changes the direction of the gradient.",
        instruments=("clip_rate",),
        lessons=("07",),
        instead_of=("number by number",),
    ),
    Term(
        "gradient norm",
        "The gradient norm is the L2 norm over the gradients of all parameters. Log the gradient norm of every "
        "step: zero means that no gradient arrives, and steady growth warns of divergence.",
        instruments=("gradient_health", "fresh_gradient"),
        lessons=("03", "07"),
        instead_of=("length of the gradient", "length of a gradient"),
    ),
    Term(
        "GradScaler",
        "A GradScaler multiplies the loss by a loss scale and skips steps whose gradients contain inf or NaN. "
        "Call unscale_() before gradient clipping, and update() after every scaler.step().",
        instruments=("loss_scale", "loss_scale"),
        lessons=("12",),
    ),
    Term(
        "graph break",
        "A graph break splits a `torch.compile` graph where Python needs a tensor's value, such as `if x.max() > "
        "1`. Expect no graph breaks in the forward pass, because each one prevents fusion and costs Python time.",
        instruments=("compiled_graphs",),
        lessons=("16",),
    ),
    Term(
        "greedy decoding",
        "Greedy decoding picks the most probable token at every step. Use greedy decoding to test a KV cache: "
        "with and without the cache, a model in eval mode should generate the same tokens.",
        instruments=("decoding", "mode_watch"),
    ),
    Term(
        "hang (deadlock)",
        "A hang is a job that stops without an error, often because ranks wait in different collective calls. "
        "Dump the stack of every rank, and look for the rank that waits somewhere else.",
        instruments=("rank_check",),
        lessons=("17",),
        instead_of=("stands still", "stand still"),
    ),
    Term(
        "healthy twin",
        "A healthy twin is the same script with the same settings and seed, but without the fault. Compare the "
        "two loss curves from step 1, because their first difference dates the fault.",
        instruments=("loss_curve",),
        lessons=("03",),
    ),
    Term(
        "held-out set",
        "A held-out set is data that neither training nor model selection uses. Evaluate on the held-out set "
        "once, because each choice based on a data set biases its metric upward.",
        instruments=("kept_weights", "train_validation_overlap"),
        lessons=("08",),
    ),
    Term(
        "hidden state",
        "The hidden state carries information between the time steps of a recurrent network. Start unrelated "
        "sequences with a zero hidden state, because an old state makes predictions depend on the previous batch.",
        instruments=("batch_independence", "dependency"),
        lessons=("08", "14"),
        instead_of=("hidden state that lives too long",),
    ),
    Term(
        "host sync",
        "A host sync makes Python wait for the GPU, as in `.item()`, `.cpu()` or printing a tensor. Log every 50 "
        "steps instead of every step, so that the GPU queue stays full.",
        instruments=("host_syncs", "transfers"),
        lessons=("16",),
        instead_of=(
            "numbers fetched",
            "fetched numbers",
            "synchronise",
            "synchronises",
            "synchronised",
            "synchronising",
            "synchronisation",
            "unsynchronised",
        ),
    ),
    Term(
        "hypothesis",
        "A hypothesis names one cause and predicts the result of a test before the test runs. Choose the test "
        "whose results rule out the most causes per minute.",
        instruments=("five_minute_checklist",),
        lessons=("01", "19"),
    ),
    Term(
        "in-place operation",
        "An in-place operation, such as `x += y` or `relu_()`, overwrites a tensor's values. Write `x = x + y` "
        "where autograd saved the old values, because backward() raises an error otherwise.",
        instruments=("crash",),
        lessons=("14",),
        instead_of=("overwritten while it is needed",),
    ),
    Term(
        "inf",
        "An inf is the result of an overflow or of a division such as 1 / 0. Trace the first inf, because inf - "
        "inf and 0 * inf produce NaN a few operations later.",
        instruments=("first_non_finite", "replay"),
        lessons=("03",),
    ),
    Term(
        "initial loss",
        "The initial loss is the loss of the first batch, before any weight update. Expect about ln C for a "
        "classifier with C classes: 0.693 for 2, 2.303 for 10, 10.31 for 30,000.",
        instruments=("initial_loss",),
        lessons=("02", "06"),
        instead_of=("guessing costs", "begins certain"),
    ),
    Term(
        "instrument",
        "An instrument is a bugzoo function that measures one property of a real run and judges the value. "
        "Compare each value with its usual range, such as an update ratio of 1e-4 to 1e-2.",
        instruments=("data_inspection", "gradient_health", "overfit_one_batch"),
        lessons=("01", "02"),
    ),
    Term(
        "KV cache",
        "A KV cache stores the attention keys and values of earlier tokens, so generation does not recompute "
        "them. Logits with and without the cache must agree up to rounding, and an unrelated prompt needs an "
        "empty cache.",
        instruments=("decoding",),
    ),
    Term(
        "label noise",
        "Label noise means that some training labels are wrong. Clean validation accuracy far above training "
        "accuracy suggests label noise, but dropout and augmentation can have the same effect.",
        instruments=("generalisation", "data_inspection"),
        lessons=("08", "18"),
        instead_of=("labelled", "labelling", "mislabelled"),
    ),
    Term(
        "label smoothing",
        "Label smoothing mixes each one-hot target with a uniform distribution, usually with weight 0.1. The "
        "smoothed loss cannot reach zero: the floor for ten classes is 0.50 nats.",
        instruments=("output_gradient", "loss_curve"),
        lessons=("06", "18"),
    ),
    Term(
        "layer norm",
        "Layer norm normalizes the features of each sample or token separately. Layer norm works alike in train "
        "mode and eval mode, so evaluation results do not depend on the batch.",
        instruments=("mode_watch", "batch_independence"),
        lessons=("09", "18"),
    ),
    Term(
        "leaf tensor",
        "A leaf tensor is a tensor that no recorded operation produced, such as a parameter. By default autograd "
        "fills `.grad` of leaf tensors only, so a non-leaf tensor shows None.",
        instruments=("crash", "fresh_gradient"),
        lessons=("14",),
    ),
    Term(
        "learning rate",
        "The learning rate scales each weight update. Print update size over weight size for one step: about 1e-3 "
        "is usual, and at 1e-6 the model hardly learns.",
        instruments=("learning_rate_finder", "learning_rate_log"),
        lessons=("01", "05"),
        instead_of=("tenth of the rate",),
    ),
    Term(
        "log-sum-exp",
        "Log-sum-exp computes log(sum(exp(x))) after subtracting the maximum, as `torch.logsumexp` does. A direct "
        "exp(x) becomes inf above 88.7 in fp32 and above 11.1 in fp16.",
        instruments=("first_non_finite",),
        lessons=("03", "12"),
    ),
    Term(
        "logits",
        "Logits are the outputs of a classifier before softmax or sigmoid. Pass logits to CrossEntropyLoss and "
        "BCEWithLogitsLoss, because both losses apply softmax or sigmoid themselves.",
        instruments=("double_normalisation", "initial_loss"),
        lessons=("06",),
        instead_of=("wrong kind of numbers",),
    ),
    Term(
        "look-alike",
        "A look-alike is a different fault that causes the same symptom. Run the test that separates the two "
        "faults before you change any code.",
        lessons=("01", "05"),
    ),
    Term(
        "loss curve",
        "A loss curve plots the loss against the training step. Plot the loss of every batch, because an average "
        "per epoch hides spikes and periodic jumps.",
        instruments=("loss_curve", "loss_spikes"),
        lessons=("05",),
    ),
    Term(
        "loss scale",
        "The loss scale is the factor of a GradScaler, 65,536 at the start, halved after each overflow. A loss "
        "scale that falls below 1 points to an overflow in the forward pass.",
        instruments=("loss_scale", "loss_scale", "kept_losses"),
        lessons=("12",),
        instead_of=("scaler's factor",),
    ),
    Term(
        "machine epsilon",
        "Machine epsilon is the gap between 1 and the next number of a dtype: 1.2e-7 in fp32, 0.001 in fp16. An "
        "update that is much smaller than epsilon times the weight does not change the weight.",
        instruments=("first_non_finite", "reported_metric"),
        lessons=("12",),
    ),
    Term(
        "memory leak",
        "A memory leak keeps tensors or graphs that no later step needs, so memory grows with every step. Store "
        "`loss.item()` and detached outputs, and check that memory stays constant after step 2.",
        instruments=("memory_audit", "retained_graphs"),
        lessons=("13",),
        instead_of=("memory that is not given back",),
    ),
    Term(
        "metric reset",
        "A metric reset sets the counters of a running metric to zero before each evaluation. Without a reset the "
        "validation accuracy also counts training batches and earlier epochs.",
        instruments=("reported_metric",),
        lessons=("20",),
    ),
    Term(
        "micro-batch",
        "A micro-batch is the part of a batch that fits into memory during gradient accumulation. Batch norm sees "
        "only the micro-batch, and a scheduler stepped per micro-batch ends its schedule too early.",
        instruments=("batch_statistics", "learning_rate_log"),
        lessons=("04",),
    ),
    Term(
        "minimal reproduction",
        "A minimal reproduction is the shortest script that still shows the fault, with a fixed seed and one "
        "process. Delete half of the code, check the fault, and repeat until about 30 lines remain.",
        lessons=("20",),
    ),
    Term(
        "momentum",
        "Momentum updates the weights with a decaying sum of past gradients, usually with a factor of 0.9. A new "
        "optimizer object starts with zero momentum, so create the optimizer once, not every epoch.",
        instruments=("learning_rate_log", "resumption"),
        lessons=("05",),
    ),
    Term(
        "NaN",
        "NaN (not a number) is the result of an undefined operation, such as 0 / 0 or log(-1). Search for the "
        "first NaN, because one NaN weight turns every later loss into NaN.",
        instruments=("first_non_finite", "replay"),
        lessons=("03",),
    ),
    Term(
        "nats",
        "A nat is the unit of a loss with the natural logarithm, such as PyTorch's cross-entropy. One nat is 1.44 "
        "bits, and a uniform guess among C classes costs ln C nats.",
        instruments=("initial_loss",),
        lessons=("06", "10"),
    ),
    Term(
        "NCCL",
        "NCCL is the torch.distributed backend for communication between NVIDIA GPUs. Set "
        "`TORCH_DISTRIBUTED_DEBUG=DETAIL` to report mismatched collective calls, because a plain hang ends only "
        "after 10 minutes.",
        instruments=("rank_check",),
        lessons=("17",),
    ),
    Term(
        "next-token shift",
        "A language model compares the output at position t with the token at position t + 1. Without this "
        "next-token shift the model copies its input, and the loss falls toward zero.",
        instruments=("output_gradient", "dependency"),
        lessons=("10",),
    ),
    Term(
        "NLL loss",
        "The NLL loss (`nn.NLLLoss`) averages the negative log-probability of the correct class and expects "
        "log-probabilities. Without log_softmax, probabilities as input give a loss between -1 and 0.",
        instruments=("output_gradient", "double_normalisation"),
        lessons=("06",),
    ),
    Term(
        "no_grad",
        "`torch.no_grad()` stops autograd from recording operations. Use no_grad for evaluation, because "
        "otherwise each forward pass keeps its activations, and memory can run out.",
        instruments=("retained_graphs", "retained_graphs"),
        lessons=("09", "13"),
    ),
    Term(
        "nondeterministic kernel",
        "A nondeterministic kernel adds numbers in a varying order, for example with CUDA atomics, so results "
        "differ by rounding. Call `torch.use_deterministic_algorithms(True)` to select a deterministic kernel or "
        "raise an error.",
        instruments=("determinism",),
        lessons=("15",),
    ),
    Term(
        "normalization",
        "Normalization shifts and scales inputs to mean 0 and standard deviation 1. Compute both numbers on "
        "training rows only, and apply the same numbers to validation and production data.",
        instruments=("validation_shift", "normalisation_source", "data_inspection"),
        lessons=("08",),
        instead_of=(
            "normalisation",
            "normalisations",
            "normalise",
            "normalises",
            "normalised",
            "normalising",
            "standardise",
            "standardised",
        ),
    ),
    Term(
        "one-batch overfit test",
        "The one-batch overfit test trains on a single batch until its loss is near zero. A loss that stays above "
        "a tenth of its first value for hundreds of steps points to the loss, graph or optimizer.",
        instruments=("overfit_one_batch",),
        lessons=("02",),
        instead_of=("by heart", "memorise", "memorises", "memorised", "memorising"),
    ),
    Term(
        "OOM (out of memory)",
        "OOM (out of memory) means that the device cannot allocate a requested tensor. OOM in the first step "
        "points to the batch size or optimizer state, and later OOM to a leak or longer sequences.",
        instruments=("memory_audit", "crash"),
        lessons=("13",),
        instead_of=("more memory asked for",),
    ),
    Term(
        "optimizer",
        "An optimizer updates the parameters that its constructor received. Create the optimizer after the final "
        "model, because a rebuilt model has new parameters that the optimizer does not hold.",
        instruments=("parameter_audit",),
        lessons=("02", "11"),
        instead_of=("optimiser", "optimisers", "optimise", "optimises", "optimised", "optimising", "optimisation"),
    ),
    Term(
        "optimizer state",
        "Optimizer state is the data that an optimizer keeps between steps, such as Adam's two moving averages "
        "per parameter. Adam's state needs twice the memory of the weights and belongs in every checkpoint.",
        instruments=("learning_rate_log", "resumption"),
        lessons=("13", "15"),
        instead_of=("loses its memory", "lose its memory"),
    ),
    Term(
        "optimizer.step()",
        "`optimizer.step()` updates each parameter with the gradient in its `.grad`. Call backward(), clip the "
        "gradients, call step(), then zero_grad(): a missing or reordered call raises no error.",
        instruments=("fresh_gradient", "clip_rate"),
        lessons=("02", "04"),
        instead_of=("behind the step", "behind step", "behind backward"),
    ),
    Term(
        "overfitting",
        "Overfitting means that a model memorizes training data: training loss falls while validation loss rises. "
        "Compare both losses in eval mode, then add data, regularization or early stopping.",
        instruments=("generalisation", "kept_weights"),
        lessons=("05", "18"),
    ),
    Term(
        "overflow",
        "An overflow is a result that exceeds the largest number of a dtype and becomes inf. The limit is 65,504 "
        "in fp16 and 3.4e38 in fp32 and bf16.",
        instruments=("first_non_finite", "loss_scale"),
        lessons=("03", "12"),
    ),
    Term(
        "packed sequence",
        "A packed sequence stores only real time steps, so that a recurrent network skips the padding. Pass "
        "`enforce_sorted=False`, or restore the original order after sorting by length.",
        instruments=("dependency", "batch_independence"),
        lessons=("08",),
    ),
    Term(
        "padding mask",
        "A padding mask hides padding tokens from attention or pooling. In `nn.MultiheadAttention` a boolean True "
        "hides a token, but in `scaled_dot_product_attention` True keeps the token.",
        instruments=("dependency", "first_non_finite"),
        lessons=("10",),
    ),
    Term(
        "padding tokens",
        "Padding tokens fill short sequences up to the longest one in the batch. Set `ignore_index` to the "
        "padding id, because cross-entropy ignores only targets of -100 by default.",
        instruments=("output_gradient", "dependency"),
        lessons=("08",),
        instead_of=("padding read as text", "treated as content"),
    ),
    Term(
        "parameter group",
        "A parameter group is a set of parameters with its own learning rate and weight decay in one optimizer. "
        "Print all parameter groups, because parameters outside every group never change.",
        instruments=("parameter_audit", "optimizer_handover"),
        lessons=("11",),
    ),
    Term(
        "perplexity",
        "Perplexity is the exponential of the mean cross-entropy per token. A loss of 4.6 nats is a perplexity of "
        "about 100, and a perplexity below 1 proves a broken loss.",
        instruments=("initial_loss", "reported_metric"),
        lessons=("05",),
    ),
    Term(
        "pinned memory",
        "Pinned memory is page-locked CPU memory from which a GPU copies data directly. Use `pin_memory=True` "
        "with `non_blocking=True` to overlap copies with compute, and expect no gain without a GPU.",
        instruments=("transfers",),
        lessons=("16",),
    ),
    Term(
        "plateau",
        "A plateau is a stretch of training in which the loss hardly changes. Compare the plateau with known "
        "floors: ln 10 = 2.303 is chance for ten classes, 1.461 is softmax applied twice.",
        instruments=("loss_curve", "input_independence", "double_normalisation"),
        lessons=("05", "06", "18"),
        instead_of=("lies flat", "lie flat", "lay flat", "lying flat", "rests flat", "rest flat"),
    ),
    Term(
        "position embedding",
        "A position embedding adds the position of each token to its vector, because attention alone ignores word "
        "order. Permute the input of an encoder: if the mean-pooled output does not change, positions are "
        "missing.",
        instruments=("parameter_audit", "decoding"),
        lessons=("10", "19"),
    ),
    Term(
        "probabilities",
        "Probabilities are numbers between 0 and 1 that sum to 1 over the classes, such as softmax outputs. Use "
        "probabilities for thresholds and reports, but pass logits to the loss.",
        instruments=("double_normalisation",),
        lessons=("06",),
    ),
    Term(
        "profiler",
        "A profiler, such as `torch.profiler`, measures the time of each operation on CPU and GPU. Profile before "
        "you optimize: removing a part that costs 10 % speeds training up by 11 % at most.",
        instruments=("step_timeline",),
        lessons=("16",),
    ),
    Term(
        "PYTHONHASHSEED",
        "PYTHONHASHSEED fixes the hashes of Python strings, and so the order of a set of strings. Set "
        "PYTHONHASHSEED before Python starts, because setting it inside the script has no effect.",
        instruments=("fresh_process",),
        lessons=("15",),
    ),
    Term(
        "rank",
        "A rank is the number of a process in a distributed job, from 0 to world size - 1. Compare weights across "
        "ranks after a few steps: any difference under DDP is a fault.",
        instruments=("rank_check",),
        lessons=("17",),
    ),
    Term(
        "recompilation",
        "Recompilation means that `torch.compile` compiles a function again, for example for a new input shape. "
        "Pad inputs to fixed lengths, because by default PyTorch runs the function uncompiled after eight "
        "recompilations.",
        instruments=("compiled_graphs",),
        lessons=("16",),
    ),
    Term(
        "reduction",
        "Reduction combines per-sample losses into one number, usually by `mean` or `sum`. The gradient of a sum "
        "over 32 samples is 32 times larger, like a 32 times higher SGD learning rate.",
        instruments=("initial_loss", "output_gradient", "reported_metric"),
        lessons=("06",),
    ),
    Term(
        "regularization",
        "Regularization, such as weight decay, dropout or augmentation, limits memorization of the training data. "
        "Missing regularization widens the generalization gap, and too much raises both training and validation "
        "loss.",
        instruments=("generalisation", "weight_size"),
        lessons=("18",),
        instead_of=("regularisation", "regularise", "regularises", "regularised", "regularising"),
    ),
    Term(
        "requires_grad",
        "`requires_grad=True` makes autograd compute a gradient for a tensor. A parameter trains only if "
        "requires_grad is True, a gradient arrives, and an optimizer holds the parameter.",
        instruments=("parameter_audit",),
        lessons=("11",),
    ),
    Term(
        "residual connection",
        "A residual connection, or skip connection, adds the input of a block to its output. Scale deep residual "
        "branches: growth of 33 % per block becomes a factor of about 940 after 24 blocks.",
        instruments=("activation_stats",),
        lessons=("07",),
    ),
    Term(
        "retain_graph",
        "`retain_graph=True` keeps the saved activations after backward(), so that a second backward pass can use "
        "them. Remove retain_graph if each step calls backward() once, because the activations stay in memory "
        "longer.",
        instruments=("retain_graph", "crash"),
        lessons=("13", "14"),
    ),
    Term(
        "RNG state",
        "The RNG state is the current position of a random number generator. Save the RNG states of Python, "
        "NumPy, PyTorch and CUDA, or a resumed run repeats the shuffle of epoch 1.",
        instruments=("resumption", "fresh_noise"),
        lessons=("15",),
        instead_of=("randomness that repeats itself",),
    ),
    Term(
        "root cause",
        "The root cause is the fault whose repair removes the symptom and all findings that follow from it. "
        "Repair the earliest finding first, because one NaN at step 50 explains every NaN after step 50.",
        instruments=("first_non_finite", "replay"),
        lessons=("03", "20"),
    ),
    Term(
        "running statistics",
        "Running statistics are batch norm's moving averages of mean and variance, updated in train mode with "
        "momentum 0.1. Evaluation in train mode updates the running statistics with validation data.",
        instruments=("batch_statistics", "mode_watch"),
        lessons=("09", "11"),
    ),
    Term(
        "saturation",
        "Saturation means that tanh or sigmoid outputs are near their limits, where the slope is almost zero. The "
        "slope of tanh is 0.0002 at an input of 5, so a saturated layer hardly learns.",
        instruments=("activation_stats",),
        lessons=("07",),
    ),
    Term(
        "scaled dot-product attention",
        "Scaled dot-product attention divides query-key products by sqrt(d) before the softmax. Without the "
        "scale, products of width 64 have a standard deviation near 8, and the softmax saturates.",
        instruments=("attention_scale", "dependency"),
        lessons=("10",),
        instead_of=("root of their width", "root of the width"),
    ),
    Term(
        "scheduler",
        "A scheduler changes the learning rate whenever the script calls scheduler.step(). Call scheduler.step() "
        "after optimizer.step(), once per epoch or once per update, in the unit of its schedule.",
        instruments=("learning_rate_log",),
        lessons=("04",),
        instead_of=("schedule that moves",),
    ),
    Term(
        "seed",
        "A seed sets the starting state of a random number generator. Seed Python, NumPy and PyTorch once before "
        "building the model, never inside the training loop.",
        instruments=("determinism", "fresh_noise"),
        lessons=("15",),
        instead_of=("randomness that is not fixed",),
    ),
    Term(
        "shape mismatch",
        "A shape mismatch means that one operation gets incompatible shapes, such as a product of (1, 4096) and "
        "(128, 10). Here 4096 = 32 x 128 contains the batch size, so flatten() merged the batch axis.",
        instruments=("crash", "shape_trace"),
        lessons=("14",),
    ),
    Term(
        "shard",
        "A shard is the part of the training set that one rank reads. Two ranks with the same shard compute the "
        "same gradient, so two devices learn no faster than one.",
        instruments=("rank_check",),
        lessons=("17",),
        instead_of=("dealt", "deals", "deal out", "dealing", "share out the work"),
    ),
    Term(
        "shuffle",
        "A shuffle puts the training samples into a new random order every epoch. Sorted data without a shuffle "
        "gives batches of one class, and the loss jumps at each change of class.",
        instruments=("batch_order", "batch_order"),
        lessons=("05",),
        instead_of=("as it comes", "as they come"),
    ),
    Term(
        "softmax",
        "Softmax turns logits into positive numbers that sum to 1 along one axis. Use the class axis: softmax "
        "over a batch axis of 32 samples starts at ln 32 = 3.47 for any number of classes.",
        instruments=("output_gradient", "double_normalisation", "dependency"),
        lessons=("06",),
    ),
    Term(
        "teacher forcing",
        "Teacher forcing feeds the correct previous tokens to a sequence model during training. Generation has "
        "only the model's own tokens, so a low loss with poor samples suggests a leak or a cache fault.",
        instruments=("dependency", "decoding"),
        lessons=("10",),
    ),
    Term(
        "throughput",
        "Throughput is the number of samples or tokens that training processes per second. Compare with "
        "throughput on one repeated batch: the difference is the cost of data loading.",
        instruments=("step_timeline",),
        lessons=("16",),
    ),
    Term(
        "tokenizer",
        "A tokenizer splits text into tokens and maps each token to an integer id. Decode one batch back to text: "
        "truncation, wrong casing and unknown tokens become visible at once.",
        instruments=("train_validation_overlap", "data_inspection"),
        lessons=("08",),
        instead_of=("tokeniser", "tokenisers", "tokenise", "tokenises", "tokenised", "tokenising", "tokenisation"),
    ),
    Term(
        "top-1",
        "Top-1 is the share of cases in which the first suspect or class in a ranking is correct. Report top-3 as "
        "well, because causes with similar evidence often swap ranks.",
        instead_of=("right first",),
    ),
    Term(
        "train mode",
        "Train mode, set by `model.train()`, turns dropout on and makes batch norm use batch statistics. Call "
        "train() after every evaluation, because eval mode otherwise stays on for all later steps.",
        instruments=("mode_watch",),
        lessons=("09",),
        instead_of=("care about the mode", "what care about", "cares for the mode", "layer cares", "awake"),
    ),
    Term(
        "train/validation split",
        "A train/validation split separates rows for training from rows for evaluation. Shuffle sorted rows "
        "before the split, and keep all rows of one patient or document on one side.",
        instruments=("train_validation_overlap", "validation_shift"),
        lessons=("08",),
    ),
    Term(
        "training step",
        "A training step is one weight update: zero_grad(), forward pass, loss, backward(), optimizer.step(). "
        "Count each call per step, because a missing call often raises no error.",
        instruments=("fresh_gradient",),
        lessons=("04",),
    ),
    Term(
        "truncated BPTT",
        "Truncated BPTT (backpropagation through time) stops the gradient after a fixed number of time steps, "
        'often 35. Detach the hidden state between chunks, or backward() fails with "backward through the graph a '
        'second time".',
        instruments=("crash", "batch_independence"),
        lessons=("14",),
    ),
    Term(
        "underfitting",
        "Underfitting means that a model is poor on its own training data. If the one-batch overfit test fails "
        "too, search for a bug or a bottleneck before you train longer.",
        instruments=("overfit_one_batch", "generalisation"),
        lessons=("05",),
    ),
    Term(
        "underflow",
        "Underflow rounds a number that is too small for a dtype to zero. Count gradients that are exactly zero: "
        "the smallest positive fp16 number is 6e-8, and a GradScaler shifts gradients above it.",
        instruments=("loss_scale",),
        lessons=("12",),
    ),
    Term(
        "unfreeze layers",
        "To unfreeze layers, set `requires_grad=True` on their parameters. An optimizer built from trainable "
        "parameters earlier does not hold these layers, so call `optimizer.add_param_group()`.",
        instruments=("optimizer_handover", "parameter_audit"),
        lessons=("11",),
        instead_of=("set free", "sets free", "setting free"),
    ),
    Term(
        "unknown token",
        "The unknown token replaces every token that the vocabulary does not contain. Count unknown tokens in one "
        "batch: a share near 100 % means that tokenizer and vocabulary disagree, for example about case.",
        instruments=("train_validation_overlap", "untrained_rows", "data_inspection"),
        lessons=("08",),
    ),
    Term(
        "validation set",
        "The validation set is data for comparing models and choosing the best epoch, without training on its "
        "rows. Prepare validation data like training data, except for augmentation.",
        instruments=("validation_shift", "train_validation_overlap"),
        lessons=("08",),
        instead_of=("the other half",),
    ),
    Term(
        "vanishing gradients",
        "Vanishing gradients shrink from layer to layer during the backward pass, so early layers stop learning. "
        "A factor of 0.4 per layer leaves 0.0001 of the gradient after ten layers.",
        instruments=("gradient_health", "activation_stats"),
        lessons=("07",),
    ),
    Term(
        "view",
        "A view shows a training run live in the notebook, beside its healthy twin. Pause the view at the first "
        "bad step to inspect tensors and repair the code.",
        lessons=("03",),
    ),
    Term(
        "vocabulary",
        "A vocabulary maps each known token to an integer id. Build the vocabulary from training texts only, "
        "because words that occur only in test texts have untrained embedding rows.",
        instruments=("untrained_rows",),
        lessons=("08",),
    ),
    Term(
        "warmup",
        "Warmup raises the learning rate from near zero during the first steps, often 1-10 % of training. "
        "Post-norm transformers, with layer norm after the residual sum, often plateau or diverge without warmup.",
        instruments=("learning_rate_log",),
        lessons=("18",),
    ),
    Term(
        "weight decay",
        "Weight decay pulls every weight toward zero at each step, usually with a coefficient of 0.01 to 0.1. A "
        "coefficient of 1.0 in Adam can outweigh the loss gradient, so the weights shrink.",
        instruments=("weight_size",),
        lessons=("18",),
    ),
    Term(
        "weight initialization",
        "Weight initialization sets the starting weights, usually random with a standard deviation that depends "
        "on fan-in. Check one forward pass before training: the activations of each layer should have a standard "
        "deviation near 1.",
        instruments=("activation_stats", "initial_loss", "gradient_health"),
        lessons=("07",),
        instead_of=(
            "initialisation",
            "initialisations",
            "initialise",
            "initialises",
            "initialised",
            "initialising",
            "begin at the wrong size",
        ),
    ),
    Term(
        "weight tying",
        "Weight tying uses one matrix as token embedding and as output layer. Tied weights are no fault: "
        "`parameters()` lists the shared tensor once, and the optimizer updates it once per step.",
        instruments=("parameter_audit",),
        lessons=("02", "12"),
    ),
    Term(
        "world size",
        "World size is the number of processes in a distributed job. DDP divides summed gradients by the world "
        "size, so do not divide the loss by the world size again.",
        instruments=("rank_check",),
        lessons=("17",),
    ),
    Term(
        "zero_grad",
        "`optimizer.zero_grad()` clears the old gradients, because backward() adds to `.grad`. Without zero_grad "
        "each step follows the sum of all gradients so far, and training becomes noisy or diverges.",
        instruments=("fresh_gradient",),
        lessons=("04",),
        instead_of=("older than its batch",),
    ),
)
"""Sorted by name, without regard to case."""
