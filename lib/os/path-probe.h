// SPDX-License-Identifier: Apache-2.0
// Asking a file system that may hang, as AFS and NFS do when a server is away: each question is put by a thread of its
// own, and whoever asks waits only for so long. A question without an answer is not put again while it hangs, so that
// no more than one thread a path is ever stuck. Any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct question;

// Asks what realpath() says of the path. To be ended by path_probe_answer().
struct question *path_probe_ask(const char *path);
// Waits until clock_ms() is end_ms at most, or not at all where somebody waited in vain before. False: there is no
// answer yet. *real: the path, to be freed by the caller; NULL where there is none.
bool path_probe_answer(struct question *q, int64_t end_ms, char **real);
