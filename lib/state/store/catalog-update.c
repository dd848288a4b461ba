// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/catalog-update.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/catalog/catalog-file.h"
#include "lib/state/catalog/catalog-facts.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/store/sidecar.h"
#include "lib/state/store/target-dir.h"

// The marks go before the file, which is yanked from its first moment on.
static int put_past(struct catalog *c, const struct catalog_entry *f, enum mark mark, const char *text, struct err *e)
{
	struct catalog_effect effect;
	const struct catalog_mark m = {.platform = f->platform,
		.folder = f->folder,
		.folder_path = f->folder_path,
		.filename = f->filename,
		.mark = mark,
		.text = text};
	return text ? catalog_mark_put(c, &m, &effect, e) : 0;
}

int catalog_update_put(const struct platform *p, struct catalog *c, const struct ingest_facts *facts,
	const struct packed_facts *inside, const struct file_past *past, const char *folder,
	const struct place_version *version, struct err *e)
{
	struct catalog_effect effect;
	struct catalog_entry entry = ingest_entry(facts);
	entry.platform = p->id;
	entry.folder_path = folder;
	entry.mtime_ns = version->time_ns;
	entry.inode = version->id;
	entry.trusted = place_version_is_settled(version, clock_wall_ns());
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(c, &t, e) < 0 || target_dir_check_again(p, c, facts->filename, e) < 0 ||
		catalog_folder_ensure(c, entry.platform, folder, &entry.folder, e) < 0 ||
		(past && put_past(c, &entry, MARK_YANKED, past->yanked, e) < 0) ||
		(past && put_past(c, &entry, MARK_TIME, past->time, e) < 0) ||
		catalog_file_put(c, &entry, &effect, e) < 0 ||
		(past && catalog_file_set_came(c, entry.folder, entry.filename, past->came, e) < 0) ||
		(inside && packed_facts_put(inside, c, entry.sha256, e) < 0) ||
		(facts->wheel.has_installed && catalog_content_put(c, entry.sha256, facts->wheel.installed_sha256, e) < 0))
		return -1;
	return catalog_commit(&t, e);
}

static int put_mark(struct catalog *c, struct catalog_mark *mark, struct err *e)
{
	struct catalog_effect effect;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(c, &t, e) < 0 ||
		catalog_folder_ensure(c, mark->platform, mark->folder_path, &mark->folder, e) < 0 ||
		catalog_mark_put(c, mark, &effect, e) < 0)
		return -1;
	return catalog_commit(&t, e);
}

static int look_at_mark(const struct platform *p, struct catalog *c, const char *folder, struct str of, enum mark mark,
	struct err *e)
{
	CLEANUP(mem_free) char *filename = sidecar_subject(of, mark, folder);
	if (!filename)
		return 0;
	CLEANUP(place_folder_close) struct place_folder *open = place_open_folder(p->place, folder, e);
	CLEANUP(buf_release) struct buf text = buf_up_to(2 * LIMIT_SIDECAR);
	int found = open ? sidecar_read(open, filename, mark, &text, e) : -1;
	if (found < 0)
		return -1;
	return put_mark(c,
		&(struct catalog_mark){.platform = p->id,
			.folder_path = folder,
			.filename = filename,
			.mark = mark,
			.text = found ? text.data : NULL},
		e);
}

int catalog_update_attach(const struct platform *p, struct catalog *c, const char *folder, const char *filename,
	enum attachment kind, const struct attachment_facts *facts, struct err *e)
{
	struct catalog_attachment row = {.filename = filename, .kind = kind};
	if (facts)
		row = attachment_facts_row(facts, filename, kind);
	row.platform = p->id;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(c, &t, e) < 0 || catalog_folder_ensure(c, p->id, folder, &row.folder, e) < 0 ||
		(facts ? catalog_attachment_put(c, &row, e) : catalog_attachment_remove(c, &row, e)) < 0)
		return -1;
	return catalog_commit(&t, e);
}

int catalog_update_look(const struct platform *p, struct catalog *c, const char *path, struct err *e)
{
	struct str of;
	enum mark mark;
	enum attachment kind;
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	CLEANUP(mem_free) char *folder = slash ? xstrndup(path, (size_t)(slash - path)) : xstrdup("");
	if (sidecar_is(str_from(name), &of, &mark))
		return look_at_mark(p, c, folder, of, mark, e);
	if (attachment_is(str_from(name), &of, &kind)) {
		CLEANUP(mem_free) char *filename = xstrndup(of.ptr, of.len);
		CLEANUP(place_folder_close) struct place_folder *open = place_open_folder(p->place, folder, e);
		CLEANUP(attachment_facts_release) struct attachment_facts facts = {0};
		int found = open ? attachment_file_read(open, filename, kind, &facts, e) : -1;
		return found < 0 ? -1 : catalog_update_attach(p, c, folder, filename, kind, found ? &facts : NULL, e);
	}
	struct err missing = ERR_INIT;
	CLEANUP(catalog_place_release) struct catalog_place known = {0};
	if (catalog_find_file(c, p->id, name, &known, &missing) == 0)
		return 0;
	CLEANUP(place_file_close) struct place_file *file = place_open(p->place, path, e);
	if (!file)
		return -1;
	CLEANUP(ingest_cleanup) struct ingest *in = ingest_new();
	CLEANUP(ingest_facts_release) struct ingest_facts facts;
	ingest_facts_init(&facts);
	if (ingest_read(in, file, name, LENIENT, &facts, e) < 0)
		return -1;
	return facts.refusal ? 0 : catalog_update_put(p, c, &facts, NULL, NULL, folder, &facts.version, e);
}
