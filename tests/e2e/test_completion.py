# SPDX-License-Identifier: Apache-2.0
"""Completion of command lines in real shells, `wheelcache help`, --version, and what was meant by a mistyped word."""
import os
import pty
import re
import select
import shutil
import subprocess
import time

import pytest

import serving

SECONDS = 60  # for a shell to start and answer, on a loaded machine
# Each line is typed up to TAB; then the program gets these words.
TYPED = [
    ("serv", ["serve"]),
    ("prune pl", ["prune", "plan"]),
    ("prune plan --na", ["prune", "plan", "--name-taken-over"]),
    ("token rev", ["token", "revoke"]),
    ("evidence make --ju", ["evidence", "make", "--junit"]),
    ("help view roll", ["help", "view", "rollback"]),
    ("yank uni", ["yank", "unique.whl"]),
    ("index fol", ["index", "folder"]),
    ("index --config uni", ["index", "--config", "unique.whl"]),
    ("--vers", ["--version"]),
]
# How a shell reads the script, and begins a line when it is ready.
START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "PS1='ready> '; source {script}\n"),
    "zsh": (["zsh", "-f", "-i"], "PROMPT='ready> '; fpath=({folder} $fpath); autoload -U compinit; compinit -u -D\n"),
    "fish": (["fish", "--no-config", "-i"], "function fish_prompt; echo -n 'ready> '; end; source {script}\n"),
}
SCRIPT = {"bash": "wheelcache.bash", "zsh": "_wheelcache", "fish": "wheelcache.fish"}


@pytest.fixture(name="place")
def place_fixture(tmp_path):
    """A folder with a file and a folder to complete, and in bin/ a program that writes down its arguments."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/wheelcache"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{tmp_path}/new && mv {tmp_path}/new {tmp_path}/given\n')
    program.chmod(0o755)
    (tmp_path / "here/folder").mkdir(parents=True)
    (tmp_path / "here/unique.whl").touch()
    for shell, name in SCRIPT.items():
        (tmp_path / name).write_text(serving.run("--completion", shell).stdout)
    return tmp_path


class Shell:
    """An interactive shell on a terminal of its own."""

    def __init__(self, name, place):
        words, start = START[name]
        environment = {"PATH": f"{place}/bin:{os.environ['PATH']}", "HOME": str(place), "TERM": "dumb", "LC_ALL": "C.UTF-8"}
        self.given = place / "given"
        self.process, self.terminal = pty.fork()
        if not self.process:
            os.chdir(place / "here")
            os.execvpe(words[0], words, environment)
        self.type(start.format(script=place / SCRIPT[name], folder=place))

    def type(self, text):
        os.write(self.terminal, text.encode())

    def read(self, seconds):
        """Reads away what the shell prints for at most this time."""
        if select.select([self.terminal], [], [], seconds)[0]:
            os.read(self.terminal, 65536)

    def words(self, line):
        """Types a line with TAB at its end, and returns the words that the program gets. zsh removes the slash of a folder."""
        self.given.unlink(missing_ok=True)
        self.type(f"wheelcache {line}\t")
        self.read(0.3)
        self.type("\n")
        end = time.monotonic() + SECONDS
        while not self.given.exists():
            assert time.monotonic() < end, line
            self.read(0.05)
        return [word.rstrip("/") for word in self.given.read_text().splitlines()]

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.process, 0)


@pytest.mark.parametrize("name", ["bash", "zsh"])
def test_shell_completes_a_typed_line(name, place):
    if not shutil.which(name):
        pytest.skip(f"there is no {name}")
    shell = Shell(name, place)
    try:
        for line, words in TYPED:
            assert shell.words(line) == words, line
    finally:
        shell.close()


def fish_choices(place, line):
    done = subprocess.run(["fish", "--no-config", "-c", f"source {place}/wheelcache.fish; complete -C 'wheelcache {line}'"],
                          cwd=place / "here", env={**os.environ, "HOME": str(place)}, capture_output=True, text=True,
                          timeout=SECONDS, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return [row.split("\t")[0] for row in done.stdout.splitlines()]


def test_fish_completes_a_typed_line(place):
    if not shutil.which("fish"):
        pytest.skip("there is no fish")
    for line, words in TYPED:
        # fish 4 prints words that only contain the letters, too ("--na": --unusable). TAB prefers those that begin so.
        choices = [choice for choice in fish_choices(place, line) if choice.startswith(line.split()[-1])]
        assert choices in ([words[-1]], [f"{words[-1]}/"]), line


def bash_choices(place, *words):
    """Returns what bash's function offers for the last word."""
    done = subprocess.run(["bash", "-c", 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _wheelcache; printf "%s\\n" "${COMPREPLY[@]}"',
                           "bash", place / "wheelcache.bash", "wheelcache", *words],
                          cwd=place / "here", capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def help_rows(*words):
    return re.findall(r"^  (\w[\w-]*) ", serving.run(*words, "--help").stdout, re.M)


def help_options(*words):
    return re.findall(r"^  (?:-\w,|   )? *(--[a-z-]+)", serving.run(*words, "--help").stdout, re.M)


def test_bash_offers_every_command_and_option_of_help(place):
    commands = [(row,) for row in help_rows()]
    assert len(commands) > 20 and [(row,) for row in bash_choices(place, "")] == commands
    groups = [c for c in commands if help_rows(*c)]
    assert len(groups) == 8
    for group in groups:
        rows = help_rows(*group)
        assert bash_choices(place, *group, "") == rows
        commands += [(*group, row) for row in rows]
    for command in [c for c in commands if c not in groups]:
        assert bash_choices(place, *command, "-") == help_options(*command), command
    assert bash_choices(place, "-") == [*help_options(), "--help"]


def test_bash_knows_what_an_option_takes(place):
    assert bash_choices(place, "index", "--config", "u") == ["unique.whl"]
    assert bash_choices(place, "index", "--config", "=", "u") == ["unique.whl"]
    assert bash_choices(place, "index", "--config", "=") == ["folder", "unique.whl"]
    assert bash_choices(place, "index", "--static", "") == ["folder"]
    assert bash_choices(place, "index", "--base", "") == []
    assert bash_choices(place, "index", "--json", "") == ["folder"]
    assert bash_choices(place, "nothing", "") == help_rows()


def test_other_shell_is_refused():
    done = serving.run("--completion", "csh")
    assert (done.returncode, done.stderr.strip()) == (2, "error: wheelcache: --completion csh: expected bash, zsh or fish")


def test_version_says_what_the_program_was_built_with():
    lines = serving.run("--version").stdout.splitlines()
    assert re.fullmatch(r"wheelcache \d+\.\d+\.\d+", lines[0])
    assert re.fullmatch(r"Built with .*\d, libcrypto/3\..*, libcurl/\d.*, sqlite3/3\..*, libzstd/\d[\d.]*\.", lines[1])
    assert lines[2].startswith("Hardening: ") and ". Sanitizers: " in lines[2]


def test_help_explains_commands_sections_and_keys():
    assert serving.run("help", "prune", "plan").stdout == serving.run("prune", "plan", "--help").stdout
    assert serving.run("help", "prune").stdout == serving.run("prune", "--help").stdout
    everything = serving.run("--print-config").stdout
    section = serving.run("help", "[tokens]").stdout
    assert section.startswith("[tokens]\n") and section in everything
    assert serving.run("help", "[view NAME]").stdout == serving.run("help", "[view").stdout
    assert "#keep-versions" in serving.run("help", "[view NAME]").stdout
    key = serving.run("help", "path").stdout
    assert re.findall(r"^#?\[.*", key, re.M) == ["[store]", "[catalog]", "[state]", "[tokens]", "[change-log]", "#[platform NAME]"]
    topics = serving.run("help").stdout
    assert all(f"\n  {row} " in topics for row in help_rows())
    assert "\n  [upstream]\n" in topics and "\n  [platform NAME]\n" in topics


@pytest.mark.parametrize("words, meant", [
    (["sevre"], "unknown command sevre; did you mean serve?"),
    (["prune", "aply"], "prune: unknown command aply; did you mean prune apply? see wheelcache prune --help"),
    (["token", "ad"], 'token: expected add, list or revoke, not "ad"; did you mean add?'),
    (["find", "--platfrom=x"],
     "--platfrom=x is not an option of this command, or takes no value; did you mean --platform? see wheelcache find --help"),
    (["--versoin"], "--versoin is not an option of this command, or takes no value; did you mean --version? see wheelcache --help"),
    (["help", "lisen"], "there is no topic lisen; did you mean listen?"),
    (["help", "prune", "plann"], "prune has no command plann; did you mean prune plan?"),
    (["help", "frobnicate"], "there is no topic frobnicate; wheelcache help lists them"),
])
def test_mistyped_word_is_answered_with_the_one_that_was_meant(words, meant):
    done = serving.run(*words)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (2, "", f"error: wheelcache: {meant}")


@pytest.mark.parametrize("text, meant", [
    ("[server]\nlisen = x\n", '2: [server] has no key "lisen"; did you mean "listen"?'),
    ("[server]\nquota-files = 1\n", '2: [server] has no key "quota-files"; it is a key of [platform]'),
    ("[server]\nfrobnicate = 1\n", '2: [server] has no key "frobnicate"'),
    ("[sever]\n", "1: there is no section [sever]; did you mean [server]?"),
    ("[plattform x]\n", "1: there is no section [plattform x]; did you mean [platform NAME]?"),
    ("[frobnicate]\n", "1: there is no section [frobnicate]"),
])
def test_mistyped_key_is_answered_with_the_one_that_was_meant(tmp_path, text, meant):
    config = tmp_path / "wheelcache.conf"
    config.write_text(text)
    done = serving.run("check", "--config", config)
    assert (done.returncode, done.stderr.strip()) == (2, f"error: wheelcache: {config}:{meant}")
