# SPDX-License-Identifier: Apache-2.0
"""Asks domain-tool, which prints what the domain makes of a text. Runs in the build folder."""
import subprocess
import sys

TOOL = "tests/unit/oracle/domain-tool"


def ask(kind, texts):
    """Returns one answer per text, which may be bytes: the columns that domain-tool prints."""
    raw = [text if isinstance(text, bytes) else text.encode() for text in texts]
    lines = "".join(f"{kind}\t{text.hex()}\n" for text in raw)
    done = subprocess.run([TOOL], input=lines, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{TOOL}: {done.returncode} {done.stderr}")
    answers = done.stdout.split("\n")[:-1]
    assert len(answers) == len(texts), (kind, len(answers), len(texts))
    return [answer.split("\t") for answer in answers]
