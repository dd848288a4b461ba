#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small S3, in memory, that checks signatures really. For unit tests, which start it, and for the end-to-end tests.

small_s3.py [option …] prints its URL in a line and serves until its standard input ends. Buckets need not be made. Its keys
are "test" and "secret"; /-/sts and /-/imds give others. What is under /-/ is for tests alone:
  PUT /-/faults     a JSON list of {"do": …, "method": …, "key": …, "times": …}: what the next requests meet that have this
                    method and whose "KEY?QUERY" has this text. do: a status and perhaps a code, as "503 SlowDown"; "lose": it is
                    done, and the connection is closed; "cut": half of the answer's body is sent; "narrow": half of a range is
                    sent, as it says; "close": nothing is done; "huge": nine million bytes of XML.
  GET /-/requests   the requests since the last such one: a JSON list of "METHOD KEY?QUERY".
  PUT /-/expire     the keys that /-/imds has given are expired, and it gives new ones.
"""
import argparse
import base64
import datetime
import email.utils
import hashlib
import hmac
import http.server
import json
import re
import sys
import threading
import time
import urllib.parse
import xml.etree.ElementTree
import xml.sax.saxutils

PAGE = 1000


def quote(text):
    return urllib.parse.quote(text, safe="-._~")


class Refusal(Exception):
    def __init__(self, status, code, message=""):
        super().__init__(code)
        self.status, self.code, self.message = status, code, message or code


class Thing:
    """An object."""

    def __init__(self, body, meta, etag=None):
        self.body, self.meta, self.time = body, meta, time.time()
        self.etag = f'"{hashlib.md5(body).hexdigest()}"' if etag is None else etag
        self.checksum = base64.b64encode(hashlib.sha256(body).digest()).decode()


class Store:
    """What all connections share."""

    def __init__(self, options):
        self.options = options
        self.lock = threading.RLock()
        self.things = {}  # (bucket, key)
        self.uploads = {}  # id: (bucket, key, meta, {number: body})
        self.faults, self.requests = [], []
        self.keys = {options.key: (options.secret, None), "STSKEY": ("sts-secret", "sts-token")}
        self.roles = 0
        self.next_upload = 0
        self.is_closed = False

    def next_fault(self, method, key):
        with self.lock:
            for fault in self.faults:
                if fault.get("method", method) == method and fault.get("key", "") in key:
                    fault["times"] = fault.get("times", 1) - 1
                    if fault["times"] <= 0:
                        self.faults.remove(fault)
                    return fault["do"]
        return None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *_):
        pass

    def date_time_string(self, timestamp=None):
        return email.utils.formatdate((timestamp or time.time()) + self.server.store.options.ahead, usegmt=True)

    # --- answers ---

    def answer(self, status, body=b"", headers=(), cut=False):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if not any(name == "Content-Length" for name, _ in headers):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[: len(body) // 2] if cut else body)
        self.wfile.flush()
        self.close_connection |= cut

    def answer_xml(self, text, status=200):
        self.answer(status, b'<?xml version="1.0" encoding="UTF-8"?>' + text.encode(), [("Content-Type", "application/xml")])

    def refuse(self, r):
        escaped = xml.sax.saxutils.escape(r.message)
        self.answer_xml(f"<Error><Code>{r.code}</Code><Message>{escaped}</Message></Error>", r.status)

    def handle_expect_100(self):
        wanted = super().handle_expect_100()
        self.wfile.flush()
        return wanted

    # --- what a request is ---

    def handle_any(self):
        store = self.server.store
        length = int(self.headers.get("Content-Length") or 0)
        path, _, query = self.path.partition("?")
        body = self.rfile.read(length)
        if path.startswith("/-/"):
            return self.control(path[3:], body)
        bucket, _, key = urllib.parse.unquote(path[1:]).partition("/")
        with store.lock:
            store.requests.append(f"{self.command} {key}?{query}")
        fault = store.next_fault(self.command, f"{key}?{query}")
        if fault == "close" or store.is_closed:
            self.close_connection = True
            return None
        if fault == "huge":
            return self.answer_xml(f"<ListBucketResult>{' ' * 9000000}</ListBucketResult>")
        try:
            if fault and fault not in ("lose", "cut", "narrow"):
                status, _, code = fault.partition(" ")
                raise Refusal(int(status), code or "InternalError")
            self.check(path, query, body)
            with store.lock:
                answer = self.do(bucket, key, urllib.parse.parse_qs(query, keep_blank_values=True), body)
        except Refusal as r:
            return self.refuse(r)
        if fault == "lose":
            self.close_connection = True
            return None
        if fault == "narrow":
            answer = self.narrowed(*answer)
        return self.answer(*answer, cut=fault == "cut")

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_any

    # --- signatures ---

    def check(self, path, query, body):
        """AWS Signature Version 4, as AWS describes it for S3."""
        options = self.server.store.options
        claimed = self.headers.get("x-amz-content-sha256")
        if options.trust:
            return
        found = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, *"
                             r"SignedHeaders=([^,]+), *Signature=([0-9a-f]{64})", self.headers.get("Authorization") or "")
        if not found or not claimed:
            raise Refusal(403, "AccessDenied", "not signed")
        key, day, region, names, signature = found.groups()
        if region != options.region:
            raise Refusal(400, "AuthorizationHeaderMalformed", f"the region is {options.region}")
        names = names.split(";")
        unsigned = [n.lower() for n in self.headers if n.lower().startswith("x-amz-") and n.lower() not in names]
        if names != sorted(names) or "host" not in names or unsigned:
            raise Refusal(403, "AccessDenied", f"headers that are not signed: {unsigned}")
        if urllib.parse.quote(urllib.parse.unquote(path), safe="-._~/") != path:
            raise Refusal(403, "SignatureDoesNotMatch", "the path is not encoded as AWS wants it")
        pairs = sorted(tuple(p.partition("=")[::2]) for p in query.split("&")) if query else []
        canonical = "\n".join([self.command, path, "&".join(f"{k}={v}" for k, v in pairs),
                               "".join(f"{n}:{' '.join(self.headers[n].split())}\n" for n in names), ";".join(names), claimed])
        stamp = self.headers["x-amz-date"]
        text = "\n".join(["AWS4-HMAC-SHA256", stamp, f"{day}/{region}/s3/aws4_request",
                          hashlib.sha256(canonical.encode()).hexdigest()])
        secret, token = self.server.store.keys.get(key, (None, None))
        if secret is None:
            raise Refusal(403, "InvalidAccessKeyId")
        if secret == "expired":
            raise Refusal(400, "ExpiredToken")
        sign = ("AWS4" + secret).encode()
        for part in (day, region, "s3", "aws4_request", text):
            sign = hmac.new(sign, part.encode(), hashlib.sha256).digest()
        if sign.hex() != signature or self.headers.get("x-amz-security-token") != token:
            raise Refusal(403, "SignatureDoesNotMatch")
        when = datetime.datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc).timestamp()
        if abs(when - time.time() - options.ahead) > 900 and not options.timeless:
            raise Refusal(403, "RequestTimeTooSkewed")
        if hashlib.sha256(body).hexdigest() != claimed and not options.careless:
            raise Refusal(400, "XAmzContentSHA256Mismatch")

    # --- conditions ---

    def check_conditions(self, thing, where):
        options = self.server.store.options
        new, match = self.headers.get("If-None-Match"), self.headers.get("If-Match")
        if options.conditions == "none" or where in options.unconditional:
            return
        if (new or match) and options.conditions == "501":
            raise Refusal(501, "NotImplemented")
        if new == "*" and thing:
            raise Refusal(412, "PreconditionFailed")
        if match and not thing:
            raise Refusal(404, "NoSuchKey")
        if match and thing.etag != match:
            raise Refusal(412, "PreconditionFailed")

    # --- what it does ---

    def do(self, bucket, key, query, body):
        if not key and self.command == "GET":
            return self.list(bucket, query)
        if "uploads" in query or "uploadId" in query:
            return self.parts(bucket, key, query, body)
        thing = self.server.store.things.get((bucket, key))
        if self.command == "PUT":
            self.check_conditions(thing, "put")
            return self.put(bucket, key, Thing(body, self.meta(), self.server.store.options.etag))
        if self.command == "DELETE":
            if thing:
                self.check_conditions(thing, "delete")
            self.server.store.things.pop((bucket, key), None)
            return 204,
        if not thing:
            raise Refusal(404, "NoSuchKey")
        return self.get(thing)

    def meta(self):
        return [(n, v) for n, v in self.headers.items() if n.lower().startswith("x-amz-meta-")]

    def put(self, bucket, key, thing):
        options = self.server.store.options
        claimed = self.headers.get("x-amz-checksum-sha256")
        if claimed and claimed != thing.checksum and not options.careless:
            raise Refusal(400, "BadDigest")
        if len(key.encode()) > 1024:
            raise Refusal(400, "KeyTooLongError")
        self.server.store.things[bucket, key] = thing
        return 200, b"", [("ETag", thing.etag)]

    def get(self, thing):
        headers = [("ETag", thing.etag), ("Last-Modified", email.utils.formatdate(thing.time, usegmt=True)), *thing.meta]
        part = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range") or "")
        if self.command == "HEAD":
            return 200, b"", headers + [("Content-Length", str(len(thing.body)))]
        if not part or self.server.store.options.no_ranges:
            return 200, thing.body, headers
        first, last = int(part[1]), min(int(part[2]), len(thing.body) - 1)
        if first >= len(thing.body):
            raise Refusal(416, "InvalidRange")
        return 206, thing.body[first : last + 1], headers + [("Content-Range", f"bytes {first}-{last}/{len(thing.body)}")]

    def narrowed(self, status, body, headers):
        body, values = body[: len(body) // 2], dict(headers)
        first, total = re.match(r"bytes (\d+)-\d+(/\d+)", values["Content-Range"]).groups()
        values["Content-Range"] = f"bytes {first}-{int(first) + len(body) - 1}{total}"
        return status, body, list(values.items())

    def parts(self, bucket, key, query, body):
        store = self.server.store
        if self.command == "POST" and "uploads" in query:
            store.next_upload += 1
            name = f"upload+{store.next_upload}/="
            store.uploads[name] = (bucket, key, self.meta(), {})
            return 200, f"<InitiateMultipartUploadResult><UploadId>{name}</UploadId></InitiateMultipartUploadResult>".encode()
        name = query["uploadId"][0]
        if name not in store.uploads:
            raise Refusal(404, "NoSuchUpload")
        _, _, meta, parts = store.uploads[name]
        if self.command == "PUT":
            parts[int(query["partNumber"][0])] = body
            return 200, b"", [("ETag", f'"{hashlib.md5(body).hexdigest()}"')]
        if self.command == "POST":
            self.check_conditions(store.things.get((bucket, key)), "complete")
            given = [(int(p.findtext("{*}PartNumber")), p.findtext("{*}ETag")) for p in
                     xml.etree.ElementTree.fromstring(body).iterfind("{*}Part")]
            if given != [(n, f'"{hashlib.md5(b).hexdigest()}"') for n, b in sorted(parts.items())]:
                raise Refusal(400, "InvalidPart")
            whole = b"".join(b for _, b in sorted(parts.items()))
            etag = f'"{hashlib.md5(whole).hexdigest()}-{len(parts)}"'
            del store.uploads[name]
            self.put(bucket, key, Thing(whole, meta, etag))
            return 200, b"<CompleteMultipartUploadResult/>"
        del store.uploads[name]
        return 204,

    def list(self, bucket, query):
        def one(name, default=""):
            return query.get(name, [default])[0]
        prefix, delimiter, after = one("prefix"), one("delimiter"), one("continuation-token")
        most = min(int(one("max-keys", "1000")), self.server.store.options.page)
        encode = quote if one("encoding-type") == "url" else xml.sax.saxutils.escape
        names, last, is_cut = {}, "", False
        after = base64.b64decode(after).decode() if after else ""
        for (where, key), thing in sorted(self.server.store.things.items()):
            if where != bucket or not key.startswith(prefix):
                continue
            end = key.find(delimiter, len(prefix)) if delimiter else -1
            name = key[: end + 1] if end >= 0 else key
            if name <= after or name in names:
                continue
            if len(names) == most:
                is_cut = True
                break
            names[name] = None if end >= 0 else thing
            last = name
        out = ['<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">', f"<Prefix>{encode(prefix)}</Prefix>",
               f"<IsTruncated>{str(is_cut).lower()}</IsTruncated>"]
        if one("encoding-type") == "url":
            out.append("<EncodingType>url</EncodingType>")
        if is_cut:
            out.append(f"<NextContinuationToken>{base64.b64encode(last.encode()).decode()}</NextContinuationToken>")
        for name, thing in names.items():
            if thing is None:
                out.append(f"<CommonPrefixes><Prefix>{encode(name)}</Prefix></CommonPrefixes>")
                continue
            when = datetime.datetime.fromtimestamp(int(thing.time), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")
            out.append(f"<Contents><Key>{encode(name)}</Key><LastModified>{when}</LastModified>"
                       f"<ETag>{xml.sax.saxutils.escape(thing.etag, {chr(34): '&quot;'})}</ETag><Size>{len(thing.body)}</Size>"
                       "<StorageClass>STANDARD</StorageClass></Contents>")
        return 200, "".join(out + ["</ListBucketResult>"]).encode(), [("Content-Type", "application/xml")]

    # --- for tests ---

    def control(self, what, body):
        store = self.server.store
        with store.lock:
            if what == "faults":
                store.faults = json.loads(body)
                return self.answer(204)
            if what == "requests":
                asked, store.requests = store.requests, []
                return self.answer(200, json.dumps(asked).encode())
            if what == "expire":
                for key in [k for k in store.keys if k.startswith("ROLE")]:
                    store.keys[key] = ("expired", None)
                return self.answer(204)
            return self.identity(what, body.decode())

    def identity(self, what, body):
        form = urllib.parse.parse_qs(body)
        if what == "sts" and form.get("WebIdentityToken") == ["a web identity"] and form.get("RoleArn") == ["arn:role"]:
            later = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
            return self.answer_xml('<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">'
                                   "<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>STSKEY</AccessKeyId>"
                                   "<SecretAccessKey>sts-secret</SecretAccessKey><SessionToken>sts-token</SessionToken>"
                                   f"<Expiration>{later}</Expiration></Credentials></AssumeRoleWithWebIdentityResult>"
                                   "</AssumeRoleWithWebIdentityResponse>")
        roles = "imds/latest/meta-data/iam/security-credentials/"
        if what == "imds/latest/api/token" and self.headers.get("X-aws-ec2-metadata-token-ttl-seconds"):
            return self.answer(200, b"a metadata token")
        if what.startswith(roles) and self.headers.get("X-aws-ec2-metadata-token") == "a metadata token":
            if what == roles:
                return self.answer(200, b"the-role")
            self.server.store.roles += 1
            key = f"ROLE{self.server.store.roles}"
            self.server.store.keys[key] = ("role-secret", "role-token")
            return self.answer(200, json.dumps({"Code": "Success", "AccessKeyId": key, "SecretAccessKey": "role-secret",
                                                "Token": "role-token", "Expiration": "2099-01-01T00:00:00Z"}).encode())
        return self.answer(403)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):  # a client that has gone
            super().handle_error(request, client_address)


def new_server(arguments=()):
    """A server on a free port; its caller runs and closes it."""
    p = argparse.ArgumentParser()
    p.add_argument("--key", default="test")
    p.add_argument("--secret", default="secret")
    p.add_argument("--region", default="us-east-1")
    p.add_argument("--page", type=int, default=PAGE, help="keys of a page of a listing")
    p.add_argument("--ahead", type=int, default=0, help="seconds that its clock is ahead")
    p.add_argument("--conditions", default="all", choices=["all", "none", "501"])
    p.add_argument("--unconditional", default="", help="which of put, delete, complete look at no condition")
    p.add_argument("--trust", action="store_true", help="looks at no signature")
    p.add_argument("--timeless", action="store_true", help="signatures do not expire")
    p.add_argument("--careless", action="store_true", help="looks at no hash of a body")
    p.add_argument("--etag", help="the same for all objects")
    p.add_argument("--no-ranges", action="store_true")
    server = Server(("127.0.0.1", 0), Handler)
    server.store = Store(p.parse_args(list(arguments)))
    return server


def main():
    server = new_server(sys.argv[1:])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
