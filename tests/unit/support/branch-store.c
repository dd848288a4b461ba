// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/support/branch-store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/filename.h"
#include "lib/state/catalog/catalog-file.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/catalog/catalog-upstream.h"
#include "lib/state/catalog/catalog-view.h"

#define UPSTREAM "http://127.0.0.1:9/simple/"

static const uint8_t file_sha256[SHA256_SIZE] = {0xab};
static char folder[] = "missing-make.XXXXXX";

void branch_store_ok(int result, const struct err *e)
{
	if (result < 0)
		fail_msg("%s", e->msg);
}

const char *branch_store_path(const char *name)
{
	static char path[256];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

void branch_store_write(const char *name, const char *text)
{
	FILE *f = fopen(branch_store_path(name), "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int64_t platform_of(struct branch_store *f, const char *name)
{
	return store_platform_named(&f->store, str_from(name))->id;
}

void branch_store_set_scanned(struct branch_store *f, const char *platform, enum catalog_scanned scanned)
{
	struct err e = ERR_INIT;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	branch_store_ok(catalog_begin(f->catalog, &t, &e), &e);
	branch_store_ok(catalog_platform_set_scanned(f->catalog, platform_of(f, platform), scanned, &e), &e);
	branch_store_ok(catalog_commit(&t, &e), &e);
}

static int64_t begin_in_root(struct branch_store *f, const char *platform, struct catalog_transaction *t)
{
	struct err e = ERR_INIT;
	int64_t id = 0;
	branch_store_ok(catalog_begin(f->catalog, t, &e), &e);
	branch_store_ok(catalog_folder_ensure(f->catalog, platform_of(f, platform), "", &id, &e), &e);
	return id;
}

void branch_store_add(struct branch_store *f, const char *platform, const char *filename, const char *requires_python)
{
	struct err e = ERR_INIT;
	struct catalog_effect effect;
	CLEANUP(filename_release) struct filename name = {0};
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	branch_store_ok(filename_parse(str_from(filename), &name, &e), &e);
	const struct catalog_entry entry = {
		.platform = platform_of(f, platform),
		.folder = begin_in_root(f, platform, &t),
		.folder_path = "",
		.filename = filename,
		.trusted = true,
		.size = 123,
		.sha256 = file_sha256,
		.project = name.project,
		.version = name.version.text,
		.version_key = name.version.key,
		.requires_python = requires_python,
	};
	branch_store_ok(catalog_file_put(f->catalog, &entry, &effect, &e), &e);
	branch_store_ok(catalog_commit(&t, &e), &e);
}

void branch_store_promote(struct branch_store *f, const char *view, const char *platform, const char *project,
	const char *filename)
{
	struct err e = ERR_INIT;
	struct catalog_view v;
	const struct catalog_member m = {
		.platform = platform_of(f, platform), .project = project, .filename = filename, .sha256 = file_sha256};
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	branch_store_ok(catalog_begin(f->catalog, &t, &e), &e);
	branch_store_ok(catalog_view_find(f->catalog, view, &v, &e), &e);
	const struct catalog_generation g = {.number = v.generation + 1,
		.made = 1000,
		.action = "promote",
		.by = "",
		.reason = "",
		.added = 1,
		.packed = STR("")};
	branch_store_ok(catalog_view_append(f->catalog, view, &g, file_sha256, &e), &e);
	branch_store_ok(catalog_view_add_member(f->catalog, view, g.number, &m, &e), &e);
	branch_store_ok(catalog_commit(&t, &e), &e);
}

void branch_store_add_tombstone(struct branch_store *f, const char *platform, const char *filename, const char *text)
{
	struct err e = ERR_INIT;
	struct catalog_effect effect;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	const struct catalog_mark mark = {
		.platform = platform_of(f, platform),
		.folder = begin_in_root(f, platform, &t),
		.folder_path = "",
		.filename = filename,
		.mark = MARK_PRUNED,
		.text = text,
	};
	branch_store_ok(catalog_mark_put(f->catalog, &mark, &effect, &e), &e);
	branch_store_ok(catalog_commit(&t, &e), &e);
}

void branch_store_answer(struct branch_store *f, const char *project, const char *result, struct str facts)
{
	struct err e = ERR_INIT;
	int64_t changed;
	const struct catalog_upstream row = {.project = project,
		.source = UPSTREAM,
		.result = result,
		.why = "",
		.last_definitive = result,
		.asked = 1000,
		.fetched = 1000,
		.certain = 1000,
		.max_age = -1,
		.page = facts};
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	branch_store_ok(catalog_begin(f->catalog, &t, &e), &e);
	branch_store_ok(catalog_upstream_put(f->catalog, &row, facts.len > 0, true, &changed, &e), &e);
	branch_store_ok(catalog_commit(&t, &e), &e);
}

void branch_store_add_page(struct branch_store *f, const char *project, const char *names)
{
	enum { FILES = 8 };
	struct err e = ERR_INIT;
	struct simplepage_file file[FILES] = {{0}};
	char text[FILES][128], url[FILES][160], python[FILES][32];
	struct simplepage page = {.project = project, .file = file};
	CLEANUP(buf_release) struct buf packed;
	struct str rest = str_from(names);
	buf_init(&packed, 1 << 20);
	while (rest.len) {
		struct str name = str_cut(&rest, ' ');
		size_t i = page.files++;
		file[i].size = 77;
		if (name.ptr[0] == '!') {
			file[i].yanked = "";
			name = str_slice(name, 1, name.len);
		}
		if (name.ptr[0] == '<') {
			struct str set = str_cut(&name, ':');
			snprintf(python[i], sizeof(python[i]), STR_FMT, STR_ARG(set));
			file[i].requires_python = python[i];
		}
		snprintf(text[i], sizeof(text[i]), STR_FMT, STR_ARG(name));
		snprintf(url[i], sizeof(url[i]), "https://files.invalid/" STR_FMT, STR_ARG(name));
		file[i].filename = text[i];
		file[i].url = url[i];
	}
	branch_store_ok(simplepage_pack(&page, &packed, &e), &e);
	branch_store_answer(f, project, "known", buf_view(&packed));
}

void branch_store_add_attempt(struct branch_store *f, const char *project, const char *version,
	enum results_result result, int64_t begun, const char *awaiting)
{
	struct err e = ERR_INIT;
	char id[RESULTS_ID + 1];
	enum results_change change;
	const struct results_attempt a = {
		.id = id,
		.platform = X86,
		.python = "3.10",
		.project = project,
		.version = version,
		.result = result,
		.step = "build",
		.why = "gcc: no such file",
		.begun = begun,
		.awaiting = awaiting,
	};
	results_new_id(id);
	branch_store_ok(results_put(f->results, &a, (struct str){0}, NULL, &change, &e), &e);
}

static const char config_text[] = "[store]\npath = %1$s/store\n[catalog]\npath = %1$s/catalog.db\n"
				  "[upstream]\nurl = " UPSTREAM "\nprivate = secret\n"
				  "[platform " ARM "]\npythons = 3.11\n[platform " X86 "]\npythons = 3.10\n"
				  "[branch master]\nconstraints = %1$s/master.txt\n"
				  "[branch old]\nconstraints = %1$s/old.txt\nplatforms = ubuntu-*\n"
				  "[branch ended]\nconstraints = %1$s/old.txt\nuntil = 2020-01-01\n"
				  "[branch loose]\nrequirements = %1$s/loose.txt\npythons = 3.10\n"
				  "[build]\nskip = %1$s/skip.txt\n";

int branch_store_set_up(void **state)
{
	struct err e = ERR_INIT;
	char text[2048];
	struct branch_store *f = xcalloc(1, sizeof(*f));
	*state = f;
	if (!mkdtemp(folder))
		return -1;
	mkdir(branch_store_path("store"), 0755);
	mkdir(branch_store_path("store/" X86), 0755);
	mkdir(branch_store_path("store/" ARM), 0755);
	char *here = realpath(folder, NULL);
	snprintf(text, sizeof(text), config_text, here);
	free(here);
	branch_store_write("wheelcache.conf", text);
	branch_store_write("master.txt",
		"held==1.0\nabi==1.0\nthere==1.0\nlibc==1.0\npure==1.0\nsource==1.0\nlocal==1.0\n");
	branch_store_write("old.txt", "held==1.0\nsource==0.9\nelsewhere==1.0;python_version<'3.0'\n");
	branch_store_write("loose.txt", "loose\n");
	branch_store_write("skip.txt", "");
	config_init(&f->config);
	branch_store_ok(config_read(&f->config, branch_store_path("wheelcache.conf"), &e), &e);
	branch_store_ok(store_open(&f->config, STORE_PATIENT, &f->store, &e), &e);
	branch_store_ok(catalog_open(f->config.catalog, &f->catalog, &e), &e);
	branch_store_ok(store_register(&f->store, f->catalog, &e), &e);
	branch_store_ok(results_open(branch_store_path("results"), NULL, &f->results, &e), &e);
	branch_store_set_scanned(f, X86, CATALOG_SCANNED);
	branch_store_set_scanned(f, ARM, CATALOG_SCANNED);
	return 0;
}

int branch_store_tear_down(void **state)
{
	static const char *const names[] = {"wheelcache.conf", "master.txt", "old.txt", "loose.txt", "pins.txt", "list.txt", "skip.txt",
		"packages.txt", "catalog.db", "catalog.db-wal", "catalog.db-shm", "catalog.db-changes", "results",
		"results-wal", "results-shm", "results-changes", "catalog.db.names"};
	struct branch_store *f = *state;
	results_close(f->results);
	catalog_close(f->catalog);
	store_release(&f->store);
	config_release(&f->config);
	free(f);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unlink(branch_store_path(names[i]));
	CLEANUP(mem_free) char *attempts = xasprintf("rm -rf '%s/results.attempts' '%s/catalog.db.arrivals' '%s/catalog.db.offers'", folder, folder, folder);
	if (system(attempts) != 0)
		abort();
	rmdir(branch_store_path("store/" X86));
	rmdir(branch_store_path("store/" ARM));
	rmdir(branch_store_path("store"));
	int removed = rmdir(folder);
	memcpy(folder + sizeof(folder) - 7, "XXXXXX", 6);
	return removed;
}

void branch_store_set(struct branch_store *f, const char *section, const char *key, const char *value)
{
	struct err e = ERR_INIT;
	branch_store_ok(config_set(&f->config, section, key, value, &e), &e);
}
