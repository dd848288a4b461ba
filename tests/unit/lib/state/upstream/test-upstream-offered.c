// SPDX-License-Identifier: Apache-2.0
// What a project keeps of the decision which of its files are offered, against one that decides anew for each answer:
// in random worlds, while time passes and rules come and go. And that each file is judged as its page says.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/mem.h"
#include "lib/os/clock.h"
#include "lib/state/upstream/holds.h"
#include "lib/state/upstream/offering.h"
#include "lib/state/upstream/upstream-row.h"

enum { WORLDS = 40, STEPS = 40, START = 1800000000, ERA = 80, MOST = 3, THREADS = 4, CHANGES = 100 };

static const char *const versions[] = {"1.0", "1.0.0", "1.1", "2.0rc1", "3.0"};
static const char *const ends[] = {
	"-py3-none-any.whl", "-1-py3-none-any.whl", "-cp311-cp311-win32.whl", ".tar.gz", "-odd.whl"};

static unsigned seed;
static _Atomic int64_t passed; // seconds since START

// The wall clock and that of the machine go together, so that no step is doubted.
int clock_gettime(clockid_t clock, struct timespec *out)
{
	if (clock != CLOCK_REALTIME && clock != CLOCK_BOOTTIME)
		return (int)syscall(SYS_clock_gettime, clock, out);
	*out = (struct timespec){.tv_sec = (clock == CLOCK_REALTIME ? START : 1000) + passed};
	return 0;
}

static unsigned below(unsigned n)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % n;
}

static int64_t instant(void)
{
	return START + below(ERA);
}

struct world {
	char folder[32];
	char *offers;
	struct config config;
	struct upstreams *upstreams;
	struct catalog *catalog;
	struct upstream_project *keeps, *forgets; // the same project
	char id[MOST][HOLD_ID + 1];               // of holds and waivers
};

static char *write_text(const struct world *w, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", w->folder, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	return path;
}

static void set(struct world *w, const char *key, const char *value)
{
	struct err e = ERR_INIT;
	if (config_set(&w->config, "upstream", key, value, &e) < 0)
		fail_msg("%s", e.msg);
}

static void set_list(struct world *w, const char *key)
{
	static const char *const lines[] = {"aa ==1.0 it is bad\n", "aa >=2 it is worse\n", "aa\n", "bb no\n"};
	CLEANUP(buf_release) struct buf text = buf_up_to(1000);
	buf_puts(&text, "# none\n");
	for (unsigned n = below(MOST); n; n--)
		buf_puts(&text, lines[below(ARRAY_SIZE(lines))]);
	CLEANUP(mem_free) char *path = write_text(w, key, text.data);
	set(w, key, path);
}

static void set_records(struct world *w)
{
	static const char *const affected[] = {
		"\"ranges\": [{\"type\": \"ECOSYSTEM\", \"events\": [{\"introduced\": \"0\"}]}]",
		"\"versions\": [\"1.0\", \"1.1\"]", "\"versions\": [\"2.0rc1\"]"};
	CLEANUP(mem_free) char *folder = xasprintf("%s/records", w->folder);
	assert_int_equal(mkdir(folder, 0700), 0);
	for (unsigned i = 2; i; i--) {
		CLEANUP(mem_free) char *name = xasprintf("records/MAL-2026-%u.json", i);
		CLEANUP(mem_free)
		char *text = xasprintf("{\"id\": \"MAL-2026-%u\", \"modified\": \"2026-01-02T03:04:05Z\","
				       "\"affected\": [{\"package\": {\"ecosystem\": \"PyPI\", \"name\": \"aa\"}, %s}]}",
			i, affected[below(2) * below(ARRAY_SIZE(affected))]);
		free(write_text(w, name, text));
	}
	set(w, "block", folder);
}

// Two pages have some names in common.
static void fill_page(struct upstream_row *row)
{
	struct err e = ERR_INIT;
	enum simplepage_fault fault;
	CLEANUP(buf_release) struct buf text = buf_up_to(10000);
	buf_puts(&text, "{\"meta\": {\"api-version\": \"1.4\"}, \"name\": \"aa\", \"files\": [");
	for (unsigned v = 0, n = 0; v + 1 < ARRAY_SIZE(versions); v++)
		for (unsigned k = 0; k < ARRAY_SIZE(ends); k++) {
			char when[CLOCK_TEXT] = "";
			if (below(3) == 0)
				continue;
			if (below(4))
				clock_write(START - 10 + (int64_t)below(ERA), when);
			buf_printf(&text, "%s{\"filename\": \"aa-%s%s\", \"url\": \"a\", \"hashes\": {}%s%s%s}",
				n++ ? "," : "", versions[v], ends[k], *when ? ", \"upload-time\": \"" : "", when,
				*when ? "\"" : "");
		}
	buf_puts(&text, "], \"versions\": [");
	for (unsigned v = 0; v < ARRAY_SIZE(versions); v++)
		buf_printf(&text, "%s\"%s\"", v ? "," : "", versions[v]);
	buf_puts(&text, "]}");
	if (simplepage_parse(buf_view(&text), STR("application/vnd.pypi.simple.v1+json"), "http://x/aa/", "aa",
		    &row->page, &fault, &e) < 0)
		fail_msg("%s: %s", e.msg, text.data);
	for (size_t i = 0; i < row->page.files; i++)
		row->page.file[i].seen = row->page.file[i].uploaded ? 0 : instant();
	row->has_page = true;
	row->result = row->last_definitive = UPSTREAM_KNOWN;
}

static struct upstream_project *make_project(struct world *w, unsigned from)
{
	struct err e = ERR_INIT;
	struct upstream_project *p = NULL;
	if (upstream_load(w->upstreams, w->catalog, "aa", &p, &e) < 0)
		fail_msg("%s", e.msg);
	seed = from;
	for (size_t i = 0; i < w->upstreams->indexes; i++)
		fill_page(&p->row[i]);
	return p;
}

static void make_world(struct world *w, unsigned number)
{
	struct err e = ERR_INIT;
	*w = (struct world){.folder = "test-offered.XXXXXX"};
	passed = 0;
	seed = number;
	assert_non_null(mkdtemp(w->folder));
	w->offers = xasprintf("%s/catalog.offers", w->folder);
	config_init(&w->config);
	set(w, "url", "http://127.0.0.1:1/simple http://127.0.0.1:1/other");
	if (below(3)) {
		CLEANUP(mem_free) char *cooldown = xasprintf("%us", 1 + below(ERA / 2));
		set(w, "cooldown", cooldown);
	}
	if (below(2))
		set_list(w, "deny");
	if (below(3) == 0)
		set_list(w, "allow");
	if (below(4))
		set_records(w);
	CLEANUP(mem_free) char *path = xasprintf("%s/catalog", w->folder);
	if (upstreams_new(&w->config, &w->upstreams, &e) < 0 || catalog_open(path, &w->catalog, &e) < 0)
		fail_msg("%s", e.msg);
	w->keeps = make_project(w, number);
	w->forgets = make_project(w, number);
	if (!upstreams_clock(w->upstreams) || strcmp(w->upstreams->offers, w->offers) != 0)
		fail_msg("the rules are in %s, not in %s", w->upstreams->offers, w->offers);
}

static void end_world(struct world *w)
{
	CLEANUP(mem_free) char *remove_all = xasprintf("rm -r '%s'", w->folder);
	upstream_project_unref(w->keeps);
	upstream_project_unref(w->forgets);
	upstreams_free(w->upstreams);
	catalog_close(w->catalog);
	config_release(&w->config);
	free(w->offers);
	assert_int_equal(system(remove_all), 0);
}

// Makes a hold or a waiver, or ends one, or writes a list again.
static void change_rules(struct world *w)
{
	struct err e = ERR_INIT;
	char *id = w->id[below(MOST)];
	if (*id) {
		assert_true(holds_end(w->offers, id, &e) >= 0);
		*id = '\0';
	} else if (below(3) == 0) {
		const struct hold h = {.reason = "r", .who = "w", .after = instant(), .made = START};
		assert_int_equal(holds_add(w->offers, &h, id, &e), 0);
	} else {
		const struct waiver waiver = {.project = "aa",
			.version = below(2) ? NULL : versions[below(ARRAY_SIZE(versions))],
			.record = below(4) ? "MAL-2026-1" : NULL,
			.reason = "r",
			.who = "w",
			.until = START + passed + (int64_t)below(ERA / 2),
			.made = START};
		assert_int_equal(holds_waive(w->offers, &waiver, id, &e), 0);
	}
	if (w->upstreams->offer_rules && config_upstreams_named(&w->config.upstreams, "upstream")->deny)
		set_list(w, "deny");
	upstreams_look(w->upstreams);
}

// What the answer says of files, in text. Each of its files is judged as it says.
static int describe(void *ctx, const struct upstream_answer *a, struct err *e UNUSED)
{
	struct buf *out = ctx;
	size_t offered = 0;
	for (size_t i = 0; i < a->listed->files; i++) {
		struct offering o;
		const struct simplepage_file *f = &a->listed->file[i];
		bool is_hidden = a->hidden && a->hidden[i];
		upstream_judge(a, upstream_home(a, f).upstream, f, &o);
		if (o.is_offered == is_hidden)
			fail_msg("seed %u: %s is %s on the page", seed, f->filename, is_hidden ? "not" : "wrongly");
		buf_printf(out, "%s %s\n", f->filename, is_hidden ? "hidden" : "offered");
		if (!is_hidden)
			assert_string_equal(a->stale->file[offered++].filename, f->filename);
	}
	assert_int_equal(offered, a->stale->files);
	for (size_t i = 0; i < a->stale->versions; i++)
		buf_printf(out, "%s ", a->stale->version[i]);
	buf_printf(out, "next %lld blocked %s\n", (long long)a->next, a->blocked ? a->blocked : "-");
	return 0;
}

static void report(struct world *w, struct upstream_project *p, bool is_together, struct buf *out)
{
	struct err e = ERR_INIT;
	const struct config_order order = {.count = 1, .is_together = is_together};
	assert_int_equal(upstream_report(w->upstreams, p, &order, describe, out, &e), 0);
}

static void what_is_kept_is_what_would_be_decided(void **state UNUSED)
{
	size_t found = 0, changes = 0, blocked = 0;
	for (unsigned n = 1; n <= WORLDS; n++) {
		struct world w;
		CLEANUP(buf_release) struct buf first = buf_up_to(100000), together = buf_up_to(100000);
		make_world(&w, n);
		for (int i = 0; i < STEPS; i++) {
			CLEANUP(buf_release) struct buf kept = buf_up_to(100000), anew = buf_up_to(100000);
			bool is_together = below(2);
			struct buf *before = is_together ? &together : &first;
			const struct upstream_decision *newest = w.keeps->kept;
			report(&w, w.keeps, is_together, &kept);
			upstream_decisions_drop(w.forgets);
			report(&w, w.forgets, is_together, &anew);
			if (strcmp(kept.data, anew.data) != 0)
				fail_msg("world %u, step %d: kept\n%s, anew\n%s", n, i, kept.data, anew.data);
			found += newest && newest == w.keeps->kept;
			changes += before->len && strcmp(kept.data, before->data) != 0;
			blocked += !strstr(kept.data, "blocked -");
			buf_clear(before);
			buf_puts(before, kept.data);
			if (below(6) == 0)
				change_rules(&w);
			passed += below(4);
		}
		end_world(&w);
	}
	print_message("%d answers, %zu of what was kept, %zu other than before, %zu blocked: 0 differences\n",
		WORLDS * STEPS, found, changes, blocked);
	assert_true(found > WORLDS * STEPS / 5 && changes > WORLDS * STEPS / 5 && blocked > WORLDS);
}

// --- threads ---

struct crowd {
	struct world world;
	atomic_bool is_over;
	atomic_size_t answers, wrong;
};

static int compare_with_judge(void *ctx, const struct upstream_answer *a, struct err *e UNUSED)
{
	struct crowd *crowd = ctx;
	size_t offered = 0;
	for (size_t i = 0; i < a->listed->files; i++) {
		struct offering o;
		const struct simplepage_file *f = &a->listed->file[i];
		upstream_judge(a, upstream_home(a, f).upstream, f, &o);
		crowd->wrong += o.is_offered == (a->hidden && a->hidden[i]);
		offered += o.is_offered;
	}
	crowd->wrong += offered != a->stale->files;
	crowd->answers++;
	return 0;
}

static void *report_on(void *ctx)
{
	struct crowd *crowd = ctx;
	struct err e = ERR_INIT;
	for (unsigned i = 0; !crowd->is_over; i++) {
		const struct config_order order = {.count = 1, .is_together = i % 2};
		crowd->wrong += upstream_report(crowd->world.upstreams, crowd->world.keeps, &order, compare_with_judge,
					crowd, &e) < 0;
	}
	return NULL;
}

static void threads_share_what_is_kept(void **state UNUSED)
{
	struct crowd crowd = {0};
	pthread_t thread[THREADS];
	make_world(&crowd.world, 3);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, report_on, &crowd), 0);
	for (size_t i = 0; i < CHANGES; i++) {
		size_t before = crowd.answers;
		change_rules(&crowd.world);
		passed += i % 2;
		while (crowd.answers < before + THREADS)
			usleep(100);
	}
	crowd.is_over = true;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	assert_int_equal(crowd.wrong, 0);
	end_world(&crowd.world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_kept_is_what_would_be_decided),
		cmocka_unit_test(threads_share_what_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
