// SPDX-License-Identifier: Apache-2.0
// What `wheelcache doctor --client URL --project NAME` says of a project's files: whether one of them installs on this
// Python and machine, by the rules of lib/domain, and if not, why. One thread.
#pragma once

#include "cli/doctor/doctor-report.h"
#include "lib/domain/index/simplepage.h"

// python: a version such as 3.12, or a program; NULL: that of $VIRTUAL_ENV, else of PATH. Where there is none, only the
// machine is judged. wanted: a specifier set such as "==1.0"; "": the newest version. Adds the rows "python" and "install".
void doctor_install(struct doctor_report *r, const char *python, const char *wanted, const struct simplepage *page);
