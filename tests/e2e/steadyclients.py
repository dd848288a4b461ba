# SPDX-License-Identifier: Apache-2.0
"""Clients that ask for a page all the time. They keep their connections and never repeat a request, so that they fail
where a server drops one. As a program, HOST PORT PATH: each line on stdin asks for more answers, and is answered by their
number so far."""
import concurrent.futures
import contextlib
import http.client
import sys
import threading

import serving

CLIENTS = 6
REQUESTS = 40  # of each client, each time
EVENTUALLY = 60


class Clients:
    def __init__(self, connect, path):
        self.connect, self.path, self.ends = connect, path, threading.Event()
        self.answers = [0] * CLIENTS
        self.pool = concurrent.futures.ThreadPoolExecutor(CLIENTS)
        self.clients = [self.pool.submit(self._ask, number) for number in range(CLIENTS)]

    def _ask(self, number):
        with contextlib.closing(self.connect()) as connection:
            while not self.ends.is_set():
                answer = serving.ask(connection, self.path)
                assert answer.status == 200 and answer.body
                if answer["Connection"] == "close":
                    connection.close()
                self.answers[number] += 1

    def go_on(self):
        """Returns when each client has got more answers, or one has failed."""
        wanted = [answers + REQUESTS for answers in self.answers]
        serving.wait_for(lambda: any(one.done() for one in self.clients) or
                         all(has >= want for has, want in zip(self.answers, wanted, strict=True)), EVENTUALLY, "answers")

    def end(self):
        """Ends the clients; raises what made one fail."""
        self.ends.set()
        for one in self.clients:
            one.result(EVENTUALLY)
        self.pool.shutdown()


def main(host, port, path):
    clients = Clients(lambda: http.client.HTTPConnection(host, int(port), timeout=EVENTUALLY), path)
    for _ in sys.stdin:
        clients.go_on()
        print(sum(clients.answers), flush=True)
    clients.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
