// SPDX-License-Identifier: Apache-2.0
// What `wheelcache doctor` says of the running service and the machine: its clock, the limits that systemd sets, the
// certificate of the server, and upstream. One thread.
#pragma once

#include "cli/doctor/doctor-report.h"
#include "lib/state/config/config.h"

enum {
	DOCTOR_DRIFT = 60,          // seconds: a clock that is further off is a warning,
	DOCTOR_WRONG_DRIFT = 86400, // and this far it is wrong: certificates and ages of files are judged by it
};

// Whether the kernel's clock is set by a time service.
void doctor_clock(struct doctor_report *r);
// Whether the time is doubted by which files of upstreams are offered (lib/state/upstream/right-clock.h).
void doctor_offers(struct doctor_report *r, const struct config *c, const char *catalog);
// What mirrors lack (lib/state/upstream/mirror-lacks.h).
void doctor_mirrors(struct doctor_report *r, const struct config *c, const char *catalog);
// Compares a header Date (RFC 9110 section 5.6.7) with this machine's clock. Nothing is added for a malformed one.
void doctor_date(struct doctor_report *r, const char *other, const char *date);
// Limits of the service wheelcache.service where it runs, otherwise those of this process. cgroups: the mount of
// cgroup 2.
void doctor_service(struct doctor_report *r, const struct config *c, const char *cgroups);
// The certificate and its key, and the days until it ends.
void doctor_certificate(struct doctor_report *r, const struct config *c);
// Asks each index of [upstream] url for one project, and compares the clocks.
void doctor_upstream(struct doctor_report *r, const struct config *c);
