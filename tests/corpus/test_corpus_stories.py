"""Stories: sentences and their French, references, summaries, questions, splits, guesses."""

import re
import subprocess
import sys
from collections import Counter
from itertools import chain

import pytest

from transformer_course.corpus.grammar.splits import SPLITS, split_of
from transformer_course.corpus.stories import Story, baselines, joined, stories, words
from transformer_course.corpus.stories.cast import ANIMALS, PEOPLE, THINGS

MANY = list(stories("train", 2000, seed=5))
PAIRS = [*chain(*(story.sentences for story in MANY)), *chain(*(story.summary for story in MANY))]
GENDER = {x.name: x.gender for x in chain(THINGS, *PEOPLE.values(), *ANIMALS.values())}
FORBIDDEN = re.compile(
    r"\b(à les?|de les?|le le|la la|"
    r"(le|la|de|que|je|ne|me|se) [aeiouéèêœ]\w*|"
    r"(le|la) (h(?!ache|érisson)\w+)|l'(hache|hérisson)\b|"
    r"parce que? [ie]l|lui (le|la)|(l'|le |la )lui l')",
    re.IGNORECASE,
)


def test_lengths_seeds_and_requests() -> None:
    assert {len(story.sentences) for story in MANY} == set(range(8, 41))
    assert [*stories("test", 3, seed=1)] == [*stories("test", 3, seed=1)]
    assert [*stories("test", 3, seed=1)] != [*stories("test", 3, seed=2)]
    assert [len(s.sentences) for s in stories("valid", 2, n_sentences=9)] == [9, 9]
    with pytest.raises(ValueError, match=r"split \('dev'\) must be one of train, valid, test"):
        stories("dev", 1)
    with pytest.raises(ValueError, match=r"seed \(-1\) must not be negative"):
        stories("train", 1, seed=-1)
    for wrong in (3, (9, 8)):
        message = re.escape(f"n_sentences ({wrong}) must be 4 or more")
        with pytest.raises(ValueError, match=message):
            stories("train", 1, n_sentences=wrong)
    with pytest.raises(ValueError, match="pairs is empty"):
        joined([])


def test_stories_are_the_same_whatever_the_seed_of_hashes() -> None:
    code = (
        "from transformer_course.corpus.stories import stories; import zlib;"
        "print(zlib.crc32(repr([*stories('test', 20)]).encode()))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env
        ).stdout
        for env in ({"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": seed} for seed in "12")
    }
    assert outputs == {"983283356\n"}


def test_french_has_no_wrong_form() -> None:
    for pair in PAIRS:
        for target in pair.targets:
            assert not FORBIDDEN.search(target), target
            assert target[0].isupper()
            assert target.endswith(".")
        assert len(set(pair.targets)) == len(pair.targets)
    assert FORBIDDEN.search("Anna va à le marché")
    assert FORBIDDEN.search("le hôtel")


def test_alignments_join_what_is_the_same() -> None:
    for pair in PAIRS:
        english, french = words(pair.source), words(pair.target)
        links = dict(pair.alignment)
        assert links[len(english) - 1] == len(french) - 1
        assert set(range(len(french))) >= set(links.values())
        assert set(links) == set(range(len(english)))
        for index, word in enumerate(english):
            if word.lower() in ("he", "she", "they") and index == 0:
                assert french[links[index]] in ("Il", "Elle", "Ils", "Elles")
            if word in GENDER and word[0].isupper():
                assert french[links[index]] == word


@pytest.mark.parametrize(
    "kind", ["it", "they", "friend", "he", "she", "him", "her", "there", "place"]
)
def test_mentions_and_their_antecedents(kind: str) -> None:
    found = [(s, m) for s in MANY for m in s.mentions if m.kind == kind]
    assert len(found) > 100
    for story, mention in found:
        sentence, word = mention.antecedent
        assert mention.distance == mention.sentence - sentence >= 0
        named = words(story.sentences[sentence].source)[word]
        if kind != "they":
            assert named == mention.entity
        else:
            assert named == mention.entity.split(" and ")[0]


def test_french_agrees_with_the_antecedent() -> None:
    seen: Counter[str] = Counter()
    for story in MANY:
        for mention in story.mentions:
            french = words(story.sentences[mention.sentence].target)
            at, gender = mention.french_word, GENDER.get(mention.entity, "")
            if mention.kind == "it" and french[at] == "l'a":
                assert french[at + 1].endswith("ée" if gender == "f" else "é") or (
                    french[at + 1]
                    in (("perdue", "vendue") if gender == "f" else ("perdu", "vendu"))
                )
            elif mention.kind == "it":
                right = ("Elle", "la", "qu'elle") if gender == "f" else ("Il", "le", "qu'il")
                assert french[at] in right
            elif mention.kind == "they":
                women = all(GENDER[name] == "f" for name in mention.entity.split(" and "))
                assert french[at : at + 3] == (
                    ["Elles", "sont", "allées"] if women else ["Ils", "sont", "allés"]
                )
            elif mention.kind == "friend":
                assert french[at] == ("l'amie" if gender == "f" else "l'ami")
                participle = "rencontrée" if gender == "f" else "rencontré"
                assert participle in french
            seen[mention.kind + gender] += 1
    assert min(seen["itf"], seen["itm"], seen["friendf"], seen["friendm"]) > 100


def test_distances_are_broad() -> None:
    far = Counter(m.distance for story in MANY for m in story.mentions if m.kind == "it")
    assert set(range(1, 36)) <= set(far)
    asked = Counter(q.distance for story in MANY for q in story.questions)
    assert set(range(1, 41)) <= set(asked)


def test_answers_agree_with_the_summary() -> None:
    for story in MANY[:300]:
        ends = {words(p.source)[0 if words(p.source)[0] != "The" else 1]: p for p in story.summary}
        for question in story.questions:
            assert 1 <= question.distance <= len(story.sentences)
            if question.kind == "where":
                name = words(question.question.source)[-2]
                place = question.answer.source[:-1].lower()
                assert f" {place} " in ends[name].source
                assert question.answer.target[:-1].lower() in ends[name].target
            if question.kind == "who" and question.answer.source != "Nobody.":
                holder = words(question.answer.source)[-2]
                thing = " ".join(words(question.question.source)[2:-1])
                assert ends[holder].source.endswith(f"has {thing}.")


@pytest.mark.parametrize("split", SPLITS)
def test_combinations_are_held_out(split: str) -> None:
    for story in stories(split, 400, seed=2):
        found = {split_of(combination) for combination in story.combinations}
        assert split in found
        assert found <= {"train", split}


def exact(guesses: list[bool]) -> float:
    return sum(guesses) / len(guesses)


@pytest.mark.parametrize("n_sentences", [8, (8, 40)])
def test_guesses_about_summaries_fail(n_sentences: int | tuple[int, int]) -> None:
    told = list(stories("valid", 2000, seed=9, n_sentences=n_sentences))
    guesses = {**baselines.SUMMARIES, "most frequent": baselines.most_frequent_summary(MANY)}
    for name, guess in guesses.items():
        share = exact([guess(story) == baselines.summary_of(story) for story in told])
        assert share <= 0.4, (name, share)


def test_guesses_about_distant_antecedents_fail() -> None:
    far = [(s, m) for s in MANY for m in s.mentions if m.distance >= 5]
    assert len(far) > 1000
    guesses = {**baselines.ANTECEDENTS, "most frequent": baselines.most_frequent_entity(MANY)}
    for name, guess in guesses.items():
        share = exact([guess(story, mention) == mention.entity for story, mention in far])
        assert share <= 0.4, (name, share)


def test_guesses_need_training_stories() -> None:
    with pytest.raises(ValueError, match="training is empty"):
        baselines.most_frequent_summary([])
    with pytest.raises(ValueError, match="training holds no mention"):
        baselines.most_frequent_entity([])


def test_a_story_as_one_pair() -> None:
    story: Story = MANY[0]
    pair = joined(story.sentences)
    assert (pair.source, pair.target) == (story.english, story.french)
    english, french = words(pair.source), words(pair.target)
    assert {french[t] for s, t in pair.alignment if english[s] == "."} == {"."}
