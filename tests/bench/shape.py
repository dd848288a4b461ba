# SPDX-License-Identifier: Apache-2.0
"""A store with the shape of PyPI: half of all projects have up to 4 files, one in a hundred has 262 or more."""
import math
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import storelib  # noqa: E402

MEDIAN, P99 = 4, 262
WHEEL_BYTES = 20_000
LARGE = 5_000  # files of the largest project, here as on PyPI
ALL = 10_000   # files altogether


def sizes(total):
    """Files a project, so that they are total: the quantiles of the log-normal distribution, not chance."""
    sigma = math.log(P99 / MEDIAN) / statistics.NormalDist().inv_cdf(0.99)
    count = round(total / (MEDIAN * math.exp(sigma ** 2 / 2)))
    found = []
    while sum(found) < total:
        quantiles = [(i + 0.5) / count for i in range(count)]
        found = [max(1, round(MEDIAN * math.exp(sigma * statistics.NormalDist().inv_cdf(q)))) for q in quantiles]
        count += 1
    found[-1] -= sum(found) - total
    return [size for size in found if size > 0]


def make_store(folder, total=ALL, large=LARGE):
    """Makes the wheels; returns the names of a project of 4 files and of the large one, and a wheel of the former."""
    small = None
    for i, size in enumerate([large, *sizes(total - large)]):
        name = f"project{i}"
        place = folder / name[0] / name
        for j in range(size):
            wheel = storelib.make_wheel(place, name, f"1.{j}", requires_python=">=3.9", size=WHEEL_BYTES)
        if size == MEDIAN and small is None:
            small = name, wheel
    return small[0], "project0", small[1]
