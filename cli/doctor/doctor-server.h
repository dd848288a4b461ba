// SPDX-License-Identifier: Apache-2.0
// What `wheelcache doctor` says of the network: the certificate of the server, and upstream. One thread.
#pragma once

#include "cli/doctor/doctor-report.h"
#include "lib/state/config/config.h"

// The certificate and its key, and the days until it ends.
void doctor_certificate(struct doctor_report *r, const struct config *c);
// Asks each index of [upstream] url for one project, and compares the clocks.
void doctor_upstream(struct doctor_report *r, const struct config *c);
