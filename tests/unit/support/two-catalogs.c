// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/support/two-catalogs.h"

#include <stdlib.h>
#include <unistd.h>

static char folder[] = "two-catalogs.XXXXXX";
static char path[64];

struct catalog *two_scan, *two_other;
int64_t two_platform, two_root, two_sub;

const uint8_t two_ones[SHA256_SIZE] = {1, 1, 1}, two_twos[SHA256_SIZE] = {2, 2, 2};
const char two_six[] = "six-1.0-py3-none-any.whl";

void two_ok(int result, const struct err *e)
{
	if (result < 0)
		fail_msg("%s", e->msg);
}

int two_make_folder(void **state UNUSED)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/catalog.db", folder);
	return 0;
}

int two_remove_folder(void **state UNUSED)
{
	return rmdir(folder);
}

int64_t two_ensure(struct catalog *c, const char *below)
{
	struct err e = ERR_INIT;
	int64_t id = 0;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	two_ok(catalog_begin(c, &t, &e), &e);
	two_ok(catalog_folder_ensure(c, two_platform, below, &id, &e), &e);
	two_ok(catalog_commit(&t, &e), &e);
	return id;
}

int two_open(void **state UNUSED)
{
	struct err e = ERR_INIT;
	two_ok(catalog_open(path, &two_scan, &e), &e);
	two_ok(catalog_open(path, &two_other, &e), &e);
	two_ok(catalog_platform_add(two_other, "debian-12-x86_64", &two_platform, &e), &e);
	two_sub = two_ensure(two_other, "b");
	two_root = two_ensure(two_other, "");
	return 0;
}

int two_close(void **state UNUSED)
{
	static const char *const ending[] = {"", "-wal", "-shm", "-changes"};
	catalog_close(two_scan);
	catalog_close(two_other);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++) {
		char name[80];
		snprintf(name, sizeof(name), "%s%s", path, ending[i]);
		unlink(name);
	}
	CLEANUP(mem_free) char *arrivals = xasprintf("rm -rf '%s.arrivals'", path);
	if (system(arrivals) != 0)
		abort();
	return 0;
}

struct catalog_entry two_entry(int64_t in, const uint8_t *sha256)
{
	return (struct catalog_entry){.platform = two_platform,
		.folder = in,
		.folder_path = in == two_root ? "" : "b",
		.filename = two_six,
		.trusted = true,
		.size = 100,
		.mtime_ns = 5,
		.inode = 7,
		.sha256 = sha256,
		.project = "six",
		.version = "1.0",
		.version_key = STR("\x01\0\x02")};
}

struct catalog_effect two_put(struct catalog *c, const struct catalog_entry *file)
{
	struct err e = ERR_INIT;
	struct catalog_effect effect;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	two_ok(catalog_begin(c, &t, &e), &e);
	two_ok(catalog_file_put(c, file, &effect, &e), &e);
	two_ok(catalog_commit(&t, &e), &e);
	return effect;
}

void two_put_new(struct catalog *c, int64_t in, const uint8_t *sha256)
{
	struct catalog_entry file = two_entry(in, sha256);
	assert_false(two_put(c, &file).was_left);
}

static int save_row(void *ctx, const struct catalog_known *file, struct err *e UNUSED)
{
	*(struct catalog_known *)ctx = *file;
	return 0;
}

struct catalog_known two_look(int64_t in)
{
	struct err e = ERR_INIT;
	struct catalog_known known = {0};
	two_ok(catalog_folder_files(two_scan, in, save_row, &known, &e), &e);
	return known;
}

struct catalog_effect two_put_as_scan(int64_t in, const uint8_t *sha256, const struct catalog_known *known)
{
	struct catalog_entry file = two_entry(in, sha256);
	file.is_guarded = true;
	file.id = known->id;
	file.written = known->written;
	return two_put(two_scan, &file);
}

bool two_remove(struct catalog *c, const struct catalog_known *known)
{
	struct err e = ERR_INIT;
	struct catalog_effect effect;
	char name[LIMIT_FILE_NAME + 1];
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	two_ok(catalog_begin(c, &t, &e), &e);
	two_ok(catalog_file_remove(c, known->id, known->written, name, &effect, &e), &e);
	two_ok(catalog_commit(&t, &e), &e);
	return !effect.was_left;
}

struct catalog_effect two_mark(struct catalog *c, int64_t in, enum mark kind, const char *reason, int64_t seen)
{
	struct err e = ERR_INIT;
	struct catalog_effect effect;
	struct catalog_mark m = {.is_guarded = c == two_scan,
		.written = seen,
		.platform = two_platform,
		.folder = in,
		.folder_path = in == two_root ? "" : "b",
		.filename = two_six,
		.mark = kind,
		.text = reason};
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	two_ok(catalog_begin(c, &t, &e), &e);
	two_ok(catalog_mark_put(c, &m, &effect, &e), &e);
	two_ok(catalog_commit(&t, &e), &e);
	return effect;
}

static int save_written(void *ctx, const struct catalog_known_mark *m, struct err *e UNUSED)
{
	*(int64_t *)ctx = m->written;
	return 0;
}

int64_t two_look_at_mark(int64_t in)
{
	struct err e = ERR_INIT;
	int64_t written = 0;
	two_ok(catalog_folder_marks(two_scan, in, save_written, &written, &e), &e);
	return written;
}

static int print_file(void *ctx, const struct catalog_file *file, struct err *e UNUSED)
{
	buf_printf(ctx, "%d%s%s;", file->sha256[0], file->yanked ? " yanked " : "", file->yanked ? file->yanked : "");
	return 0;
}

void two_assert_page(const char *expected)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1000);
	two_ok(catalog_project_files(two_other, two_platform, "six", print_file, &out, &e), &e);
	assert_string_equal(out.data, expected);
}
