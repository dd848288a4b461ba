// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/support/one-wheel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/format/compress.h"
#include "lib/os/fs.h"
#include "lib/state/catalog/catalog-file.h"
#include "server/core/missing-counts.h"

static void ok(int result, const struct err *e)
{
	if (result < 0)
		fail_msg("%s", e->msg);
}

static void write_wheel(struct fixture *f, struct stat *st)
{
	for (size_t i = 0; i < sizeof(f->bytes); i++)
		f->bytes[i] = (char)('a' + i % 23);
	CLEANUP(mem_close) int fd = open(f->wheel, O_CREAT | O_TRUNC | O_WRONLY, 0644);
	assert_int_equal(write(fd, f->bytes, sizeof(f->bytes)), sizeof(f->bytes));
	assert_int_equal(fstat(fd, st), 0);
}

static void record_wheel(struct catalog *c, int64_t platform, const struct stat *st, const struct fixture *f)
{
	struct err e = ERR_INIT;
	int64_t root;
	uint8_t sha256[SHA256_SIZE], metadata_sha256[SHA256_SIZE];
	struct catalog_effect effect;
	CLEANUP(buf_release) struct buf packed;
	buf_init(&packed, 4096);
	digest_sha256((struct str){f->bytes, sizeof(f->bytes)}, sha256);
	digest_sha256(STR(METADATA), metadata_sha256);
	ok(compress_zstd(STR(METADATA), 3, &packed, &e), &e);
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	ok(catalog_begin(c, &t, &e), &e);
	ok(catalog_folder_ensure(c, platform, "", &root, &e), &e);
	struct catalog_entry entry = {
		.platform = platform,
		.folder = root,
		.folder_path = "",
		.filename = WHEEL,
		.size = (uint64_t)st->st_size,
		.mtime_ns = fs_mtime_ns(st),
		.inode = st->st_ino,
		.sha256 = sha256,
		.project = "foo-bar",
		.version = "1.0+local.1",
		.version_key = STR("k"),
		.metadata_sha256 = metadata_sha256,
		.metadata_packed = buf_view(&packed),
		.requires_python = ">=3.8",
	};
	ok(catalog_file_put(c, &entry, &effect, &e), &e);
	ok(catalog_platform_set_scanned(c, platform, CATALOG_SCANNED, &e), &e);
	ok(catalog_commit(&t, &e), &e);
}

int one_wheel_set_up(void **state)
{
	static struct fixture f;
	struct err e = ERR_INIT;
	struct stat st;
	struct store store;
	CLEANUP(catalog_cleanup) struct catalog *c = NULL;
	CLEANUP(config_release) struct config config;
	f = (struct fixture){.folder = "/tmp/test-routes-XXXXXX"};
	assert_non_null(mkdtemp(f.folder));
	CLEANUP(mem_free) char *store_path = xasprintf("%s/store", f.folder);
	CLEANUP(mem_free) char *catalog_file = xasprintf("%s/catalog.db", f.folder);
	ok(fs_make_dirs(store_path, &e), &e);
	snprintf(f.wheel, sizeof(f.wheel), "%s/%s", store_path, WHEEL);
	write_wheel(&f, &st);
	config_init(&config);
	ok(config_set(&config, "store", "path", store_path, &e), &e);
	ok(store_open(&config, STORE_PROMPT, &store, &e), &e);
	ok(catalog_open(catalog_file, &c, &e), &e);
	ok(store_register(&store, c, &e), &e);
	store.platform[0].scanned = CATALOG_SCANNED;
	record_wheel(c, store.platform[0].id, &st, &f);
	ok(site_init(&f.site, &config, &store, c, &e), &e);
	f.context.pagecache = pagecache_new(1 << 20);
	f.context.downloads_path = "/nothing/there";
	f.context.project_filter = project_filter_new();
	f.context.project_directory = project_directory_new();
	f.context.missing_counts = missing_counts_new();
	f.context.catalog_pool = catalog_pool_new(catalog_file);
	struct config unused; // the scans never start
	config_init(&unused);
	f.context.scans = store_scans_new(&(struct store_scans_options){.config = &unused, .catalog_path = catalog_file});
	f.context.downloads_path = "/nonexistent/downloads";
	pthread_mutex_init(&f.context.totals_lock, NULL);
	atomic_store(&f.context.site, &f.site);
	project_filter_add(f.context.project_filter, f.site.store.platform[0].id, STR("foo-bar"));
	project_directory_put(f.context.project_directory, "foo-bar",
		&(struct project_place){.platform = f.site.store.platform[0].id, .files = 1, .newest = 60});
	atomic_store(&f.context.project_filter_is_complete, true);
	atomic_store(&f.context.is_filled, true);
	*state = &f;
	return 0;
}

int one_wheel_tear_down(void **state)
{
	struct fixture *f = *state;
	pagecache_free(f->context.pagecache);
	project_filter_free(f->context.project_filter);
	project_directory_free(f->context.project_directory);
	missing_counts_free(f->context.missing_counts);
	catalog_pool_free(f->context.catalog_pool);
	store_scans_free(f->context.scans);
	site_release(&f->site);
	pthread_mutex_destroy(&f->context.totals_lock);
	CLEANUP(mem_free) char *command = xasprintf("rm -r %s", f->folder);
	return system(command);
}
