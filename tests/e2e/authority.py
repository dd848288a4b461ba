# SPDX-License-Identifier: Apache-2.0
"""A private CA, and certificates for servers on this machine."""
import http.client
import ssl
import subprocess


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


class Authority:
    """A CA, and a certificate of it for the addresses that tests listen on."""

    def __init__(self, folder):
        self.ca, self.cert, self.key = folder / "ca.pem", folder / "cert.pem", folder / "key.pem"
        request, own = folder / "request.pem", folder / "own.pem"
        (folder / "names").write_text("subjectAltName = IP:127.0.0.1, IP:127.0.0.2\n")
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", 2, "-subj", "/CN=an authority",
                "-addext", "keyUsage = critical, keyCertSign", "-keyout", folder / "ca-key.pem", "-out", self.ca)
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=a server", "-keyout", self.key, "-out", request)
        openssl("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", folder / "ca-key.pem", "-CAcreateserial",
                "-days", 2, "-extfile", folder / "names", "-out", own)
        self.cert.write_bytes(own.read_bytes() + self.ca.read_bytes())

    def options(self):
        return ["--tls-cert", self.cert, "--tls-key", self.key]

    def context(self):
        return ssl.create_default_context(cafile=self.ca)

    def connect(self, host, port):
        return http.client.HTTPSConnection(host, port, timeout=30, context=self.context())
