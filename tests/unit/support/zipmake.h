// SPDX-License-Identifier: Apache-2.0
// Builds valid and broken ZIP files record by record. It compresses nothing.
#pragma once

#include "lib/base/buf.h"

struct zipmake {
	struct buf bytes, central;
	unsigned count;
};

struct zipmake_member {
	const char *name;
	const char *content;
	struct str data;        // instead of content; it may hold NUL
	struct str packed;      // what the archive has instead of these bytes, with method
	const char *local_name; // NULL: name
	const char *comment;    // of the central entry
	struct str local_extra, central_extra;
	unsigned flags, local_flags_xor;
	unsigned method, local_method_xor;
	unsigned unix_mode;
	unsigned descriptor;   // size of the data descriptor: 12, 16, 20 or 24 bytes; 0: none
	int size_lie, crc_lie; // added to size and CRC in the local header or the descriptor
	struct str gap;        // bytes behind the data that belong to no record
};

void zipmake_init(struct zipmake *z);
void zipmake_release(struct zipmake *z);
void zipmake_add(struct zipmake *z, const struct zipmake_member *m);
// The two halves of zipmake_add(), for a member without central entry or with two of them.
void zipmake_local(struct zipmake *z, const struct zipmake_member *m);
void zipmake_central(struct zipmake *z, const struct zipmake_member *m, size_t offset);
// Writes the central directory and its end record.
void zipmake_end(struct zipmake *z, const char *comment);
