// SPDX-License-Identifier: Apache-2.0
#include "builder/probe/probe.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/elf/elf-facts.h"
#include "lib/format/escape.h"
#include "lib/os/fs.h"

static const char *temporary_folder(void)
{
	const char *given = getenv("TMPDIR");
	return given && *given ? given : "/tmp";
}

int probe_open(struct probe *p, uint64_t seconds, const atomic_bool *stop, struct err *e)
{
	*p = (struct probe){.seconds = seconds, .stop = stop, .parent = -1};
	p->parent = fs_open_dir(temporary_folder(), e);
	CLEANUP(mem_free) char *real = p->parent < 0 ? NULL : fs_real_path(temporary_folder(), e);
	if (!real)
		return -1;
	CLEANUP(mem_free) char *folder = xasprintf("%s/wheelcache-probe-XXXXXX", real);
	if (!mkdtemp(folder))
		return err_errno(e, fs_kind_of_write(), "%s", folder);
	p->name = xstrdup(strrchr(folder, '/') + 1);
	p->folder = STEAL_PTR(folder);
	return 0;
}

void probe_close(struct probe *p)
{
	struct err e = ERR_INIT;
	if (p->name && tree_remove(p->parent, p->name, &e) < 0)
		log_warn("%s: %s", p->folder, e.msg);
	mem_close(&p->parent);
	free(p->name);
	free(p->folder);
	*p = (struct probe){.parent = -1};
}

int probe_write(const struct probe *p, const char *name, const char *text, struct err *e)
{
	CLEANUP(mem_free) char *path = xasprintf("%s/%s", p->folder, name);
	CLEANUP(mem_close) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return err_errno(e, fs_kind_of_write(), "%s", path);
	return 0;
}

static const char *search_path(void)
{
	const char *given = getenv("PATH");
	return given && *given ? given : "/usr/bin:/bin";
}

static int run_with_log(struct probe *p, const char *const *words, struct run_log *log, struct run_outcome *out,
	struct err *e)
{
	CLEANUP(mem_free) char *search = xasprintf("PATH=%s", search_path());
	CLEANUP(mem_free) char *home = xasprintf("HOME=%s", p->folder);
	CLEANUP(mem_free) char *tmp = xasprintf("TMPDIR=%s", p->folder);
	const char *const environment[] = {search, home, tmp, "LC_ALL=C.UTF-8", NULL};
	const struct run_options options = {
		.argv = words,
		.environment = environment,
		.folder = p->folder,
		.log = log,
		.seconds = p->seconds,
		.stop = p->stop,
	};
	if (run_program(&options, out, e) < 0)
		return -1;
	return out->end == RUN_STOPPED ? err_set(e, ERR_BUSY, "stopped by a signal") : 0;
}

int probe_run(struct probe *p, const char *const *words, struct run_outcome *out, struct buf *output, struct err *e)
{
	CLEANUP(mem_free) char *path = xasprintf("%s/log-%u", p->folder, ++p->logs);
	CLEANUP(run_log_cleanup) struct run_log *log = NULL;
	if (run_log_open(path, LIMIT_PROBE_OUTPUT, &log, e) < 0 || run_with_log(p, words, log, out, e) < 0)
		return -1;
	return run_log_text(log, output, e);
}

char *probe_path(const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
	CLEANUP(mem_free) char *folder = xstrndup(path, (size_t)(file - path));
	CLEANUP(mem_free) char *real = fs_real_path(*folder ? folder : ".", e);
	return real ? xasprintf("%s/%s", strcmp(real, "/") == 0 ? "" : real, file) : NULL;
}

bool probe_is_elf(const char *path)
{
	char begin[4];
	CLEANUP(mem_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd >= 0 && read(fd, begin, sizeof(begin)) == sizeof(begin) &&
	       elf_is_elf((struct str){begin, sizeof(begin)});
}

char *probe_find_program(const char *name, bool needs_elf)
{
	struct str rest = str_from(search_path());
	while (rest.len) {
		struct str folder = str_cut(&rest, ':');
		CLEANUP(mem_free) char *path = xasprintf(STR_FMT "/%s", STR_ARG(folder), name);
		if (folder.len && access(path, X_OK) == 0 && (!needs_elf || probe_is_elf(path)))
			return STEAL_PTR(path);
	}
	return NULL;
}

void probe_print_end(const struct probe *p, const struct run_outcome *o, struct buf *out)
{
	if (o->end == RUN_TIMED_OUT)
		buf_printf(out, "it did not end within %llu seconds", (unsigned long long)p->seconds);
	else if (o->end == RUN_SIGNALLED)
		buf_printf(out, "it was ended by signal %d (%s)", o->code, strsignal(o->code));
	else
		buf_printf(out, "it ended with exit code %d", o->code);
}

void probe_print_last_line(const struct buf *output, struct buf *out)
{
	struct str text = str_trim(buf_view(output));
	const char *end = text.len ? memrchr(text.ptr, '\n', text.len) : NULL;
	if (!text.len)
		return;
	buf_puts(out, "; it said: ");
	escape_terminal(out, end ? str_slice(text, (size_t)(end + 1 - text.ptr), text.len) : text);
}

bool probe_is_variable(const char *text)
{
	const char *c = text;
	while (ascii_is_alnum(*c) || *c == '_')
		c++;
	return c > text && *c == '=' && !ascii_is_digit(*text);
}
