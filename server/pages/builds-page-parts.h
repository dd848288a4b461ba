// SPDX-License-Identifier: Apache-2.0
// Parts that the pages of build results share. Each adds HTML to out, in which all text of builders is escaped. Pure; any
// thread.
#pragma once

#include "server/pages/builds-data.h"

// "3 min 20 s"
void builds_part_duration(struct buf *out, double seconds);
// The result, with its colour.
void builds_part_result(struct buf *out, enum results_result result);
// A link to the log with the words "log"; without one nothing. folder: the path of the project's page from this one, as
// "six/" or "".
void builds_part_log(struct buf *out, const char *folder, const struct results_attempt *a);
// The facts of an attempt: steps, memory, files, sdist, provenance.
void builds_part_facts(struct buf *out, const struct results_attempt *a);
