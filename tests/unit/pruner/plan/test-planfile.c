// SPDX-License-Identifier: Apache-2.0
#include "pruner/plan/planfile.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/format/jsondoc.h"
#include "lib/os/fs.h"

static char folder[] = "test-planfile.XXXXXX";
static char path[64];

static int make_folder(void **state UNUSED)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/plan.json", folder);
	return 0;
}

static int remove_folder(void **state UNUSED)
{
	return rmdir(folder);
}

static int remove_file(void **state UNUSED)
{
	return unlink(path);
}

static const struct planfile_cover covers[] = {{"3.10", "up-1-cp310.whl"}, {"3.13t", "up-1-cp313t.whl"}};
static const struct planfile_entry entries[] = {
	{.platform = "ubuntu-22.04-x86_64",
		.filename = "q-1-py3-none-any.whl",
		.path = "q/q/q-1-py3-none-any.whl",
		.project = "q",
		.version = "1",
		.size = 12345678901,
		.mtime_ns = 1792599666123456789,
		.has_sha256 = true,
		.sha256 = {0xab, 1},
		.verdict = "superseded",
		.removes = true,
		.reason = "upstream has \"it\" \xc3\xa9\n",
		.evidence = {.filename = "up-1-cp310.whl",
			.url = "https://u.example/up-1-cp310.whl",
			.index = "https://u.example/simple/",
			.has_sha256 = true,
			.sha256 = {0xcd},
			.is_identical = true,
			.uploaded = 1000000000,
			.fetched = 1792599666,
			.etag = "\"x\"",
			.cover = covers,
			.covers = 2}},
	{.platform = "wheels",
		.filename = "bad.whl",
		.path = "bad.whl",
		.mtime_ns = -1,
		.verdict = "corrupt",
		.why = "not-asked",
		.reason = "no ZIP"},
	{.platform = "wheels",
		.filename = "r-2.tar.gz",
		.path = "r/r-2.tar.gz",
		.project = "r",
		.version = "2",
		.verdict = "keep",
		.why = "sdist",
		.reason = ""},
};
static const char *const classes[] = {"pure", "unusable"}, *const globs[] = {"ubuntu-*"};
static const struct planfile_failure failures[] = {{"r", "timeout", "no answer in 10 s"}};
static const struct planfile_platform platforms[] = {{"ubuntu-22.04-x86_64", 1, 12345678901}, {"wheels", 2, 0}};
static const struct planfile_total totals[] = {{"ubuntu-22.04-x86_64", "superseded", NULL, true, 1, 12345678901},
	{"wheels", "corrupt", "not-asked", false, 1, 0}};
static const struct planfile_head head = {
	.id = "20261121T204500Z-0123ab",
	.made = 1795293900,
	.store = "/srv/wheels",
	.change = 42,
	.policy_hash = "0011",
	.policy = "{\"min-age\": 172800}",
	.option = classes,
	.options = 2,
	.glob = globs,
	.globs = 1,
	.projects = 7,
	.failed = 1,
	.failure = failures,
	.failures = 1,
	.platform = platforms,
	.platforms = 2,
	.total = totals,
	.totals = 2,
};

static void write_plan(size_t count)
{
	struct err e = ERR_INIT;
	CLEANUP(planfile_cleanup) struct planfile_writer *w = NULL;
	assert_int_equal(planfile_create(path, &w, &e), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(planfile_add(w, &entries[i], &e), 0);
	assert_int_equal(planfile_finish(w, &head, &e), 0);
}

static void read_text(struct buf *text)
{
	struct err e = ERR_INIT;
	buf_init(text, 1 << 20);
	assert_int_equal(fs_read_file(path, text, &e), 0);
}

static void write_text(struct str text)
{
	FILE *out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(text.ptr, 1, text.len, out), text.len);
	assert_int_equal(fclose(out), 0);
}

static void same_text(const char *a, const char *b)
{
	assert_int_equal(a == NULL, b == NULL);
	if (a && b)
		assert_string_equal(a, b);
}

static void same_evidence(const struct planfile_evidence *a, const struct planfile_evidence *b)
{
	same_text(a->filename, b->filename);
	same_text(a->url, b->url);
	same_text(a->index, b->index);
	same_text(a->etag, b->etag);
	assert_int_equal(a->has_sha256, b->has_sha256);
	assert_memory_equal(a->sha256, b->sha256, SHA256_SIZE);
	assert_int_equal(a->is_identical, b->is_identical);
	assert_int_equal(a->uploaded, b->uploaded);
	assert_int_equal(a->fetched, b->fetched);
}

static void same_entry(const struct planfile_entry *a, const struct planfile_entry *b)
{
	same_text(a->platform, b->platform);
	same_text(a->filename, b->filename);
	same_text(a->path, b->path);
	same_text(a->project, b->project);
	same_text(a->version, b->version);
	assert_int_equal(a->size, b->size);
	assert_int_equal(a->mtime_ns, b->mtime_ns);
	assert_int_equal(a->has_sha256, b->has_sha256);
	assert_memory_equal(a->sha256, b->sha256, SHA256_SIZE);
	same_text(a->verdict, b->verdict);
	assert_int_equal(a->removes, b->removes);
	same_text(a->why, b->why);
	same_text(a->reason, b->reason);
	same_evidence(&a->evidence, &b->evidence);
}

static void same_head(const struct planfile_head *a)
{
	assert_string_equal(a->id, head.id);
	assert_int_equal(a->made, head.made);
	assert_string_equal(a->store, head.store);
	assert_int_equal(a->change, head.change);
	assert_string_equal(a->policy_hash, head.policy_hash);
	assert_int_equal(a->options, 2);
	assert_string_equal(a->option[1], classes[1]);
	assert_int_equal(a->globs, 1);
	assert_string_equal(a->glob[0], globs[0]);
	assert_int_equal(a->projects, 7);
	assert_int_equal(a->failed, 1);
	assert_int_equal(a->failures, 1);
	assert_string_equal(a->failure[0].result, "timeout");
	assert_string_equal(a->failure[0].why, failures[0].why);
	assert_int_equal(a->platforms, 2);
	assert_string_equal(a->platform[1].name, "wheels");
	assert_int_equal(a->platform[0].bytes, 12345678901);
	assert_int_equal(a->totals, 2);
	assert_true(a->total[0].removes);
	assert_null(a->total[0].why);
	assert_string_equal(a->total[1].verdict, "corrupt");
	assert_string_equal(a->total[1].why, "not-asked");
}

static void read_plan(size_t count)
{
	struct err e = ERR_INIT;
	CLEANUP(planfile_release) struct planfile p;
	if (planfile_read(path, &p, &e) < 0)
		fail_msg("%s", e.msg);
	same_head(&p.head);
	assert_int_equal(p.count, count);
	for (size_t i = 0; i < count; i++)
		same_entry(&p.entry[i], &entries[i]);
}

static void complains(const char *of)
{
	struct err e = ERR_INIT;
	CLEANUP(planfile_release) struct planfile p;
	assert_int_equal(planfile_read(path, &p, &e), -1);
	assert_int_equal(e.kind, ERR_INVALID);
	if (!strstr(e.msg, of))
		fail_msg("\"%s\" does not say \"%s\"", e.msg, of);
}

static void what_was_written_is_read(void **state UNUSED)
{
	for (size_t count = 0; count <= ARRAY_SIZE(entries); count++) {
		write_plan(count);
		read_plan(count);
	}
}

static void each_file_has_a_line(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text;
	write_plan(3);
	read_text(&text);
	struct str rest = buf_view(&text), line = {0};
	while (!str_starts(line, STR("  \"files\"")))
		line = str_cut(&rest, '\n');
	for (size_t i = 0; i < 3; i++) {
		struct err e = ERR_INIT;
		line = str_cut(&rest, '\n');
		if (str_ends(line, STR(",")))
			line.len--;
		CLEANUP(jsondoc_cleanup) struct jsondoc *one = jsondoc_read(line, &e);
		assert_non_null(one);
		assert_string_equal(jsondoc_get_str(one, "filename"), entries[i].filename);
	}
	line = str_cut(&rest, '\n');
	assert_true(str_eq(line, STR("]}")));
}

// The entries that are left can be read whichever lines are deleted.
static void deleted_lines_are_allowed(void **state UNUSED)
{
	write_plan(3);
	CLEANUP(buf_release) struct buf text;
	read_text(&text);
	for (unsigned gone = 0; gone < 8; gone++) {
		CLEANUP(buf_release) struct buf left;
		buf_init(&left, 1 << 20);
		struct str rest = buf_view(&text);
		for (unsigned at = 8; rest.ptr;) {
			struct str line = str_cut(&rest, '\n');
			bool is_file = str_starts(line, STR("{\"platform\""));
			if (!is_file || !(gone & (at >>= 1)))
				buf_printf(&left, STR_FMT "\n", STR_ARG(line));
		}
		write_text(buf_view(&left));
		struct err e = ERR_INIT;
		CLEANUP(planfile_release) struct planfile p;
		assert_int_equal(planfile_read(path, &p, &e), 0);
		assert_int_equal(p.count, 3 - (gone & 1) - (gone >> 1 & 1) - (gone >> 2));
	}
}

static void reformatted_plan_is_read(void **state UNUSED)
{
	for (unsigned indent = 0; indent < 5; indent += 4) {
		struct err e = ERR_INIT;
		write_plan(3);
		CLEANUP(buf_release) struct buf text, again;
		read_text(&text);
		buf_init(&again, 1 << 20);
		CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read(buf_view(&text), &e);
		assert_non_null(doc);
		jsondoc_write(doc, indent, &again);
		write_text(buf_view(&again));
		read_plan(3);
	}
}

static void truncated_plan_is_refused(void **state UNUSED)
{
	write_plan(3);
	CLEANUP(buf_release) struct buf text;
	read_text(&text);
	for (size_t len = 0; len < text.len - 1; len++) {
		write_text(str_slice(buf_view(&text), 0, len));
		complains("");
	}
}

static void invalid_plans_are_refused(void **state UNUSED)
{
	static const struct {
		const char *text, *complaint;
	} row[] = {
		{"", "not a plan"},
		{"[]", "not a plan"},
		{"{\"files\": []}", "not a plan"},
		{"{\"wheelcache-plan\": 2, \"id\": \"x\", \"files\": []}", "version 2"},
		{"{\"wheelcache-plan\": 1, \"files\": []}", "id"},
		{"{\"wheelcache-plan\": 1, \"id\": \"x\", \"files\": {}}", "no list"},
		{"{\"wheelcache-plan\": 1, \"id\": \"x\", \"files\": []} x", "more text"},
		{"{\"wheelcache-plan\": 1, \"id\": \"x\", \"files\": [{}]}", "file 1: it lacks"},
		{"{\"wheelcache-plan\": 1, \"id\": \"x\", \"files\": [7]}", "file 1: it lacks"},
		{"{\"wheelcache-plan\": 1, \"id\": \"x\", \"files\": [{]}", "file 1: not JSON"},
		{"{\"wheelcache-plan\": 1, \"id\": oh}", "\"id\": not JSON"},
		{"{\"wheelcache-plan\": 1, id}", "no key"},
		{"{\"wheelcache-plan\": 1, \"\xff\": 1}", "no UTF-8"},
		{"{\"wheelcache-plan\": 1, \"files\": [{\"platform\": \"p\", \"filename\": \"a.whl\", "
		 "\"path\": \"q/ba.whl\", \"verdict\": \"duplicate\", \"size\": 1}]}",
			"file 1: its path q/ba.whl does not end in a.whl"},
		{"{\"wheelcache-plan\" 1}", "no value for \"wheelcache-plan\""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		write_text(str_from(row[i].text));
		complains(row[i].complaint);
	}
}

static size_t files_in_folder(void)
{
	CLEANUP(fs_close_dir) DIR *dir = opendir(folder);
	size_t count = 0;
	while (readdir(dir))
		count++;
	return count - 2;
}

static void unfinished_changes_nothing(void **state UNUSED)
{
	write_plan(2);
	struct err e = ERR_INIT;
	struct planfile_writer *w = NULL;
	assert_int_equal(planfile_create(path, &w, &e), 0);
	assert_int_equal(planfile_add(w, &entries[0], &e), 0);
	assert_int_equal(files_in_folder(), 1);
	planfile_free(w);
	assert_int_equal(files_in_folder(), 1);
	read_plan(2);
}

static void a_plan_of_many_blocks_is_whole(void **state UNUSED)
{
	enum { MANY = 5000 };
	struct err e = ERR_INIT;
	CLEANUP(planfile_cleanup) struct planfile_writer *w = NULL;
	assert_int_equal(planfile_create(path, &w, &e), 0);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(planfile_add(w, &entries[i % 3], &e), 0);
	assert_int_equal(planfile_finish(w, &head, &e), 0);
	CLEANUP(planfile_release) struct planfile p;
	assert_int_equal(planfile_read(path, &p, &e), 0);
	assert_int_equal(p.count, MANY);
	for (int i = 0; i < MANY; i++)
		same_entry(&p.entry[i], &entries[i % 3]);
}

static void unwritable_path_is_an_error(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct planfile_writer *w = NULL;
	assert_int_equal(planfile_create("test-planfile.none/plan.json", &w, &e), -1);
	assert_null(w);
	assert_non_null(strstr(e.msg, "test-planfile.none/plan.json"));
	CLEANUP(planfile_release) struct planfile p;
	assert_int_equal(planfile_read("test-planfile.none/plan.json", &p, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
}

static void without_a_path_nothing_is_written(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(planfile_cleanup) struct planfile_writer *w = NULL;
	assert_int_equal(planfile_create(NULL, &w, &e), 0);
	assert_int_equal(planfile_add(w, &entries[0], &e), 0);
	assert_int_equal(planfile_finish(w, &head, &e), 0);
}

static void ids_have_the_time_and_differ(void **state UNUSED)
{
	char a[PLANFILE_ID], b[PLANFILE_ID];
	planfile_new_id(1795293900, a);
	planfile_new_id(1795293900, b);
	assert_int_equal(strlen(a), PLANFILE_ID - 1);
	assert_memory_equal(a, "20261121T204500Z-", 17);
	for (int i = 0; i < 20 && strcmp(a, b) == 0; i++)
		planfile_new_id(1795293900, b);
	assert_string_not_equal(a, b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(what_was_written_is_read, remove_file),
		cmocka_unit_test_teardown(each_file_has_a_line, remove_file),
		cmocka_unit_test_teardown(deleted_lines_are_allowed, remove_file),
		cmocka_unit_test_teardown(reformatted_plan_is_read, remove_file),
		cmocka_unit_test_teardown(truncated_plan_is_refused, remove_file),
		cmocka_unit_test_teardown(invalid_plans_are_refused, remove_file),
		cmocka_unit_test_teardown(unfinished_changes_nothing, remove_file),
		cmocka_unit_test_teardown(a_plan_of_many_blocks_is_whole, remove_file),
		cmocka_unit_test(unwritable_path_is_an_error),
		cmocka_unit_test(without_a_path_nothing_is_written),
		cmocka_unit_test(ids_have_the_time_and_differ),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
