// SPDX-License-Identifier: Apache-2.0
// Whole members of a ZIP file in memory, one at a time; zipread.h hands them over in pieces. zipframe has found and
// checked the bytes of each member. One thread at a time.
#pragma once

#include "lib/domain/archive/zipdirectory.h"
#include "lib/format/inflate.h"

// The caller's storage; all zero but source is ready, and zipload_release ends it.
struct zipload {
	const struct byte_source *source; // borrowed
	struct inflater *inflater;
	struct zipload_pages {
		char *at;
		size_t room;
	} packed, unpacked;
};

void zipload_release(struct zipload *l); // for CLEANUP
// Gives the memory of large members back. The caller may then set another source and go on.
void zipload_trim(struct zipload *l);
// The first bytes of a member, at most size, as many as the first bytes of its data give. Returns their number, or -1:
// ERR_IO.
long zipload_head(struct zipload *l, const struct zipmember *m, char *out, size_t size, struct err *e) MUST_CHECK;
// The whole member, borrowed until the next call. The caller has compared its sizes with a limit. ERR_INVALID if its
// data is damaged, or its size or CRC is not the declared one; ERR_LIMIT if memory runs out; ERR_IO.
int zipload_whole(struct zipload *l, const struct zipmember *m, struct str *out, struct err *e) MUST_CHECK;
