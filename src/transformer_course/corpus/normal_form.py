"""One form for each sentence (chapter 07): how readers and vocabularies bring spellings together.

- Letters with accents are composed (Unicode's NFC).
- Typographic quotes become the straight one, typographic apostrophes too.
- White space of any kind, also a no-break space, becomes one space; none stays at the ends. French guillemets
  lose the space on their inner side: « là » and "là" are written alike.
- Signs that nobody sees go: the byte-order mark, the zero-width space, the word joiner, the soft hyphen, and
  the marks for the direction of writing. The two joiners stay, because they change letters and emoji.

Capitals stay. The patterns are for Python and for the tokenizers library, so that both do the same.
"""

import re
import unicodedata

# Soft hyphen, Arabic letter mark, zero-width space, direction marks, embeddings, word joiner, isolates, BOM.
INVISIBLE = "[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]"
SPACES = "[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"
# In the order in which they are applied, to text that is composed and has single spaces inside.
MARKS = (
    ("[’‘ʼ]", "'"),
    # « opens where a space or nothing stands before it, » closes where none of a word follows. In German
    # it is the other way round, »so«, and the space is outside.
    (r"(?<![^ (\[])« ", '"'),
    (r" »(?![^ .,;:!?)\]])", '"'),
    ("[“”„«»]", '"'),
)


def normalise(text: str) -> str:
    """Bring a sentence to the one form that this module describes.

    Args:
        text: any text.

    Returns:
        The same text in that form; empty if there is nothing to be seen.

    >>> normalise("  le\u00a0 cafe\u0301 ") == "le café"
    True
    >>> normalise("l’arbre dit « là »")
    'l\\'arbre dit "là"'
    """
    text = unicodedata.normalize("NFC", re.sub(INVISIBLE, "", text))
    text = re.sub(SPACES, " ", text).strip(" ")
    for pattern, plain in MARKS:
        text = re.sub(pattern, plain, text)
    return text
