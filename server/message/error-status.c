// SPDX-License-Identifier: Apache-2.0
#include "server/message/error-status.h"

#include <assert.h>

#define INTERNAL "Internal Server Error"
#define UNAVAILABLE "Service Unavailable"
#define NOT_WRITTEN "the store or its catalog cannot be written now: try again; the log of the server says why"

// Messages name paths of the server, so a read never sends them, and an upload only where the server is not at fault.
static const struct error_status table[ERR_COUNT][ERROR_SIDE_COUNT] = {
	[ERR_NONE] = {{500, INTERNAL, 0, true, NULL},
		{500, INTERNAL, 0, true, NOT_WRITTEN}}, // a bug: there is no error
	[ERR_USAGE] = {{500, INTERNAL, 0, true, NULL}, {500, INTERNAL, 0, true, NOT_WRITTEN}},
	[ERR_INVALID] = {{500, INTERNAL, 0, true, NULL}, {400, "Bad Request", 0, false, NULL}},
	// An upload creates its file, so what is missing is the store or a part of it.
	[ERR_NOT_FOUND] = {{404, "Not Found", 0, true, NULL}, {503, UNAVAILABLE, 30, true, NOT_WRITTEN}},
	[ERR_CONFLICT] = {{409, "Conflict", 0, true, NULL}, {409, "Conflict", 0, false, NULL}},
	// A link that leads out of the store is as good as no file. An upload's name may have been removed for good.
	[ERR_DENIED] = {{404, "Not Found", 0, true, NULL}, {410, "Gone", 0, false, NULL}},
	[ERR_LIMIT] = {{500, INTERNAL, 0, true, NULL}, {413, "Content Too Large", 0, false, NULL}},
	// A read needs room at most for what the server keeps beside a file of results, and may find it the next time.
	[ERR_FULL] = {{503, UNAVAILABLE, 30, true, "a disk of the server is full; ask again: the log of the server says why"},
		{507, "Insufficient Storage", 0, false, NULL}},
	// The scan reports it once; clients can ask a thousand times.
	[ERR_BUSY] = {{503, UNAVAILABLE, 1, false, "it is changing just now; ask again"},
		{503, UNAVAILABLE, 30, false, NULL}},
	[ERR_IO] = {{503, UNAVAILABLE, 1, true, "the store cannot be read; ask again: the log of the server says why"},
		{503, UNAVAILABLE, 30, true, NOT_WRITTEN}},
	[ERR_DB] =
		{{503, UNAVAILABLE, 1, true, "the catalog cannot be read; ask again: the log of the server says why"},
			{503, UNAVAILABLE, 5, true, NOT_WRITTEN}},
	[ERR_NET] = {{502, "Bad Gateway", 0, true, NULL}, {502, "Bad Gateway", 0, true, NOT_WRITTEN}},
	[ERR_TIME] = {{503, UNAVAILABLE, 1, false, "it takes too long; ask for less, or again"},
		{503, UNAVAILABLE, 30, true, NOT_WRITTEN}},
};

const struct error_status *error_status(enum err_kind kind, enum error_side side)
{
	assert(kind < ERR_COUNT && side < ERROR_SIDE_COUNT);
	return &table[kind][side];
}
