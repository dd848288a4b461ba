// SPDX-License-Identifier: Apache-2.0
// Which files were downloaded here, or are listed, although the block lists and the lists of `deny` name them. A file
// of the store is never hidden for records, nor for what it bundles, and one of an upstream may have been sent before
// the record came: this says so. Every record of every list counts, whatever upstream has the list, and whether or not
// it hides a file. `wheelcache exposed` and the page /-/security/ show it, as one document. One thread.
#pragma once

#include "lib/advisories/advisories.h"
#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/format/jsondoc.h"
#include "lib/state/access/downloads.h"
#include "lib/view/view.h"

struct rule_list;
struct upstreams;

struct exposed_by {
	const char *token, *address; // one of them; both NULL: several others
	struct download download;
};

// What a wheel of the store has in an SBOM, and records name: its purl is one of PyPI or of a crate (pkg:cargo/…).
struct exposed_component {
	const char *name, *purl;
	const char *version; // NULL: unknown: then each record of the package counts
	const struct advisory *record; // the worst first
	size_t records;
};

struct exposed_file {
	const char *platform; // NULL: of an upstream
	const char *upstream; // NULL: of the store
	const char *project;  // normal form
	const char *version;  // normal form; NULL: unknown: then each record of the project counts
	const char *filename;
	const struct advisory *record; // that name it, the worst first
	size_t records;
	const char *denied; // what a line of `deny` says; NULL: there is none
	const struct exposed_component **component; // bundled
	size_t components, component_room;
	bool is_hidden;     // clients do not get it any more; of the store: by [server] deny, or its project is in quarantine
	bool is_yanked;     // of the store
	struct download download; // count 0: none is known
	struct exposed_by *by;    // by whom, if that was recorded
	size_t bys, by_room;
	const char **view;        // of the store: the paths of the views that list it: "/", "/tested/"
	size_t views, view_room;
};

struct exposure {
	struct exposed_file *file; // the worst first, then by project, version and name
	size_t files, room;
	uint64_t downloaded; // files that were counted, exposed or not
	uint64_t unread;     // wheels of the store of which the catalog does not know what they bundle
	int64_t since;       // the start of the day on which counting began, in seconds since 1970; 0: nothing was counted
	bool is_cut;         // the time was over: the worst may be missing
	struct arena text;
};

// What the reader may know of. Nothing else is counted.
struct exposure_reader {
	// Whether he may read the project of a platform (its name, as the file was counted), or of an upstream
	// (platform NULL). project NULL: all of it.
	bool (*reads)(void *ctx, const char *platform, const char *upstream, const char *project);
	bool (*reads_view)(void *ctx, const struct view *v, const char *project);
	void *ctx;
	uint32_t upstreams; // whose lines of `deny` he sees, bits by number
};

struct exposure_query {
	const struct site *site;
	struct catalog *catalog;
	struct upstreams *upstreams; // that use the lists
	const struct advisories *lists; // the result borrows from them
	const struct rule_list *denied; // [server] deny
	const struct downloads *downloads; // NULL: nothing was counted
	const struct downloads *downloaders; // NULL: nobody was recorded
	unsigned least; // severity in tenths, from which a record counts that is none of malware; 0: each one does
	const struct exposure_reader *reader; // NULL: he may know all
	int64_t cpu_end; // by clock_thread_ms(), when no more is looked for; 0: never
};
// The caller releases *out in any case. Errors of catalog.h and of upstream_rules_open().
int exposure_read(const struct exposure_query *q, struct exposure *out, struct err *e) MUST_CHECK;
void exposure_release(struct exposure *x); // for CLEANUP
// Whether any list says which files are bad.
bool exposure_has_lists(const struct config *c, const struct advisories *lists);
// Appends why a file is bad: "MAL-2026-1: malware, and 2 more; denied by deny.list:3: no; bundles pkg:cargo/x@1:
// RUSTSEC-…".
void exposed_file_why(const struct exposed_file *f, struct buf *out);
// {"counted_since", "downloaded", "without_facts", "complete"? (false: the time was over), "files": [at most so many]}.
// The caller frees it.
struct jsondoc *exposure_json(const struct exposure *x, size_t most);
