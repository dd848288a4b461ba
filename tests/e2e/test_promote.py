# SPDX-License-Identifier: Apache-2.0
"""promote, demote, view log, view rollback and view show: what they do to a store, and what they print."""
import datetime
import json
import re
import subprocess
import time

import pytest

import building
import promoting
import serving
import storelib
import uploading
from promoting import ARM, CELLS, NATIVE, X86


@pytest.fixture(name="promoted")
def _promoted(tmp_path):
    return promoting.Promoted(tmp_path)


@pytest.fixture(name="wheels")
def _wheels(promoted):
    """A wheel for any platform, one for each, and one that is for neither Python."""
    found = {"any": promoted.add(), "x86": promoted.add("fast", "2.0", NATIVE[X86]),
             "arm": promoted.add("fast", "2.0", NATIVE[ARM], platform=ARM),
             "old": promoted.add("old", "1.0", "py2-none-any")}
    promoted.index()
    return found


def test_a_red_cell_holds_back_its_platform_only(promoted, wheels):
    """Each file has its reason. The wheel for any platform needs all cells."""
    every = list(wheels.values())
    records = promoted.green(every, CELLS[:2]) + [promoted.record(every, "integration", CELLS[2])]
    records.append(promoted.record(every, "unit", CELLS[2], failed=2))
    answer = promoted.promote("--evidence", *records, status=1)
    assert (answer["view"], answer["generation"], answer["dry_run"]) == ("tested", 1, False)
    assert answer["counts"] == {"done": 1, "already": 0, "refused": 3, "held": 0, "left": 0, "overtaken": 0, "ended": 0}
    rows = {one["filename"]: (one["result"], one["reason"]) for one in answer["files"]}
    red = f"{ARM}/3.12: 2 of 9 tests failed (unit)"
    assert rows == {wheels["any"].name: ("refused", red), wheels["arm"].name: ("refused", red), wheels["x86"].name: ("done", ""),
                    wheels["old"].name: ("refused", "it installs in none of the cells of the view, so that nothing can show "
                                                    "that it works")}
    assert promoted.members() == [wheels["x86"].name]
    # The newer record counts, and what was sent before counts with it.
    green = promoted.record(every, "unit", CELLS[2])
    assert promoted.results("six", "fast", "--evidence", green) == {
        wheels["any"].name: "done", wheels["arm"].name: "done", wheels["x86"].name: "already"}
    # The same again changes nothing, and no record becomes newer because it comes again.
    assert promoted.promote("six", "fast", "--evidence", *records)["generation"] == 2
    lines = [one for one in uploading.audit(promoted) if one["result"] == "done"]
    assert [(one["action"], one["view"], one["file"], one["result"]) for one in lines] == [
        ("promote", "tested", wheels[name].name, "done") for name in ("x86", "arm", "any")]


def test_a_release_is_promoted_as_a_whole_or_not(promoted, wheels):
    good = promoted.green([wheels["any"], wheels["x86"]])
    assert promoted.results("--all-or-nothing", "six", "fast", "--evidence", *good, status=1) == {
        wheels["any"].name: "held", wheels["x86"].name: "held", wheels["arm"].name: "refused"}
    assert not promoted.members()
    assert promoted.tool("view", "show", "tested").stderr == "view tested is empty\n"
    more = promoted.green([wheels["arm"]], CELLS[2:])
    assert set(promoted.results("--all-or-nothing", "six", "fast", "--evidence", *more).values()) == {"done"}
    assert promoted.promote("six", "fast", "--all-or-nothing")["generation"] == 1


def test_a_dry_run_writes_nothing(promoted, wheels):
    good = promoted.green([wheels["any"]])
    assert promoted.results("--dry-run", "six", "--evidence", *good) == {wheels["any"].name: "done"}
    assert promoted.results("six", status=1) == {wheels["any"].name: "refused"}
    assert not promoted.members()


def test_a_version_is_what_the_whole_chain_knows_of_it(promoted, wheels):
    """Released has its files from tested, so a wheel that tested holds back holds back its version."""
    (promoted.store / X86 / "f/fast-2.0.tar.gz").write_bytes(building.sdist("fast", "2.0"))  # no test can show that it works
    other = promoted.add("fast", "3.0", NATIVE[X86])
    promoted.index()
    promoted.promote("fast==2.0", "--evidence", *promoted.green([wheels["x86"], other]),
                     promoted.record([wheels["arm"]], "unit", CELLS[2], failed=1), status=1)
    promoted.promote("fast==3.0")
    answer = promoted.promote("fast==2", "--all-or-nothing", to="released", status=1)
    assert {one["filename"]: (one["result"], one["reason"]) for one in answer["files"]} == {
        wheels["x86"].name: ("held", "another file is refused, and all or nothing is promoted"),
        wheels["arm"].name: ("refused", f"view tested has not taken it: {ARM}/3.12: no evidence of kind integration")}
    assert not promoted.members("released")
    # Only the versions that are meant count, and only files that could come there.
    assert promoted.results("fast==3", "--all-or-nothing", to="released") == {other.name: "done"}
    assert promoted.results(wheels["x86"].name, "--all-or-nothing", "--dry-run", to="released") == {wheels["x86"].name: "done"}
    assert promoted.results("fast==2", to="released") == {wheels["x86"].name: "done"}  # without the option as before
    assert promoted.results("fast", "--all-or-nothing", to="released") == {wheels["x86"].name: "already", other.name: "already"}
    assert promoted.promote("fast==2", "--all-or-nothing", to="released", status=1)["counts"]["already"] == 1
    # What was tested meanwhile, but not promoted, and what was taken out, have their own reason.
    for record in promoted.green([wheels["arm"]], CELLS[2:]):
        promoted.promote("six", "--evidence", record, status=1)
    refused = promoted.tool("promote", "--to", "released", "fast==2", "--all-or-nothing", status=1).stdout
    assert f"{wheels['arm'].name}: view tested has not taken it: promote it there first" in refused
    promoted.promote(wheels["arm"].name)
    promoted.tool("demote", "--from", "tested", wheels["arm"].name, "--reason", "slow")
    refused = promoted.tool("promote", "--to", "released", "fast==2", "--all-or-nothing", status=1).stdout
    assert "view tested has not taken it: it left in generation 4 (demote: slow)" in refused
    promoted.promote(wheels["arm"].name)
    assert promoted.results("fast==2", "--all-or-nothing", to="released") == {
        wheels["x86"].name: "already", wheels["arm"].name: "done"}


def test_what_a_newer_version_has_overtaken_is_told_once_and_fails_nothing(promoted):
    """One red night makes no later promotion red, and one of another platform overtakes nothing."""
    cells = {X86: [CELLS[1]], ARM: [CELLS[2]]}

    def night(version, **failed):
        """The wheels of both platforms with their tests."""
        made = {place: promoted.add("fast", version, NATIVE[place], platform=place) for place in (X86, ARM)}
        promoted.index()
        records = [promoted.record([made[place]], kind, cell, failed=int(failed.get("failed") == place))
                   for place in made for cell in cells[place] for kind in promoting.KINDS.split()]
        return {place: one.name for place, one in made.items()}, ["--evidence", *records]

    promoted.promote(*night("1.0")[1])
    red, records = night("1.1.dev2", failed=ARM)
    assert promoted.results(*records, status=1)[red[ARM]] == "refused"
    worse, records = night("1.1.dev3", failed=ARM)
    found = promoted.results(*records, status=1)
    assert (found[red[ARM]], found[worse[ARM]], found[worse[X86]]) == ("refused", "refused", "done")
    good, records = night("1.1.dev4")
    printed = promoted.tool("promote", "--to", "tested", *records).stdout
    reason = f"{ARM}/3.12: 1 of 8 tests failed (integration)"
    for name in (red[ARM], worse[ARM]):
        assert f"overtaken {ARM}/{name}: a newer version has overtaken it; {reason}\n" in printed
    assert "2 done, 4 already, 2 overtaken" in printed
    again = promoted.tool("promote", "--to", "tested").stdout
    assert again == "tested: generation 4: 6 already, 2 overtaken\n"
    assert promoted.promote("--all-or-nothing", "fast")["counts"]["overtaken"] == 2
    logged = [(one["file"], one["result"]) for one in uploading.audit(promoted) if one["result"] in ("refused", "overtaken")]
    assert logged.count((red[ARM], "overtaken")) == 1 and logged.count((red[ARM], "refused")) == 2
    # What is named is asked for, and an older version that comes later is news.
    assert promoted.results("fast==1.1.dev2", status=1)[red[ARM]] == "refused"
    time.sleep(1.1)  # files are as old as their second
    late, records = night("1.1.dev1", failed=ARM)
    assert promoted.results(*records, status=1)[late[ARM]] == "refused"
    final, records = night("1.0.post1", failed=ARM)
    assert promoted.results(*records, status=1)[final[ARM]] == "refused"
    # Only the newest of each Python, so that nothing else is looked at. A pre-release makes no final version older.
    assert set(promoted.results("--newest", "--dry-run", status=1)) == {*good.values(), *final.values()}
    assert promoted.results("--newest", "fast==1.1.dev2", "--dry-run", status=1)[red[ARM]] == "refused"


def test_no_part_of_a_version_comes_where_the_rest_is_overtaken_or_has_left(promoted):
    """--all-or-nothing: a newer version is no reason to take three of four wheels. Other versions come all the same."""
    cells = {X86: CELLS[1], ARM: CELLS[2]}

    def night(version, red=None):
        made = {place: promoted.add("fast", version, NATIVE[place], platform=place) for place in (X86, ARM)}
        promoted.index()
        return {place: one.name for place, one in made.items()}, [
            promoted.record([made[place]], kind, cells[place], failed=int(place == red)) for place in made for kind in
            promoting.KINDS.split()]

    old, records = night("1.0", red=ARM)
    new, more = night("2.0")
    for dry_run in (["--dry-run"], []):
        answer = promoted.promote("fast", "--all-or-nothing", *dry_run, "--evidence", *records, *more)
        found = {one["filename"]: (one["result"], one["reason"]) for one in answer["files"]}
        assert found[old[ARM]][0] == "overtaken" and found[new[X86]] == found[new[ARM]] == ("done", "")
        assert found[old[X86]] == ("overtaken", "a newer version has overtaken it; another file of its version is not taken, and "
                                   "all or nothing is promoted")
    assert promoted.members() == sorted(new.values())
    assert promoted.results("--all-or-nothing", to="released") == {name: "done" for name in new.values()}
    assert promoted.results("fast==1.0", "--all-or-nothing", status=1) == {old[X86]: "held", old[ARM]: "refused"}
    # Without a newer version it is held, so that the command fails.
    promoted.tool("demote", "--from", "tested", "fast")
    new[X86], again = "fast-3.0-" + NATIVE[X86] + ".whl", night("3.0")[1]
    new[ARM] = "fast-3.0-" + NATIVE[ARM] + ".whl"
    promoted.promote(new[ARM], "--evidence", *again)
    promoted.tool("demote", "--from", "tested", new[ARM])
    answer = promoted.promote("fast", "--all-or-nothing", status=1)
    assert {one["filename"]: one["result"] for one in answer["files"]}[new[X86]] == "held" and not promoted.members()
    assert set(promoted.results("fast==3.0", "--all-or-nothing").values()) == {"done"}
    # --newest takes a version that is the newest on one platform whole, too, and does not look at what is older on both.
    newest = promoted.add("fast", "4.0", NATIVE[X86], platform=X86)
    promoted.index()
    records = [promoted.record([newest], kind, CELLS[1]) for kind in promoting.KINDS.split()]
    assert promoted.results("fast", "--newest", "--all-or-nothing", "--evidence", *records) == {
        newest.name: "done", new[X86]: "already", new[ARM]: "already"}


@pytest.mark.parametrize("dry_run", [[], ["--dry-run"]])
@pytest.mark.parametrize("last", ["red", "green"])
@pytest.mark.parametrize("minutes, expected", [(5, "refused"), (-5, "done"), (0, "refused")])
def test_the_newer_of_two_records_counts_whatever_their_order(promoted, wheels, minutes, last, expected, dry_run):
    """Neither the names of files nor the order of words decides. Of one second the red one counts."""
    made = datetime.datetime(2026, 11, 20, 6, tzinfo=datetime.timezone.utc)
    tests = {"green": {"made": made}, "red": {"made": made + datetime.timedelta(minutes=minutes), "failed": 1}}
    records = [promoted.record([wheels["any"]], cell=cell, **tests[name])
               for name in sorted(tests, key=lambda name: name == last) for cell in CELLS]
    records += promoted.green([wheels["any"]], kinds="integration")
    assert promoted.results("six", *dry_run, "--evidence", *records, status=int(expected == "refused")) == {
        wheels["any"].name: expected}


def test_an_override_is_evidence_until_tests_run(promoted, wheels):
    answer = promoted.promote("fast", "--override", "the lab is closed")
    assert {one["result"] for one in answer["files"]} == {"done"} and all(one["override"] for one in answer["files"])
    assert promoted.tool("demote", "--from", "tested", "fast==2.0").stdout.count("ended") == 3
    assert {one["override"] for one in promoted.promote("fast==2.0")["files"]} == {True}
    promoted.tool("demote", "--from", "tested", "fast")
    red = promoted.record([wheels["x86"]], "unit", CELLS[1], failed=1)
    answer = promoted.promote("fast==2.0", "--evidence", red, status=1)
    assert {one["filename"]: (one["result"], one["override"]) for one in answer["files"]} == {
        wheels["x86"].name: ("refused", False), wheels["arm"].name: ("done", True)}
    assert "override needs a reason" in promoted.tool("promote", "--to", "tested", "--override", " ", status=2).stderr
    for words in (("--override", "a\nb"), ("--override", "now", "--reason", "\x1b[31m"), ("--override", "x" * 2000)):
        assert "a reason has" in promoted.tool("promote", "--to", "tested", "six", *words, status=2).stderr
    assert promoted.results("six", status=1) == {wheels["any"].name: "refused"}  # no override was kept
    # It cannot stand in for a cell that there is not.
    assert promoted.results("old", "--override", "it is old", status=1) == {wheels["old"].name: "refused"}


def test_what_was_taken_out_comes_back_only_by_name(promoted, wheels):
    """So the next promotion of everything that is green does not undo a demotion or a rollback."""
    records = promoted.green(list(wheels.values()))
    promoted.promote("six", "fast", "--evidence", *records)
    every = promoted.members()
    promoted.tool("demote", "--from", "tested", "fast", "--reason", "it breaks imports")
    promoted.tool("view", "rollback", "--to", "0", "tested")
    assert set(promoted.results("six", "fast").values()) == {"left"} and not promoted.members()
    assert promoted.tool("promote", "--to", "tested", "six").stdout.count(": it left in generation ") == 1
    answer = promoted.promote(status=1)
    assert answer["counts"] == {"done": 0, "already": 0, "refused": 1, "held": 0, "left": 3, "overtaken": 0, "ended": 0}
    assert {one["reason"] for one in answer["files"] if one["result"] == "left" and one["project"] == "fast"} == {
        "it left in generation 2 (demote: it breaks imports): promote its version by name to take it again"}
    newer = promoted.add(version="9")
    promoted.index()
    assert promoted.results("six", "--all-or-nothing", "--evidence", *promoted.green([newer])) == {
        newer.name: "done", wheels["any"].name: "left"}
    assert set(promoted.results("fast==2.0", wheels["any"].name).values()) == {"done"}
    assert promoted.members() == sorted([*every, newer.name])


def test_released_has_its_files_from_tested(promoted, wheels):
    promoted.results("six", "--evidence", *promoted.green([wheels["any"]]))
    assert promoted.results(to="released") == {wheels["any"].name: "done"}
    refused = promoted.tool("promote", "--to", "released", "fast", status=2).stderr
    assert "fast: it is in the store, but not in view tested" in refused
    promoted.tool("demote", "--from", "tested", "six")
    assert promoted.members("released") == [wheels["any"].name] and not promoted.members("tested")
    assert "come into view released from tested, not from staging" in \
        promoted.tool("promote", "--to", "released", "--from", "staging", status=2).stderr


def test_words_choose_files(tmp_path):
    """By project, by version as PEP 440 compares, by name and by path."""
    promoted = promoting.Promoted(tmp_path, requires=None)
    first, second = promoted.add(version="1.0"), promoted.add(version="1.0.1")
    dotted = promoted.add("zope-x", "3")
    promoted.index()
    assert promoted.results("--dry-run", "Six==1") == {first.name: "done"}
    assert promoted.results("--dry-run", "zope.X") == {dotted.name: "done"}
    assert promoted.results("--dry-run", f"{promoting.X86}/{second.name}", first.name) == {first.name: "done", second.name: "done"}
    assert promoted.results() == {first.name: "done", second.name: "done", dotted.name: "done"}
    for word, why in (("six==2", "six==2: view staging has no such file"), ("seven", "seven: view staging has no"),
                      ("six>=1", "six>=1 is not PROJECT"), ("seven-1-py3-none-any.whl", "has no such file")):
        assert why in promoted.tool("promote", "--to", "tested", "six", word, status=2).stderr
    for words, why in ((("--to", "staging"), "view staging has no \"from\""), (("--to", "other"), "no view other"), ((), "--to VIEW")):
        assert why in promoted.tool("promote", *words, status=2).stderr
    assert "no PROJECT" in promoted.tool("demote", "--from", "tested", status=2).stderr


def test_members_of_a_platform_that_is_gone_have_its_name(promoted, wheels):
    promoted.results("--override", "first", "fast")
    (promoted.store / ARM).rename(promoted.folder / "gone")
    config = promoted.config.read_text().replace(f"[platform {ARM}]\npythons = 3.12\n", "").replace(f"{X86} {ARM}", X86)
    promoted.config.write_text(re.sub("cells = .*\n(    .*\n)*", f"cells = {X86}/3.12\n", config))
    promoted.index()
    assert f"1  {ARM}/{wheels['arm'].name}  (not listed" in promoted.tool("view", "show", "tested").stdout
    assert sorted(one["platform"] for one in promoted.ask("view", "show", "tested")["files"]) == [ARM, X86]
    assert f"{ARM}/{wheels['arm'].name}\n" in promoted.tool("demote", "--from", "tested", wheels["arm"].name).stdout


@pytest.mark.parametrize("text, why", [("", "evidence"), ("<testsuites/>", "evidence"), ('{"kind": "unit"', "evidence"), (None, "No such")])
def test_evidence_that_cannot_be_read_promotes_nothing(promoted, wheels, text, why):
    path = promoted.folder / "evidence.json"
    if text is not None:
        path.write_text(text)
    done = promoted.tool("promote", "--to", "tested", "--evidence", *promoted.green(list(wheels.values())), path, status=2)
    assert why in done.stderr and str(path) in done.stderr and not promoted.members()


def test_rollback_goes_back_and_forth(promoted, wheels):
    promoted.results("--override", "first", "six")
    promoted.results("--override", "second", "fast")
    every = promoted.members()
    answer = promoted.ask("view", "rollback", "--steps", "1", "--reason", "it broke", "tested")
    assert answer["generation"] == 3 and answer["counts"]["ended"] == 2
    assert promoted.members() == [wheels["any"].name] and promoted.members(at=2) == every
    answer = promoted.ask("view", "rollback", "--to", "2", "tested")
    assert {one["result"] for one in answer["files"]} == {"done"} and promoted.members() == every
    assert promoted.ask("view", "rollback", "--to", "2", "tested")["generation"] == 4  # it is so already
    assert promoted.ask("view", "rollback", "--dry-run", "--to", "0", "tested")["counts"]["ended"] == 3
    log = promoted.ask("view", "log", "tested")["generations"]
    assert [(one["generation"], one["action"], one["added"], one["removed"], one["reason"]) for one in log] == [
        (4, "rollback", 2, 0, ""), (3, "rollback", 0, 2, "it broke"), (2, "promote", 2, 0, ""), (1, "promote", 1, 0, "")]
    assert all(one["by"].startswith("user ") for one in log)
    assert len(promoted.ask("view", "log", "--most", "1", "tested")["generations"]) == 1
    assert [(one["filename"], one["change"], one["override"]) for one in log[3]["files"]] == [(wheels["any"].name, "added", "first")]
    fast = sorted(set(every) - {wheels["any"].name})
    assert [sorted(one["filename"] for one in row["files"]) for row in log[:3]] == [fast, fast, fast]
    assert {one["change"] for one in log[1]["files"]} == {"removed"}
    assert f"/{wheels['any'].name} (override by user " in promoted.tool("view", "log", "tested").stdout
    there, back = (promoted.ask("view", "diff", "tested", *pair) for pair in (("1", "2"), ("2", "3")))
    assert sorted((one["filename"], one["change"], one["override"]) for one in there["files"]) == [
        (name, "added", "second") for name in fast]
    assert (there["from"], there["to"]) == (1, 2) and {one["change"] for one in back["files"]} == {"removed"}
    text = promoted.tool("view", "diff", "tested", "0", "2").stdout
    assert text.count(": first)\n") == 1 and text.count(": second)\n") == 2 and text.endswith("tested: generation 0 to 2: +3 -0\n")
    assert "tested has no generation 9" in promoted.tool("view", "diff", "tested", "9", "1", status=2).stderr
    assert "two generations" in promoted.tool("view", "diff", "tested", "1", status=2).stderr
    for words, why in ((["--to", "9"], "no generation 9"), (["--to", "2026-01-01"], "--to 0 empties it"), (["--steps", "5"], "only 4"), (["--to", "x"], "neither"), ([], "one of")):
        assert why in promoted.tool("view", "rollback", *words, "tested", status=1 if "9" in words else 2).stderr
    assert "has no \"from\"" in promoted.tool("view", "log", "staging", status=2).stderr


def test_a_file_that_is_pruned_meanwhile_is_refused(promoted, wheels):
    """The catalog does not know of the tombstone yet."""
    wheel = wheels["any"]
    tombstone = wheel.path.with_name(wheel.name + ".pruned")
    tombstone.write_text(json.dumps({"reason": "upstream has it"}))
    answer = promoted.promote("six", "fast", "--override", "now", status=1)
    rows = {one["filename"]: (one["result"], one["reason"]) for one in answer["files"]}
    assert rows[wheel.name] == ("refused", "it was pruned at the same moment: upstream has it")
    assert rows[wheels["x86"].name] == ("done", "")
    assert answer["generation"] == 2 and wheel.name not in promoted.members()
    promoted.tool("demote", "--from", "tested", "fast")
    answer = promoted.promote("six", "fast==2.0", "--all-or-nothing", status=1)
    assert answer["counts"] == {"done": 0, "already": 0, "refused": 1, "held": 2, "left": 0, "overtaken": 0, "ended": 0} and not promoted.members()


def test_what_was_promoted_is_logged_whatever_fails_then(promoted, wheels):
    """The folder in which tombstones are looked for is a link to itself."""
    folder = wheels["any"].path.parent
    folder.rename(folder.with_name("away"))
    folder.symlink_to(folder.name)
    done = promoted.tool("promote", "--to", "tested", "six", "--override", "now", status=1)
    assert f"{wheels['any'].name} is promoted, but tombstones cannot be looked for" in done.stderr
    assert promoted.members() == [wheels["any"].name]
    assert [(one["file"], one["result"]) for one in uploading.audit(promoted)] == [(wheels["any"].name, "done")]


def test_two_promoters_at_once(tmp_path):
    """Each promotes files of its own, and one that all do. Nothing is lost, and no generation is missing."""
    promoted = promoting.Promoted(tmp_path, requires=None)
    names = [promoted.add(f"p{number}").name for number in range(8)]
    shared = promoted.add("shared").name
    promoted.index()
    runs = [subprocess.Popen([serving.binary(), "promote", "--config", promoted.config, "--to", "tested", "--quiet", name, shared])
            for name in names]
    assert [run.wait(60) for run in runs] == [0] * len(runs)
    assert promoted.members() == sorted([*names, shared])
    log = promoted.ask("view", "log", "tested")["generations"]
    assert [one["generation"] for one in log] == list(range(len(log), 0, -1))
    assert sum(one["added"] for one in log) == len(names) + 1
    files = sorted((promoted.store / ".wheelcache-views" / "tested").iterdir())
    assert [path.name for path in files] == [f"{number:06}.json" for number in range(1, len(log) + 1)]
