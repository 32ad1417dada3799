"""Checks of the exercises of chapter 06, encoder and decoder: call one with your function.

>>> import numpy as np
>>> from transformer_course.checks import encoder_decoder as check
>>> report = check.feed_forward(lambda x, w_1, b_1, w_2, b_2: (x @ w_1 + b_1) @ w_2 + b_2)
feed_forward. Not yet right: no non-linearity.
Hint: Two linear maps in a row are one linear map. What is between them in equation 2?
>>> report.passed
False
"""

from transformer_course.checks.encoder_decoder.carried import carried
from transformer_course.checks.encoder_decoder.decoder_layer import decoder_layer
from transformer_course.checks.encoder_decoder.encoder_layer import encoder_layer
from transformer_course.checks.encoder_decoder.feed_forward import feed_forward
from transformer_course.checks.encoder_decoder.layer_norm import layer_norm
from transformer_course.checks.encoder_decoder.predict import predict
from transformer_course.checks.encoder_decoder.transformer import transformer
from transformer_course.checks.encoder_decoder.why_layers import why_layers

EXERCISES = (
    feed_forward,
    layer_norm,
    predict,
    carried,
    encoder_layer,
    decoder_layer,
    why_layers,
    transformer,
)
