// SPDX-License-Identifier: Apache-2.0
#include "indexer/check/check.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "indexer/check/misplaced.h"
#include "indexer/check/reservoir.h"
#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/base/strset.h"
#include "lib/format/compress.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-attachment.h"
#include "lib/state/catalog/catalog-row.h"
#include "lib/state/store/store.h"
#include "lib/state/views/evidence-file.h"
#include "lib/state/views/membership.h"
#include "lib/state/views/views-file.h"
#include "lib/state/views/views-repair.h"
#include "lib/state/views/views-sync.h"

// --- what is reported ---

// The kinds of differences: each has a list, and a number in the same order.
enum check_report_list {
	CHECK_REPORT_LIST_CORRUPT,    // path, recorded sha256, found sha256
	CHECK_REPORT_LIST_CHANGED,    // path, how
	CHECK_REPORT_LIST_ORPHANED,   // path
	CHECK_REPORT_LIST_STRANGE,    // path
	CHECK_REPORT_LIST_MISPLACED,  // path, its project
	CHECK_REPORT_LIST_UNREADABLE, // reason
	CHECK_REPORT_LIST_UNFIT,      // path of an attachment, why it is not valid or not its file's
	CHECK_REPORT_LIST_VIEWS,      // path of a file of a view or of evidence, or a member of a view; what is wrong
	CHECK_REPORT_LISTS,
};

enum check_report_number {
	CHECK_REPORT_FILES,   // wheels and sdists seen
	CHECK_REPORT_LISTED,  // in the catalog
	CHECK_REPORT_HASHED,  // of these
	CHECK_REPORT_CORRUPT, // other bytes, with the recorded size and mtime
	CHECK_REPORT_CHANGED, // another size, or other bytes and another mtime: the next scan finds it
	CHECK_REPORT_ORPHANED,
	CHECK_REPORT_STRANGE,
	CHECK_REPORT_MISPLACED,
	CHECK_REPORT_UNREADABLE,
	CHECK_REPORT_UNFIT,
	CHECK_REPORT_VIEWS,
	CHECK_REPORT_WAITING, // still being written
	CHECK_REPORT_DAMAGED, // not in the catalog; the next scan will quarantine it
	CHECK_REPORT_IGNORED, // neither wheels nor sdists
	CHECK_REPORT_LINKS,   // links that were not followed
	CHECK_REPORT_ALONE,   // attachments whose file is not there (yet)
	CHECK_REPORT_SEED,    // of the random choice; 0: all files were hashed
	CHECK_REPORT_BYTES,   // hashed
	CHECK_REPORT_NUMBERS,
};

static const struct summary_number number_row[CHECK_REPORT_NUMBERS] = {
	[CHECK_REPORT_FILES] = {"files", "wheels and sdists seen", true},
	[CHECK_REPORT_LISTED] = {"listed", "listed in the catalog", true},
	[CHECK_REPORT_HASHED] = {"hashed", "hashed", true},
	[CHECK_REPORT_CORRUPT] = {"corrupt", "corrupt", true},
	[CHECK_REPORT_CHANGED] = {"changed", "changed since the scan", true},
	[CHECK_REPORT_ORPHANED] = {"orphaned", "orphaned", true},
	[CHECK_REPORT_STRANGE] = {"strange", "strange", true},
	[CHECK_REPORT_MISPLACED] = {"misplaced", "misplaced", true},
	[CHECK_REPORT_UNREADABLE] = {"unreadable", "unreadable", true},
	[CHECK_REPORT_UNFIT] = {"unfit", "unfit", true},
	[CHECK_REPORT_VIEWS] = {"views", "wrong in views", true},
	[CHECK_REPORT_WAITING] = {"waiting", "still being written", false},
	[CHECK_REPORT_DAMAGED] = {"damaged", "new and damaged: the next scan quarantines them", false},
	[CHECK_REPORT_IGNORED] = {"ignored", "other entries ignored", false},
	[CHECK_REPORT_LINKS] = {"links_ignored", "links not followed", false},
	[CHECK_REPORT_ALONE] = {"alone", "provenance without its file", false},
	[CHECK_REPORT_SEED] = {"seed", "is the seed of this random choice", false},
	[CHECK_REPORT_BYTES] = {"bytes_hashed", NULL, false},
};

static const struct summary_list list_row[CHECK_REPORT_LISTS] = {
	[CHECK_REPORT_LIST_CORRUPT] = {"corrupt", "CORRUPT: other bytes, though size and time are those of the catalog",
		{"path", "recorded", "found"}, false},
	[CHECK_REPORT_LIST_CHANGED] = {"changed", "changed since the scan", {"path", "reason"}, false},
	[CHECK_REPORT_LIST_ORPHANED] = {"orphaned", "orphaned: in the catalog, not in the store", {"path"}, false},
	[CHECK_REPORT_LIST_STRANGE] = {"strange", "strange: in the store, not in the catalog", {"path"}, false},
	[CHECK_REPORT_LIST_MISPLACED] = {"misplaced", "misplaced: in the folder of another project than theirs",
		{"path", "project"}, false},
	[CHECK_REPORT_LIST_UNREADABLE] = {"unreadable", "unreadable: nothing can be said of them", {"reason"}, false},
	[CHECK_REPORT_LIST_UNFIT] = {"unfit", "unfit: provenance that is not valid, or not that of its file",
		{"path", "reason"}, false},
	[CHECK_REPORT_LIST_VIEWS] = {"views", "memberships of views and evidence that are not those of the catalog",
		{"path", "reason"}, false},
};

static const struct summary_shape check_report_shape = {
	.number = number_row,
	.number_count = CHECK_REPORT_NUMBERS,
	.bytes = CHECK_REPORT_BYTES,
	.list = list_row,
	.list_count = CHECK_REPORT_LISTS,
};

// --- the bytes of one file ---

// What the workers share: scan_workers_options.ctx.
struct verify_file {
	const struct reservoir *sample; // the files to hash; NULL: all
	pthread_mutex_t lock;
	struct summary *summary; // under lock
};

static void verify_file_report(struct verify_file *c, enum check_report_list list, const struct folder *folder,
	const char *filename, const char *second, const char *third)
{
	CLEANUP(mem_free) char *below = folder_file(folder, filename);
	CLEANUP(mem_free) char *path = xasprintf("%s/%s", folder->platform->name, below);
	pthread_mutex_lock(&c->lock);
	summary_add(c->summary, list, path, second, third);
	pthread_mutex_unlock(&c->lock);
}

static bool verify_file_is_wanted(void *ctx, const struct catalog_known *known, const struct place_version *now)
{
	const struct verify_file *c = ctx;
	if (known->state != FILE_IS_LISTED)
		return false;
	return !c->sample || reservoir_has(c->sample, known->id) || known->size != now->size;
}

// How a file differs from its row.
struct difference {
	bool is_found;
	enum check_report_list list;
	const char *second, *third;
	char recorded[SHA256_HEX + 1], found[SHA256_HEX + 1];
};

static void set_changed(struct difference *v, const char *how)
{
	v->is_found = true;
	v->list = CHECK_REPORT_LIST_CHANGED;
	v->second = how;
}

static void set_corrupt(struct difference *v, const struct catalog_sum *sum, const uint8_t *found)
{
	hex_encode(sum->sha256, SHA256_SIZE, v->recorded);
	hex_encode(found, SHA256_SIZE, v->found);
	v->is_found = true;
	v->list = CHECK_REPORT_LIST_CORRUPT;
	v->second = v->recorded;
	v->third = v->found;
}

static void compare_hash(const struct catalog_sum *sum, const struct place_version *now, const uint8_t *found,
	struct difference *v)
{
	if (memcmp(found, sum->sha256, SHA256_SIZE) == 0)
		return; // the same bytes; a different mtime alone is no difference
	const struct place_version before = {sum->size, sum->mtime_ns, 0};
	if (place_version_match(&before, now) != PLACE_OTHER)
		set_corrupt(v, sum, found);
	else
		set_changed(v, "other bytes, of another time");
}

static int verify_open_file(struct scan_workers *workers, struct ingest *in, struct place_file *file,
	const struct catalog_sum *sum, struct difference *v, struct err *e)
{
	struct err why = ERR_INIT;
	struct place_info now;
	struct place_version read;
	uint8_t found[SHA256_SIZE];
	if (place_file_info(file, &now, e) < 0)
		return -1;
	if (now.version.size != sum->size) {
		set_changed(v, "another size");
		return 0;
	}
	if (ingest_hash(in, file, &read, found, &why) == 0) {
		scan_workers_count(workers, COUNT_CHECKED, 1);
		scan_workers_count(workers, COUNT_BYTES, read.size);
		compare_hash(sum, &read, found, v);
		return 0;
	}
	if (why.kind == ERR_BUSY) {
		set_changed(v, "while it was read");
		return 0;
	}
	*e = why;
	return -1;
}

// 1: the row is unchanged; 0: a scan has changed it meanwhile; -1: error.
static int is_row_unchanged(struct scan_worker *w, int64_t id, const struct catalog_sum *before, struct err *e)
{
	struct catalog_sum now;
	int found = catalog_file_sum(w->catalog, id, &now, e);
	if (found <= 0)
		return found;
	return now.state == before->state && now.size == before->size && now.mtime_ns == before->mtime_ns &&
	       memcmp(now.sha256, before->sha256, SHA256_SIZE) == 0;
}

// -1: the file could not be compared.
static int verify_one_file(struct scan_workers *workers, struct scan_worker *w, struct scan_job *job, struct err *e)
{
	struct err why = ERR_INIT;
	struct catalog_sum sum;
	struct difference v = {0};
	int known = catalog_file_sum(w->catalog, job->id, &sum, e);
	if (known <= 0)
		return known;
	CLEANUP(mem_free) char *path = folder_file(job->folder, job->filename);
	CLEANUP(place_file_close) struct place_file *file = place_open(job->folder->platform->place, path, &why);
	if (!file && (why.kind == ERR_NOT_FOUND || why.kind == ERR_DENIED)) {
		scan_workers_send_gone(workers, job->folder, job->id, job->written);
		return 0;
	}
	if (!file) {
		*e = why;
		return -1;
	}
	if (verify_open_file(workers, w->ingest, file, &sum, &v, e) < 0)
		return -1;
	int still = v.is_found ? is_row_unchanged(w, job->id, &sum, e) : 0;
	if (still > 0)
		verify_file_report(scan_workers_options(workers)->ctx, v.list, job->folder, job->filename, v.second,
			v.third);
	return still < 0 ? -1 : 0;
}

static void verify_file_run(struct scan_workers *workers, struct scan_worker *worker, struct scan_job *job)
{
	struct err e = ERR_INIT;
	if (verify_one_file(workers, worker, job, &e) < 0)
		scan_workers_send_problem(workers, job->folder, job->filename, &e);
	scan_workers_count(workers, COUNT_DONE, job->share);
	scan_workers_item_done(workers, job->folder);
}

// --- views with a membership, and evidence ---

struct view_check {
	struct catalog *catalog;
	const char *folder;
	struct summary *summary;
	const char *view;
	struct place_folder *open;        // of the view, or of a part of the evidence; NULL: there is none
	int64_t last;                     // the highest number of a file of the view
	char below[EVIDENCE_FILE_FOLDER]; // of that part
	uint8_t first;
	uint64_t known, files; // records in the catalog, and files, of that part
};

static void add_wrong(struct view_check *v, const char *folder, const char *name, const char *reason)
{
	CLEANUP(mem_free) char *path = xasprintf("%s%s%s", folder, *name ? "/" : "", name);
	summary_add(v->summary, CHECK_REPORT_LIST_VIEWS, path, reason, NULL);
}

// --- memberships ---

// Whether a file has the bytes that the catalog has packed; else *e says why not.
static bool has_packed_bytes(struct place_folder *open, const char *name, size_t most, struct str packed, struct err *e)
{
	CLEANUP(buf_release) struct buf file, row;
	buf_init(&file, most);
	buf_init(&row, most);
	if (!open)
		err_set(e, ERR_NOT_FOUND, "it is missing");
	else if (record_read(open, name, most, &file, e) == 0 && decompress_zstd(packed, &row, e) == 0 &&
		 !str_eq(buf_view(&file), buf_view(&row)))
		err_set(e, ERR_INVALID, "other bytes than the catalog has");
	return e->kind == ERR_NONE;
}

static int check_generation(void *ctx, const struct catalog_generation *g, struct err *e UNUSED)
{
	struct view_check *v = ctx;
	struct err why = ERR_INIT;
	char name[MEMBERSHIP_NAME];
	membership_name(g->number, name);
	if (!has_packed_bytes(v->open, name, LIMIT_MEMBERSHIP, g->packed, &why))
		add_wrong(v, v->view, name, why.msg);
	else if (g->made > views_repair_limit())
		add_wrong(v, v->view, name,
			"its time is more than a day after this machine's clock; if the clock is right now, \"wheelcache "
			"view repair\" gives it another one");
	return 0;
}

static int find_last(void *ctx, const char *name, enum place_kind kind UNUSED, struct err *e UNUSED)
{
	struct view_check *v = ctx;
	int64_t number = membership_number(name);
	v->last = number > v->last ? number : v->last;
	return 0;
}

// A member whose file was removed or pruned, or has other bytes now.
static int check_bytes_of_member(void *ctx, const struct catalog_member *m, struct err *e UNUSED)
{
	struct view_check *v = ctx;
	if (m->is_listed)
		return 0;
	CLEANUP(mem_free)
	char *reason = xasprintf("it is a member, and platform %s does not list these bytes", m->platform_name);
	add_wrong(v, v->view, m->filename, reason);
	return 0;
}

static int check_files_of_view(struct view_check *v, struct err *e)
{
	struct catalog_view known;
	struct err why = ERR_INIT;
	v->last = 0;
	if (v->open && place_list(v->open, find_last, v, &why) < 0)
		add_wrong(v, v->view, "", why.msg);
	if (catalog_view_generations(v->catalog, v->view, INT64_MAX, LIMIT_GENERATIONS, check_generation, v, e) < 0 ||
		catalog_view_find(v->catalog, v->view, &known, e) < 0)
		return -1;
	if (known.is_damaged)
		add_wrong(v, v->view, "", "its membership is not known as a whole: the next scan says why");
	else if (v->last > known.generation)
		add_wrong(v, v->view, "",
			"it has generations that the catalog does not have: the next scan reads them");
	return catalog_view_members(v->catalog, v->view, GENERATION_NEWEST, NULL, check_bytes_of_member, v, e);
}

static int check_one_view(struct view_check *v, const char *view, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(place_folder_close) struct place_folder *open = v->open = record_folder(v->folder, view, false, &why);
	v->view = view;
	if (!open && why.kind != ERR_NOT_FOUND)
		add_wrong(v, view, "", why.msg);
	return check_files_of_view(v, e);
}

static int add_known_name(void *ctx, const char *view, struct err *e UNUSED)
{
	strset_add(ctx, view);
	return 0;
}

// --- evidence ---

static int check_record(void *ctx, const uint8_t id[SHA256_SIZE], struct err *e UNUSED)
{
	struct view_check *v = ctx;
	struct err why = ERR_INIT;
	char name[EVIDENCE_FILE_NAME];
	CLEANUP(buf_release) struct buf text = buf_up_to(EVIDENCE_FILE_MOST);
	CLEANUP(evidence_file_release) struct evidence_file f = {0};
	evidence_file_name(id, name);
	v->known++;
	if (!v->open)
		err_set(&why, ERR_NOT_FOUND, "it is missing");
	else if (record_read(v->open, name, EVIDENCE_FILE_MOST, &text, &why) == 0 &&
		 evidence_file_read(buf_view(&text), &f, &why) == 0 && memcmp(f.row.id, id, SHA256_SIZE) != 0)
		err_set(&why, ERR_INVALID, "it is not the record that its name says");
	if (why.kind != ERR_NONE)
		add_wrong(v, v->below, name, why.msg);
	return 0;
}

static int count_record(void *ctx, const char *name, enum place_kind kind UNUSED, struct err *e UNUSED)
{
	struct view_check *v = ctx;
	uint8_t id[SHA256_SIZE];
	v->files += evidence_file_is(name, id) && id[0] == v->first;
	return 0;
}

static int check_part_of_evidence(struct view_check *v, uint8_t first, struct err *e)
{
	struct err why = ERR_INIT;
	evidence_file_folder(first, v->below);
	CLEANUP(place_folder_close) struct place_folder *open = v->open = record_folder(v->folder, v->below, false, &why);
	v->known = v->files = 0;
	v->first = first;
	if (open && place_list(open, count_record, v, &why) < 0)
		add_wrong(v, v->below, "", why.msg);
	if (catalog_evidence_ids(v->catalog, first, check_record, v, e) < 0)
		return -1;
	if (v->files > v->known)
		add_wrong(v, v->below, "", "it has records that the catalog does not have: the next scan reads them");
	return 0;
}

static int check_views(struct catalog *c, const char *folder, struct summary *summary, struct err *e)
{
	struct view_check v = {.catalog = c, .folder = folder, .summary = summary};
	if (!folder)
		return 0;
	struct err why = ERR_INIT;
	if (!views_file_answers(folder, STORE_PATIENT, &why)) {
		add_wrong(&v, folder, "", why.msg);
		return 0;
	}
	CLEANUP(strset_release) struct strset views = {0};
	if (catalog_views(v.catalog, add_known_name, &views, e) < 0)
		return -1;
	if (views_find_folders(v.folder, false, &views, &why) < 0)
		add_wrong(&v, v.folder, "", why.msg);
	strset_sort(&views);
	for (size_t i = 0; i < views.count; i++)
		if (check_one_view(&v, views.item[i], e) < 0)
			return -1;
	for (int i = 0; i <= UINT8_MAX; i++)
		if (check_part_of_evidence(&v, (uint8_t)i, e) < 0)
			return -1;
	return 0;
}

// --- the check ---

struct check_state {
	const struct store *store;
	struct catalog *catalog;
	const struct check_options *options;
	struct summary *summary;
	struct verify_file verify;
	struct reservoir *sample; // NULL: all
	struct throttle *throttle;
	struct misplaced misplaced;
	struct walk walk;
};

static void check_state_release(struct check_state *c)
{
	walk_release(&c->walk); // first: its workers use all below
	misplaced_release(&c->misplaced);
	throttle_free(c->throttle);
	reservoir_free(c->sample);
	pthread_mutex_destroy(&c->verify.lock);
}

// Reports a platform once instead of each of its files: its volume is not mounted, or it was removed and not scanned
// since.
static int report_missing_platform(void *ctx, const struct catalog_platform *p, struct err *e UNUSED)
{
	struct check_state *c = ctx;
	if (store_platform(c->store, p->id) || !p->files)
		return 0;
	CLEANUP(mem_free)
	char *text = xasprintf("platform %s: the store does not have it, but the catalog knows %s there", p->name,
		COUNTED(p->files, "file|files"));
	summary_add(c->summary, CHECK_REPORT_LIST_UNREADABLE, text, NULL, NULL);
	return 0;
}

static void report_misplaced(void *ctx, int64_t platform, const char *folder, const char *filename, const char *project)
{
	struct check_state *c = ctx;
	CLEANUP(mem_free)
	char *path = xasprintf("%s/%s/%s", store_platform(c->store, platform)->name, folder, filename);
	summary_add(c->summary, CHECK_REPORT_LIST_MISPLACED, path, project, NULL);
}

// An attachment that waits for its file is no difference.
static int report_stray_attachment(void *ctx, const struct catalog_stray_attachment *a, struct err *e UNUSED)
{
	struct check_state *c = ctx;
	const struct platform *p = store_platform(c->store, a->platform);
	if (!p)
		return 0;
	if (!a->has_file && !a->refusal) {
		c->summary->number[CHECK_REPORT_ALONE]++;
		return 0;
	}
	CLEANUP(mem_free)
	char *path = xasprintf("%s/%s%s%s%s", p->name, a->folder_path, *a->folder_path ? "/" : "", a->filename,
		attachment_ending[a->kind]);
	summary_add(c->summary, CHECK_REPORT_LIST_UNFIT, path,
		a->refusal ? a->refusal : "it is about other bytes than its file has", NULL);
	return 0;
}

// Before the walk, in one thread: checks what needs only the catalog, and adds the file to the sample.
static int handle_good_file(void *ctx, const struct catalog_good *file, struct err *e UNUSED)
{
	struct check_state *c = ctx;
	if (!store_platform(c->store, file->platform))
		return 0;
	misplaced_add(&c->misplaced, file->platform, file->folder, file->filename, file->project);
	if (file->state != FILE_IS_LISTED)
		return 0;
	c->summary->number[CHECK_REPORT_LISTED]++;
	if (c->sample)
		reservoir_add(c->sample, file->id, file->size);
	else
		c->walk.bytes += file->size;
	return 0;
}

// A file that was not in the catalog when its folder was scanned.
static int handle_new_file(struct check_state *c, const struct scan_event *ev, struct err *e)
{
	const struct folder *f = ev->folder;
	int known = catalog_has_file(c->catalog, f->platform->id, f->path, ev->facts->filename, e);
	if (known)
		return known < 0 ? -1 : 0;
	if (ev->facts->refusal)
		c->summary->number[CHECK_REPORT_DAMAGED]++;
	else
		verify_file_report(&c->verify, CHECK_REPORT_LIST_STRANGE, f, ev->facts->filename, NULL, NULL);
	return 0;
}

static int handle_gone_file(struct check_state *c, const struct scan_event *ev, struct err *e)
{
	CLEANUP(mem_free) char *filename = NULL;
	int known = catalog_file_name(c->catalog, ev->id, &filename, e);
	if (known > 0)
		verify_file_report(&c->verify, CHECK_REPORT_LIST_ORPHANED, ev->folder, filename, NULL, NULL);
	return known < 0 ? -1 : 0;
}

// It differs from its row.
static int handle_attachment_event(struct check_state *c, const struct scan_event *ev)
{
	enum check_report_list list = CHECK_REPORT_LIST_CHANGED;
	char found[SHA256_HEX + 1] = "";
	CLEANUP(mem_free) char *name = xasprintf("%s%s", ev->filename, attachment_ending[ev->attachment]);
	if (!ev->attached) {
		verify_file_report(&c->verify, CHECK_REPORT_LIST_ORPHANED, ev->folder, name, NULL, NULL);
		return 0;
	}
	hex_encode(ev->attached->sha256, SHA256_SIZE, found);
	if (!ev->written)
		list = CHECK_REPORT_LIST_STRANGE;
	else if (ev->is_known)
		list = CHECK_REPORT_LIST_CORRUPT;
	verify_file_report(&c->verify, list, ev->folder, name,
		list == CHECK_REPORT_LIST_CHANGED ? "other bytes, of another time" : ev->text,
		list == CHECK_REPORT_LIST_CORRUPT ? found : NULL);
	return 0;
}

static int handle_problem(struct check_state *c, const struct scan_event *ev)
{
	pthread_mutex_lock(&c->verify.lock);
	summary_add(c->summary, CHECK_REPORT_LIST_UNREADABLE, ev->text, NULL, NULL);
	pthread_mutex_unlock(&c->verify.lock);
	return 0;
}

static int handle_event(void *ctx, const struct scan_event *ev, struct err *e)
{
	if (!ev)
		return 0;
	switch (ev->kind) {
	case SCAN_EVENT_FILE:
		return handle_new_file(ctx, ev, e);
	case SCAN_EVENT_FILE_GONE:
		return handle_gone_file(ctx, ev, e);
	case SCAN_EVENT_PROBLEM:
		return handle_problem(ctx, ev);
	case SCAN_EVENT_ATTACHMENT:
		return handle_attachment_event(ctx, ev);
	case SCAN_EVENT_MARK:
	case SCAN_EVENT_FOLDER_NEW:
	case SCAN_EVENT_FOLDER:
	case SCAN_EVENT_FOLDER_GONE:
	case SCAN_EVENT_WAITING:
	case SCAN_EVENT_LINK:
		return 0;
	}
	return 0;
}

static void summarize_check(struct check_state *c)
{
	static const struct {
		enum scan_workers_count from;
		enum check_report_number to;
	} row[] = {
		{COUNT_FILES, CHECK_REPORT_FILES},
		{COUNT_CHECKED, CHECK_REPORT_HASHED},
		{COUNT_WAITING, CHECK_REPORT_WAITING},
		{COUNT_IGNORED, CHECK_REPORT_IGNORED},
		{COUNT_LINKS, CHECK_REPORT_LINKS},
		{COUNT_BYTES, CHECK_REPORT_BYTES},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		c->summary->number[row[i].to] = scan_workers_total(c->walk.workers, row[i].from);
	for (unsigned i = 0; i < CHECK_REPORT_LISTS; i++) {
		c->summary->number[CHECK_REPORT_CORRUPT + i] = c->summary->list[i].all;
		summary_sort(c->summary, i);
	}
	if (c->sample && c->summary->number[CHECK_REPORT_LISTED] > c->options->sample)
		c->summary->number[CHECK_REPORT_SEED] = c->options->seed;
}

static int run_check(struct check_state *c, struct err *e)
{
	if (catalog_platforms(c->catalog, report_missing_platform, c, e) < 0 ||
		catalog_good_files(c->catalog, handle_good_file, c, e) < 0 ||
		catalog_stray_attachments(c->catalog, report_stray_attachment, c, e) < 0)
		return -1;
	misplaced_end(&c->misplaced);
	if (c->sample) {
		reservoir_end(c->sample);
		c->walk.bytes = reservoir_bytes(c->sample);
	}
	if (walk_run(&c->walk, e) < 0 || check_views(c->catalog, c->options->views, c->summary, e) < 0)
		return -1;
	walk_report(&c->walk, WALK_ENDS);
	summarize_check(c);
	return catalog_is_current(c->catalog, e);
}

int check_run(const struct store *store, struct catalog *catalog, const struct check_options *options,
	struct summary *summary, struct err *e)
{
	int64_t begin = clock_wall_ns();
	*summary = (struct summary){.shape = &check_report_shape};
	CLEANUP(check_state_release)
	struct check_state c = {.store = store, .catalog = catalog, .options = options, .summary = summary};
	c.sample = options->hashes_all ? NULL : reservoir_new(options->sample, options->seed);
	c.throttle = options->rate ? throttle_new(options->rate) : NULL;
	c.verify = (struct verify_file){.sample = c.sample, .summary = summary};
	pthread_mutex_init(&c.verify.lock, NULL);
	misplaced_init(&c.misplaced, report_misplaced, &c);
	c.walk = (struct walk){
		.watch = options->watch,
		.catalog = catalog,
		.scan_workers_options = {.store = store,
			.threads = options->threads,
			.settle_ns = (int64_t)options->settle * 1000000000,
			.lists_all = true,
			.reads_attachments = true,
			.is_wanted = verify_file_is_wanted,
			.read_known = verify_file_run,
			.ctx = &c.verify,
			.throttle = c.throttle},
		.handle = handle_event,
		.ctx = &c,
	};
	int result = run_check(&c, e);
	summary->seconds = (double)(clock_wall_ns() - begin) / 1e9;
	return result;
}

int check_verdict(const struct summary *summary, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(ERR_MSG_SIZE);
	for (unsigned i = 0; i < CHECK_REPORT_LISTS; i++)
		if (summary->list[i].all)
			buf_printf(&text, "%s%" PRIu64 " %s", text.len ? ", " : "", summary->list[i].all,
				summary->shape->list[i].key);
	return text.len ? err_set(e, ERR_INVALID, "store and catalog differ: %s", text.data) : 0;
}
