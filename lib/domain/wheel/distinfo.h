// SPDX-License-Identifier: Apache-2.0
// Checks of the .dist-info folder of a wheel and of the paths of its members. Pure functions; any thread.
#pragma once

#include "lib/domain/archive/zipdirectory.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/findings.h"

// Whether the text is a spelling of the project of the file name, or of its version (PEP 440).
bool distinfo_is_project(struct str text, const struct filename *name);
bool distinfo_is_version(struct str text, const struct filename *name);

// Finds the .dist-info folder at the top, which must be that of the file name. *folder is a slice of a member's name.
// ERR_INVALID if there is none, or a second one, because installers use the first that they see.
int distinfo_find(const struct zipdirectory *zip, const struct filename *name, enum strictness strictness,
	struct findings *findings, struct str *folder, struct err *e) MUST_CHECK;
// The member of this name in that folder. NULL: there is none.
const struct zipmember *distinfo_member(const struct zipdirectory *zip, struct str folder, const char *name);

// Checks the paths of all members. ERR_INVALID for a path that leads out of the target folder, as in pip. A path that
// systems read differently is ERR_INVALID under STRICT and a finding under LENIENT.
int distinfo_check_paths(const struct zipdirectory *zip, enum strictness strictness, struct findings *findings,
	struct err *e) MUST_CHECK;
