// SPDX-License-Identifier: Apache-2.0
// Says what is missing in given cases, for test-missing.py: missing-tool CATALOG RESULTS. Both files are made; all
// cases are in them, so no two cases have a project in common. Reads one case per line, a JSON object. Prints one line
// for each: what missing_json() writes, with "micros" (hexadecimal) in each row, and "matrices"; or {"error":TEXT}.
//
//     {"config":[[SECTION,KEY,VALUE]…],
//      "files":[{"platform","filename","requires-python":TEXT|null,"yanked":REASON|null}],
//      "removed":[{"platform","filename","requires-python":TEXT|null,"reason","by":TEXT|null,"has-file":bool}],
//      "upstream":[{"project","result":a upstream_result_name,"page":JSON, if it is known}…],
//      "attempts":[{"platform","python","project","version","result","begun":SECONDS,"recipe","awaiting":TEXT}],
//      "options":{"branch":TEXT|null,"platform":[TEXT…],"python":TEXT|null,"project":TEXT|null,"pure":bool,"all":bool},
//      "matrices":[{"project","version":TEXT|null,"together":bool,"unmerged":bool}]}
//
// Each matrix becomes {"version","before","cells":[[PLATFORM,PYTHON,STATE,FILENAME|null,lost:bool]]}.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/filename.h"
#include "builder/missing/missing-json.h"
#include "builder/missing/missing.h"
#include "builder/missing/project-matrix.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-file.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/catalog/catalog-upstream.h"
#include "lib/state/results/results.h"
#include "lib/state/store/tombstone.h"
#include "lib/state/upstream/upstream.h"

enum { ANSWER_MAX = 64 << 20, PLATFORMS_MAX = 8 };

struct missing_world {
	struct catalog *catalog;
	struct results *results;
	struct config config;
	struct store store;
};

static int read_config(struct config *c, const struct jsondoc *from, struct err *e)
{
	config_init(c);
	for (size_t i = 0; i < jsondoc_count(from); i++) {
		const struct jsondoc *row = jsondoc_at(from, i);
		if (config_set(c, jsondoc_at_str(row, 0), jsondoc_at_str(row, 1), jsondoc_at_str(row, 2), e) < 0)
			return -1;
	}
	return 0;
}

// --- the store ---

static int put_file(struct missing_world *w, const struct platform *p, int64_t folder, const struct jsondoc *file,
	struct err *e)
{
	CLEANUP(filename_release) struct filename name = {0};
	uint8_t sha256[SHA256_SIZE] = {1};
	struct catalog_effect effect;
	if (filename_parse(str_from(jsondoc_get_str(file, "filename")), &name, e) < 0)
		return -1;
	const struct catalog_entry entry = {
		.platform = p->id,
		.folder = folder,
		.folder_path = "",
		.filename = jsondoc_get_str(file, "filename"),
		.trusted = true,
		.size = 1,
		.mtime_ns = 1,
		.sha256 = sha256,
		.project = name.project,
		.version = name.version.text,
		.version_key = name.version.key,
		.requires_python = jsondoc_get_str(file, "requires-python"),
	};
	return catalog_file_put(w->catalog, &entry, &effect, e);
}

static int put_mark(struct missing_world *w, const struct platform *p, int64_t folder, const char *filename,
	enum mark mark, const char *text, struct err *e)
{
	struct catalog_effect effect;
	const struct catalog_mark put = {.platform = p->id,
		.folder = folder,
		.folder_path = "",
		.filename = filename,
		.mark = mark,
		.text = text};
	return text ? catalog_mark_put(w->catalog, &put, &effect, e) : 0;
}

static int put_tombstone(struct missing_world *w, const struct platform *p, int64_t folder, const struct jsondoc *file,
	struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	const struct tombstone t = {.reason = jsondoc_get_str(file, "reason"),
		.size = -1,
		.verdict = jsondoc_get_str(file, "by"),
		.run = jsondoc_get_str(file, "by") ? "a run" : NULL,
		.requires_python = jsondoc_get_str(file, "requires-python")};
	buf_init(&text, LIMIT_SIDECAR);
	if (tombstone_write(&t, &text, e) < 0)
		return -1;
	return put_mark(w, p, folder, jsondoc_get_str(file, "filename"), MARK_PRUNED, text.data, e);
}

static int put_files(struct missing_world *w, const struct jsondoc *files, bool are_removed, struct err *e)
{
	for (size_t i = 0; i < jsondoc_count(files); i++) {
		const struct jsondoc *file = jsondoc_at(files, i);
		const struct platform *p = store_platform_named(&w->store, str_from(jsondoc_get_str(file, "platform")));
		int64_t folder;
		if (!p)
			return err_set(e, ERR_INVALID, "no such platform");
		if (catalog_folder_ensure(w->catalog, p->id, "", &folder, e) < 0)
			return -1;
		if (are_removed && put_tombstone(w, p, folder, file, e) < 0)
			return -1;
		if ((!are_removed || jsondoc_is_true(file, "has-file")) && put_file(w, p, folder, file, e) < 0)
			return -1;
		if (put_mark(w, p, folder, jsondoc_get_str(file, "filename"), MARK_YANKED,
			    jsondoc_get_str(file, "yanked"), e) < 0)
			return -1;
	}
	return 0;
}

// --- upstream ---

static int pack_page(const char *project, const char *text, struct buf *out, struct err *e)
{
	enum simplepage_fault fault;
	CLEANUP(simplepage_release) struct simplepage page = {0};
	const char *type = "application/vnd.pypi.simple.v1+json";
	if (!text)
		return 0;
	if (simplepage_parse(str_from(text), str_from(type), "https://pypi.org/simple/x/", project, &page, &fault, e) <
		0)
		return -1;
	return simplepage_pack(&page, out, e);
}

static int put_answer(struct missing_world *w, const char *project, const struct jsondoc *answer, struct err *e)
{
	CLEANUP(buf_release) struct buf page;
	int64_t changed;
	buf_init(&page, ANSWER_MAX);
	const char *result = jsondoc_get_str(answer, "result");
	if (strcmp(result, upstream_result_name[UPSTREAM_NEVER_ASKED]) == 0)
		return 0;
	if (pack_page(project, jsondoc_get_str(answer, "page"), &page, e) < 0)
		return -1;
	const struct catalog_upstream row = {
		.project = project,
		.source = "https://pypi.org/simple/",
		.result = result,
		.why = "",
		.last_definitive = result,
		.asked = clock_wall_seconds(),
		.fetched = clock_wall_seconds(),
		.max_age = -1,
		.page = buf_view(&page),
	};
	return catalog_upstream_put(w->catalog, &row, true, true, &changed, e);
}

static int put_answers(struct missing_world *w, const struct jsondoc *from, struct err *e)
{
	for (size_t i = 0; i < jsondoc_count(from); i++) {
		const struct jsondoc *answer = jsondoc_at(from, i);
		if (put_answer(w, jsondoc_get_str(answer, "project"), answer, e) < 0)
			return -1;
	}
	return 0;
}

// --- earlier attempts ---

static enum results_result find_result(const char *name)
{
	for (int i = 0; i < RESULTS_RESULT_COUNT; i++)
		if (strcmp(results_result_name[i], name) == 0)
			return (enum results_result)i;
	return RESULTS_RUNNING;
}

static int put_attempts(struct missing_world *w, const struct jsondoc *from, struct err *e)
{
	for (size_t i = 0; i < jsondoc_count(from); i++) {
		const struct jsondoc *one = jsondoc_at(from, i);
		char id[RESULTS_ID + 1];
		enum results_change change;
		results_new_id(id);
		struct results_attempt a = {
			.id = id,
			.platform = jsondoc_get_str(one, "platform"),
			.python = jsondoc_get_str(one, "python"),
			.project = jsondoc_get_str(one, "project"),
			.version = jsondoc_get_str(one, "version"),
			.result = find_result(jsondoc_get_str(one, "result")),
			.step = "build",
			.why = "it did not build",
			.seconds = 1,
			.awaiting = jsondoc_get_str(one, "awaiting"),
			.recipe = jsondoc_get_str(one, "recipe"),
			.builder = "host",
			.provenance = "{}",
		};
		jsondoc_get_int(one, "begun", &a.begun);
		if (results_put(w->results, &a, (struct str){0}, NULL, &change, e) < 0)
			return -1;
	}
	return 0;
}

// --- a case ---

static int set_scanned(struct missing_world *w, struct err *e)
{
	for (size_t i = 0; i < w->store.platform_count; i++)
		if (catalog_platform_set_scanned(w->catalog, w->store.platform[i].id, CATALOG_SCANNED, e) < 0)
			return -1;
	return 0;
}

static int put_facts(struct missing_world *w, const struct jsondoc *from, struct err *e)
{
	if (store_open(&w->config, STORE_PROMPT, &w->store, e) < 0 || store_register(&w->store, w->catalog, e) < 0)
		return -1;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(w->catalog, &t, e) < 0 || set_scanned(w, e) < 0 ||
		put_files(w, jsondoc_get(from, "files"), false, e) < 0 ||
		put_files(w, jsondoc_get(from, "removed"), true, e) < 0 ||
		put_answers(w, jsondoc_get(from, "upstream"), e) < 0 || catalog_commit(&t, e) < 0)
		return -1;
	return put_attempts(w, jsondoc_get(from, "attempts"), e);
}

static struct jsondoc *micros_of(const struct missing *m)
{
	struct jsondoc *all = jsondoc_array();
	for (size_t i = 0; i < m->rows; i++) {
		char text[20];
		snprintf(text, sizeof(text), "%" PRIx64, m->row[i].micros);
		jsondoc_add_str(all, text);
	}
	return all;
}

static struct jsondoc *matrix_json(const struct project_matrix *m)
{
	struct jsondoc *out = jsondoc_object(), *cells = jsondoc_array();
	jsondoc_put_str(out, "version", m->version);
	jsondoc_put_str(out, "before", m->before);
	for (size_t i = 0; i < m->cells; i++) {
		struct jsondoc *cell = jsondoc_object();
		jsondoc_put_str(cell, "platform", m->cell[i].platform);
		jsondoc_put_str(cell, "python", m->cell[i].python);
		jsondoc_put_str(cell, "state", wheel_status_name[m->cell[i].state]);
		jsondoc_put_str(cell, "filename", m->cell[i].filename);
		jsondoc_put_bool(cell, "lost", m->cell[i].is_lost);
		jsondoc_add(cells, cell);
	}
	jsondoc_put(out, "cells", cells);
	return out;
}

static int make_matrix(struct missing_world *w, const struct jsondoc *asked, struct jsondoc *all, struct err *e)
{
	const struct platform *platform[PLATFORMS_MAX];
	CLEANUP(project_matrix_cleanup) struct project_matrix_maker *maker = NULL;
	CLEANUP(project_matrix_release) struct project_matrix m = {0};
	size_t count = 0;
	for (; count < w->store.platform_count && count < PLATFORMS_MAX; count++)
		platform[count] = &w->store.platform[count];
	bool lacks[PLATFORMS_MAX];
	for (size_t i = 0; i < PLATFORMS_MAX; i++)
		lacks[i] = jsondoc_is_true(asked, "unmerged");
	const struct matrix_view view = {platform, count, NULL, 0, NULL};
	const struct project_matrix_options o = {
		.config = &w->config,
		.platform = platform,
		.platforms = count,
		.view = &view,
		.views = jsondoc_is_true(asked, "together"),
		.lacks_upstream = lacks,
		.results = w->results,
	};
	if (project_matrix_open(&o, &maker, e) < 0 ||
		project_matrix_make(maker, w->catalog, jsondoc_get_str(asked, "project"),
			jsondoc_get_str(asked, "version"), &m, e) < 0)
		return -1;
	jsondoc_add(all, matrix_json(&m));
	return 0;
}

static int make_matrices(struct missing_world *w, const struct jsondoc *asked, struct jsondoc *out, struct err *e)
{
	struct jsondoc *all = jsondoc_array();
	jsondoc_put(out, "matrices", all);
	for (size_t i = 0; i < jsondoc_count(asked); i++)
		if (make_matrix(w, jsondoc_at(asked, i), all, e) < 0)
			return -1;
	return 0;
}

static int decide_case(struct missing_world *w, const struct jsondoc *from, struct jsondoc **out, struct err *e)
{
	CLEANUP(missing_release) struct missing m = {0};
	const char *platform[PLATFORMS_MAX];
	const struct jsondoc *options = jsondoc_get(from, "options"), *globs = jsondoc_get(options, "platform");
	struct missing_options o = {
		.branch = jsondoc_get_str(options, "branch"),
		.platform = platform,
		.python = jsondoc_get_str(options, "python"),
		.project = jsondoc_get_str(options, "project"),
		.wants_pure = jsondoc_is_true(options, "pure"),
		.wants_all = jsondoc_is_true(options, "all"),
		.is_offline = true,
	};
	for (; o.platforms < jsondoc_count(globs) && o.platforms < PLATFORMS_MAX; o.platforms++)
		platform[o.platforms] = jsondoc_at_str(globs, o.platforms);
	if (missing_make(&w->config, &w->store, w->catalog, w->results, &o, &m, e) < 0)
		return -1;
	*out = missing_json(&m);
	jsondoc_put(*out, "micros", micros_of(&m));
	return make_matrices(w, jsondoc_get(from, "matrices"), *out, e);
}

static struct jsondoc *answer_case(struct missing_world *w, const struct jsondoc *from)
{
	struct err e = ERR_INIT;
	struct jsondoc *out = NULL;
	w->store = (struct store){0};
	if (read_config(&w->config, jsondoc_get(from, "config"), &e) < 0 || put_facts(w, from, &e) < 0 ||
		decide_case(w, from, &out, &e) < 0) {
		jsondoc_cleanup(&out);
		out = jsondoc_object();
		jsondoc_put_str(out, "error", e.msg);
	}
	store_release(&w->store);
	config_release(&w->config);
	return out;
}

static int answer_cases(struct missing_world *w, struct err *e)
{
	CLEANUP(mem_free) char *line = NULL;
	CLEANUP(buf_release) struct buf text;
	size_t room = 0;
	buf_init(&text, ANSWER_MAX);
	while (getline(&line, &room, stdin) > 0) {
		CLEANUP(jsondoc_cleanup) struct jsondoc *from = jsondoc_read(str_from(line), e);
		if (!from)
			return -1;
		CLEANUP(jsondoc_cleanup) struct jsondoc *out = answer_case(w, from);
		buf_clear(&text);
		jsondoc_write(out, 0, &text);
		fwrite(text.data, 1, text.len, stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	CLEANUP(results_cleanup) struct results *results = NULL;
	struct err e = ERR_INIT;
	if (argc != 3 || catalog_open(argv[1], &catalog, &e) < 0 || results_open(argv[2], NULL, &results, &e) < 0 ||
		answer_cases(&(struct missing_world){.catalog = catalog, .results = results}, &e) < 0) {
		fprintf(stderr, "%s\n", *e.msg ? e.msg : "usage: missing-tool CATALOG RESULTS");
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
