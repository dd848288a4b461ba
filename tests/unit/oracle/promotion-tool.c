// SPDX-License-Identifier: Apache-2.0
// Carries out given steps of promotions, for test-promotion.py: promotion-tool CATALOG. The catalog is made; all cases
// are in it, so no two cases have a platform, a view or the bytes of a file in common. Reads one case per line, a JSON
// object, and prints one line for each: {"steps":[ANSWER…]} or {"error":TEXT}.
//
//     {"config":[[SECTION,KEY,VALUE]…], "views":[NAME…],
//      "files":[{"platform","project","version","filename","sha256","requires-python":TEXT|null,"content":HEX|null,
//                "statement":JSON|null,"yanked":bool}],
//      "steps":[{"do":"evidence","record":JSON,"views":GLOBS}
//               {"do":"promote","to","select":[TEXT…],"evidence":[JSON…],"override":TEXT|null,"all":bool,"dry":bool,
//                "now"}
//               {"do":"demote","to","select":[TEXT…]}
//               {"do":"rollback","to","generation"}
//               {"do":"unlist","platform","filename"}]}
//
// An answer is {"error":TEXT} or {"generation","rows":[[PLATFORM,FILENAME,RESULT,REASON,OVERRIDE,TESTED]…]}, with
// "shown": what each of the views shows after the step, {VIEW:[[PLATFORM,FILENAME]…]}, unless it only brought evidence.
//
//     {"retention":{"environments","now","keep-versions","keep-seconds","warn-seconds",
//                   "files":[{"version","arrived","installs":[NUMBER…],"yanked":bool}]}}
//
// gives {"files":[[INDEX,DECISION,ENVIRONMENT,ENDS,WARNED]…]} in the order in which they were sorted.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/promotion/retention.h"
#include "lib/domain/text/filename.h"
#include "lib/format/compress.h"
#include "lib/format/jsondoc.h"
#include "promoter/promote.h"
#include "lib/state/catalog/catalog-attachment.h"
#include "lib/state/catalog/catalog-file.h"
#include "lib/state/catalog/catalog-facts.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/views/evidence-file.h"
#include "lib/state/views/membership.h"

enum { TOOL_ANSWER_MAX = 64 << 20, TOOL_WORDS = 64 };

struct promotion_world {
	struct catalog *catalog;
	struct config config;
	struct site site;
	struct audit *audit;
};

// --- the store ---

static int read_promotion_config(struct config *c, const struct jsondoc *from, struct err *e)
{
	config_init(c);
	for (size_t i = 0; i < jsondoc_count(from); i++) {
		const struct jsondoc *row = jsondoc_at(from, i);
		if (config_set(c, jsondoc_at_str(row, 0), jsondoc_at_str(row, 1), jsondoc_at_str(row, 2), e) < 0)
			return -1;
	}
	return config_views_complete(c, e);
}

static int put_content(struct promotion_world *w, const struct jsondoc *file, const uint8_t sha256[SHA256_SIZE],
	struct err *e)
{
	uint8_t content[SHA256_SIZE];
	const char *hex = jsondoc_get_str(file, "content");
	return hex && hex_decode(str_from(hex), content, SHA256_SIZE) ? catalog_content_put(w->catalog, sha256, content, e)
								      : 0;
}

static int put_statement(struct promotion_world *w, const struct catalog_entry *of, const char *text, struct err *e)
{
	uint8_t hash[SHA256_SIZE];
	CLEANUP(buf_release) struct buf packed;
	buf_init(&packed, LIMIT_STATEMENT);
	if (!text)
		return 0;
	digest_sha256(str_from(text), hash);
	if (compress_zstd(str_from(text), 1, &packed, e) < 0)
		return -1;
	const struct catalog_attachment a = {.platform = of->platform,
		.folder = of->folder,
		.filename = of->filename,
		.kind = ATTACHMENT_STATEMENT,
		.trusted = true,
		.sha256 = hash,
		.subject = of->sha256,
		.packed = buf_view(&packed)};
	return catalog_attachment_put(w->catalog, &a, e);
}

static int put_store_file(struct promotion_world *w, const struct platform *p, int64_t folder,
	const struct jsondoc *file, struct err *e)
{
	CLEANUP(version_release) struct version version = {0};
	uint8_t sha256[SHA256_SIZE];
	struct catalog_effect effect;
	if (!hex_decode(str_from(jsondoc_get_str(file, "sha256")), sha256, SHA256_SIZE) ||
		version_parse(str_from(jsondoc_get_str(file, "version")), &version, e) < 0)
		return err_set(e, ERR_INVALID, "a file without a hash or a version");
	const struct catalog_entry entry = {
		.platform = p->id,
		.folder = folder,
		.folder_path = "",
		.filename = jsondoc_get_str(file, "filename"),
		.trusted = true,
		.size = 1,
		.mtime_ns = 1,
		.sha256 = sha256,
		.project = jsondoc_get_str(file, "project"),
		.version = version.text,
		.version_key = version.key,
		.requires_python = jsondoc_get_str(file, "requires-python"),
	};
	if (catalog_file_put(w->catalog, &entry, &effect, e) < 0 || put_content(w, file, sha256, e) < 0)
		return -1;
	const struct catalog_mark mark = {.platform = p->id,
		.folder = folder,
		.folder_path = "",
		.filename = entry.filename,
		.mark = MARK_YANKED,
		.text = "bad"};
	if (jsondoc_is_true(file, "yanked") && catalog_mark_put(w->catalog, &mark, &effect, e) < 0)
		return -1;
	return put_statement(w, &entry, jsondoc_get_str(file, "statement"), e);
}

static int find_tool_folder(struct promotion_world *w, const struct store *store, const struct jsondoc *file,
	const struct platform **p, int64_t *folder, struct err *e)
{
	*p = store_platform_named(store, str_from(jsondoc_get_str(file, "platform")));
	if (!*p)
		return err_set(e, ERR_INVALID, "no such platform");
	return catalog_folder_ensure(w->catalog, (*p)->id, "", folder, e);
}

static int put_store_files(struct promotion_world *w, const struct store *store, const struct jsondoc *files,
	struct err *e)
{
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(w->catalog, &t, e) < 0 || catalog_views_set_read(w->catalog, e) < 0)
		return -1;
	for (size_t i = 0; i < store->platform_count; i++)
		if (catalog_platform_set_scanned(w->catalog, store->platform[i].id, CATALOG_SCANNED, e) < 0)
			return -1;
	for (size_t i = 0; i < jsondoc_count(files); i++) {
		const struct platform *p;
		int64_t folder;
		if (find_tool_folder(w, store, jsondoc_at(files, i), &p, &folder, e) < 0 ||
			put_store_file(w, p, folder, jsondoc_at(files, i), e) < 0)
			return -1;
	}
	return catalog_commit(&t, e);
}

static int open_world(struct promotion_world *w, const struct jsondoc *from, struct err *e)
{
	struct store store = {0};
	if (store_open(&w->config, STORE_PROMPT, &store, e) < 0)
		return -1;
	if (store_register(&store, w->catalog, e) < 0 ||
		put_store_files(w, &store, jsondoc_get(from, "files"), e) < 0 ||
		store_register(&store, w->catalog, e) < 0) {
		store_release(&store);
		return -1;
	}
	return site_init(&w->site, &w->config, &store, w->catalog, e);
}

// --- steps ---

// The words and records of a step.
struct tool_request {
	const char *word[TOOL_WORDS];
	size_t words;
	struct evidence record[TOOL_WORDS];
	size_t records;
};

static void tool_request_release(struct tool_request *t)
{
	for (size_t i = 0; i < t->records; i++)
		evidence_release(&t->record[i]);
}

static int read_tool_request(const struct jsondoc *step, struct tool_request *t, struct err *e)
{
	const struct jsondoc *select = jsondoc_get(step, "select"), *evidence = jsondoc_get(step, "evidence");
	for (; select && t->words < jsondoc_count(select) && t->words < TOOL_WORDS; t->words++)
		t->word[t->words] = jsondoc_at_str(select, t->words);
	for (; evidence && t->records < jsondoc_count(evidence) && t->records < TOOL_WORDS; t->records++)
		if (evidence_read(str_from(jsondoc_at_str(evidence, t->records)), &t->record[t->records], e) < 0)
			return -1;
	return 0;
}

static int step_evidence(struct promotion_world *w, const struct jsondoc *step, struct promote_answer *out UNUSED,
	struct err *e)
{
	CLEANUP(mem_free) char *folder = NULL;
	CLEANUP(evidence_release) struct evidence record = {0};
	struct catalog_evidence note = {.by = "someone", .address = "", .views = jsondoc_get_str(step, "views")};
	if (evidence_read(str_from(jsondoc_get_str(step, "record")), &record, e) < 0 ||
		views_folder(&w->config, &folder, e) < 0)
		return -1;
	return evidence_file_add(folder, w->catalog, &record, &note, e) < 0 ? -1 : 0;
}

static int step_promote(struct promotion_world *w, const struct jsondoc *step, struct promote_answer *out,
	struct err *e)
{
	CLEANUP(tool_request_release) struct tool_request t = {0};
	int64_t now = 0;
	if (read_tool_request(step, &t, e) < 0)
		return -1;
	jsondoc_get_int(step, "now", &now);
	const struct promote_request r = {.to = jsondoc_get_str(step, "to"),
		.select = t.word,
		.selects = t.words,
		.evidence = t.record,
		.evidences = t.records,
		.evidence_views = "*",
		.reason = "",
		.override = jsondoc_get_str(step, "override"),
		.by = "someone",
		.address = "",
		.all_or_nothing = jsondoc_is_true(step, "all"),
		.dry_run = jsondoc_is_true(step, "dry")};
	return promote_run(&w->site, w->catalog, w->audit, &r, now, out, e);
}

static int step_demote(struct promotion_world *w, const struct jsondoc *step, struct promote_answer *out, struct err *e)
{
	CLEANUP(tool_request_release) struct tool_request t = {0};
	if (read_tool_request(step, &t, e) < 0)
		return -1;
	const struct promote_request r = {.to = jsondoc_get_str(step, "to"),
		.select = t.word,
		.selects = t.words,
		.reason = "",
		.by = "someone",
		.address = ""};
	return demote_run(&w->site, w->catalog, w->audit, &r, out, e);
}

static int step_rollback(struct promotion_world *w, const struct jsondoc *step, struct promote_answer *out,
	struct err *e)
{
	int64_t generation = 0;
	jsondoc_get_int(step, "generation", &generation);
	return rollback_run(&w->site, w->catalog, w->audit, jsondoc_get_str(step, "to"), generation, "", "someone",
		false, out, e);
}

static int step_unlist(struct promotion_world *w, const struct jsondoc *step, struct promote_answer *out UNUSED,
	struct err *e)
{
	const struct platform *p;
	struct catalog_effect effect;
	struct catalog_mark mark = {
		.folder_path = "", .filename = jsondoc_get_str(step, "filename"), .mark = MARK_PRUNED, .text = "{}"};
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(w->catalog, &t, e) < 0 || find_tool_folder(w, &w->site.store, step, &p, &mark.folder, e) < 0)
		return -1;
	mark.platform = p->id;
	return catalog_mark_put(w->catalog, &mark, &effect, e) < 0 ? -1 : catalog_commit(&t, e);
}

static const struct {
	const char *name;
	int (*run)(struct promotion_world *w, const struct jsondoc *step, struct promote_answer *out, struct err *e);
} tool_steps[] = {
	{"evidence", step_evidence},
	{"promote", step_promote},
	{"demote", step_demote},
	{"rollback", step_rollback},
	{"unlist", step_unlist},
};

// --- answers ---

static int add_view_project(void *ctx, const char *project, struct err *e UNUSED)
{
	strset_add(ctx, project);
	return 0;
}

static int add_view_file(void *ctx, const struct platform *platform, const struct catalog_file *file,
	struct err *e UNUSED)
{
	struct jsondoc *row = jsondoc_array();
	jsondoc_add_str(row, platform->name);
	jsondoc_add_str(row, file->filename);
	jsondoc_add(ctx, row);
	return 0;
}

static int add_shown_view(const struct promotion_world *w, const char *name, struct jsondoc *shown, struct err *e)
{
	CLEANUP(strset_release) struct strset projects = {0};
	const struct view *view = site_view(&w->site, str_from(name));
	struct jsondoc *files = jsondoc_array();
	jsondoc_put(shown, name, files);
	if (view_projects(view, w->catalog, add_view_project, &projects, e) < 0)
		return -1;
	strset_sort(&projects);
	for (size_t i = 0; i < projects.count; i++)
		if (view_files(view, w->catalog, projects.item[i], add_view_file, files, e) < 0)
			return -1;
	return 0;
}

static struct jsondoc *rows_json(const struct promote_answer *a)
{
	struct jsondoc *rows = jsondoc_array();
	for (size_t i = 0; i < a->rows; i++) {
		struct jsondoc *row = jsondoc_array();
		const char *const texts[] = {a->row[i].platform, a->row[i].filename,
			promote_result_name[a->row[i].result], a->row[i].reason,
			a->row[i].is_override ? "override" : ""};
		for (size_t k = 0; k < ARRAY_SIZE(texts); k++)
			jsondoc_add_str(row, texts[k]);
		jsondoc_add(row, jsonmap_list(&membership_tested_map, a->row[i].tested, a->row[i].testeds));
		jsondoc_add(rows, row);
	}
	return rows;
}

static struct jsondoc *take_step(struct promotion_world *w, const struct jsondoc *step, const struct jsondoc *views)
{
	struct err e = ERR_INIT;
	CLEANUP(promote_answer_release) struct promote_answer answer = {0};
	struct jsondoc *out = jsondoc_object(), *shown = jsondoc_object();
	int result = -1;
	for (size_t i = 0; i < ARRAY_SIZE(tool_steps); i++)
		if (strcmp(tool_steps[i].name, jsondoc_get_str(step, "do")) == 0)
			result = tool_steps[i].run(w, step, &answer, &e);
	if (result == 0) {
		jsondoc_put_int(out, "generation", answer.generation);
		jsondoc_put(out, "rows", rows_json(&answer));
	}
	for (size_t i = 0; i < jsondoc_count(views) && strcmp(jsondoc_get_str(step, "do"), "evidence") != 0; i++)
		if (add_shown_view(w, jsondoc_at_str(views, i), shown, &e) < 0)
			result = -1;
	if (result < 0)
		jsondoc_put_str(out, "error", e.msg);
	jsondoc_put(out, "shown", shown);
	return out;
}

static struct jsondoc *answer_world(struct promotion_world *w, const struct jsondoc *from)
{
	struct err e = ERR_INIT;
	struct jsondoc *out = jsondoc_object();
	const struct jsondoc *steps = jsondoc_get(from, "steps");
	if (read_promotion_config(&w->config, jsondoc_get(from, "config"), &e) < 0 || open_world(w, from, &e) < 0) {
		jsondoc_put_str(out, "error", e.msg);
	} else {
		struct jsondoc *answers = jsondoc_array();
		for (size_t i = 0; i < jsondoc_count(steps); i++)
			jsondoc_add(answers, take_step(w, jsondoc_at(steps, i), jsondoc_get(from, "views")));
		jsondoc_put(out, "steps", answers);
	}
	site_release(&w->site);
	config_release(&w->config);
	return out;
}

// --- retention ---

struct retention_case {
	struct retention_file file[TOOL_WORDS];
	struct version version[TOOL_WORDS];
	uint64_t installs[TOOL_WORDS][2];
	size_t files;
};

static void retention_case_release(struct retention_case *r)
{
	for (size_t i = 0; i < r->files; i++)
		version_release(&r->version[i]);
}

static int read_retention_file(struct retention_case *r, const struct jsondoc *from, struct err *e)
{
	struct retention_file *f = &r->file[r->files];
	const struct jsondoc *installs = jsondoc_get(from, "installs");
	if (version_parse(str_from(jsondoc_get_str(from, "version")), &r->version[r->files], e) < 0)
		return -1;
	*f = (struct retention_file){.version = &r->version[r->files],
		.installs = r->installs[r->files],
		.is_yanked = jsondoc_is_true(from, "yanked"),
		.is_wanted = jsondoc_is_true(from, "wanted")};
	jsondoc_get_int(from, "arrived", &f->arrived);
	for (size_t i = 0; i < jsondoc_count(installs); i++) {
		uint64_t number = strtoull(jsondoc_at_str(installs, i), NULL, 10);
		r->installs[r->files][number / 64] |= UINT64_C(1) << number % 64;
	}
	r->files++;
	return 0;
}

static struct jsondoc *retention_json(const struct retention_case *r)
{
	struct jsondoc *out = jsondoc_object(), *files = jsondoc_array();
	for (size_t i = 0; i < r->files; i++) {
		const struct retention_file *f = &r->file[i];
		struct jsondoc *row = jsondoc_object();
		jsondoc_put_int(row, "index", f->version - r->version);
		jsondoc_put_int(row, "decision", f->decision);
		jsondoc_put_int(row, "environment", (int64_t)f->environment);
		jsondoc_put_int(row, "ends", f->ends);
		jsondoc_put_bool(row, "warned", f->is_warned);
		jsondoc_add(files, row);
	}
	jsondoc_put(out, "files", files);
	return out;
}

static struct jsondoc *answer_retention(const struct jsondoc *from, struct err *e)
{
	CLEANUP(retention_case_release) struct retention_case r = {.files = 0};
	const struct jsondoc *files = jsondoc_get(from, "files");
	int64_t environments = 0, now = 0, keep_versions = 0;
	struct retention_rules rules = {0};
	jsondoc_get_int(from, "environments", &environments);
	jsondoc_get_int(from, "now", &now);
	jsondoc_get_int(from, "keep-versions", &keep_versions);
	jsondoc_get_int(from, "keep-seconds", &rules.keep_seconds);
	jsondoc_get_int(from, "warn-seconds", &rules.warn_seconds);
	rules.keep_versions = (uint64_t)keep_versions;
	for (size_t i = 0; i < jsondoc_count(files) && i < TOOL_WORDS; i++)
		if (read_retention_file(&r, jsondoc_at(files, i), e) < 0)
			return NULL;
	retention_decide(r.file, r.files, (size_t)environments, &rules, now);
	return retention_json(&r);
}

// --- lines ---

static int answer_lines(struct promotion_world *w, struct err *e)
{
	CLEANUP(mem_free) char *line = NULL;
	CLEANUP(buf_release) struct buf text;
	size_t room = 0;
	buf_init(&text, TOOL_ANSWER_MAX);
	while (getline(&line, &room, stdin) > 0) {
		CLEANUP(jsondoc_cleanup) struct jsondoc *from = jsondoc_read(str_from(line), e);
		if (!from)
			return -1;
		const struct jsondoc *retention = jsondoc_get(from, "retention");
		CLEANUP(jsondoc_cleanup)
		struct jsondoc *out = retention ? answer_retention(retention, e) : answer_world(w, from);
		if (!out)
			return -1;
		buf_clear(&text);
		jsondoc_write(out, 0, &text);
		fwrite(text.data, 1, text.len, stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	CLEANUP(audit_cleanup) struct audit *audit = NULL;
	char name[] = "audit.log";
	struct err e = ERR_INIT;
	if (argc != 2 || catalog_open(argv[1], &catalog, &e) < 0 || audit_open(&(struct audit_place){.path = name, .max_size = 1 << 30}, &audit, &e) < 0 ||
		answer_lines(&(struct promotion_world){.catalog = catalog, .audit = audit}, &e) < 0) {
		fprintf(stderr, "%s\n", *e.msg ? e.msg : "usage: promotion-tool CATALOG");
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
