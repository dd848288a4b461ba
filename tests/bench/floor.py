# SPDX-License-Identifier: Apache-2.0
"""The floor: floor.c with our answers, head and body, as files."""
import re
import socket
import subprocess

import server


class Floor(server.Server):
    name = "floor"

    def __init__(self, process, port, lines):
        super().__init__(process, port)
        self.number = {line.name: i for i, line in enumerate(lines)}

    def place(self, line):
        return f"/{self.number[line.name]}"


def raw_answer(ours, line):
    """All bytes that wheelcache sends for a line, on a connection that is kept open."""
    path, headers = line.ask(ours)
    with socket.create_connection(("127.0.0.1", ours.port), 60) as connection:
        request = [f"GET {path} HTTP/1.1", "Host: x", *(f"{name}: {value}" for name, value in headers.items())]
        connection.sendall("\r\n".join([*request, "", ""]).encode())
        with connection.makefile("rb") as file:
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += file.readline()
            length = re.search(rb"\r\nContent-Length: (\d+)", head)
            return head + file.read(int(length[1]) if length else 0)


def start(binary, ours, lines, folder):
    folder.mkdir()
    for i, line in enumerate(lines):
        (folder / str(i)).write_bytes(raw_answer(ours, line))
    process = server.start(binary, folder, stdout=subprocess.PIPE, text=True)
    return Floor(process, int(process.stdout.readline()), lines)
