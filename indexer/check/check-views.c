// SPDX-License-Identifier: Apache-2.0
#include "indexer/check/check-views.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "indexer/check/check-report.h"
#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/format/compress.h"
#include "lib/state/views/evidence-file.h"
#include "lib/state/views/membership.h"
#include "lib/state/store/store.h"
#include "lib/state/views/views-file.h"
#include "lib/state/views/views-repair.h"
#include "lib/state/views/views-sync.h"

struct view_check {
	struct catalog *catalog;
	const char *folder;
	struct summary *summary;
	const char *view;
	int dirfd;                        // of the view, or of a part of the evidence; -1: there is none
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
static bool has_packed_bytes(int dirfd, const char *name, size_t most, struct str packed, struct err *e)
{
	CLEANUP(buf_release) struct buf file, row;
	buf_init(&file, most);
	buf_init(&row, most);
	if (dirfd < 0)
		err_set(e, ERR_NOT_FOUND, "it is missing");
	else if (views_file_read(dirfd, name, most, &file, e) == 0 && decompress_zstd(packed, &row, e) == 0 &&
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
	if (!has_packed_bytes(v->dirfd, name, LIMIT_MEMBERSHIP, g->packed, &why))
		add_wrong(v, v->view, name, why.msg);
	else if (g->made > views_repair_limit())
		add_wrong(v, v->view, name,
			"its time is more than a day after this machine's clock; if the clock is right now, \"wheelcache "
			"view repair\" gives it another one");
	return 0;
}

static int find_last(void *ctx, const char *name, struct err *e UNUSED)
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
	if (v->dirfd >= 0 && views_file_names(v->dirfd, false, find_last, v, &why) < 0)
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
	CLEANUP(mem_close) int dirfd = v->dirfd = views_file_folder(v->folder, view, false, &why);
	v->view = view;
	if (dirfd < 0 && why.kind != ERR_NOT_FOUND)
		add_wrong(v, view, "", why.msg);
	return check_files_of_view(v, e);
}

static int add_known_name(void *ctx, const char *view, struct err *e UNUSED)
{
	strset_add(ctx, view);
	return 0;
}

static int compare_memberships(struct view_check *v, struct err *e)
{
	CLEANUP(strset_release) struct strset views = {0};
	struct err why = ERR_INIT;
	if (catalog_views(v->catalog, add_known_name, &views, e) < 0)
		return -1;
	if (views_find_folders(v->folder, false, &views, &why) < 0)
		add_wrong(v, v->folder, "", why.msg);
	strset_sort(&views);
	for (size_t i = 0; i < views.count; i++)
		if (check_one_view(v, views.item[i], e) < 0)
			return -1;
	return 0;
}

// --- evidence ---

static int check_record(void *ctx, const uint8_t id[SHA256_SIZE], struct err *e UNUSED)
{
	struct view_check *v = ctx;
	struct err why = ERR_INIT;
	char name[EVIDENCE_FILE_NAME];
	CLEANUP(buf_release) struct buf text;
	CLEANUP(evidence_file_release) struct evidence_file f = {0};
	buf_init(&text, EVIDENCE_FILE_MOST);
	evidence_file_name(id, name);
	v->known++;
	if (v->dirfd < 0)
		err_set(&why, ERR_NOT_FOUND, "it is missing");
	else if (views_file_read(v->dirfd, name, EVIDENCE_FILE_MOST, &text, &why) == 0 &&
		 evidence_file_read(buf_view(&text), &f, &why) == 0 && memcmp(f.row.id, id, SHA256_SIZE) != 0)
		err_set(&why, ERR_INVALID, "it is not the record that its name says");
	if (why.kind != ERR_NONE)
		add_wrong(v, v->below, name, why.msg);
	return 0;
}

static int count_record(void *ctx, const char *name, struct err *e UNUSED)
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
	CLEANUP(mem_close) int dirfd = v->dirfd = views_file_folder(v->folder, v->below, false, &why);
	v->known = v->files = 0;
	v->first = first;
	if (dirfd >= 0 && views_file_names(dirfd, false, count_record, v, &why) < 0)
		add_wrong(v, v->below, "", why.msg);
	if (catalog_evidence_ids(v->catalog, first, check_record, v, e) < 0)
		return -1;
	if (v->files > v->known)
		add_wrong(v, v->below, "", "it has records that the catalog does not have: the next scan reads them");
	return 0;
}

int check_views(struct catalog *c, const char *folder, struct summary *summary, struct err *e)
{
	struct view_check v = {.catalog = c, .folder = folder, .summary = summary};
	if (!folder)
		return 0;
	if (!views_file_answers(folder, STORE_PATIENT)) {
		add_wrong(&v, folder, "", "it does not answer");
		return 0;
	}
	if (compare_memberships(&v, e) < 0)
		return -1;
	for (int i = 0; i <= UINT8_MAX; i++)
		if (check_part_of_evidence(&v, (uint8_t)i, e) < 0)
			return -1;
	return 0;
}
