#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the figures of `make fuzz` as a table, from the NAME.log of each target (with -print_final_stats=1)."""
import pathlib
import re
import sys

# Column, and the pattern whose last match in a log is its value.
COLUMNS = [
    ("seconds", r"^Done \d+ runs in (\d+) second"),
    ("executions", r"^stat::number_of_executed_units:\s+(\d+)"),
    ("a second", r"^stat::average_exec_per_sec:\s+(\d+)"),
    ("edges", r" cov: (\d+) "),
    ("features", r" ft: (\d+) "),
    ("new inputs", r"^stat::new_units_added:\s+(\d+)"),
]


def figures(path):
    text = path.read_text(errors="replace")
    found = {column: re.findall(pattern, text, re.M) for column, pattern in COLUMNS}
    missing = [column for column, values in found.items() if not values]
    if missing:
        sys.exit(f"figures.py: {path} lacks: {', '.join(missing)}")
    return [int(values[-1]) for values in found.values()]


def main(paths):
    print(f"{'target':14}" + "".join(f"{column:>13}" for column, _ in COLUMNS))
    for path in map(pathlib.Path, paths):
        print(f"{path.stem:14}" + "".join(f"{figure:13,}" for figure in figures(path)))


if __name__ == "__main__":
    main(sys.argv[1:])
