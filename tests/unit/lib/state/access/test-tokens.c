// SPDX-License-Identifier: Apache-2.0
#include "lib/state/access/tokens.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/os/thread-pool.h"

static char folder[] = "test-tokens.XXXXXX";
static char path[64];

static int make_folder(void **state UNUSED)
{
	log_set_level(LOG_LEVEL_ERROR);
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/c.db.tokens", folder);
	return 0;
}

static int remove_folder(void **state UNUSED)
{
	CLEANUP(mem_free) char *command = xasprintf("rm -r '%s'", folder);
	return system(command);
}

static int remove_file(void **state UNUSED)
{
	unlink(path);
	return 0;
}

// Adds a token; its secret, to be freed.
static char *add_for(const char *platform, const char *project, unsigned rights, const char *views, const char *note,
	int64_t expires)
{
	struct err e = ERR_INIT;
	struct buf secret;
	CLEANUP(token_release)
	struct token t = {.platform = xstrdup(platform),
		.project = xstrdup(project),
		.rights = rights,
		.views = xstrdup(views),
		.note = xstrdup(note),
		.expires = expires};
	buf_init(&secret, 100);
	if (tokenfile_add(path, &t, &secret, &e) < 0)
		fail_msg("%s", e.msg);
	return buf_steal(&secret);
}

static char *add(const char *platform, const char *project, unsigned rights, const char *note, int64_t expires)
{
	return add_for(platform, project, rights, "", note, expires);
}

static void read_file(struct buf *text)
{
	struct err e = ERR_INIT;
	buf_init(text, 1 << 20);
	if (fs_read_file(path, text, &e) < 0)
		fail_msg("%s", e.msg);
}

static void write_file(const char *text)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void tokens_cleanup(struct tokens **t)
{
	tokens_free(*t);
}

enum {
	UPLOAD = 1 << TOKEN_UPLOAD,
	READ = 1 << TOKEN_READ,
	EVIDENCE = 1 << TOKEN_EVIDENCE,
	PROMOTE = 1 << TOKEN_PROMOTE
};

static void a_secret_is_nowhere_in_the_file(void **state UNUSED)
{
	struct stat st;
	CLEANUP(buf_release) struct buf text;
	CLEANUP(mem_free) char *secret = add("ubuntu-*", "*", UPLOAD, "builder of jammy", 0);
	CLEANUP(mem_free) char *other = add("*", "foo-*", UPLOAD | READ, "", 4000000000);
	CLEANUP(tokenfile_release) struct tokenfile f = {0};
	struct err e = ERR_INIT;
	assert_int_equal(strlen(secret), 3 + 43); // 32 bytes
	assert_string_not_equal(secret, other);
	assert_memory_equal(secret, "wc_", 3);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	read_file(&text);
	assert_null(strstr(text.data, secret + 3));
	assert_null(strstr(text.data, other + 3));
	assert_int_equal(tokenfile_read(path, &f, &e), 0);
	assert_int_equal(f.count, 2);
	assert_int_equal(f.damage_count, 0);
	assert_string_equal(f.token[0].platform, "ubuntu-*");
	assert_string_equal(f.token[0].note, "builder of jammy");
	assert_string_equal(token_name(&f.token[0]), "builder of jammy");
	assert_int_equal(f.token[0].rights, UPLOAD);
	assert_int_equal(f.token[0].expires, 0);
	assert_true(f.token[0].created <= clock_wall_seconds() && f.token[0].created > 1700000000);
	assert_string_equal(f.token[1].project, "foo-*");
	assert_int_equal(f.token[1].rights, UPLOAD | READ);
	assert_int_equal(f.token[1].expires, 4000000000);
	assert_string_equal(token_name(&f.token[1]), f.token[1].id);
}

static void a_token_does_what_it_may(void **state UNUSED)
{
	CLEANUP(mem_free) char *up = add("ubuntu-*", "foo-*", UPLOAD, "up", 0);
	CLEANUP(mem_free) char *all = add("*", "*", READ | UPLOAD, "all", 0);
	CLEANUP(mem_free) char *some = add("*", "foo-*", READ, "some", 0);
	CLEANUP(mem_free) char *old = add("*", "*", READ | UPLOAD, "old", clock_wall_seconds() - 1);
	CLEANUP(tokens_cleanup) struct tokens *t = tokens_new(path);
	const struct {
		const char *secret;
		enum token_right right;
		const char *platform, *project;
		enum tokens_answer answer;
		const char *who, *words;
	} row[] = {
		{up, TOKEN_UPLOAD, "ubuntu-22.04-x86_64", "foo-bar", TOKENS_GRANTED, "up", ""},
		{up, TOKEN_UPLOAD, "ubuntu-22.04-x86_64", NULL, TOKENS_GRANTED, "up", ""},
		{up, TOKEN_UPLOAD, "ubuntu-22.04-x86_64", "foo", TOKENS_FORBIDDEN, "up",
			"the token \"up\" may not upload foo on ubuntu-22.04-x86_64, but foo-* on ubuntu-*"},
		{up, TOKEN_UPLOAD, "debian-12-x86_64", NULL, TOKENS_FORBIDDEN, "up",
			"the token \"up\" may not upload all of debian-12-x86_64, but foo-* on ubuntu-*"},
		{up, TOKEN_READ, "ubuntu-22.04-x86_64", "foo-bar", TOKENS_FORBIDDEN, "up",
			"the token \"up\" has no right to read"},
		{all, TOKEN_UPLOAD, "x", "y", TOKENS_GRANTED, "all", ""},
		{all, TOKEN_READ, "x", NULL, TOKENS_GRANTED, "all", ""},
		{some, TOKEN_READ, "x", "foo-bar", TOKENS_GRANTED, "some", ""},
		{some, TOKEN_READ, "x", NULL, TOKENS_FORBIDDEN, "some",
			"the token \"some\" may not read all of x, but foo-* on *"},
		{old, TOKEN_READ, "x", "y", TOKENS_UNKNOWN, "old", "the token \"old\" expired at "},
		{"", TOKEN_READ, "x", "y", TOKENS_UNKNOWN, NULL, "this token is not known here"},
		{"wc_", TOKEN_UPLOAD, "x", "y", TOKENS_UNKNOWN, NULL, "this token is not known here"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct err e = ERR_INIT;
		CLEANUP(mem_free) char *who = NULL;
		enum tokens_answer answer = tokens_check(t, str_from(row[i].secret), row[i].right, row[i].platform,
			row[i].project, &who, &e);
		if (answer != row[i].answer || strncmp(e.msg, row[i].words, strlen(row[i].words)) != 0)
			fail_msg("row %zu: %d, %s", i, answer, e.msg);
		assert_string_equal(who ? who : "-", row[i].who ? row[i].who : "-");
	}
}

static void a_token_is_for_its_views(void **state UNUSED)
{
	CLEANUP(mem_free) char *both = add_for("ubuntu-*", "foo-*", EVIDENCE | PROMOTE, "tested nightly-*", "ci", 0);
	CLEANUP(mem_free) char *old = add_for("*", "*", PROMOTE, "*", "old", clock_wall_seconds() - 1);
	CLEANUP(mem_free) char *up = add("*", "*", UPLOAD, "up", 0);
	CLEANUP(tokens_cleanup) struct tokens *t = tokens_new(path);
	const struct {
		const char *secret;
		enum token_right right;
		const char *view;
		enum tokens_answer answer;
		const char *who, *words;
	} row[] = {
		{both, TOKEN_PROMOTE, "tested", TOKENS_GRANTED, "ci", ""},
		{both, TOKEN_PROMOTE, "nightly-3", TOKENS_GRANTED, "ci", ""},
		{both, TOKEN_EVIDENCE, NULL, TOKENS_GRANTED, "ci", ""},
		{both, TOKEN_PROMOTE, "released", TOKENS_FORBIDDEN, "ci",
			"the token \"ci\" may promote for tested nightly-*, but not for released"},
		{both, TOKEN_PROMOTE, "", TOKENS_FORBIDDEN, "ci", "the token \"ci\" may promote for"},
		{both, TOKEN_OVERRIDE, "tested", TOKENS_NONE, "ci", "no token is defined that may override"},
		{up, TOKEN_PROMOTE, "tested", TOKENS_FORBIDDEN, "up", "the token \"up\" has no right to promote"},
		{up, TOKEN_EVIDENCE, NULL, TOKENS_FORBIDDEN, "up", "the token \"up\" has no right to send evidence"},
		{old, TOKEN_PROMOTE, "tested", TOKENS_UNKNOWN, "old", "the token \"old\" expired at "},
		{"", TOKEN_PROMOTE, "tested", TOKENS_UNKNOWN, NULL, "this token is not known here"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct err e = ERR_INIT;
		CLEANUP(mem_free) char *who = NULL;
		CLEANUP(token_grant_release) struct token_grant grant = {0};
		enum tokens_answer answer =
			tokens_grant(t, str_from(row[i].secret), row[i].right, row[i].view, &grant, &who, &e);
		if (answer != row[i].answer || strncmp(e.msg, row[i].words, strlen(row[i].words)) != 0)
			fail_msg("row %zu: %d, %s", i, answer, e.msg);
		assert_string_equal(who ? who : "-", row[i].who ? row[i].who : "-");
		assert_int_equal(grant.count, answer == TOKENS_GRANTED);
	}
	// It does nothing else.
	struct err e = ERR_INIT;
	assert_int_equal(tokens_check(t, str_from(both), TOKEN_UPLOAD, "ubuntu-1", "foo-a", NULL, &e),
		TOKENS_FORBIDDEN);
}

// Two lines with one secret, as an operator may write them: what one says of a platform is not joined with what the
// other one says of a view.
static void lines_of_one_token_are_not_mixed(void **state UNUSED)
{
	static const char *const projects[] = {"foo-a", "foo-b"}, *const others[] = {"foo-a", "bar"};
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *secret = add_for("ubuntu-*", "foo-*", EVIDENCE, "tested", "ci", 0);
	CLEANUP(tokenfile_release) struct tokenfile f = {0};
	CLEANUP(mem_free) char *who = NULL;
	CLEANUP(buf_release) struct buf text, views, none;
	assert_int_equal(tokenfile_read(path, &f, &e), 0);
	assert_string_equal(f.token[0].views, "tested");
	read_file(&text);
	char hex[SHA256_HEX + 1] = "";
	hex_encode(f.token[0].sha256, SHA256_SIZE, hex);
	buf_printf(&text, "%s %s evidence,view=a,view=b debian-* * 2026-11-21T17:00:00Z never\n", f.token[0].id, hex);
	write_file(text.data);
	CLEANUP(tokens_cleanup) struct tokens *t = tokens_new(path);
	CLEANUP(token_grant_release) struct token_grant grant = {0};
	assert_int_equal(tokens_grant(t, str_from(secret), TOKEN_EVIDENCE, NULL, &grant, &who, &e), TOKENS_GRANTED);
	assert_int_equal(grant.count, 2);
	buf_init(&views, 100);
	buf_init(&none, 100);
	assert_true(token_grant_views(&grant, "ubuntu-1", projects, 2, &views));
	assert_string_equal(views.data, "tested");
	assert_false(token_grant_views(&grant, "ubuntu-1", others, 2, &none));
	assert_true(token_grant_views(&grant, "debian-1", others, 2, &none));
	assert_string_equal(none.data, "a b");
	assert_true(token_grant_has(&grant, "debian-1", NULL));
	assert_false(token_grant_has(&grant, "arch", NULL));
	assert_false(token_grant_has(&grant, "ubuntu-1", "bar"));
}

static enum tokens_answer ask(struct tokens *t, const char *secret, struct err *e)
{
	return tokens_check(t, str_from(secret), TOKEN_UPLOAD, "p", "q", NULL, e);
}

static void a_change_counts_at_once(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(tokens_cleanup) struct tokens *t = tokens_new(path);
	CLEANUP(mem_free) char *who = NULL;
	assert_int_equal(ask(t, "x", &e), TOKENS_NONE);
	assert_string_equal(e.msg, "no token is defined that may upload");
	CLEANUP(mem_free) char *first = add("*", "*", UPLOAD, "first", 0);
	assert_int_equal(ask(t, first, &e), TOKENS_GRANTED);
	CLEANUP(mem_free) char *second = add("*", "*", UPLOAD, "second", 0);
	assert_int_equal(ask(t, second, &e), TOKENS_GRANTED);
	CLEANUP(tokenfile_release) struct tokenfile f = {0};
	assert_int_equal(tokenfile_read(path, &f, &e), 0);
	assert_int_equal(tokenfile_revoke(path, f.token[0].id, &who, &e), 0);
	assert_string_equal(who, "first");
	assert_int_equal(ask(t, first, &e), TOKENS_UNKNOWN);
	assert_int_equal(ask(t, second, &e), TOKENS_GRANTED);
	assert_int_equal(tokenfile_revoke(path, f.token[0].id, &who, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(ask(t, second, &e), TOKENS_NONE);
}

static void a_damaged_line_harms_no_other(void **state UNUSED)
{
	CLEANUP(mem_free) char *first = add("*", "*", UPLOAD, "first", 0);
	CLEANUP(mem_free) char *second = add("*", "*", UPLOAD, "second", 0);
	CLEANUP(tokens_cleanup) struct tokens *t = tokens_new(path);
	CLEANUP(buf_release) struct buf text;
	CLEANUP(mem_free) char *who = NULL;
	struct err e = ERR_INIT;
	read_file(&text);
	char *line = strchr(text.data, '\n') + 1; // behind the heading
	line[12] = line[12] == '0' ? '1' : '0';   // a digit of the hash, behind the id
	write_file(text.data);
	assert_int_equal(ask(t, first, &e), TOKENS_UNKNOWN);
	assert_int_equal(ask(t, second, &e), TOKENS_GRANTED);
	line[0] = line[0] == '0' ? '1' : '0'; // the id
	write_file(text.data);
	CLEANUP(tokenfile_release) struct tokenfile f = {0};
	assert_int_equal(tokenfile_read(path, &f, &e), 0);
	assert_int_equal(f.count, 1);
	assert_int_equal(f.damage_count, 1);
	assert_non_null(strstr(f.damage[0], "c.db.tokens:2: no token, for its id is not the beginning"));
	assert_int_equal(ask(t, second, &e), TOKENS_GRANTED);
	// It stays until it is removed by name.
	CLEANUP(mem_free) char *third = add("*", "*", UPLOAD, "third", 0);
	char id[TOKEN_ID + 1] = "";
	memcpy(id, line, TOKEN_ID);
	assert_int_equal(tokenfile_revoke(path, id, &who, &e), 0);
	assert_string_equal(who, id);
	assert_int_equal(ask(t, second, &e), TOKENS_GRANTED);
	assert_int_equal(ask(t, third, &e), TOKENS_GRANTED);
}

#define HASH "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae" // of "foo"
#define TIME "2026-11-21T17:00:00Z"

static void bad_lines_are_no_tokens(void **state UNUSED)
{
	static const struct {
		const char *line, *words;
	} row[] = {
		{"2c26b46b " HASH " upload * * " TIME " never", NULL},
		{"2c26b46b " HASH " upload,read * * " TIME " " TIME " a note", NULL},
		{"2c26b46b " HASH " upload,evidence,view=a,view=b-* * * " TIME " never", NULL},
		{"2c26b46b " HASH " evidence * * " TIME " never", "its rights"},
		{"2c26b46b " HASH " upload,view=a * * " TIME " never", "its rights"},
		{"2c26b46b " HASH " view=a * * " TIME " never", "its rights"},
		{"2c26b46b " HASH " promote,view= * * " TIME " never", "its rights"},
		{"2c26b46b", "too few fields"},
		{"2c26b46b " HASH " upload * * " TIME, "too few fields"},
		{"2c26b46c " HASH " upload * * " TIME " never", "its id"},
		{"2c26b46b " HASH "0 upload * * " TIME " never", "its id"},
		{"e3b0c442 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 upload * * " TIME " never",
			"its id"},
		{"2c26b46b " HASH " delete * * " TIME " never", "its rights"},
		{"2c26b46b " HASH "  * * " TIME " never", "its rights"},
		{"2c26b46b " HASH " upload,,read * * " TIME " never", "its rights"},
		{"2c26b46b " HASH " upload  * " TIME " never", "a glob"},
		{"2c26b46b " HASH " upload * Foo " TIME " never", "a glob"},
		{"2c26b46b " HASH " upload * zope.* " TIME " never", "a glob"},
		{"2c26b46b " HASH " upload * * yesterday never", "a time"},
		{"2c26b46b " HASH " upload * * " TIME " 2026-13-01T00:00:00Z", "a time"},
		{"2c26b46b " HASH " upload * * " TIME " 1970-01-01T00:00:00Z", "a time"},
		{"2c26b46b " HASH " upload * * " TIME " never\r", "a time"},
		{"2c26b46b " HASH " upload * * " TIME " never \xff", "its note"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		CLEANUP(tokenfile_release) struct tokenfile f = {0};
		struct err e = ERR_INIT;
		write_file(row[i].line);
		assert_int_equal(tokenfile_read(path, &f, &e), 0);
		if (f.count != !row[i].words || (row[i].words && !strstr(f.damage[0], row[i].words)))
			fail_msg("row %zu: %s", i, f.damage_count ? f.damage[0] : "taken");
	}
}

// Exceeds LIMIT_TOKEN_VIEWS.
static void what_cannot_stand_in_a_line_is_refused(void **state UNUSED)
{
	struct {
		const char *platform, *project, *note;
		unsigned rights;
		const char *views;
	} row[] = {{"*", "*", "", PROMOTE, ""}, {"a b", "*", "", UPLOAD, ""}, {"", "*", "", UPLOAD, ""},
		{"*", "Zope", "", UPLOAD, ""}, {"*", "zope.interface", "", UPLOAD, ""},
		{"*", "*", "two\nlines", UPLOAD, ""}, {"*", "*", " blank", UPLOAD, ""}, {"*", "*", "\xff", UPLOAD, ""},
		{"*", "*", "", UPLOAD, "a"}, {"*", "*", "", PROMOTE, ""}, {"*", "*", "", PROMOTE, "a,read"},
		{"*", "*", "", PROMOTE, "a\nb"}, {"*", "*", "", PROMOTE, "a  b"}};
	CLEANUP(mem_free) char *long_views = xcalloc(LIMIT_TOKEN_VIEWS + 2, 1);
	memset(long_views, 'a', LIMIT_TOKEN_VIEWS + 1);
	for (char *c = long_views + LIMIT_NOTE; c < long_views + LIMIT_TOKEN_VIEWS; c += LIMIT_NOTE)
		*c = ' '; // each is short enough
	row[0].views = long_views;
	row[0].rights = PROMOTE;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct err e = ERR_INIT;
		CLEANUP(buf_release) struct buf secret;
		CLEANUP(token_release)
		struct token t = {.rights = row[i].rights,
			.views = xstrdup(row[i].views),
			.platform = xstrdup(row[i].platform),
			.project = xstrdup(row[i].project),
			.note = xstrdup(row[i].note)};
		buf_init(&secret, 100);
		assert_int_equal(tokenfile_add(path, &t, &secret, &e), -1);
		assert_int_equal(e.kind, ERR_USAGE);
		assert_int_equal(access(path, F_OK), -1);
	}
}

static void a_file_that_cannot_be_read_grants_nothing(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *secret = add("*", "*", UPLOAD, "", 0);
	CLEANUP(tokens_cleanup) struct tokens *t = tokens_new(path);
	assert_int_equal(ask(t, secret, &e), TOKENS_GRANTED);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0); // root, too, cannot read a folder
	assert_int_equal(ask(t, secret, &e), TOKENS_FAILED);
	assert_int_equal(e.kind, ERR_IO);
	assert_non_null(strstr(e.msg, path));
	assert_int_equal(ask(t, secret, &e), TOKENS_FAILED);
	assert_int_equal(rmdir(path), 0);
}

// --- threads: lines come and go while others ask ---

enum { ASKED = 300, ASKERS = 3, ADDED = 20 };

struct page_requests {
	struct tokens *t;
	const char *secret;
	atomic_uint refused;
};

static void ask_often(void *job)
{
	struct page_requests *x = job;
	for (int i = 0; i < ASKED; i++) {
		struct err e = ERR_INIT;
		if (ask(x->t, x->secret, &e) != TOKENS_GRANTED)
			atomic_fetch_add(&x->refused, 1);
	}
}

static void add_often(void *job UNUSED)
{
	for (int i = 0; i < ADDED; i++)
		free(add("*", "*", UPLOAD, "one of many", 0));
}

static void many_threads_ask_and_add(void **state UNUSED)
{
	CLEANUP(mem_free) char *secret = add("*", "*", UPLOAD, "", 0);
	CLEANUP(tokens_cleanup) struct tokens *t = tokens_new(path);
	CLEANUP(tokenfile_release) struct tokenfile f = {0};
	struct err e = ERR_INIT;
	struct page_requests x = {.t = t, .secret = secret};
	struct thread_pool *pool = thread_pool_new(ASKERS + 2, THREAD_POOL_FIRST_IN_FIRST_OUT, "test");
	for (int i = 0; i < ASKERS; i++)
		thread_pool_submit(pool, ask_often, &x);
	thread_pool_submit(pool, add_often, NULL);
	thread_pool_submit(pool, add_often, NULL);
	thread_pool_free(pool);
	assert_int_equal(x.refused, 0);
	assert_int_equal(tokenfile_read(path, &f, &e), 0);
	assert_int_equal(f.count, 1 + 2 * ADDED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_secret_is_nowhere_in_the_file, remove_file),
		cmocka_unit_test_teardown(a_token_does_what_it_may, remove_file),
		cmocka_unit_test_teardown(a_token_is_for_its_views, remove_file),
		cmocka_unit_test_teardown(lines_of_one_token_are_not_mixed, remove_file),
		cmocka_unit_test_teardown(a_change_counts_at_once, remove_file),
		cmocka_unit_test_teardown(a_damaged_line_harms_no_other, remove_file),
		cmocka_unit_test_teardown(bad_lines_are_no_tokens, remove_file),
		cmocka_unit_test_teardown(what_cannot_stand_in_a_line_is_refused, remove_file),
		cmocka_unit_test_teardown(a_file_that_cannot_be_read_grants_nothing, remove_file),
		cmocka_unit_test_teardown(many_threads_ask_and_add, remove_file),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
