// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/support/channel-store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/text/filename.h"
#include "lib/format/compress.h"
#include "lib/os/fs.h"
#include "lib/state/catalog/catalog-file.h"
#include "lib/state/views/membership.h"

static const char *const platforms[] = {CHANNEL_DEBIAN, CHANNEL_UBUNTU};

static void channel_ok(int result, const struct err *e)
{
	if (result < 0)
		fail_msg("%s", e->msg);
}

static size_t platform_index(const char *name)
{
	return strcmp(name, platforms[1]) == 0;
}

static void add_store_platform(struct channel_store *s, size_t i)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *path = xasprintf("%s/store/%s", s->folder, platforms[i]);
	channel_ok(fs_make_dirs(path, &e), &e);
	channel_ok(catalog_platform_add(s->catalog, platforms[i], &s->platform[i], &e), &e);
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	channel_ok(catalog_begin(s->catalog, &t, &e), &e);
	channel_ok(catalog_folder_ensure(s->catalog, s->platform[i], "", &s->root[i], &e), &e);
	channel_ok(catalog_commit(&t, &e), &e);
}

int channel_store_set_up(void **state)
{
	static struct channel_store s;
	struct err e = ERR_INIT;
	s = (struct channel_store){.folder = "/tmp/test-channel-XXXXXX"};
	assert_non_null(mkdtemp(s.folder));
	CLEANUP(mem_free) char *path = xasprintf("%s/catalog.db", s.folder);
	channel_ok(catalog_open(path, &s.catalog, &e), &e);
	for (size_t i = 0; i < ARRAY_SIZE(platforms); i++)
		add_store_platform(&s, i);
	*state = &s;
	return 0;
}

int channel_store_tear_down(void **state)
{
	struct channel_store *s = *state;
	site_release(&s->site);
	catalog_close(s->catalog);
	CLEANUP(mem_free) char *command = xasprintf("rm -r %s", s->folder);
	return system(command);
}

static void put_wheel(struct channel_store *s, size_t platform, const struct filename *name, const char *filename,
	int64_t came)
{
	struct err e = ERR_INIT;
	struct catalog_effect effect;
	uint8_t sha256[SHA256_SIZE];
	digest_sha256(str_from(filename), sha256);
	const struct catalog_entry entry = {
		.platform = s->platform[platform],
		.folder = s->root[platform],
		.folder_path = "",
		.filename = filename,
		.trusted = true,
		.size = 1000,
		.mtime_ns = came * 1000000000,
		.sha256 = sha256,
		.project = name->project,
		.version = name->version.text,
		.version_key = name->version.key,
	};
	channel_ok(catalog_file_put(s->catalog, &entry, &effect, &e), &e);
}

void channel_store_wheel(struct channel_store *s, const char *platform, const char *filename, int64_t came)
{
	struct err e = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	channel_ok(filename_parse(str_from(filename), &name, &e), &e);
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	channel_ok(catalog_begin(s->catalog, &t, &e), &e);
	put_wheel(s, platform_index(platform), &name, filename, came);
	channel_ok(catalog_commit(&t, &e), &e);
}

void channel_store_evidence(struct channel_store *s, const char *filename, const struct catalog_evidence *r)
{
	struct err e = ERR_INIT;
	struct catalog_evidence record = *r;
	uint8_t sha256[SHA256_SIZE];
	CLEANUP(buf_release) struct buf packed;
	CLEANUP(filename_release) struct filename name = {0};
	buf_init(&packed, 1000);
	channel_ok(filename_parse(str_from(filename), &name, &e), &e);
	digest_sha256(str_from(filename), sha256);
	s->evidence++;
	digest_sha256((struct str){(const char *)&s->evidence, sizeof(s->evidence)}, record.id);
	memcpy(s->last, record.id, SHA256_SIZE);
	record.order = r->made * 1000000000 + s->evidence;
	record.received = r->made;
	record.wheels = 1;
	channel_ok(compress_zstd(STR("{}"), 1, &packed, &e), &e);
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	channel_ok(catalog_begin(s->catalog, &t, &e), &e);
	channel_ok(catalog_evidence_put(s->catalog, &record, &(struct catalog_tested){.project = name.project,
				   .sha256 = sha256,
				   .version = name.version.key,
				   .filename = filename},
			   buf_view(&packed), &e),
		&e);
	channel_ok(catalog_commit(&t, &e), &e);
}

static void change_member(struct channel_store *s, int64_t generation, bool is_added, size_t platform,
	const char *filename)
{
	struct err e = ERR_INIT;
	uint8_t sha256[SHA256_SIZE];
	CLEANUP(filename_release) struct filename name = {0};
	channel_ok(filename_parse(str_from(filename), &name, &e), &e);
	digest_sha256(str_from(filename), sha256);
	const struct catalog_member m = {
		.platform = s->platform[platform], .project = name.project, .filename = filename, .sha256 = sha256};
	channel_ok(is_added ? catalog_view_add_member(s->catalog, "tested", generation, &m, &e)
			    : catalog_view_end_member(s->catalog, "tested", generation, m.platform, filename, sha256,
				      &e),
		&e);
}

// The file of a generation that stands on the last record.
static void pack_generation(const struct channel_store *s, int64_t number, struct buf *out)
{
	struct err e = ERR_INIT;
	uint8_t id[1][SHA256_SIZE];
	CLEANUP(buf_release) struct buf text;
	CLEANUP(mem_free) char *reason = xcalloc(s->padding + 1, 1);
	memset(reason, 'x', s->padding);
	memcpy(id[0], s->last, SHA256_SIZE);
	const struct membership_change change = {.view = "tested",
		.generation = number,
		.has_previous = number > 1,
		.action = "promote",
		.by = "ci",
		.address = "",
		.reason = reason,
		.evidence = (const uint8_t(*)[SHA256_SIZE])id,
		.evidences = s->evidence > 0};
	buf_init(&text, LIMIT_MEMBERSHIP);
	buf_init(out, LIMIT_MEMBERSHIP);
	membership_write(&change, &text);
	channel_ok(compress_zstd(buf_view(&text), 1, out, &e), &e);
}

void channel_store_change(struct channel_store *s, const char *action, const char *platform, const char *filename,
	int64_t made)
{
	struct err e = ERR_INIT;
	struct catalog_view before;
	CLEANUP(buf_release) struct buf packed;
	bool is_added = strcmp(action, "promote") == 0;
	uint8_t sha256[SHA256_SIZE] = {1};
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	channel_ok(catalog_view_find(s->catalog, "tested", &before, &e), &e);
	pack_generation(s, before.generation + 1, &packed);
	channel_ok(catalog_begin(s->catalog, &t, &e), &e);
	const struct catalog_generation g = {.number = before.generation + 1,
		.made = made,
		.action = action,
		.by = "ci",
		.reason = "the <b>night</b>",
		.added = is_added,
		.removed = !is_added,
		.packed = buf_view(&packed)};
	channel_ok(catalog_view_append(s->catalog, "tested", &g, sha256, &e), &e);
	change_member(s, g.number, is_added, platform_index(platform), filename);
	channel_ok(catalog_commit(&t, &e), &e);
}

static void write_channel_config(const struct channel_store *s, const char *path, const char *tested)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f,
		"[store]\npath = %s/store\n[platform " CHANNEL_DEBIAN "]\npythons = 3.11 3.12\n"
		"[platform " CHANNEL_UBUNTU "]\npythons = 3.12\n"
		"[view staging]\nplatforms = " CHANNEL_DEBIAN " " CHANNEL_UBUNTU "\n[view tested]\nfrom = staging\n%s",
		s->folder, tested);
	assert_int_equal(fclose(f), 0);
}

static void finish_channel_scan(struct channel_store *s)
{
	struct err e = ERR_INIT;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	channel_ok(catalog_begin(s->catalog, &t, &e), &e);
	for (size_t i = 0; i < ARRAY_SIZE(platforms); i++)
		channel_ok(catalog_platform_set_scanned(s->catalog, s->platform[i], CATALOG_SCANNED, &e), &e);
	channel_ok(catalog_views_set_read(s->catalog, &e), &e);
	channel_ok(catalog_commit(&t, &e), &e);
}

void channel_store_open(struct channel_store *s, const char *tested)
{
	struct err e = ERR_INIT;
	struct store store;
	CLEANUP(config_release) struct config config;
	CLEANUP(mem_free) char *path = xasprintf("%s/wheelcache.conf", s->folder);
	site_release(&s->site);
	write_channel_config(s, path, tested);
	finish_channel_scan(s);
	config_init(&config);
	channel_ok(config_read(&config, path, &e), &e);
	channel_ok(store_open(&config, STORE_PROMPT, &store, &e), &e);
	channel_ok(store_register(&store, s->catalog, &e), &e);
	channel_ok(site_init(&s->site, &config, &store, s->catalog, &e), &e);
}
