# SPDX-License-Identifier: Apache-2.0
"""The lines of the table, with the target of each: a share of another server's CPU time, or of another line's."""
import dataclasses

JSON = {"Accept": "application/vnd.pypi.simple.v1+json"}
HTML = {"Accept": "text/html"}
PACKED = {"Accept-Encoding": "gzip"}
FORMS = {"JSON": JSON, "JSON, gzip": JSON | PACKED, "JSON, zstd": JSON | {"Accept-Encoding": "zstd"},
         "HTML, gzip": HTML | PACKED}

PAGE = {"nginx": 0.85, "floor": 1.25}
FILE = {"nginx": 1.0}
LARGE_FILE = {"nginx": 1.1}
SMALL_PAGE = "page of 4, JSON"
SMALL_FILE = "wheel of 20 KB"
LARGE_BYTES = 1 << 20


@dataclasses.dataclass
class Line:
    """A line of the table; path and headers as wheelcache has them."""
    name: str
    path: str
    headers: dict
    goals: dict
    status: int = 200
    connections: int = 32
    is_far: bool = False  # over a pair of virtual network cards
    bytes: int = 0  # of our body

    @property
    def is_large(self):
        return self.bytes >= LARGE_BYTES

    def share(self, ours, other):
        """Our figure divided by the other's; less is better."""
        return ours.cpu_us / other.cpu_us

    @property
    def is_page(self):
        return self.path.endswith("/")

    @property
    def is_zstd(self):
        return self.headers.get("Accept-Encoding") == "zstd"

    def ask(self, one):
        """Path and headers for a server; for a 304 line the server gets its own ETag."""
        more = PACKED if self.is_zstd and not one.has_zstd else {}
        if self.name in one.etag:
            more = {"If-None-Match": one.etag[self.name]}
        return one.place(self), self.headers | more


def pages(projects):
    for files, project in projects.items():
        for form, headers in FORMS.items():
            yield Line(f"page of {files:,}, {form}", f"/simple/{project}/", headers, PAGE)


def all_lines(shape):
    """shape: what the store has."""
    small = f"/simple/{shape.projects[4]}/"
    wheel, large = (f"/files/wheels/{one.project}/{one.path.name}" for one in (shape.wheel, shape.large_wheel))
    yield from pages(shape.projects)
    yield Line("304", small, JSON, {SMALL_PAGE: 1.0}, 304)
    yield Line("404", "/simple/none/", JSON, {SMALL_PAGE: 1.0}, 404)
    yield Line("root list, gzip", "/simple/", JSON | PACKED, PAGE)
    yield Line(SMALL_FILE, wheel, {}, FILE)
    yield Line("wheel of 20 MB", large, {}, LARGE_FILE, connections=4)
    yield Line("wheel of 20 MB, veth", large, {}, LARGE_FILE, connections=4, is_far=True)
    yield Line("its last 16 KB", large, {"Range": "bytes=-16384"}, FILE | {SMALL_FILE: 1.0}, 206)
    for count in (1, 16, 64, 256):
        yield Line(f"page of 4, gzip, {count} connection{'s' * (count > 1)}", small, JSON | PACKED, PAGE,
                   connections=count)
    yield Line("page of 4, gzip, connection: close", small, JSON | PACKED | {"Connection": "close"}, FILE)
