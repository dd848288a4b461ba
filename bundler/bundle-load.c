// SPDX-License-Identifier: Apache-2.0
#include "bundler/bundle-load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundler/bundle-mirrors.h"
#include "lib/audit/wheel-gate.h"
#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/place/tempname.h"
#include "lib/state/catalog/catalog-attachment.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/publish/attach-ops.h"
#include "lib/state/publish/marking.h"
#include "lib/state/publish/publish.h"
#include "lib/state/publish/sidecar-ops.h"
#include "lib/state/store/catalog-update.h"
#include "lib/state/store/freeze.h"
#include "lib/state/store/project-status.h"
#include "lib/state/store/quota.h"
#include "lib/state/store/sidecar.h"
#include "lib/state/store/volume-release.h"

const char *const bundle_outcome_name[BUNDLE_OUTCOME_COUNT] = {
	"stored", "same", "marked", "kept", "removed", "refused", "other-bytes"};

enum { MISSING_NAMED = 3 };

// What a platform would get.
struct bundle_need {
	uint64_t files, bytes;
};

struct loading {
	const struct bundle_loading *asked;
	struct catalog *catalog;
	struct bundle_loaded *out;
	bool stores;  // else it only looks
	int64_t made; // when the bundle was
	struct bundle_views views;
	struct bundle_mirrors mirrors;
	struct bundle_need *need; // of each platform of the store, in its order
	uint64_t missing;         // files that the bundle omits and that are not here
	struct buf missing_names; // of the first
	uint64_t files, bytes;    // for progress
	// The row that is read.
	const struct platform *platform;
	enum bundle_outcome outcome;
	bool is_noted;           // the outcome
	char *here;              // the path below the platform of the file that has the name; NULL: none has
	struct publish *publish; // NULL: nothing is written
	int osv;                 // the folder for records of the OSV database; -1: none
	struct fs_tmp osv_file;
	char osv_tmp[TEMPNAME_NAME], osv_name[LIMIT_FILE_NAME + 1];
	struct file_past past;
	struct buf piece[BUNDLE_PART_COUNT]; // their texts; of another row [0] has its own
};

static void loading_begin(struct loading *l, const struct bundle_loading *asked, struct bundle_loaded *out, bool stores)
{
	*l = (struct loading){.asked = asked,
		.catalog = asked->catalog,
		.out = out,
		.stores = stores,
		.osv = -1,
		.osv_file = {.fd = -1}};
	l->views = (struct bundle_views){.config = &asked->site->config, .renames = &asked->renames};
	bundle_mirrors_init(&l->mirrors, &asked->site->config, asked->catalog, asked->by);
	l->need = xcalloc(asked->site->store.platform_count + 1, sizeof(*l->need));
	buf_init(&l->missing_names, ERR_MSG_SIZE / 2);
	for (size_t i = 0; i < BUNDLE_PART_COUNT; i++)
		buf_init(&l->piece[i], LIMIT_MEMBERSHIP);
}

static void loading_release(struct loading *l)
{
	bundle_views_release(&l->views);
	bundle_mirrors_release(&l->mirrors);
	publish_free(l->publish);
	fs_tmp_release(&l->osv_file);
	mem_close(&l->osv);
	buf_release(&l->missing_names);
	for (size_t i = 0; i < BUNDLE_PART_COUNT; i++)
		buf_release(&l->piece[i]);
	free(l->here);
	free(l->need);
}

void bundle_loaded_release(struct bundle_loaded *l)
{
	arena_release(&l->text);
	*l = (struct bundle_loaded){0};
}

// --- what is reported ---

static void note_outcome(struct loading *l, enum bundle_outcome outcome, const char *name, const char *why)
{
	struct bundle_loaded *out = l->out;
	out->files[outcome]++;
	if (outcome < BUNDLE_KEPT || out->notes == LIMIT_BUNDLE_ROWS)
		return;
	ARENA_GROW(&out->text, out->note, out->notes, out->room);
	out->note[out->notes++] = (struct bundle_note){outcome, arena_strdup(&out->text, l->platform->name),
		arena_strdup(&out->text, name), arena_strdup(&out->text, why)};
}

static void tell_load_progress(struct loading *l, uint64_t files, uint64_t bytes)
{
	const struct bundle_loading *asked = l->asked;
	l->files += files;
	l->bytes += bytes;
	if (asked->progress)
		asked->progress(asked->ctx, l->files, l->bytes);
}

// --- where a row belongs ---

static int find_platform_of_row(struct loading *l, const struct bundle_row *r, struct err *e)
{
	const struct store *store = &l->asked->site->store;
	const char *name = bundle_rename(&l->asked->renames, r->in);
	l->platform = store_platform_named(store, str_from(name));
	if (!l->platform && store_refuse_platform(store, name, ERR_USAGE, e) < 0)
		return err_advise(e, "the bundle has files of %s: --platform %s=NAME puts them elsewhere", r->in,
			r->in);
	if (l->platform->scanned == CATALOG_SCANNED)
		return 0;
	return err_set(e, ERR_USAGE,
		"no scan has read all of platform %s, so it is not known what it has: wheelcache index",
		l->platform->name);
}

static void note_missing(struct loading *l, const struct bundle_row *r)
{
	const char *where = r->kind == BUNDLE_FILE ? l->platform->name : r->in;
	if (l->missing++ < MISSING_NAMED)
		buf_printf(&l->missing_names, "%s%s/%s", l->missing > 1 ? ", " : "", where, r->name);
}

// What would become of the file.
static int look_at_file(struct loading *l, const struct bundle_row *r, struct err *e)
{
	struct err missing = ERR_INIT;
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	CLEANUP(buf_release) struct buf reason = buf_up_to(LIMIT_SIDECAR);
	if (catalog_find_file(l->catalog, l->platform->id, r->name, &place, &missing) == 0) {
		l->here = STEAL_PTR(place.path);
		l->outcome = !digest_equal(place.sha256, r->sha256) ? BUNDLE_OTHER_BYTES
			     : place.is_unlisted                    ? BUNDLE_REMOVED
								    : BUNDLE_SAME;
		return 0;
	}
	if (missing.kind != ERR_NOT_FOUND) {
		*e = missing;
		return -1;
	}
	int removed = catalog_tombstone(l->catalog, l->platform->id, r->name, &reason, e);
	if (removed < 0)
		return -1;
	l->outcome = removed ? BUNDLE_REMOVED : BUNDLE_STORED;
	if (!removed && r->is_omitted)
		note_missing(l, r);
	return 0;
}

// --- a new file ---

static bool is_fault_of_file(enum err_kind kind)
{
	return kind == ERR_INVALID || kind == ERR_LIMIT || kind == ERR_DENIED || kind == ERR_CONFLICT;
}

// What concerns this file alone does not end the load.
static int refuse_file(struct loading *l, const struct bundle_row *r, const struct err *why, struct err *e)
{
	if (!is_fault_of_file(why->kind)) {
		*e = *why;
		return err_prefix(e, "platform %s: ", l->platform->name);
	}
	publish_free(STEAL_PTR(l->publish));
	l->outcome = why->kind == ERR_CONFLICT ? BUNDLE_OTHER_BYTES : BUNDLE_REFUSED;
	l->is_noted = true;
	note_outcome(l, l->outcome, r->name, why->msg);
	return 0;
}

static int begin_new_file(struct loading *l, const struct bundle_row *r, struct err *e)
{
	struct err why = ERR_INIT;
	l->publish = publish_begin(l->platform, l->catalog, r->name, r->project, &why);
	if (!l->publish)
		return refuse_file(l, r, &why, e);
	l->past = (struct file_past){.modified = r->modified, .came = r->came};
	if (l->asked->takes_facts)
		publish_take_facts(l->publish);
	if (l->asked->is_strict)
		publish_audit(l->publish, l->asked->gate);
	return 0;
}

static int log_upload(struct loading *l, const struct bundle_row *r, struct err *e)
{
	char hex[SHA256_HEX + 1] = "", when[CLOCK_TEXT];
	hex_encode(r->sha256, SHA256_SIZE, hex);
	clock_write(r->came, when);
	CLEANUP(mem_free)
	char *words = xasprintf("from a bundle, by %s; it came to its first index at %s", l->asked->by, when);
	const struct audit_entry entry = {.who = r->by ? r->by : l->asked->by,
		.action = "upload",
		.platform = l->platform->name,
		.project = r->project,
		.file = r->name,
		.sha256 = hex,
		.result = "done",
		.reason = words};
	return audit_write(l->asked->audit, &entry, e);
}

static const struct bundle_piece *find_piece(const struct bundle_row *r, enum bundle_part part)
{
	for (size_t i = 0; i < r->pieces; i++)
		if (r->piece[i].part == part)
			return &r->piece[i];
	return NULL;
}

static enum attachment attachment_of_part(enum bundle_part part)
{
	return part == BUNDLE_STATEMENT ? ATTACHMENT_STATEMENT : ATTACHMENT_PROVENANCE;
}

static int end_new_file(struct loading *l, const struct bundle_row *r, struct err *e)
{
	struct err why = ERR_INIT;
	struct publish_receipt receipt;
	char hex[SHA256_HEX + 1] = "";
	hex_encode(r->sha256, SHA256_SIZE, hex);
	l->past.yanked = find_piece(r, BUNDLE_YANK) ? l->piece[BUNDLE_YANK].data : NULL;
	publish_with_past(l->publish, &l->past, l->asked->is_strict ? STRICT : LENIENT);
	const struct declared claims = {.digest[DIGEST_SHA256] = hex};
	for (enum bundle_part part = BUNDLE_STATEMENT; part < BUNDLE_PART_COUNT; part++)
		if (find_piece(r, part))
			publish_attach(l->publish, attachment_of_part(part), buf_view(&l->piece[part]));
	const struct upload_policy *policy = l->asked->is_strict ? l->asked->policy : NULL;
	if (publish_end(l->publish, l->catalog, &claims, policy, &receipt, &why) < 0)
		return refuse_file(l, r, &why, e);
	if (receipt.result == PUBLISH_EQUAL) {
		err_set(&why, ERR_CONFLICT, "a build of the same contents is here");
		return refuse_file(l, r, &why, e);
	}
	l->out->bytes += r->size;
	publish_free(STEAL_PTR(l->publish));
	note_outcome(l, BUNDLE_STORED, r->name, NULL);
	return log_upload(l, r, e);
}

// --- the marks of a file that is here ---

struct mark_here {
	bool exists;
	int64_t changed; // nanoseconds since 1970
	struct buf text;
};

static void mark_here_release(struct mark_here *m)
{
	buf_release(&m->text);
}

static int read_mark_here(struct loading *l, const struct bundle_row *r, struct mark_here *out, struct err *e)
{
	struct place_info info;
	char *slash = strrchr(l->here, '/');
	CLEANUP(mem_free) char *below = xstrndup(l->here, slash ? (size_t)(slash - l->here) : 0);
	CLEANUP(mem_free) char *name = xasprintf("%s%s", r->name, sidecar_ending[MARK_YANKED]);
	CLEANUP(place_folder_close) struct place_folder *folder = place_open_folder(l->platform->written, below, e);
	int found = folder ? sidecar_read(folder, r->name, MARK_YANKED, &out->text, e) : -1;
	out->exists = found > 0;
	if (found > 0)
		found = place_stat(folder, name, &info, e);
	out->changed = found > 0 ? info.version.time_ns : 0;
	return found < 0 ? err_prefix(e, "%s/%s: ", l->platform->name, r->name) : 0;
}

struct yank_change {
	const char *filename;
	const char *text; // NULL: it is no longer yanked
};

static int change_yank(void *ctx, const struct platform *p, struct catalog *c, struct err *e)
{
	const struct yank_change *y = ctx;
	return y->text ? sidecar_ops_yank(p, c, y->filename, y->text, e) : sidecar_ops_unyank(p, c, y->filename, e);
}

// 1: its yank is now that of the bundle; 0: it was; 2: what is here was changed after the bundle was made.
static int follow_yank(struct loading *l, const struct bundle_row *r, struct err *e)
{
	const struct bundle_piece *piece = find_piece(r, BUNDLE_YANK);
	struct yank_change change = {r->name, piece ? l->piece[BUNDLE_YANK].data : NULL};
	CLEANUP(mark_here_release) struct mark_here here = {.text = buf_up_to(2 * LIMIT_SIDECAR)};
	if (read_mark_here(l, r, &here, e) < 0)
		return -1;
	if (here.exists ? piece && str_eq(buf_view(&here.text), buf_view(&l->piece[BUNDLE_YANK])) : !piece)
		return 0;
	if (here.exists && here.changed / 1000000000 > l->made)
		return 2;
	const struct marking marking = {.action = change.text ? "yank" : "unyank",
		.reason = change.text ? change.text : "from a bundle",
		.who = l->asked->by,
		.mark = change_yank,
		.ctx = &change};
	return marking_file(&marking, r->name, l->platform, l->catalog, l->asked->audit, e) < 0 ? -1 : 1;
}

// 1: it has an attachment more; 0: it has all, or others.
static int follow_attachment(struct loading *l, const struct bundle_row *r, enum bundle_part part, struct err *e)
{
	struct err why = ERR_INIT;
	struct catalog_attached there;
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_STATEMENT);
	const enum attachment kind = attachment_of_part(part);
	int found = find_piece(r, part) ? catalog_attached(l->catalog, l->platform->id, r->name, kind, &there, &text, e)
					: 1;
	if (found)
		return found < 0 ? -1 : 0;
	const struct attach_request request = {.filename = r->name,
		.kind = kind,
		.text = buf_view(&l->piece[part]),
		.waits = false,
		.replaces = false};
	if (attach_ops_put(l->platform, l->catalog, &request, &why) == 0)
		return 1;
	if (is_fault_of_file(why.kind))
		return 0;
	*e = why;
	return -1;
}

static int follow_marks(struct loading *l, const struct bundle_row *r, struct err *e)
{
	int yank = follow_yank(l, r, e), added = 0;
	for (enum bundle_part part = BUNDLE_STATEMENT; part < BUNDLE_PART_COUNT && yank >= 0; part++) {
		int one = follow_attachment(l, r, part, e);
		if (one < 0)
			return -1;
		added |= one;
	}
	if (yank < 0)
		return -1;
	if (yank == 2)
		note_outcome(l, BUNDLE_KEPT, r->name, "its yank was changed here after the bundle was made");
	else
		note_outcome(l, yank || added ? BUNDLE_MARKED : BUNDLE_SAME, r->name, NULL);
	return 0;
}

// --- files ---

static int begin_file_row(struct loading *l, const struct bundle_row *r, struct err *e)
{
	mem_free(&l->here);
	l->is_noted = false;
	CLEANUP(mem_free) char *project = publish_project_of(r->name, r->project, e);
	if (!project || find_platform_of_row(l, r, e) < 0 || look_at_file(l, r, e) < 0)
		return -1;
	if (strcmp(project, r->project) != 0)
		return err_set(e, ERR_INVALID, "%s: it is of the project %s, not %s", r->name, project, r->project);
	return l->stores && l->outcome == BUNDLE_STORED && !r->is_omitted ? begin_new_file(l, r, e) : 0;
}

static void count_need(struct loading *l, const struct bundle_row *r)
{
	struct bundle_need *need = &l->need[l->platform - l->asked->site->store.platform];
	need->files++;
	need->bytes += r->size;
	l->out->bytes += r->size;
}

static int end_file_row(struct loading *l, const struct bundle_row *r, struct err *e)
{
	static const char *const why[BUNDLE_OUTCOME_COUNT] = {
		[BUNDLE_REMOVED] = "it was removed here",
		[BUNDLE_OTHER_BYTES] = "other bytes have its name here",
	};
	tell_load_progress(l, 1, 0);
	if (l->publish)
		return end_new_file(l, r, e);
	if (l->stores && l->outcome == BUNDLE_SAME)
		return follow_marks(l, r, e);
	if (!l->stores && l->outcome == BUNDLE_STORED && !r->is_omitted)
		count_need(l, r);
	if (!l->is_noted)
		note_outcome(l, l->outcome, r->name, why[l->outcome]);
	return 0;
}

// --- files of upstreams ---

static int begin_upstream_row(struct loading *l, const struct bundle_row *r, struct err *e)
{
	int here = bundle_mirrors_look(&l->mirrors, r, e);
	if (here < 0)
		return -1;
	l->outcome = here ? BUNDLE_SAME : BUNDLE_STORED;
	if (!here && r->is_omitted)
		note_missing(l, r);
	return here || r->is_omitted || !l->stores ? 0 : bundle_mirrors_begin(&l->mirrors, r, e);
}

static int end_upstream_row(struct loading *l, const struct bundle_row *r, struct err *e)
{
	tell_load_progress(l, 1, 0);
	if (l->mirrors.writer && bundle_mirrors_end(&l->mirrors, r, e) < 0)
		return -1;
	note_outcome(l, l->outcome, r->name, NULL);
	l->out->bytes += l->outcome == BUNDLE_STORED && !r->is_omitted ? r->size : 0;
	return 0;
}

// --- records of the OSV database ---

// They replace those of the same name.
static int begin_osv(struct loading *l, const struct bundle_row *r, struct err *e)
{
	if (!l->asked->osv)
		return 0;
	if (l->osv < 0)
		l->osv = fs_open_dir(l->asked->osv, e);
	if (l->osv < 0 || !l->stores)
		return l->osv < 0 ? -1 : 0;
	tempname_name(l->osv_tmp);
	snprintf(l->osv_name, sizeof(l->osv_name), "%s", r->name);
	return fs_tmp_open(&l->osv_file, l->osv, l->osv_tmp, l->osv_name, e);
}

static int end_osv(struct loading *l, const struct bundle_row *r, struct err *e)
{
	tell_load_progress(l, 1, 0);
	if (l->osv_file.fd < 0)
		return 0;
	int published = fs_tmp_publish(&l->osv_file, e) < 0 ? -1 : fs_sync_dir(l->osv, e);
	fs_tmp_release(&l->osv_file);
	l->osv_file = (struct fs_tmp){.fd = -1};
	return published < 0 ? err_prefix(e, "%s/%s: ", l->asked->osv, r->name) : 0;
}

// --- the statuses of projects ---

struct status_here {
	int64_t platform;
	bool exists;
	int64_t newest; // when the newest of them was set; 0: unknown
	bool is_same;   // one has the text
	struct str text;
};

static int note_status_here(void *ctx, int64_t platform, const char *folder UNUSED, struct str text,
	struct err *e UNUSED)
{
	struct status_here *s = ctx;
	struct err unread = ERR_INIT;
	CLEANUP(project_status_release) struct project_status status = {0};
	if (platform != s->platform)
		return 0;
	s->exists = true;
	s->is_same |= str_eq(text, s->text);
	if (project_status_read(text, &status, &unread) == 0 && status.when > s->newest)
		s->newest = status.when;
	return 0;
}

static int log_status_of_bundle(struct loading *l, const struct bundle_row *r, struct err *e)
{
	const struct audit_entry entry = {.who = l->asked->by,
		.action = "status",
		.platform = l->platform->name,
		.project = r->project,
		.result = "done",
		.reason = "from a bundle"};
	return audit_write(l->asked->audit, &entry, e);
}

// The newer one counts.
static int end_status(struct loading *l, const struct bundle_row *r, struct err *e)
{
	const struct buf *text = &l->piece[0];
	CLEANUP(project_status_release) struct project_status status = {0};
	if (find_platform_of_row(l, r, e) < 0 || project_status_read(buf_view(text), &status, e) < 0)
		return err_prefix(e, "the status of %s: ", r->project);
	struct status_here here = {.platform = l->platform->id, .text = buf_view(text)};
	if (!l->stores)
		return 0;
	if (catalog_statuses(l->catalog, r->project, note_status_here, &here, e) < 0)
		return -1;
	if (here.is_same)
		return 0;
	if (here.exists && here.newest >= status.when) {
		note_outcome(l, BUNDLE_KEPT, r->project, "its status here is newer");
		return 0;
	}
	if (sidecar_ops_status(l->platform, l->catalog, r->project, text->data, e) < 0)
		return err_prefix(e, "the status of %s: ", r->project);
	note_outcome(l, BUNDLE_MARKED, r->project, NULL);
	return log_status_of_bundle(l, r, e);
}

// --- a reading ---

static int on_bundle_head(void *ctx, const struct bundle_head *h, struct err *e UNUSED)
{
	((struct loading *)ctx)->made = h->made;
	return 0;
}

static int on_bundle_row(void *ctx, const struct bundle_row *r, struct err *e)
{
	struct loading *l = ctx;
	for (size_t i = 0; i < BUNDLE_PART_COUNT; i++)
		buf_clear(&l->piece[i]);
	switch (r->kind) {
	case BUNDLE_FILE:
		return begin_file_row(l, r, e);
	case BUNDLE_UPSTREAM:
		return begin_upstream_row(l, r, e);
	case BUNDLE_OSV:
		return begin_osv(l, r, e);
	case BUNDLE_STATUS:
	case BUNDLE_EVIDENCE:
	case BUNDLE_GENERATION:
	case BUNDLE_MIRROR:
	case BUNDLE_PAGE:
	case BUNDLE_KIND_COUNT:
		break;
	}
	return 0;
}

static int on_row_bytes(void *ctx, const struct bundle_row *r, const struct bundle_piece *piece, struct str bytes,
	struct err *e)
{
	struct err why = ERR_INIT;
	struct loading *l = ctx;
	if (r->kind == BUNDLE_OSV)
		return l->osv_file.fd < 0 ? 0 : fs_tmp_write(&l->osv_file, bytes, e);
	if (piece || !bundle_row_is_file(r)) {
		buf_str(&l->piece[piece ? piece->part : 0], bytes);
		return 0;
	}
	tell_load_progress(l, 0, bytes.len);
	if (r->kind == BUNDLE_UPSTREAM)
		return l->mirrors.writer ? bundle_mirrors_add(&l->mirrors, bytes, e) : 0;
	if (!l->publish || publish_write(l->publish, bytes, &why) == 0)
		return 0;
	return refuse_file(l, r, &why, e);
}

static int on_row_end(void *ctx, const struct bundle_row *r, struct err *e)
{
	struct loading *l = ctx;
	switch (r->kind) {
	case BUNDLE_FILE:
		return end_file_row(l, r, e);
	case BUNDLE_STATUS:
		return end_status(l, r, e);
	case BUNDLE_EVIDENCE:
		return bundle_views_evidence(&l->views, r, buf_view(&l->piece[0]), l->stores, e);
	case BUNDLE_GENERATION:
		return bundle_views_generation(&l->views, r, buf_view(&l->piece[0]), l->stores, e);
	case BUNDLE_UPSTREAM:
		return end_upstream_row(l, r, e);
	case BUNDLE_OSV:
		return end_osv(l, r, e);
	case BUNDLE_MIRROR:
	case BUNDLE_PAGE:
		return bundle_mirrors_take(&l->mirrors, r, buf_view(&l->piece[0]), l->stores, e);
	case BUNDLE_KIND_COUNT:
		break;
	}
	return 0;
}

static int read_bundle(struct bundle_in *in, struct loading *l, struct err *e)
{
	const struct bundle_visit visit = {
		.head = on_bundle_head, .row = on_bundle_row, .bytes = on_row_bytes, .done = on_row_end, .ctx = l};
	return bundle_in_read(in, &visit, e);
}

// --- room ---

// Of all files together, so that no load ends half-way.
static int check_need(const struct loading *l, const struct platform *p, const struct bundle_need *need, struct err *e)
{
	struct catalog_usage held = {0};
	struct volume_release_backlog waiting = {0};
	struct quota_use use;
	if (!need->files)
		return 0;
	if (freeze_check(p, e) < 0 || catalog_usage(l->catalog, p->id, &held, e) < 0 ||
		volume_release_backlog(catalog_path(l->catalog), p, &waiting, e) < 0 ||
		place_room(p->written, &use.free, e) < 0)
		return -1;
	use.files = held.files + waiting.files + need->files - 1;
	use.bytes = held.bytes + waiting.bytes;
	return quota_check(p, UINT64_MAX, &use, need->bytes, e);
}

static int check_all_needs(const struct loading *l, struct err *e)
{
	const struct store *store = &l->asked->site->store;
	for (size_t i = 0; i < store->platform_count; i++)
		if (check_need(l, &store->platform[i], &l->need[i], e) < 0)
			return err_prefix(e, "platform %s: ", store->platform[i].name);
	return 0;
}

// --- both readings ---

int bundle_load_check(struct bundle_in *in, const struct bundle_loading *asked, struct bundle_loaded *out,
	struct err *e)
{
	CLEANUP(loading_release) struct loading l;
	loading_begin(&l, asked, out, false);
	if (read_bundle(in, &l, e) < 0)
		return -1;
	if (l.missing)
		return err_set(e, ERR_CONFLICT, "%s not here: %s%s; load that one first",
			COUNTED(l.missing, "file that an earlier bundle has is|files that an earlier bundle has are"),
			l.missing_names.data, l.missing > MISSING_NAMED ? ", …" : "");
	return check_all_needs(&l, e) < 0 ? -1 : bundle_mirrors_check(&l.mirrors, e);
}

int bundle_load_run(struct bundle_in *in, const struct bundle_loading *asked, struct bundle_loaded *out, struct err *e)
{
	CLEANUP(loading_release) struct loading l;
	loading_begin(&l, asked, out, true);
	return read_bundle(in, &l, e) < 0 ? -1 : bundle_views_end(&l.views, l.catalog, e);
}
