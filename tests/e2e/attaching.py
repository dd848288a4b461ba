# SPDX-License-Identifier: Apache-2.0
"""Statements of provenance (in-toto, SLSA) and attestations (PEP 740) for files."""
import base64
import hashlib
import json

STATEMENT = "https://in-toto.io/Statement/v1"
SLSA = "https://slsa.dev/provenance/v1"
PUBLISH = "https://docs.pypi.org/attestations/publish/v1"


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def statement(path, *others, name=None, digest=None, kind=SLSA, **definition):
    """A statement about the files."""
    subjects = [{"name": name or path.name, "digest": {"sha256": digest or sha256(path)}}]
    subjects += [{"name": one.name, "digest": {"sha256": sha256(one)}} for one in others]
    predicate = {"buildDefinition": {"buildType": "https://example.org/build", "externalParameters": {"branch": "main"},
                                     "resolvedDependencies": [{"name": "sdist", "uri": "https://example.org/s.tar.gz",
                                                               "digest": {"sha256": "5" * 64}}], **definition},
                 "runDetails": {"builder": {"id": "https://example.org/builder"},
                                "metadata": {"startedOn": "2026-01-02T03:04:05Z"}}}
    return {"_type": STATEMENT, "subject": subjects, "predicateType": kind, "predicate": predicate}


def as_bytes(document):
    return json.dumps(document, indent=1).encode() + b"\n"


def attestation(path, kind=PUBLISH, **changed):
    """An attestation with the structure of PEP 740; its signature is none."""
    inside = statement(path, kind=kind, **changed)
    inside["predicate"] = None
    return {"version": 1,
            "verification_material": {"certificate": base64.b64encode(b"certificate").decode(),
                                      "transparency_entries": [{"logIndex": "1", "logId": {"keyId": "x"}}]},
            "envelope": {"statement": base64.b64encode(json.dumps(inside).encode()).decode(),
                         "signature": base64.b64encode(b"signature").decode()}}
