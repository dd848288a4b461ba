// SPDX-License-Identifier: Apache-2.0
#include "indexer/check/check.h"

#include <inttypes.h>

#include "indexer/check/check-views.h"
#include "indexer/check/misplaced.h"
#include "indexer/check/verify-file.h"
#include "indexer/walk/scan-file.h"
#include "lib/base/mem.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-attachment.h"
#include "lib/state/catalog/catalog-row.h"

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
	char *text = xasprintf("platform %s: the store does not have it, but the catalog knows %" PRIu64 " files there",
		p->name, p->files);
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

// Before the walk, in one thread: checks what needs only the catalog, and offers the file to the sample.
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
		reservoir_offer(c->sample, file->id, file->size);
	else
		c->walk.bytes += file->size;
	return 0;
}

static int choose_files(struct check_state *c, struct err *e)
{
	if (catalog_platforms(c->catalog, report_missing_platform, c, e) < 0 ||
		catalog_good_files(c->catalog, handle_good_file, c, e) < 0 ||
		catalog_stray_attachments(c->catalog, report_stray_attachment, c, e) < 0)
		return -1;
	misplaced_end(&c->misplaced);
	if (!c->sample)
		return 0;
	reservoir_end(c->sample);
	c->walk.bytes = reservoir_bytes(c->sample);
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
	if (choose_files(c, e) < 0 || walk_run(&c->walk, e) < 0 ||
		check_views(c->catalog, c->options->views, c->summary, e) < 0)
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
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, ERR_MSG_SIZE);
	for (unsigned i = 0; i < CHECK_REPORT_LISTS; i++)
		if (summary->list[i].all)
			buf_printf(&text, "%s%" PRIu64 " %s", text.len ? ", " : "", summary->list[i].all,
				summary->shape->list[i].key);
	return text.len ? err_set(e, ERR_INVALID, "store and catalog differ: %s", text.data) : 0;
}
