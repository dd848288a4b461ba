// SPDX-License-Identifier: Apache-2.0
// What is told of a scan: lines of the log, and the command of [index] on-change. Any thread.
#pragma once

#include "indexer/walk/scan-report.h"
#include "lib/os/hook.h"

enum { SCAN_LOG_NEWS = 20 }; // new problems of one scan that have a line of the log; the others are counted

// Logs a scan that changed something, changed bytes under a known name, and each new problem: a quarantined file, and a
// wheel for other machines. What is private has no name in the log. activity: "scan".
void scan_log_summary(const char *activity, const struct summary *s);
// Runs the command for each new problem (the first SUMMARY_KEPT). The facts are in its environment too:
// WHEELCACHE_CHANGE ("quarantined" or "misfit"), WHEELCACHE_PLATFORM, _FILE and _REASON. command NULL: nothing happens.
void scan_log_tell(struct hook_queue *hooks, const char *command, const struct summary *s);
