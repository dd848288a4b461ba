// SPDX-License-Identifier: Apache-2.0
// What `wheelcache doctor --client URL --project NAME` says of released files that the store has lost: the cause behind pip's
// "No matching distribution". The server's /-/explain/ knows it. One thread.
#pragma once

#include "cli/doctor/doctor-report.h"
#include "lib/net/fetch.h"

// index: the URL of the index, without a password. project: in normal form. version: NULL: all. Adds a row for each file that
// the view of the index has lost. A server that does not answer, or is none of ours, adds none.
void doctor_lost(struct doctor_report *r, struct fetch *f, const char *index, const char *project, const char *version);
