"""Positions as distances (chapter 06); chapter 12 explains them: what four schemes add to scores.

Each is a `ScoreBias` of `MultiHeadAttention`: it sees queries, keys and where both stand.
`LayerConfig.relative` names one of them; rotary positions, which turn queries and keys instead, are
`RotaryEncoding` (chapter 05).
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class AlibiBias(nn.Module):
    r"""A fixed slope a head: the further the key, the lower its score (ALiBi; Press et al. 2022).

    $-m_h\,|i - j|$ is added to the score of query $i$ and key $j$. Of $n$ heads, $n$ a power of 2, head
    $h = 1 … n$ has the slope $m_h = 2^{-8h/n}$; see `alibi_slopes` for other numbers. Nothing is learned.

    Args:
        n_heads: number of heads, 1 or more.

    Raises:
        ValueError: if there is no head.

    >>> unread, places = torch.zeros(1), torch.arange(3)[None]
    >>> AlibiBias(1)(unread, unread, places, places)[0, 0] * 256  # the slope is 1/256
    tensor([[-0., -1., -2.],
            [-1., -0., -1.],
            [-2., -1., -0.]])
    """

    slopes: Tensor

    def __init__(self, n_heads: int) -> None:
        super().__init__()
        self.register_buffer("slopes", alibi_slopes(n_heads), persistent=False)

    def forward(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        """What is added to the scores; see `ScoreBias`.

        Args:
            q: not read.
            k: not read.
            q_positions: (batch or 1, q_len).
            k_positions: (batch or 1, k_len).

        Returns:
            (batch or 1, heads, q_len, k_len).
        """
        distances = _back(q_positions, k_positions).abs()
        return -self.slopes[:, None, None] * distances[:, None]


def alibi_slopes(n_heads: int) -> Tensor:
    """The slopes of ALiBi (Press et al. 2022, §3).

    Where the number of heads is no power of 2, the heads beyond one get every second slope that twice as many
    heads would have, as in the authors' code.

    Args:
        n_heads: number of heads, 1 or more.

    Returns:
        (heads,), each above 0 and below 1.

    Raises:
        ValueError: if there is no head.

    >>> alibi_slopes(4)
    tensor([0.2500, 0.0625, 0.0156, 0.0039])
    """
    if n_heads < 1:
        raise ValueError(f"n_heads ({n_heads}) must be 1 or more")
    whole = 2 ** int(math.log2(n_heads))  # the largest power of 2 that is not above

    def powers(n: int) -> Tensor:
        return 2.0 ** (-8 / n * torch.arange(1, n + 1))

    rest = n_heads - whole
    return torch.cat([powers(whole), powers(2 * whole)[::2][:rest]])


class T5Bias(nn.Module):
    """A learned number for each head and each bucket of distances (T5; Raffel et al. 2020, §2.1).

    Near distances have a bucket of their own, further ones share buckets that grow by a factor. T5 also leaves
    out the √d_k under the scores, and its layers share one table; here scores are divided, and each layer has a
    table of its own.

    Args:
        n_heads: number of heads.
        n_buckets: kinds of distances, an even number, 4 or more.
        max_distance: from here on all distances are in the last bucket, which begins a little earlier; above
            half of `n_buckets`.
        both_ways: whether keys after the query have buckets of their own, half of all. Else all of them count
            as distance 0: right below a causal mask, which hides them. An encoder needs True; the name "t5" of
            `LayerConfig.relative` stands for False.

    Raises:
        ValueError: if a number is out of range.
    """

    def __init__(
        self, n_heads: int, n_buckets: int = 32, max_distance: int = 128, both_ways: bool = False
    ) -> None:
        super().__init__()
        _check_buckets(n_buckets, max_distance)
        self.n_buckets, self.max_distance, self.both_ways = n_buckets, max_distance, both_ways
        self.table = nn.Parameter(torch.zeros(n_buckets, n_heads))

    def reset_parameters(self) -> None:
        """Go back to zeros: all distances alike."""
        nn.init.zeros_(self.table)

    def forward(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        """What is added to the scores; see `ScoreBias`.

        Args:
            q: not read.
            k: not read.
            q_positions: (batch or 1, q_len).
            k_positions: (batch or 1, k_len).

        Returns:
            (batch or 1, heads, q_len, k_len).
        """
        back = _back(q_positions, k_positions)
        buckets = t5_buckets(back, self.n_buckets, self.max_distance, self.both_ways)
        return self.table[buckets].permute(0, 3, 1, 2)


def t5_buckets(
    back: Tensor, n_buckets: int = 32, max_distance: int = 128, both_ways: bool = False
) -> Tensor:
    """The bucket of each distance (Raffel et al. 2020, §2.1).

    Args:
        back: how far back the key is, whole numbers of any shape; below 0 if it comes after the query.
        n_buckets: as in `T5Bias`.
        max_distance: as in `T5Bias`.
        both_ways: as in `T5Bias`.

    Returns:
        The shape of `back`, int64, 0 … n_buckets − 1.

    Raises:
        ValueError: if `n_buckets` or `max_distance` is out of range.

    >>> t5_buckets(torch.tensor([0, 1, 15, 16, 30, 127, 1000]))
    tensor([ 0,  1, 15, 16, 20, 31, 31])
    """
    _check_buckets(n_buckets, max_distance)
    first = torch.zeros_like(back)
    if both_ways:
        n_buckets //= 2
        first = torch.where(back < 0, n_buckets, 0)
        back = back.abs()
    back = back.clamp(min=0)
    exact = n_buckets // 2  # distances with a bucket of their own
    growth = (back.clamp(min=1) / exact).log() / math.log(max_distance / exact)
    shared = exact + (growth * (n_buckets - exact)).long()
    return first + torch.where(back < exact, back, shared.clamp(max=n_buckets - 1))


class ShawPositions(nn.Module):
    r"""A learned vector for each distance up to `clip`, compared with the query (Shaw et al. 2018, eq. 4).

    $q_i \cdot a_{\mathrm{clip}(j - i)} / \sqrt{d_k}$ is added to the score of query $i$ and key $j$. The heads
    share the vectors. Shaw et al. also add vectors to the values; leaving them out changed nothing there (their
    table 3), so they are left out here.

    Args:
        d_k: width of a head.
        clip: the furthest distance with a vector of its own, each way; 1 or more.

    Raises:
        ValueError: if `clip` is below 1.
    """

    def __init__(self, d_k: int, clip: int = 16) -> None:
        super().__init__()
        if clip < 1:
            raise ValueError(f"clip ({clip}) must be 1 or more")
        self.clip = clip
        self.table = nn.Parameter(torch.empty(2 * clip + 1, d_k))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw fresh vectors, entries of variance 1 / d_k."""
        nn.init.normal_(self.table, std=self.table.shape[1] ** -0.5)

    def forward(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        """What is added to the scores; see `ScoreBias`.

        Args:
            q: (batch, heads, q_len, d_k).
            k: not read.
            q_positions: (batch or 1, q_len).
            k_positions: (batch or 1, k_len).

        Returns:
            (batch, heads, q_len, k_len).
        """
        distances = (-_back(q_positions, k_positions)).clamp(-self.clip, self.clip)
        scores = q @ self.table.T / math.sqrt(q.shape[-1])  # (batch, heads, q_len, 2 · clip + 1)
        return scores.gather(-1, _for_heads(distances + self.clip, q))


class TransformerXLPositions(nn.Module):
    r"""What Transformer-XL adds to $q_i \cdot k_j$: three more terms (Dai et al. 2019, §3.3).

    The score of query $i$ and key $j$ is $((q_i + u) \cdot k_j + (q_i + v) \cdot R_{i-j}) / \sqrt{d_k}$. The
    layer computes $q_i \cdot k_j$; the rest is added: a query and a distance, a key by itself, a distance by
    itself. $R$ is a learned map of the sinusoids of the distance; $u$, $v$ are learned for each head.

    Args:
        n_heads: number of heads.
        d_k: width of a head; n_heads · d_k must be even.

    Raises:
        ValueError: if n_heads · d_k is odd.
    """

    def __init__(self, n_heads: int, d_k: int) -> None:
        super().__init__()
        if n_heads * d_k % 2:
            raise ValueError(
                f"n_heads · d_k ({n_heads * d_k}) must be even: sines and cosines come in pairs"
            )
        self.key_bias = nn.Parameter(torch.zeros(n_heads, 1, d_k))  # u
        self.distance_bias = nn.Parameter(torch.zeros(n_heads, 1, d_k))  # v
        self.w_distance = nn.Linear(n_heads * d_k, n_heads * d_k, bias=False)

    def reset_parameters(self) -> None:
        """Draw a fresh map, Xavier-uniform; u and v go back to zeros."""
        nn.init.xavier_uniform_(self.w_distance.weight)
        nn.init.zeros_(self.key_bias)
        nn.init.zeros_(self.distance_bias)

    def forward(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        """What is added to the scores; see `ScoreBias`.

        Args:
            q: (batch, heads, q_len, d_k).
            k: (batch, heads, k_len, d_k).
            q_positions: (batch or 1, q_len).
            k_positions: (batch or 1, k_len).

        Returns:
            (batch, heads, q_len, k_len).

        Raises:
            ValueError: if, in the processor's memory, a query and a key are k_len or more places apart: there
                must be no gaps between the places of the keys.
        """
        heads, k_len, d_k = k.shape[1:]
        back = _back(q_positions, k_positions)
        _check_gaps(back, k_len)
        every = torch.arange(1 - k_len, k_len, device=q.device)  # all distances within k_len places
        waves = distance_waves(every, heads * d_k).to(q.dtype)
        r = self.w_distance(waves).view(-1, heads, d_k).transpose(0, 1)  # (heads, distances, d_k)
        of_distance = (q + self.distance_bias) @ r.transpose(-2, -1)  # (…, q_len, distances)
        of_distance = of_distance.gather(-1, _for_heads(back + k_len - 1, q))
        of_key = self.key_bias @ k.transpose(-2, -1)  # (batch, heads, 1, k_len)
        return (of_key + of_distance) / math.sqrt(d_k)


def _back(q_positions: Tensor, k_positions: Tensor) -> Tensor:
    """How far back each key is from each query, (batch or 1, q_len, k_len)."""
    return q_positions[:, :, None] - k_positions[:, None]


def _for_heads(indices: Tensor, q: Tensor) -> Tensor:
    """The same (batch or 1, q_len, k_len) for every row and head of the queries."""
    return indices[:, None].expand(*q.shape[:2], -1, -1)


def distance_waves(distances: Tensor, width: int) -> Tensor:
    """Sines, then cosines of distances (Vaswani et al. 2017, §3.5, in the order of Dai et al. 2019).

    Args:
        distances: (n,), whole numbers; they may be below 0.
        width: an even number.

    Returns:
        (n, width).
    """
    frequencies = 10000.0 ** (-torch.arange(0, width, 2, device=distances.device) / width)
    angles = distances[:, None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], -1)


def relative_shift(by_distance: Tensor) -> Tensor:
    """Move each row so that column j holds key j's score (Transformer-XL; Dai et al. 2019, appendix B).

    Row i comes with its scores by distance, the furthest first: column c is distance k_len − 1 − c. So the last
    row stands right, and row i must move left by q_len − 1 − i. One column of zeros, two new shapes, and the
    rows have moved. What slides in on the right, from the next row, is meaningless: it stands where the key is
    after the query. A causal mask must hide it, *after* the shift.

    Args:
        by_distance: (…, q_len, k_len), the queries being the last q_len of k_len positions.

    Returns:
        (…, q_len, k_len); right where the key is not after the query.

    >>> relative_shift(torch.tensor([[2, 1, 0], [2, 1, 0], [2, 1, 0]])).tril()
    tensor([[0, 0, 0],
            [1, 0, 0],
            [2, 1, 0]])
    """
    *rest, q_len, k_len = by_distance.shape
    padded = F.pad(by_distance, (1, 0))  # (…, q_len, k_len + 1)
    return padded.reshape(*rest, k_len + 1, q_len)[..., 1:, :].reshape(*rest, q_len, k_len)


def _check_buckets(n_buckets: int, max_distance: int) -> None:
    if n_buckets < 4 or n_buckets % 2:
        raise ValueError(f"n_buckets ({n_buckets}) must be even, 4 or more")
    if max_distance <= n_buckets // 2:
        raise ValueError(
            f"max_distance ({max_distance}) must be above half of n_buckets ({n_buckets})"
        )


def _check_gaps(back: Tensor, k_len: int) -> None:
    """Looks at values in the processor's memory only: a graphics card would have to be waited for."""
    if back.device.type == "cpu" and not torch.compiler.is_compiling():
        furthest = int(back.abs().max())
        if furthest >= k_len:
            raise ValueError(
                f"positions are up to {furthest} apart; {k_len} keys without gaps are at most {k_len - 1}"
            )


def relative_positions(kind: str, n_heads: int, d_k: int) -> nn.Module:
    """The scheme of a name, see `LayerConfig.relative`.

    Args:
        kind: "alibi", `AlibiBias`; "t5", `T5Bias` for causal masks; "shaw", `ShawPositions`; or "xl",
            `TransformerXLPositions`.
        n_heads: number of heads.
        d_k: width of a head.

    Returns:
        A fresh scheme, a `ScoreBias`.

    Raises:
        ValueError: if the name is unknown.
    """
    match kind:
        case "alibi":
            return AlibiBias(n_heads)
        case "t5":
            return T5Bias(n_heads)
        case "shaw":
            return ShawPositions(d_k)
        case "xl":
            return TransformerXLPositions(n_heads, d_k)
    raise ValueError(f"kind ({kind!r}) must be 'alibi', 't5', 'shaw' or 'xl'")
