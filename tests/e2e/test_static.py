# SPDX-License-Identifier: Apache-2.0
"""wheelcache index --static: the tree that it writes, the files that it leaves alone, and its failures."""
import contextlib
import fcntl
import gzip
import hashlib
import itertools
import json
import os
import resource
import shutil
import time
import urllib.parse

import pytest

import serving
import storelib
from exported import FIRST, PIP, SECOND, VIEWS, fill, headers, made
from indexing import age
from others import as_nobody


@pytest.fixture(name="at")
def at_fixture():
    with made() as at:
        yield at


def written(summary):
    return {key.removeprefix("export_"): summary[key] for key in summary if key.startswith("export_")}


def state_of(tree):
    """All entries, by path: kind, time and bytes."""
    found = {}
    for path in sorted(tree.rglob("*")):
        status = path.lstat()
        data = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(tree))] = (status.st_mode, status.st_mtime_ns, status.st_ino, data)
    return found


def changes(before, after):
    """The paths of files that are new, changed or gone; not of folders, whose mtimes follow their files."""
    return {path for path in before.keys() | after.keys()
            if before.get(path) != after.get(path) and (before.get(path) or after.get(path))[3] is not None}


FORMS = {"index.json": headers(PIP, None), "index.html": headers("text/html", None),
         "index.old-pip.html": headers(PIP, None, "pip/23.0.1")}
ENDINGS = {"": "identity", ".gz": "gzip", ".zst": "zstd"}


def test_every_page_of_the_recorded_wheels_is_ours(corpus, tmp_path):
    """With a catalog of its own, and with a third one."""
    def export(catalog):
        done = serving.run("index", "--json", "--catalog", catalog, "--static", tmp_path / "tree", corpus.store)
        return json.loads(done.stdout)

    first = export(tmp_path / "first.db")
    folders = {path.parent for path in (tmp_path / "tree").rglob("index.*")}
    assert len(folders) > 200 and first["export_written"] > 9 * len(folders)
    with contextlib.closing(corpus.connect()) as connection:
        for folder, name, ending in itertools.product(folders, FORMS, ENDINGS):
            page = serving.ask(connection, f"/{folder.relative_to(tmp_path / 'tree')}/",
                               FORMS[name] | {"Accept-Encoding": ENDINGS[ending]})
            assert (page.status, page.body) == (200, (folder / f"{name}{ending}").read_bytes()), folder
    before = state_of(tmp_path / "tree")
    assert export(tmp_path / "second.db")["export_kept"] == first["export_written"]
    assert state_of(tmp_path / "tree") == before


def test_every_file_is_readable_and_packed_right(at):
    fill(at)
    at.export()
    for path in at.tree.rglob("index.*.gz"):
        assert gzip.decompress(path.read_bytes()) == path.with_suffix("").read_bytes()
    assert not list(at.tree.rglob(".wheelcache-tmp"))
    links = list(at.tree.rglob("*.whl"))
    assert len(links) == 7 and all(path.resolve().is_relative_to(at.store) for path in links)
    moved = at.folder / "moved"
    moved.mkdir()
    at.store.rename(moved / "store")
    at.tree.rename(moved / "tree")
    assert all(path.is_file() for path in (moved / "tree").rglob("*.whl"))


def test_each_plain_page_is_written_after_its_packed_ones(at):
    """So that the plain file alone shows a killed run; and all pages are written after the files that they link to."""
    fill(at)
    at.export()
    for folder, form in itertools.product({path.parent for path in at.tree.rglob("index.*")}, FORMS):
        times = {ending: (folder / f"{form}{ending}").stat().st_mtime_ns for ending in ENDINGS}
        assert times[""] == max(times.values())
    files = [path.lstat().st_mtime_ns for path in (at.tree / "files").rglob("*") if not path.is_dir()]
    projects = [path.stat().st_mtime_ns for path in at.tree.rglob("simple/*/index.*")]
    lists = [path.stat().st_mtime_ns for path in at.tree.rglob("simple/index.*")]
    assert max(files) <= min(projects) and max(projects) <= min(lists)


def test_run_without_news_touches_nothing(at):
    fill(at)
    first = written(at.export())
    assert first["removed"] == first["kept"] == 0
    before = state_of(at.tree)
    assert written(at.export()) == {"written": 0, "removed": 0, "kept": first["written"]}
    assert state_of(at.tree) == before


def test_new_catalog_gives_the_same_tree(at):
    """The reverse: the wheels alone are enough."""
    fill(at)
    at.export()
    before = state_of(at.tree)
    shutil.rmtree(at.catalog.parent)
    assert written(at.export())["written"] == 0
    assert state_of(at.tree) == before


def files_of(folder):
    """All files of the page in this folder."""
    return {f"{folder}/{form}{ending}" for form, ending in itertools.product(FORMS, ENDINGS)}


def test_changed_wheel_touches_only_its_pages(at):
    fill(at)
    at.export()
    before = state_of(at.tree)
    at.wheel(SECOND, name="other", requires=["bar"], mtime=storelib.OLD + 10)
    summary = at.export()
    places = [f"{view}simple/other" for view in ("", f"{SECOND}/", "both/", f"both/{SECOND}/")]
    metadata = f"files/{SECOND}/other/other-1.0-py3-none-any.whl.metadata"
    assert changes(before, state_of(at.tree)) == set.union({metadata}, *map(files_of, places))
    assert summary["export_written"] == 4 * 9 + 1


def test_page_that_changes_at_once_gets_another_second(at):
    """nginx makes its ETag of seconds and size."""
    at.wheel(FIRST, name="foo")
    age(at.store)
    at.export()
    page = at.tree / "simple" / "foo" / "index.json"
    seconds = [int(page.stat().st_mtime)]
    for number in range(3):
        at.wheel(FIRST, name="foo", files={"foo.py": b"%d" % number}, mtime=storelib.OLD + number)
        at.export()
        seconds.append(int(page.stat().st_mtime))
    assert len(set(seconds)) == 4


def test_forms_of_a_page_differ_in_size_or_second(at):
    """So that each has an ETag of its own. Some have one size by chance; then the orders of times still hold."""
    for number in range(40):
        at.wheel(FIRST, name=f"p{number:03}", version=f"{number}.{number % 7}", requires=["bar"] * (number % 3))
    age(at.store)
    at.export()
    alike = 0
    for folder in {path.parent for path in at.tree.rglob("index.*")}:
        stats = {path.name: path.stat() for path in folder.glob("index.*")}
        marks = {name: (one.st_size, int(one.st_mtime)) for name, one in stats.items()}
        assert len(marks) == 9 and len(set(marks.values())) == 9, (folder, marks)
        alike += len({size for size, _ in marks.values()}) < 9
        for form in FORMS:
            assert stats[form].st_mtime_ns == max(stats[f"{form}{ending}"].st_mtime_ns for ending in ENDINGS)
    assert alike > 3
    projects = [path.stat().st_mtime_ns for path in at.tree.rglob("simple/*/index.*")]
    lists = [path.stat().st_mtime_ns for path in at.tree.rglob("simple/index.*")]
    files = [path.lstat().st_mtime_ns for path in (at.tree / "files").rglob("*") if not path.is_dir()]
    assert max(files) <= min(projects) and max(projects) <= min(lists) < (time.time() + 12) * 10**9


def test_what_has_gone_is_removed_and_nothing_else(at):
    fill(at)
    at.export()
    foreign = ["robots.txt", "simple/favicon.ico", "simple/other/notes.txt", "simple/strange/index.html",
               f"files/{SECOND}/README", f"files/{SECOND}/other/notes.whl", f"{SECOND}/index.html"]
    for path in foreign:
        (at.tree / path).parent.mkdir(exist_ok=True)
        (at.tree / path).write_text("not ours")
    before = state_of(at.tree)
    shutil.rmtree(at.store / SECOND)
    at.config.write_text(f"[store]\npath = {at.store}\n")
    at.export("--allow-empty")
    after = state_of(at.tree)
    assert not any(SECOND in path or path.startswith("both/") for path in after.keys() - set(foreign)
                   if after[path][3] is not None)
    assert {path: after[path] for path in foreign} == {path: before[path] for path in foreign}
    assert "simple/other/index.json" not in after and "both" not in after
    assert {path for path in before if path.startswith(f"{FIRST}/") and before[path] != after[path]} == set()


def test_foreign_files_are_not_overwritten(at):
    at.wheel(FIRST, name="bar")
    at.export()
    fill(at)
    (at.tree / "simple" / "foo").mkdir()
    (at.tree / "simple" / "foo" / "index.html").write_text("not ours")
    before = state_of(at.tree)
    for _ in range(2):
        assert "simple/foo/index.html" in at.fails() and state_of(at.tree) == before
    (at.tree / "simple" / "foo" / "index.html").unlink()
    at.export()


def test_damaged_tree_is_mended(at):
    fill(at)
    at.export()
    right = {path: one[3] for path, one in state_of(at.tree).items()}
    (at.tree / "simple" / "foo" / "index.json").write_text("{}")
    (at.tree / "simple" / "foo" / "index.html.gz").unlink()
    shutil.rmtree(at.tree / FIRST / "simple" / "bar")
    link = next((at.tree / "files" / SECOND / "foo").glob("*.whl"))
    link.unlink()
    link.symlink_to("/nowhere")
    assert at.export()["export_written"] == 1 + 1 + 9 + 1
    assert {path: one[3] for path, one in state_of(at.tree).items()} == right


@pytest.mark.parametrize("name, code, word", [
    ("store/inside", 2, "in the store"), ("store", 2, "in the store"), (".", 2, "is in it"),
    ("link/inside", 2, "in the store"), ("state", 2, "not empty"), ("wheelcache.conf", 1, "Not a directory"),
    ("absent/tree", 1, "No such file"), ("absent/..", 1, "No such file"), ("state/../store/x", 2, "in the store"),
])
def test_wrong_folders_are_refused(at, name, code, word):
    at.wheel(FIRST)
    at.index()
    (at.folder / "link").symlink_to("store")
    before = state_of(at.store), os.listdir(at.folder)
    assert word in at.fails(tree=at.folder / name, code=code)
    assert (state_of(at.store), os.listdir(at.folder)) == before


def test_no_name_is_no_folder(at):
    at.wheel(FIRST)
    assert "--static" in at.fails("--static", "")


def test_link_in_the_tree_leads_nowhere(at):
    """A folder that was replaced by a link is not followed out of the tree."""
    fill(at)
    at.export()
    outside = at.folder / "outside"
    (at.tree / "simple").rename(outside)
    (at.tree / "simple").symlink_to(outside)
    before = state_of(outside)
    at.wheel(FIRST, name="new")
    assert "simple" in at.fails()
    assert state_of(outside) == before


def test_only_one_exports_at_a_time(at):
    at.wheel(FIRST)
    at.export()
    folder = os.open(at.tree, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_SH)
    assert "another process" in at.fails()
    os.close(folder)
    at.export()


def check_servable(tree):
    """Every page is complete, packed as plain, and all files that it lists exist. Returns the number of pages."""
    count = 0
    for path in tree.rglob("index.json"):
        count += 1
        plain = path.read_bytes()
        assert set(json.loads(plain)) >= {"meta"}
        assert json.loads(gzip.decompress(path.with_name("index.json.gz").read_bytes()))
        for one in json.loads(plain).get("files", []):
            file = path.parent / urllib.parse.unquote(one["url"])
            assert hashlib.sha256(file.read_bytes()).hexdigest() == one["hashes"]["sha256"]
            metadata = file.with_name(f"{file.name}.metadata").read_bytes()
            assert hashlib.sha256(metadata).hexdigest() == one["core-metadata"]["sha256"]
    return count


def kill_after(at, files):
    """Exports until so many more files are there, then kills the process. False: it ended before."""
    def count():
        return sum(len(names) for _, _, names in os.walk(at.tree))

    wanted = count() + files
    running = at.start("--config", at.config, "--static", at.tree)
    while running.poll() is None and count() < wanted:
        time.sleep(0.001)
    running.kill()
    running.communicate()
    return running.returncode != 0


def test_killed_run_leaves_a_tree_that_serves_and_the_next_completes_it(at):
    for number in range(40):
        at.wheel(f"{FIRST}/p{number}", name=f"p{number}")
    age(at.store)
    kills, count = 0, 0
    for files in itertools.islice(itertools.cycle((1, 30, 90, 200, 300)), 100):
        if kill_after(at, files):
            kills, before, count = kills + 1, count, check_servable(at.tree)
            assert count >= before
        else:  # it was too fast
            count = 0
            shutil.rmtree(at.tree)
        if kills == 5:
            break
    assert kills == 5
    at.export()
    assert check_servable(at.tree) == 4 * 40 + 6  # of all, FIRST, both and both/FIRST; SECOND and both/SECOND have no project
    for number in range(40):
        at.wheel(f"{FIRST}/p{number}", name=f"p{number}", version="2.0")
    for _ in range(4):
        kill_after(at, 20)
        check_servable(at.tree)
    at.export()
    whole = {path: one[3] for path, one in state_of(at.tree).items()}
    assert not [path for path in whole if path.endswith("-tmp")]
    shutil.rmtree(at.tree)
    at.export()
    assert {path: one[3] for path, one in state_of(at.tree).items()} == whole


def test_leftovers_of_a_killed_run_go(at):
    fill(at)
    at.export()
    before = {path: one[3] for path, one in state_of(at.tree).items()}
    for folder in ["", "simple", "simple/foo", f"files/{SECOND}/other"]:
        (at.tree / folder / ".wheelcache-tmp").write_text("half a pa")
    at.export()
    assert {path: one[3] for path, one in state_of(at.tree).items()} == before


def limit_file_size():
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))


def test_full_disk_is_one_line_and_mended_by_the_next_run(at):
    fill(at)
    at.export()
    before = state_of(at.tree)
    at.wheel(FIRST, name="foo", version="3.0", metadata=storelib.metadata_bytes("foo", "3.0") + b"\n" + b"x" * 200_000)
    at.index("--config", at.config)
    line = at.fails(preexec_fn=limit_file_size, restore_signals=False)
    assert "foo-3.0-py3-none-any.whl.metadata: File too large" in line
    pages_before = {path: one for path, one in before.items() if "index." in path}
    assert pages_before.items() <= state_of(at.tree).items()
    at.export()
    assert any("foo-3.0" in path for path in state_of(at.tree))


def test_folder_that_may_not_be_written_is_one_line(at):
    at.wheel(FIRST)
    at.export()
    at.wheel(FIRST, version="2.0")
    for path in (at.catalog.parent, *at.catalog.parent.iterdir()):
        os.chmod(path, 0o777)
    os.chmod(at.tree, 0o555)
    assert f"{at.tree}/.wheelcache-static: Permission denied" in at.fails(**as_nobody())
    os.chmod(at.tree, 0o755)
    at.export()


def test_folder_in_the_place_of_a_file_is_one_line(at):
    at.wheel(FIRST)
    at.export()
    place = at.tree / "simple" / "six" / "index.html"
    place.unlink()
    place.mkdir()
    assert "simple/six/index.html: Is a directory" in at.fails()
    place.rmdir()
    at.export()


def test_first_scan_must_be_whole(at):
    """A new catalog and a volume that is away must not empty the tree."""
    fill(at)
    at.config.write_text(f"[store]\npath = {at.store}\n[platform {FIRST}]\n[platform {SECOND}]\n{VIEWS}")
    at.export()
    before = state_of(at.tree)
    shutil.rmtree(at.catalog.parent)
    (at.store / FIRST).rename(at.folder / "away")
    assert "is left unchanged" in at.fails()
    assert state_of(at.tree) == before


def test_what_a_scan_could_not_see_stays(at):
    fill(at)
    at.export()
    before = state_of(at.tree)
    (at.store / FIRST).rename(at.folder / "away")
    at.wheel(SECOND, name="new")
    at.config.write_text(f"[store]\npath = {at.store}\n[platform {FIRST}]\n[platform {SECOND}]\n{VIEWS}")
    summary = at.export(code=1)
    assert summary["problems"] == 1
    after = state_of(at.tree)
    assert "simple/new/index.json" in after
    assert {path for path in before if f"{FIRST}/" in path and before[path] != after.get(path)} == set()


def test_base_makes_links_absolute(at):
    fill(at)
    at.export("--base", "https://wheels.example.org/cache")
    page = json.loads((at.tree / "both" / "simple" / "foo" / "index.json").read_bytes())
    for one in page["files"]:
        assert one["url"].startswith("https://wheels.example.org/cache/files/")
        assert (at.tree / urllib.parse.unquote(one["url"].removeprefix("https://wheels.example.org/cache/"))).exists()
    html = (at.tree / "simple" / "foo" / "index.html").read_text()
    assert 'href="https://wheels.example.org/cache/files/' in html and 'href="../' not in html
    at.export()
    assert 'href="../../files/' in (at.tree / "simple" / "foo" / "index.html").read_text()


@pytest.mark.parametrize("base", ["wheels.example.org", "ftp://x/", "https://x/?y", 'https://x/"', "https://x//",
                                  "https://ä/"])
def test_base_must_be_an_address(at, base):
    at.wheel(FIRST)
    assert "--base" in at.fails("--base", base, code=2)
    assert not at.tree.exists()


def test_base_alone_means_nothing(at):
    done = at.run("--base", "https://x/")
    assert done.returncode == 2 and "--static" in done.stderr


def test_parts_of_views_are_those_of_the_server(at, serve):
    """/VIEW/PLATFORM/simple/, byte for byte; of a private view, and without a default view, what the server hides is not there."""
    fill(at)
    hidden = "rocky-9-x86_64"
    at.wheel(hidden, name="covert")
    at.config.write_text(f"[store]\npath = {at.store}\n[platform {hidden}]\nprivate = yes\n"
                         f"[platform {FIRST}]\n[platform {SECOND}]\n{VIEWS}"
                         f"[view team]\nplatforms = {FIRST} {hidden}\n")
    server = serve(None, config=at.config.read_text())
    for default in ("", "default-view = none\n"):
        at.config.write_text(at.config.read_text().replace("[store]\n", f"[store]\n{default}"))
        at.export()
        assert {path.name for path in (at.tree / "both").iterdir()} == {"simple", FIRST, SECOND}
        assert not (at.tree / "team").exists() and not (at.tree / hidden).exists() and not list(at.tree.rglob("covert*"))
        assert (at.tree / "simple").exists() == (not default)
        compared = 0
        for path in at.tree.glob("both/*/simple/**/index.json"):
            reply = server.get(f"/{path.parent.relative_to(at.tree)}/", {"Accept": "application/vnd.pypi.simple.v1+json"})
            assert (reply.status, reply.body) == (200, path.read_bytes()), path
            compared += 1
        assert compared == 4 + 1 + 2 + 1  # projects and the list of each platform
    for one in json.loads((at.tree / "both" / SECOND / "simple" / "foo" / "index.json").read_bytes())["files"]:
        assert os.path.exists(os.path.join(at.tree, "both", SECOND, "simple", "foo", urllib.parse.unquote(one["url"])))
    assert server.get(f"/team/{FIRST}/simple/").status in (401, 403)
