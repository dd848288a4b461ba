// SPDX-License-Identifier: Apache-2.0
#include "server/upstream/upstream-files.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/os/clock.h"
#include "lib/place/tempname.h"
#include "server/upstream/debounce.h"
#include "tests/unit/support/loopback.h"
#include "tests/unit/support/sleeper.h"

enum { SIZE = 300017, HALF = SIZE / 2, ASKERS = 40, PATIENT_S = 600 };

// An upstream of some files, all with the same bytes unless the file's name says what is wrong with them.
struct fixture {
	struct loopback *server;
	struct fetch_pool *pool;
	struct file_cache *file_cache;
	struct upstream_files *retrieve;
	char folder[64];
	char bytes[SIZE];
	uint8_t sha256[SHA256_SIZE];
	atomic_int asked;
	sem_t held, gate; // a request has arrived; it may continue
};

static bool send_part(const struct fixture *f, int fd, const char *status, size_t from, size_t to, size_t length)
{
	char head[200];
	snprintf(head, sizeof(head), "HTTP/1.1 %s\r\nContent-Length: %zu\r\nContent-Range: bytes %zu-%d/%d\r\n\r\n",
		status, length, from, SIZE - 1, SIZE);
	return loopback_write(fd, head, strlen(head)) && loopback_write(fd, f->bytes + from, to - from);
}

static bool send_good(const struct fixture *f, int fd)
{
	return send_part(f, fd, "200 OK", 0, SIZE, SIZE);
}

static void hold(struct fixture *f)
{
	sem_post(&f->held);
	sem_wait(&f->gate);
}

static bool send_after_a_while(struct fixture *f, int fd, const char *head UNUSED)
{
	hold(f);
	return send_good(f, fd);
}

static bool send_in_two(struct fixture *f, int fd, const char *head UNUSED)
{
	if (!send_part(f, fd, "200 OK", 0, HALF, SIZE))
		return false;
	hold(f);
	return loopback_write(fd, f->bytes + HALF, SIZE - HALF);
}

static bool send_wrong(struct fixture *f, int fd, const char *head UNUSED)
{
	return send_part(f, fd, "200 OK", 0, SIZE - 1, SIZE) && loopback_write(fd, "!", 1);
}

static bool send_short(struct fixture *f, int fd, const char *head UNUSED)
{
	return send_part(f, fd, "200 OK", 0, HALF, HALF);
}

static bool cut(struct fixture *f, int fd, const char *head)
{
	unsigned long from = 0;
	const char *range = strstr(head, "Range: bytes=");
	if (range && sscanf(range, "Range: bytes=%lu-", &from) == 1 && from)
		return send_part(f, fd, "206 Partial Content", from, SIZE, SIZE - from);
	send_part(f, fd, "200 OK", 0, HALF, SIZE);
	return false;
}

static bool send_none(struct fixture *f UNUSED, int fd, const char *head UNUSED)
{
	return loopback_send(fd, "404 Not Found", "", "", 0);
}

static bool answer(void *ctx, int fd, const char *path, const char *head)
{
	static const struct {
		const char *path;
		bool (*send)(struct fixture *f, int fd, const char *head);
	} ways[] = {
		{"/held", send_after_a_while},
		{"/halved", send_in_two},
		{"/wrong", send_wrong},
		{"/short", send_short},
		{"/cut", cut},
		{"/none", send_none},
	};
	struct fixture *f = ctx;
	atomic_fetch_add(&f->asked, 1);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (strcmp(path, ways[i].path) == 0)
			return ways[i].send(f, fd, head);
	return send_good(f, fd);
}

static int begin(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	struct err e = ERR_INIT;
	const struct fetch_pool_options options = {
		.fetch.connect_seconds = PATIENT_S, .fetch.stall_seconds = PATIENT_S, .concurrency = 4};
	snprintf(f->folder, sizeof(f->folder), "test-retrieve.XXXXXX");
	for (size_t i = 0; i < SIZE; i++)
		f->bytes[i] = (char)(i * 31 >> 3);
	digest_sha256((struct str){f->bytes, SIZE}, f->sha256);
	sem_init(&f->held, 0, 0);
	sem_init(&f->gate, 0, 0);
	f->server = loopback_new(answer, f);
	f->pool = fetch_pool_new(&options);
	fetch_pool_start(f->pool);
	*state = f;
	if (!mkdtemp(f->folder) || file_cache_open(f->folder, SIZE * 3, NULL, &f->file_cache, &e) < 0)
		return -1;
	f->retrieve = upstream_files_new(f->pool, 4, f->file_cache, NULL);
	return 0;
}

// Afterwards no download is in flight.
static void settle(struct fixture *f)
{
	fetch_pool_free(STEAL_PTR(f->pool));
	upstream_files_free(STEAL_PTR(f->retrieve));
}

static int end(void **state)
{
	struct fixture *f = *state;
	CLEANUP(mem_free) char *command = xasprintf("rm -r '%s'", f->folder);
	settle(f);
	file_cache_close(f->file_cache);
	loopback_free(f->server);
	sem_destroy(&f->held);
	sem_destroy(&f->gate);
	free(f);
	return system(command);
}

struct question {
	const char *name;
	bool is_unknown; // hash and size are
	bool wants_whole;
};

// As server/pages/proxy does: looks into the file cache first.
static enum file_fetch_state ask(struct fixture *f, const struct question *q, struct sleeper *s,
	struct file_fetch_result *out)
{
	CLEANUP(mem_free) char *url = xasprintf("http://127.0.0.1:%u/%s", loopback_port(f->server), q->name);
	CLEANUP(mem_free) char *filename = xasprintf("%s-1-py3-none-any.whl", q->name);
	const struct file_request wish = {.project = q->name,
		.filename = filename,
		.url = url,
		.home = url,
		.sha256 = q->is_unknown ? NULL : f->sha256,
		.size = q->is_unknown ? -1 : SIZE};
	struct err e = ERR_INIT;
	*out = (struct file_fetch_result){.state = FILE_FETCH_KEPT};
	if (file_cache_find(f->file_cache, q->name, filename, wish.sha256, &out->file, &e) < 0)
		upstream_files_get(f->retrieve, &wish, q->wants_whole, &s->base, out);
	return out->state;
}

// Repeats the request until there is an answer.
static enum file_fetch_state insist(struct fixture *f, const struct question *q, struct file_fetch_result *out)
{
	struct sleeper s;
	sleeper_init(&s);
	while (ask(f, q, &s, out) == FILE_FETCH_LATER)
		sem_wait(&s.is_woken);
	return out->state;
}

// Reads the stream to its end and drops it. Returns whether the file is whole.
static bool drain(const struct fixture *f, struct stream *stream, uint64_t length, uint64_t *taken)
{
	struct sleeper s;
	char piece[4096];
	ssize_t n = 0;
	sleeper_init(&s);
	for (*taken = 0; *taken < length; *taken += (uint64_t)n) {
		while ((n = stream->ops->read(stream, *taken, piece, sizeof(piece))) == 0) {
			stream->ops->await(stream, *taken, &s.base);
			sem_wait(&s.is_woken);
		}
		if (n < 0)
			break;
		assert_memory_equal(piece, f->bytes + *taken, (size_t)n);
	}
	stream->ops->unref(stream);
	return n >= 0;
}

static void assert_is_whole(const struct fixture *f, struct file_fetch_result *r)
{
	CLEANUP(mem_free) char *bytes = xmalloc(SIZE + 1);
	uint64_t taken;
	if (r->state == FILE_FETCH_STREAM) {
		assert_int_equal(r->length, SIZE);
		assert_true(drain(f, r->stream, r->length, &taken));
		return;
	}
	assert_int_equal(r->state, FILE_FETCH_KEPT);
	assert_int_equal(r->file.size, SIZE);
	assert_memory_equal(r->file.sha256, f->sha256, SHA256_SIZE);
	assert_int_equal(pread(r->file.fd, bytes, SIZE + 1, 0), SIZE);
	assert_memory_equal(bytes, f->bytes, SIZE);
	close(r->file.fd);
}

static bool cache_has(struct fixture *f, const char *name)
{
	struct err e = ERR_INIT;
	struct file_cache_file file;
	CLEANUP(mem_free) char *filename = xasprintf("%s-1-py3-none-any.whl", name);
	if (file_cache_find(f->file_cache, name, filename, NULL, &file, &e) < 0)
		return false;
	close(file.fd);
	return true;
}

static bool is_kept(struct fixture *f, const char *name)
{
	settle(f);
	return cache_has(f, name);
}

static void all_who_want_a_file_make_one_request(void **state)
{
	struct fixture *f = *state;
	static struct sleeper s[ASKERS];
	struct file_fetch_result r;
	for (size_t i = 0; i < ASKERS; i++) { // every other client wants the whole file
		const struct question q = {.name = "held", .wants_whole = i % 2};
		sleeper_init(&s[i]);
		assert_int_equal(ask(f, &q, &s[i], &r), FILE_FETCH_LATER);
	}
	sem_wait(&f->held);
	sem_post(&f->gate);
	for (size_t i = 0; i < ASKERS; i++) {
		const struct question q = {.name = "held", .wants_whole = i % 2};
		do
			sem_wait(&s[i].is_woken);
		while (ask(f, &q, &s[i], &r) == FILE_FETCH_LATER);
		assert_int_equal(r.state == FILE_FETCH_STREAM && q.wants_whole, false);
		assert_is_whole(f, &r);
	}
	assert_int_equal(f->asked, 1);
	assert_true(is_kept(f, "held"));
	for (size_t i = 0; i < ASKERS; i++)
		assert_int_equal(sem_trywait(&s[i].is_woken), -1); // resumed once for each wait
}

static enum file_fetch_state ask_past_the_file_cache(struct fixture *f, const char *name, struct sleeper *s,
	struct file_fetch_result *out)
{
	CLEANUP(mem_free) char *filename = xasprintf("%s-1-py3-none-any.whl", name);
	const struct file_request wish = {.project = name,
		.filename = filename,
		.url = "http:",
		.home = "http:",
		.sha256 = f->sha256,
		.size = SIZE};
	upstream_files_get(f->retrieve, &wish, true, &s->base, out);
	return out->state;
}

// The client looked into the file cache before the file was there, and asks after it was put there.
static void who_comes_a_moment_late_makes_no_second_request(void **state)
{
	struct fixture *f = *state;
	struct file_fetch_result r = {.state = FILE_FETCH_LATER};
	struct sleeper s;
	sleeper_init(&s);
	for (char name[] = "a"; *name < 'f'; ++*name) {
		long began = clock_seconds();
		const struct question q = {.name = name, .wants_whole = true};
		do {
			insist(f, &q, &r);
			assert_is_whole(f, &r);
		} while (!cache_has(f, name));
		if (clock_seconds() - began < 2 && ask_past_the_file_cache(f, name, &s, &r) == FILE_FETCH_KEPT)
			close(r.file.fd);
		assert_true(r.state == FILE_FETCH_KEPT || clock_seconds() - began >= 2);
	}
}

// The client has the file before it is saved, and the disk does not delay other clients of the burst.
static void it_is_kept_in_a_debounce(void **state)
{
	struct fixture *f = *state;
	struct file_fetch_result r;
	const struct timespec often = {.tv_nsec = 1000000};
	int64_t began = clock_ms();
	insist(f, &(struct question){.name = "a", .wants_whole = true}, &r);
	assert_is_whole(f, &r);
	while (!cache_has(f, "a"))
		nanosleep(&often, NULL);
	assert_true(clock_ms() - began >= DEBOUNCE_PAUSE_MS);
}

static void bytes_go_out_while_they_come(void **state)
{
	struct fixture *f = *state;
	struct file_fetch_result r;
	struct sleeper s;
	char piece[64];
	sleeper_init(&s);
	assert_int_equal(insist(f, &(struct question){.name = "halved"}, &r), FILE_FETCH_STREAM);
	sem_wait(&f->held); // the second half has not been sent
	while (r.stream->ops->read(r.stream, 0, piece, sizeof(piece)) <= 0) {
		r.stream->ops->await(r.stream, 0, &s.base);
		sem_wait(&s.is_woken);
	}
	assert_memory_equal(piece, f->bytes, 1);
	assert_int_equal(r.stream->ops->read(r.stream, SIZE - 1, piece, 1), 0);
	sem_post(&f->gate);
	assert_is_whole(f, &r);
	assert_true(is_kept(f, "halved"));
}

// As another process does, or a disk that lost the file.
static void shorten_what_comes(const struct fixture *f)
{
	DIR *dir = opendir(f->folder);
	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir));)
		if (tempname_is(entry->d_name)) {
			int fd = openat(dirfd(dir), entry->d_name, O_WRONLY | O_CLOEXEC);
			assert_int_equal(ftruncate(fd, 0), 0);
			close(fd);
		}
	closedir(dir);
}

// Else it would be requested again at once, endlessly.
static void stream_whose_bytes_are_gone_ends(void **state)
{
	struct fixture *f = *state;
	struct file_fetch_result r;
	char byte;
	assert_int_equal(insist(f, &(struct question){.name = "halved"}, &r), FILE_FETCH_STREAM);
	sem_wait(&f->held);
	// All of the first half, or what arrives after the cut makes the file longer again. Its last bytes wake nobody:
	// they are few, and come soon after others (NOTIFY_BYTES, NOTIFY_MS).
	while (r.stream->ops->read(r.stream, HALF - 1, &byte, 1) == 0)
		usleep(1000);
	shorten_what_comes(f);
	ssize_t n = r.stream->ops->read(r.stream, 0, &byte, 1);
	r.stream->ops->unref(r.stream);
	sem_post(&f->gate);
	settle(f);
	assert_int_equal(n, -1);
}

static void nobody_completes_what_is_wrong(void **state)
{
	struct fixture *f = *state;
	struct file_fetch_result r;
	uint64_t taken = 0;
	// A late client gets the result at once.
	if (insist(f, &(struct question){.name = "wrong"}, &r) == FILE_FETCH_STREAM) {
		assert_false(drain(f, r.stream, r.length, &taken));
		assert_true(taken < SIZE);
	} else {
		assert_int_equal(r.state, FILE_FETCH_FAILED);
	}
	assert_false(is_kept(f, "wrong"));
}

static void what_fails_says_how_and_is_not_kept(void **state)
{
	static const struct {
		struct question question;
		enum file_fetch_state state;
		const char *why;
	} table[] = {
		{{"wrong", false, true}, FILE_FETCH_FAILED, "upstream's bytes do not have the hash that its page says"},
		{{"short", false, true}, FILE_FETCH_FAILED, "upstream sends another size than its page says"},
		// two halves of an unverified file are not joined
		{{"cut", true, true}, FILE_FETCH_FAILED, "truncated"},
		{{"none", false, true}, FILE_FETCH_ABSENT, "upstream has no such file any more"},
	};
	struct fixture *f = *state;
	uint64_t files, bytes;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct file_fetch_result r;
		int before = f->asked;
		assert_int_equal(insist(f, &table[i].question, &r), table[i].state);
		assert_string_equal(r.why, table[i].why);
		assert_int_equal(r.file.fd, -1);
		assert_int_equal(f->asked, before + 1);
	}
	settle(f);
	file_cache_totals(f->file_cache, &files, &bytes);
	assert_int_equal(files, 0);
}

static void what_was_cut_is_gone_on_with(void **state)
{
	struct fixture *f = *state;
	struct file_fetch_result r;
	insist(f, &(struct question){.name = "cut"}, &r);
	assert_is_whole(f, &r);
	assert_int_equal(f->asked, 2);
	assert_true(is_kept(f, "cut"));
}

static void file_that_is_too_large_is_not_asked_for(void **state)
{
	struct fixture *f = *state;
	struct file_fetch_result r;
	struct sleeper s;
	sleeper_init(&s);
	file_cache_limit(f->file_cache, SIZE - 1);
	assert_int_equal(ask(f, &(struct question){.name = "large"}, &s, &r), FILE_FETCH_FULL);
	assert_int_equal(f->asked, 0);
	file_cache_limit(f->file_cache, SIZE);
	insist(f, &(struct question){.name = "large"}, &r);
	assert_is_whole(f, &r);
}

static void giving_up_wakes_all(void **state)
{
	struct fixture *f = *state;
	static struct sleeper s[ASKERS];
	struct sleeper reader;
	struct file_fetch_result r, stream;
	const struct question held = {.name = "held"};
	char byte;
	sleeper_init(&reader);
	assert_int_equal(insist(f, &(struct question){.name = "halved"}, &stream), FILE_FETCH_STREAM);
	stream.stream->ops->await(stream.stream, HALF, &reader.base);
	for (size_t i = 0; i < ASKERS; i++) {
		sleeper_init(&s[i]);
		assert_int_equal(ask(f, &held, &s[i], &r), FILE_FETCH_LATER);
	}
	sem_wait(&f->held);
	sem_wait(&f->held);
	upstream_files_cancel(f->retrieve);
	sem_wait(&reader.is_woken);
	assert_int_equal(stream.stream->ops->read(stream.stream, 0, &byte, 1), -1);
	stream.stream->ops->unref(stream.stream);
	for (size_t i = 0; i < ASKERS; i++) {
		sem_wait(&s[i].is_woken);
		assert_int_equal(ask(f, &held, &s[i], &r), FILE_FETCH_FAILED);
	}
	assert_int_equal(ask(f, &(struct question){.name = "new"}, &reader, &r), FILE_FETCH_FAILED);
	assert_int_equal(f->asked, 2);
	sem_post(&f->gate);
	sem_post(&f->gate);
	settle(f);
	for (size_t i = 0; i < ASKERS; i++)
		assert_int_equal(s[i].woken, 1);
	assert_int_equal(reader.woken, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_who_want_a_file_make_one_request),
		TEST(who_comes_a_moment_late_makes_no_second_request),
		TEST(it_is_kept_in_a_debounce),
		TEST(bytes_go_out_while_they_come),
		TEST(stream_whose_bytes_are_gone_ends),
		TEST(nobody_completes_what_is_wrong),
		TEST(what_fails_says_how_and_is_not_kept),
		TEST(what_was_cut_is_gone_on_with),
		TEST(file_that_is_too_large_is_not_asked_for),
		TEST(giving_up_wakes_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
