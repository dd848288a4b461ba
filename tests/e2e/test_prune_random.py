# SPDX-License-Identifier: Apache-2.0
"""Random stores, with files on the disk and a served upstream: the plan has the verdict of the reference for each file, and
after apply every environment can install what it could before."""
import glob
import json

import serving
import worlds

SEEDS = range(1000, 1006)
MORE = range(2030, 2060)
APPLY = ("prune", "apply", "--max-files=100%", "--max-bytes=100%", "--max-failures=100%")


def pytest_generate_tests(metafunc):
    seeds = [*SEEDS, *MORE] if metafunc.config.getoption("--nightly") else SEEDS
    metafunc.parametrize("seed", seeds)


def run(world, *command, code=0):
    done = serving.run(*command, "--config", world.config)
    assert code is None or done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def plan(world, path):
    run(world, "prune", "plan", "--quiet", "-o", path, *world.options())
    return {(one["platform"], one["filename"]): one for one in json.loads(path.read_text())["files"]}


def present(world):
    return {tuple(path.relative_to(world.store).parts)[::2] for path in world.store.glob("*/*/*.whl")}


def listed(world):
    return {(platform, name) for platform, name in present(world)
            if not any(world.store.glob(f"{platform}/*/{glob.escape(name)}.pruned"))}


def test_verdicts_and_what_is_left(seed, tmp_path):
    with worlds.World(seed, tmp_path) as world:
        run(world, "index")
        found = plan(world, tmp_path / "plan.json")
        expected = world.verdicts()
        assert {key: (one["verdict"], one["removes"], one["why"]) for key, one in found.items()} == \
            {key: (one.verdict, one.removes, one.why) for key, one in expected.items()}
        gone = {key for key, one in found.items() if one["removes"]}
        before = world.installable(found.keys())
        run(world, *APPLY, tmp_path / "plan.json")
        assert listed(world) == found.keys() - gone
        assert not any(one["removes"] for one in plan(world, tmp_path / "again.json").values())
        lost = before - world.installable(found.keys() - gone)
        places = {platform for platform, name in gone if found[platform, name]["verdict"] in worlds.CLASSES}
        assert {one[0] for one in lost} <= places


def test_upstream_changes_on_the_way(seed, tmp_path):
    """Between plan and apply, and between apply and purge: what upstream has now decides."""
    with worlds.World(seed, tmp_path, asks=False) as world:
        run(world, "index")
        everything = plan(world, tmp_path / "plan.json").keys()
        first = world.upstream.copy()
        world.change_upstream()
        at_once = run(world, *APPLY, tmp_path / "plan.json", code=None)
        assert at_once.returncode == 0 or listed(world) == everything
        run(world, *APPLY, "--skip-changed-evidence", tmp_path / "plan.json")
        assert world.installable(everything) == world.installable(listed(world))
        world.answer(first)
        run(world, *APPLY, "--skip-changed-evidence", tmp_path / "plan.json")
        world.change_upstream()
        run(world, "prune", "purge", "--grace=0", *world.purge_options(), code=None)
        assert world.installable(everything) == world.installable(present(world))
        run(world, "prune", "follow", code=None)
        assert world.installable(everything, world.known()) == world.installable(listed(world), world.known())
