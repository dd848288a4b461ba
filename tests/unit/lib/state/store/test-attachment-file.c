// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/attachment-file.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/domain/wheel/provenance.h"
#include "lib/format/compress.h"
#include "lib/place/place-posix.h"

static char path[] = "test-attachment-file.XXXXXX";
static int dir;
static struct place *place;
static struct place_folder *folder;
static const char six[] = "six-1.0-py3-none-any.whl", name[] = "six-1.0-py3-none-any.whl.intoto.json";
#define SUBJECT "{\"digest\":{\"sha256\":\"" ZEROS "\"}}"
#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
static const char good[] = "{\"_type\":\"" PROVENANCE_STATEMENT "\",\"predicateType\":\"x\",\"subject\":[" SUBJECT "]}";

static void ok(int result, const struct err *e)
{
	if (result < 0)
		fail_msg("%s", e->msg);
}

static int make_folder(void **state UNUSED)
{
	struct err e = ERR_INIT;
	dir = mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY) : -1;
	place = place_posix_new(path, path, PLACE_POSIX_INSIDE);
	folder = place_open_folder(place, "", &e);
	return folder ? 0 : -1;
}

static int remove_folder(void **state UNUSED)
{
	close(dir);
	place_folder_close(&folder);
	place_free(place);
	return rmdir(path);
}

static void put(const char *text, bool is_new)
{
	struct err e = ERR_INIT;
	CLEANUP(place_write_free)
	struct place_write *w = attachment_write_begin(folder, six, ATTACHMENT_STATEMENT, str_from(text), &e);
	ok(w ? 0 : -1, &e);
	ok(is_new ? place_put_new(w, &e) : place_replace(w, NULL, &e), &e);
}

static int look(struct attachment_facts *out)
{
	struct err e = ERR_INIT;
	int found = attachment_file_read(folder, six, ATTACHMENT_STATEMENT, out, &e);
	ok(found, &e);
	return found;
}

static void written_is_read(void **state UNUSED)
{
	static const uint8_t zeros[SHA256_SIZE];
	struct err e = ERR_INIT;
	CLEANUP(attachment_facts_release) struct attachment_facts none = {0}, facts = {0}, bad = {0};
	CLEANUP(place_write_free) struct place_write *again = NULL;
	CLEANUP(buf_release) struct buf text;
	assert_int_equal(look(&none), 0);
	put(good, true);
	assert_int_equal(look(&facts), 1);
	assert_int_equal(facts.refusal.kind, ERR_NONE);
	assert_memory_equal(facts.subject, zeros, SHA256_SIZE);
	buf_init(&text, LIMIT_STATEMENT);
	ok(decompress_zstd(buf_view(&facts.packed), &text, &e), &e);
	assert_string_equal(text.data, good);
	assert_string_equal(facts.text.data, good);
	again = attachment_write_begin(folder, six, ATTACHMENT_STATEMENT, STR("{}"), &e);
	assert_int_equal(place_put_new(again, &e), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	put("{}", false);
	assert_int_equal(look(&bad), 1);
	assert_int_equal(bad.refusal.kind, ERR_INVALID);
	assert_null(attachment_facts_row(&bad, six, ATTACHMENT_STATEMENT).subject);
	assert_non_null(attachment_facts_row(&facts, six, ATTACHMENT_STATEMENT).subject);
	place_write_free(&again);
	ok(attachment_file_remove(folder, six, ATTACHMENT_STATEMENT, &e), &e);
	ok(attachment_file_remove(folder, six, ATTACHMENT_STATEMENT, &e), &e);
}

static void what_is_no_file_is_none(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct attachment_facts facts = {0};
	assert_int_equal(mkfifoat(dir, name, 0600), 0);
	assert_int_equal(look(&facts), 0);
	unlinkat(dir, name, 0);
	assert_int_equal(symlinkat("/etc/hostname", dir, name), 0);
	assert_int_equal(attachment_file_read(folder, six, ATTACHMENT_STATEMENT, &facts, &e), -1);
	unlinkat(dir, name, 0);
}

static void too_long(void **state UNUSED)
{
	struct err e = ERR_INIT;
	char filename[LIMIT_FILE_NAME + 1] = "";
	CLEANUP(attachment_facts_release) struct attachment_facts facts = {0};
	CLEANUP(mem_free) char *large = xasprintf("%s%*s", good, LIMIT_STATEMENT, "");
	memset(filename, 'x', LIMIT_FILE_NAME - 8);
	assert_null(attachment_write_begin(folder, filename, ATTACHMENT_STATEMENT, STR("{}"), &e));
	assert_int_equal(e.kind, ERR_LIMIT);
	put(large, false);
	assert_int_equal(look(&facts), 1);
	assert_int_equal(facts.refusal.kind, ERR_LIMIT);
	ok(attachment_file_remove(folder, six, ATTACHMENT_STATEMENT, &e), &e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_is_read),
		cmocka_unit_test(what_is_no_file_is_none),
		cmocka_unit_test(too_long),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
