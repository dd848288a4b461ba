// SPDX-License-Identifier: Apache-2.0
// Makes ZIP files, good and bad ones, record by record. Members are stored.
#pragma once

#include "lib/base/buf.h"

struct zipmake {
	struct buf bytes, central;
	unsigned count;
};

struct zipmake_member {
	const char *name;
	const char *content;
	const char *local_name; // NULL: name
	const char *comment;    // of the central entry
	struct str local_extra, central_extra;
	unsigned flags, local_flags_xor;
	unsigned method, local_method_xor;
	unsigned unix_mode;
	unsigned descriptor;   // bytes of it, 12, 16, 20 or 24; 0: none
	int size_lie, crc_lie; // added to what the local header or the descriptor says
	struct str gap;        // bytes behind the data that no record tells of
};

void zipmake_init(struct zipmake *z);
void zipmake_release(struct zipmake *z);
void zipmake_add(struct zipmake *z, const struct zipmake_member *m);
// A second central entry, or none: what zipmake_add() does, one half of it.
void zipmake_local(struct zipmake *z, const struct zipmake_member *m);
void zipmake_central(struct zipmake *z, const struct zipmake_member *m, size_t offset);
// Writes the central directory and its end record.
void zipmake_end(struct zipmake *z, const char *comment);
