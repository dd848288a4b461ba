// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common/output.h"
#include "cli/common/command.h"
#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "auditor/compare/release-compare.h"
#include "auditor/compare/wheel-compare-forms.h"
#include "auditor/compare/compared-wheel.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/name.h"
#include "lib/os/fs.h"
#include "lib/place/place-posix.h"
#include "lib/state/catalog/catalog-attachment.h"
#include "lib/state/upstream/upstream-download.h"
#include "server/pages/html-layout.h"

#define UPSTREAM_PREFIX STR("upstream:")

enum { PRINTED = 50 };

// One of the two arguments, by its spelling.
enum pick_kind {
	PICK_PATH,    // a file
	PICK_STORE,   // PLATFORM/FILENAME or FILENAME, in the store
	PICK_RELEASE, // PROJECT==VERSION
};

struct compare_pick {
	const char *text; // as given
	enum pick_kind kind;
	bool is_upstream;    // after "upstream:"
	const char *project; // of PICK_RELEASE, in normal form
	const char *version;
	const char *platform; // of PICK_STORE; NULL: any
	const char *filename;
};

// A wheel of a release.
struct pick_choice {
	const struct platform *platform; // NULL: upstream's
	const char *filename, *requires_python;
	uint8_t sha256[SHA256_SIZE];
	bool has_sha256, is_yanked;
};

struct pick_choices {
	struct pick_choice *item; // by platform, then file name
	size_t count, room;
};

struct compare_command {
	struct session s;
	const char *html;
	bool is_markdown;
	struct compare_pick pick[2];
	bool has_store;
};

// --- the spelling of an argument ---

static bool is_wheel_name(struct str name)
{
	return filename_kind(name) == FILENAME_WHEEL;
}

static int parse_stored(struct compare_pick *p, const char *text, struct session *s, struct err *e)
{
	const char *slash = strchr(text, '/');
	p->kind = PICK_STORE;
	p->filename = slash ? slash + 1 : text;
	p->platform = slash ? arena_copy(&s->arena, (struct str){text, (size_t)(slash - text)}) : NULL;
	if (strchr(p->filename, '/') || !is_wheel_name(str_from(p->filename)) || (slash && p->is_upstream))
		return err_set(e, ERR_USAGE,
			"%s: expected a wheel: an existing FILE, PLATFORM/FILENAME, PROJECT==VERSION, or one of these "
			"of upstream: upstream:FILENAME, upstream:PROJECT==VERSION",
			p->text);
	return 0;
}

// A file that exists comes first, so that a path is never taken for something else. ERR_USAGE: it is none of these.
static int parse_pick(const char *text, struct session *s, struct compare_pick *out, struct err *e)
{
	struct stat st;
	*out = (struct compare_pick){.text = text};
	if (str_starts(str_from(text), UPSTREAM_PREFIX)) {
		out->is_upstream = true;
		text += UPSTREAM_PREFIX.len;
	} else if (stat(text, &st) == 0 && S_ISREG(st.st_mode)) {
		const char *slash = strrchr(text, '/');
		out->kind = PICK_PATH;
		out->filename = slash ? slash + 1 : text;
		return is_wheel_name(str_from(out->filename)) ? 0 : err_set(e, ERR_USAGE, "%s: no wheel", text);
	}
	if (!strstr(text, "=="))
		return parse_stored(out, text, s, e);
	const char *equals = strstr(text, "==");
	struct str project = {text, (size_t)(equals - text)};
	out->kind = PICK_RELEASE;
	out->version = equals + strlen("==");
	if (!name_is_valid(project))
		return err_set(e, ERR_USAGE, "%s: not the name of a project before ==", out->text);
	if (!version_is_valid(str_from(out->version)))
		return err_set(e, ERR_USAGE, "%s: not a version behind ==", out->text);
	out->project = session_project(s, project);
	return 0;
}

// --- the wheels that it may mean ---

struct choice_list {
	struct compare_command *command;
	const struct compare_pick *pick;
	const struct platform *platform; // of the files that are added; NULL: they are upstream's
	struct version version;          // of the release
	struct pick_choices *out;
};

// Whether there is one wheel: all have the same name and the same bytes.
static bool pick_choices_are_same(const struct pick_choices *c)
{
	for (size_t i = 1; i < c->count; i++)
		if (!c->item[i].has_sha256 || strcmp(c->item[i].filename, c->item[0].filename) != 0 ||
			memcmp(c->item[i].sha256, c->item[0].sha256, SHA256_SIZE) != 0)
			return false;
	return true;
}

// One a line, so that the operator can name one.
static void pick_choices_print(const struct pick_choices *c, FILE *out)
{
	for (size_t i = 0; i < c->count && i < PRINTED; i++)
		fprintf(out, "  %s%s%s\n", c->item[i].platform ? c->item[i].platform->name : "upstream",
			c->item[i].platform ? "/" : ":", c->item[i].filename);
	if (c->count > PRINTED)
		fprintf(out, "  and %zu more\n", c->count - PRINTED);
}

static bool is_of_python(const struct environment *env, const char *python)
{
	CLEANUP(buf_release) struct buf name = buf_up_to(64);
	python_print(&env->python, &name);
	return !python || strcmp(name.data, python) == 0;
}

static bool fits_platform(const struct platform *p, const struct filename *name, const char *python)
{
	struct err ignored = ERR_INIT;
	long best = -1;
	for (size_t i = 0; i < p->profile.environment_count; i++)
		if (is_of_python(&p->profile.environment[i], python) &&
			environment_best(&p->profile.environment[i], name, &best, &ignored) == 0 && best >= 0)
			return true;
	return false;
}

// Judges by the Python tags alone: "cp311", "py3" or "py311", and for the stable ABI also "cp3…" of an older version.
static bool fits_tags(const struct filename *name, const char *text)
{
	struct err ignored = ERR_INIT;
	struct python python;
	if (python_parse(str_from(text), &python, &ignored) < 0)
		return false;
	CLEANUP(mem_free) char *tag = xasprintf("%s%u%u", python.is_pypy ? "pp" : "cp", python.major, python.minor);
	CLEANUP(mem_free) char *pure = xasprintf("py%u", python.major);
	CLEANUP(mem_free) char *exact = xasprintf("py%u%u", python.major, python.minor);
	bool is_stable = str_starts(name->abi, STR("abi3"));
	for (struct str rest = name->python; rest.ptr;) {
		struct str one = str_cut(&rest, '.');
		if (str_eq(one, str_from(tag)) || str_eq(one, str_from(pure)) || str_eq(one, str_from(exact)) ||
			(is_stable && str_starts(one, STR("cp3"))))
			return true;
	}
	return false;
}

static bool is_chosen_platform(const struct choice_list *l, const struct platform *p)
{
	return store_is_wanted(l->command->s.globs.item, l->command->s.globs.count, p->name);
}

static bool is_of_pick(const struct choice_list *l, const char *filename)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(filename), &name, &ignored) < 0 || name.kind != FILENAME_WHEEL)
		return false;
	if (l->pick->kind != PICK_RELEASE)
		return strcmp(filename, l->pick->filename) == 0;
	if (version_cmp(&name.version, &l->version) != 0)
		return false;
	const char *python = l->command->s.python;
	if (!l->platform && l->command->s.globs.count) {
		const struct store *s = &l->command->s.store;
		for (size_t i = 0; i < s->platform_count; i++)
			if (is_chosen_platform(l, &s->platform[i]) &&
				fits_platform(&s->platform[i], &name, l->command->s.python))
				return true;
		return false;
	}
	if (!python)
		return true;
	if (l->platform && l->platform->profile.environment_count)
		return fits_platform(l->platform, &name, python);
	return fits_tags(&name, python);
}

static void add_choice(struct choice_list *l, const char *filename, const char *requires_python, bool is_yanked,
	const uint8_t *sha256)
{
	struct pick_choices *out = l->out;
	struct arena *arena = &l->command->s.arena;
	ARENA_GROW(arena, out->item, out->count, out->room);
	struct pick_choice *c = &out->item[out->count++];
	*c = (struct pick_choice){.platform = l->platform,
		.filename = arena_copy(arena, str_from(filename)),
		.requires_python = requires_python ? arena_copy(arena, str_from(requires_python)) : NULL,
		.is_yanked = is_yanked,
		.has_sha256 = sha256 != NULL};
	if (sha256)
		memcpy(c->sha256, sha256, SHA256_SIZE);
}

static int take_stored(void *ctx, const struct catalog_file *file, struct err *e UNUSED)
{
	struct choice_list *l = ctx;
	if (is_of_pick(l, file->filename))
		add_choice(l, file->filename, file->requires_python, file->yanked != NULL, file->sha256);
	return 0;
}

static int take_page(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct choice_list *l = ctx;
	if (!answer->page)
		return err_set(e,
			answer->result == UPSTREAM_NOT_FOUND || answer->result == UPSTREAM_ABSENT ? ERR_NOT_FOUND
												  : ERR_NET,
			"upstream: %s: %s", upstream_result_name[answer->result], answer->why);
	for (size_t i = 0; i < answer->page->files; i++) {
		const struct simplepage_file *f = &answer->page->file[i];
		if (is_of_pick(l, f->filename))
			add_choice(l, f->filename, f->requires_python, f->yanked != NULL,
				f->has_sha256 ? f->sha256 : NULL);
	}
	return 0;
}

static int list_project(struct choice_list *l, const char *project, struct err *e)
{
	if (l->pick->is_upstream)
		return upstream_ask(l->command->s.upstreams, l->command->s.catalog, project, take_page, l, e);
	const struct store *s = &l->command->s.store;
	for (size_t i = 0; i < s->platform_count; i++) {
		l->platform = &s->platform[i];
		if (is_chosen_platform(l, l->platform) && l->platform->id &&
			catalog_project_files(l->command->s.catalog, l->platform->id, project, take_stored, l, e) < 0)
			return -1;
	}
	return 0;
}

// Lists the wheels of a release, or all that may be meant by a name without platform. ERR_NOT_FOUND: upstream has none.
static int pick_choices_list(struct compare_command *x, const struct compare_pick *p, struct pick_choices *out,
	struct err *e)
{
	struct choice_list l = {.command = x, .pick = p, .out = out};
	CLEANUP(filename_release) struct filename name = {0};
	if (p->kind != PICK_RELEASE)
		return filename_parse(str_from(p->filename), &name, e) < 0 ? -1 : list_project(&l, name.project, e);
	if (version_parse(str_from(p->version), &l.version, e) < 0)
		return -1;
	int result = list_project(&l, p->project, e);
	version_release(&l.version);
	return result;
}

// --- opening one ---

// An open wheel.
struct picked_wheel {
	struct place_file *file; // owned
	const char *filename, *label;
	struct buf provenance; // the statement beside it; empty: none
};

static void picked_wheel_release(struct picked_wheel *w)
{
	place_file_close(&w->file);
	buf_release(&w->provenance);
}

// A statement that is absent is no error.
static int open_path(const char *path, struct picked_wheel *out, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(mem_free) char *beside = xasprintf("%s%s", path, attachment_ending[ATTACHMENT_STATEMENT]);
	out->file = place_posix_file(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	if (!out->file)
		return err_errno(e, ERR_IO, "%s", path);
	return fs_read_regular(beside, &out->provenance, &why) == 0 ? 0 : err_unless_missing(e, &why);
}

static int open_stored(const struct platform *p, struct catalog *c, const char *filename, struct picked_wheel *out,
	struct err *e)
{
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	if (catalog_find_file(c, p->id, filename, &place, e) < 0)
		return e->kind == ERR_NOT_FOUND
			       ? err_set(e, ERR_NOT_FOUND, "the catalog has no %s/%s", p->name, filename)
			       : -1;
	struct catalog_attached attached;
	out->file = place_open(p->place, place.path, e);
	if (!out->file)
		return -1;
	return catalog_attached(c, p->id, filename, ATTACHMENT_STATEMENT, &attached, &out->provenance, e) < 0 ? -1 : 0;
}

static int open_upstream(const struct compare_command *x, const char *filename, struct picked_wheel *out, struct err *e)
{
	struct upstream_download got;
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(filename), &name, e) < 0)
		return err_prefix(e, "%s: ", filename);
	if (upstream_download(&x->s.config, x->s.upstreams, x->s.catalog, name.project, filename, &got, e) < 0)
		return -1;
	out->file = place_posix_file(got.fd);
	return 0;
}

static int pick_one(struct compare_command *x, const struct compare_pick *p, struct picked_wheel *out, struct err *e)
{
	struct pick_choices choices = {0};
	if (pick_choices_list(x, p, &choices, e) < 0)
		return -1;
	if (!choices.count)
		return err_set(e, ERR_NOT_FOUND,
			"%s: there is no such wheel; wheelcache explain PROJECT lists those that there are", p->text);
	if (!pick_choices_are_same(&choices)) {
		pick_choices_print(&choices, stderr);
		return err_set(e, ERR_USAGE, "%s: %s: name one of them, or choose with --platform and --python",
			p->text, COUNTED(choices.count, "wheel|wheels"));
	}
	const struct pick_choice *choice = &choices.item[0];
	const char *where = choice->platform ? choice->platform->name : "upstream";
	out->filename = choice->filename;
	out->label = arena_printf(&x->s.arena, choice->platform ? "%s/%s" : "%s:%s", where, choice->filename);
	return choice->platform ? open_stored(choice->platform, x->s.catalog, choice->filename, out, e)
				: open_upstream(x, choice->filename, out, e);
}

// ERR_USAGE: there are several; they were printed to standard error. ERR_NOT_FOUND: there is none. The caller releases
// *out, whatever this returns.
static int open_pick(struct compare_command *x, const struct compare_pick *p, struct picked_wheel *out, struct err *e)
{
	*out = (struct picked_wheel){0};
	buf_init(&out->provenance, LIMIT_STATEMENT);
	if (p->kind == PICK_RELEASE || (p->kind == PICK_STORE && !p->platform && !p->is_upstream))
		return pick_one(x, p, out, e);
	out->filename = p->filename;
	out->label = p->text;
	if (p->kind == PICK_PATH)
		return open_path(p->text, out, e);
	if (p->is_upstream)
		return open_upstream(x, p->filename, out, e);
	const struct platform *found = store_platform_named(&x->s.store, str_from(p->platform));
	if (!found) {
		store_refuse_platform(&x->s.store, p->platform, ERR_NOT_FOUND, e);
		return err_prefix(e, "%s: no such file, and ", p->text);
	}
	return open_stored(found, x->s.catalog, p->filename, out, e);
}
// --- what the arguments need ---

static bool are_whole_releases(const struct compare_command *x)
{
	return x->pick[0].kind == PICK_RELEASE && x->pick[1].kind == PICK_RELEASE && !x->s.globs.count && !x->s.python;
}

static bool needs_store(const struct compare_command *x)
{
	for (int i = 0; i < 2; i++)
		if (x->pick[i].kind != PICK_PATH && !x->pick[i].is_upstream)
			return true;
	return x->s.globs.count;
}

static bool needs_upstream(const struct compare_command *x)
{
	return x->pick[0].is_upstream || x->pick[1].is_upstream;
}

// --- output ---

static int write_sheet(struct compare_command *x, const struct report_sheet *sheet, struct err *e)
{
	if (x->html) {
		CLEANUP(buf_release) struct buf page = buf_up_to(SIZE_MAX / 2);
		html_begin(&page, &(struct html_frame){0}, sheet->title, sheet->words);
		buf_puts(&page, "</header>\n");
		report_sheet_html(sheet, &page);
		html_end(&page, "comparison");
		return output_write_file("--html", x->html, buf_view(&page), e);
	}
	(x->is_markdown ? report_sheet_markdown : report_sheet_text)(sheet, &x->s.out);
	return 0;
}

// --- two wheels ---

static int read_picked(struct compare_command *x, const struct compare_pick *pick, struct compared_wheel *out,
	struct err *e)
{
	struct place_info info = {.kind = PLACE_UNKNOWN};
	struct err why = ERR_INIT;
	CLEANUP(picked_wheel_release) struct picked_wheel picked = {0};
	if (open_pick(x, pick, &picked, e) < 0)
		return -1;
	if (place_file_info(picked.file, &info, &why) < 0 || info.kind != PLACE_FILE)
		return err_set(e, ERR_INVALID, "%s: no regular file", picked.label);
	const struct compared_wheel_source from = {
		.label = picked.label,
		.filename = picked.filename,
		.bytes = place_file_source(picked.file, info.version.size),
		.catalog = x->s.catalog,
		.limits = {.unpacked = wheel_content_most(info.version.size), .members = LIMIT_ZIP_ENTRIES},
	};
	if (compared_wheel_read(&from, out, e) < 0)
		return -1;
	if (picked.provenance.len && compared_wheel_take_provenance(out, buf_view(&picked.provenance), &why) < 0)
		log_warn("%s: its provenance is left out: %s", picked.label, why.msg);
	return 0;
}

// --- two releases ---

static void list_release(const struct pick_choices *from, const struct platform *p, struct release_file *file,
	struct release_files *out)
{
	*out = (struct release_files){.file = file};
	for (size_t i = 0; i < from->count; i++)
		if (!from->item[i].platform || from->item[i].platform == p)
			file[out->count++] = (struct release_file){
				from->item[i].filename, from->item[i].requires_python, from->item[i].is_yanked};
}

// p NULL: there is no store.
static void add_platform(struct release_compare *r, const struct pick_choices from[2], const struct platform *p)
{
	CLEANUP(mem_free) struct release_file *a = xcalloc(from[0].count + 1, sizeof(*a));
	CLEANUP(mem_free) struct release_file *b = xcalloc(from[1].count + 1, sizeof(*b));
	struct release_files files[2];
	list_release(&from[0], p, a, &files[0]);
	list_release(&from[1], p, b, &files[1]);
	release_compare_platform(r, p ? p->name : NULL, p ? &p->profile : NULL, files);
}

static int compare_releases(struct compare_command *x, struct err *e)
{
	struct pick_choices choices[2] = {{0}, {0}};
	for (int i = 0; i < 2; i++) {
		if (pick_choices_list(x, &x->pick[i], &choices[i], e) < 0)
			return -1;
		if (!choices[i].count)
			return err_set(e, ERR_NOT_FOUND, "%s: there is no such wheel", x->pick[i].text);
	}
	CLEANUP(release_compare_release) struct release_compare r = {0};
	CLEANUP(report_sheet_release) struct report_sheet sheet = {0};
	release_compare_begin(&r, x->pick[0].text, x->pick[1].text);
	for (size_t i = 0; i < x->s.store.platform_count; i++)
		add_platform(&r, choices, &x->s.store.platform[i]);
	if (!x->has_store)
		add_platform(&r, choices, NULL);
	if (x->s.is_json) {
		session_json(&x->s, release_compare_json(&r));
		return 0;
	}
	release_compare_sheet(&r, &sheet);
	return write_sheet(x, &sheet, e);
}

static int take_words(struct compare_command *x, struct err *e)
{
	struct session *s = &x->s;
	struct python ignored;
	struct err why = ERR_INIT;
	if (s->words != 2)
		return err_set(e, ERR_USAGE, "expected A and B");
	if (s->is_json + x->is_markdown + (x->html != NULL) > 1)
		return err_set(e, ERR_USAGE, "--json, --html and --markdown exclude each other");
	if (s->python && python_parse(str_from(s->python), &ignored, &why) < 0)
		return err_set(e, ERR_USAGE, "--python %s: not a version of Python, such as 3.12", s->python);
	for (int i = 0; i < 2; i++)
		if (parse_pick(s->word[i], s, &x->pick[i], e) < 0)
			return -1;
	return 0;
}

static int run_compare(void *self, struct err *e)
{
	struct compare_command *x = self;
	struct session *s = &x->s;
	if (take_words(x, e) < 0)
		return -1;
	if (x->pick[0].kind == PICK_PATH && x->pick[1].kind == PICK_PATH)
		s->search = SESSION_SEARCH_VARIABLE;
	if (session_read(s, &s->config, e) < 0)
		return -1;
	// With a store configured, its catalog knows which names are ours alone.
	bool is_configured = s->config.store || s->config.catalog || s->config.platform_count;
	x->has_store = needs_store(x) || (needs_upstream(x) && is_configured);
	if (session_open(s,
		    (x->has_store ? SESSION_STORE | SESSION_READ | SESSION_FIND : 0) |
			    (needs_upstream(x) ? SESSION_UPSTREAM : 0),
		    e) < 0)
		return -1;
	if (are_whole_releases(x))
		return compare_releases(x, e);
	CLEANUP(compared_wheel_release) struct compared_wheel a = {0}, b = {0};
	CLEANUP(wheel_compare_release) struct wheel_compare result = {0};
	CLEANUP(report_sheet_release) struct report_sheet sheet = {0};
	if (read_picked(x, &x->pick[0], &a, e) < 0 || read_picked(x, &x->pick[1], &b, e) < 0)
		return -1;
	wheel_compare_make(&a.side, &b.side, &result);
	if (x->s.is_json) {
		session_json(&x->s, wheel_compare_json(&result));
		return 0;
	}
	wheel_compare_sheet(&result, &sheet);
	return write_sheet(x, &sheet, e);
}

static const struct option_row options[] = {
	{"html", '\0', "FILE", "write a page to FILE, which appears complete or not at all",
		TEXT(compare_command, html)},
	{"markdown", '\0', NULL, "print the result as Markdown", FLAG(compare_command, is_markdown)},
};

const struct command command_compare = {
	.name = "compare",
	.arguments = "A B",
	.help = "compare two wheels, or two releases",
	OPTIONS(options),
	.shared =
		SHARED_BASE | SHARED(STORE) | SHARED(PLATFORMS) | SHARED(PYTHON) | SHARED(UPSTREAM_URL) | SHARED(JSON),
	.size = sizeof(struct compare_command),
	.run = run_compare,
};
