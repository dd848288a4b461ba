// SPDX-License-Identifier: Apache-2.0
// Block lists of real files: what they hide, and which list counts when a source changes or breaks.
#include "lib/advisories/advisories.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/advisories/advisory-source.h"
#include "lib/advisories/osv-record.h"
#include "lib/base/limits.h"
#include "lib/domain/text/cvss.h"
#include "lib/os/fs.h"
#include "lib/place/record.h"
#include "tests/unit/support/zipmake.h"

static char folder[] = "/tmp/wheelcache-advisories-XXXXXX";
static struct config config;

static char *path_of(const char *name)
{
	return xasprintf("%s/%s", folder, name);
}

// The time is far enough in the past that another one differs, and each write has another.
static void write_bytes(const char *name, struct str bytes)
{
	static int writes;
	CLEANUP(mem_free) char *path = path_of(name);
	CLEANUP(mem_close) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	const struct timespec time = {.tv_sec = 1700000000 + ++writes}, times[2] = {time, time};
	assert_true(fd >= 0 && write(fd, bytes.ptr, bytes.len) == (ssize_t)bytes.len && futimens(fd, times) == 0);
}

static void write_text(const char *name, const char *text)
{
	write_bytes(name, str_from(text));
}

// A record about versions of PyPI projects; rest: further keys of the record, with a comma in front.
static char *record_of(const char *id, const char *project, const char *affected, const char *rest)
{
	return xasprintf("{\"id\":\"%s\",\"modified\":\"2026-01-02T03:04:05Z\",\"affected\":[{\"package\":{\"ecosystem\":"
			 "\"PyPI\",\"name\":\"%s\"}%s}]%s}",
		id, project, affected, rest);
}

static void write_record(const char *file, const char *id, const char *project, const char *affected, const char *rest)
{
	CLEANUP(mem_free) char *text = record_of(id, project, affected, rest);
	write_text(file, text);
}

#define ALL ",\"ranges\":[{\"type\":\"ECOSYSTEM\",\"events\":[{\"introduced\":\"0\"}]}]"
#define FIXED(v) ",\"ranges\":[{\"type\":\"ECOSYSTEM\",\"events\":[{\"introduced\":\"0\"},{\"fixed\":\"" v "\"}]}]"
#define ONLY(v) ",\"versions\":[\"" v "\"]"
#define WORD(word) ",\"database_specific\":{\"severity\":\"" word "\"}"

static void set_key(const char *key, const char *value)
{
	struct err e = ERR_INIT;
	if (config_set(&config, "upstream", key, value, &e) < 0)
		fail_msg("%s", e.msg);
}

static int set_up(void **state UNUSED)
{
	memset(folder + strlen(folder) - 6, 'X', 6);
	if (!mkdtemp(folder))
		return -1;
	CLEANUP(mem_free) char *lists = path_of("lists");
	config_init(&config);
	set_key("block", lists);
	return mkdir(lists, 0755);
}

static int tear_down(void **state UNUSED)
{
	struct err e = ERR_INIT;
	config_release(&config);
	return tree_remove(AT_FDCWD, folder, &e);
}

static struct advisories *open_lists(void)
{
	struct err e = ERR_INIT;
	struct advisories *a;
	CLEANUP(mem_free) char *catalog = path_of("catalog.db");
	if (advisories_open(&config, catalog, &a, &e) < 0)
		fail_msg("%s", e.msg);
	return a;
}

static void refuse_lists(enum err_kind kind, const char *words)
{
	struct err e = ERR_INIT;
	struct advisories *a;
	CLEANUP(mem_free) char *catalog = path_of("catalog.db");
	assert_int_equal(advisories_open(&config, catalog, &a, &e), -1);
	if (e.kind != kind || !strstr(e.msg, words))
		fail_msg("%d %s", e.kind, e.msg);
}

// The id that hides it; "": none does.
static const char *hider(const struct advisories *a, const char *project, const char *version)
{
	static char id[LIMIT_ADVISORY_ID + 1];
	struct advisory found;
	id[0] = '\0';
	if (advisories_find(a, "upstream", str_from(project), str_from(version), &found))
		snprintf(id, sizeof(id), STR_FMT, STR_ARG(found.id));
	return id;
}

#define HIDES(a, project, version, id) assert_string_equal(hider((a), (project), (version)), (id))

// --- what is hidden ---

static void malware_is_hidden(void **state UNUSED)
{
	write_record("lists/a.json", "MAL-2026-1", "Evil.Tool", ALL, "");
	write_record("lists/b.json", "MAL-2026-2", "acme", ONLY("1.0"), "");
	write_record("lists/c.json", "PYSEC-1", "acme", ALL, WORD("CRITICAL"));
	write_record("lists/d.json", "MAL-2026-3", "back", ALL, ",\"withdrawn\":\"2026-01-03T00:00:00Z\"");
	write_record("lists/e.json", "MAL-0000-4", "raw", ALL, "");
	write_record("lists/f.json", "MAL-2026-5", "odd", ONLY("2004d-x"), "");
	write_text("lists/README", "no record");
	struct advisories *a = open_lists();
	HIDES(a, "evil-tool", "0.0.1", "MAL-2026-1");
	HIDES(a, "evil-tool", "not a version", "MAL-2026-1");
	HIDES(a, "acme", "1.0.0+cpu", "MAL-2026-2");
	HIDES(a, "acme", "1.0.1", "");
	HIDES(a, "back", "1", "");
	HIDES(a, "raw", "1", "");
	HIDES(a, "odd", "2004d-x", "MAL-2026-5");
	HIDES(a, "odd", "2004d", "");
	HIDES(a, "aaaa", "1", "");
	HIDES(a, "zzzz", "1", "");
	struct advisory found;
	assert_false(advisories_find(a, "other", STR("evil-tool"), STR("1"), &found));
	assert_false(advisories_find(NULL, "upstream", STR("evil-tool"), STR("1"), &found));
	advisories_unref(a);
}

static void severe_vulnerabilities_are_hidden_on_demand(void **state UNUSED)
{
	write_record("lists/a.json", "PYSEC-1", "acme", FIXED("1"), WORD("LOW"));
	write_record("lists/b.json", "PYSEC-2", "acme", FIXED("2"), WORD("HIGH"));
	write_record("lists/c.json", "PYSEC-3", "acme", FIXED("3"), "");
	static const struct {
		const char *least, *of_0, *of_1, *of_2;
	} cases[] = {{"low", "PYSEC-2", "PYSEC-2", ""}, {"high", "PYSEC-2", "PYSEC-2", ""}, {"critical", "", "", ""}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		set_key("block-severity", cases[i].least);
		struct advisories *a = open_lists();
		HIDES(a, "acme", "0.1", cases[i].of_0);
		HIDES(a, "acme", "1.1", cases[i].of_1);
		HIDES(a, "acme", "2.1", cases[i].of_2);
		advisories_unref(a);
	}
}

static bool count_records(void *ctx, const struct advisory *a UNUSED)
{
	++*(int *)ctx;
	return true;
}

// Also those that hide nothing, in a list that another upstream has.
static void each_record_about_a_version_is_told(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *other = path_of("other");
	static const struct {
		const char *version;
		int records;
	} cases[] = {{"0.1", 3}, {"1", 2}, {"2.5", 0}, {"no version", 0}, {"", 3}};
	assert_int_equal(mkdir(other, 0755), 0);
	write_record("lists/a.json", "PYSEC-1", "acme", FIXED("1"), WORD("LOW"));
	write_record("lists/b.json", "PYSEC-2", "acme", FIXED("2"), "");
	write_record("other/b.json", "PYSEC-2", "acme", FIXED("2"), "");
	write_record("other/c.json", "PYSEC-3", "acme", ALL, ",\"withdrawn\":\"2026-01-02T03:04:05Z\"");
	if (config_set(&config, "upstream main", "url", "https://main.example/simple/", &e) < 0 || // with the first list
		config_set(&config, "upstream extra", "url", "https://extra.example/simple/", &e) < 0 ||
		config_set(&config, "upstream extra", "block", other, &e) < 0)
		fail_msg("%s", e.msg);
	struct advisories *a = open_lists();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int count = 0;
		advisories_about(a, STR("acme"), str_from(cases[i].version), count_records, &count);
		if (count != cases[i].records)
			fail_msg("%s: %d", cases[i].version, count);
	}
	advisories_about(a, STR("nothing"), STR("1"), NULL, NULL);
	advisories_about(NULL, STR("acme"), STR("1"), NULL, NULL);
	advisories_unref(a);
}

static void whole_project_is_told_from_all_its_versions(void **state UNUSED)
{
	int count = 0;
	struct advisory found;
	write_record("lists/a.json", "MAL-2026-1", "evil", ALL, "");
	write_record("lists/b.json", "MAL-2026-2", "evil", ONLY("1"), "");
	write_record("lists/c.json", "MAL-2026-3", "partly", FIXED("9"), "");
	write_record("lists/d.json", "PYSEC-4", "weak", ALL, WORD("HIGH"));
	struct advisories *a = open_lists();
	assert_true(advisories_cover(a, "upstream", STR("evil"), &found) && str_eq(found.id, STR("MAL-2026-1")));
	assert_false(advisories_cover(a, "upstream", STR("partly"), &found));
	assert_false(advisories_cover(a, "upstream", STR("weak"), &found));
	assert_false(advisories_cover(a, "upstream", STR("nothing"), &found));
	advisories_each(a, "upstream", STR("evil"), STR("1"), count_records, &count);
	assert_int_equal(count, 2);
	advisories_unref(a);
}

static void reason_is_a_line(void **state UNUSED)
{
	static const struct {
		struct advisory of;
		const char *reason;
	} cases[] = {
		{{.id = STR("MAL-1"), .is_malicious = true}, "MAL-1: malware"},
		{{.id = STR("PYSEC-1"), .severity = 98}, "PYSEC-1: vulnerability of severity 9.8"},
		{{.id = STR("MAL-1"), .is_malicious = true, .is_wrong = true},
			"MAL-1: malware, and its record is malformed, so all versions are blocked"},
		{{.id = STR("A"), .is_wrong = true}, "A: its record is malformed, so all versions are blocked"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(buf_release) struct buf text = buf_up_to(1000);
		advisory_reason(&cases[i].of, &text);
		assert_string_equal(text.data, cases[i].reason);
	}
}

// --- records as they were ---

static void assert_text(const struct advisory_list *l, const char *id, const char *text)
{
	struct err e = ERR_INIT;
	struct advisory found;
	CLEANUP(buf_release) struct buf out = buf_up_to(1 << 20);
	assert_true(advisory_list_by_id(l, str_from(id), &found));
	assert_int_equal(advisory_list_text(l, &found, &out, &e), 0);
	assert_string_equal(out.data, text);
}

static void records_of_a_zip_are_read_as_they_were(void **state UNUSED)
{
	struct zipmake z;
	zipmake_init(&z);
	enum { RECORDS = 2000 }; // several frames
	char *texts[RECORDS];
	for (int i = 0; i < RECORDS; i++) {
		CLEANUP(mem_free) char *id = xasprintf("MAL-2026-%d", i), *name = xasprintf("MAL-2026-%d.json", i);
		texts[i] = record_of(id, id, ALL, i % 2 ? "" : ",\"withdrawn\":\"2026-01-03T00:00:00Z\"");
		zipmake_add(&z, &(struct zipmake_member){.name = name, .content = texts[i]});
	}
	zipmake_add(&z, &(struct zipmake_member){.name = "README.txt", .content = "no record"});
	zipmake_end(&z, "");
	write_bytes("lists/all.zip", buf_view(&z.bytes));
	zipmake_release(&z);
	struct advisories *a = open_lists();
	for (int i = 0; i < RECORDS; i++) {
		CLEANUP(mem_free) char *id = xasprintf("MAL-2026-%d", i), *project = xasprintf("mal-2026-%d", i);
		HIDES(a, project, "1", i % 2 ? id : "");
		assert_text(advisories_list(a, 0), id, texts[i]);
		free(texts[i]);
	}
	struct advisory found;
	assert_false(advisory_list_by_id(advisories_list(a, 0), STR("MAL-2026-"), &found));
	advisories_unref(a);
}

// --- sources that change or break ---

static struct advisories *renew(struct advisories *a)
{
	struct advisories *next = advisories_renew(a);
	assert_non_null(next);
	advisories_unref(a);
	return next;
}

static const char *error_of(const struct advisories *a)
{
	struct advisories_source s;
	advisories_source(a, 0, &s);
	return s.error;
}

static void changed_source_is_read_again(void **state UNUSED)
{
	write_record("lists/a.json", "MAL-2026-1", "one", ALL, "");
	struct advisories *a = open_lists();
	assert_null(advisories_renew(a));
	write_record("lists/b.json", "MAL-2026-2", "two", ALL, "");
	a = renew(a);
	HIDES(a, "one", "1", "MAL-2026-1");
	HIDES(a, "two", "1", "MAL-2026-2");
	assert_null(advisories_renew(a));
	CLEANUP(mem_free) char *path = path_of("lists/a.json");
	unlink(path);
	a = renew(a);
	HIDES(a, "one", "1", "");
	advisories_unref(a);
}

static void broken_source_keeps_its_list(void **state UNUSED)
{
	write_record("lists/a.json", "MAL-2026-1", "one", ALL, "");
	struct advisories *a = open_lists();
	write_text("lists/a.json", "{\"id\":\"MAL-2026-1\",");
	a = renew(a);
	assert_non_null(strstr(error_of(a), "a.json: not JSON"));
	HIDES(a, "one", "1", "MAL-2026-1");
	assert_null(advisories_renew(a)); // it is not read twice
	advisories_unref(a);
	a = open_lists(); // a restart
	HIDES(a, "one", "1", "MAL-2026-1");
	write_record("lists/a.json", "MAL-2026-1", "two", ALL, "");
	a = renew(a);
	assert_null(error_of(a));
	HIDES(a, "one", "1", "");
	HIDES(a, "two", "1", "MAL-2026-1");
	advisories_unref(a);
}

static void source_that_comes_back_is_no_error(void **state UNUSED)
{
	CLEANUP(mem_free) char *lists = path_of("lists"), *away = path_of("away");
	write_record("lists/a.json", "MAL-2026-1", "one", ALL, "");
	struct advisories *a = open_lists();
	assert_int_equal(rename(lists, away), 0);
	a = renew(a);
	assert_non_null(strstr(error_of(a), "No such file"));
	HIDES(a, "one", "1", "MAL-2026-1");
	assert_int_equal(rename(away, lists), 0);
	a = renew(a);
	assert_null(error_of(a));
	advisories_unref(a);
}

static void source_that_was_never_read_is_refused(void **state UNUSED)
{
	write_text("lists/a.json", "[]");
	refuse_lists(ERR_INVALID, "a.json: it is no JSON object");
	write_text("lists/a.json", "{\"id\":");
	refuse_lists(ERR_INVALID, "a.json: not JSON");
	write_text("lists/a.json", "PK\3\4");
	refuse_lists(ERR_INVALID, "a.json: ");
	set_key("block", "/nowhere/at/all");
	refuse_lists(ERR_NOT_FOUND, "/nowhere/at/all");
	set_key("block", "/dev/null");
	refuse_lists(ERR_INVALID, "neither a file nor a folder");
}

static void damaged_zip_is_refused(void **state UNUSED)
{
	struct zipmake z;
	zipmake_init(&z);
	CLEANUP(mem_free) char *text = record_of("MAL-2026-1", "one", ALL, "");
	zipmake_add(&z, &(struct zipmake_member){.name = "a.json", .content = text});
	zipmake_end(&z, "");
	char *begin = memmem(z.bytes.data, z.bytes.len, "PyPI", 4);
	begin[0] = 'X'; // and the CRC differs
	write_bytes("lists/all.zip", buf_view(&z.bytes));
	zipmake_release(&z);
	refuse_lists(ERR_INVALID, "CRC");
}

static void damaged_list_of_the_state_is_made_again(void **state UNUSED)
{
	write_record("lists/a.json", "MAL-2026-1", "one", ALL, "");
	advisories_unref(open_lists());
	CLEANUP(mem_free) char *state_path = path_of("catalog.db.advisories");
	CLEANUP(mem_free) char *command = xasprintf("for f in %s/*; do printf x | dd of=$f bs=1 seek=200 conv=notrunc "
						    "2>/dev/null; done",
		state_path);
	assert_int_equal(system(command), 0);
	struct advisories *a = open_lists();
	HIDES(a, "one", "1", "MAL-2026-1");
	advisories_unref(a);
}

static void lists_of_other_sources_are_removed(void **state UNUSED)
{
	write_record("lists/a.json", "MAL-2026-1", "one", ALL, "");
	write_record("other.json", "MAL-2026-2", "two", ALL, "");
	CLEANUP(mem_free) char *lists = path_of("lists"), *other = path_of("other.json");
	set_key("block", other);
	advisories_unref(open_lists());
	config_release(&config);
	config_init(&config);
	set_key("block", lists);
	struct advisories *a = open_lists();
	write_record("lists/a.json", "MAL-2026-1", "three", ALL, "");
	a = renew(a);
	unlink(other);
	set_key("block", other); // behind the first one
	refuse_lists(ERR_NOT_FOUND, "other.json");
	advisories_unref(a);
}

static void wrong_records_are_named(void **state UNUSED)
{
	struct advisories_source s;
	write_text("lists/MAL-2026-7.json", "{\"affected\":[{\"package\":{\"ecosystem\":\"PyPI\",\"name\":\"one\"},"
					    "\"versions\":[\"1\"]}]}");
	write_text("lists/b.json", "{\"id\":\"A\"}");
	write_record("lists/c.json", "GO-1", "x", "},{\"package\":{\"ecosystem\":\"Go\",\"name\":\"x\"}", "");
	struct advisories *a = open_lists();
	HIDES(a, "one", "77", "MAL-2026-7");
	advisories_source(a, 0, &s);
	assert_int_equal(s.state.wrong, 2);
	assert_int_equal(s.state.records, 2);
	CLEANUP(mem_free) char *notes = xstrndup(s.state.notes.ptr, s.state.notes.len);
	assert_non_null(strstr(notes, "MAL-2026-7.json: it has no modified"));
	assert_non_null(strstr(notes, "b.json: it has no modified"));
	advisories_unref(a);
}

// Its own id does not count, nor how severe it is, nor a worse score of another record.
static void wrong_records_hide_without_severity(void **state UNUSED)
{
#define OF(name) "\"affected\":[{\"package\":{\"ecosystem\":\"PyPI\",\"name\":\"" name "\"},\"versions\":[\"1\"]}]"
	struct advisory found;
	write_text("lists/none.json", "{\"modified\":\"2026-01-02T03:04:05Z\"," OF("one") "}");
	write_record("lists/slash.json", "mal-2026/1", "two", ONLY("1"), "");
	write_text("lists/PYSEC-3.json", "{\"id\":\"PYSEC-3\"," OF("three") "}");
	write_record("lists/A-4.json", "A-4", "three", ALL,
		",\"severity\":[{\"type\":\"CVSS_V3\",\"score\":\"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H\"}]");
	write_text("lists/MAL-0000-5.json", "{\"id\":\"MAL-0000-5\"," OF("raw") "}");
	write_text("lists/back.json",
		"{\"id\":\"PYSEC-6\",\"withdrawn\":\"2026-01-03T00:00:00Z\"," OF("back") "}");
	struct advisories *a = open_lists();
	HIDES(a, "one", "77", "none");
	HIDES(a, "two", "77", "slash");
	HIDES(a, "three", "77", "PYSEC-3");
	HIDES(a, "three", "no version", "PYSEC-3");
	HIDES(a, "raw", "1", "");
	HIDES(a, "back", "1", "");
	assert_true(advisories_cover(a, "upstream", STR("three"), &found) && str_eq(found.id, STR("PYSEC-3")));
	advisories_unref(a);
}

// --- limits ---

// Exceeds LIMIT_ADVISORIES_NAMED
static void only_some_wrong_records_are_named(void **state UNUSED)
{
	struct advisories_source s;
	size_t lines = 1;
	for (int i = 0; i < LIMIT_ADVISORIES_NAMED + 5; i++) {
		CLEANUP(mem_free) char *name = xasprintf("lists/%d.json", i);
		write_text(name, "{}");
	}
	struct advisories *a = open_lists();
	advisories_source(a, 0, &s);
	for (size_t i = 0; i < s.state.notes.len; i++)
		lines += s.state.notes.ptr[i] == '\n';
	assert_int_equal(lines, LIMIT_ADVISORIES_NAMED);
	assert_int_equal(s.state.wrong, LIMIT_ADVISORIES_NAMED + 5);
	advisories_unref(a);
}

// Exceeds LIMIT_ADVISORY_SOURCES
static void too_many_sources_are_refused(void **state UNUSED)
{
	write_record("a.json", "MAL-2026-1", "one", ALL, "");
	CLEANUP(buf_release) struct buf paths = buf_up_to(1 << 20);
	for (int i = 0; i <= LIMIT_ADVISORY_SOURCES; i++)
		buf_printf(&paths, " %s/%0*d/../a.json", folder, i + 1, 0);
	set_key("block", paths.data + 1);
	refuse_lists(ERR_USAGE, "more than 64 files");
}

// Exceeds LIMIT_ADVISORY
static void large_record_blocks_by_name(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_ADVISORY + 1000);
	buf_puts(&text, "{\"id\":\"MAL-2026-1\",\"affected\":[{\"package\":{\"ecosystem\":\"PyPI\",\"name\":\"one\"},\"x\":\"");
	memset(buf_reserve(&text, LIMIT_ADVISORY), 'x', LIMIT_ADVISORY);
	text.len += LIMIT_ADVISORY;
	buf_puts(&text, "\"}]}");
	write_bytes("lists/a.json", buf_view(&text));
	struct zipmake z;
	zipmake_init(&z);
	memcpy(memmem(text.data, 200, "one", 3), "two", 3);
	zipmake_add(&z, &(struct zipmake_member){.name = "b.json", .data = buf_view(&text)});
	zipmake_end(&z, "");
	write_bytes("lists/all.zip", buf_view(&z.bytes));
	zipmake_release(&z);
	struct advisories *a = open_lists();
	HIDES(a, "one", "1", "MAL-2026-1");
	HIDES(a, "two", "1", "MAL-2026-1");
	advisories_unref(a);
}

// Exceeds LIMIT_ADVISORIES, LIMIT_ADVISORY_FILES, LIMIT_ADVISORY_INDEX
static void large_sources_are_refused(void **state UNUSED)
{
	static const struct advisory_limits limits[] = {{2, 1000, 10000}, {10, 300, 10000}, {10, 1000, 300}};
	static const char *const words[] = {"more than 2 files", "more than 300 bytes", "index of its records"};
	CLEANUP(mem_free) char *lists = path_of("lists");
	for (int i = 0; i < 3; i++) {
		CLEANUP(mem_free) char *name = xasprintf("lists/%d.json", i), *id = xasprintf("MAL-2026-%d", i);
		write_record(name, id, id, ALL, "");
	}
	struct err e = ERR_INIT;
	CLEANUP(place_folder_close) struct place_folder *state_folder = record_secret_folder(folder, "", true, &e);
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		assert_int_equal(advisory_source_read(lists, &limits[i], state_folder, "list", &e), -1);
		if (e.kind != ERR_LIMIT || !strstr(e.msg, words[i]))
			fail_msg("%s", e.msg);
	}
	assert_int_equal(advisory_source_read(lists, &advisory_limits, state_folder, "list", &e), 0);
}

static void folders_in_folders_have_a_limit(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf path = buf_up_to(LIMIT_PATH);
	buf_puts(&path, "lists");
	for (int i = 0; i < 9; i++) {
		buf_puts(&path, "/d");
		CLEANUP(mem_free) char *whole = path_of(path.data);
		assert_int_equal(mkdir(whole, 0755), 0);
		if (i == 2) {
			CLEANUP(mem_free) char *name = xasprintf("%s/a.json", path.data);
			write_record(name, "MAL-2026-1", "one", ALL, "");
			struct advisories *a = open_lists();
			HIDES(a, "one", "1", "MAL-2026-1");
			advisories_unref(a);
		}
	}
	struct advisories *a = renew(open_lists());
	assert_non_null(strstr(error_of(a), "folders in each other"));
	advisories_unref(a);
}

// --- against a slow search ---

static unsigned next_random(unsigned *state)
{
	*state = *state * 1103515245u + 12345u;
	return *state >> 16;
}

// A list of random ranges and versions of one project; each version's worst record is that of a search of all.
static bool take_worst(void *ctx, const struct advisory *a)
{
	struct advisory *worst = ctx;
	if (!worst->id.len || advisory_is_worse(a, worst))
		*worst = *a;
	return true;
}

static void compare_versions(const struct advisory_list *l, unsigned seed)
{
	uint32_t project = advisory_list_project(l, STR("one"));
	for (int i = 0; i < 24; i++) {
		struct arena arena = {0};
		struct advisory slow = {0}, fast = {0};
		CLEANUP(mem_free) char *version = i < 22 ? xasprintf("%d%s", i / 2, i % 2 ? ".post1" : "") : xstrdup("odd");
		struct str key = osv_version_key(str_from(version), &arena);
		advisory_list_each(l, project, str_from(version), key, take_worst, &slow);
		bool is_hit = advisory_list_worst(l, project, str_from(version), key, &fast);
		if (is_hit != (slow.id.len > 0) || (is_hit && (fast.is_malicious != slow.is_malicious ||
								      fast.severity != slow.severity)))
			fail_msg("seed %u: version %s: " STR_FMT ", not " STR_FMT, seed, version, STR_ARG(fast.id),
				STR_ARG(slow.id));
		arena_release(&arena);
	}
}

static void put_random_record(unsigned *random, int number, struct buf *out)
{
	static const char *const words[] = {"LOW", "MODERATE", "HIGH", "CRITICAL", "?"};
	static const char *const kinds[] = {"introduced", "fixed", "last_affected", "limit"};
	buf_printf(out, "{\"id\":\"%s-%d\",\"modified\":\"2026-01-02T03:04:05Z\",\"database_specific\":{\"severity\":\"%s\"},"
			"\"affected\":[{\"package\":{\"ecosystem\":\"PyPI\",\"name\":\"one\"},\"versions\":[",
		next_random(random) % 4 ? "PYSEC" : "MAL", number, words[next_random(random) % ARRAY_SIZE(words)]);
	for (unsigned i = 0, count = next_random(random) % 3; i < count; i++)
		buf_printf(out, "%s\"%u\"", i ? "," : "", next_random(random) % 10);
	buf_puts(out, "],\"ranges\":[{\"type\":\"ECOSYSTEM\",\"events\":[");
	buf_printf(out, "{\"introduced\":\"%u\"}", next_random(random) % 10);
	for (unsigned i = 0, count = next_random(random) % 4; i < count; i++)
		buf_printf(out, ",{\"%s\":\"%u\"}", kinds[next_random(random) % ARRAY_SIZE(kinds)], next_random(random) % 10);
	buf_puts(out, "]}]}]}");
}

static void worst_record_is_that_of_a_slow_search(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *lists = path_of("lists");
	CLEANUP(place_folder_close) struct place_folder *state_folder = record_secret_folder(folder, "", true, &e);
	for (unsigned seed = 1; seed <= 300; seed++) {
		unsigned random = seed;
		struct zipmake z;
		zipmake_init(&z);
		for (int i = 0, count = 1 + (int)(next_random(&random) % 12); i < count; i++) {
			CLEANUP(buf_release) struct buf text = buf_up_to(10000);
			CLEANUP(mem_free) char *name = xasprintf("%d.json", i);
			put_random_record(&random, i, &text);
			zipmake_add(&z, &(struct zipmake_member){.name = name, .data = buf_view(&text)});
		}
		zipmake_end(&z, "");
		write_bytes("lists/all.zip", buf_view(&z.bytes));
		zipmake_release(&z);
		if (advisory_source_read(lists, &advisory_limits, state_folder, "list", &e) < 0)
			fail_msg("seed %u: %s", seed, e.msg);
		struct advisory_list *l = advisory_list_open(state_folder, "list", &e);
		assert_non_null(l);
		compare_versions(l, seed);
		advisory_list_unref(l);
	}
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(malware_is_hidden),
		CASE(severe_vulnerabilities_are_hidden_on_demand),
		CASE(each_record_about_a_version_is_told),
		CASE(whole_project_is_told_from_all_its_versions),
		CASE(reason_is_a_line),
		CASE(records_of_a_zip_are_read_as_they_were),
		CASE(changed_source_is_read_again),
		CASE(broken_source_keeps_its_list),
		CASE(source_that_comes_back_is_no_error),
		CASE(source_that_was_never_read_is_refused),
		CASE(damaged_zip_is_refused),
		CASE(damaged_list_of_the_state_is_made_again),
		CASE(lists_of_other_sources_are_removed),
		CASE(wrong_records_are_named),
		CASE(wrong_records_hide_without_severity),
		CASE(only_some_wrong_records_are_named),
		CASE(too_many_sources_are_refused),
		CASE(large_record_blocks_by_name),
		CASE(large_sources_are_refused),
		CASE(folders_in_folders_have_a_limit),
		CASE(worst_record_is_that_of_a_slow_search),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
