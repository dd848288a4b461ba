// SPDX-License-Identifier: Apache-2.0
#include "builder/missing/branch.h"

#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/suggest.h"
#include "lib/domain/lock/lock-wants.h"
#include "lib/domain/machine/marker.h"
#include "lib/domain/text/requirements-file.h"
#include "lib/domain/text/specifier.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"

// --- the files of a branch ---

struct branch_reader {
	struct branch *branch;
	struct arena *text;
	size_t line_room, file_room, lock_room;
	size_t packages; // of locks
	size_t named;    // files, however often
	size_t read;     // bytes of files
};

// A file that is being read, with the files that lead to it.
struct branch_file {
	const struct branch_file *parent; // NULL: the configuration names the file
	struct branch_reader *reader;
	const char *path;
	bool is_constraints;
	unsigned depth;
	size_t lines;
};

static int check_text_limit(const struct branch_reader *r, struct err *e)
{
	if (r->text->total > LIMIT_BRANCH_TEXT || r->read > LIMIT_BRANCH_TEXT)
		return err_set(e, ERR_USAGE, "the files of all branches have more than %d MB", LIMIT_BRANCH_TEXT >> 20);
	return 0;
}

static int add_line(struct branch_file *f, const struct requirements_line *line, struct err *e)
{
	struct branch_reader *r = f->reader;
	struct branch *b = r->branch;
	if (f->is_constraints && line->extras.len)
		return err_set(e, ERR_USAGE, "a constraint cannot have extras");
	if (line->marker.len && marker_check(line->marker, e) < 0)
		return -1;
	if (b->lines == LIMIT_BRANCH_LINES)
		return err_set(e, ERR_USAGE, "the branch has more than %d lines", LIMIT_BRANCH_LINES);
	CLEANUP(mem_free) char *source = xasprintf("%s:%u", f->path, line->number);
	GROW(b->line, b->lines, r->line_room);
	b->line[b->lines] = (struct branch_line){
		.project = arena_copy(r->text, str_from(line->project)),
		.specifier = arena_copy(r->text, line->specifier),
		.marker = arena_copy(r->text, line->marker),
		.extras = arena_copy(r->text, line->extras),
		.source = arena_copy(r->text, str_from(source)),
		.order = b->lines,
		.number = line->number,
		.is_constraint = f->is_constraints,
		.is_pinned = specifier_set_pins(line->specifier, NULL),
		.has_url = line->url.len > 0,
	};
	b->lines++;
	b->has_requirements |= !f->is_constraints;
	return check_text_limit(r, e);
}

static int read_branch_file(struct branch_reader *r, const char *path, bool is_constraints,
	const struct branch_file *parent, struct err *e);

// The path in -r or -c is relative to the file that has it.
static int read_included(const struct branch_file *f, struct str argument, bool is_constraints, struct err *e)
{
	long slash = str_rfind(str_from(f->path), '/');
	bool is_absolute = str_starts(argument, STR("/"));
	CLEANUP(mem_free)
	char *path = xasprintf("%.*s" STR_FMT, is_absolute ? 0 : (int)(slash + 1), f->path, STR_ARG(argument));
	if (memmem(argument.ptr, argument.len, "://", 3))
		return err_set(e, ERR_USAGE, "\"" STR_FMT "\" is a URL; only files are read", STR_ARG(argument));
	if (strlen(path) >= LIMIT_PATH)
		return err_set(e, ERR_USAGE, "the path has more than %d bytes", LIMIT_PATH - 1);
	return read_branch_file(f->reader, path, is_constraints, f, e);
}

static int on_line(void *ctx, const struct requirements_line *line, struct err *e)
{
	struct branch_file *f = ctx;
	f->lines++;
	switch (line->kind) {
	case REQUIREMENTS_LINE_PROJECT:
		return add_line(f, line, e);
	case REQUIREMENTS_LINE_INCLUDE: // gives requirements, also in a constraints file, as in pip
		return read_included(f, line->argument, false, e);
	case REQUIREMENTS_LINE_CONSTRAINTS:
		return read_included(f, line->argument, true, e);
	case REQUIREMENTS_LINE_PRE:
		f->reader->branch->allows_pre = true;
		return 0;
	case REQUIREMENTS_LINE_EDITABLE:
		return err_set(e, ERR_USAGE, REQUIREMENTS_EDITABLE_WORDS);
	case REQUIREMENTS_LINE_OPTION: // where files come from is for the configuration to say
		break;
	}
	return 0;
}

static int read_branch_file(struct branch_reader *r, const char *path, bool is_constraints,
	const struct branch_file *parent, struct err *e)
{
	struct branch_file f = {.parent = parent,
		.reader = r,
		.path = path,
		.is_constraints = is_constraints,
		.depth = parent ? parent->depth + 1 : 1};
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_REQUIREMENTS);
	if (++f.reader->named > LIMIT_BRANCH_FILES) // a few files that name each other in many spellings are as many
		return err_set(e, ERR_USAGE, "the branch names more than %d files", LIMIT_BRANCH_FILES);
	if (f.depth > LIMIT_BRANCH_DEPTH)
		return err_set(e, ERR_USAGE, "files include each other more than %d deep", LIMIT_BRANCH_DEPTH);
	for (const struct branch_file *p = f.parent; p; p = p->parent)
		if (strcmp(p->path, f.path) == 0)
			return err_set(e, ERR_USAGE, "%s includes itself", f.path);
	// A file may be read twice: as requirements and as constraints.
	const char *kind = f.is_constraints ? "constraints" : "requirements";
	struct branch *b = r->branch;
	for (size_t i = 0; i < b->files; i++)
		if (strcmp(b->file[i].kind, kind) == 0 && strcmp(b->file[i].path, f.path) == 0)
			return 0;
	f.path = arena_copy(r->text, str_from(f.path));
	GROW(b->file, b->files, r->file_room);
	b->file[b->files++] = (struct branch_source){.path = f.path, .kind = kind};
	if (fs_read_regular(path, &text, e) < 0)
		return -1;
	r->read += text.len;
	digest_sha256(buf_view(&text), r->branch->file[r->branch->files - 1].sha256);
	if (check_text_limit(r, e) < 0 || requirements_file_read(buf_view(&text), f.path, on_line, &f, e) < 0)
		return -1;
	return f.lines ? check_text_limit(r, e) : err_set(e, ERR_USAGE, "%s: it has no line", path);
}

// --- locks ---

static int add_locked_version(struct branch_reader *r, const char *path, const struct lock_package *p, size_t package,
	struct err *e)
{
	struct branch *b = r->branch;
	if (p->source || !p->version)
		return 0; // no index decides about it, or the lock does not
	if (b->lines == LIMIT_BRANCH_LINES)
		return err_set(e, ERR_USAGE, "the branch has more than %d lines", LIMIT_BRANCH_LINES);
	GROW(b->line, b->lines, r->line_room);
	b->line[b->lines] = (struct branch_line){
		.project = arena_copy(r->text, str_from(p->project)),
		.specifier = arena_printf(r->text, "==%s", p->version),
		.marker = "",
		.extras = "",
		.source = arena_printf(r->text, "%s:%u", path, p->line),
		.order = b->lines,
		.is_pinned = true,
		.is_locked = true,
		.package = package,
	};
	b->lines++;
	return check_text_limit(r, e);
}

static int read_branch_lock(struct branch_reader *r, const char *path, struct err *e)
{
	struct branch *b = r->branch;
	if (++r->named > LIMIT_BRANCH_FILES)
		return err_set(e, ERR_USAGE, "the branch names more than %d files", LIMIT_BRANCH_FILES);
	const struct lock_memo *m = lock_memo_read(path, e);
	if (!m)
		return -1;
	GROW(b->lock, b->locks, r->lock_room);
	b->lock[b->locks++] = m;
	r->read += m->bytes;
	GROW(b->file, b->files, r->file_room);
	struct branch_source *source = &b->file[b->files++];
	*source = (struct branch_source){.path = arena_copy(r->text, str_from(path)), .kind = "lock"};
	memcpy(source->sha256, m->sha256, SHA256_SIZE);
	const struct lock *l = &m->lock;
	for (size_t i = 0; i < l->packages; i++)
		if (add_locked_version(r, path, &l->package[i], r->packages + i, e) < 0)
			return -1;
	r->packages += l->packages;
	return check_text_limit(r, e);
}

// --- patterns ---

// A file that a key of a branch names.
static int read_named_file(struct branch_reader *r, const char *key, const char *path, struct err *e)
{
	return strcmp(key, "locks") == 0 ? read_branch_lock(r, path, e)
					 : read_branch_file(r, path, strcmp(key, "constraints") == 0, NULL, e);
}

// A folder that is not there only means that no file matches.
static int on_glob_error(const char *path UNUSED, int error)
{
	return error != ENOENT && error != ENOTDIR;
}

static int read_glob(struct branch_reader *r, const char *key, const char *pattern, struct err *e)
{
	CLEANUP(globfree) glob_t found = {0};
	switch (glob(pattern, 0, on_glob_error, &found)) {
	case 0:
		break;
	case GLOB_NOMATCH:
		return err_set(e, ERR_USAGE, "no file matches %s", pattern);
	default:
		return err_set(e, ERR_IO, "%s: a folder of it cannot be read", pattern);
	}
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (read_named_file(r, key, found.gl_pathv[i], e) < 0)
			return -1;
	return 0;
}

// The value of one key: paths and globs, or NULL.
static int read_patterns(struct branch_reader *r, const char *key, const char *patterns, struct err *e)
{
	for (struct str rest = str_from(patterns ? patterns : ""); rest.len;) {
		struct str word = str_cut(&rest, ' ');
		CLEANUP(mem_free) char *pattern = xstrndup(word.ptr, word.len);
		int read =
			strpbrk(pattern, "*?[") ? read_glob(r, key, pattern, e) : read_named_file(r, key, pattern, e);
		if (read < 0)
			return err_prefix(e, "[branch %s] %s: ", r->branch->name, key);
	}
	return 0;
}

// --- the lines of a branch ---

static int compare_lines(const void *left, const void *right)
{
	const struct branch_line *a = left, *b = right;
	int order = strcmp(a->project, b->project);
	return order ? order : a->order < b->order ? -1 : 1;
}

static bool line_wants(const struct branch *b, const struct branch_line *line)
{
	if (line->is_locked)
		return true;
	return b->has_requirements ? !line->is_constraint : line->is_pinned || line->has_url;
}

static size_t count_of_project(const struct branch *b, size_t first)
{
	size_t n = 1;
	while (first + n < b->lines && strcmp(b->line[first].project, b->line[first + n].project) == 0)
		n++;
	return n;
}

bool branch_is_over(const struct config_branch *config, int64_t now)
{
	int64_t end;
	return config->until && clock_read_end(config->until, &end) && now > end;
}

static int read_branch(struct branches *all, const struct config_branch *config, int64_t now, struct err *e)
{
	struct branch *b = &all->branch[all->count++];
	*b = (struct branch){.name = config->name, .config = config, .is_over = branch_is_over(config, now)};
	struct branch_reader r = {.branch = b, .text = &all->text};
	if (b->is_over)
		return 0;
	if (read_patterns(&r, "constraints", config->constraints, e) < 0 ||
		read_patterns(&r, "requirements", config->requirements, e) < 0 ||
		read_patterns(&r, "locks", config->locks, e) < 0)
		return -1;
	if (b->lines)
		qsort(b->line, b->lines, sizeof(*b->line), compare_lines);
	bool wants = false;
	for (size_t i = 0; i < b->lines; i++)
		wants |= line_wants(b, &b->line[i]);
	if (!wants)
		return err_set(e, ERR_USAGE,
			"[branch %s]: its files have neither a requirement nor a pinned constraint nor a locked version",
			b->name);
	for (size_t i = 0, n; i < b->lines; i += n) {
		size_t length = 0;
		n = count_of_project(b, i);
		for (size_t k = i; k < i + n && !b->line[k].is_locked; k++)
			length += strlen(b->line[k].specifier) + 1;
		if (length > LIMIT_BRANCH_SPECIFIERS)
			return err_set(e, ERR_USAGE, "[branch %s]: the specifiers of %s have more than %d bytes",
				b->name, b->line[i].project, LIMIT_BRANCH_SPECIFIERS);
	}
	return 0;
}

static int read_branches(const struct config *c, const char *glob, int64_t now, struct branches *out, struct err *e)
{
	out->branch = xcalloc(c->branch_count + 1, sizeof(*out->branch));
	if (!c->branch_count)
		return err_set(e, ERR_USAGE,
			"the configuration has no [branch]; [branch NAME] with requirements or constraints says what is wanted");
	for (size_t i = 0; i < c->branch_count; i++) {
		bool is_asked = !glob || fnmatch(glob, c->branches[i].name, 0) == 0;
		if (is_asked && read_branch(out, &c->branches[i], now, e) < 0)
			return -1;
	}
	if (out->count)
		return 0;
	CLEANUP(name_choice_release) struct name_choice names;
	name_choice_init(&names, str_from(glob));
	for (size_t i = 0; i < c->branch_count; i++)
		name_choice_add(&names, c->branches[i].name);
	return name_choice_refuse(&names, ERR_USAGE, "no [branch] is named", e);
}

int branches_read(const struct config *c, const char *glob, int64_t now, struct branches *out, struct err *e)
{
	*out = (struct branches){.branch = NULL};
	if (read_branches(c, glob, now, out, e) == 0)
		return 0;
	branches_release(out);
	if (e->kind != ERR_IO)
		e->kind = ERR_USAGE;
	return -1;
}

int branches_read_file(const char *path, struct branches *out, struct err *e)
{
	*out = (struct branches){.branch = xcalloc(1, sizeof(*out->branch)), .count = 1};
	struct branch *b = out->branch;
	struct branch_reader r = {.branch = b, .text = &out->text};
	int result = read_branch_file(&r, path, false, NULL, e);
	if (result == 0 && !b->has_requirements)
		result = err_set(e, ERR_USAGE, "%s: it has no requirement", path);
	if (result == 0) {
		qsort(b->line, b->lines, sizeof(*b->line), compare_lines);
		return 0;
	}
	branches_release(out);
	e->kind = e->kind == ERR_IO || e->kind == ERR_NOT_FOUND ? e->kind : ERR_USAGE;
	return -1;
}

void branches_release(struct branches *b)
{
	for (size_t i = 0; i < b->count; i++) {
		for (size_t k = 0; k < b->branch[i].locks; k++)
			lock_memo_unref(b->branch[i].lock[k]);
		free(b->branch[i].lock);
		free(b->branch[i].line);
		free(b->branch[i].file);
	}
	free(b->branch);
	arena_release(&b->text);
	*b = (struct branches){.branch = NULL};
}

// --- what a branch wants ---

bool branch_has_platform(const struct branch *b, const char *platform)
{
	struct str rest = str_from(b->config->platforms ? b->config->platforms : "*");
	while (rest.len) {
		struct str word = str_cut(&rest, ' ');
		CLEANUP(mem_free) char *glob = xstrndup(word.ptr, word.len);
		if (fnmatch(glob, platform, 0) == 0)
			return true;
	}
	return false;
}

bool branch_has_python(const struct branch *b, const struct python *p)
{
	if (!b->config->pythons)
		return true;
	for (struct str rest = str_trim(str_from(b->config->pythons)); rest.len; rest = str_trim(rest)) {
		struct python one;
		struct err unsaid = ERR_INIT;
		if (python_parse(str_cut(&rest, ' '), &one, &unsaid) == 0 && one.is_pypy == p->is_pypy &&
			one.is_free_threaded == p->is_free_threaded && one.major == p->major && one.minor == p->minor)
			return true;
	}
	return false;
}

// The lines of one project, and the micro versions on which each holds.
struct project_lines {
	const struct branch *branch;
	const struct branch_line *line;
	size_t count;
	uint64_t *micros;
	struct arena *text;
};

struct want_list {
	struct branch_want *item;
	size_t count, room;
};

static bool has_specifier_before(const struct project_lines *p, size_t i, unsigned micro)
{
	for (size_t k = 0; k < i; k++)
		if (p->micros[k] >> micro & 1 && strcmp(p->line[k].specifier, p->line[i].specifier) == 0)
			return true;
	return false;
}

static const char *join_specifiers(const struct project_lines *p, unsigned micro)
{
	CLEANUP(buf_release) struct buf out = buf_up_to(LIMIT_BRANCH_SPECIFIERS);
	for (size_t i = 0; i < p->count; i++) {
		if (!(p->micros[i] >> micro & 1) || !*p->line[i].specifier || has_specifier_before(p, i, micro))
			continue;
		buf_puts(&out, out.len ? "," : "");
		buf_puts(&out, p->line[i].specifier);
	}
	return arena_copy(p->text, buf_view(&out));
}

// A want of the same project that is the same but for its micro versions; NULL: there is none.
static struct branch_want *find_want(struct want_list *wants, size_t first, const struct branch_want *want)
{
	for (size_t i = first; i < wants->count; i++)
		if (wants->item[i].has_url == want->has_url && strcmp(wants->item[i].specifier, want->specifier) == 0)
			return &wants->item[i];
	return NULL;
}

// Adds a want for the first of these micro versions and those of them on which the same lines hold, which it returns.
// The wants of the project begin at first.
static uint64_t add_want(struct want_list *wants, size_t first, const struct project_lines *p, uint64_t left)
{
	unsigned micro = (unsigned)__builtin_ctzll(left);
	struct branch_want want = {.project = p->line->project,
		.specifier = join_specifiers(p, micro),
		.micros = left,
		.allows_pre = p->branch->allows_pre};
	want.is_pinned = specifier_set_pins(str_from(want.specifier), NULL);
	for (size_t i = 0; i < p->count; i++) {
		bool holds = p->micros[i] >> micro & 1;
		want.micros &= holds ? p->micros[i] : ~p->micros[i];
		want.has_url |= holds && p->line[i].has_url;
		if (holds && !want.source && line_wants(p->branch, &p->line[i]))
			want.source = p->line[i].source;
	}
	struct branch_want *same = find_want(wants, first, &want);
	if (same) {
		same->micros |= want.micros;
		return want.micros;
	}
	GROW(wants->item, wants->count, wants->room);
	wants->item[wants->count++] = want;
	return want.micros;
}

static void add_project_wants(struct want_list *wants, const struct project_lines *p)
{
	const struct branch_line *first = NULL;
	uint64_t left = 0;
	for (size_t i = 0; i < p->count; i++) {
		if (!line_wants(p->branch, &p->line[i]))
			continue;
		left |= p->micros[i];
		first = first ? first : &p->line[i];
	}
	if (first && !left) {
		GROW(wants->item, wants->count, wants->room);
		wants->item[wants->count++] = (struct branch_want){.project = first->project,
			.specifier = "",
			.allows_pre = p->branch->allows_pre,
			.source = first->source};
	}
	for (size_t begin = wants->count; left;)
		left &= ~add_want(wants, begin, p, left);
}

static int evaluate_lines(struct project_lines *p, const struct machine *machine, const struct python *python,
	struct err *e)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct branch_line *line = &p->line[i];
		p->micros[i] = UINT64_MAX;
		if (*line->marker && marker_micros(str_from(line->marker), machine, python, &p->micros[i], e) < 0)
			return err_prefix(e, "%s: ", line->source);
	}
	return 0;
}

// What each lock of a branch wants in an environment: the micro versions of each package. The caller frees it.
static int find_locked_micros(const struct branch *b, const struct machine *machine, const struct python *python,
	uint64_t **out, struct err *e)
{
	static const struct marker_choice all = {.all_extras = true, .all_groups = true};
	size_t packages = 0, at = 0;
	for (size_t i = 0; i < b->locks; i++)
		packages += b->lock[i]->lock.packages;
	*out = xcalloc(packages + 1, sizeof(**out));
	for (size_t i = 0; i < b->locks; at += b->lock[i++]->lock.packages)
		if (lock_wants(&b->lock[i]->lock, machine, python, &all, *out + at, e) < 0)
			return err_prefix(e, "[branch %s]: ", b->name);
	return 0;
}

// Locks are of several projects, so what they pin of one is not joined: each version is wanted.
static void add_locked_wants(struct want_list *wants, size_t first, const struct branch *b,
	const struct branch_line *line, size_t count, const uint64_t *micros)
{
	for (size_t i = 0; i < count; i++) {
		struct branch_want want = {.project = line[i].project,
			.specifier = line[i].specifier,
			.micros = micros[line[i].package],
			.is_pinned = true,
			.allows_pre = b->allows_pre,
			.source = line[i].source};
		struct branch_want *same = find_want(wants, first, &want);
		if (same) {
			same->micros |= want.micros;
		} else if (want.micros) {
			GROW(wants->item, wants->count, wants->room);
			wants->item[wants->count++] = want;
		}
	}
}

int branch_wants(const struct branch *b, const struct machine *machine, const struct python *python, struct arena *text,
	struct branch_want **out, size_t *count, struct err *e)
{
	struct want_list wants = {.item = NULL};
	CLEANUP(mem_free) uint64_t *micros = xcalloc(b->lines + 1, sizeof(*micros));
	CLEANUP(mem_free) uint64_t *locked = NULL;
	if (find_locked_micros(b, machine, python, &locked, e) < 0)
		return -1;
	for (size_t i = 0, n; i < b->lines; i += n) {
		size_t own = 0, first = wants.count;
		n = count_of_project(b, i);
		while (own < n && !b->line[i + own].is_locked) // what locks pin comes last
			own++;
		struct project_lines p = {b, &b->line[i], own, micros, text};
		if (evaluate_lines(&p, machine, python, e) < 0) {
			free(wants.item);
			return -1;
		}
		add_project_wants(&wants, &p);
		add_locked_wants(&wants, first, b, &b->line[i + own], n - own, locked);
	}
	*out = wants.item;
	*count = wants.count;
	return 0;
}
