"""The interactive figure of chapter 12: who sees whom, how far it reaches after some layers, what it costs."""

import anywidget
import traitlets

from transformer_course.figures.widget import joined

PATTERNS = ("full", "local", "strided", "local + strided", "local + global")
RANGES = {"length": (4, 32), "span": (1, 16), "depth": (1, 8)}
SIZES = {  # what the calculator offers
    "long_length": tuple(2**power for power in range(7, 21)),
    "long_span": tuple(2**power for power in range(4, 15)),
    "layers": (1, 2, 4, 6, 12, 24, 32, 48, 80),
    "d_model": (128, 256, 512, 1024, 2048, 4096, 8192),
    "heads": (1, 2, 4, 8, 16, 32, 64),
    "key_heads": (1, 2, 4, 8, 16, 32, 64),
    "bytes_per_number": (4, 2, 1),
}


class ContextExplorer(anywidget.AnyWidget):
    """A mask, what a token knows of after some layers, and a calculator: time, scores and cache of a decoder.

    Choose a pattern and a token of a short text; a second part computes the cost of a long one. All is computed
    in the browser, so the figure also works in a built page. In JupyterLab, the state is up to date on the
    Python side too.

    Args:
        pattern: "full", "local", "strided", "local + strided" or "local + global" (the first token is global).
        causal: whether the short text hides what follows.
        length: tokens of the short text, 4 to 32.
        span: its window, and its stride, 1 to 16.
        depth: layers through which it is followed, 1 to 8.
        token: the one that is looked at, from 0.
        long_length: length of the long text, a power of 2 from 128 to 1,048,576.
        long_span: its window, and its stride, a power of 2 from 16 to 16,384.
        layers: of the decoder; 1, 2, 4, 6, 12, 24, 32, 48 or 80.
        d_model: width of the decoder, a power of 2 from 128 to 8,192.
        heads: of queries, a power of 2 up to 64.
        key_heads: of keys and values, a power of 2 up to `heads`.
        bytes_per_number: 4, 2 or 1.

    Raises:
        ValueError: naming what is out of range.

    >>> ContextExplorer("local + strided")
    Interactive figure: 5 patterns of attention, their reach and their cost
    """

    _esm = joined("context_explorer", "js")
    _css = joined("context_explorer", "css")

    pattern = traitlets.Unicode().tag(sync=True)
    causal = traitlets.Bool().tag(sync=True)
    length = traitlets.Int().tag(sync=True)
    span = traitlets.Int().tag(sync=True)
    depth = traitlets.Int().tag(sync=True)
    token = traitlets.Int().tag(sync=True)
    long_length = traitlets.Int().tag(sync=True)
    long_span = traitlets.Int().tag(sync=True)
    layers = traitlets.Int().tag(sync=True)
    d_model = traitlets.Int().tag(sync=True)
    heads = traitlets.Int().tag(sync=True)
    key_heads = traitlets.Int().tag(sync=True)
    bytes_per_number = traitlets.Int().tag(sync=True)

    def __init__(
        self,
        pattern: str = "local",
        *,
        causal: bool = True,
        length: int = 24,
        span: int = 4,
        depth: int = 3,
        token: int = 20,
        long_length: int = 8192,
        long_span: int = 256,
        layers: int = 6,
        d_model: int = 512,
        heads: int = 8,
        key_heads: int = 8,
        bytes_per_number: int = 4,
    ) -> None:
        if pattern not in PATTERNS:
            raise ValueError(f"pattern ({pattern!r}) must be one of {', '.join(PATTERNS)}")
        for name, number in (("length", length), ("span", span), ("depth", depth)):
            low, high = RANGES[name]
            if not low <= number <= high:
                raise ValueError(f"{name} ({number}) must be from {low} to {high}")
        if not 0 <= token < length:
            raise ValueError(f"token ({token}) must be from 0 to {length - 1}")
        for name, number in (
            ("long_length", long_length),
            ("long_span", long_span),
            ("layers", layers),
            ("d_model", d_model),
            ("heads", heads),
            ("key_heads", key_heads),
            ("bytes_per_number", bytes_per_number),
        ):
            if number not in SIZES[name]:
                raise ValueError(
                    f"{name} ({number}) must be one of {', '.join(map(str, SIZES[name]))}"
                )
        if key_heads > heads:
            raise ValueError(f"key_heads ({key_heads}) must be at most heads ({heads})")
        super().__init__(
            pattern=pattern,
            causal=causal,
            length=length,
            span=span,
            depth=depth,
            token=token,
            long_length=long_length,
            long_span=long_span,
            layers=layers,
            d_model=d_model,
            heads=heads,
            key_heads=key_heads,
            bytes_per_number=bytes_per_number,
        )

    def __repr__(self) -> str:
        """The same text in every run: the usual one holds an address in memory."""
        return (
            f"Interactive figure: {len(PATTERNS)} patterns of attention, their reach and their cost"
        )
