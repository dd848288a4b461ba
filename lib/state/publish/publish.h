// SPDX-License-Identifier: Apache-2.0
// A file on its way into a platform: written beside its place under a temporary name, examined, then
// published for good, or gone without a trace. Bytes under a published name never change: the first
// one of a name stays.
//
// A struct publish is one thread's at a time. Any number of them, in any number of processes and on
// any number of machines, may publish into one platform, also under one name.
#pragma once

#include <stdint.h>

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/domain/wheel/declared.h"
#include "lib/format/digest.h"
#include "lib/state/store/store.h"

struct upload_policy;
struct catalog;
struct publish;

enum publish_result {
	PUBLISH_NEW,
	PUBLISH_SAME,  // these very bytes were there already
	PUBLISH_EQUAL, // a build of the same contents was there already, and stays: only time stamps, order
		       // or packing differ
};

struct publish_receipt {
	enum publish_result result;
	uint8_t sha256[SHA256_SIZE]; // of the bytes that are under the name now
	bool is_listed;              // false: it is at the write path, and on the pages once that has been released
};

// The project (normalised, to be freed) that a file of this name is of. said is what the sender says, any
// spelling, NULL: nothing; he knows better than the name of an old sdist. ERR_INVALID: no file name of a
// wheel or sdist.
char *publish_project_of(const char *filename, const char *said, struct err *e) MUST_CHECK;
// Begins one. The catalog is asked where the project's files lie; else the folder is <letter>/<project>.
// ERR_DENIED: the name was taken out of use, with the reason. ERR_FULL, ERR_IO: the disk.
struct publish *publish_begin(const struct platform *platform, struct catalog *c, const char *filename,
	const char *project, struct err *e) MUST_CHECK;
const char *publish_project(const struct publish *p);
int publish_write(struct publish *p, struct str bytes, struct err *e) MUST_CHECK;
uint64_t publish_size(const struct publish *p); // bytes so far
// Examines what was written (STRICT) and puts it under its name: on the disk, then in the catalog. Where the platform has
// a write path, it is put there alone; where it has a release, that is wanted from then on.
// ERR_INVALID: it is not what it or the sender claims to be, or nobody could install it here.
// ERR_CONFLICT: the name is another file's. ERR_DENIED as above. Once; then only publish_free.
// admission: who says whether a new file is wanted (ERR_DENIED); NULL: nobody.
int publish_end(struct publish *p, struct catalog *c, const struct declared *claims,
	const struct upload_policy *upload_policy, struct publish_receipt *out, struct err *e) MUST_CHECK;
// What was not published leaves nothing. NULL is fine.
void publish_free(struct publish *p);
