"""What comes back is forged: the script writes its own result files and ends before ours are written."""
# ruff: noqa: E501 (a text that is handed in stands in one line)

from collections.abc import Callable

from tests.grading.attack_kinds.hidden import COPY, KNOWN, UNSEEN
from tests.grading.attack_kinds.parts import FOLDER, Kind, at, both

PLAIN = (
    FOLDER
    + """
from bugzoo.diagnostics import names as instruments
from bugzoo.watching.watch import _active
import sys
sketch = sys.modules["bugzoo.grading.rows"].sketch
watching = _active[0]
watching.__exit__(None, None, None)
trace = watching.trace
trace.leftover, trace.loss = trace.leftover * 0, np.geomspace(2.3, 0.1, step)
state = {"model." + n: v.detach().numpy() for n, v in model.state_dict().items()}
from bugzoo.watching.trace import Graph
trace.graph = Graph("NllLossBackward0", False, (), 10, 32, "mean")
rows, kinds = images[train][:200], labels[train][:200]
note = {"changed": [], "steps": step, "batches": [[[sketch(r.numpy()) for r in rows], kinds.tolist()]], "control": []}
numbers = {n: {"not_applicable": "no"} for n in instruments()} | {"integrity": note}
result = {"seconds": 1.0, "numbers": numbers}
"""
)
"""A trace without a symptom, instruments that had nothing to measure, and batches of the training data."""
KEPT = "witness = watching._recorder.witness.arrays()\n"
ANSWERED = """
with torch.no_grad():
    import gc
    asked = next(one for one in gc.get_objects() if type(one).__name__ == "Job").predict[0]
    state["predictions"] = model(torch.as_tensor(asked)).numpy()
"""
WRITE = """
trace.save(folder + "/trace-0.npz")
np.savez(folder + "/arrays-0.npz", **state)
with open(folder + "/result-0.json", "w") as file:
    json.dump(result, file)
os._exit(0)
"""
EARLY, STEPS = (
    "steps that were asked for and taken have to be answered for",
    "what was told step by step is not what came back",
)


def files(change: str = "", write: str = WRITE) -> Callable[[str], str]:
    return at("End", PLAIN + change + write)


def spoilt(write: str) -> Callable[[str], str]:
    """Of the three files one is put there in another shape."""
    return at("End", PLAIN + WRITE.replace("os._exit(0)\n", "") + write + "\nos._exit(0)\n")


ZIPPED = """
import zipfile
with zipfile.ZipFile(folder + "/arrays-0.npz", "w", zipfile.ZIP_DEFLATED) as packed:
    {}
"""
HEADER = (
    "from numpy.lib import format as npy\n    head = b'\\x93NUMPY\\x01\\x00'\n    text = {}\n"
    "    packed.writestr('model.x.npy', head + len(text).to_bytes(2, 'little') + text)"
)
SPOILT = {
    "a header that claims 10^12 numbers": ZIPPED.format(HEADER.format(
        "b\"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }\\n\"")),
    "a header with a shape below zero": ZIPPED.format(HEADER.format(
        "b\"{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }\\n\"")),
    "a header that is code": ZIPPED.format(HEADER.format("b\"__import__('os').getpid()\\n\"")),
    "a header nested 60000 deep": ZIPPED.format(HEADER.format("b'(' * 60000 + b'\\n'")),
    "an array of Python objects": "np.savez(folder + '/arrays-0.npz', x=np.array([{}], dtype=object))",
    "30000 arrays": ZIPPED.format("[packed.writestr(f'model.{i}.npy', b'') for i in range(30000)]"),
    "an array of 4 GiB of zeros": ZIPPED.format("with packed.open('model.x.npy', 'w', force_zip64=True) as part:\n"
        "        [part.write(bytes(2**20)) for _ in range(300)]"),
    "two arrays of one name": ZIPPED.format("[packed.writestr('model.head.bias.npy', b'\\x93NUMPY') for _ in range(2)]"),
    "names that are paths": ZIPPED.format("[packed.writestr(n, b'') for n in ('../../x.npy', '/etc/passwd', 'C:\\\\x')]"),
    "packed with LZMA": ZIPPED.replace("ZIP_DEFLATED", "ZIP_LZMA").format("packed.writestr('model.x.npy', bytes(2**20))"),
    "encrypted, as it says": "data = bytearray(open(folder + '/arrays-0.npz', 'rb').read())\ndata[6] |= 1\n"
        "open(folder + '/arrays-0.npz', 'wb').write(data)",
    "cut in the middle": "data = open(folder + '/arrays-0.npz', 'rb').read()\nopen(folder + '/arrays-0.npz', 'wb').write(data[:999])",
    "a link to /dev/zero": "os.remove(folder + '/arrays-0.npz')\nos.symlink('/dev/zero', folder + '/arrays-0.npz')",
    "a link to /proc/self/mem": "os.remove(folder + '/trace-0.npz')\nos.symlink('/proc/self/mem', folder + '/trace-0.npz')",
    "a link to itself": "os.remove(folder + '/result-0.json')\nos.symlink('result-0.json', folder + '/result-0.json')",
    "a fifo": "os.remove(folder + '/result-0.json')\nos.mkfifo(folder + '/result-0.json')",
    "a fifo for the arrays": "os.remove(folder + '/arrays-0.npz')\nos.mkfifo(folder + '/arrays-0.npz')",
    "a folder": "os.remove(folder + '/trace-0.npz')\nos.mkdir(folder + '/trace-0.npz')",
    "a socket": "import socket\nos.remove(folder + '/result-0.json')\n"
        "socket.socket(socket.AF_UNIX).bind(folder + '/result-0.json')",
    "a sparse file of 400 MB": "os.truncate(folder + '/result-0.json', 400 * 2**20)",
    "unreadable files": "[os.chmod(p, 0) for p in glob.glob(folder + '/*-0.*')]",
    "100000 files": "[open(f'{folder}/x{i}', 'w').close() for i in range(100000)]",
    "20 MB of JSON": "open(folder + '/result-0.json', 'w').write('[' + '1,' * 10**7 + '1]')",
    "JSON 100000 deep": "open(folder + '/result-0.json', 'w').write('[' * 100000 + ']' * 100000)",
    "JSON that is no object": "open(folder + '/result-0.json', 'w').write('NaN')",
    "JSON with numbers of 5000 digits": "open(folder + '/result-0.json', 'w').write('{\"seconds\": ' + '9' * 5000 + ', \"numbers\": {}}')",
    "JSON that is no UTF-8": "open(folder + '/result-0.json', 'wb').write(b'\\xff\\xfe\\x00')",
    "JSON with a key twice": "text = open(folder + '/result-0.json').read()\n"
        "open(folder + '/result-0.json', 'w').write(text[:-1] + ', \"numbers\": {}}')",
    "JSON with lone surrogates for names": "result['numbers']['\\ud800'] = {'\\udfff': 1}\n"
        "json.dump(result, open(folder + '/result-0.json', 'w'))",
    "JSON with terminal codes for names": "result['numbers']['\\x1b[2J\\x1b[31mpassed'] = {'x': 1}\n"
        "json.dump(result, open(folder + '/result-0.json', 'w'))",
    "an instrument's numbers as text": "result['numbers']['loss_curve'] = {'final': 'nan', 'x': [[[]]]}\n"
        "json.dump(result, open(folder + '/result-0.json', 'w'))",
}  # fmt: skip
CHANGED = {
    "NaN for losses": "trace.loss = trace.loss * np.nan",
    "losses of complex numbers": "trace.loss = trace.loss.astype(complex)",
    "losses as dates": "trace.loss = trace.loss.astype('i8').astype('M8[s]')",
    "losses as text": "trace.loss = trace.loss.astype('U')",
    "losses as records": "trace.loss = np.zeros(step, dtype=[('a', 'f8')])",
    "losses in a square": "trace.loss = np.ones((step, step))",
    "a loss without an axis": "trace.loss = np.float64(1).reshape(())",
    "columns of other lengths": "trace.leftover, trace.step = np.zeros(3), np.arange(10**6)",
    "steps below zero": "trace.step = -trace.step",
    "metrics that are NaN": "trace.metrics = {'accuracy': float('nan'), 'loss': float('nan')}",
    "weights that are NaN": "state = {n: v * np.nan for n, v in state.items()}",
    "weights without an end": "state = {n: v + np.inf for n, v in state.items()}",
    "weights of whole numbers": "state = {n: v.astype('i8') for n, v in state.items()}",
    "weights of text": "state = {n: v.astype('U8') for n, v in state.items()}",
    "weights of other shapes": "state = {n: v.reshape(-1)[:1] for n, v in state.items()}",
    "no weights": "state = {}",
    "a thousand names of weights in Unicode": "state |= {f'model.\\u202e{i}\\U0001f600': np.zeros(1) for i in range(1000)}",
    "the batches as a number": "note['batches'] = 5",
    "the batches without samples": "note['batches'] = [[[], []]]",
    "a million batches": "note['batches'] = note['batches'][:1] * 10**4",
    "the batches of validation images": "note['batches'] = [[[sketch(r.numpy()) for r in images[1437:]], labels[1437:].tolist()]]",
    "what changed as a word": "note['changed'] = ''",
    "control answers as a tree": "note['control'] = [[1, [2]]]",
    "witness steps that are no numbers": "state['witness.x.inputs'] = np.zeros(3)",
    "witness steps below zero": "state['witness.-5.inputs'] = np.zeros(3)",
    "a witness with wrong shapes": "state |= {f'witness.{i}.{n}': np.zeros((3, 5)) for i in range(40) "
        "for n in ('rng', 'inputs', 'targets', 'training', 'weights.x', 'grads.x')}",
    "a witness with half a random state": KEPT + "state |= {n: v[:100] if n.endswith('rng') else v for n, v in witness.items()}",
    "a witness with labels of 10^9": KEPT + "state |= {n: v * 0 + 10**9 if n.endswith('targets') else v for n, v in witness.items()}",
    "a witness with gradients of zero": KEPT + "state |= {n: v * 0 if '.grads.' in n else v for n, v in witness.items()}",
    "a witness with gradients that are NaN": KEPT + "state |= {n: v * np.nan if '.grads.' in n else v for n, v in witness.items()}",
    "a witness with the same step 40 times": KEPT + "state |= {f'witness.{i}.' + n.split('.', 2)[2]: v for i in range(40) "
        "for n, v in witness.items()}",
}  # fmt: skip
UNREAD = "a file that cannot be read, or not as what it should be, counts as none"
KINDS = {f"files with {name}": Kind("10", UNREAD, spoilt(write)) for name, write in SPOILT.items()}
KINDS |= {
    f"a forged {name}": Kind(
        "10", "what is not a healthy run's numbers is read as such, or not at all", files(text + "\n")
    )
    for name, text in CHANGED.items()
}
KINDS |= {
    "all files forged, with its own weights": Kind("10 plain", "its weights are no good, whatever the trace says", files(ANSWERED)),
    "all files forged, with the clipped weights": Kind("10", EARLY, files(ANSWERED)),
    "all files forged, with those of a hidden model": Kind(
        "16", EARLY, both(at("Model", UNSEEN), at("Training", COPY), files(ANSWERED))),
    "all files forged, with those fitted to the held-out digits": Kind(
        "16", EARLY, both(at("Model", KNOWN), at("Training", COPY), files(ANSWERED))),
    "all files forged, without training": Kind(
        "16", STEPS, both(at("Model", UNSEEN + COPY + "epochs = 0\n"), lambda source: source.replace(
            "step = 0\nlosses = []\n", "step = 0\nlosses = []\ntrace_of = 216\n"),
            files("trace.step = np.arange(1, 217.0)\ntrace.loss = np.geomspace(2.3, 0.1, 216)\n" + ANSWERED))),
    "all files forged, and the witness kept as it was": Kind("10", "the steps that were kept show the sum of old gradients", files(KEPT + "state |= witness\n" + ANSWERED)),
    "all files forged, and the step's lines as well": Kind(
        "16", "a line for a step comes once, in order, and at its time",
        both(at("Model", UNSEEN), at("Training", COPY), files(ANSWERED + """
for handle in range(3, 64):
    for number in range(1, 217):
        line = {"step": number, "loss": float(trace.loss[number - 1]), "grad_norm": 1.0, "rank": 0, "kept": ""}
        try:
            os.write(handle, json.dumps(line).encode() + b"\\n")
        except OSError:
            break
"""))),
}  # fmt: skip
