// SPDX-License-Identifier: Apache-2.0
#include "builder/probe/cpu-check.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builder/probe/probe.h"
#include "builder/step/top-modules.h"
#include "lib/base/limits.h"
#include "lib/domain/archive/memberpath.h"
#include "lib/domain/archive/zipframe.h"
#include "lib/domain/archive/zipread.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"

enum { MORE_WORDS = 16 };

// Writes what it does to a file, a line each: the extension module that is being loaded, and what became of each
// module.
static const char script[] = "import functools, importlib, sys\n"
			     "from importlib.machinery import ExtensionFileLoader\n"
			     "_, result, site, *names = sys.argv\n"
			     "result = open(result, 'w', encoding='utf-8', errors='replace')\n"
			     "sys.path[0] = site\n"
			     "loading = ['']\n"
			     "def note(*words):\n"
			     "    print(*words, sep='\\t', file=result, flush=True)\n"
			     "def watched(function):\n"
			     "    @functools.wraps(function)\n"
			     "    def call(self, *arguments):\n"
			     "        loading.append(self.path)\n"
			     "        note('loading', self.path)\n"
			     "        try:\n"
			     "            return function(self, *arguments)\n"
			     "        finally:\n"
			     "            loading.pop()\n"
			     "            note('loading', loading[-1])\n"
			     "    return call\n"
			     "ExtensionFileLoader.create_module = watched(ExtensionFileLoader.create_module)\n"
			     "ExtensionFileLoader.exec_module = watched(ExtensionFileLoader.exec_module)\n"
			     "note('begin')\n"
			     "for name in names:\n"
			     "    note('import', name)\n"
			     "    try:\n"
			     "        importlib.import_module(name)\n"
			     "    except BaseException as error:\n"
			     "        note('failed', ' '.join(f'{type(error).__name__}: {error}'.split())[:500])\n"
			     "    else:\n"
			     "        note('imported')\n";

struct cpu_work {
	const struct cpu_options *options;
	struct cpu_report *report;
	struct probe probe;
	char *qemu, *site, *script, *result;
	int64_t end_ms; // clock_ms() at which the time is over
};

const struct cpu_level *cpu_level_find(const char *text, struct err *e)
{
	// Nehalem and Haswell are the first processors of their levels. qemu64 has a little more than the first level.
	static const struct cpu_level levels[] = {
		{"x86-64-v1", "qemu64,-sse3,-cx16"},
		{"x86-64-v2", "Nehalem"},
		{"x86-64-v3", "Haswell-noTSX"},
		{"x86-64-v4", NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		if (strcmp(text, levels[i].name) != 0 && strcmp(text, strrchr(levels[i].name, 'v')) != 0)
			continue;
		if (levels[i].model)
			return &levels[i];
		err_set(e, ERR_USAGE, "%s cannot be checked: qemu does not emulate AVX-512", levels[i].name);
		return NULL;
	}
	err_set(e, ERR_USAGE, "\"%s\" is neither v1 nor v2 nor v3", text);
	return NULL;
}

// --- the modules ---

static void add_module(struct cpu_work *w, const char *name)
{
	struct cpu_report *r = w->report;
	if (r->count == LIMIT_CPU_MODULES) {
		r->left_out++;
		return;
	}
	r->module[r->count++] = (struct cpu_module){
		.result = CPU_NOT_IMPORTED,
		.name = arena_copy(&r->text, str_from(name)),
		.why = "the time was over",
	};
}

// Some packages have the same module for several processors, and import the one that fits.
static bool is_module_skipped(const struct cpu_work *w, const char *name)
{
	for (size_t i = 0; i < w->options->skips; i++)
		if (fnmatch(w->options->skip[i], name, 0) == 0)
			return true;
	return false;
}

// --- what the script wrote ---

struct cpu_progress {
	bool has_begun;
	size_t at;          // the module that is imported now, or would be next
	struct str loading; // the extension module that is being loaded; empty: none
};

static const char *copy_line(struct cpu_work *w, struct str s)
{
	CLEANUP(buf_release) struct buf line = buf_up_to(LIMIT_PATH);
	escape_terminal(&line, s);
	return arena_copy(&w->report->text, buf_view(&line));
}

static void set_module(struct cpu_work *w, size_t at, enum cpu_result result, const char *why)
{
	if (at >= w->report->count)
		return;
	w->report->module[at].result = result;
	w->report->module[at].why = why;
}

static void take_progress_line(struct cpu_work *w, struct str line, struct cpu_progress *p)
{
	struct str rest = line, word = str_cut(&rest, '\t');
	if (str_eq(word, STR("begin")))
		p->has_begun = true;
	else if (str_eq(word, STR("loading")))
		p->loading = rest;
	else if (str_eq(word, STR("imported")))
		set_module(w, p->at++, CPU_IMPORTED, NULL);
	else if (str_eq(word, STR("failed")))
		set_module(w, p->at++, CPU_NOT_IMPORTED, copy_line(w, rest));
}

static int read_progress(struct cpu_work *w, struct buf *text, struct cpu_progress *p, struct err *e)
{
	if (access(w->result, F_OK) < 0)
		return 0; // the interpreter has not begun
	if (fs_read_regular(w->result, text, e) < 0)
		return err_prefix(e, "what the modules' import wrote: ");
	struct str rest = buf_view(text);
	while (rest.len)
		take_progress_line(w, str_cut(&rest, '\n'), p);
	return 0;
}

// --- running ---

static int run_imports(struct cpu_work *w, size_t first, struct run_outcome *outcome, struct buf *output, struct err *e)
{
	const struct cpu_options *o = w->options;
	const struct cpu_report *r = w->report;
	size_t n = 0;
	CLEANUP(mem_free)
	const char **words = xcalloc(MORE_WORDS + 2 * o->variables + r->count, sizeof(*words));
	const char *const head[] = {
		w->qemu, "-cpu", o->level->model, "-E", "PYTHONDONTWRITEBYTECODE=1", "-E", "PYTHONNOUSERSITE=1"};
	const char *const tail[] = {o->python, w->script, w->result, w->site};
	for (size_t i = 0; i < ARRAY_SIZE(head); i++)
		words[n++] = head[i];
	for (size_t i = 0; i < o->variables; i++) {
		words[n++] = "-E";
		words[n++] = o->variable[i];
	}
	for (size_t i = 0; i < ARRAY_SIZE(tail); i++)
		words[n++] = tail[i];
	for (size_t i = first; i < r->count; i++)
		words[n++] = r->module[i].name;
	unlink(w->result);
	int64_t left = (w->end_ms - clock_ms() + 999) / 1000;
	w->probe.seconds = left > 1 ? (uint64_t)left : 1;
	return probe_run(&w->probe, words, outcome, output, e);
}

static bool is_below_package(const char *module, const char *package)
{
	size_t len = strlen(package);
	return strncmp(module, package, len) == 0 && module[len] == '.';
}

// The process ended while it imported this module. Modules below it would end in the same way: they are not tried.
// Returns the index of the next one.
static size_t end_module(struct cpu_work *w, const struct cpu_progress *p, const struct run_outcome *outcome)
{
	struct cpu_module *m = &w->report->module[p->at];
	CLEANUP(buf_release) struct buf why = buf_up_to(LIMIT_PATH);
	bool is_illegal = outcome->end == RUN_SIGNALLED && outcome->code == SIGILL;
	probe_print_end(&w->probe, outcome, &why);
	if (outcome->end != RUN_TIMED_OUT)
		set_module(w, p->at, is_illegal ? CPU_ILLEGAL : CPU_NOT_IMPORTED, copy_line(w, buf_view(&why)));
	size_t site = strlen(w->site) + 1;
	bool is_ours = p->loading.len > site && str_starts(p->loading, str_from(w->site));
	if (p->loading.len && is_illegal)
		m->member = copy_line(w, is_ours ? str_slice(p->loading, site, p->loading.len) : p->loading);
	size_t next = p->at + 1;
	for (; next < w->report->count && is_below_package(w->report->module[next].name, m->name); next++)
		set_module(w, next, CPU_NOT_IMPORTED, "its package was not imported");
	return next;
}

static bool lacks_avx2(const struct buf *output)
{
	static const struct str words = STR("support requested feature: CPUID.07H:EBX.avx2");
	return memmem(output->data, output->len, words.ptr, words.len) != NULL;
}

// Imports the modules from *next on, until all are imported or one ends the process.
static int import_more(struct cpu_work *w, size_t *next, struct err *e)
{
	struct run_outcome outcome;
	struct cpu_progress p = {.at = *next};
	CLEANUP(buf_release) struct buf output = buf_up_to(2 * LIMIT_PROBE_OUTPUT);
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_CPU_RESULT);
	if (run_imports(w, *next, &outcome, &output, e) < 0 || read_progress(w, &text, &p, e) < 0)
		return -1;
	if (output.len && lacks_avx2(&output))
		return err_set(e, ERR_IO, "%s does not emulate AVX2: version 7.2 or newer does", w->qemu);
	if (!p.has_begun) {
		CLEANUP(buf_release) struct buf reason = buf_up_to(2 * LIMIT_PROBE_OUTPUT);
		probe_print_end(&w->probe, &outcome, &reason);
		probe_print_last_line(&output, &reason);
		return err_set(e, ERR_IO, "%s does not run with %s: %s", w->options->python, w->options->level->name,
			reason.data);
	}
	*next = p.at < w->report->count ? end_module(w, &p, &outcome) : w->report->count;
	return 0;
}

// --- the whole check ---

static int unpack_modules(struct cpu_work *w, struct err *e)
{
	CLEANUP(strset_release) struct strset paths = {0};
	if (mkdir(w->site, S_IRWXU) < 0)
		return err_errno(e, fs_kind_of_write(), "%s", w->site);
	CLEANUP(mem_close) int folder = fs_open_dir(w->site, e);
	if (folder < 0 || wheel_unpack(w->options->wheel, folder, &paths, e) < 0)
		return -1;
	CLEANUP(strset_release) struct strset names = {0};
	if (top_modules_read(w->options->wheel, &names, e) < 0)
		return -1;
	CLEANUP(buf_release) struct buf module = buf_up_to(LIMIT_PATH);
	for (size_t i = 0; i < paths.count; i++) {
		buf_clear(&module);
		if (str_ends(str_from(paths.item[i]), STR(".so")))
			top_modules_of_path(str_from(paths.item[i]), &module);
		if (module.len && !module.failed)
			strset_add(&names, module.data);
	}
	strset_sort(&names);
	w->report->module = xcalloc(LIMIT_CPU_MODULES, sizeof(*w->report->module));
	for (size_t i = 0; i < names.count; i++)
		if (is_module_skipped(w, names.item[i]))
			w->report->skipped++;
		else
			add_module(w, names.item[i]);
	return 0;
}

static int find_qemu(struct cpu_work *w, struct err *e)
{
	static const char *const names[] = {"qemu-x86_64", "qemu-x86_64-static"};
	for (size_t i = 0; i < ARRAY_SIZE(names) && !w->qemu; i++)
		w->qemu = probe_find_program(names[i], false);
	return w->qemu ? 0 : err_set(e, ERR_IO, "qemu-x86_64 is not installed (Debian's package is qemu-user)");
}

static int check_wheel(struct cpu_work *w, struct err *e)
{
	const struct cpu_options *o = w->options;
	if (!probe_is_elf(o->python))
		return err_set(e, ERR_INVALID, "%s is no ELF file, which qemu could run", o->python);
	if (find_qemu(w, e) < 0 || probe_open(&w->probe, o->seconds, o->stop, e) < 0)
		return -1;
	w->site = xasprintf("%s/site", w->probe.folder);
	w->script = xasprintf("%s/import.py", w->probe.folder);
	w->result = xasprintf("%s/result", w->probe.folder);
	if (probe_write(&w->probe, "import.py", script, e) < 0 || unpack_modules(w, e) < 0)
		return -1;
	w->end_ms = clock_ms() + (int64_t)o->seconds * 1000;
	for (size_t next = 0; next < w->report->count && clock_ms() < w->end_ms;)
		if (import_more(w, &next, e) < 0)
			return -1;
	for (size_t i = 0; i < w->report->count; i++)
		w->report->number[w->report->module[i].result]++;
	return 0;
}

static void release_cpu_work(struct cpu_work *w)
{
	probe_close(&w->probe);
	free(w->qemu);
	free(w->site);
	free(w->script);
	free(w->result);
}

int cpu_check(const struct cpu_options *o, struct cpu_report *out, struct err *e)
{
	CLEANUP(release_cpu_work) struct cpu_work w = {.options = o, .report = out, .probe = {.parent = -1}};
	*out = (struct cpu_report){0};
	return check_wheel(&w, e);
}

void cpu_report_release(struct cpu_report *r)
{
	free(r->module);
	arena_release(&r->text);
	*r = (struct cpu_report){0};
}

// --- unpacking ---

struct wheel_unpacking {
	const struct byte_source *bytes;
	int folder;
	struct strset *paths;
	int fd; // of the file that is being written
	uint64_t total;
};

static int write_piece(void *ctx, struct str piece, struct err *e)
{
	const struct wheel_unpacking *u = ctx;
	while (piece.len) {
		ssize_t n = write(u->fd, piece.ptr, piece.len);
		if (n < 0)
			return err_errno(e, fs_kind_of_write(), "write");
		piece = str_slice(piece, (size_t)n, piece.len);
	}
	return 0;
}

static int unpack_member(struct wheel_unpacking *u, const struct zipmember *m, struct err *e)
{
	struct str target = top_modules_installed_path(m->name);
	if (m->is_folder || !target.len)
		return 0;
	if (memberpath_leads_out(target) || !memberpath_is_plain(target))
		return err_set(e, ERR_INVALID, "the path " STR_FMT " is not below the folder of modules",
			STR_ARG(m->name));
	u->total += m->size; // zipread_member refuses 4 GiB and more
	if (u->total > LIMIT_UNPACKED && u->total / LIMIT_UNPACKED_RATIO > u->bytes->size)
		return err_set(e, ERR_LIMIT, "it unpacks to more than %d times its size", LIMIT_UNPACKED_RATIO);
	CLEANUP(mem_free) char *path = xstrndup(target.ptr, target.len);
	// path is changed while this works, and is what it was afterwards.
	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		int made = mkdirat(u->folder, path, S_IRWXU);
		*slash = '/';
		if (made < 0 && errno != EEXIST)
			return err_errno(e, fs_kind_of_write(), "%s", path);
	}
	CLEANUP(mem_close)
	int fd = openat(u->folder, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
	if (fd < 0)
		return err_errno(e, fs_kind_of_write(), "%s", path);
	u->fd = fd;
	strset_add(u->paths, path);
	return zipread_member(u->bytes, m, write_piece, u, e);
}

static int unpack_members(struct wheel_unpacking *u, struct err *e)
{
	struct zipdirectory zip;
	CLEANUP(findings_release) struct findings findings;
	findings_init(&findings);
	if (zipframe_read(u->bytes, LENIENT, &findings, &zip, e) < 0)
		return -1;
	int result = 0;
	for (size_t i = 0; i < zip.count && result == 0; i++)
		result = unpack_member(u, &zip.members[i], e);
	zipdirectory_release(&zip);
	strset_sort(u->paths);
	return result;
}

int wheel_unpack(const char *wheel, int folder, struct strset *paths, struct err *e)
{
	struct stat st;
	CLEANUP(mem_close) int fd = open(wheel, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s", wheel);
	const struct byte_source bytes = byte_source_file(fd, (uint64_t)st.st_size);
	struct wheel_unpacking u = {.bytes = &bytes, .folder = folder, .paths = paths, .fd = -1};
	return unpack_members(&u, e) < 0 ? err_prefix(e, "%s: ", wheel) : 0;
}
