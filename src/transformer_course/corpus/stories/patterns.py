"""The sentences that stories are written with (chapter 12); `templates` explains the notation.

Roles: S who does it, R the other person, T the thing, W two people, P the place gone to, L the place where
it happens, O what a description stands for.
"""

from transformer_course.corpus.grammar.lexicon import ADJECTIVE
from transformer_course.corpus.stories.templates import Template

# Who is where, who has what.
WAS = Template("SL", "{S} was:1 {L} .", "{S} était:1 {L} .")
WAS_HAD = Template("STL", "{S} was:1 {L} and:2 had:3 {T} .", "{S} était:1 {L} et:2 avait:3 {T} .")
THERE_WAS = Template("TL", "There:1 was:2 {T} {L} .", "Il:1 y:2 avait:2 {T} {L} .")

# Going.
WENT = Template("SP", "{S} went:1 {P} .", "{S} est:1 allé|allée@S:1 {P} .")
WENT_BACK = Template("SP", "{S} went:1 back:2 {P} .", "{S} est:1 retourné|retournée@S:12 {P} .")
FOLLOWED = Template("SRP", "{S} followed:1 {R} {P} .", "{S} a:1 suivi:1 {R} {P} .")
WENT_TOGETHER = Template(
    "SRWP",
    "{S} and:1 {R} went:2 {P} together:3 .",
    "{S} et:1 {R} sont:2 allés|allées@W:2 {P} ensemble:3 .",
    "{S} et:1 {R} sont:2 allés|allées@W:2 ensemble:3 {P} .",
)
THEY_WENT = Template("WP", "They:W went:1 {P} .", "Ils|Elles@W:W sont:1 allés|allées@W:1 {P} .")
VISITED_FIRST = Template(
    "SO",
    "{S} visited:1 the:O friend:2 that:3 he|she@S:S had:4 met:5 first:6 .",
    "{S} est:1 allé|allée@S:1 voir:1 l'ami|l'amie@O:O2 qu'il|qu'elle@S:3S avait:4 "
    "rencontré|rencontrée@O:5 en:6 premier:6 .",
    "{S} a:1 rendu:1 visite:1 à:1 l'ami|l'amie@O:O2 qu'il|qu'elle@S:3S avait:4 "
    "rencontré|rencontrée@O:5 en:6 premier:6 .",
    O="friend",
)
BACK_TO_BEGINNING = Template(
    "SO",
    "{S} went:1 back:2 to:3 the:O place:4 where:5 the:6 story:7 had:8 begun:9 .",
    "{S} est:1 retourné|retournée@S:12 à:3 l'endroit:O4 où:5 l'histoire:67 avait:8 commencé:9 .",
    "{S} est:1 retourné|retournée@S:12 là:O4 où:5 l'histoire:67 avait:8 commencé:9 .",
    O="place",
)
BACK_TO_MEETING = Template(
    "SRO",
    "{S} went:1 back:2 to:3 the:O place:4 where:5 he|she@S:S had:6 met:7 {R} .",
    "{S} est:1 retourné|retournée@S:12 à:3 l'endroit:O4 où:5 il|elle@S:S avait:6 rencontré:7 {R} .",
    "{S} est:1 retourné|retournée@S:12 là:O4 où:5 il|elle@S:S avait:6 rencontré:7 {R} .",
    O="place",
)
MET = Template("SRL", "{S} met:1 {R} {L} .", "{S} a:1 rencontré:1 {R} {L} .")

# Things change hands. In each pair the second sentence says "it".
TOOK = Template("ST", "{S} took:1 {T} .", "{S} a:1 pris:1 {T} .")
FOUND = Template("STL", "{S} found:1 {T} {L} .", "{S} a:1 trouvé:1 {T} {L} .")
PUT_AWAY = tuple(
    (
        Template("STL", f"{{S}} {english}:1 {{T}} {{L}} .", f"{{S}} a:1 {french}:1 {{T}} {{L}} ."),
        Template(
            "STL",
            f"{{S}} {english}:1 it:T {{L}} .",
            f"{{S}} l'a:1T {french}|{french}e@T:1 {{L}} .",
        ),
    )
    for english, french in (("lost", "perdu"), ("left", "laissé"), ("hid", "caché"))
)


def passing_on(english: str, french: str) -> tuple[Template, Template, Template, Template]:
    """Four ways to pass something on: named, it, to him or her, both."""
    return (
        Template(
            "STR",
            f"{{S}} {english}:1 {{T}} to:2 {{R}} .",
            f"{{S}} a:1 {french}:1 {{T}} à:2 {{R}} .",
        ),
        Template(
            "STR",
            f"{{S}} {english}:1 it:T to:2 {{R}} .",
            f"{{S}} l'a:1T {french}|{french}e@T:1 à:2 {{R}} .",
        ),
        Template(
            "STR",
            f"{{S}} {english}:1 {{T}} to:2 him|her@R:R .",
            f"{{S}} lui:2R a:1 {french}:1 {{T}} .",
        ),
        Template(
            "STR",
            f"{{S}} {english}:1 it:T to:2 him|her@R:R .",
            f"{{S}} le|la@T:T lui:2R a:1 {french}|{french}e@T:1 .",
        ),
    )


GAVE = passing_on("gave", "donné")
SOLD = passing_on("sold", "vendu")
SHOWED = passing_on("showed", "montré")
BROUGHT = passing_on("brought", "apporté")
SENT = passing_on("sent", "envoyé")


def kept(name: str) -> Template:
    """Somebody kept it because it was so."""
    forms = ADJECTIVE[name].french
    adjective = f"{forms['m'][0]}|{forms['f'][0]}@T"
    return Template(
        "ST",
        f"{{S}} kept:1 it:T because:2 it:T was:3 {name}:4 .",
        f"{{S}} l'a:1T gardé|gardée@T:1 parce:2 qu'il|qu'elle@T:2T était:3 {adjective}:4 .",
        f"{{S}} l'a:1T gardé|gardée@T:1 car:2 il|elle@T:2T était:3 {adjective}:4 .",
    )


KEPT = tuple(kept(name) for name in ["beautiful", "new", "old", "pretty", "expensive", "strange"])

# The summary.
IS_HAS = Template("STL", "{S} is:1 {L} and:2 has:3 {T} .", "{S} est:1 {L} et:2 a:3 {T} .")
IS_HAS_NOTHING = Template(
    "SL", "{S} is:1 {L} and:2 has:3 nothing:4 .", "{S} est:1 {L} et:2 n'a:3 rien:4 ."
)
