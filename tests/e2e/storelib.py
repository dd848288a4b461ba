# SPDX-License-Identifier: Apache-2.0
"""Makes wheels and stores for tests. The same arguments give the same bytes."""
import base64
import dataclasses
import hashlib
import os
import pathlib
import warnings
import zipfile

OLD = 1_700_000_000  # an mtime that is old enough to be trusted


@dataclasses.dataclass
class Wheel:
    """The facts of a wheel that a test made."""
    path: pathlib.Path
    sha256: str
    size: int
    metadata: bytes

    @property
    def name(self):
        return self.path.name

    @property
    def metadata_sha256(self):
        return hashlib.sha256(self.metadata).hexdigest()


def metadata_bytes(name, version, requires_python=None, requires=(), extra=""):
    """A METADATA file; extra is put in as it is, one or more whole lines."""
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    if requires_python is not None:
        lines.append(f"Requires-Python: {requires_python}")
    lines += [f"Requires-Dist: {one}" for one in requires]
    return ("\n".join(lines) + "\n" + extra).encode()


def wheel_file_bytes(tag, is_purelib=True):
    """A WHEEL file for a compressed tag set."""
    pythons, abis, platforms = tag.split("-")
    lines = ["Wheel-Version: 1.0", "Generator: storelib", f"Root-Is-Purelib: {str(is_purelib).lower()}"]
    lines += [f"Tag: {p}-{a}-{t}" for p in pythons.split(".") for a in abis.split(".")
              for t in platforms.split(".")]
    return ("\n".join(lines) + "\n").encode()


def record_bytes(members, record_name):
    rows = []
    for name, data in members:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(data)}")
    rows.append(f"{record_name},,")
    return ("\n".join(rows) + "\n").encode()


def zip_write(path, members, method=zipfile.ZIP_DEFLATED):
    """Writes (name, bytes) pairs in their order; a name may come twice."""
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", method) as archive:
        warnings.simplefilter("ignore", UserWarning)  # a name twice
        for name, data in members:
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.compress_type = method
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, data)


def wheel_members(name, version, tag="py3-none-any", *, requires_python=None, requires=(), files=None,
                  metadata=None, is_purelib=True):
    """The (name, bytes) pairs of a valid wheel, RECORD last; a test may damage them."""
    stem = f"{name.replace('-', '_')}-{version}.dist-info"
    if metadata is None:
        metadata = metadata_bytes(name, version, requires_python, requires)
    if files is None:
        files = {f"{name.replace('-', '_').lower()}.py": f"VERSION = {version!r}\n".encode()}
    members = list(files.items())
    members += [(f"{stem}/METADATA", metadata), (f"{stem}/WHEEL", wheel_file_bytes(tag, is_purelib))]
    members.append((f"{stem}/RECORD", record_bytes(members, f"{stem}/RECORD")))
    return members


def make_wheel(folder, name, version, tag="py3-none-any", *, build=None, mtime=OLD, size=None, **parts):
    """Makes a valid wheel in folder; parts as for wheel_members. size: adds random bytes, so that the wheel has about this
    size. Returns a Wheel."""
    if size is not None:
        data = hashlib.shake_256(f"{name}-{version}-{tag}".encode()).digest(size)
        parts["files"] = {f"{name.replace('-', '_')}.bin": data}
    members = wheel_members(name, version, tag, **parts)
    middle = f"{version}-{build}" if build else version
    path = pathlib.Path(folder) / f"{name.replace('-', '_')}-{middle}-{tag}.whl"
    path.parent.mkdir(parents=True, exist_ok=True)
    zip_write(path, members)
    if mtime is not None:
        os.utime(path, (mtime, mtime))
    data = path.read_bytes()
    metadata = next(data for member, data in members if member.endswith(".dist-info/METADATA"))
    return Wheel(path, hashlib.sha256(data).hexdigest(), len(data), metadata)
