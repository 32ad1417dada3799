"""Draw the map of the Transformer (book/images/transformer_map.svg), as SVG with real text.

Run ``python tools/draw_transformer_map.py`` to redo the picture of the introduction, or add
``--lit 05 --out FILE`` to light the parts of one chapter and fade the others. The whole map has empty fills
and hidden ticks, each with its chapters: the page and `progress()` show in them how far a reader has come. The
package has a copy of it.
Colours are those of Okabe and Ito, with the meaning they have in the whole book: queries blue,
keys orange, values green, positions purple, what is masked grey and hatched.
"""

from __future__ import annotations

import argparse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGED = ROOT / "src" / "transformer_course" / "checks" / "transformer_map.svg"
WIDTH, HEIGHT = 430, 716
INK, PAPER, LINE, FILL = "#1b1b1b", "#ffffff", "#5f5f5f", "#f3f3f3"
QUERY, KEY, VALUE = "#0072B2", "#E69F00", "#009E73"
POSITION, MASK = "#CC79A7", "#999999"
LEFT, RIGHT, BOX = 24, 236, 158  # left edges of the two columns, width of a box
FADED = 0.25
DONE, TICK = "#a8e0cb", "#00664b"  # what is filled in, and the sign of a chapter that is done

TITLE = "Map of the Transformer"
DESCRIPTION = (
    "Left column, the encoder, from top to bottom: the source words, embedding, positions, "
    "then N layers of self-attention and feed-forward, each followed by add and normalise; "
    "the result is called memory. Right column, the decoder: the target words so far, embedding, "
    "positions, then N layers of masked self-attention, cross-attention (queries from the decoder, "
    "keys and values from the memory) and feed-forward; then linear and softmax give the next "
    "word, which is appended to the target words. During training the loss compares the next word "
    "with the right one. Every part bears the number of the chapter that builds it."
)


class Map:
    """Collects SVG elements; parts that belong to chapters other than ``lit`` are faded.

    Chapters 10, 14 and 15 are about the whole: with them, nothing is faded.
    """

    def __init__(self, lit: str | None = None) -> None:
        self.lit = None if lit in ("10", "14", "15") else lit
        self.fills = lit is None
        self.parts: list[str] = []

    def add(self, svg: str, chapters: tuple[str, ...] = ()) -> None:
        """Append one element, faded if a chapter is lit and is not among ``chapters``."""
        faded = self.lit is not None and self.lit not in chapters
        self.parts.append(f'<g opacity="{FADED}">{svg}</g>' if faded else svg)

    def box(
        self, x: int, y: int, lines: tuple[str, ...], chapters: tuple[str, ...] = (), **style: str
    ) -> None:
        """Draw a labelled box with its chapter numbers; ``also`` lights it without a number."""
        height = 12 + 18 * len(lines)
        svg = (
            f'<rect x="{x}" y="{y}" width="{BOX}" height="{height}" rx="6" '
            f'fill="{style.get("fill", FILL)}" stroke="{style.get("stroke", LINE)}" '
            f'stroke-width="1.5"/>'
        )
        if self.fills and chapters:
            svg += (
                f'<rect class="map-fill" data-chapters="{" ".join(chapters)}" data-width="{BOX - 2}" '
                f'x="{x + 1}" y="{y + 1}" width="0" height="{height - 2}" rx="5" fill="{DONE}"/>'
            )
        if style.get("hatched"):
            svg += f'<rect x="{x}" y="{y}" width="10" height="{height}" fill="url(#hatch)"/>'
        for i, line in enumerate(lines):
            svg += text(x + 14, y + 20 + 18 * i, line)
        for i, chapter in enumerate(chapters):
            svg += self.badge(x + BOX - 32, y + 6 + 19 * i, chapter)
        self.add(svg, (*chapters, *style.get("also", "").split()))

    def strip(self, x: int, y: int, top: int) -> None:
        """Draw an add-and-normalise strip with the residual line that starts at ``top``."""
        svg = (
            f'<path d="M{x + 79},{top} H{x - 9} V{y + 11} H{x - 1}" fill="none" '
            f'stroke="{LINE}" stroke-width="1.2" marker-end="url(#tip)"/>'
            f'<rect x="{x}" y="{y}" width="{BOX}" height="22" rx="6" fill="{PAPER}" '
            f'stroke="{LINE}" stroke-width="1.2"/>' + text(x + 14, y + 16, "add, normalise", 13)
        )
        self.add(svg + self.badge(x + BOX - 32, y + 2, "06"), ("06",))

    def badge(self, x: int, y: int, chapter: str) -> str:
        """Return a small dark plate with the number of a chapter, and its hidden tick."""
        svg = (
            f'<rect x="{x}" y="{y}" width="26" height="18" rx="4" fill="{INK}"/>'
            f'<text x="{x + 13}" y="{y + 14}" font-size="13" font-weight="700" '
            f'text-anchor="middle" fill="{PAPER}">{chapter}</text>'
        )
        if self.fills:
            svg += (
                f'<g class="map-tick" data-chapters="{chapter}" visibility="hidden">'
                f'<circle cx="{x + 33}" cy="{y + 9}" r="8" fill="{TICK}" stroke="{PAPER}"/>'
                f'<path d="M{x + 29},{y + 9} l3,4 l5,-7" fill="none" stroke="{PAPER}" '
                'stroke-width="2"/></g>'
            )
        return svg

    def arrow(self, path: str, chapters: tuple[str, ...] = (), **style: str) -> None:
        """Draw a line with an arrow head along an SVG path."""
        colour = style.get("colour", LINE)
        dash = ' stroke-dasharray="5 4"' if style.get("dashed") else ""
        tip = {QUERY: "tip-q", KEY: "tip-k", VALUE: "tip-v"}.get(colour, "tip")
        self.add(
            f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.8"{dash} '
            f'marker-end="url(#{tip})"/>',
            chapters,
        )

    def three_inputs(self, x: int, y: int, chapters: tuple[str, ...]) -> None:
        """Draw the arrows Q, K and V into the top of an attention box at ``y``."""
        bus = f'<path d="M{x + 34},{y - 26} H{x + 124}" stroke="{LINE}" stroke-width="1.8"/>'
        self.add(bus, chapters)
        for i, (name, colour) in enumerate((("Q", QUERY), ("K", KEY), ("V", VALUE))):
            at = x + 34 + 45 * i
            self.arrow(f"M{at},{y - 24} V{y - 2}", chapters, colour=colour)
            self.add(text(at + 5, y - 9, name, 13, bold=True), chapters)


def text(x: int, y: int, words: str, size: int = 15, *, bold: bool = False) -> str:
    """Return one line of text."""
    weight = ' font-weight="700"' if bold else ""
    return f'<text x="{x}" y="{y}" font-size="{size}"{weight} fill="{INK}">{words}</text>'


def frame(m: Map, x: int, y: int, height: int) -> None:
    """Draw the dashed frame round the layers that are repeated N times."""
    m.add(
        f'<rect x="{x - 16}" y="{y}" width="{BOX + 26}" height="{height}" rx="10" fill="none" '
        f'stroke="{LINE}" stroke-width="1.2" stroke-dasharray="2 4"/>'
        + text(x - 8, y + 18, "N layers", 13),
        ("06",),
    )


def bottom(m: Map, x: int, name: str, words: str) -> None:
    """Draw the head of a column: its name, its words, embedding and positions."""
    m.add(text(x, 28, name, 17, bold=True), ("00", "06"))
    m.box(x, 42, (words,), fill=PAPER, also="13" if x == RIGHT else "")
    m.arrow(f"M{x + 79},72 V86")
    m.box(x, 88, ("embedding",), ("06",))
    m.arrow(f"M{x + 79},118 V132")
    m.box(x, 134, ("+ positions",), ("05",), fill="#f6e3ed", stroke=POSITION, also="12")
    m.add(f'<path d="M{x + 79},164 V206" stroke="{LINE}" stroke-width="1.8"/>')


def encoder(m: Map) -> None:
    """Draw the encoder, down to the memory."""
    bottom(m, LEFT, "Encoder", "the cat is on …")
    frame(m, LEFT, 176, 214)
    m.three_inputs(LEFT, 232, ("01", "02"))
    m.box(LEFT, 232, ("self-attention,", "many heads"), ("02", "04"), also="01 12")
    m.strip(LEFT, 286, 204)
    m.arrow(f"M{LEFT + 79},308 V322")
    m.box(LEFT, 324, ("feed-forward",), ("06",))
    m.strip(LEFT, 360, 315)
    m.arrow(f"M{LEFT + 79},382 V412")
    m.box(LEFT, 414, ("memory",), fill=PAPER)


def decoder(m: Map) -> None:
    """Draw the decoder, down to the next word and back up."""
    bottom(m, RIGHT, "Decoder", "le chat est …")
    frame(m, RIGHT, 176, 386)
    m.three_inputs(RIGHT, 232, ("01", "03"))
    m.box(RIGHT, 232, ("masked", "self-attention"), ("03", "04"), also="01 12 13", hatched="yes")
    m.strip(RIGHT, 286, 204)
    m.arrow(f"M{RIGHT + 79},308 V404", ("02",), colour=QUERY)
    m.add(text(RIGHT + 86, 398, "Q", 13, bold=True), ("02",))
    m.box(RIGHT, 406, ("cross-attention,", "many heads"), ("02", "04"), also="00 01")
    for name, colour, y in (("K", KEY, 422), ("V", VALUE, 438)):
        m.arrow(f"M{LEFT + BOX},{y} H{RIGHT - 2}", ("02",), colour=colour)
        m.add(text(LEFT + BOX + 8, y - 3 if name == "K" else y + 14, name, 13, bold=True), ("02",))
    m.strip(RIGHT, 460, 352)
    m.arrow(f"M{RIGHT + 79},482 V492")
    m.box(RIGHT, 494, ("feed-forward",), ("06",))
    m.strip(RIGHT, 530, 487)
    m.arrow(f"M{RIGHT + 79},552 V576")
    m.box(RIGHT, 578, ("linear, softmax",), ("06",))
    m.arrow(f"M{RIGHT + 79},608 V634", ("09",))
    m.box(RIGHT, 636, ("next word:", "sur"), ("09",), fill=PAPER, also="13")
    m.arrow(f"M{RIGHT + BOX},660 H420 V57 H{RIGHT + BOX + 3}", ("09",))


def training(m: Map) -> None:
    """Draw what happens during training only."""
    m.add(text(LEFT, 566, "In training only", 13), ("07", "08"))
    m.box(LEFT, 578, ("change the", "weights"), ("07",), fill=PAPER)
    m.box(LEFT, 648, ("loss: how", "wrong?"), ("08",), fill=PAPER)
    m.arrow(f"M{RIGHT},672 H{LEFT + BOX + 3}", ("08",), dashed="yes")
    m.arrow(f"M{LEFT + 79},648 V629", ("07",), dashed="yes")


def defs() -> str:
    """Return arrow heads and the hatching."""
    heads = "".join(
        f'<marker id="{name}" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" '
        f'markerHeight="7" markerUnits="userSpaceOnUse" orient="auto">'
        f'<path d="M0,0 L8,4 L0,8 z" fill="{colour}"/></marker>'
        for name, colour in (("tip", LINE), ("tip-q", QUERY), ("tip-k", KEY), ("tip-v", VALUE))
    )
    hatch = (
        '<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><rect width="6" height="6" fill="#e2e2e2"/>'
        f'<line x1="0" y1="0" x2="0" y2="6" stroke="{MASK}" stroke-width="3"/></pattern>'
    )
    return f"<defs>{heads}{hatch}</defs>"


def draw(lit: str | None = None) -> str:
    """Return the map as an SVG document; ``lit`` is the chapter to light, or None for all."""
    m = Map(lit)
    encoder(m)
    decoder(m)
    training(m)
    body = "\n".join(m.parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" '
        f"font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans Condensed', sans-serif\">\n"
        f"<title>{TITLE}</title>\n<desc>{DESCRIPTION}</desc>\n{defs()}\n"
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="12" fill="{PAPER}"/>\n{body}\n</svg>\n'
    )


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description="Draw the map of the Transformer as SVG.")
    default = ROOT / "book" / "images" / "transformer_map.svg"
    parser.add_argument("--lit", help="chapter to light, for example 05 (default: all)")
    parser.add_argument("--out", type=Path, default=default)
    args = parser.parse_args()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    for path in (args.out, *([] if args.lit else [PACKAGED])):
        path.write_text(draw(args.lit), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
