# SPDX-License-Identifier: Apache-2.0
"""Uploads files over http.client by the legacy API, as clients do, or with errors that no client should make."""
import base64
import contextlib
import hashlib
import json
import pathlib
import uuid

import serving


class Part:
    """A part of a form; filename None: a plain field."""

    def __init__(self, name, data, filename=None, content_type=None):
        self.name = name
        self.data = data if isinstance(data, bytes) else str(data).encode()
        self.filename = filename
        self.content_type = content_type

    def head(self):
        line = f'Content-Disposition: form-data; name="{self.name}"'
        if self.filename is not None:
            line += f'; filename="{self.filename}"'
        if self.content_type:
            line += f"\r\nContent-Type: {self.content_type}"
        return line.encode()


def encode(parts, boundary=None):
    """The body of a form, and its Content-Type."""
    boundary = boundary or uuid.uuid4().hex
    body = b"".join(b"--%s\r\n%s\r\n\r\n%s\r\n" % (boundary.encode(), part.head(), part.data) for part in parts)
    return body + b"--%s--\r\n" % boundary.encode(), f"multipart/form-data; boundary={boundary}"


def form_of(path, **changed):
    """The parts that twine sends for a file, content last. changed: fields with other values; None: without the field."""
    path = pathlib.Path(path)
    data = path.read_bytes()
    name, version = path.name.split("-")[:2]
    fields = {":action": "file_upload", "protocol_version": "1", "metadata_version": "2.1", "name": name,
              "version": version, "filetype": "bdist_wheel", "pyversion": "py3", "summary": "",
              "sha256_digest": hashlib.sha256(data).hexdigest(),
              "blake2_256_digest": hashlib.blake2b(data, digest_size=32).hexdigest(),
              "md5_digest": hashlib.md5(data).hexdigest()}
    fields |= {key.replace("action", ":action") if key == "action" else key: value for key, value in changed.items()}
    parts = [Part(key, value) for key, value in fields.items() if value is not None]
    return [*parts, Part("content", data, path.name, "application/octet-stream")]


def authorization(token, user="__token__"):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{token}".encode()).decode()} if token else {}


def post(server, path, parts, token=None, headers=None):
    """One upload on a connection of its own."""
    body, content_type = encode(parts)
    sent = {"Content-Type": content_type, **authorization(token), **(headers or {})}
    with contextlib.closing(server.connect()) as connection:
        connection.request("POST", path, body, sent)
        answer = connection.getresponse()
        return serving.Reply(answer.status, answer.headers, answer.read())


def upload(server, platform, wheel, token, headers=None, **changed):
    """Uploads a file as twine does."""
    return post(server, f"/upload/{platform}/", form_of(wheel, **changed), token, headers)


def add_token(server, *options):
    """A new token for a server that runs, or will."""
    done = serving.run("token", "add", "--catalog", server.catalog, *options)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def audit(server):
    """The audit log's lines."""
    path = pathlib.Path(f"{server.catalog}.audit")
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def listed(server, platform, project):
    """The files on a project's page, name to SHA-256, in JSON; the HTML must name the same."""
    reply = server.get(f"/{platform}/simple/{project}/", {"Accept": "application/vnd.pypi.simple.v1+json"})
    if reply.status == 404:
        return {}
    assert reply.status == 200, reply.body
    files = {one["filename"]: one["hashes"]["sha256"] for one in json.loads(reply.body)["files"]}
    html = server.get(f"/{platform}/simple/{project}/", {"Accept": "text/html"}).body.decode()
    for name, sha256 in files.items():
        assert f"{name}#sha256={sha256}".replace("+", "%2B") in html.replace("+", "%2B"), f"{name} is not in the HTML"
    return files
