"""The order of the house: who may import whom, names that match, docstrings that say what they must."""

import ast
import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "transformer_course"
STEMS = [
    "seq2seq",
    "attention",
    "self_attention",
    "masking",
    "multi_head",
    "positional_encoding",
    "encoder_decoder",
    "training",
    "loss",
    "decoding",
    "inspecting",
    "families",
    "long_context",
    "non_autoregressive",
    "scaling",
]
NUMBERS = {stem: number for number, stem in enumerate(STEMS)} | {"multi30k": 15}
CHAPTERS = [s for s in STEMS if (PACKAGE / f"{s}.py").exists() or (PACKAGE / s).is_dir()]
WITH_MODULE = {*CHAPTERS, *(path.stem for path in (PACKAGE / "corpus").glob("*.py"))}
MODULES = sorted(PACKAGE.rglob("*.py"))
# What a chapter may use beside earlier chapters. The model knows nothing of text, files or figures.
# `fast` is the one room for speed: `loss` trains in chunks, `attention` knows the old address of the kernel.
BESIDE = {
    "training": {"corpus", "checkpoints", "forks", "interrupts"},
    "loss": {"fast", "labels"},
    "attention": {"fast"},
    "families": {"checkpoints"},
    "non_autoregressive": {"corpus"},
}
SHARED = {"validation"}  # rules without a chapter, for all
# Who joins training, loss and decoding.
JOINERS = {"translator", "cli", "evaluation"}


def files_of(stem: str) -> list[Path]:
    """The files of a chapter: one module, or a package of them."""
    if (PACKAGE / stem).is_dir():
        return sorted((PACKAGE / stem).glob("*.py"))
    return [PACKAGE / f"{stem}.py"]


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imports(path: Path) -> frozenset[str]:
    """First name below the package of everything the file imports from it, inside functions too."""
    found: set[str] = set()
    here = ["transformer_course", *path.relative_to(PACKAGE).parent.parts]
    for node in ast.walk(parsed(path)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{source}.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "transformer_course" and len(parts) > 1:
                found.add(parts[1])
    return frozenset(found - {"__version__"})


def test_there_is_something_to_check() -> None:
    assert {"attention", "decoding"} <= set(CHAPTERS)
    assert len(MODULES) > 15
    assert imports(PACKAGE / "decoding.py") == {"loss"}


@pytest.mark.parametrize("stem", CHAPTERS)
def test_chapter_imports_from_earlier_chapters_only(stem: str) -> None:
    allowed = set(STEMS[: NUMBERS[stem]]) | BESIDE.get(stem, set())
    if stem == "seq2seq":  # the overture
        allowed = {"attention"}
    for path in files_of(stem):
        assert imports(path) - {stem} <= allowed | SHARED, module_name(path)


def test_the_corpus_and_the_helpers_import_no_chapter() -> None:
    for path in MODULES:
        name = module_name(path)
        if name.split(".")[0] in {
            "corpus",
            "checkpoints",
            "forks",
            "interrupts",
            "streams",
            "waiting",
            *SHARED,
        }:
            assert not imports(path) & set(STEMS), name


def test_what_is_fast_only_builds_on_attention_and_chapter_03_finds_leaks() -> None:
    assert imports(PACKAGE / "fast.py") == {"attention", "labels"}
    assert imports(PACKAGE / "labels.py") == imports(PACKAGE / "leaks.py") == set()
    assert "(chapter 03)" in (ast.get_docstring(parsed(PACKAGE / "leaks.py")) or "").split("\n")[0]


def test_only_the_joiners_join_training_and_decoding() -> None:
    for path in MODULES:
        name = module_name(path)
        if {"training", "decoding"} <= imports(path):
            assert name in JOINERS, name
        if name.split(".")[0] not in {"figures", "checks", "cli", "__main__"}:
            assert not imports(path) & {"figures", "checks", "cli"}, name


@pytest.mark.parametrize("stem", CHAPTERS)
def test_module_names_its_chapter(stem: str) -> None:
    for path in files_of(stem):
        doc = ast.get_docstring(parsed(path)) or ""
        assert f"(chapter {NUMBERS[stem]:02})" in doc.split("\n")[0], module_name(path)


@pytest.mark.parametrize("stem", CHAPTERS)
def test_module_has_its_tests(stem: str) -> None:
    assert (ROOT / "tests" / "core" / f"test_{stem}.py").exists()


@pytest.mark.parametrize("folder", ["chapters", "exercises", "exercises/solutions"])
def test_notebooks_bear_the_number_and_the_stem_of_a_chapter(folder: str) -> None:
    ending = "_solutions" if folder.endswith("solutions") else ""  # JupyterLab names tabs by files
    for path in (ROOT / folder).glob("*.ipynb"):
        number, _, stem = path.stem.removesuffix(ending).partition("_")
        assert path.stem.endswith(ending)
        assert (stem, number) in {(s, f"{n:02}") for s, n in NUMBERS.items()}, path.name
        assert stem in WITH_MODULE, f"{path.name} has no module"
    names = {f"{path.stem}_solutions.ipynb" for path in (ROOT / "exercises").glob("*.ipynb")}
    assert names == {path.name for path in (ROOT / "exercises" / "solutions").glob("*.ipynb")}


def test_checks_bear_the_stem_of_a_chapter() -> None:
    notebooks = {path.stem[3:] for path in (ROOT / "exercises").glob("*.ipynb")}
    folder = PACKAGE / "checks"
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    checks = (packages | {path.stem for path in folder.glob("*.py")}) & set(NUMBERS)
    assert checks == notebooks & WITH_MODULE


def test_table_of_contents_keeps_the_order() -> None:
    text = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    listed = re.findall(r"chapters/(\d\d)_(\w+)", text)
    assert listed == sorted(listed)
    assert all(NUMBERS[stem] == int(number) for number, stem in listed)
    stored = {path.stem for path in (ROOT / "chapters").glob("*.ipynb")}
    assert {f"{number}_{stem}" for number, stem in listed} == stored


Documented = ast.FunctionDef | ast.ClassDef


def public_definitions(node: ast.Module | ast.ClassDef) -> list[Documented]:
    """Classes and functions one may use from outside, methods included; stubs of overloads left out."""
    found: list[Documented] = []
    for child in node.body:
        if not isinstance(child, Documented) or child.name.startswith("_"):
            continue
        if any(isinstance(d, ast.Name) and d.id == "overload" for d in child.decorator_list):
            continue
        found.append(child)
        if isinstance(child, ast.ClassDef):
            found += public_definitions(child)
    return found


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_every_public_name_has_a_docstring_that_starts_with_a_sentence(path: Path) -> None:
    tree = parsed(path)
    for node in [tree, *public_definitions(tree)]:
        name = getattr(node, "name", "the module")
        doc = ast.get_docstring(node)  # type: ignore[arg-type]
        assert doc, f"{name} has no docstring"
        first = doc.split("\n\n")[0].replace("\n", " ")
        assert re.search(r"[.!?:…](\)|`|\")?$|\. ", first), f"{name}: {first}"


# What others call: the modules that the book's pages on the package show. Of the checks, a page shows
# some names only; see `on_the_page_of_checks`.
REFERENCE = [
    path
    for path in MODULES
    if (
        (path.parent == PACKAGE or path.parent.parent == PACKAGE)
        and path.parent.name not in ("figures", "checks")
    )
    or path.parts[-2:] in (("grammar", "__init__.py"), ("everyday", "__init__.py"))
]
FIGURES = sorted((PACKAGE / "figures").glob("*.py"))
API = ROOT / "book" / "api"


def entries(doc: str, section: str) -> list[str]:
    """Names that a section of a docstring explains, in order; e.g. of Args or Raises."""
    found = re.search(rf"^{section}:\n((?:    .*\n?|\n(?=    ))+)", doc, re.MULTILINE)
    return re.findall(r"^    (\*{0,2}\w+): ", found[1], re.MULTILINE) if found else []


def decorators(node: Documented) -> set[str]:
    return {ast.unparse(decorator).split("(")[0] for decorator in node.decorator_list}


def parameters(node: Documented) -> list[str]:
    """What a caller may pass: for a class, to make an object of it."""
    if isinstance(node, ast.ClassDef) and "dataclass" in decorators(node):
        return [
            ast.unparse(child.target) for child in node.body if isinstance(child, ast.AnnAssign)
        ]
    if isinstance(node, ast.ClassDef):
        return next((parameters(child) for child in makers(node)), [])
    arguments = node.args
    named = [a.arg for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]]
    further = [f"*{a.arg}" for a in [arguments.vararg] if a]
    further += [f"**{a.arg}" for a in [arguments.kwarg] if a]
    return [name for name in named + further if name not in ("self", "cls")]


def makers(node: ast.ClassDef) -> list[ast.FunctionDef]:
    names = ("__init__", "__post_init__")
    return [c for c in node.body if isinstance(c, ast.FunctionDef) and c.name in names]


def outside_of_handlers(
    node: ast.AST, caught: frozenset[str] = frozenset()
) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    """Every part of a piece of code, with the errors that are caught around it."""
    yield node, caught
    for field, value in ast.iter_fields(node):
        inside = caught
        if isinstance(node, ast.Try) and field == "body":
            types = [handler.type for handler in node.handlers if handler.type]
            inside |= {
                name.id for part in types for name in ast.walk(part) if isinstance(name, ast.Name)
            }
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                yield from outside_of_handlers(part, inside)


def raised(node: Documented, tree: ast.Module) -> set[str]:
    """Errors that are made in the body, or in private functions of the same file that it calls.

    One that is caught on the way doesn't count.
    """
    if isinstance(node, ast.ClassDef):
        return {name for maker in makers(node) for name in raised(maker, tree)}
    private = {
        n.name: n
        for n in ast.walk(tree)
        if isinstance(n, ast.FunctionDef) and re.match("_(?!_)", n.name)
    }
    names: set[str] = set()
    bodies = [(node, frozenset[str]())]
    seen = {(node.name, frozenset[str]())}
    while bodies:
        for part, caught in outside_of_handlers(*bodies.pop()):
            if isinstance(part, ast.Raise) and isinstance(part.exc, ast.Call):
                names |= {ast.unparse(part.exc.func)} - caught
            if isinstance(part, ast.Call):
                called = ast.unparse(part.func).removeprefix("self.").removeprefix("cls.")
                if called in private and (called, caught) not in seen:
                    seen.add((called, caught))
                    bodies.append((private[called], caught))
    return names


def gaps(path: Path, source: str | None = None) -> list[str]:
    """What the docstrings of a file leave unsaid."""
    tree = parsed(path) if source is None else ast.parse(source)
    found = []
    for node in public_definitions(tree):
        # The docstring of a command is what its --help prints, beside the help of each option; its
        # errors end as exit status, which the module's docstring explains.
        if "app.command" in decorators(node):
            continue
        doc = ast.get_docstring(node) or ""
        if not doc:
            found.append(f"{node.name} has no docstring")
        if entries(doc, "Args") != parameters(node):
            wanted = ", ".join(parameters(node)) or "nothing"
            found.append(f"{node.name}: Args must explain {wanted}, in this order")
        gives = isinstance(node, ast.FunctionDef) and ast.unparse(node.returns or node) != "None"
        if gives and parameters(node) and not re.search(r"^(Returns|Yields):$", doc, re.MULTILINE):
            found.append(f"{node.name} doesn't say what it returns")
        for error in sorted(raised(node, tree) - set(entries(doc, "Raises"))):
            found.append(f"{node.name}: Raises must say when {error} comes")
    return found


@pytest.mark.parametrize("path", [*REFERENCE, *FIGURES], ids=module_name)
def test_every_public_docstring_says_arguments_result_and_errors(path: Path) -> None:
    assert gaps(path) == []


def on_the_page_of_checks() -> dict[str, Path]:
    """The names that the page on the checks shows, each with the file that defines it."""
    page = (API / "checks.md").read_text(encoding="utf-8")
    names = re.findall(
        r"^\.\. auto(?:function|class):: transformer_course\.[\w.]+\.(\w+)$", page, re.M
    )
    files = sorted((PACKAGE / "checks").glob("*.py"))
    owners = {
        d.name: path for path in files for d in parsed(path).body if isinstance(d, Documented)
    }
    return {name: owners[name] for name in names}


def test_docstrings_on_the_page_of_checks_say_arguments_result_and_errors() -> None:
    shown = on_the_page_of_checks()
    assert {"keep", "part", "judge", "Exercise"} <= set(shown)
    for name in shown:
        assert [gap for gap in gaps(shown[name]) if re.match(rf"{name}\b", gap)] == []


@pytest.mark.parametrize(
    ("module", "said", "instead", "gap"),
    [
        ("masking", "        length: number of", "        number of", "Args must explain length"),
        (
            "masking",
            "        length: number of",
            "        n: number of",
            "Args must explain length",
        ),
        (
            "leaks",
            "    Returns:\n        The leaks",
            "    The leaks",
            "doesn't say what it returns",
        ),
        (
            "attention",
            "        ValueError: if the widths",
            "        if the widths",
            "when ValueError",
        ),
        ("multi_head", "        ValueError: if a number", "        if a number", "when ValueError"),
        ("checks.own_parts", "except CannotKeep as error", "except OSError as error", "CannotKeep"),
        (
            "figures.plots",
            "        queries: a name for each row.\n",
            "",
            "Args must explain weights",
        ),
        (
            "attention",
            '    """Refuse a mask',
            '    """"""\n    """Refuse a mask',
            "check_mask has no docstring",
        ),
    ],
)
def test_a_gap_in_a_docstring_is_found(module: str, said: str, instead: str, gap: str) -> None:
    path = PACKAGE.joinpath(*module.split(".")).with_suffix(".py")
    source = path.read_text(encoding="utf-8")
    assert said in source
    assert any(gap in found for found in gaps(path, source.replace(said, instead)))


@pytest.mark.parametrize("path", REFERENCE, ids=module_name)
def test_docstring_of_a_module_names_the_chapter_that_its_page_links(path: Path) -> None:
    first = (ast.get_docstring(parsed(path)) or "").split("\n\n")[0]
    named = re.search(r"\((?:chapter (\d\d)|all chapters)\)", first)
    assert named, first
    pages = "".join(page.read_text("utf-8") for page in sorted(API.glob("*.md")))
    shown = f"```{{eval-rst}}\n.. automodule:: transformer_course.{module_name(path)}\n"
    if shown in pages:
        number = named[1]
        chapter = next((ROOT / "chapters").glob(f"{number}_*.ipynb"))
        link = f"Explained in [chapter {number}](../../chapters/{chapter.name}).\n\n"
        assert pages.split(shown)[0].endswith(link)


def parts_by_chapter(page: str, marker: str) -> dict[str, str]:
    """What an API page says about each chapter: the number, and the text after its link."""
    text = (API / page).read_text(encoding="utf-8")
    place = r"\.\./\.\./chapters/(\w+)\.ipynb\)"
    parts = re.split(rf"{marker} \[chapter (\d\d)\]\({place}", text)
    numbers, files = parts[1::3], parts[2::3]
    assert files == [path.stem for path in sorted((ROOT / "chapters").glob("*.ipynb"))]
    assert numbers == [file[:2] for file in files]
    return dict(zip(numbers, parts[3::3], strict=True)) | {"": parts[0]}


def test_page_of_figures_shows_each_figure_under_the_chapter_it_is_drawn_for() -> None:
    wanted: dict[str, set[str]] = {}
    for path in FIGURES:
        drawn_for = re.search(r"\bchapter (\d\d)\b", ast.get_docstring(parsed(path)) or "")
        names = {d.name for d in parsed(path).body if isinstance(d, Documented)}
        wanted.setdefault(drawn_for[1] if drawn_for else "", set()).update(names & exported())
    parts = parts_by_chapter("figures.md", "Drawn for")
    shown = {
        number: re.findall(r"^\.\. auto(?:function|class):: [\w.]+\.(\w+)$", part, re.MULTILINE)
        for number, part in parts.items()
    }
    assert {number: set(names) for number, names in shown.items()} == wanted
    colours = re.findall(r"^\.\. autodata:: [\w.]+\.palette\.(\w+)$", parts[""], re.MULTILINE)
    assert sorted([*colours, *chain(*shown.values())]) == sorted(exported())  # each once


def exported() -> set[str]:
    """What `figures` exports."""
    for node in parsed(PACKAGE / "figures" / "__init__.py").body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    raise AssertionError("figures has no __all__")


def test_page_of_checks_lists_the_exercises_of_each_chapter() -> None:
    parts = parts_by_chapter("checks.md", "-")
    for stem, number in NUMBERS.items():
        if part := parts.get(f"{number:02}"):
            module, _, listed = part.split("\n")[0].partition(": ")
            assert module == f", `checks.{stem}`"
            package = parsed(PACKAGE / "checks" / stem / "__init__.py")
            exercises = next(
                node.value
                for node in package.body
                if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "EXERCISES"
            )
            assert isinstance(exercises, ast.Tuple)
            assert listed == ", ".join(f"`{ast.unparse(name)}`" for name in exercises.elts)


# Names that cite nobody: files, records, helpers, common practice, and what is the course's own.
NO_SOURCE = {
    "attention": {"check_mask", "check_sizes"},
    "corpus.baselines": {"majority", "learn_dictionary", "word_by_word", "three_gram"},
    "corpus.batches": {"Batch", "collate", "padding_share"},
    "corpus.scoring": {
        "exact_match",
        "by_phenomenon",
        "group_by_length",
        "chosen_pronoun",
        "check",
    },
    "decoding": {"Hypothesis", "check_beam", "ParallelModel", "Searchable", "SearchState"},
    "inspecting.causes": {"changed_attention", "equal_weights", "leave_one_out"},
    "inspecting.heads": {"word_links"},
    "inspecting.induction": {"copy_accuracy", "repeated"},
    "inspecting.layers": {"Probe", "logit_lens"},  # the lens is by somebody without a family name
    "inspecting.watching": {"layer_names", "recorded", "watching"},
    "recipe.writing": {"only_writer", "refuse_run_file", "check_output"},
    "lexicon": {"spread", "untranslated"},
    "devices": {"find_device"},
    "encoder_decoder.cache": {"DecoderCache", "DecoderState"},
    "encoder_decoder.layers": {"norm_of"},
    "encoder_decoder.relative": {"relative_positions"},
    "evaluation": {"evaluate_by_phenomenon", "Likelihood", "likelihood"},
    "families.models": {"Classifier", "pool", "Stack"},
    "families.objectives": {
        *("Rows", "classification_loss", "language_model_loss", "token_losses"),
    },
    "families.kinds": {"Kind"},
    "families.prompts": {"PromptState"},
    "families.saving": {"Words", "load_model", "save_model"},
    "fast": {"computes_bf16", "use_fast"},
    "labels": {"check_labels"},
    "leaks": {"leaks_by_change", "leaks_by_gradient"},
    "long_context.patterns": {"reach"},
    "loss": {"log_softmax", "EncoderDecoder", "output_weight", "sentence_log_probs"},
    "masking": {"padding_mask"},
    "multi_head": {"KeyValueCache", "record_attention", "Rotation", "ScoreBias"},
    "non_autoregressive.mask_predict": {"Pass"},
    "non_autoregressive.searching": {"best_tokens", "check_parallel", "finished"},
    "recipe.tasks": {"Task", "fresh_model", "task_of"},
    "recipe.train": {"PairError", "train_translator"},
    "recipe.data": {
        *("uses", "check_use", "Data", "read_files", "split_pairs", "encode_pairs", "digest"),
    },
    "recipe.folder": {
        *("refuse_lost", "refuse_used", "load_held_out", "load_run", "save_run"),
        *("recipe_to_resume", "was_begun_by"),
    },
    "seq2seq.common": {"Seq2SeqCache", "Seq2SeqState"},
    "training.batches": {"Sizes", "Trainable", "Batches", "as_batches", "to_device"},
    "training.compiling": {"compile_layers"},
    "training.final": {"best_and_last", "KeptWeights"},
    "training.gradients": {"cut"},
    "training.optimizers": {"check_optimizer"},
    "training.processes": {
        *("LostProcessError", "ToldElsewhereError", "Processes", "job", "joined", "local_rank"),
    },
    "training.progress": {"Progress", "Clock"},
    "training.resuming": {
        "same_run",
        "upgraded_training",
        "check_place",
        "check_same_run",
        "checked_values",
        "may_change",
    },
    "training.sharding": {"is_sharded", "layers", "loss_of"},
    "training.shards": {"ShardBatches"},
    "training.validation": {"validation_loss"},
    "translator": {
        "exported_for",
        "AttentionMaps",
        "Translation",
        "Translator",
        "load_vocabulary",
        "save_vocabulary",
        *("check_encoded", "length_limit", "search_batches"),
    },
}
NOTHING_PUBLISHED = {  # whole modules
    *("__init__", "__main__", "cli", "forks", "interrupts", "runs", "streams", "validation"),
    *("training.telling", "unfinished", "waiting"),
    *("checkpoints", "checkpoints.files", "checkpoints.runs", "checkpoints.tensors"),
    *("checkpoints.memory", "checkpoints.parts", "training.diverging"),
    *("corpus", "corpus.__main__", "corpus.grammar", "corpus.pairs", "corpus.readers"),
    *("corpus.everyday", "corpus.lenient", "corpus.normal_form", "lines"),
    *("corpus.bilingual", "corpus.cleaning", "corpus.prepare", "corpus.shards", "corpus.sharing"),
    *("recipe.log", "recipe.options"),
    *("export", "export.ctranslate2_model", "export.exported", "export.folders", "export.hub"),
    *("export.onnx_model", "export.plain", "info", "optional"),
    *("serve", "serve.batching", "serve.server", "serve.web"),
}
WORK = re.compile(r"\b([A-Z][\w-]+)( et al\.| and [A-Z][\w-]+)? ((?:19|20)\d\d)\b")


def works(node: ast.AST) -> list[tuple[str, str, str]]:
    """The works that a docstring names: first author, how the others are named, year."""
    doc = ast.get_docstring(node) or ""  # type: ignore[arg-type]
    return [found.groups("") for found in WORK.finditer(" ".join(doc.split()))]  # type: ignore[misc]


@pytest.mark.parametrize("path", REFERENCE, ids=module_name)
def test_what_implements_published_work_names_it(path: Path) -> None:
    module = module_name(path)
    if module not in NOTHING_PUBLISHED:
        public = [d for d in parsed(path).body if d in public_definitions(parsed(path))]
        silent = {d.name for d in public if isinstance(d, Documented) and not works(d)}
        assert silent == NO_SOURCE.get(module, set())


def test_works_named_in_docstrings_are_in_the_bibliography() -> None:
    text = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    known = set()
    for entry in re.split(r"^@", text, flags=re.MULTILINE)[1:]:
        found = [re.search(rf"^  {field} = {{(.*)}}", entry, re.M) for field in ("author", "year")]
        authors, year = [match[1] for match in found if match]
        names = [author.split(",")[0] for author in authors.split(" and ")]
        others = "" if len(names) == 1 else f" and {names[1]}" if len(names) == 2 else " et al."
        known.add((names[0], others, year))
    named = {
        (module_name(path), *work)
        for path in MODULES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Module | Documented)
        for work in works(node)
    }
    assert len(named) > 50
    assert {work for work in named if work[1:] not in known} == set()


@pytest.mark.parametrize("stem", CHAPTERS)
def test_every_docstring_that_takes_a_mask_says_what_true_means(stem: str) -> None:
    for node in chain(*(public_definitions(parsed(path)) for path in files_of(stem))):
        if not isinstance(node, ast.FunctionDef):
            continue
        masks = [a.arg for a in node.args.args + node.args.kwonlyargs if a.arg.endswith("mask")]
        doc = ast.get_docstring(node) or ""
        for mask in masks:
            said = re.search(rf"^    {mask}: .*(\n        .*)*", doc, re.MULTILINE)
            assert said, f"{stem}.{node.name} doesn't explain {mask}"
            assert "True = may attend" in " ".join(said[0].split()), f"{stem}.{node.name}: {mask}"


def test_benchmarks_are_no_tests() -> None:
    assert not list((ROOT / "benchmarks").rglob("test_*.py"))
    assert not list((ROOT / "benchmarks").rglob("*_test.py"))


SKIPPING = """
import pytest

def test_lacks_something(needs):
    needs(None, "Chromium is missing: apt-get install chromium")

@pytest.mark.xfail(reason="known", strict=True)
def test_known():
    assert False

def test_fine(needs):
    needs("there", "never said")
"""


@pytest.mark.parametrize("ci", [False, True])
def test_what_is_missing_skips_with_a_sentence_and_fails_in_ci(tmp_path: Path, ci: bool) -> None:
    (tmp_path / "conftest.py").write_bytes((ROOT / "tests" / "conftest.py").read_bytes())
    (tmp_path / "test_skipping.py").write_text(SKIPPING)
    (tmp_path / "test_module.py").write_text(
        "import pytest\npytest.importorskip('no_such_thing')\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    command = [sys.executable, "-m", "pytest", "-q", "-rsf"]
    run = subprocess.run(
        [*command, "-p", "no:cacheprovider", "--continue-on-collection-errors", str(tmp_path)],
        env=environment | ({"CI": "true"} if ci else {}),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Chromium is missing: apt-get install chromium" in run.stdout
    if ci:
        assert run.returncode != 0
        assert "skipped, and CI skips nothing" in run.stdout
        assert "no_such_thing" in run.stdout
    else:
        assert run.returncode == 0
        assert "1 passed, 2 skipped, 1 xfailed" in run.stdout


@pytest.mark.parametrize(
    "family", ["EncoderOnly", "DecoderOnly", "Classifier", "VisionTransformer"]
)
def test_each_family_has_at_most_sixty_lines_of_its_own(family: str) -> None:
    """Chapter 11 says so; blank lines and docstrings don't count."""
    path = PACKAGE / "families" / "models.py"
    lines = path.read_text(encoding="utf-8").splitlines()
    (node,) = (n for n in parsed(path).body if isinstance(n, ast.ClassDef) and n.name == family)
    docs = [n.body[0] for n in ast.walk(node) if isinstance(n, Documented) and ast.get_docstring(n)]
    explained = {i for doc in docs for i in range(doc.lineno, (doc.end_lineno or doc.lineno) + 1)}
    own = set(range(node.lineno, (node.end_lineno or 0) + 1)) - explained
    assert sum(bool(lines[i - 1].strip()) for i in own) <= 60
