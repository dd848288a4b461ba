# SPDX-License-Identifier: Apache-2.0
"""A program: many clients, each with a connection, that request the same thing at once. The kernel discards what they
receive, except for the first client, which hashes it. Prints as JSON how many got all of it, and the seconds until the last
one had it."""
import hashlib
import json
import re
import resource
import selectors
import socket
import sys
import time

LONGEST = 60
PIECE = 1 << 20


class Client:
    """A client that sends "Connection: close" and reads until the server closes the connection."""

    def __init__(self, port, is_checked):
        self.socket = socket.create_connection(("127.0.0.1", port), LONGEST)
        self.socket.setblocking(False)
        self.head, self.got, self.is_done = b"", 0, False
        self.hash = hashlib.sha256() if is_checked else None

    def _take_head(self, data):
        head, end, rest = (self.head + data).partition(b"\r\n\r\n")
        self.head = head + end
        return rest

    def read(self, scrap):
        """True at the end."""
        has_head = self.head.endswith(b"\r\n\r\n")
        try:
            count = self.socket.recv_into(scrap, 0, socket.MSG_TRUNC if has_head and not self.hash else 0)
        except BlockingIOError:
            return False
        except ConnectionError:
            return True
        self.is_done = count == 0
        data = scrap[:count]
        if not has_head:
            data = self._take_head(bytes(data))
        self.got += len(data)
        if self.hash:
            self.hash.update(data)
        return self.is_done

    def has_whole(self, length):
        said = re.search(rb"\r\ncontent-length: *(\d+)", self.head, re.I)
        return self.is_done and self.head.split(b" ")[1:2] == [b"200"] and self.got == (int(said[1]) if said else length)


def ask_all(clients, request):
    """Seconds until the last client is done."""
    selector, scrap, left = selectors.DefaultSelector(), memoryview(bytearray(PIECE)), len(clients)
    for one in clients:
        selector.register(one.socket, selectors.EVENT_READ, one)
    begin = time.monotonic()
    for one in clients:
        one.socket.send(request)
    while left and (rest := begin + LONGEST - time.monotonic()) > 0:
        for key, _ in selector.select(rest):
            if key.data.read(scrap):
                selector.unregister(key.fileobj)
                left -= 1
    return time.monotonic() - begin


def main():
    port, path, count, *headers = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_NOFILE, [resource.getrlimit(resource.RLIMIT_NOFILE)[1]] * 2)
    clients = [Client(int(port), i == 0) for i in range(int(count))]
    lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Connection: close", *headers]
    seconds = ask_all(clients, "\r\n".join([*lines, "", ""]).encode())
    first = clients[0]
    print(json.dumps({"seconds": seconds, "whole": sum(one.has_whole(first.got) for one in clients),
                      "sha256": first.hash.hexdigest(), "bytes": sum(one.got for one in clients)}))


main()
