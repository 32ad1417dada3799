"""The normal form: spellings that mean the same become one, everything else stays."""

import pytest

from transformer_course.corpus.normal_form import normalise


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("“so” „so“ «so» »so«", '"so" "so" "so" "so"'),
        ("l’arbre, l‘arbre, lʼarbre", "l'arbre, l'arbre, l'arbre"),
        ("a\u00a0b\u202fc\u2009d\u3000e\tf\r\n", "a b c d e f"),
        ("cafe\u0301", "café"),
        ("e\u200b\u0301", "é"),  # composed once the sign between them is gone
        ("Il DIT Été", "Il DIT Été"),
        ("", ""),
        (" \u200b\ufeff\u00ad ", ""),
        ("\u202bשלום\u202c \u2067x\u2069 a\u200eb\u061c", "שלום x ab"),
        ("co\u00adop\u2060x", "coopx"),
        ("👩\u200d👩\u200d👧 ❤\ufe0f می\u200cخواهم", "👩\u200d👩\u200d👧 ❤\ufe0f می\u200cخواهم"),
        ("‹a› `b` a–b … \x00", "‹a› `b` a–b … \x00"),
    ],
)
def test_the_form(text: str, form: str) -> None:
    assert normalise(text) == form
    assert normalise(form) == form


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Il dit « là ».", 'Il dit "là".'),
        ("Il dit «\u00a0là\u00a0».", 'Il dit "là".'),
        ("Il dit «\u202flà\u202f» ici", 'Il dit "là" ici'),
        ("« Là », dit-il, (« ici »)", '"Là", dit-il, ("ici")'),
        ("« a » et « b »", '"a" et "b"'),
        ("Er sagt »hier« und »da« noch", 'Er sagt "hier" und "da" noch'),
        ("Er rief »halt!« laut", 'Er rief "halt!" laut'),
        ('Il dit " là ".', 'Il dit " là ".'),
    ],
)
def test_guillemets_lose_the_space_on_their_inner_side_only(text: str, form: str) -> None:
    assert normalise(text) == form


def test_a_long_line_of_guillemets_is_no_trouble() -> None:
    assert normalise("« » " * 100_000) == " ".join(['""'] * 100_000)
