// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/wanted-contents.h"

#include <string.h>

#include "lib/base/log.h"
#include "lib/domain/wheel/wheel.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-facts.h"

// The files with some bytes, until one of them can be read.
struct wanted_content {
	const struct store *store;
	uint8_t sha256[SHA256_SIZE], content[SHA256_SIZE];
	bool is_known; // also that it has none
	bool has_content;
};

static int unpack_wanted(struct wanted_content *w, const struct platform *p, const struct catalog_facts_place *place,
	struct err *e)
{
	const struct place_version known = {place->size, place->mtime_ns, place->inode};
	CLEANUP(place_file_close) struct place_file *file = store_open_known(p, place->path, &known, e);
	if (!file)
		return -1;
	const struct byte_source bytes = place_file_source(file, known.size);
	return wheel_content(&bytes, w->content, e);
}

static int read_wanted_place(void *ctx, const struct catalog_facts_place *place, struct err *e UNUSED)
{
	struct wanted_content *w = ctx;
	struct err why = ERR_INIT;
	const struct platform *p = store_platform(w->store, place->platform);
	memcpy(w->sha256, place->sha256, SHA256_SIZE);
	if (!p || w->is_known)
		return 0;
	w->has_content = unpack_wanted(w, p, place, &why) == 0;
	w->is_known = w->has_content || why.kind == ERR_INVALID || why.kind == ERR_LIMIT;
	if (!w->has_content)
		(p->is_private ? log_debug : log_warn)("%s/%s: its contents cannot be compared with those of tested "
						       "wheels: %s",
			p->name, place->path, why.msg);
	return 0;
}

static int take_content(const struct store *store, struct catalog *c, int64_t id, struct err *e)
{
	struct wanted_content w = {.store = store};
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_facts_places(c, id, read_wanted_place, &w, e) < 0)
		return -1;
	if (!w.is_known)
		return 0;
	if (catalog_begin(c, &t, e) < 0 || catalog_content_put(c, w.sha256, w.has_content ? w.content : NULL, e) < 0)
		return -1;
	return catalog_commit(&t, e);
}

int wanted_contents_take(const struct store *store, struct catalog *c, unsigned most_ms, const _Atomic bool *cancel,
	struct err *e)
{
	CLEANUP(mem_free) int64_t *id = NULL;
	size_t count;
	int64_t begun = clock_ms();
	if (catalog_content_wanted(c, &id, &count, e) < 0)
		return -1;
	for (size_t i = 0; i < count && !(cancel && atomic_load(cancel)); i++) {
		if (most_ms && clock_ms() - begun >= most_ms)
			break;
		if (take_content(store, c, id[i], e) < 0)
			return -1;
	}
	return 0;
}

int wanted_contents_of(const struct store *store, struct catalog *c, const uint8_t sha256[SHA256_SIZE],
	uint8_t content[SHA256_SIZE], struct err *e)
{
	struct wanted_content w = {.store = store};
	int64_t id;
	int known = catalog_content_get(c, sha256, content, e);
	int found = known ? known : catalog_facts_id(c, sha256, &id, e);
	if (known || found <= 0)
		return found;
	if (catalog_facts_places(c, id, read_wanted_place, &w, e) < 0)
		return -1;
	if (w.has_content)
		memcpy(content, w.content, SHA256_SIZE);
	return w.has_content;
}
