// SPDX-License-Identifier: Apache-2.0
// Views: what a client sees under one index URL. A view is an ordered list of platforms. If two of them have a file of
// the same name, the view shows that of the first; a view with a membership shows none of them if their bytes differ,
// because each was tested on its own platform, and the part of the view for each platform has it. A view with a
// membership ([view NAME] from) shows only its members: files that were promoted, while the platform lists them with
// the same bytes. The functions that read the catalog: one thread at a time per connection.
#pragma once

#include <stdatomic.h>

#include "lib/base/err.h"
#include "lib/base/strset.h"
#include "lib/state/catalog/catalog-view.h"
#include "lib/state/config/config.h"
#include "lib/state/store/store.h"
#include "lib/state/upstream/owned-names.h"

// Selects the wheels of upstream that run on a view's machines: those with a platform tag of one of its platforms, or
// "any". Python and ABI tags are ignored, because a machine may have further Pythons. A filter of zeros admits every
// wheel.
struct wheel_filter {
	bool is_enabled;
	const struct platform *unknown; // the first platform without a profile, borrowed; NULL: none
	struct strset tag; // in lower case; empty if a platform is unknown or there is none: all wheels are admitted
};

// Makes the filter of these platforms. The caller releases it.
void wheel_filter_init(struct wheel_filter *f, const struct platform *const *platform, size_t count);
void wheel_filter_release(struct wheel_filter *f);
// Decides by the file name alone. Always true for files that are not wheels.
bool wheel_filter_admits(const struct wheel_filter *f, const char *filename);

struct rule_list;
struct view {
	char *name;                       // NULL: the default view, /simple/; of a part "VIEW/PLATFORM"
	const struct view *whole;         // of a part: the view of the site of which it shows one platform; else NULL
	const struct platform **platform; // borrowed from the store
	size_t platform_count;
	const char *membership;    // the view whose membership it has, borrowed from the site; NULL: it shows all files
	const struct view *source; // where the chain of `from` begins, borrowed from the site; NULL: no membership
	int64_t generation; // of the membership: GENERATION_NEWEST, or the one that a caller of view_files() sets
	bool is_private;    // one of its platforms is private
	bool is_incomplete; // a platform is unreadable or none was scanned, so the content of the view is unknown; see
			    // site_is_incomplete()
	struct config_order upstreams; // whose files it merges in; count 0: it merges none
	bool has_upstream;  // its clients get upstream's files: it merges, or [prune] clients-have-upstream names it
	bool *left_out;     // view_files() sets the one of each platform of which it left out a file for its name; NULL
	const struct rule_list *denied; // [server] deny, which hides files from pages; borrowed from who makes the page; NULL: none
	bool omits_ours;    // of a name that is upstream's alone: no file of the platforms
	bool shows_each;    // each platform's files as the platform's own address has them, not merged by name
	struct wheel_filter wheels; // which of upstream's wheels the view shows
	const char *base;           // of links to files: an absolute URL that ends in "/", borrowed; NULL: links
		// are relative to the page
};

enum { GENERATION_UNKNOWN = -2 }; // of a membership: all that the catalog has of it is that a file is damaged

// All views of a configuration over a store. It owns them and the store. After site_init() it is constant except for
// the generations, so any thread may read it.
struct site {
	struct store store;   // registered in the catalog
	struct config config; // a copy
	char *base;           // of all views
	struct view *view;    // [0] is the default; then one per platform, then those of the configuration
	size_t view_count;
	struct view *part; // of each view of the configuration: one for each of its platforms, in their order
	size_t part_count;
	_Atomic int64_t *newest;        // by view: what site_generation() returns
	bool borrows_store;             // the store is the caller's
	bool has_no_default;            // [store] default-view = none, and there are several platforms: no /simple/
	bool has_private;               // a platform is private
	struct strset hidden[LIMIT_UPSTREAMS]; // platforms whose projects this upstream is not asked for, sorted names
	uint64_t page_max_age;          // seconds
	uint64_t max_file;              // bytes; a larger file is rejected
	struct name_rules rules;        // for views that merge
	bool merges;                    // a view merges
	bool merges_publicly;           // views that are not private merge each upstream that any view merges
	bool is_offline;                // upstream is not asked
	bool redirects_same,
		redirects_others; // requests for a pruned file: to upstream's same file; to its replacement
};

// Takes ownership of the store, even on an error, and reads the ids of the platforms in the catalog. ERR_USAGE if the
// configuration names unknown platforms or views, and the errors of the catalog; then nothing is to be released.
int site_init(struct site *s, const struct config *c, struct store *store, struct catalog *catalog,
	struct err *e) MUST_CHECK;
// The same over a store that stays the caller's, and outlives the site.
int site_borrow(struct site *s, const struct config *c, const struct store *store, struct catalog *catalog,
	struct err *e) MUST_CHECK;
void site_release(struct site *s);
// Reads the newest generation of each membership from the catalog, for site_generation(). site_init() does it too. 1:
// one is older than before, so that a generation may become another one than it was; 0: none is.
int site_read_generations(struct site *s, struct catalog *catalog, struct err *e) MUST_CHECK;
// The generation of the view's membership that was the newest when it was last read; GENERATION_UNKNOWN. The one that v
// has where that is not GENERATION_NEWEST, and GENERATION_NEWEST of a view without a membership. v is one of s->view,
// or a copy with another generation. Any thread.
int64_t site_generation(const struct site *s, const struct view *v);
// Whether the content of the view is unknown, by its platforms or by its membership. Any thread.
bool site_is_incomplete(const struct site *s, const struct view *v);
// Whether the view shows files of the platform.
bool view_has(const struct view *v, const struct platform *p);
// Whether clients of a platform get upstream's files: in the view; v NULL: at the address that leads to it, the default
// view if that has the platform, else its own.
bool site_has_upstream(const struct site *s, const struct view *v, const struct platform *p);
// Turns merging off in all views. Call it before other threads read the site.
void site_unmerge(struct site *s);
// The view or platform of this name, borrowed; NULL: none. An empty name is the default view.
const struct view *site_view(const struct site *s, struct str name);
// What a view shows of one of its platforms, at /VIEW/PLATFORM/simple/; NULL: it has no such platform, or it is a
// platform.
const struct view *site_part(const struct site *s, const struct view *v, struct str platform);
const struct platform *site_platform(const struct site *s, struct str name);
// Sets the error "there is no view or platform NAME", with the one that was meant or those that there are. Returns -1.
int site_refuse_view(const struct site *s, const char *name, enum err_kind kind, struct err *e);

typedef int view_file_fn(void *ctx, const struct platform *platform, const struct catalog_file *file, struct err *e);
// Calls fn for the files of a project (normal form) that the view shows: each name once (with shows_each once for each
// platform, in their order), ordered by version key, then file name. The arguments are borrowed for the call; an error
// that fn returns ends the walk. No file is no error.
int view_files(const struct view *v, struct catalog *c, const char *project, view_file_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
typedef int view_name_fn(void *ctx, const char *project, struct err *e);
// Calls fn for the name of each project of the view, once, sorted by bytes.
int view_projects(const struct view *v, struct catalog *c, view_name_fn *fn, void *ctx, struct err *e) MUST_CHECK;

// A view as it was at a time: "tested@2026-11-20", at the end of that day (UTC), or "tested@2026-11-20T06:00:00Z". Its
// membership is the generation that was the newest then, and its files are those that are there now.

// The view of a name that may have "@TIME" behind it, borrowed from the site; NULL: none. *when: the TIME, a slice of
// name; its ptr is NULL where there is none.
const struct view *view_time_split(const struct site *s, struct str name, struct str *when);
// Reads the TIME into *at: seconds since 1970, at least 1. Returns NULL, or what is wrong: a literal.
const char *view_time_read(const struct view *v, struct str when, int64_t *at);
// Makes *past the view v of the site at that time. It borrows all from v. The catalog's errors.
int view_time_find(const struct site *s, const struct view *v, struct catalog *c, int64_t at, struct view *past,
	struct err *e) MUST_CHECK;
