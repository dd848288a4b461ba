# SPDX-License-Identifier: Apache-2.0
"""The first answer for the page of 5,000 files, which is then in no cache: of a server that has just started, beside one that
has the page."""
import statistics
import time

import lines
import ours
import table

FILES = 5_000
WAIT = 0.2  # seconds after which the scan of the start has begun
MOST_MS = 10  # with gzip, as every installer asks


def measure(one, path, headers):
    """Milliseconds and CPU milliseconds of a request, and the bytes of its answer."""
    one.settle()
    begin, used = time.monotonic(), one.cpu_seconds()
    status, _, body = one.get(path, headers)
    taken, used = time.monotonic() - begin, one.cpu_seconds() - used
    if status != 200:
        raise RuntimeError(f"{path}: {status}")
    return taken * 1000, used * 1000, len(body)


def first_and_second(binary, store, folder, shape, headers):
    one = ours.start(binary, store, folder)
    try:
        one.get(f"/simple/{shape.projects[4]}/", lines.JSON)
        time.sleep(WAIT)
        path = f"/simple/{shape.projects[FILES]}/"
        return measure(one, path, headers) + measure(one, path, headers)[:2]
    finally:
        one.stop()


def bench(binary, store, shape, folder, count):
    """Returns the table as text."""
    taken = {form: [] for form in lines.FORMS}
    first_and_second(binary, store, folder, shape, lines.JSON)  # fills the catalog
    for _ in range(count):
        for form, headers in lines.FORMS.items():
            taken[form].append(first_and_second(binary, store, folder, shape, headers))
    rows = []
    for form, rounds in taken.items():
        first, cpu, size, again, cpu_again = (statistics.median(column) for column in zip(*rounds))
        is_reached = "gzip" not in form or cpu <= MOST_MS
        rows.append([form, f"{size:,.0f}", *(f"{one:.1f}" for one in (first, cpu, again, cpu_again)),
                     "yes" if is_reached else f"{cpu:.1f} > {MOST_MS} CPU ms"])
    return table.text([f"page of {FILES:,}", "bytes", "first, ms", "CPU ms", "second, ms", "CPU ms", "reached"], rows)
