# SPDX-License-Identifier: Apache-2.0
"""Random stores, whose files lie on the disk and whose upstream is served: the plan says of each file what the reference
says, and after it is carried out every environment installs what it could install before."""
import json

import pytest

import serving
import worlds

SEEDS = range(1000, 1006)
MORE = range(2000, 2060)
CLASSES = ("pure", "off-list", "unusable", "corrupt")  # what goes though nothing replaces it, for somebody asked


def pytest_generate_tests(metafunc):
    seeds = [*SEEDS, *MORE] if metafunc.config.getoption("--all") else SEEDS
    metafunc.parametrize("seed", seeds)


@pytest.fixture(name="world")
def world_fixture(seed, tmp_path):
    with worlds.World(seed, tmp_path) as world:
        yield world


def run(world, *command):
    done = serving.run(*command, "--config", world.config)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def plan(world, path):
    run(world, "prune", "plan", "--quiet", "-o", path, *world.options())
    return {(one["platform"], one["filename"]): one for one in json.loads(path.read_text())["files"]}


def listed(world):
    return {tuple(path.relative_to(world.store).parts)[::2] for path in world.store.glob("*/*/*.whl")
            if not path.with_name(path.name + ".pruned").exists()}


def test_verdicts_and_what_is_left(world, tmp_path):
    run(world, "index")
    found = plan(world, tmp_path / "plan.json")
    expected = world.verdicts()
    assert {key: (one["verdict"], one["removes"], one["why"]) for key, one in found.items()} == \
        {key: (one.verdict, one.removes, one.why) for key, one in expected.items()}
    gone = {key for key, one in found.items() if one["removes"]}
    before = world.installable(found.keys())
    run(world, "prune", "apply", "--max-files=100%", "--max-bytes=100%", "--max-failures=100%", tmp_path / "plan.json")
    assert listed(world) == found.keys() - gone
    assert not any(one["removes"] for one in plan(world, tmp_path / "again.json").values())
    lost = before - world.installable(found.keys() - gone)
    assert lost <= {one for one in before if any(found[key]["verdict"] in CLASSES for key in gone if key[0] == one[0])}
