// SPDX-License-Identifier: Apache-2.0
#include "promoter/pruned-rows.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/state/store/sidecar.h"

// The folder of the last file, because the files of a promotion are often in few folders.
struct open_folder {
	const struct platform *platform;
	char *path; // below the platform
	int fd;
};

static void open_folder_release(struct open_folder *f)
{
	mem_close(&f->fd);
	mem_free(&f->path);
}

static int enter_row_folder(struct open_folder *f, const struct platform *p, const char *file_path, struct err *e)
{
	const char *slash = strrchr(file_path, '/');
	size_t len = slash ? (size_t)(slash - file_path) : 0;
	if (f->fd >= 0 && f->platform == p && strlen(f->path) == len && memcmp(f->path, file_path, len) == 0)
		return 0;
	open_folder_release(f);
	f->platform = p;
	f->path = xstrndup(file_path, len);
	f->fd = store_open_writable_folder(p, f->path, e);
	return f->fd < 0 ? -1 : 0;
}

// 1: the file has a tombstone, or it is gone; *why is the reason. 0: it has none.
static int is_pruned(const struct site *site, struct catalog *c, const struct promote_row *row, struct open_folder *f,
	struct buf *why, struct err *e)
{
	struct err absent = ERR_INIT;
	CLEANUP(buf_release) struct buf text;
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	const struct platform *p = site_platform(site, str_from(row->platform));
	buf_init(&text, LIMIT_SIDECAR);
	buf_clear(why);
	if (catalog_find_file(c, p->id, row->filename, &place, &absent) < 0 ||
		enter_row_folder(f, p, place.path, &absent) < 0) {
		buf_puts(why, "it is not in the store any more");
		if (absent.kind == ERR_NOT_FOUND)
			return 1;
		*e = absent;
		return -1;
	}
	int found = sidecar_read(f->fd, row->filename, MARK_PRUNED, &text, e);
	if (found <= 0)
		return found;
	buf_puts(why, "it was pruned at the same moment: ");
	mark_reason(MARK_PRUNED, buf_view(&text), why);
	return 1;
}

// Sets their result. *count: their number.
static int refuse_pruned(const struct site *site, struct catalog *c, struct promote_answer *answer, size_t *count,
	struct err *e)
{
	CLEANUP(buf_release) struct buf why;
	CLEANUP(open_folder_release) struct open_folder folder = {.fd = -1};
	buf_init(&why, 2 * (size_t)LIMIT_REASON);
	for (size_t i = 0; i < answer->rows; i++) {
		struct promote_row *row = &answer->row[i];
		int pruned = row->result == PROMOTE_DONE ? is_pruned(site, c, row, &folder, &why, e) : 0;
		if (pruned < 0)
			return err_prefix(e, "%s is promoted, but tombstones cannot be looked for: ", row->filename);
		if (pruned)
			promote_answer_set(answer, row, PROMOTE_REFUSED, buf_view(&why));
		*count += (size_t)pruned;
	}
	return 0;
}

// The members among the rows of `was_done` that are not done now, as rows that end.
static int collect_ending(const struct site *site, struct catalog *c, const char *view, int64_t generation,
	const struct promote_answer *answer, const bool *was_done, struct promote_answer *ending, struct err *e)
{
	promote_answer_clear(ending);
	for (size_t i = 0; i < answer->rows; i++) {
		const struct promote_row *row = &answer->row[i];
		if (!was_done[i] || row->result == PROMOTE_DONE)
			continue;
		int has = catalog_view_has(c, view, generation, site_platform(site, str_from(row->platform))->id,
			row->filename, row->sha256, e);
		if (has < 0)
			return -1;
		if (has)
			promote_answer_add(ending, row)->result = PROMOTE_ENDED;
	}
	return 0;
}

static int end_rows(const struct site *site, struct catalog *c, const struct promotion_step *step,
	struct promote_answer *answer, const bool *was_done, struct err *e)
{
	CLEANUP(promote_answer_release) struct promote_answer ending = {0};
	for (int tries = 1;; tries++) {
		struct err why = ERR_INIT;
		struct promotion_step next = *step;
		if (promotion_run_generation(c, step->view, &next.generation, e) < 0 ||
			collect_ending(site, c, step->view, next.generation, answer, was_done, &ending, e) < 0)
			return -1;
		ending.generation = next.generation;
		if (!ending.rows || promotion_step_write(&next, c, &ending, &why) == 0) {
			answer->generation = ending.generation;
			return 0;
		}
		if (why.kind == ERR_CONFLICT && tries < PROMOTION_TRIES)
			continue;
		*e = why;
		return -1;
	}
}

int pruned_rows_take_out(const struct site *site, struct catalog *c, const struct promotion_step *step,
	bool all_or_nothing, struct promote_answer *answer, struct err *e)
{
	size_t pruned = 0;
	CLEANUP(mem_free) bool *was_done = xcalloc(answer->rows + 1, sizeof(*was_done));
	for (size_t i = 0; i < answer->rows; i++)
		was_done[i] = answer->row[i].result == PROMOTE_DONE;
	if (refuse_pruned(site, c, answer, &pruned, e) < 0)
		return -1;
	if (!pruned)
		return 0;
	for (size_t i = 0; i < answer->rows && all_or_nothing; i++)
		if (answer->row[i].result == PROMOTE_DONE)
			promote_answer_set(answer, &answer->row[i], PROMOTE_HELD,
				STR("another file is refused, and all or nothing is promoted"));
	promote_answer_count(answer);
	return end_rows(site, c, step, answer, was_done, e);
}
