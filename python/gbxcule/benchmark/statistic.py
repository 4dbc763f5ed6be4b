"""Interquartile means and their intervals, as Agarwal et al. 2021 ("Deep Reinforcement Learning at the Edge of the Statistical
Precipice") advise."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

RESAMPLES = 2000
CONFIDENCE = 0.95

Scores = npt.NDArray[np.float64]


def interquartile_mean(scores: npt.ArrayLike, axis: int = -1) -> Scores:
    """Return the mean without the lowest and the highest quarter: of n scores, n // 4 are left out at each end."""
    ordered = np.sort(np.asarray(scores, np.float64), axis)
    count = ordered.shape[axis]
    cut = count // 4
    return np.asarray(np.take(ordered, range(cut, count - cut), axis).mean(axis))


def interval(strata: Sequence[Sequence[float]], seed: int = 0) -> tuple[float, float]:
    """Return the percentile interval of the interquartile mean, by stratified bootstrap: a resample draws from each
    stratum, with replacement, as many scores as it has. A stratum is a game with the scores of all seeds."""
    rng = np.random.default_rng(seed)
    drawn = []
    for stratum in strata:
        scores = np.asarray(stratum, np.float64)
        drawn.append(scores[rng.integers(len(scores), size=(RESAMPLES, len(scores)))])
    means = interquartile_mean(np.concatenate(drawn, 1))
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(means, [tail, 100 - tail])
    return float(low), float(high)
