"""Images as sequences: digits read patch by patch, beside simpler ways; and digits written pixel by pixel."""

from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from experiment_training import trained_on
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from torch import Tensor, nn

from transformer_course.decoding import sample
from transformer_course.encoder_decoder import LayerConfig
from transformer_course.families import (
    DecoderConfig,
    DecoderOnly,
    Rows,
    VisionConfig,
    VisionTransformer,
    classification_loss,
    language_model_loss,
    token_losses,
)

LEVELS, FIRST = 17, 13  # grey levels; ids 3 … 12 are the digits 0 … 9, then come the levels
CONFIG: dict[str, Any] = {
    "n_test": 450,
    "n_neighbours": 3,
    "variants": {
        "patches of 2 × 2": {},
        "patches of 4 × 4": {"patch_size": 4},
        "no positions": {"positions": "none"},
        "patches shuffled": {"shuffled": True},
        "patches shuffled, no positions": {"positions": "none", "shuffled": True},
    },
    "layer": {"d_model": 64, "n_heads": 4, "d_ff": 128, "activation": "gelu", "dropout": 0.1},
    "n_layers": 2,
    "batch_size": 64,
    "training": {
        "max_steps": 800,
        "peak_rate": 2e-3,
        "warmup_steps": 100,
        "validate_every": 200,
    },
    "writer": {
        "layer": {
            "d_model": 64,
            "n_heads": 4,
            "d_ff": 256,
            "activation": "gelu_tanh",
            "dropout": 0.1,
        },
        "n_layers": 3,
        # How many pixels back each one sees; 64 is all, 17 two rows of eight.
        "windows": {"all earlier pixels": 65, "the 17 before": 17},
        "training": {
            "max_steps": 600,
            "peak_rate": 2e-3,
            "warmup_steps": 100,
            "validate_every": 200,
        },
        "n_samples": 30,  # of each digit
    },
}
PROBE: dict[str, Any] = {
    "n_test": 300,
    "batch_size": 16,
    "training": {"max_steps": 6, "warmup_steps": 2, "validate_every": 3},
    "writer": {
        "training": {"max_steps": 4, "warmup_steps": 2, "validate_every": 2},
        "n_samples": 1,
    },
}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Split the 1,797 digits, train every variant, and measure all on the same held-out images."""
    images, labels = (torch.tensor(x) for x in load_digits(return_X_y=True))
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed))
    held, known = order[: config["n_test"]], order[config["n_test"] :]
    pixels = (images / 16).float().view(-1, 1, 8, 8)
    sets = {name: (pixels[rows], labels[rows]) for name, rows in (("train", known), ("test", held))}
    scores: dict[str, Any] = {"right": {}, "weights": {}}
    curves: dict[str, list[float]] = {}
    for name, choice in config["variants"].items():
        model, history = reader(seed, config, choice, sets, folder / name)
        scores["right"][name] = accuracy(model, *changed(sets["test"], choice))
        scores["weights"][name] = sum(p.numel() for p in model.parameters())
        curves[name] = [round(record["loss"], 5) for record in history]
    for name, shuffled in (("convolution", False), ("convolution, patches shuffled", True)):
        net, _ = reader(seed, config, {"shuffled": shuffled, "conv": True}, sets, folder / name)
        scores["right"][name] = accuracy(net, *changed(sets["test"], {"shuffled": shuffled}))
        scores["weights"][name] = sum(p.numel() for p in net.parameters())
    scores["right"] |= simple_ones(config, sets)
    written = writers(seed, config, images.long().view(-1, 64), labels, known, held, folder)
    return {"curves": curves, "scores": scores | written["scores"], "texts": written["texts"]}


class Convolutions(nn.Module):
    """Two convolutions of 3 × 3, each halved by its maxima, and a linear map."""

    config = VisionConfig.digits()

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 24, 3, padding=1)
        self.second = nn.Conv2d(24, 64, 3, padding=1)
        self.output = nn.Linear(64 * 4, 10)

    def forward(self, images: Tensor) -> Tensor:
        """Scores of the ten digits, (batch, 10)."""
        x = F.max_pool2d(torch.relu(self.first(images)), 2)
        return self.output(F.max_pool2d(torch.relu(self.second(x)), 2).flatten(1))


def changed(data: tuple[Tensor, Tensor], choice: dict[str, Any]) -> tuple[Tensor, Tensor]:
    """The images, their 16 patches of 2 × 2 put elsewhere if so chosen: in all images alike."""
    images, labels = data
    if not choice.get("shuffled"):
        return data
    places = torch.randperm(16, generator=torch.Generator().manual_seed(17))
    patches = F.unfold(images, 2, stride=2)[:, :, places]
    return F.fold(patches, (8, 8), 2, stride=2), labels


def reader(
    seed: int,
    config: dict[str, Any],
    choice: dict[str, Any],
    sets: dict[str, tuple[Tensor, Tensor]],
    folder: Path,
) -> tuple[Any, list[dict[str, Any]]]:
    """A trained model that says which digit an image shows."""
    torch.manual_seed(seed)
    sizes = VisionConfig(
        LayerConfig(**config["layer"]),
        image_size=8,
        patch_size=choice.get("patch_size", 2),
        channels=1,
        n_classes=10,
        n_layers=config["n_layers"],
        positions=choice.get("positions", "learned"),
    )
    model: Any = Convolutions() if choice.get("conv") else VisionTransformer(sizes)
    rows = {}
    for name, data in sets.items():
        images, labels = changed(data, choice)
        rows[name] = Rows(images, labels.tolist(), batch_size=config["batch_size"])
    training = config["training"] | {"seed": seed}
    model, trainer = trained_on(
        model, rows["train"], rows["test"], training, folder, classification_loss
    )
    return model, trainer.history


@torch.no_grad()
def accuracy(model: nn.Module, images: Tensor, labels: Tensor) -> float:
    """Share of the images whose digit is named."""
    return round((model(images).argmax(-1) == labels).float().mean().item(), 5)


def simple_ones(config: dict[str, Any], sets: dict[str, tuple[Tensor, Tensor]]) -> dict[str, float]:
    """What two methods without hidden layers name right."""
    (train, known), (test, right) = ((x.flatten(1).numpy(), y.numpy()) for x, y in sets.values())
    methods = {
        "logistic regression": LogisticRegression(max_iter=5000),
        "nearest neighbours": KNeighborsClassifier(config["n_neighbours"]),
    }
    return {
        name: round(float(method.fit(train, known).score(test, right)), 5)
        for name, method in methods.items()
    }


def writers(
    seed: int,
    config: dict[str, Any],
    levels: Tensor,
    labels: Tensor,
    known: Tensor,
    held: Tensor,
    folder: Path,
) -> dict[str, Any]:
    """Language models whose words are grey levels; the first token says which digit is wanted."""
    choice = config["writer"]
    rows = torch.cat([labels[:, None] + 3, levels + FIRST], 1)  # (n, 1 + 64)
    train, test = (
        Rows(rows[some].tolist(), batch_size=config["batch_size"]) for some in (known, held)
    )
    bits: dict[str, float] = baselines(levels[known], levels[held])
    models = {}
    for name, window in choice["windows"].items():
        torch.manual_seed(seed)
        sizes = DecoderConfig(
            FIRST + LEVELS, LayerConfig(**choice["layer"]), choice["n_layers"], max_len=65
        )
        mask = local_mask(64, window)

        def loss(model: DecoderOnly, ids: Tensor, mask: Tensor = mask) -> Tensor:
            return language_model_loss(model, ids, mask=mask)

        training = choice["training"] | {"seed": seed}
        models[name], _ = trained_on(
            DecoderOnly(sizes), train, test, training, folder / f"writer, {name}", loss
        )
        with torch.no_grad():
            losses = token_losses(models[name], rows[held], mask=mask)
        bits[name] = round(losses.mean().item() / torch.log(torch.tensor(2.0)).item(), 5)
    drawn, asked = samples(models["all earlier pixels"], choice["n_samples"], seed)
    neighbours = KNeighborsClassifier(config["n_neighbours"])
    neighbours.fit(levels[known].numpy(), labels[known].numpy())
    recognised = float(neighbours.score(drawn.numpy(), asked.numpy()))
    copies = (drawn[:, None] == levels[known][None]).all(-1).any(-1).float().mean().item()
    return {
        "scores": {
            "bits per pixel": bits,
            "written digits recognised": round(recognised, 5),
            "written digits that are copies": round(copies, 5),
        },
        "texts": {"written": ["".join(map(chr, (97 + row).tolist())) for row in drawn[::10]]},
    }


def local_mask(length: int, window: int) -> Tensor:
    """Each position sees itself and those just before it, `window` in all, and the first token always."""
    places = torch.arange(length)
    back = places[:, None] - places
    return (((back >= 0) & (back < window)) | ((places == 0) & (back >= 0)))[None, None]


def baselines(known: Tensor, held: Tensor) -> dict[str, float]:
    """Bits per pixel without a network: every level alike; counts for each place; also for the left one."""
    of_place = torch.ones(64, LEVELS).scatter_add(1, known.T, torch.ones(known.T.shape))
    of_left = torch.full((64, LEVELS, LEVELS), 0.1)
    places = torch.arange(1, 64).expand(len(known), -1)
    ones = torch.ones(places.shape)
    of_left.index_put_((places, known[:, :-1], known[:, 1:]), ones, accumulate=True)
    alone = (of_place / of_place.sum(-1, keepdim=True)).log2()
    pairs = (of_left / of_left.sum(-1, keepdim=True)).log2()
    all_places = torch.arange(64)
    first = alone[0, held[:, 0]]
    rest = pairs[all_places[1:], held[:, :-1], held[:, 1:]]
    return {
        "all levels alike": round(torch.log2(torch.tensor(float(LEVELS))).item(), 5),
        "how often at this place": round(-alone[all_places, held].mean().item(), 5),
        "and after the pixel to the left": round(
            -(first.sum() + rest.sum()).item() / held.numel(), 5
        ),
    }


def samples(model: DecoderOnly, each: int, seed: int) -> tuple[Tensor, Tensor]:
    """Digits that the model writes, (n, 64), and which digits were asked for."""
    asked = torch.arange(10).repeat_interleave(each)
    generator = torch.Generator().manual_seed(seed)
    rows = sample(model, asked[:, None] + 3, 64, generator=generator, bos_id=1, eos_id=2)
    drawn = torch.zeros(len(rows), 64, dtype=torch.int64)
    for i, row in enumerate(rows):  # a row that ended too early, or names a digit, has white there
        pixels = torch.tensor(row) - FIRST
        drawn[i, : len(row)] = pixels.clamp(min=0)
    return drawn, asked
