// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/facts-reader.h"

#include "lib/base/limits.h"
#include "lib/state/catalog/catalog-facts.h"
#include "lib/state/catalog/catalog-view.h"

static int read_stored_file(const struct platform *p, const char *path, const char *filename,
	const struct place_version *known, struct wheel_facts *out, struct err *e)
{
	CLEANUP(filename_release) struct filename name = {0};
	CLEANUP(place_file_close) struct place_file *file = store_open_known(p, path, known, e);
	if (!file || filename_parse(str_from(filename), &name, e) < 0)
		return -1;
	const struct byte_source bytes = place_file_source(file, known->size);
	return wheel_facts_read(&bytes, &name, out, e);
}

int facts_reader_get(struct catalog *c, const uint8_t sha256[SHA256_SIZE], struct wheel_facts *out, struct err *e)
{
	return facts_reader_get_most(c, sha256, LIMIT_FACTS, out, e);
}

int facts_reader_get_most(struct catalog *c, const uint8_t sha256[SHA256_SIZE], size_t most, struct wheel_facts *out,
	struct err *e)
{
	CLEANUP(buf_release) struct buf packed = buf_up_to(SIZE_MAX / 2);
	if (catalog_facts_get(c, sha256, WHEEL_FACTS_VERSION, &packed, e) < 0)
		return -1;
	struct err why = ERR_INIT;
	if (wheel_facts_unpack_most(buf_view(&packed), most, out, &why) == 0)
		return 0;
	return err_set(e, ERR_NOT_FOUND, "%s", why.msg);
}

struct facts_walk {
	const struct facts_reader_query *query;
	const struct platform *platform;
	struct catalog *catalog;
	facts_reader_fn *fn;
	void *ctx;
};

// From the row, else from the file.
static int facts_of_row(const struct facts_walk *w, const struct catalog_facts_listed *row, struct wheel_facts *out,
	struct err *why)
{
	bool is_current = row->version == WHEEL_FACTS_VERSION;
	if (is_current && row->packed.ptr && wheel_facts_unpack(row->packed, out, why) == 0)
		return 0;
	if (is_current && row->why)
		return err_set(why, ERR_NOT_FOUND, "%s", row->why);
	if (w->query->only_catalog)
		return err_set(why, ERR_NOT_FOUND, "the catalog has no facts of it yet");
	const struct place_version known = {row->size, row->mtime_ns, row->inode};
	return read_stored_file(w->platform, row->wheel.path, row->wheel.filename, &known, out, why);
}

// 1: the view has it, or none is asked about.
static int view_has_wheel(const struct facts_walk *w, const struct catalog_facts_listed *row, struct err *e)
{
	const char *view = w->query->view;
	return view ? catalog_view_has(w->catalog, view, GENERATION_NEWEST, w->platform->id, row->wheel.filename,
			      row->wheel.sha256, e)
		    : 1;
}

static int hand_over_wheel(void *ctx, const struct catalog_facts_listed *row, struct err *e)
{
	const struct facts_walk *w = ctx;
	CLEANUP(wheel_facts_release) struct wheel_facts facts = {0};
	struct err why = ERR_INIT;
	int has = view_has_wheel(w, row, e);
	if (has <= 0)
		return has;
	const struct stored_wheel wheel = {
		.platform = w->platform,
		.project = row->wheel.project,
		.filename = row->wheel.filename,
		.path = row->wheel.path,
		.size = row->size,
		.sha256 = row->wheel.sha256,
	};
	bool is_known = facts_of_row(w, row, &facts, &why) == 0;
	return w->fn(w->ctx, &wheel, is_known ? &facts : NULL, is_known ? NULL : why.msg, e);
}

int facts_reader_each(const struct store *s, struct catalog *c, const struct facts_reader_query *q, facts_reader_fn *fn,
	void *ctx, struct err *e)
{
	for (size_t i = 0; i < s->platform_count; i++) {
		const struct platform *p = &s->platform[i];
		struct facts_walk walk = {q, p, c, fn, ctx};
		if (p->id && store_is_wanted(q->platform, q->platforms, p->name) &&
			catalog_facts_wheels(c, p->id, q->project, q->filename, hand_over_wheel, &walk, e) < 0)
			return -1;
	}
	return 0;
}
