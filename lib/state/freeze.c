// SPDX-License-Identifier: Apache-2.0
#include "lib/state/freeze.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/fs.h"
#include "lib/base/limits.h"
#include "lib/state/leftover.h"

static const char mark[] = FREEZE_MARK;
static const char no_reason[] = "no reason was given";

static int open_folder(const struct platform *p, struct err *e)
{
	int fd = store_open_writable_folder(p, "", e);
	return fd < 0 ? err_prefix(e, "platform %s: ", p->name) : fd;
}

// One line of plain text, whatever was typed: controls become blanks.
static void add_line(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		buf_putc(out, (unsigned char)text.ptr[i] < ' ' || text.ptr[i] == 127 ? ' ' : text.ptr[i]);
}

static void compose(const char *who, const char *reason, struct buf *out)
{
	char when[CLOCK_TEXT];
	clock_write(clock_wall_seconds(), when);
	add_line(out, str_from(reason));
	buf_puts(out, "\nby ");
	add_line(out, str_from(who));
	buf_printf(out, " at %s\n", when);
}

int freeze_set(const struct platform *p, const char *who, const char *reason, struct err *e)
{
	CLEANUP(mem_close) int folder = open_folder(p, e);
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_WORDS);
	compose(who, reason, &text);
	if (text.failed)
		return err_set(e, ERR_LIMIT, "the reason is longer than %d bytes", LIMIT_WORDS);
	if (folder < 0)
		return -1;
	char tmp[LEFTOVER_NAME];
	leftover_name(tmp);
	CLEANUP(fs_tmp_release) struct fs_tmp t;
	if (fs_tmp_open(&t, folder, tmp, mark, e) < 0 || fs_tmp_write(&t, buf_view(&text), e) < 0 ||
		fs_tmp_publish(&t, e) < 0 || fs_sync_dir(folder, e) < 0)
		return err_prefix(e, "platform %s: ", p->name);
	return 0;
}

int freeze_clear(const struct platform *p, bool *was_frozen, struct err *e)
{
	CLEANUP(mem_close) int folder = open_folder(p, e);
	if (folder < 0)
		return -1;
	*was_frozen = unlinkat(folder, mark, 0) == 0;
	if (!*was_frozen && errno != ENOENT)
		return err_errno(e, ERR_IO, "platform %s: %s", p->name, mark);
	if (*was_frozen && fs_sync_dir(folder, e) < 0)
		return err_prefix(e, "platform %s: ", p->name);
	return 0;
}

// What was cut off or is no text is left out.
static void read_mark(const struct platform *p, struct buf *why)
{
	char text[LIMIT_WORDS];
	struct err ignored = ERR_INIT;
	CLEANUP(mem_close) int fd = store_open_writable_file(p, mark, &ignored);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	struct str rest = {text, n > 0 ? (size_t)n : 0};
	struct str reason = str_trim(str_cut(&rest, '\n'));
	struct str by = rest.ptr ? str_trim(str_cut(&rest, '\n')) : STR("");
	add_line(why, reason.len && str_is_utf8(reason) ? reason : str_from(no_reason));
	if (!by.len || !str_is_utf8(by))
		return;
	buf_puts(why, " (");
	add_line(why, by);
	buf_putc(why, ')');
}

int freeze_is(const struct platform *p, struct buf *why, struct err *e)
{
	struct stat st;
	CLEANUP(mem_close) int folder = open_folder(p, e);
	if (folder < 0)
		return -1;
	if (fstatat(folder, mark, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_errno(e, ERR_IO, "platform %s: %s", p->name, mark);
	read_mark(p, why);
	return 1;
}

bool freeze_is_retirement(struct str why)
{
	struct str word = STR(FREEZE_RETIRED);
	if (!str_starts(why, word))
		return false;
	return why.len == word.len || why.ptr[word.len] == ':' || why.ptr[word.len] == ' ';
}

static int check(const struct platform *p, bool may_be_retired, struct err *e)
{
	CLEANUP(buf_release) struct buf why;
	buf_init(&why, SIZE_MAX / 2); // of a file that is read to a limit
	int frozen = freeze_is(p, &why, e);
	if (frozen <= 0 || (may_be_retired && freeze_is_retirement(buf_view(&why))))
		return frozen < 0 ? -1 : 0;
	return err_set(e, ERR_BUSY, "platform %s is frozen: %s", p->name, why.data);
}

int freeze_check(const struct platform *p, struct err *e)
{
	return check(p, false, e);
}

int freeze_check_but_retired(const struct platform *p, struct err *e)
{
	return check(p, true, e);
}
