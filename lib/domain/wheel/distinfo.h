// SPDX-License-Identifier: Apache-2.0
// Which folder and which paths a wheel's members make. Pure; thread-safe.
#pragma once

#include "lib/domain/archive/zipdirectory.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/findings.h"

// Whether text is, normalised, the project or, by PEP 440, the version that the file name says.
bool distinfo_is_project(struct str text, const struct filename *name);
bool distinfo_is_version(struct str text, const struct filename *name);

// The one .dist-info folder at the top, which must be the file name's: a slice of a member's name.
// ERR_INVALID where there is none, or a second one: installers take the first they see.
int distinfo_find(const struct zipdirectory *zip, const struct filename *name, enum strictness strictness,
	struct findings *findings, struct str *folder, struct err *e) MUST_CHECK;

// Refuses paths that lead out of the folder they are unpacked to, as pip does; judges those that no
// two systems read alike.
int distinfo_check_paths(const struct zipdirectory *zip, enum strictness strictness, struct findings *findings,
	struct err *e) MUST_CHECK;
