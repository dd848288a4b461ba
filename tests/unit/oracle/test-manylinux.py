# SPDX-License-Identifier: Apache-2.0
"""Compares the tables of manylinux and musllinux tags with auditwheel's: each symbol version, library and forbidden symbol
that any of its policies has, for each tag and architecture."""

import json
import os
import pathlib
import sys
import zipfile

from domaintool import ask

ROOT = pathlib.Path(__file__).resolve().parents[3]
SHARED = pathlib.Path(os.environ.get("WHEELCACHE_SHARED") or ROOT.parent / "shared")
NEVER = ["GLIBC_PRIVATE", "GLIBC_2.99", "GLIBC_3.0", "GLIBCXX_3.4.99", "CXXABI_2", "GCC_99.0.0", "ZLIB_9", "GLIBC_ABI_NEW"]


def policies():
    """The manylinux and the musllinux policies of auditwheel, or of its wheel among the clients."""
    found = sorted(SHARED.glob("clients/wheels/auditwheel-*.whl"))
    if found:
        with zipfile.ZipFile(found[-1]) as wheel:
            return [json.loads(wheel.read(f"auditwheel/policy/{name}-policy.json")) for name in ("manylinux", "musllinux")]
    try:
        import auditwheel.policy
    except ImportError:
        print("no auditwheel here")
        sys.exit(77)
    folder = pathlib.Path(auditwheel.policy.__file__).parent
    return [json.loads((folder / f"{name}-policy.json").read_text()) for name in ("manylinux", "musllinux")]


def forbidden(tags):
    return sorted({(library, symbol) for tag in tags for library, names in tag["blacklist"].items() for symbol in names})


def manylinux_cases(tags):
    """(what is asked, which column of the answer, what auditwheel says) of all tags."""
    libraries = sorted({name for tag in tags for name in tag["lib_whitelist"]} | {"libssl.so.3", "libc.so"})
    for arch in sorted({arch for tag in tags for arch in tag["symbol_versions"]}):
        known = sorted({f"{name}_{version}" for tag in tags for name, versions in tag["symbol_versions"].get(arch, {}).items()
                        for version in versions})
        for tag in tags:
            if arch not in tag["symbol_versions"]:
                continue
            row = f"{arch} {'.'.join(tag['name'].split('_')[1:3])}"
            for version in known + NEVER:
                prefix, _, number = version.partition("_")
                allowed = tag["symbol_versions"][arch].get(prefix)
                yield f"{row} {version}", 1, allowed is None or number in allowed
            for library in libraries:
                yield f"{row} {library}", 2, library in tag["lib_whitelist"]
            for library, symbol in forbidden(tags):
                yield f"{row} {library}:{symbol}", 3, symbol not in tag["blacklist"].get(library, [])


def musllinux_cases(tags):
    for tag in tags:
        for library in (*tag["lib_whitelist"], "libc.so.6", "libstdc++.so.6"):
            yield f"x86_64 musl {library}", 2, library in tag["lib_whitelist"]
        for library, symbol in [*forbidden(tags), ("libz.so.1", "inflate")]:
            yield f"x86_64 musl {library}:{symbol}", 3, symbol not in tag["blacklist"].get(library, [])


def main():
    glibc, musl = ([tag for tag in tags if tag["priority"]] for tags in policies())
    cases = [*manylinux_cases(glibc), *musllinux_cases(musl)]
    answers = ask("manylinux", [asked for asked, _, _ in cases])
    wrong = [f"{asked}: {answer}, auditwheel: {allowed}" for (asked, column, allowed), answer in zip(cases, answers)
             if answer[0] != "1" or answer[column] != str(int(allowed))]
    print("\n".join(wrong[:50]) or "equal", f"{len(cases)} cases, {len(wrong)} differ", sep="\n")
    return 1 if wrong else 0


sys.exit(main())
