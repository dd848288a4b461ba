// SPDX-License-Identifier: Apache-2.0
#include "builder/probe/probe.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/os/fs.h"
#include "lib/os/tree.h"

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

static int run_with_log(struct probe *p, const char *const *words, struct run_log *log, struct run_outcome *out,
	struct err *e)
{
	const char *path = getenv("PATH");
	CLEANUP(mem_free) char *search = xasprintf("PATH=%s", path && *path ? path : "/usr/bin:/bin");
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

void probe_print_end(const struct probe *p, const struct run_outcome *o, struct buf *out)
{
	if (o->end == RUN_TIMED_OUT)
		buf_printf(out, "it did not end within %llu seconds", (unsigned long long)p->seconds);
	else if (o->end == RUN_SIGNALLED)
		buf_printf(out, "it was ended by signal %d (%s)", o->code, strsignal(o->code));
	else
		buf_printf(out, "it ended with exit code %d", o->code);
}

void probe_print_line(struct str text, struct buf *out)
{
	for (size_t i = 0; i < text.len; i++)
		buf_putc(out, (unsigned char)text.ptr[i] < ' ' || text.ptr[i] == '\x7f' ? '?' : text.ptr[i]);
}

bool probe_is_variable(const char *text)
{
	const char *c = text;
	while (ascii_is_alnum(*c) || *c == '_')
		c++;
	return c > text && *c == '=' && !ascii_is_digit(*text);
}
