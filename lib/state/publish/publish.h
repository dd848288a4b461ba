// SPDX-License-Identifier: Apache-2.0
// Publishes a file into a platform: it is written under a temporary name in its folder, examined, then linked under its
// name, or removed without a trace. Bytes under a published name never change: the first file of a name stays.
//
// One thread at a time for a struct publish. Any number of them, in any number of processes and on any number of
// machines, may publish into one platform, even under one name.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/domain/text/findings.h"
#include "lib/domain/wheel/declared.h"
#include "lib/format/digest.h"
#include "lib/state/store/store.h"

#include "lib/domain/wheel/attachment.h"

struct audit_report;
struct file_past; // lib/state/store/catalog-update.h
struct upload_policy;
struct catalog;
struct wheel_gate;
struct publish;

enum publish_result {
	PUBLISH_NEW,
	PUBLISH_SAME,  // the same bytes were published before
	PUBLISH_EQUAL, // a build with the same contents was published before, and stays: only time stamps, order
		       // or compression differ
};

struct publish_receipt {
	enum publish_result result;
	uint8_t sha256[SHA256_SIZE]; // of the bytes that are now under the name
	bool is_listed;              // false: it is at the write path, and will be listed after a release
};

// The project of a file name, normalised; the caller frees it. said: the name that the client sent, in any spelling,
// which decides for an old sdist; NULL: none. ERR_INVALID: not a file name of a wheel or sdist.
char *publish_project_of(const char *filename, const char *said, struct err *e) MUST_CHECK;
// Starts to publish. The folder is that of the project's files in the catalog, else <letter>/<project>. platform is
// borrowed. ERR_DENIED: a file of this name was removed; with the reason. ERR_BUSY: the platform is frozen. ERR_FULL,
// ERR_IO: the disk.
struct publish *publish_begin(const struct platform *platform, struct catalog *c, const char *filename,
	const char *project, struct err *e) MUST_CHECK;
const char *publish_project(const struct publish *p); // borrowed
int publish_write(struct publish *p, struct str bytes, struct err *e) MUST_CHECK;
uint64_t publish_size(const struct publish *p); // bytes so far
// What is inside a wheel is to be noted in the catalog with it. To be called before publish_end.
void publish_take_facts(struct publish *p);
// Gives the file an attachment, which publish_end checks and puts beside it. One about the same bytes that is there
// stays, and ours is dropped. Copies the text.
void publish_attach(struct publish *p, enum attachment kind, struct str text);
// A new wheel in which the gate finds errors, or which it cannot judge, is to be refused. Borrowed; NULL: none. To be
// called before publish_end.
void publish_audit(struct publish *p, struct wheel_gate *gate);
// The file was in another store, and keeps its past, whose texts are borrowed until publish_end, before which this is
// to be called; past->time is not read. LENIENT: it is taken like a file that a scan finds.
void publish_with_past(struct publish *p, const struct file_past *past, enum strictness strictness);
// After publish_end: the report by which the wheel was refused, borrowed. NULL: it was not refused so.
const struct audit_report *publish_refusal(const struct publish *p);
// Examines what was written (STRICT, unless publish_with_past says otherwise) and puts it under its name: on the disk,
// then in the catalog. If the platform has a write path, it is put there alone, and a release is requested.
// ERR_INVALID: the file is not what its name or the client declares, or it cannot be installed here. ERR_CONFLICT:
// another file has the name. ERR_DENIED as above. To be called once; then only publish_free. upload_policy may refuse a
// new file (ERR_DENIED); NULL: none.
int publish_end(struct publish *p, struct catalog *c, const struct declared *claims,
	const struct upload_policy *upload_policy, struct publish_receipt *out, struct err *e) MUST_CHECK;
// Removes what was not published. NULL is fine.
void publish_free(struct publish *p);
