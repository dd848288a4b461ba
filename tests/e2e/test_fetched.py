# SPDX-License-Identifier: Apache-2.0
"""The source of the recorded wheels if ../shared is absent: a package index that has them, has other bytes, or has nothing."""
import os

import pytest

import clients
import fetched
import storelib


@pytest.fixture(scope="module", autouse=True)
def pip_fixture():
    """fetch.py runs in this pip's environment. Where it cannot be installed, the tests are skipped for that reason."""
    clients.environment(fetched.PIP)


@pytest.fixture(name="wanted")
def wanted_fixture(index, tmp_path):
    """A wheel of the index, as the list of the project has it."""
    wheel = storelib.make_wheel(tmp_path / "dist", "foo", "1.0")
    index.add("foo", wheel)
    page = {"files": [{"filename": wheel.name, "hashes": {"sha256": wheel.sha256}, "upload-time": "2020-01-02T03:04:05Z"}]}
    (tmp_path / "corpus" / "wheels").mkdir(parents=True)
    (file,) = fetched.files({"foo": page})
    return file


def fetch(index, corpus, file):
    return fetched.fetch(corpus, [file], PIP_INDEX_URL=index.url, PIP_CONFIG_FILE=os.devnull, no_proxy="127.0.0.1")


def test_what_the_index_has_is_there(index, wanted, tmp_path):
    corpus = tmp_path / "corpus"
    assert not fetched.is_there(corpus, wanted)
    assert fetch(index, corpus, wanted) == {}
    assert fetched.is_there(corpus, wanted)
    assert (corpus / wanted.path).stat().st_mtime == wanted.time


def test_other_bytes_are_a_failure(index, wanted, tmp_path):
    index.files[f"/packages/{wanted.path.name}"] += b"!"
    absent = fetch(index, tmp_path / "corpus", wanted)
    with pytest.raises(AssertionError, match="other bytes.*foo-1.0"):
        fetched.judge(absent)
    assert list((tmp_path / "corpus").rglob("*.whl")) == []


@pytest.mark.parametrize("how, why", [("nothing", "does not have it"), ("page", "does not answer"), ("file", "does not answer")])
def test_what_cannot_be_had_is_no_failure(index, wanted, tmp_path, how, why):
    if how == "nothing":
        del index.pages["foo"][wanted.path.name]
    else:
        index.fail("foo" if how == "page" else f"/packages/{wanted.path.name}", lambda handler, _: handler.start(404))
    with pytest.raises(pytest.skip.Exception, match=f"set pip to an index.*foo-1.0.*{why}"):
        fetched.judge(fetch(index, tmp_path / "corpus", wanted))
