# SPDX-License-Identifier: Apache-2.0
"""The project list of a view that merges: only local projects, or also all of upstream."""
import contextlib
import json
import threading

import pytest

import merging
import pages
import serving
import storelib

MANY = 20000  # more bytes than come in one piece
SOON = 120


def project_list(handler, data):  # pylint: disable=unused-argument
    """With the spelling of upstream, unsorted, with a duplicate and an invalid name."""
    names = [f"Project.{number:05d}" for number in range(MANY, 0, -1)] + ["six", "Six", "-no-name-", "Zope.Event"]
    body = json.dumps({"meta": {"api-version": "1.4", "_last-serial": 7},
                       "projects": [{"name": name, "_last-serial": 3} for name in names]}).encode()
    handler.start(200, body, Content_Type=pages.JSON)
    handler.wfile.write(body)


def html_project_list(handler, data):  # pylint: disable=unused-argument
    body = b"<!DOCTYPE html><html><body>\n" + b"".join(
        b'<a href="/simple/project-%05d/">Project_%05d</a><br/>\n' % (number, number) for number in range(MANY)) + b"</body></html>"
    handler.start(200, body, Content_Type="text/html")
    handler.wfile.write(body)


@pytest.fixture(name="store")
def store_fixture(tmp_path):
    storelib.make_wheel(tmp_path / "store", "ours", "1.0")
    storelib.make_wheel(tmp_path / "store", "six", "1.0")
    return tmp_path / "store"


def listed(server, accept=pages.JSON):
    reply = server.get("/simple/", {"Accept": accept})
    assert reply.status == 200
    return pages.json_projects(reply.body) if accept == pages.JSON else pages.html_projects(reply.body, "/simple/")


def names_of(found):
    return [one[0] if isinstance(one, tuple) else one for one in found]


def test_list_has_what_is_here(serve, index, store):
    index.fail("/simple/", project_list)
    server = serve(store, config=merging.config(index))
    assert names_of(listed(server)) == ["ours", "six"]
    assert index.count("/simple/") == 0


def test_list_has_all(serve, index, store):
    index.fail("/simple/", project_list)
    server = serve(store, config=merging.config(index, root="all"))
    found = names_of(listed(server))
    assert found == sorted(["ours", "six", "zope-event", *(f"project-{number:05d}" for number in range(1, MANY + 1))])
    assert names_of(listed(server, pages.HTML)) == found
    assert index.count("/simple/") == 1
    storelib.make_wheel(store, "later", "1.0")
    server.signal(1)
    serving.wait_for(lambda: "later" in names_of(listed(server)), SOON, "what came later")
    assert index.count("/simple/") == 1


def test_list_is_read_from_html(serve, index, store):
    index.fail("/simple/", html_project_list)
    server = serve(store, config=merging.config(index, root="all"))
    assert len(names_of(listed(server))) == MANY + 2


def test_many_clients_wait_for_one_look_up(serve, index, store):
    go_on = threading.Event()

    def late(handler, data):
        assert go_on.wait(merging.PATIENT_S)
        project_list(handler, data)

    index.fail("/simple/", late)
    server = serve(store, config=merging.config(index, root="all"))
    found = []
    clients = [threading.Thread(target=lambda: found.append(len(listed(server)))) for _ in range(20)]
    for client in clients:
        client.start()
    serving.wait_for(lambda: index.count("/simple/") == 1, SOON, "the question")
    assert server.get("/-/health").status == 200
    go_on.set()
    for client in clients:
        client.join()
    assert found == [MANY + 3] * 20
    assert index.count("/simple/") == 1


def test_list_outlives_upstream_and_the_server(serve, index, store, tmp_path):
    index.fail("/simple/", project_list)
    config = merging.config(index, root="all")
    server = serve(store, config=config, state=tmp_path / "state")
    assert len(listed(server)) == MANY + 3
    server.stop()
    index.is_down = True
    assert len(listed(serve(store, config=config, state=tmp_path / "state"))) == MANY + 3
    assert len(listed(serve(store, config=config + "offline = yes\n", state=tmp_path / "state"))) == MANY + 3


def too_large(handler, data):
    handler.send_response(200)
    handler.send_header("Content-Type", pages.JSON)
    handler.end_headers()
    handler.wfile.write(data)
    with contextlib.suppress(OSError):  # as soon as the server has had enough
        for _ in range(300):
            handler.wfile.write(b" " * (1 << 20))


@pytest.mark.parametrize("how", [merging.status(503), merging.cut, too_large], ids=["503", "cut", "too large"])
def test_without_upstream_what_is_here_is_listed(serve, index, store, how):
    # Exceeds LIMIT_PROJECT_LIST.
    index.files["/simple/"] = b'{"meta": {"api-version": "1.4"}, "projects": [{"name": "a"}, {"name": "b"}]}'
    index.fail("/simple/", how)
    server = serve(store, config=merging.config(index, root="all", retries=0))
    assert names_of(listed(server)) == ["ours", "six"]
