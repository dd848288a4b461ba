// SPDX-License-Identifier: Apache-2.0
#include "builder/probe/bind-check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builder/probe/probe.h"
#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/domain/elf/elf-facts.h"
#include "lib/format/escape.h"
#include "lib/os/fs.h"

// Compares what a module needs and binds with what was expected. One thread at a time.

// --- ELF files ---

struct mapped_file {
	void *bytes;
	size_t size;
};

static void unmap_file(struct mapped_file *m)
{
	if (m->bytes)
		munmap(m->bytes, m->size);
}

// Reads an ELF file. ERR_NOT_FOUND, ERR_INVALID, ERR_LIMIT, ERR_IO. The caller releases *out if this returns 0.
static int bind_read_elf(const char *path, struct elf_facts *out, struct err *e)
{
	struct stat st;
	CLEANUP(unmap_file) struct mapped_file m = {0};
	CLEANUP(mem_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s", path);
	if (!S_ISREG(st.st_mode) || st.st_size == 0)
		return err_set(e, ERR_INVALID, "%s is no ELF file", path);
	void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return err_errno(e, ERR_IO, "%s", path);
	m = (struct mapped_file){bytes, (size_t)st.st_size};
	const struct str text = {m.bytes, m.size};
	if (!elf_is_elf(text))
		return err_set(e, ERR_INVALID, "%s is no ELF file", path);
	return elf_facts_read(text, out, e) < 0 ? err_prefix(e, "%s: ", path) : 0;
}

// --- libraries ---

static bool is_library_named(const char *path, const char *glob)
{
	struct err ignored = ERR_INIT;
	CLEANUP(elf_facts_release) struct elf_facts facts = {0};
	const char *slash = strrchr(path, '/');
	if (fnmatch(glob, slash ? slash + 1 : path, 0) == 0)
		return true;
	return bind_read_elf(path, &facts, &ignored) == 0 && facts.soname && fnmatch(glob, facts.soname, 0) == 0;
}

// A library that was looked at for an expectation: it is read once, however many symbols it has.
struct judged_library {
	const char *path; // borrowed
	bool is_right;
};

struct judged_libraries {
	struct judged_library *item;
	size_t count, room;
};

static void release_libraries(struct judged_libraries *l)
{
	free(l->item);
}

static bool is_right_library(struct judged_libraries *l, const char *path, const char *glob)
{
	for (size_t i = 0; i < l->count; i++)
		if (strcmp(l->item[i].path, path) == 0)
			return l->item[i].is_right;
	GROW(l->item, l->count, l->room);
	l->item[l->count++] = (struct judged_library){path, is_library_named(path, glob)};
	return l->item[l->count - 1].is_right;
}

// --- lines ---

static void add_bind_line(struct bind_lines *l, const struct bind_line *line)
{
	GROW(l->line, l->count, l->room);
	l->line[l->count++] = (struct bind_line){
		.result = line->result,
		.symbol = arena_copy(&l->text, str_from(line->symbol)),
		.target = line->target ? arena_copy(&l->text, str_from(line->target)) : NULL,
		.library = line->library,
	};
	l->errors += line->result != BIND_OK && line->result != BIND_NEEDED_OK;
}

// Adds a line for the glob, which must match one of the needed libraries.
static void bind_judge_needed(const struct elf_facts *facts, const char *glob, struct bind_lines *out)
{
	for (size_t i = 0; i < facts->needed.count; i++)
		if (fnmatch(glob, facts->needed.item[i], 0) == 0) {
			add_bind_line(out, &(struct bind_line){BIND_NEEDED_OK, facts->needed.item[i], NULL, glob});
			return;
		}
	add_bind_line(out, &(struct bind_line){BIND_NEEDED_ABSENT, glob, NULL, glob});
}

// Adds a line for each bound symbol that the expectation is about; none is an error, unless it is about "*". bound:
// "SYMBOL\nTARGET", sorted.
static void bind_judge_symbols(const struct strset *bound, const struct bind_expectation *expect,
	struct bind_lines *out)
{
	CLEANUP(release_libraries) struct judged_libraries libraries = {0};
	size_t before = out->count;
	for (size_t i = 0; i < bound->count; i++) {
		struct str target = str_from(bound->item[i]), name = str_cut(&target, '\n');
		CLEANUP(mem_free) char *symbol = xstrndup(name.ptr, name.len);
		if (fnmatch(expect->symbol, symbol, 0) != 0)
			continue;
		bool is_right = is_right_library(&libraries, target.ptr, expect->library);
		add_bind_line(out,
			&(struct bind_line){is_right ? BIND_OK : BIND_WRONG, symbol, target.ptr, expect->library});
	}
	if (out->count == before && strcmp(expect->symbol, "*") != 0)
		add_bind_line(out, &(struct bind_line){BIND_ABSENT, expect->symbol, NULL, expect->library});
}

const char *const bind_mode_name[BIND_MODE_COUNT] = {"plain", "preloaded", "deepbind"};

enum { MORE_WORDS = 16, RESULT_MOST = 4096, SIZE_DIGITS = 24 };

// What wheelcache-dlopen does, for modules that need symbols of the interpreter.
static const char python_script[] = "import ctypes, os, resource, sys\n"
				    "result, deepbind, size, module, *libraries = sys.argv[1:]\n"
				    "for name in 'LD_DEBUG', 'LD_DEBUG_OUTPUT':\n"
				    "    os.environ.pop(name, None)\n"
				    "resource.setrlimit(resource.RLIMIT_FSIZE, (int(size), int(size)))\n"
				    "text = 'loaded'\n"
				    "try:\n"
				    "    for library in libraries:\n"
				    "        ctypes.CDLL(library, os.RTLD_NOW | os.RTLD_GLOBAL)\n"
				    "    deep = os.RTLD_DEEPBIND if deepbind == 'deepbind' else 0\n"
				    "    ctypes.CDLL(module, os.RTLD_NOW | os.RTLD_LOCAL | deep)\n"
				    "except OSError as error:\n"
				    "    text = str(error)\n"
				    "with open(result, 'w') as file:\n"
				    "    file.write(text)\n"
				    "os._exit(0)\n";

// A check of one module.
struct bind_work {
	const struct bind_options *options;
	struct bind_report *report;
	char *module;           // absolute, as the loader will call it
	struct strset preloads; // the same, in their order
	struct elf_facts facts;
	bool has_facts;
	struct probe probe;
};

// --- what the loader writes ---

// The bindings of a run: "SYMBOL\nTARGET", each once, without those that nothing is expected of.
static int add_binding(const struct bind_work *w, const struct bind_log_line *b, struct strset *bound, struct err *e)
{
	CLEANUP(mem_free) char *symbol = xstrndup(b->symbol.ptr, b->symbol.len);
	bool is_expected = false;
	for (size_t i = 0; i < w->options->expects && !is_expected; i++)
		is_expected = fnmatch(w->options->expect[i].symbol, symbol, 0) == 0;
	if (!is_expected)
		return 0;
	CLEANUP(mem_free) char *both = xasprintf("%s\n" STR_FMT, symbol, STR_ARG(b->to));
	strset_add(bound, both);
	if (bound->count < LIMIT_BINDINGS)
		return 0;
	strset_sort(bound); // a symbol is often bound many times
	if (bound->count <= LIMIT_BINDINGS / 2)
		return 0;
	return err_set(e, ERR_LIMIT, "%s: more than %d symbols are bound that were asked for", w->module,
		LIMIT_BINDINGS / 2);
}

static int open_bindings(const char *path, FILE **out, struct err *e)
{
	struct stat st;
	CLEANUP(mem_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(e, ERR_IO, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_INVALID, "%s is not what the dynamic loader wrote", path);
	if (st.st_size > LIMIT_BIND_FILE)
		return err_set(e, ERR_LIMIT, "the dynamic loader wrote more than %d bytes", LIMIT_BIND_FILE);
	*out = fdopen(fd, "r");
	if (!*out)
		return err_errno(e, ERR_IO, "%s", path);
	mem_steal_fd(&fd);
	return 0;
}

static void close_bindings(FILE **f)
{
	if (*f)
		fclose(*f);
}

static int read_bindings(const struct bind_work *w, const char *path, struct strset *bound, struct err *e)
{
	CLEANUP(mem_free) char *line = NULL;
	CLEANUP(close_bindings) FILE *f = NULL;
	size_t room = 0;
	struct bind_log_line binding;
	const struct str module = str_from(w->module);
	if (open_bindings(path, &f, e) < 0)
		return -1;
	for (ssize_t len; (len = getline(&line, &room, f)) > 0;)
		if (bind_log_parse(str_trim((struct str){line, (size_t)len}), &binding) &&
			str_eq(binding.from, module) && add_binding(w, &binding, bound, e) < 0)
			return -1;
	return 0;
}

// The loader appends the number of the process to the name that it is given. The module's processes may be several.
static int read_all_bindings(const struct bind_work *w, const char *prefix, struct strset *bound, struct err *e)
{
	size_t files = 0;
	int result = 0;
	CLEANUP(fs_close_dir) DIR *dir = opendir(w->probe.folder);
	if (!dir)
		return err_errno(e, ERR_IO, "%s", w->probe.folder);
	for (struct dirent *d; result == 0 && (d = readdir(dir));) {
		if (!str_starts(str_from(d->d_name), str_from(prefix)))
			continue;
		CLEANUP(mem_free) char *path = xasprintf("%s/%s", w->probe.folder, d->d_name);
		result = read_bindings(w, path, bound, e);
		files++;
	}
	if (result == 0 && !files)
		return err_set(e, ERR_IO,
			"the dynamic loader wrote nothing for LD_DEBUG=bindings; only glibc's reports bindings");
	strset_sort(bound);
	return result;
}

// --- the process ---

static size_t add_words(const char **words, size_t count, const char *const *more, size_t number)
{
	for (size_t i = 0; i < number; i++)
		words[count++] = more[i];
	return count;
}

// Why the module was not loaded; empty: it was. The file is written by a process that runs foreign code.
static void find_failure(const struct bind_work *w, const char *result, const struct run_outcome *outcome,
	const struct buf *output, struct buf *reason)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf text = buf_up_to(RESULT_MOST);
	bool has_ended_well = outcome->end == RUN_EXITED && outcome->code == 0;
	if (has_ended_well && fs_read_regular(result, &text, &e) == 0) {
		if (!str_eq(buf_view(&text), STR("loaded")))
			escape_terminal(reason, buf_view(&text));
		return;
	}
	buf_puts(reason, "the process that loads it: ");
	probe_print_end(&w->probe, outcome, reason);
	probe_print_last_line(output, reason);
}

static int run_mode(struct bind_work *w, enum bind_mode mode, struct err *e)
{
	struct bind_run *r = &w->report->run[mode];
	struct run_outcome outcome = {0};
	CLEANUP(mem_free) char *prefix = xasprintf("bindings-%s", bind_mode_name[mode]);
	CLEANUP(mem_free) char *result = xasprintf("%s/result-%s", w->probe.folder, bind_mode_name[mode]);
	CLEANUP(buf_release) struct buf output = buf_up_to(2 * LIMIT_PROBE_OUTPUT);
	CLEANUP(buf_release) struct buf reason = buf_up_to(2 * LIMIT_PROBE_OUTPUT);
	// env sets the variables, so that only the program that loads the module has them.
	const struct bind_options *o = w->options;
	char size[SIZE_DIGITS];
	snprintf(size, sizeof(size), "%d", LIMIT_BIND_FILE);
	CLEANUP(mem_free) char *debug = xasprintf("LD_DEBUG_OUTPUT=%s/%s", w->probe.folder, prefix);
	CLEANUP(mem_free) char *script = xasprintf("%s/load.py", w->probe.folder);
	CLEANUP(mem_free)
	const char **words = xcalloc(MORE_WORDS + o->variables + o->preloads, sizeof(*words));
	const char *const head[] = {"/usr/bin/env", "LD_DEBUG=bindings", debug};
	const char *const python[] = {o->python, script};
	const char *const arguments[] = {result, mode == BIND_DEEPBIND ? "deepbind" : "-", size, w->module};
	size_t n = add_words(words, 0, head, ARRAY_SIZE(head));
	n = add_words(words, n, o->variable, o->variables);
	n = o->python ? add_words(words, n, python, ARRAY_SIZE(python)) : add_words(words, n, &o->loader, 1);
	n = add_words(words, n, arguments, ARRAY_SIZE(arguments));
	add_words(words, n, (const char *const *)w->preloads.item, mode == BIND_PLAIN ? 0 : w->preloads.count);
	if (probe_run(&w->probe, words, &outcome, &output, e) < 0)
		return -1;
	find_failure(w, result, &outcome, &output, &reason);
	r->failure = reason.len ? buf_steal(&reason) : NULL;
	CLEANUP(strset_release) struct strset bound = {0};
	if (!r->failure && read_all_bindings(w, prefix, &bound, e) < 0)
		return -1;
	for (size_t i = 0; i < w->options->neededs; i++)
		bind_judge_needed(&w->facts, w->options->needed[i], &r->lines);
	for (size_t i = 0; i < w->options->expects && !r->failure; i++)
		bind_judge_symbols(&bound, &w->options->expect[i], &r->lines);
	r->errors = r->lines.errors + (r->failure != NULL);
	return 0;
}

// --- the whole check ---

// A name without a folder that is no file here is left to the loader, which looks for it where it looks for libraries.
static int find_preloads(struct bind_work *w, struct err *e)
{
	for (size_t i = 0; i < w->options->preloads; i++) {
		const char *given = w->options->preload[i];
		bool is_path = strchr(given, '/') || access(given, F_OK) == 0;
		CLEANUP(mem_free) char *found = is_path ? probe_path(given, e) : xstrdup(given);
		if (!found)
			return -1;
		strset_add(&w->preloads, found);
	}
	return 0;
}

static int check_module(struct bind_work *w, struct err *e)
{
	const struct bind_options *o = w->options;
	w->module = probe_path(o->module, e);
	if (!w->module || find_preloads(w, e) < 0 || bind_read_elf(w->module, &w->facts, e) < 0)
		return -1;
	w->has_facts = true;
	if (probe_open(&w->probe, o->seconds, o->stop, e) < 0 ||
		(o->python && probe_write(&w->probe, "load.py", python_script, e) < 0))
		return -1;
	for (enum bind_mode mode = BIND_PLAIN; mode < BIND_MODE_COUNT; mode++)
		if (mode == BIND_PRELOADED && !o->preloads)
			w->report->run[mode].skipped = "there is no --preload";
		else if (run_mode(w, mode, e) < 0)
			return -1;
	return 0;
}

static void release_bind_work(struct bind_work *w)
{
	if (w->has_facts)
		elf_facts_release(&w->facts);
	probe_close(&w->probe);
	strset_release(&w->preloads);
	free(w->module);
}

int bind_check(const struct bind_options *o, struct bind_report *out, struct err *e)
{
	CLEANUP(release_bind_work) struct bind_work w = {.options = o, .report = out, .probe = {.parent = -1}};
	*out = (struct bind_report){0};
	return check_module(&w, e);
}

void bind_report_release(struct bind_report *r)
{
	for (enum bind_mode mode = BIND_PLAIN; mode < BIND_MODE_COUNT; mode++) {
		free(r->run[mode].failure);
		free(r->run[mode].lines.line);
		arena_release(&r->run[mode].lines.text);
		r->run[mode].lines = (struct bind_lines){0};
	}
	*r = (struct bind_report){0};
}

// --- the output of the loader ---

// Cuts the text before the mark off *rest, and the mark. False: *rest has no such mark.
static bool cut_at(struct str *rest, struct str mark, struct str *before)
{
	const char *at = rest->len ? memmem(rest->ptr, rest->len, mark.ptr, mark.len) : NULL;
	if (!at)
		return false;
	*before = (struct str){rest->ptr, (size_t)(at - rest->ptr)};
	*rest = str_slice(*rest, before->len + mark.len, rest->len);
	return true;
}

// "FILE [0" at the end of a text: the number is that of a namespace (dlmopen(3)). A path may have brackets too.
static bool take_path(struct str text, struct str *path)
{
	size_t at = text.len;
	while (at && ascii_is_digit(text.ptr[at - 1]))
		at--;
	*path = str_slice(text, 0, at >= 2 ? at - 2 : 0);
	return at < text.len && path->len && path->ptr[path->len] == ' ' && path->ptr[path->len + 1] == '[';
}

// "f'" or "f' [B_1.0]": the symbol's name, then its version.
static bool take_symbol(struct str text, struct bind_log_line *out)
{
	if (!cut_at(&text, STR("'"), &out->symbol) || !out->symbol.len)
		return false;
	out->version = STR("");
	if (str_starts(text, STR(" [")) && str_ends(text, STR("]")))
		out->version = str_slice(text, 2, text.len - 1);
	return true;
}

bool bind_log_parse(struct str line, struct bind_log_line *out)
{
	// A newer loader may quote as 'f'.
	static const struct str kinds[] = {STR("]: normal symbol `"), STR("]: protected symbol `"),
		STR("]: normal symbol '"), STR("]: protected symbol '")};
	struct str pid, from, to;
	if (!cut_at(&line, STR(":\tbinding file "), &pid) || !cut_at(&line, STR("] to "), &from))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (cut_at(&line, kinds[i], &to))
			return take_path(from, &out->from) && take_path(to, &out->to) && take_symbol(line, out);
	return false;
}
