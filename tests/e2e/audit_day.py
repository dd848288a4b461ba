# SPDX-License-Identifier: Apache-2.0
"""The files of the day that docs/audit.md tells of: builds of a plugin wheel, a store, and machines before and after an
upgrade."""
import hashlib
import json

import elfwheels
import storelib

NAME = f"nixl-1.0-cp311-cp311-manylinux_2_28_{elfwheels.ARCH}.whl"
HASH = "-nixl-0a1b2c3d.so.0"
UPWARD = "-Wl,-rpath,$ORIGIN/.."


def libraries(maker, suffix):
    """The libraries of UCX with that end of their names, a module of theirs, and the plugin that needs them."""
    found = {}
    for name in "ucm", "ucs", "uct", "ucp":
        found[name] = maker.library(f"lib{name}{suffix}", f"lib{name}{suffix}", f"int {name}_init(void) {{ return 1; }}\n")
    module = f"libuct_ib{suffix}"
    found["module"] = maker.link(module, "int uct_init(void); int uct_ib_init(void) { return uct_init(); }\n", UPWARD,
                                 f"-Wl,-soname,{module}", libraries=[f"libuct{suffix}"])
    found["plugin"] = maker.link(f"plugin{suffix}", "int ucp_init(void); int nixl_plugin_init(void) { return ucp_init(); }\n",
                                 UPWARD, libraries=[f"libucp{suffix}"])
    return found


def members(core, module, plugin):
    """The members of a wheel: core libraries, a module, the plugin."""
    files = {f"nixl.libs/{core[name].name}": core[name] for name in ("ucm", "ucs", "uct", "ucp")}
    return {"nixl/__init__.py": b"", **files, f"nixl.libs/ucx/{module.name}": module, "nixl.libs/nixl/libplugin_UCX.so": plugin}


def plugin_wheels(folder):
    """dist/: the module and the plugin still need the libraries by their plain names. repaired/: they do not. again/: built
    with another libucp, that has a function less."""
    maker = elfwheels.Maker(folder / "made")
    plain, private = libraries(maker, ".so.0"), libraries(maker, HASH)
    (folder / "libucp.so.0").write_bytes(plain["ucp"].read_bytes())
    tag = NAME.removeprefix("nixl-1.0-").removesuffix(".whl")

    def make(place, files):
        return elfwheels.make_wheel(folder / place, tag, files, "nixl")
    make("dist", members(private, plain["module"], plain["plugin"]))
    old = elfwheels.Maker(folder / "made-again")
    source = "int ucp_init(void) { return 1; }\nint ucp_worker_flush(void) { return 2; }\n"
    older = {**private, "ucp": old.library(f"libucp{HASH}", f"libucp{HASH}", source)}
    provenance(make("last-week", members(older, private["module"], private["plugin"])), "1.18.0", "/usr/local/ucx")
    provenance(make("repaired", members(private, private["module"], private["plugin"])), "1.19.0", "/usr")


def provenance(wheel, version, prefix):
    """The statement beside the wheel: which UCX it was built with, and where that was installed."""
    def of(name, of_version, uri, where):
        return {"name": name, "uri": uri, "annotations": {"version": of_version, "prefix": where, "how": "source"}}
    parts = [of("ucx", version, "git+https://github.com/openucx/ucx", prefix),
             of("libfabric", "2.1.0", "git+https://github.com/ofiwg/libfabric", "/opt/libfabric")]
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": wheel.name, "digest": {"sha256": hashlib.sha256(wheel.read_bytes()).hexdigest()}}],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {"buildDefinition": {"buildType": "https://example.org/wheel/v1", "externalParameters": {},
                                          "internalParameters": {"toolchain": {"gcc": "14.2.1"}}, "resolvedDependencies": parts},
                      "runDetails": {"builder": {"id": "https://ci.example.org/"}}}}
    wheel.with_name(f"{wheel.name}.intoto.json").write_text(json.dumps(statement))


def machines(folder):
    """A store with wheels of debian-12, and the roots of that machine before and after libre2's bump."""
    maker = elfwheels.Maker(folder)
    path = f"usr/lib/{elfwheels.ARCH}-linux-gnu"
    for release, soname in ("12", "libre2.so.9"), ("13", "libre2.so.11"):
        for name in soname, "libc.so.6":
            maker.library(f"roots/debian-{release}/{path}/{name}", name)
    module = maker.module("made/re2.so", libraries=[f"roots/debian-12/{path}/libre2.so.9"])
    platform = folder / f"store/debian-12-{elfwheels.ARCH}"
    elfwheels.make_wheel(platform, elfwheels.LINUX, {f"_re2.cpython-311-{elfwheels.ARCH}-linux-gnu.so": module}, "google_re2", "1.1")
    elfwheels.make_wheel(platform, elfwheels.LINUX, {elfwheels.MODULE: maker.link("made/sound.so", "int a;\n")}, "zfec", "1.6")
    storelib.make_wheel(platform, "iniconfig", "2.0")
    (folder / "wheelcache.conf").write_text("[store]\npath = store\n[catalog]\npath = catalog.db\n")


def make(folder):
    plugin_wheels(folder)
    machines(folder)
