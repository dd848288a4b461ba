// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "cli/common/output-file.h"
#include "cli/compare-pick.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "auditor/compare/release-compare.h"
#include "auditor/compare/wheel-compare-sheet.h"
#include "auditor/compare/compared-wheel.h"
#include "lib/view/site-check.h"
#include "server/handlers/compare-page.h"

static const struct option_row options[] = {
	{"html", '\0', "FILE", "write a page to FILE, which appears complete or not at all", NO_KEY},
	{"markdown", '\0', NULL, "print the result as Markdown", NO_KEY},
};

struct compare_command {
	struct cli_config settings;
	struct config config;
	struct command_words globs; // of --platform
	const char *python, *html;
	bool is_markdown;
	struct compare_pick pick[2];
	struct store store;
	bool has_store;
	struct catalog *catalog;
	struct upstream *upstream;
};

static int take_compare_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct compare_command *x = ctx;
	const struct command_flag flags[] = {{"markdown", &x->is_markdown}};
	const struct command_text texts[] = {{"html", &x->html}, {"python", &x->python}};
	if (command_take_flag(flags, ARRAY_SIZE(flags), name) ||
		command_take_text(texts, ARRAY_SIZE(texts), name, value))
		return 0;
	return command_take_platforms(&x->globs, name, value, e);
}

static int take_compare_line(struct compare_command *x, const struct command *self, int argc, char **argv,
	struct err *e)
{
	struct python ignored;
	struct err why = ERR_INIT;
	int first = cli_config_options(&x->settings, self, argc, argv, take_compare_option, x, e);
	if (first < 0)
		return -1;
	if (argc - first != 2)
		return err_set(e, ERR_USAGE, "expected A and B");
	if (x->settings.is_json + x->is_markdown + (x->html != NULL) > 1)
		return err_set(e, ERR_USAGE, "--json, --html and --markdown exclude each other");
	if (x->python && python_parse(str_from(x->python), &ignored, &why) < 0)
		return err_set(e, ERR_USAGE, "--python %s: not a version of Python, such as 3.12", x->python);
	for (int i = 0; i < 2; i++)
		if (compare_pick_parse(argv[first + i], &x->pick[i], e) < 0)
			return -1;
	if (x->pick[0].kind == PICK_PATH && x->pick[1].kind == PICK_PATH)
		x->settings.search = CLI_CONFIG_SEARCH_VARIABLE;
	return cli_config_read(&x->settings, &x->config, e);
}

// --- what the arguments need ---

static bool are_whole_releases(const struct compare_command *x)
{
	return x->pick[0].kind == PICK_RELEASE && x->pick[1].kind == PICK_RELEASE && !x->globs.count && !x->python;
}

static bool needs_store(const struct compare_command *x)
{
	for (int i = 0; i < 2; i++)
		if (x->pick[i].kind != PICK_PATH && !x->pick[i].is_upstream)
			return true;
	return x->globs.count;
}

static bool needs_upstream(const struct compare_command *x)
{
	return x->pick[0].is_upstream || x->pick[1].is_upstream;
}

static int open_store(struct compare_command *x, struct err *e)
{
	if (store_open(&x->config, STORE_PATIENT, &x->store, e) < 0)
		return -1;
	x->has_store = true;
	CLEANUP(mem_free) char *path = cli_config_catalog(&x->config, e);
	if (!path || catalog_open_read(path, &x->catalog, e) < 0)
		return -1;
	return site_check_find(&x->config, &x->store, x->catalog, e);
}

// With a store configured, its catalog knows which names are ours alone.
static int open_places(struct compare_command *x, struct err *e)
{
	bool has_store = x->config.store || x->config.catalog || x->config.platform_count;
	if ((needs_store(x) || (needs_upstream(x) && has_store)) && open_store(x, e) < 0)
		return -1;
	return needs_upstream(x) ? upstream_new(&x->config, &x->upstream, e) : 0;
}

static struct pick_place make_pick_place(const struct compare_command *x)
{
	return (struct pick_place){
		.config = &x->config,
		.store = x->has_store ? &x->store : NULL,
		.catalog = x->catalog,
		.upstream = x->upstream,
		.platform = x->globs.item,
		.platforms = x->globs.count,
		.python = x->python,
	};
}

// --- output ---

static int write_stdout(const struct buf *out, struct err *e)
{
	if (fwrite(out->data, 1, out->len, stdout) != out->len || fflush(stdout) != 0)
		return err_errno(e, ERR_IO, "standard output");
	return 0;
}

static int write_sheet(const struct compare_command *x, const struct report_sheet *sheet, struct err *e)
{
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, SIZE_MAX / 2);
	if (x->html) {
		compare_page_write(&(struct html_frame){0}, sheet, "comparison", &out);
		return output_file_write("--html", x->html, buf_view(&out), e);
	}
	if (x->is_markdown)
		report_sheet_markdown(sheet, &out);
	else
		report_sheet_text(sheet, &out);
	return write_stdout(&out, e);
}

static int write_document(struct jsondoc *doc, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *owned = doc;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, SIZE_MAX / 2);
	jsondoc_write(owned, 2, &out);
	return write_stdout(&out, e);
}

// --- two wheels ---

static int read_picked(const struct compare_command *x, const struct compare_pick *pick, struct compared_wheel *out,
	struct err *e)
{
	struct stat st;
	struct err why = ERR_INIT;
	const struct pick_place place = make_pick_place(x);
	CLEANUP(picked_wheel_release) struct picked_wheel picked = {.fd = -1};
	if (compare_pick_open(pick, &place, &picked, e) < 0)
		return -1;
	if (fstat(picked.fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(e, ERR_INVALID, "%s: no regular file", picked.label);
	const struct compared_wheel_source from = {
		.label = picked.label,
		.filename = picked.filename,
		.fd = picked.fd,
		.size = (uint64_t)st.st_size,
		.catalog = x->catalog,
		.limits = {.unpacked = wheel_content_most((uint64_t)st.st_size), .members = LIMIT_ZIP_ENTRIES},
	};
	if (compared_wheel_read(&from, out, e) < 0)
		return -1;
	if (picked.provenance.len && compared_wheel_take_provenance(out, buf_view(&picked.provenance), &why) < 0)
		log_warn("%s: its provenance is left out: %s", picked.label, why.msg);
	return 0;
}

static int compare_wheels(const struct compare_command *x, struct err *e)
{
	CLEANUP(compared_wheel_release) struct compared_wheel a = {0}, b = {0};
	CLEANUP(wheel_compare_release) struct wheel_compare result = {0};
	CLEANUP(report_sheet_release) struct report_sheet sheet = {0};
	if (read_picked(x, &x->pick[0], &a, e) < 0 || read_picked(x, &x->pick[1], &b, e) < 0)
		return -1;
	wheel_compare_make(&a.side, &b.side, &result);
	if (x->settings.is_json)
		return write_document(wheel_compare_json(&result), e);
	wheel_compare_sheet(&result, &sheet);
	return write_sheet(x, &sheet, e);
}

// --- two releases ---

static void list_release(const struct pick_choices *from, const struct platform *p, struct release_file *file,
	struct release_files *out)
{
	*out = (struct release_files){.file = file};
	for (size_t i = 0; i < from->count; i++)
		if (!from->item[i].platform || from->item[i].platform == p)
			file[out->count++] = (struct release_file){
				from->item[i].filename, from->item[i].requires_python, from->item[i].is_yanked};
}

// p NULL: there is no store.
static void add_platform(struct release_compare *r, const struct pick_choices from[2], const struct platform *p)
{
	CLEANUP(mem_free) struct release_file *a = xcalloc(from[0].count + 1, sizeof(*a));
	CLEANUP(mem_free) struct release_file *b = xcalloc(from[1].count + 1, sizeof(*b));
	struct release_files files[2];
	list_release(&from[0], p, a, &files[0]);
	list_release(&from[1], p, b, &files[1]);
	release_compare_platform(r, p ? p->name : NULL, p ? &p->profile : NULL, files);
}

static int write_releases(const struct compare_command *x, const struct pick_choices choices[2], struct err *e)
{
	CLEANUP(release_compare_release) struct release_compare r = {0};
	CLEANUP(report_sheet_release) struct report_sheet sheet = {0};
	release_compare_begin(&r, x->pick[0].text, x->pick[1].text);
	for (size_t i = 0; i < x->store.platform_count; i++)
		add_platform(&r, choices, &x->store.platform[i]);
	if (!x->has_store)
		add_platform(&r, choices, NULL);
	if (x->settings.is_json)
		return write_document(release_compare_json(&r), e);
	release_compare_sheet(&r, &sheet);
	return write_sheet(x, &sheet, e);
}

static int compare_releases(const struct compare_command *x, struct err *e)
{
	struct pick_choices choices[2] = {{0}, {0}};
	const struct pick_place place = make_pick_place(x);
	int result = 0;
	for (int i = 0; i < 2 && result == 0; i++) {
		result = pick_choices_list(&x->pick[i], &place, &choices[i], e);
		if (result == 0 && !choices[i].count)
			result = err_set(e, ERR_NOT_FOUND, "%s: there is no such wheel", x->pick[i].text);
	}
	if (result == 0)
		result = write_releases(x, choices, e);
	pick_choices_release(&choices[0]);
	pick_choices_release(&choices[1]);
	return result;
}

static void compare_command_release(struct compare_command *x)
{
	for (int i = 0; i < 2; i++)
		compare_pick_release(&x->pick[i]);
	upstream_free(x->upstream);
	catalog_close(x->catalog);
	if (x->has_store)
		store_release(&x->store);
	config_release(&x->config);
	command_words_release(&x->globs);
}

static int run_compare(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(compare_command_release) struct compare_command x = {0};
	config_init(&x.config);
	if (take_compare_line(&x, self, argc, argv, e) < 0 || open_places(&x, e) < 0 ||
		(are_whole_releases(&x) ? compare_releases(&x, e) : compare_wheels(&x, e)) < 0)
		return err_exit_code(e->kind);
	return 0;
}

const struct command command_compare = {
	.name = "compare",
	.arguments = "A B",
	.help = "compare two wheels, or two releases",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared =
		SHARED_BASE | SHARED(STORE) | SHARED(PLATFORMS) | SHARED(PYTHON) | SHARED(UPSTREAM_URL) | SHARED(JSON),
	.run = run_compare,
};
