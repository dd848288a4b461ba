// SPDX-License-Identifier: Apache-2.0
// What `wheelcache doctor --client URL` says: whether an index can be reached from here, and what its answer means. One
// thread.
#pragma once

#include "cli/doctor/doctor-report.h"

struct doctor_client_options {
	const char *url;     // of the index
	const char *ca_file; // NULL: the system's
	const char *project; // also asked for, NAME or NAME==VERSION; NULL: none
	const char *python;  // as doctor_install()
	unsigned timeout;    // seconds
};

void doctor_client(struct doctor_report *r, const struct doctor_client_options *o);
