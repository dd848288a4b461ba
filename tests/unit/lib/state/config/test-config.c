// SPDX-License-Identifier: Apache-2.0
#include "lib/state/config/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/state/config/config-option.h"

static char path[] = "test-config.XXXXXX";

static int make_file(void **state UNUSED)
{
	return close(mkstemp(path));
}

static int remove_file(void **state UNUSED)
{
	return unlink(path);
}

static int read_text(struct config *c, const char *text, struct err *e)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	config_init(c);
	return config_read(c, path, e);
}

static void names_of_one_release_before_count(void **state UNUSED)
{
	static const char *const texts[] = {"[audit]\npath = /tmp/a\n[index]\naudit = no\n",
		"[change-log]\npath = /tmp/a\n[index]\nfacts = no\n"};
	struct err e = ERR_INIT;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		CLEANUP(config_release) struct config c;
		assert_int_equal(read_text(&c, texts[i], &e), 0);
		assert_string_equal(c.audit, "/tmp/a");
		assert_false(c.takes_facts);
	}
	CLEANUP(config_release) struct config c;
	assert_int_equal(read_text(&c, "[index]\naudit = no\nfacts = no\n", &e), -1);
	assert_non_null(strstr(e.msg, ":3: [index] facts is there twice"));
}

static void defaults_are_as_written(void **state UNUSED)
{
	CLEANUP(config_release) struct config c;
	config_init(&c);
	assert_null(c.store);
	assert_null(c.default_view);
	assert_null(c.catalog);
	assert_null(c.access_log);
	assert_string_equal(c.listen, "127.0.0.1:8080");
	assert_string_equal(c.log_level, "info");
	assert_int_equal(c.settle, 60);
	assert_int_equal(c.page_cache, 64 << 20);
	assert_int_equal(c.connections, 4096);
	assert_int_equal(c.timeout, 60);
	assert_int_equal(c.rescan, 60);
	assert_int_equal(c.page_max_age, 0);
	assert_null(c.tokens);
	assert_null(c.audit);
	assert_int_equal(c.max_file, 2LL << 30);
	assert_string_equal(c.upstreams.item[0].urls, "https://pypi.org/simple/");
	assert_int_equal(c.upstreams.item[0].timeout, 30);
	assert_int_equal(c.upstreams.item[0].connect_timeout, 10);
	assert_int_equal(c.upstreams.item[0].retries, 3);
	assert_int_equal(c.upstreams.item[0].concurrency, 16);
	assert_int_equal(c.upstreams.item[0].max_page, 64 << 20);
	assert_null(c.upstreams.item[0].ca_file);
	assert_null(c.upstreams.item[0].allow_hosts);
	assert_false(c.upstreams.item[0].allow_private || c.upstreams.item[0].trust_404);
	assert_string_equal(c.upstream_wheels, "all");
	assert_int_equal(c.threads + c.index_threads + c.platform_count + c.view_count, 0);
}

static void upstreams_are_a_list(void **state UNUSED)
{
	CLEANUP(config_release) struct config c;
	struct err e = ERR_INIT;
	assert_int_equal(read_text(&c,
				 "[upstream]\nurl = http://127.0.0.1:1/simple/ https://a.example/simple\n"
				 "  https://u:p@b.example/\nallow-hosts = a.example\n  b.example [::1]\n"
				 "trust-404 = yes\nallow-private = yes\nmax-page = 1M\nretries = 0\n",
				 &e),
		0);
	assert_string_equal(c.upstreams.item[0].urls,
		"http://127.0.0.1:1/simple/ https://a.example/simple https://u:p@b.example/");
	assert_string_equal(c.upstreams.item[0].allow_hosts, "a.example b.example [::1]");
	assert_true(c.upstreams.item[0].allow_private && c.upstreams.item[0].trust_404);
	assert_int_equal(c.upstreams.item[0].retries, 0);
	// What the command line sets goes before.
	assert_int_equal(config_set(&c, "upstream", "url", "https://c.example/", &e), 0);
	assert_string_equal(c.upstreams.item[0].urls, "https://c.example/");
}

// Each upstream as NAME:urls:retries, in order.
static void assert_upstreams(const struct config *c, const char *wanted)
{
	CLEANUP(buf_release) struct buf out = buf_up_to(1000);
	for (size_t i = 0; i < c->upstreams.count; i++) {
		const struct config_upstream *u = &c->upstreams.item[i];
		buf_printf(&out, "%s:%s:%d ", u->name, u->urls, (int)u->retries);
	}
	assert_string_equal(out.len ? out.data : "", wanted);
}

static void upstreams_have_names_and_the_plain_ones_keys(void **state UNUSED)
{
	static const struct {
		const char *text, *wanted;
	} rows[] = {
		{"", "upstream:https://pypi.org/simple/:3 "},
		{"[upstream]\nretries = 1\n", "upstream:https://pypi.org/simple/:1 "},
		{"[upstream b]\nurl = http://b/\n[upstream a]\nurl = http://a/\nretries = 2\n[upstream]\nretries = 1\n",
			"b:http://b/:1 a:http://a/:2 "},
		{"[upstream b]\nurl = http://b/\n[upstream]\nurl = http://p/\n[upstream a]\nurl = http://a/\n"
		 "[upstream]\nretries = 4\n",
			"b:http://b/:4 upstream:http://p/:4 a:http://a/:4 "},
	};
	struct err e = ERR_INIT;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP(config_release) struct config c, copy;
		if (read_text(&c, rows[i].text, &e) < 0)
			fail_msg("%s", e.msg);
		assert_upstreams(&c, rows[i].wanted);
		config_copy(&c, &copy);
		assert_upstreams(&copy, rows[i].wanted);
	}
	// The command line says keys of the plain one.
	CLEANUP(config_release) struct config c;
	assert_int_equal(read_text(&c, rows[2].text, &e), 0);
	assert_int_equal(config_set(&c, "upstream", "retries", "7", &e), 0);
	assert_upstreams(&c, "b:http://b/:7 a:http://a/:2 ");
	assert_int_equal(config_set(&c, "upstream", "url", "http://c/", &e), 0);
	assert_upstreams(&c, "b:http://b/:7 a:http://a/:2 upstream:http://c/:7 ");
}

// Exceeds LIMIT_UPSTREAMS.
static void upstreams_are_not_too_many(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(10000);
	for (int i = 0; i <= LIMIT_UPSTREAMS; i++) {
		CLEANUP(config_release) struct config c;
		struct err e = ERR_INIT;
		buf_printf(&text, "[upstream u%d]\nurl = http://u%d/\n", i, i);
		assert_int_equal(read_text(&c, text.data, &e), i < LIMIT_UPSTREAMS ? 0 : -1);
		if (i == LIMIT_UPSTREAMS)
			assert_non_null(strstr(e.msg, ": there are more than 16 upstreams"));
	}
}

static void note_section(void *ctx, const char *section, const char *key)
{
	buf_printf(ctx, "%s:%s ", section, key);
}

static void a_reload_keeps_which_upstreams_there_are(void **state UNUSED)
{
	static const char before_text[] = "[upstream]\nurl = http://p/\n[upstream a]\nurl = http://a/\n"
					  "[upstream b]\nurl = http://b/\nretries = 5\n";
	static const struct {
		const char *text, *wanted, *restart;
		bool is_same;
	} rows[] = {
		{before_text, "upstream:http://p/:3 a:http://a/:3 b:http://b/:5 ", "", true},
		{"[upstream]\nurl = http://p/\nretries = 2\n[upstream a]\nurl = http://a2/\n[upstream b]\nurl = http://b/\n",
			"upstream:http://p/:2 a:http://a2/:2 b:http://b/:2 ",
			"upstream a:url upstream:retries upstream a:retries upstream b:retries ", true},
		{"[upstream b]\nurl = http://b/\nretries = 5\n[upstream c]\nurl = http://c/\n",
			"upstream:http://p/:3 a:http://a/:3 b:http://b/:5 ", "", false},
		{"[upstream a]\nurl = http://a/\n[upstream]\nurl = http://p/\n[upstream b]\nurl = http://b/\nretries = 5\n",
			"upstream:http://p/:3 a:http://a/:3 b:http://b/:5 ", "", false},
	};
	struct err e = ERR_INIT;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP(config_release) struct config before, now;
		CLEANUP(buf_release) struct buf restart = buf_up_to(1000);
		assert_int_equal(read_text(&before, before_text, &e), 0);
		assert_int_equal(read_text(&now, rows[i].text, &e), 0);
		assert_int_equal(config_keep_upstreams(&now, &before), rows[i].is_same);
		assert_upstreams(&now, rows[i].wanted);
		config_restart_keys(&before, &now, note_section, &restart);
		assert_string_equal(restart.len ? restart.data : "", rows[i].restart);
	}
}

static void every_default_is_a_value(void **state UNUSED)
{
	CLEANUP(config_release) struct config c;
	struct err e = ERR_INIT;
	config_init(&c);
	for (size_t i = 0; i < config_options; i++) {
		const struct config_option *row = &config_table[i];
		bool is_place = strcmp(row->section, "place") == 0;
		CLEANUP(mem_free) char *named = xasprintf("%s %sa-%s", row->section, is_place ? "s3://" : "", row->section);
		const char *section = config_section_is_named(row->section) ? named : row->section;
		if (row->fallback && config_set(&c, section, row->key, row->fallback, &e) < 0)
			fail_msg("%s", e.msg);
	}
}

static void whole_file_is_read(void **state UNUSED)
{
	CLEANUP(config_release) struct config c;
	struct err e = ERR_INIT;
	// The view stands before its platforms, and its list goes on in a second line.
	assert_int_equal(read_text(&c,
				 "# a comment\n; another\n[store]\npath = /srv/wheels\ndefault-view = jammy\n"
				 "[view jammy]\nplatforms = ubuntu-22.04-x86_64\n  pure\nupstream = merge\n"
				 "upstream-wheels = fitting\n"
				 "[server]\nlisten = [::1]:0\npage-cache=1G\ntimeout = 2m\nrescan = 1h\n"
				 "page-max-age: 7\naccess-log = - ; here\n"
				 "[platform ubuntu-22.04-x86_64]\n[platform pure]\npath = any\nmutable = yes\n"
				 "private = yes\nquota-bytes = 4096G\nquota-files = 2000000\n"
				 "[server]\nthreads = 3\nlog-level = debug\n[catalog]\npath = /tmp/c.db\n"
				 "[tokens]\npath = /tmp/t\n[change-log]\npath = /tmp/a\n[upload]\nmax-file = 500M\n",
				 &e),
		0);
	assert_string_equal(c.store, "/srv/wheels");
	assert_string_equal(c.default_view, "jammy");
	assert_string_equal(c.catalog, "/tmp/c.db");
	assert_string_equal(c.listen, "[::1]:0");
	assert_string_equal(c.access_log, "-");
	assert_string_equal(c.log_level, "debug");
	assert_int_equal(c.page_cache, 1 << 30);
	assert_int_equal(c.timeout, 120);
	assert_int_equal(c.rescan, 3600);
	assert_int_equal(c.page_max_age, 7);
	assert_int_equal(c.threads, 3);
	assert_int_equal(c.platform_count, 2);
	assert_string_equal(c.platforms[0].name, "ubuntu-22.04-x86_64");
	assert_null(c.platforms[0].path);
	assert_false(c.platforms[0].is_mutable);
	assert_string_equal(c.platforms[1].path, "any");
	assert_true(c.platforms[1].is_mutable);
	assert_false(c.platforms[0].is_private);
	assert_int_equal(c.platforms[0].quota_bytes + c.platforms[0].quota_files, 0);
	assert_true(c.platforms[1].is_private);
	assert_int_equal(c.platforms[1].quota_bytes, 4096LL << 30);
	assert_int_equal(c.platforms[1].quota_files, 2000000);
	assert_string_equal(c.tokens, "/tmp/t");
	assert_string_equal(c.audit, "/tmp/a");
	assert_int_equal(c.max_file, 500 << 20);
	assert_int_equal(c.view_count, 1);
	assert_int_equal(c.views[0].platform_count, 2);
	assert_string_equal(c.views[0].platforms[0], "ubuntu-22.04-x86_64");
	assert_string_equal(c.views[0].platforms[1], "pure");
	assert_string_equal(c.views[0].upstream, "merge");
	assert_string_equal(c.views[0].upstream_wheels, "fitting");
}

static void lists_have_blanks_tabs_and_lines(void **state UNUSED)
{
	CLEANUP(config_release) struct config c;
	struct err e = ERR_INIT;
	assert_int_equal(read_text(&c, "[platform debian-12-x86_64]\npythons =\n  3.11\t3.12  # both\n\t3.13\n"
				       "[branch a]\npythons = 3.11\n  3.12\nconstraints = x\n", &e), 0);
	assert_string_equal(c.platforms[0].pythons, "3.11 3.12 3.13");
	assert_string_equal(c.branches[0].pythons, "3.11 3.12");
}

static void views_alone_are_left_to_the_store(void **state UNUSED)
{
	CLEANUP(config_release) struct config c;
	struct err e = ERR_INIT;
	assert_int_equal(read_text(&c, "[view a]\nplatforms = b c\n", &e), 0);
	assert_int_equal(c.views[0].platform_count, 2);
	assert_null(c.views[0].upstream_wheels);
}

static const struct {
	const char *text;
	const char *message; // behind the path
} bad[] = {
	{"[server]\nports = 1\n", ":2: [server] has no key \"ports\""},
	{"[serve]\n", ":1: there is no section [serve]; did you mean [server]?"},
	{"[server x]\nthreads = 1\n", ":1: there is no section [server x]; did you mean [server]?"},
	{"path = x\n", ":1: a key before the first [section]; write the section above it, such as [store]"},
	{"[store]\npath\n", ":2: neither a [section] nor a key = value"},
	{"[store\n", ":1: neither a [section] nor a key = value"},
	{"[store]\npath =\n", ":2: [store] path: \"\" is not a path, or s3://BUCKET/PREFIX"},
	{"[store]\npath = a\npath = b\n", ":3: [store] path is there twice (or this line is indented)"},
	{"[store]\npath = a\n  default-view = b\n", ":3: [store] path is there twice (or this line is indented)"},
	{"[store]\ndefault-view = a/b\n", ":2: [store] default-view: \"a/b\" is not the name of a platform or view"},
	{"[upstream]\nurl = ftp://a/\n", ":2: [upstream] url is not a list of addresses, http: or https:"},
	{"[upstream]\nurl = http://a/?q\n", ":2: [upstream] url is not a list of addresses, http: or https:"},
	{"[upstream]\nallow-hosts = a/b\n",
		":2: [upstream] allow-hosts: \"a/b\" is not a list of hosts, without ports"},
	{"[upstream]\nallow-hosts = a\n[upstream]\ntimeout = 0\n",
		":4: [upstream] timeout: 0 is not between 1 and 315360000"},
	{"[upstream a]\n[view v]\nplatforms = p\n", ": [upstream a] has no url"},
	{"[upstream a]\nurl = http://a/ http://b/\n",
		": [upstream a] url has several addresses; each needs an [upstream NAME] of its own"},
	{"[upstream]\nurl = http://a/ http://b/\n[upstream a]\nurl = http://a/\n",
		": [upstream] url has several addresses; each needs an [upstream NAME] of its own"},
	{"[upstream a]\nmerge = yes\n", ":2: [upstream a] cannot have merge: it is a key of [upstream], for all"},
	{"[upstream a]\nretries = 1\n[upstream b]\nretries = 2\nretries = 3\n",
		":5: [upstream b] retries is there twice (or this line is indented)"},
	{"[upstream a]\n[upstream b]\n[upstream a]\n", ":3: [upstream a] is there twice"},
	{"[upstream Py]\n", ":1: [upstream Py]: not a name of small letters, digits and \"-\", or one of merge, no "
			    "and upstream"},
	{"[upstream merge]\n", ":1: [upstream merge]: not a name of small letters, digits and \"-\", or one of merge, no "
			       "and upstream"},
	{"[upstream upstream]\n", ":1: [upstream upstream]: not a name of small letters, digits and \"-\", or one of "
				  "merge, no and upstream"},
	{"[upstream a]\nurl = http://a/\n[view v]\nplatforms = p\nupstream = a\n  b\n",
		": [view v] upstream names \"b\", which is no [upstream NAME]; there is a"},
	{"[upstream a]\nurl = http://a/\n[view v]\nplatforms = p\nupstream = a a\n", ": [view v] upstream names a twice"},
	{"[view v]\nplatforms = p\nupstream = upstream no\n",
		":3: [view] upstream: \"upstream no\" is not merge, no, or a list of upstreams"},
	{"[view v]\nplatforms = p\nupstream = merge\n  upstream\n",
		":4: [view] upstream: \"upstream\" is not merge, no, or a list of upstreams"},
	{"[upstream]\nwheels = some\n", ":2: [upstream] wheels: \"some\" is not all or fitting"},
	{"[view a]\nupstream-wheels = no\n", ":2: [view] upstream-wheels: \"no\" is not all or fitting"},
	{"[index]\nthreads = -1\n", ":2: [index] threads: \"-1\" is not a number"},
	{"[index]\nthreads = 1k\n", ":2: [index] threads: \"1k\" is not a number"},
	{"[index]\nthreads = 99999999999999999999\n", ":2: [index] threads: \"99999999999999999999\" is not a number"},
	{"[server]\npage-cache = 64MB\n", ":2: [server] page-cache: \"64MB\" is not a size (as 500K, 64M, 1G)"},
	{"[server]\npage-cache = M\n", ":2: [server] page-cache: \"M\" is not a size (as 500K, 64M, 1G)"},
	{"[server]\nrescan = 1 h\n", ":2: [server] rescan: \"1 h\" is not a time (as 60, 2m, 1h, 1d)"},
	{"[server]\nurl = wheels.example.org\n",
		":2: [server] url: \"wheels.example.org\" is not an address (as https://wheels.example.org/)"},
	{"[server]\nurl = https://a:99999/\n",
		":2: [server] url: \"https://a:99999/\" is not an address (as https://wheels.example.org/)"},
	{"[upstream]\nurl = http://u:secret@a:x/simple/\n",
		":2: [upstream] url is not a list of addresses, http: or https:"},
	{"[upstream]\nurl = http://a/ http://[::1/simple/\n",
		":2: [upstream] url is not a list of addresses, http: or https:"},
	{"[server]\ntimeout = 0\n", ":2: [server] timeout: 0 is not between 1 and 315360000"},
	{"[server]\nconnections = 0\n", ":2: [server] connections: 0 is not between 1 and 1048576"},
	{"[server]\nthreads = 1025\n", ":2: [server] threads: 1025 is not between 0 and 1024"},
	{"[server]\nrescan = 3651d\n", ":2: [server] rescan: 3651d is not between 0 and 315360000"},
	{"[server]\npage-cache = 1073741824G\n",
		":2: [server] page-cache: 1073741824G is not between 0 and 1099511627776"},
	{"[server]\nlog-level = loud\n", ":2: [server] log-level: \"loud\" is not one of error, warn, info, debug"},
	{"[upload]\nmax-file = 0\n", ":2: [upload] max-file: 0 is not between 1 and 1152921504606846976"},
	{"[prune]\nmax-files = 101%\n", ":2: [prune] max-files: 101% is not between 0 and 100"},
	{"[prune]\nmax-bytes = 20 %\n", ":2: [prune] max-bytes: \"20 %\" is not a share (as 20%)"},
	{"[prune]\nredirect = yes\n", ":2: [prune] redirect: \"yes\" is not one of identical, superseded, no"},
	{"[prune]\nconstraints =\n", ":2: [prune] constraints: \"\" is not a list of paths"},
	{"[platform a]\nmutable = true\n", ":2: [platform] mutable: \"true\" is not yes or no"},
	{"[platform a]\npythons = 3.12 python3\n",
		":2: [platform] pythons: \"3.12 python3\" is not a list of Pythons (as 3.12 3.13t pp311)"},
	{"[platform a]\narch = vax\n", ":2: [platform] arch: \"vax\" is not an architecture (as x86_64, aarch64)"},
	{"[platform a]\nlibc = 2.35\n", ":2: [platform] libc: \"2.35\" is not a libc (as glibc 2.35, musl 1.2)"},
	{"[platform a]\npythons = 3.12\nlibc = musl 1.2\n",
		": [platform a] there are no defaults for this platform name, so arch must be set too"},
	{"[platform debian-12-x86_64]\npythons = 3.12 3.11 3.12\n",
		": [platform debian-12-x86_64] pythons: \"3.12\" is listed twice"},
	{"[platform]\n", ":1: [platform ]: not a name"},
	{"[platform simple]\n", ":1: [platform simple]: not a name"},
	{"[platform a]\n[platform b]\n[platform a]\n", ":3: [platform a] is there twice"},
	{"[view a]\nplatforms = b\n[view a]\n", ":3: [view a] is there twice"},
	{"[view a]\nplatforms = b\n[platform a]\n", ":3: \"a\" names both a platform and a view"},
	{"[platform a]\n[view a]\n", ":2: \"a\" names both a platform and a view"},
	{"[platform b]\n[view a]\n", ": [view a] has no platforms"},
	{"[view a]\nplatforms = b b\n",
		":2: [view] platforms: \"b b\" is not a list of platforms, each once, with blanks between"},
	{"[view a]\nplatforms =\n",
		":2: [view] platforms: \"\" is not a list of platforms, each once, with blanks between"},
	{"[view a]\nplatforms = b\n  c d\n[platform b]\n[platform c]\n",
		":3: [view a] names \"d\", which is no [platform]; there are b, c"},
};

static void prune_is_read(void **state UNUSED)
{
	CLEANUP(config_release) struct config c;
	struct err e = ERR_INIT;
	config_init(&c);
	assert_null(c.prune_packages);
	assert_null(c.prune_constraints);
	assert_int_equal(c.prune_max_files, 20);
	assert_int_equal(c.prune_max_failures, 5);
	assert_string_equal(c.prune_redirect, "identical");
	assert_true(c.prune_follow_yanks);
	config_release(&c);
	assert_int_equal(read_text(&c,
				 "[prune]\npackages = a b\nconstraints = one  two\n  three\nmin-age = 0\ngrace = 1d\n"
				 "max-files = 100%\nmax-bytes = 7\nredirect = no\nfollow-yanks = no\n",
				 &e),
		0);
	assert_string_equal(c.prune_packages, "a b");
	assert_string_equal(c.prune_constraints, "one two three");
	assert_int_equal(c.prune_min_age, 0);
	assert_int_equal(c.prune_grace, 86400);
	assert_int_equal(c.prune_max_files, 100);
	assert_int_equal(c.prune_max_bytes, 7);
	assert_string_equal(c.prune_redirect, "no");
	assert_false(c.prune_follow_yanks);
}

static void bad_line_is_named(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		CLEANUP(config_release) struct config c;
		struct err e = ERR_INIT;
		char expected[ERR_MSG_SIZE];
		snprintf(expected, sizeof(expected), "%s%s", path, bad[i].message);
		assert_int_equal(read_text(&c, bad[i].text, &e), -1);
		assert_string_equal(e.msg, expected);
		assert_int_equal(e.kind, ERR_USAGE);
	}
}

static void long_names_are_whole(void **state UNUSED)
{
	CLEANUP(config_release) struct config c;
	struct err e = ERR_INIT;
	const char *text = "[platform aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1]\n"
			   "mutable = yes\n"
			   "[platform aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2]\n"
			   "mutable = no";
	assert_int_equal(read_text(&c, text, &e), 0);
	assert_int_equal(c.platform_count, 2);
	assert_true(c.platforms[0].is_mutable);
	assert_false(c.platforms[1].is_mutable);
}

// Some 10 KB on one line.
static void long_lists_are_whole(void **state UNUSED)
{
	enum { MANY = 200 };
	CLEANUP(config_release) struct config c;
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 1 << 20);
	for (int i = 0; i < MANY; i++)
		buf_printf(&text, "[platform %050d]\n", i);
	buf_puts(&text, "[view all]\nplatforms =");
	for (int i = 0; i < MANY; i++)
		buf_printf(&text, " %050d", i);
	buf_puts(&text, "\n[prune]\npackages = /");
	for (int i = 0; i < 10000; i++)
		buf_putc(&text, 'p');
	assert_int_equal(read_text(&c, text.data, &e), 0);
	assert_int_equal(c.views[0].platform_count, MANY);
	assert_string_equal(c.views[0].platforms[MANY - 1] + 47, "199");
	assert_int_equal(strlen(c.prune_packages), 10001);
}

// A message that quotes what is long still begins with its place.
static void long_mistakes_are_named(void **state UNUSED)
{
	CLEANUP(config_release) struct config c;
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf text;
	CLEANUP(mem_free) char *wanted = xasprintf("%s:2: [server] threads: \"xxx", path);
	buf_init(&text, 1 << 20);
	buf_puts(&text, "[server]\nthreads = ");
	for (int i = 0; i < 10000; i++)
		buf_putc(&text, 'x');
	assert_int_equal(read_text(&c, text.data, &e), -1);
	assert_ptr_equal(strstr(e.msg, wanted), e.msg);
}

static void missing_file_is_named(void **state UNUSED)
{
	CLEANUP(config_release) struct config c;
	struct err e = ERR_INIT;
	config_init(&c);
	assert_int_equal(config_read(&c, "/nonexistent/wheelcache.conf", &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_non_null(strstr(e.msg, "/nonexistent/wheelcache.conf"));
}

static void option_overrides_file(void **state UNUSED)
{
	CLEANUP(config_release) struct config c;
	struct err e = ERR_INIT;
	assert_int_equal(read_text(&c, "[server]\nlisten = a:1\n", &e), 0);
	assert_int_equal(config_set(&c, "server", "listen", "b:2", &e), 0);
	assert_string_equal(c.listen, "b:2");
	assert_int_equal(config_set(&c, "server", "threads", "many", &e), -1);
	assert_string_equal(e.msg, "[server] threads: \"many\" is not a number");
}

// What is printed is a file that can be read, and changes nothing.
static void printed_form_is_the_defaults(void **state UNUSED)
{
	CLEANUP(config_release) struct config c, plain;
	CLEANUP(mem_free) char *text = NULL;
	size_t size;
	struct err e = ERR_INIT;
	FILE *f = open_memstream(&text, &size);
	assert_non_null(f);
	config_print(f);
	fclose(f);
	assert_int_equal(read_text(&c, text, &e), 0);
	config_init(&plain);
	assert_string_equal(c.listen, plain.listen);
	assert_int_equal(c.page_cache, plain.page_cache);
	assert_null(c.store);
	assert_int_equal(c.platform_count + c.view_count, 0);
	assert_non_null(strstr(text, "\n#[view NAME]\n"));
}

static int reported;

// A value that the key takes and that is not its default.
static void change_key(struct config *c, const struct config_option *row)
{
	static const char *const values[] = {"/other", "127.0.0.1:1", "13", "yes", "refuse", "together", "all",
		"redirect", "https://other.example/", "other.example", "fitting", "debug", "superseded", "no",
		"other-*", "/a /b", "1d 1", "5000", "192.0.2.0/24", "critical", "hide", "who"};
	struct err e = ERR_INIT;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		if ((!row->fallback || strcmp(values[i], row->fallback) != 0) &&
			config_set(c, row->section, row->key, values[i], &e) == 0)
			return;
	fail_msg("[%s] %s takes none of the values", row->section, row->key);
}

static void note_key(void *ctx, const char *section, const char *key)
{
	const struct config_option *row = ctx;
	assert_string_equal(section, row->section);
	assert_string_equal(key, row->key);
	reported++;
}

static void restart_keys_are_those_of_the_table(void **state UNUSED)
{
	for (size_t i = 0; i < config_options; i++) {
		struct config_option row = config_table[i];
		CLEANUP(config_release) struct config before, now;
		config_init(&before);
		config_init(&now);
		reported = 0;
		if (config_section_is_named(row.section)) {
			assert_int_equal(row.effect, CONFIG_RELOAD);
			continue;
		}
		config_restart_keys(&before, &now, note_key, &row);
		assert_int_equal(reported, 0);
		change_key(&now, &row);
		config_restart_keys(&before, &now, note_key, &row);
		assert_int_equal(reported, row.effect == CONFIG_RESTART);
		config_restart_keys(&now, &now, note_key, &row);
		assert_int_equal(reported, row.effect == CONFIG_RESTART);
	}
}

static const char every_section[] =
	"[store]\npath = /s\ndefault-view = v\n[prune]\nconstraints = a b\n[build]\njobs = 3\n"
	"extra = one %w\n two %w\n[platform p]\npythons = 3.12\narch = x86_64\nlibc = glibc 2.36\nprivate = yes\n"
	"[view v]\nplatforms = p\n p2\n[platform p2]\n"
	"[branch b]\nrequirements = r\nuntil = 2027-03-31\n";

static void a_copy_outlives_the_original(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(config_release) struct config c, copy, again;
	if (read_text(&c, every_section, &e) < 0)
		fail_msg("%s", e.msg);
	config_copy(&c, &copy);
	config_copy(&copy, &again);
	config_release(&c);
	config_release(&copy);
	assert_string_equal(again.store, "/s");
	assert_string_equal(again.prune_constraints, "a b");
	assert_string_equal(again.build_extra, "one %w\ntwo %w");
	assert_int_equal(again.build_jobs, 3);
	assert_string_equal(again.platforms[0].pythons, "3.12");
	assert_true(again.platforms[0].is_private);
	assert_string_equal(again.views[0].platforms[1], "p2");
	assert_string_equal(again.branches[0].name, "b");
	assert_string_equal(again.branches[0].until, "2027-03-31");
	assert_null(again.branches[0].constraints);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_outlives_the_original),
		cmocka_unit_test(defaults_are_as_written),
		cmocka_unit_test(whole_file_is_read),
		cmocka_unit_test(upstreams_are_a_list),
		cmocka_unit_test(upstreams_have_names_and_the_plain_ones_keys),
		cmocka_unit_test(upstreams_are_not_too_many),
		cmocka_unit_test(a_reload_keeps_which_upstreams_there_are),
		cmocka_unit_test(every_default_is_a_value),
		cmocka_unit_test(names_of_one_release_before_count),
		cmocka_unit_test(lists_have_blanks_tabs_and_lines),
		cmocka_unit_test(views_alone_are_left_to_the_store),
		cmocka_unit_test(prune_is_read),
		cmocka_unit_test(bad_line_is_named),
		cmocka_unit_test(long_names_are_whole),
		cmocka_unit_test(long_lists_are_whole),
		cmocka_unit_test(long_mistakes_are_named),
		cmocka_unit_test(missing_file_is_named),
		cmocka_unit_test(option_overrides_file),
		cmocka_unit_test(printed_form_is_the_defaults),
		cmocka_unit_test(restart_keys_are_those_of_the_table),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
