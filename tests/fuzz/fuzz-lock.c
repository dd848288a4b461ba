// SPDX-License-Identifier: Apache-2.0
// Lock files of any kind: what is read is whole and valid, and an error names the file and, but for JSON, the line.
#include "lib/domain/lock/lock-read.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/lock/lock-rewrite.h"
#include "lib/domain/lock/lock-wants.h"
#include "lib/domain/machine/marker.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/version.h"
#include "tests/fuzz/fuzz.h"

static void check_lock(const struct lock *l)
{
	struct err e = ERR_INIT;
	size_t files = 0, edges = 0;
	for (size_t i = 0; i < l->packages; i++) {
		const struct lock_package *p = &l->package[i];
		HOLDS(name_is_valid(str_from(p->project)) && name_is_normal(str_from(p->project)));
		HOLDS(!p->version || version_is_valid(str_from(p->version)));
		HOLDS(p->line >= 1 && p->line <= l->text.len + 1);
		HOLDS(p->file == files && l->slot[p->slot].package == i);
		files += p->files;
	}
	HOLDS(files == l->files);
	for (size_t i = 0; i < l->files; i++)
		HOLDS(!l->file[i].filename || filename_check(str_from(l->file[i].filename), &e) == 0);
	for (size_t i = 0; i < l->slots; i++) {
		HOLDS(l->slot[i].package < l->packages ||
			(l->slot[i].package == LOCK_NO_PACKAGE && l->slot[i].is_root));
		HOLDS(l->slot[i].edge == edges);
		edges += l->slot[i].edges;
	}
	HOLDS(edges == l->edges);
	for (size_t i = 0; i < l->edges; i++) {
		HOLDS(l->edge[i].from < l->slots && l->edge[i].to < l->slots && l->edge[i].marker < l->markers);
		HOLDS(l->slot[l->edge[i].to].package < l->packages);
	}
	for (size_t i = 1; i < l->markers; i++)
		HOLDS(marker_check(str_from(l->marker[i]), &e) == 0);
}

// What some extras and groups want, all want too.
static void check_wants(const struct lock *l)
{
	struct err e = ERR_INIT;
	const struct machine machine = {.arch = "aarch64"};
	const struct python python = {.major = 3, .minor = 11};
	const struct marker_choice none = {0}, all = {.all_extras = true, .all_groups = true};
	CLEANUP(mem_free) uint64_t *some = xcalloc(l->packages + 1, sizeof(*some));
	CLEANUP(mem_free) uint64_t *more = xcalloc(l->packages + 1, sizeof(*more));
	HOLDS(lock_wants(l, &machine, &python, &all, more, &e) == 0);
	HOLDS(lock_wants(l, &machine, &python, &none, some, &e) == 0);
	for (size_t i = 0; i < l->packages; i++)
		HOLDS(!(some[i] & ~more[i]));
}

static int give_url(void *ctx UNUSED, const char *project UNUSED, const char *filename, const uint8_t *sha256 UNUSED,
	struct buf *url, struct err *e)
{
	for (const char *c = filename; *c; c++)
		if (!ascii_is_alnum(*c) && !strchr("-_.+", *c))
			return err_set(e, ERR_NOT_FOUND, "no such file");
	buf_printf(url, "https://n/%s", filename);
	return 0;
}

// A copy for another index names the same.
static void check_copy(struct str text, const struct lock *l)
{
	struct err e = ERR_INIT;
	struct lock_rewritten done;
	const struct lock_rewriting how = {"f", "https://n/simple/", give_url, NULL};
	CLEANUP(buf_release) struct buf copy = buf_up_to(2 * LIMIT_LOCK);
	CLEANUP(lock_release) struct lock again = {0};
	if (lock_rewrite(text, &how, &copy, &done, &e) < 0) {
		HOLDS(e.msg[0] == 'f' && e.msg[1] == ':' && ascii_is_digit(e.msg[2]));
		return;
	}
	HOLDS(done.indexes || done.files || str_eq(text, buf_view(&copy)));
	if (copy.len > LIMIT_LOCK)
		return;
	HOLDS(lock_parse(&copy, "f", &again, &e) == 0);
	HOLDS(again.kind == l->kind && again.packages == l->packages && again.files == l->files);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_LOCK);
	CLEANUP(lock_release) struct lock l = {0};
	struct err e = ERR_INIT;
	const struct str whole = {(const char *)bytes, size};
	buf_add(&text, bytes, size);
	if (lock_parse(&text, "f", &l, &e) == 0) {
		check_lock(&l);
		check_wants(&l);
		check_copy(whole, &l);
		return 0;
	}
	HOLDS(e.kind == ERR_INVALID || e.kind == ERR_LIMIT);
	HOLDS(e.msg[0] == 'f' && e.msg[1] == ':');
	HOLDS(ascii_is_digit(e.msg[2]) || memcmp(e.msg, "f: not JSON", 11) == 0);
	return 0;
}
