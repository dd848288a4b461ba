// SPDX-License-Identifier: Apache-2.0
// What the page of a project shows: its matrix of platforms and Pythons, versions, files, what METADATA says, and files
// that are on no page. It is copied out of the catalog, and knows only the platforms that the query names. Nothing is
// read from a platform's folder, so a volume that hangs delays nothing. One thread fills a value; any thread may read
// it.
#pragma once

#include "builder/missing/project-matrix.h"
#include "lib/audit/wheel-gate.h"
#include "lib/base/arena.h"
#include "lib/base/limits.h"
#include "lib/base/str.h"
#include "lib/format/digest.h"
#include "lib/format/jsondoc.h"
#include "lib/state/store/project-status.h"
#include "lib/view/client-config.h"
#include "lib/view/view.h"
#include "server/pages/html-layout.h"

// What METADATA or PKG-INFO of a file tells people about its project (core metadata; PEP 566, 621, 639). Numbers and
// lengths are bounded: what is beyond is left out. One thread reads it; any thread may read a value.
struct project_link {
	const char *label, *url; // url: http or https
};

// NULL: it does not say. Strings may hold any bytes but NUL.
struct project_metadata {
	const char *summary, *author, *requires_python;
	const char *license; // an SPDX expression, or else words
	const char **dependency;
	size_t dependencies, dependency_room;
	struct project_link *link;
	size_t links, link_room;
	bool has_more;                // dependencies or links
	const char *description_type; // Description-Content-Type
	struct str description;       // a copy, without the folding of a field; empty: none
	struct arena text;
};

// Reads the text of a file. Never fails: what it cannot read is left out. The caller releases *out.
void project_metadata_read(struct str metadata, struct project_metadata *out);
void project_metadata_release(struct project_metadata *m); // all zero is fine; for CLEANUP

struct project_file {
	const char *platform, *filename;
	uint64_t size;
	int64_t came; // seconds since 1970
	char sha256[SHA256_HEX + 1];
	bool has_metadata;
	uint8_t metadata_sha256[SHA256_SIZE];
	const char *requires_python; // NULL: none
	const char *yanked;          // the reason, "" for none; NULL: it is not yanked
	bool has_attestations;
	const char *builder;   // that its statement of provenance names; NULL: none
	const char *uploader;  // the token that uploaded these bytes; NULL: not known
	const char *before;    // the file of the version before with the same tags on this platform; NULL: none
	struct jsondoc *audit; // of explain-parts.h; NULL: not judged
};

// A file that is on no page.
struct project_unlisted {
	const char *platform, *filename;
	const char *state;  // "quarantined", "copy", "unlisted", "removed"
	const char *reason; // NULL: none
};

struct project_files {
	struct arena text;
	struct project_file *file; // by platform, then file name
	size_t files, file_room;
	struct project_unlisted *unlisted; // by file name
	size_t unlisted_count, unlisted_room;
	uint64_t all_files, all_unlisted; // also beyond the limit
	bool has_all_uploads;             // the audit log was read from its beginning
};

struct project_query {
	const struct site *site;
	const struct view *view;                // NULL: all platforms that the client may read
	const struct platform *const *platform; // these, or those of the view
	size_t platforms;
	const char *project;                     // normal form
	const char *version;                     // "": the newest
	const char *only_platform, *only_python; // of the cells that are shown; "": all
	uint64_t limit;                          // of the rows of each list
	int64_t now;                             // seconds since 1970
	struct results *results;                 // NULL: nothing was built
	struct wheel_gate *gate;                 // NULL: wheels are not audited
	const struct server_upstream *upstream; // whose file caches may have METADATA of upstream's files
	size_t upstream_count;
	bool hides_upstreams;          // the client gets no file of upstream, and is told of no project that only it has
	const char *audit_path;                  // NULL: uploaders are not known
	const char *base; // the server's URL as the client knows it, which is not trusted
	const struct platform *const *named;     // whose uploaders the client may know
	size_t nameds;
};

struct project_data {
	struct project_matrix matrix;
	struct project_files files;
	struct project_metadata metadata;
	const char *metadata_of; // the file that has it; NULL: none
	struct jsondoc *lost;    // of explainer/explain-membership.h, of views that the client may read
	struct project_status status; // of the project on the platforms of the query
	char *tried;             // the version of the last attempt to build the project; NULL: there was none
};

// 1: nothing is known of the project, or of this version. Errors of the catalog and of the build results; ERR_TIME: it
// takes too long. The caller releases *out if this returns 0.
int project_data_read(struct catalog *c, const struct project_query *query, struct project_data *out,
	struct err *e) MUST_CHECK;
void project_data_release(struct project_data *d); // all zero is fine; for CLEANUP
// Whether the query asks for this cell.
bool project_query_has(const struct project_query *q, const struct matrix_cell *cell);

// The views by which a wheel of one platform is for clients of another: the query's; without one those that show all
// files of several platforms, all of which it has. Where there is no default view there are none, because each job
// takes the index of its platform. Only site, view and platforms of the query are read. The caller frees the array.
struct matrix_view *matrix_views_of(const struct project_query *q, size_t *count);
// Adds a note on cells with a wheel of another platform, if there are any: which index has it, and which has not.
// index: of one of them.
void matrix_others_note(size_t cells, const char *index, struct buf *out);

// The project of the platforms whose name is most like this one, into name; "": none is like it.
int project_data_suggest(struct catalog *c, const struct project_query *query, char name[LIMIT_FILE_NAME + 1],
	struct err *e) MUST_CHECK;

// The command that installs what the page shows, for a client that may read what the query may: adds it as text, and
// sets the index that it names. False: no index of this server has a file of the version.
bool project_install_find(const struct project_data *d, const struct project_query *q, struct client_index *index,
	struct buf *command);

// Adds the page for people at /-/project/NAME to out. All text from outside is escaped.
void project_page_write(const struct html_frame *frame, const struct project_data *data,
	const struct project_query *query, struct buf *out);
