// SPDX-License-Identifier: Apache-2.0
// The block lists of all upstreams: which files of an upstream a record of the OSV database hides. Each source that a
// key `block` names is a list (lib/advisories/advisory-list.h) in the state, the last one that could be read whole.
// What is here never changes, and any thread may use it; a source that changed makes another one.
#pragma once

#include "lib/advisories/advisory-list.h"
#include "lib/format/jsondoc.h"
#include "lib/state/config/config.h"

struct advisories;

// Opens the lists that the configuration names. A source without a list in the state is read now; one with a list keeps
// it, also if it is broken or has changed: advisories_renew() reads it. Errors of reading such a source, and ERR_USAGE:
// too many sources. The caller unrefs *out.
int advisories_open(const struct config *c, const char *catalog_path, struct advisories **out,
	struct err *e) MUST_CHECK;
// Looks at all sources, and reads again what has changed. A new one if that changed anything, also what is known of a
// source that cannot be read; else NULL. It may take seconds. One process at a time for a state, or they read the same
// twice.
struct advisories *advisories_renew(const struct advisories *a);
// Opens them, and reads again what has changed: for a command that must not decide by an old list, whether or not a
// server follows it. A source that cannot be read keeps its list, which is logged.
int advisories_open_renewed(const struct config *c, const char *catalog_path, struct advisories **out,
	struct err *e) MUST_CHECK;
// What a start of the server would find, without writing anything: for each source its list in the state, if it has one
// (else *s has no state), and why it cannot be read, if it has changed since. Calls fn for each. ERR_USAGE: too many.
struct advisories_source;
typedef void advisories_source_fn(void *ctx, const struct advisories_source *s);
int advisories_check(const struct config *c, const char *catalog_path, advisories_source_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// What of it takes no time: an error if there are too many sources, or if one without a list in the state is not there.
int advisories_look(const struct config *c, const char *catalog_path, struct err *e) MUST_CHECK;
struct advisories *advisories_ref(struct advisories *a); // NULL is fine
void advisories_unref(struct advisories *a);             // NULL is fine
void advisories_cleanup(struct advisories **a);          // for CLEANUP

// Whether a record hides this version of a project, in its normal form, where the upstream of this name has it:
// malware, a record that breaks the schema, or from `block-severity` on. *out is then the worst such record. a NULL:
// none does. At most about two microseconds.
bool advisories_find(const struct advisories *a, const char *upstream, struct str project, struct str version,
	struct advisory *out);
// Whether any record of a list of this upstream is about the project.
bool advisories_know(const struct advisories *a, const char *upstream, struct str project);
// Whether this upstream has a list.
bool advisories_concern(const struct advisories *a, const char *upstream);
// Whether such records hide every version that the project has or may get.
bool advisories_cover(const struct advisories *a, const char *upstream, struct str project, struct advisory *out);
// Calls fn for each record that hides this version, those of one source behind those of another.
void advisories_each(const struct advisories *a, const char *upstream, struct str project, struct str version,
	advisory_fn *fn, void *ctx);
// The same for each record of any source that is about this version, whether or not it hides a file; version empty:
// about any version. A record of several sources comes several times.
void advisories_about(const struct advisories *a, struct str project, struct str version, advisory_fn *fn, void *ctx);
// The severity in tenths from which on this word of `block-severity` means a record: "low", "medium", "high",
// "critical". NULL, or another word: 0.
unsigned advisory_least_severity(const char *word);
// Appends why: "ID: malware", "ID: vulnerability of severity 9.8".
void advisory_reason(const struct advisory *a, struct buf *out);

// Each source once, whatever upstreams name it.
size_t advisories_sources(const struct advisories *a); // a NULL: 0
const struct advisory_list *advisories_list(const struct advisories *a, size_t source);
struct advisories_source {
	const char *path;  // as it is configured
	const char *error; // why it could not be read again; NULL: it could
	enum err_kind kind; // of it, as advisories_check() found it
	int64_t failed;    // since when, in seconds since 1970
	struct advisory_list_state state; // loaded 0: there is no list
};
void advisories_source(const struct advisories *a, size_t source, struct advisories_source *out);
// [{"list", "records", "loaded"?, "malformed" (records that are left out), "malformed-records": ["FILE: REASON", … some
// of them], "error"?, "failed"? (since when it cannot be read)}, …]. Without folders the last two have less. The caller
// frees it.
struct jsondoc *advisories_json(const struct advisories *a, bool has_folders);
// The path of the first source with this record. Borrowed; NULL: none.
const char *advisories_source_of(const struct advisories *a, struct str id);
