# SPDX-License-Identifier: Apache-2.0
"""Commands that a document shows, with what they print: "    $ COMMAND", and the lines under it."""
import pathlib
import re
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]


def section(name, title):
    """The text below a heading "## TITLE" of docs/NAME."""
    text = (TOP / "docs" / name).read_text(encoding="utf-8")
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def commands(text):
    """Yields each command of the text with the lines under it."""
    for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.M):
        for part in re.split(r"^    \$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, re.sub(r"^    ", "", output.rstrip("\n"), flags=re.M)


def pattern(output):
    """What the program must print: "…" is the rest of a line, or any lines if it stands alone."""
    text = re.escape(output).replace(re.escape("…"), "…")
    return re.sub("…", "[^\n]*", re.sub(r"^(?:\\ )*…\n?", "(?s:.*?)", text, flags=re.M)) + "(?s:.*)" * output.endswith("…")


def run(text, folder, environment):
    """Runs the commands of the text in the folder, and compares what they print. Returns their number."""
    ran = 0
    for ran, (command, expected) in enumerate(commands(text), 1):
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False,
                              timeout=120)
        assert done.returncode in (0, 1) and not re.search("^error|Sanitizer|runtime error", done.stderr, re.M), (command, done.stderr)
        assert re.fullmatch(pattern(expected), done.stdout.rstrip("\n")), (command, done.stdout)
    return ran
