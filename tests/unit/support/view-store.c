// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/support/view-store.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/os/fs.h"

char view_store_folder[80];
struct catalog *view_store_one, *view_store_other;
static char top[32], path[2][64];
static char wheel[10][64];

void view_store_ok(int result, const struct err *e)
{
	if (result < 0)
		fail_msg("%s", e->msg);
}

static struct catalog *open_catalog(const char *file)
{
	struct err e = ERR_INIT;
	struct catalog *c = NULL;
	view_store_ok(catalog_open(file, &c, &e), &e);
	return c;
}

int view_store_open(void **state UNUSED)
{
	snprintf(top, sizeof(top), "view-store.XXXXXX");
	if (!mkdtemp(top))
		return -1;
	snprintf(view_store_folder, sizeof(view_store_folder), "%s/store/.wheelcache-views", top);
	for (int i = 0; i < 2; i++)
		snprintf(path[i], sizeof(path[i]), "%s/catalog%d.db", top, i);
	for (int i = 0; i < 10; i++)
		snprintf(wheel[i], sizeof(wheel[i]), "six-1.%d-py3-none-any.whl", i);
	view_store_one = open_catalog(path[0]);
	view_store_other = open_catalog(path[1]);
	return 0;
}

int view_store_close(void **state UNUSED)
{
	struct err e = ERR_INIT;
	catalog_close(view_store_one);
	catalog_close(view_store_other);
	return tree_remove(AT_FDCWD, top, &e);
}

void view_store_lose(struct catalog **catalog)
{
	static const char *const ending[] = {"", "-wal", "-shm", "-changes"};
	const char *file = path[catalog == &view_store_other];
	catalog_close(*catalog);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++) {
		char name[80];
		snprintf(name, sizeof(name), "%s%s", file, ending[i]);
		unlink(name);
	}
	*catalog = open_catalog(file);
}

void view_store_shell(const char *command)
{
	CLEANUP(mem_free) char *line = xasprintf("cd %s && %s", view_store_folder, command);
	if (system(line) != 0)
		fail_msg("%s", line);
}

struct membership_change view_store_change(int64_t generation, int add, int remove)
{
	static struct membership_file file[2];
	const int number[] = {add, remove};
	for (int i = 0; i < 2; i++) {
		file[i] = (struct membership_file){
			.platform = "debian-12-x86_64", .project = "six", .filename = wheel[number[i]]};
		file[i].sha256[0] = (uint8_t)number[i];
	}
	return (struct membership_change){.view = "tested",
		.generation = generation,
		.action = "promote",
		.by = "token ci",
		.address = "127.0.0.1",
		.reason = "night",
		.add = &file[0],
		.adds = add > 0,
		.remove = &file[1],
		.removes = remove > 0};
}

enum err_kind view_store_append(struct catalog *c, int64_t generation, int add, int remove)
{
	struct err e = ERR_INIT;
	struct membership_change m = view_store_change(generation, add, remove);
	return membership_append(view_store_folder, c, &m, &e) < 0 ? e.kind : ERR_NONE;
}

static int print_number(void *ctx, const struct catalog_generation *g, struct err *e UNUSED)
{
	buf_printf(ctx, "%lld ", (long long)g->number);
	return 0;
}

static int print_wheel(void *ctx, const struct catalog_member *m, struct err *e UNUSED)
{
	buf_printf(ctx, " %d", m->sha256[0]);
	return 0;
}

void view_store_assert(struct catalog *c, const char *expected)
{
	struct err e = ERR_INIT;
	struct catalog_view v;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1000);
	view_store_ok(catalog_view_find(c, "tested", &v, &e), &e);
	buf_puts(&out, v.is_damaged ? "damaged " : "");
	view_store_ok(catalog_view_generations(c, "tested", INT64_MAX, 100, print_number, &out, &e), &e);
	buf_putc(&out, ':');
	view_store_ok(catalog_view_members(c, "tested", GENERATION_NEWEST, NULL, print_wheel, &out, &e), &e);
	assert_string_equal(out.data, expected);
}

static void print_damage(void *ctx, const char *file, const char *reason)
{
	buf_printf(ctx, "%s: %s\n", file, reason);
}

void view_store_sync(struct catalog *c, const char *expected)
{
	struct err e = ERR_INIT;
	struct views_sync_counts counts = {0};
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 4000);
	int whole = views_sync_view(view_store_folder, "tested", c, print_damage, &out, &counts, &e);
	view_store_ok(whole, &e);
	assert_string_equal(out.data, expected);
	assert_int_equal(counts.damaged > 0, *expected != '\0');
}
