// SPDX-License-Identifier: Apache-2.0
// What all mirrors (mirror.h) pin: files, so that no cache removes them, and projects, so that their pages stay. It
// follows the records: other processes change them. Any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"

struct mirror_pins;

// folder: STATE_FILE_MIRRORS. Reads the records. Never NULL.
struct mirror_pins *mirror_pins_new(const char *folder);
void mirror_pins_free(struct mirror_pins *p); // NULL is fine
// Reads the records again, if they have changed. While they cannot be read, which is logged, what is pinned is in
// doubt.
void mirror_pins_look(struct mirror_pins *p);
// Whether the last look has read the records.
bool mirror_pins_are_known(struct mirror_pins *p);
// Whether a file of this hash is pinned; of what is in doubt too. p NULL: it is not.
bool mirror_pins_may_have(struct mirror_pins *p, const uint8_t *sha256);
// The same, but not of what is in doubt. sha256 NULL: it is not.
bool mirror_pins_has(struct mirror_pins *p, const uint8_t *sha256);
// Whether a project (normal form) has pinned files, as of the last second. p NULL: it has not.
bool mirror_pins_has_project(struct mirror_pins *p, const char *project);
// Appends a JSON array of these projects. p NULL: an empty one.
void mirror_pins_projects(struct mirror_pins *p, struct buf *out);
