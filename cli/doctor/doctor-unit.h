// SPDX-License-Identifier: Apache-2.0
// What `wheelcache doctor` says of the units of systemd: whether they run, and whether they let their processes write
// where the configuration says. One thread.
#pragma once

#include "cli/doctor/doctor-report.h"
#include "cli/doctor/doctor-store.h"
#include "lib/base/str.h"

// Asks systemctl. Nothing is added on a machine that systemd does not run, and for a unit that is not installed.
void doctor_unit(struct doctor_report *r, const struct doctor_writes *w);
// The same for one unit whose properties "NAME=value" are known, a line each. mounts: /proc/PID/mountinfo of its
// process; empty: it does not run, or they cannot be read.
void doctor_unit_judge(struct doctor_report *r, const struct doctor_writes *w, struct str properties,
	struct str mounts);
