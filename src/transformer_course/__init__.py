"""The Transformer, built piece by piece: the package behind the course (all chapters).

Each chapter of the course has one module of the same name, and a module imports only from the modules of
earlier chapters (`seq2seq`, the overture, borrows from `attention`): `seq2seq` (00),
`attention` (01), `self_attention` (02), `masking` (03), `multi_head` (04),
`positional_encoding` (05), `encoder_decoder` (06), `training` (07), `loss` (08), `decoding` (09). Around them
stand `corpus` (sentence pairs, subwords, batches), `translator` (model, subwords and search in one object) and
`cli` (the command `transformer-course`).
"""

__version__ = "0.1.0"
