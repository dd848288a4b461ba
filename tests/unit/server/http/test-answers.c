// SPDX-License-Identifier: Apache-2.0
#include "server/http/answers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "server/message/request.h"

enum { SHARE = LIMIT_ANSWERS_SENT / 4, LARGE = SHARE / 2 - 4096, MOST = 16 };

struct fixture {
	struct answers *answers;
	struct answer_reader reader[MOST];
	unsigned count;
};

static void release(struct fixture *f)
{
	for (unsigned i = 0; i < f->count; i++)
		answers_end(f->answers, &f->reader[i]);
	answers_free(f->answers);
}

static struct reply *make_reply(size_t bytes)
{
	CLEANUP(mem_free) char *text = xcalloc(1, bytes);
	struct buf body;
	buf_init(&body, bytes);
	buf_add(&body, text, bytes);
	return reply_new(200, NULL, blob_from_buf(&body));
}

static bool begin(struct fixture *f, const struct reply *r, const char *peer)
{
	return answers_begin(f->answers, &f->reader[f->count++], r, peer);
}

// Exceeds LIMIT_ANSWERS_SMALL.
static void address_has_a_quarter(void **state UNUSED)
{
	CLEANUP(release) struct fixture f = {.answers = answers_new()};
	CLEANUP(reply_cleanup) struct reply *a = make_reply(LARGE), *b = make_reply(LARGE), *c = make_reply(LARGE),
					    *small = make_reply(LIMIT_ANSWERS_SMALL / 2);
	assert_true(begin(&f, a, "192.0.2.1"));
	assert_true(begin(&f, b, "192.0.2.1"));
	assert_true(begin(&f, a, "192.0.2.1")); // the same bytes
	assert_false(begin(&f, c, "192.0.2.1"));
	assert_true(begin(&f, small, "192.0.2.1"));
	assert_true(begin(&f, c, "192.0.2.2"));
	answers_end(f.answers, &f.reader[0]);
	assert_false(begin(&f, c, "192.0.2.1")); // another one reads a
	answers_end(f.answers, &f.reader[2]);
	assert_true(begin(&f, c, "192.0.2.1"));
}

// Exceeds LIMIT_ANSWERS_SENT.
static void all_have_the_limit(void **state UNUSED)
{
	CLEANUP(release) struct fixture f = {.answers = answers_new()};
	CLEANUP(reply_cleanup) struct reply *whole = make_reply(LIMIT_ANSWERS_SENT - SHARE / 2);
	CLEANUP(reply_cleanup) struct reply *more = make_reply(LARGE), *toomuch = make_reply(LARGE);
	assert_true(begin(&f, whole, "192.0.2.1"));
	assert_true(begin(&f, more, "192.0.2.2"));
	assert_false(begin(&f, toomuch, "192.0.2.3"));
	assert_true(begin(&f, more, "192.0.2.3")); // these bytes are there
	answers_end(f.answers, &f.reader[1]);
	assert_false(begin(&f, toomuch, "192.0.2.4"));
	answers_end(f.answers, &f.reader[3]);
	assert_true(begin(&f, toomuch, "192.0.2.4"));
}

static void page_of_many_readers_counts_once(void **state UNUSED)
{
	struct answers *answers = answers_new();
	struct answer_reader reader[1000] = {{0}};
	CLEANUP(reply_cleanup) struct reply *page = make_reply(1 << 20);
	for (unsigned i = 0; i < ARRAY_SIZE(reader); i++) {
		char peer[REQUEST_PEER];
		snprintf(peer, sizeof(peer), "192.0.%u.%u", i / 250, i % 250);
		assert_true(answers_begin(answers, &reader[i], page, peer));
	}
	for (unsigned i = 0; i < ARRAY_SIZE(reader); i++)
		answers_end(answers, &reader[i]);
	answers_free(answers);
}

// Of a file that only it has.
static struct reply *make_spooled_reply(size_t bytes)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_close) int fd = memfd_create("answer", MFD_CLOEXEC);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	struct blob *body = blob_map_own(fd, bytes, &e);
	assert_non_null(body);
	return reply_new(200, NULL, body);
}

// Exceeds LIMIT_ANSWERS_SPOOLED.
static void answers_in_files_count_apart(void **state UNUSED)
{
	enum { FILE_SHARE = LIMIT_ANSWERS_SPOOLED / 4 };
	CLEANUP(release) struct fixture f = {.answers = answers_new()};
	CLEANUP(reply_cleanup) struct reply *file = make_spooled_reply(FILE_SHARE), *other = make_spooled_reply(1 << 20),
					    *memory = make_reply(LARGE);
	assert_true(begin(&f, file, "192.0.2.1"));
	assert_true(answers_is_used_up(f.answers, "192.0.2.1"));
	assert_false(begin(&f, other, "192.0.2.1"));
	assert_true(begin(&f, other, "192.0.2.2"));
	assert_true(begin(&f, memory, "192.0.2.1"));
	answers_end(f.answers, &f.reader[0]);
	assert_true(begin(&f, other, "192.0.2.1"));
	CLEANUP(reply_cleanup) struct reply *most = make_spooled_reply(LIMIT_ANSWERS_SPOOLED - (1 << 20));
	assert_true(begin(&f, most, "192.0.2.3"));
	assert_false(begin(&f, file, "192.0.2.4"));
}

static void fill_buffer(struct buf *b, struct answer_making *m, size_t bytes)
{
	static const char block[1 << 16];
	buf_init(b, SIZE_MAX / 2);
	b->meter = &m->meter;
	while (b->len < bytes && !b->failed)
		buf_add(b, block, sizeof(block));
}

static void pages_count_while_they_are_made(void **state UNUSED)
{
	CLEANUP(release) struct fixture f = {.answers = answers_new()};
	CLEANUP(reply_cleanup) struct reply *a = make_reply(LARGE);
	struct answer_making one = {0}, two = {0}, other = {0};
	CLEANUP(buf_release) struct buf page, second, third;
	answers_make_begin(f.answers, &one, "192.0.2.1");
	answers_make_begin(f.answers, &two, "192.0.2.1");
	answers_make_begin(f.answers, &other, "192.0.2.2");
	fill_buffer(&page, &one, 2 * SHARE + LARGE); // alone it may have any size
	assert_false(page.failed || one.meter.is_refused);
	fill_buffer(&second, &two, 1 << 20);
	assert_true(second.failed && two.meter.is_refused);
	fill_buffer(&third, &other, LIMIT_ANSWERS_SENT);
	assert_true(third.failed); // no room in all
	assert_false(begin(&f, a, "192.0.2.3"));
	answers_make_end(&one);
	answers_make_end(&two);
	answers_make_end(&other);
	assert_true(begin(&f, a, "192.0.2.1"));
}

static void without_a_meter_nothing_counts(void **state UNUSED)
{
	struct answer_making m = {0};
	CLEANUP(buf_release) struct buf page;
	answers_make_begin(NULL, &m, "192.0.2.1");
	fill_buffer(&page, &m, 1 << 20);
	assert_false(page.failed);
	answers_make_end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(address_has_a_quarter),
		cmocka_unit_test(all_have_the_limit),
		cmocka_unit_test(page_of_many_readers_counts_once),
		cmocka_unit_test(answers_in_files_count_apart),
		cmocka_unit_test(pages_count_while_they_are_made),
		cmocka_unit_test(without_a_meter_nothing_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
