// SPDX-License-Identifier: Apache-2.0
// realpath() with a time limit, for file systems that may hang, such as AFS and NFS when a server is down.
// A thread of its own calls realpath(); the caller waits for it with a limit. While a probe of a path hangs, further
// probes of that path share it, so that at most one thread a path is blocked. Any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct path_probe;

// Starts a probe of the path. The caller passes it to path_probe_wait() once.
struct path_probe *path_probe_start(const char *path);
// Waits for the result until clock_ms() reaches end_ms; does not wait if an earlier wait for this probe was in vain.
// Returns false if there is no result yet. *real becomes the real path, which the caller frees, or NULL if there is
// none. Releases the probe.
bool path_probe_wait(struct path_probe *p, int64_t end_ms, char **real);
