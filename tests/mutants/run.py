#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants bugs, one at a time, and sees that the test that claims to find each fails (tests/mutants/mutants.py has the
form of the lists).

The bugs go into copies of the sources, one for each of the tests at once. Each claimed test first passes without a bug.
With one it must fail with a failed assertion: a bug that does not compile, and a test that crashes or does not end, have
shown nothing. The last line is "N passed, N failed[, N skipped]"; a mutant passes if its test has found it.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import dataclasses
import fcntl
import fnmatch
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET

import mutants

TOP = mutants.TOP
# What is no source: folders, and what a copy makes itself.
LEFT_OUT = {"build", ".git", "__pycache__", "autom4te.cache", ".pytest_cache"}
GENERATED = {"configure", "configure~", "Makefile.in", "aclocal.m4", "config.h.in", "config.h.in~"}
BUILD_TIME = 1800  # seconds, of everything
TEST_TIME = 600  # of one test
WORDS = 80  # letters of what a failed test says
SEEDS = "1-100"  # the same in each run
# How a program of cmocka, of unittest and of pytest names a failed test; else how a script, or an assert, says what is
# wrong.
FAILED = [re.compile(pattern, re.M) for pattern in (
    r"\[  FAILED  \] (?!tests: )(\w+)|^FAIL: (\w+)|^FAILED \S+::(\S+)",
    r"Assertion `(.*)' failed|^(AssertionError.*|seed \d+.*|.* instead of .*)")]


@dataclasses.dataclass
class Outcome:
    """Of a test."""
    kind: str  # green, red, skipped; else why it is none of these
    words: str = ""
    seconds: float = 0


@dataclasses.dataclass
class Result:
    """Of a mutant."""
    mutant: mutants.Mutant
    state: str  # passed, failed, skipped
    words: str
    seconds: float = 0

    def show(self):
        mark = {"passed": "ok", "failed": "FAIL", "skipped": "skip"}[self.state]
        print(f"{mark:4} {self.mutant.name:32} {self.seconds:5.1f} s  {self.words}", flush=True)
        return self


def sources(top):
    """The paths of all files of a checkout that a build or a test may need, relative to it."""
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(set(folders) - LEFT_OUT)
        for name in files:
            if name not in GENERATED and not name.endswith((".pyc", ".o")):
                yield pathlib.Path(folder, name).relative_to(top)


def bring_up_to_date(copy, top=TOP):
    """Makes a copy of the sources, or writes what differs into an older one, with the time of now."""
    wanted = set(sources(top))
    is_new = not copy.exists()
    for path in sorted(wanted):
        source, target = top / path, copy / path
        if not source.is_symlink() and target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
        if not is_new and not target.is_symlink():
            os.utime(target)
    for path in set(sources(copy)) - wanted:
        if path.parts[0] != "build-aux":  # autoreconf leaves files there
            (copy / path).unlink()


def ended(command, seconds, **options):
    """Runs a command in a session of its own. Returns the exit code and what it printed; None: it was stopped."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", start_new_session=True, **options) as process:
        try:
            text, _ = process.communicate(timeout=seconds)
            return process.returncode, text
        except BaseException as reason:
            os.killpg(process.pid, signal.SIGKILL)
            text, _ = process.communicate()
            if isinstance(reason, subprocess.TimeoutExpired):
                return None, text
            raise


def last_words(text):
    return " / ".join(line.strip() for line in text.strip().splitlines()[-3:])


def judge(code, text):
    """What the end of a test means."""
    if code is None:
        return Outcome(f"its test did not end in {TEST_TIME} s", last_words(text))
    if code == 77 or re.search(r"^\d+ skipped|^no tests ran", text, re.M):
        return Outcome("skipped", last_words(text))
    if code == 0:
        return Outcome("green")
    said = next(filter(None, (pattern.search(text) for pattern in FAILED)), None)
    if not said:
        return Outcome(f"its test ended with {code}, and no assertion failed", last_words(text))
    return Outcome("red", next((group for group in said.groups() if group), said[0]).strip()[:WORDS])


class Bench:
    """A copy of the sources, and its build."""

    def __init__(self, folder, jobs):
        self.source, self.build, self.jobs = folder / "source", folder / "build", jobs
        shared = os.environ.get("WHEELCACHE_SHARED") or TOP.parent / "shared"
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(("WHEELCACHE", "NIGHTLY"))} | {
            "CC": os.environ.get("CC") or ("ccache gcc" if shutil.which("ccache") else "gcc"),
            "CCACHE_BASEDIR": str(folder), "CCACHE_NOHASHDIR": "1", "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8",
            "WHEELCACHE_CONFIG": "", "WHEELCACHE": str(self.build / "wheelcache"), "srcdir": str(self.source),
            "WHEELCACHE_SHARED": str(shared),
            **{f"{kind}_SEEDS": SEEDS for kind in ("MISSING", "PROMOTION", "VERDICT")}}

    def call(self, command, seconds, cwd=None):
        return ended(command, seconds, cwd=cwd or self.build, env=self.env)

    def must(self, command, cwd=None):
        code, text = self.call(command, BUILD_TIME, cwd)
        if code != 0:
            sys.exit(f"{' '.join(map(str, command))}: {code}\n" + "\n".join(text.splitlines()[-40:]))

    def prepare(self):
        """Builds the program, without a mutant."""
        bring_up_to_date(self.source)
        self.build.mkdir(exist_ok=True)
        if not (self.source / "configure").exists():
            self.must(["autoreconf", "-fi"], self.source)
        if not (self.build / "Makefile").exists():
            self.must([self.source / "configure", "-q", "CFLAGS=-O0 -g1"])
        faults = [f"tests/faults/{path.stem}.so" for path in (self.source / "tests/faults").glob("*.c")]
        self.must(["make", "-s", "-j", str(self.jobs), "all", *faults])

    def targets(self, test):
        """What is built for a test."""
        if "::" in test:
            return ["all"]
        if not test.endswith(".py"):
            return [test]
        folder = (self.source / test).parent
        text = "".join(path.read_text() for path in (self.source / test, *folder.glob("domaintool.py")))
        return sorted(set(re.findall(r"tests/unit/[a-z/-]+-tool\b", text)))

    def command(self, test):
        if "::" in test:
            return [sys.executable, "-m", "pytest", "-q", "-rf", "-x", "-p", "no:cacheprovider", self.source / test]
        return [sys.executable, self.source / test] if test.endswith(".py") else [self.build / test]

    def run(self, test):
        """Builds what a test needs, and runs it."""
        begin = time.monotonic()
        code, text = self.call(["make", "-s", *self.targets(test)], BUILD_TIME)
        if code != 0:
            errors = [line for line in text.splitlines() if " error: " in line or "rror" in line]
            return Outcome("it does not compile", " / ".join(errors[:2]), time.monotonic() - begin)
        outcome = judge(*self.call(self.command(test), TEST_TIME))
        outcome.seconds = time.monotonic() - begin
        return outcome

    @contextlib.contextmanager
    def planted(self, mutant):
        path = self.source / mutant.path
        text = path.read_text(encoding="utf-8")
        path.write_text(mutants.place(mutant, text), encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(text, encoding="utf-8")


class Run:
    """The benches, and the results so far."""

    def __init__(self, benches):
        self.free = queue.Queue()
        self.benches = benches
        self.before = {}  # the outcome of each test without a bug
        for bench in benches:
            self.free.put(bench)

    def on_a_bench(self, work, items):
        """The results of work(bench, item) for all items, on as many benches at once as there are."""
        def one(item):
            bench = self.free.get()
            try:
                return work(bench, item)
            finally:
                self.free.put(bench)
        with concurrent.futures.ThreadPoolExecutor(len(self.benches)) as pool:
            try:
                return list(pool.map(one, items))
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def without_a_bug(self, bench, test):
        outcome = self.before[test] = bench.run(test)
        print(f"     {test}: {outcome.kind} without a bug, {outcome.seconds:.1f} s", flush=True)

    def with_a_bug(self, bench, mutant):
        before = self.before[mutant.test]
        if before.kind == "skipped":
            return Result(mutant, "skipped", f"{mutant.test} is skipped here: {before.words}").show()
        if before.kind != "green":
            return Result(mutant, "failed", f"{mutant.test} fails without it: {before.kind} {before.words}").show()
        with bench.planted(mutant):
            after = bench.run(mutant.test)
        if after.kind == "red":
            return Result(mutant, "passed", f"found by {after.words}", after.seconds).show()
        why = "passes with it" if after.kind == "green" else f"shows nothing: {after.kind}: {after.words}"
        return Result(mutant, "failed", f"{mutant.test} {why}", after.seconds).show()


def write_report(path, results):
    """The results in the form of pytest's reports, which build-aux/sum-up.py counts."""
    suite = ET.Element("testsuite", name="mutants")
    for one in results:
        case = ET.SubElement(suite, "testcase", classname="tests.mutants", name=one.mutant.name, time=f"{one.seconds:.1f}")
        if one.state == "failed":
            ET.SubElement(case, "failure", message=one.words).text = f"{one.mutant.path}: {one.mutant.harm}"
        elif one.state == "skipped":
            ET.SubElement(case, "skipped", message=one.words)
    ET.ElementTree(suite).write(path, encoding="unicode")


def last_line(results):
    """The same as the last line of build-aux/sum-up.py."""
    count = collections.Counter(one.state for one in results)
    skipped = f", {count['skipped']} skipped" if count["skipped"] else ""
    return f"{count['passed']} passed, {count['failed']} failed{skipped}"


def chosen(patterns):
    """The mutants whose names fit any of the patterns; without patterns all."""
    everything = mutants.read()
    for pattern in patterns:
        if not fnmatch.filter([one.name for one in everything], pattern):
            sys.exit(f"run.py: no mutant has the name {pattern}")
    return [one for one in everything if not patterns or any(fnmatch.fnmatch(one.name, p) for p in patterns)]


def take(folder):
    """Makes the folder of the copies, and locks it. Returns the open lock."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = (folder / "lock").open("w", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"run.py: another run uses {folder}: wait for it, or take another one with --folder")
    return lock


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-j", type=int, default=1, metavar="N", help="mutants at once (1)")
    parser.add_argument("--folder", type=pathlib.Path, default=TOP / "build/mutants", help="for the copies and builds")
    parser.add_argument("--report", type=pathlib.Path, help="a file for the results, in JUnit's form")
    parser.add_argument("names", nargs="*", help="names of mutants, or patterns such as 'prune-*'; none: all")
    return parser.parse_args()


def run_all(benches, wanted):
    """The results of mutants that fit the sources."""
    for bench in benches:  # one after the other: the second finds in the compiler's cache what the first has compiled
        print(f"     building in {bench.build}", flush=True)
        bench.prepare()
    run = Run(benches)
    run.on_a_bench(run.without_a_bug, sorted({one.test for one in wanted}))
    return run.on_a_bench(run.with_a_bug, wanted)


def main():
    args = options()
    wanted = chosen(args.names)
    faults = {one.name: why for one in wanted if (why := mutants.fault(one))}
    folder = args.folder.resolve()
    with take(folder):
        benches = [Bench(folder / str(number), args.j) for number in range(args.j)]
        results = run_all(benches, [one for one in wanted if one.name not in faults])
    results += [Result(one, "failed", faults[one.name]).show() for one in wanted if one.name in faults]
    if args.report:
        write_report(args.report, results)
    print(last_line(results))
    sys.exit(any(one.state == "failed" for one in results) or not any(one.state == "passed" for one in results))


if __name__ == "__main__":
    main()
