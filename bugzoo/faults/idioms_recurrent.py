"""Recurrent layers and packed sequences. `idioms` has them all."""

from bugzoo.faults.conditions import assigned, has
from bugzoo.faults.forms import Call, Idiom, Pattern

RECURRENT = Idiom(
    "RECURRENT",
    "a recurrent layer: self.lstm = nn.LSTM(...), nn.GRU(...) or nn.RNN(...)",
    (
        Call(
            r"(?:(?P<NN>[\w.]+)\.)?(?P<KIND>LSTM|GRU|RNN)",
            ("IN=input_size", "SIZE=hidden_size", "LAYERS=num_layers"),
            where=(assigned,),
        ),
    ),
)  # NN, KIND, IN, SIZE, LAYERS

PACK = Idiom(
    "PACK",
    "a batch of sequences packed with their lengths: packed = pack_padded_sequence(inputs, lengths, ...)",
    (Call(r"(?:[\w.]*\.)?pack_padded_sequence", ("INPUTS=input", "LENGTHS=lengths"), where=(has("LENGTHS"),)),),
)  # INPUTS, LENGTHS

LAST_STATE = Idiom(
    "LAST_STATE",
    "the last state of an LSTM: _, (hidden, _) = self.lstm(...)",
    (Pattern("_, ($STATE, _) = $LSTM($READ)"),),
)  # STATE, LSTM, READ
