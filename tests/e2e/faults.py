# SPDX-License-Identifier: Apache-2.0
"""Makes the system fail for the program, by the libraries of tests/faults."""
import pathlib

import pytest

import serving


def preload(name, folder, monkeypatch):
    """From now on the program runs with this library. Returns a function: the fault hits every path with this text in
    it; None: no path."""
    library = pathlib.Path(serving.binary()).parent / "tests" / "faults" / f"{name}.so"
    if not library.exists():
        pytest.skip(f"{library} is absent: make check builds it")
    control, wrapper = folder / "broken", folder / "with-faults"
    wrapper.write_text(f'#!/bin/sh\nASAN_OPTIONS=${{ASAN_OPTIONS:+$ASAN_OPTIONS:}}verify_asan_link_order=0\n'
                       f'{name.upper()}_BENEATH={control}\nLD_PRELOAD={library}\n'
                       f'export ASAN_OPTIONS {name.upper()}_BENEATH LD_PRELOAD\nexec {serving.binary()} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("WHEELCACHE", str(wrapper))

    def change(part):
        aside = folder / "broken.new"
        aside.write_text(part or "")
        aside.replace(control)
    return change
