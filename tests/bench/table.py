# SPDX-License-Identifier: Apache-2.0
"""A table for a terminal, which is also valid Markdown."""


def text(heads, rows):
    """The first column is text, and the last; between them are numbers."""
    every = [heads, *rows]
    widths = [max(len(row[i]) for row in every) for i in range(len(heads))]

    def aligned(row):
        cells = [cell.rjust(width) for cell, width in zip(row, widths)]
        cells[0], cells[-1] = row[0].ljust(widths[0]), row[-1].ljust(widths[-1])
        return f"| {' | '.join(cells)} |\n"

    rule = [f"{'-' * (width - 1)}:" for width in widths]
    rule[0], rule[-1] = "-" * widths[0], "-" * widths[-1]
    return aligned(heads) + aligned(rule) + "".join(map(aligned, rows))
