// SPDX-License-Identifier: Apache-2.0
#include "builder/missing/known-projects.h"

#include <stdlib.h>
#include <string.h>

#include "builder/missing/our-files.h"
#include "lib/base/limits.h"
#include "lib/base/search.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/machine/marker.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/requirements-file.h"
#include "lib/domain/text/rfc822-fields.h"
#include "lib/domain/wheel/sdist.h"
#include "lib/format/toml.h"
#include "lib/net/fetch-pool.h"
#include "lib/os/fs.h"
#include "lib/state/config/state-files.h"
#include "lib/state/upstream/file-cache.h"
#include "lib/state/upstream/upstream-download.h"

enum {
	TRIES = 4,
	FIRST_PAUSE_MS = 250, // before the second try; doubled for each further one
	STATUS_OK = 200,
};

// Where a file of upstream is from.
struct known_origin {
	size_t upstream;
	const char *home; // the URL of the index, for requests only
};

struct known_project {
	const char *name;
	struct simplepage page;      // of upstream, as far as its files install
	struct known_origin *origin; // of each file of it
	struct index_files files;
	const struct closure_metadata **metadata; // of each of the files; NULL: not known yet
	size_t *note; // of each of the files: one more than its number among what is noted; 0: it is not
	size_t newest_note; // of the project: the same
	const char *says;
	bool is_known, is_certain;
};

// A file whose METADATA is wanted.
struct noted_file {
	struct known_projects *of;
	struct known_project *project;
	size_t file;
	size_t earlier; // the project's note before it, as newest_note
	unsigned tries;
	bool is_glance; // the file itself is not downloaded for it
	char *url;
};

struct known_projects {
	struct known_order order;
	struct known_project **item; // by name
	size_t count, room;
	const char **wanted; // names to be looked up
	size_t wants, want_room;
	struct noted_file *noted;
	size_t notes, note_room;
	uint64_t done, failed; // of the progress
	struct arena text;
};

struct known_projects *known_projects_new(const struct known_order *order)
{
	struct known_projects *k = xcalloc(1, sizeof(*k));
	k->order = *order;
	return k;
}

void known_projects_free(struct known_projects *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->count; i++) {
		index_files_release(&k->item[i]->files);
		free(k->item[i]->metadata);
		free(k->item[i]->note);
	}
	free(k->item);
	free(k->wanted);
	free(k->noted);
	arena_release(&k->text);
	free(k);
}

// --- what is known ---

static bool is_earlier_project(const void *item, const void *name)
{
	return strcmp((*(struct known_project *const *)item)->name, name) < 0;
}

static struct known_project *find_known_project(const struct known_projects *k, const char *name, size_t *at)
{
	*at = lower_bound(name, k->item, k->count, sizeof(*k->item), is_earlier_project);
	return *at < k->count && strcmp(k->item[*at]->name, name) == 0 ? k->item[*at] : NULL;
}

struct index_files *known_projects_files(void *ctx, const char *project)
{
	struct known_projects *k = ctx;
	size_t at;
	struct known_project *p = find_known_project(k, project, &at);
	if (p)
		return p->is_known ? &p->files : NULL;
	p = ARENA_NEW(&k->text, struct known_project, 1);
	p->name = arena_strdup(&k->text, project);
	p->says = "";
	GROW(k->item, k->count, k->room);
	memmove(&k->item[at + 1], &k->item[at], (k->count++ - at) * sizeof(*k->item));
	k->item[at] = p;
	GROW(k->wanted, k->wants, k->want_room);
	k->wanted[k->wants++] = p->name;
	return NULL;
}

static const struct closure_metadata *find_metadata(struct known_projects *k, struct index_files *of,
	const struct index_file *file, bool is_glance)
{
	size_t unused, number = (size_t)(file - of->file);
	struct known_project *p = find_known_project(k, of->project, &unused);
	if (p->metadata[number])
		return p->metadata[number];
	if (p->note[number]) {
		k->noted[p->note[number] - 1].is_glance &= is_glance;
		return NULL;
	}
	GROW(k->noted, k->notes, k->note_room);
	k->noted[k->notes++] = (struct noted_file){
		.of = k, .project = p, .file = number, .earlier = p->newest_note, .is_glance = is_glance};
	p->note[number] = p->newest_note = k->notes;
	return NULL;
}

const struct closure_metadata *known_projects_metadata(void *ctx, struct index_files *of, const struct index_file *file)
{
	return find_metadata(ctx, of, file, false);
}

const struct closure_metadata *known_projects_glance(struct known_projects *k, struct index_files *of,
	const struct index_file *file)
{
	return find_metadata(k, of, file, true);
}

const char *known_projects_says(struct known_projects *k, const char *project)
{
	size_t unused;
	const struct known_project *p = find_known_project(k, project, &unused);
	return p ? p->says : NULL;
}

bool known_projects_is_certain(struct known_projects *k, const char *project)
{
	size_t unused;
	const struct known_project *p = find_known_project(k, project, &unused);
	return p && p->is_certain;
}

// --- pages ---

// Whether a file installs in one of the places: only such ones are kept in memory.
static bool is_of_use(const struct index_files *files, const struct index_file *f)
{
	for (size_t i = 0; i < files->fits->places; i++)
		if (index_files_micros(files, i, f))
			return true;
	return false;
}

static void copy_page_file(struct known_projects *k, struct known_project *p, const struct upstream_answer *answer,
	const struct simplepage_file *f)
{
	struct arena *text = &k->text;
	const struct upstream_home home = upstream_home(answer, f);
	struct simplepage_file *to = &p->page.file[p->page.files];
	*to = *f;
	to->filename = arena_strdup(text, f->filename);
	to->url = arena_strdup(text, f->url);
	to->requires_python = arena_strdup(text, f->requires_python);
	to->yanked = f->yanked ? "" : NULL;
	to->provenance = to->upload_time = NULL;
	p->origin[p->page.files++] = (struct known_origin){home.number, arena_strdup(text, home.url)};
}

struct known_page_taking {
	struct known_projects *k;
	struct known_project *project;
};

static void take_known_page(struct known_projects *k, struct known_project *p, const struct upstream_answer *answer)
{
	CLEANUP(index_files_release) struct index_files all;
	index_files_init(&all, p->name, k->order.fits);
	index_files_add_page(&all, answer->page, 0);
	p->page.file = ARENA_NEW(&k->text, struct simplepage_file, all.count);
	p->origin = ARENA_NEW(&k->text, struct known_origin, all.count);
	for (size_t i = 0; i < all.count; i++)
		if (is_of_use(&all, &all.file[i]))
			copy_page_file(k, p, answer, all.file[i].upstream);
	index_files_add_page(&p->files, &p->page, 0);
}

static int take_answer_of_project(void *ctx, const struct upstream_answer *a, struct err *e UNUSED)
{
	static const enum upstream_result certain[] = {
		UPSTREAM_KNOWN, UPSTREAM_ABSENT, UPSTREAM_NOT_FOUND, UPSTREAM_QUARANTINED, UPSTREAM_PRIVATE};
	struct known_page_taking *x = ctx;
	struct known_project *p = x->project;
	for (size_t i = 0; i < ARRAY_SIZE(certain); i++)
		p->is_certain |= a->result == certain[i];
	if (a->result != UPSTREAM_KNOWN)
		p->says = arena_printf(&x->k->text, "upstream: %s%s%s", upstream_result_name[a->result],
			a->why && *a->why ? ": " : "", a->why ? a->why : "");
	else if (a->page)
		take_known_page(x->k, p, a);
	return 0;
}

static int know_project(struct known_projects *k, struct known_project *p, struct err *e)
{
	size_t unused;
	const struct platform *last = NULL;
	const struct known_order *o = &k->order;
	struct known_page_taking taking = {k, p};
	index_files_init(&p->files, p->name, o->fits);
	if (upstream_load_cached(o->upstreams, o->catalog, p->name, take_answer_of_project, &taking, e) < 0)
		return -1;
	for (size_t i = 0; i < o->fits->places; i++) {
		const struct platform *own = o->fits->place[i].platform;
		if (own != last && our_files_add(o->catalog, own, o->denied, o->options->view, &p->files, e) < 0)
			return -1;
		last = own;
	}
	index_files_admitted(&p->files, "", &unused); // puts them in their order, and so gives them their numbers
	p->metadata = xcalloc(p->files.count + 1, sizeof(*p->metadata));
	p->note = xcalloc(p->files.count + 1, sizeof(*p->note));
	p->is_known = true;
	return 0;
}

static int count_answer(void *ctx, const struct upstream_answer *answer, struct err *e UNUSED)
{
	struct known_projects *k = ctx;
	k->done++;
	k->failed += answer->result != UPSTREAM_KNOWN && answer->result != UPSTREAM_ABSENT &&
		     answer->result != UPSTREAM_NOT_FOUND && answer->result != UPSTREAM_PRIVATE;
	if (k->order.options->progress)
		k->order.options->progress(k->order.options->ctx, k->done, k->count, k->failed);
	return 0;
}

static int check_text(const struct known_projects *k, struct err *e)
{
	if (k->text.total <= LIMIT_SIMPLEPAGE_TEXT) // all pages together, as far as they are kept
		return 0;
	return err_set(e, ERR_LIMIT, "the pages and metadata of the projects have more than %d MB: name fewer projects",
		LIMIT_SIMPLEPAGE_TEXT >> 20);
}

static int get_projects(struct known_projects *k, struct err *e)
{
	const struct known_order *o = &k->order;
	size_t at;
	if (check_text(k, e) < 0)
		return -1;
	if (!o->options->is_offline && k->wants &&
		upstream_lookup(o->upstreams, o->catalog, k->wanted, k->wants, count_answer, k, e) < 0)
		return -1;
	for (size_t i = 0; i < k->wants; i++)
		if (know_project(k, find_known_project(k, k->wanted[i], &at), e) < 0 || check_text(k, e) < 0)
			return -1;
	k->wants = 0;
	return 0;
}

// --- what METADATA says ---

struct needs_reading {
	struct known_projects *k;
	struct closure_need *need;
	size_t needs, room;
};

static const char *const *split_extras(struct arena *text, struct str list, size_t *count)
{
	size_t room = 0;
	const char **extra = NULL;
	*count = 0;
	while (list.len) {
		CLEANUP(buf_release) struct buf name = buf_up_to(LIMIT_REQUIREMENT_LINE);
		name_normalize(str_trim(str_cut(&list, ',')), &name);
		ARENA_GROW(text, extra, *count, room);
		extra[(*count)++] = arena_copy(text, buf_view(&name));
	}
	return extra;
}

static int take_need(void *ctx, const struct requirements_line *line, struct err *e)
{
	struct needs_reading *x = ctx;
	struct arena *text = &x->k->text;
	if (line->url.len)
		return err_set(e, ERR_INVALID, "it wants %s by its URL, which no index decides about", line->project);
	if (x->needs == LIMIT_RESOLVE_NEEDS)
		return err_set(e, ERR_LIMIT, "it has more than %d requirements", LIMIT_RESOLVE_NEEDS);
	if (line->marker.len && marker_check(line->marker, e) < 0)
		return -1;
	GROW(x->need, x->needs, x->room);
	struct closure_need *need = &x->need[x->needs++];
	*need = (struct closure_need){.project = arena_strdup(text, line->project),
		.specifier = arena_copy(text, line->specifier),
		.marker = arena_copy(text, line->marker)};
	need->extra = split_extras(text, line->extras, &need->extras);
	return 0;
}

// What an sdist requires may be known only when it is built (PEP 643).
static const char *find_doubt(struct str metadata)
{
	struct str version = STR(""), rest = metadata;
	struct rfc822_field f;
	static const char doubt[] = "it may require more than its PKG-INFO says: only a build tells";
	rfc822_fields_first(metadata, STR("Metadata-Version"), &version);
	struct str minor = version, major = str_cut(&minor, '.');
	if (!str_eq(major, STR("2")) || minor.len != 1 || minor.ptr[0] < '2')
		return doubt;
	while (rfc822_fields_next(&rest, &f))
		if (str_eq_nocase(f.name, STR("Dynamic")) && str_eq_nocase(str_trim(f.value), STR("Requires-Dist")))
			return doubt;
	return NULL;
}

static const struct closure_need *keep_needs(struct needs_reading *x)
{
	struct arena *text = &x->k->text;
	const struct closure_need *kept = x->needs ? arena_memdup(text, x->need, x->needs * sizeof(*x->need)) : NULL;
	free(x->need);
	x->need = NULL;
	return kept;
}

static struct closure_metadata *read_metadata(struct known_projects *k, const char *filename, struct str metadata)
{
	struct closure_metadata *out = ARENA_NEW(&k->text, struct closure_metadata, 1);
	struct needs_reading x = {.k = k};
	struct rfc822_field f;
	struct err e = ERR_INIT;
	struct str licence = metadata_licence(metadata), rest = metadata;
	while (!out->fault && rfc822_fields_next(&rest, &f))
		if (str_eq_nocase(f.name, STR("Requires-Dist")) && requirements_line_read(f.value, take_need, &x, &e) < 0)
			out->fault = arena_printf(&k->text, "%s: its METADATA: Requires-Dist: %s", filename, e.msg);
	out->licence = licence.len ? arena_copy(&k->text, licence) : NULL;
	out->doubt = filename_kind(str_from(filename)) == FILENAME_SDIST ? find_doubt(metadata) : NULL;
	out->needs = x.needs;
	out->need = keep_needs(&x);
	return out;
}

// --- build requirements ---

// Without a pyproject.toml, or without its [build-system], pip takes setuptools (PEP 518).
static int read_build_needs(struct needs_reading *x, struct buf *pyproject, struct err *e)
{
	CLEANUP(toml_release) struct toml t = {0};
	if (pyproject->len && toml_read(pyproject->data, pyproject->len, &t, e) < 0)
		return err_prefix(e, "pyproject.toml:");
	const struct toml_value *system = pyproject->len ? toml_get(&t, &t.root, STR("build-system")) : NULL;
	const struct toml_value *requires = system ? toml_get(&t, system, STR("requires")) : NULL;
	if (!requires)
		return requirements_line_read(STR("setuptools>=40.8.0"), take_need, x, e);
	for (const struct toml_value *v = toml_first(requires); v; v = toml_next(v))
		if (requirements_line_read(toml_text(v), take_need, x, e) < 0)
			return err_prefix(e, "pyproject.toml:%u: requires: ", v->line);
	return 0;
}

static int add_build_needs(struct known_projects *k, const struct byte_source *bytes, const char *filename,
	struct closure_metadata *out, struct err *e)
{
	struct needs_reading x = {.k = k};
	CLEANUP(buf_release) struct buf pyproject = buf_up_to(LIMIT_METADATA);
	int result = sdist_read_pyproject(bytes, str_from(filename), &pyproject, e) < 0
			     ? -1
			     : read_build_needs(&x, &pyproject, e);
	out->build_needs = x.needs;
	out->build_need = keep_needs(&x);
	return result;
}

// --- whole files ---

static const struct closure_metadata *fail_metadata(struct known_projects *k, const char *filename, const char *why)
{
	struct closure_metadata *out = ARENA_NEW(&k->text, struct closure_metadata, 1);
	out->fault = arena_printf(&k->text, "%s: %s", filename, why);
	return out;
}

static int examine_file(const char *filename, const struct byte_source *bytes, struct wheel *wheel, struct err *e)
{
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(filename), &name, e) < 0)
		return -1;
	return name.kind == FILENAME_WHEEL ? wheel_examine(bytes, &name, LENIENT, wheel, e)
					   : sdist_examine(bytes, str_from(filename), LENIENT, &name, wheel, e);
}

// Of an open file, which it closes.
static const struct closure_metadata *read_whole(struct known_projects *k, const char *filename, int fd, uint64_t size)
{
	struct err e = ERR_INIT;
	struct byte_source bytes = byte_source_file(fd, size);
	struct closure_metadata *out = NULL;
	CLEANUP(wheel_release) struct wheel wheel;
	wheel_init(&wheel);
	int result = examine_file(filename, &bytes, &wheel, &e);
	if (result == 0) {
		out = read_metadata(k, filename, buf_view(&wheel.metadata));
		if (filename_kind(str_from(filename)) == FILENAME_SDIST)
			result = add_build_needs(k, &bytes, filename, out, &e);
	}
	mem_close(&fd);
	return result < 0 ? fail_metadata(k, filename, e.msg) : out;
}

static void download_whole(struct noted_file *n)
{
	struct known_projects *k = n->of;
	const struct known_order *o = &k->order;
	struct upstream_download got = {.fd = -1};
	struct err e = ERR_INIT;
	const struct index_file *f = &n->project->files.file[n->file];
	const struct closure_metadata *is =
		o->options->is_offline
			? fail_metadata(k, f->filename, "its METADATA is not here, and upstream is not asked")
		: upstream_download(o->config, o->upstreams, o->catalog, n->project->name, f->filename, &got, &e) < 0
			? fail_metadata(k, f->filename, e.msg)
			: read_whole(k, f->filename, got.fd, got.size);
	n->project->metadata[n->file] = is;
}

// --- what is here already ---

static const struct known_origin *origin_of(const struct noted_file *n)
{
	return &n->project->origin[n->project->files.file[n->file].upstream - n->project->page.file];
}

// Opens a file of the cache. -1: it is not there.
static int peek(const struct noted_file *n, const char *suffix, const uint8_t *sha256, uint64_t *size)
{
	const struct known_order *o = &n->of->order;
	const struct index_file *f = &n->project->files.file[n->file];
	CLEANUP(mem_free) char *cache = state_file_upstream(&o->config->upstreams.item[origin_of(n)->upstream],
		catalog_path(o->catalog));
	CLEANUP(mem_free) char *name = xasprintf("%s%s", f->filename, suffix);
	return sha256 ? file_cache_peek(cache, n->project->name, name, sha256, size) : -1;
}

static const struct closure_metadata *read_kept_metadata(struct noted_file *n)
{
	uint64_t size;
	struct err ignored = ERR_INIT;
	const struct index_file *f = &n->project->files.file[n->file];
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_METADATA);
	CLEANUP(mem_close)
	int fd = f->is_wheel && f->upstream->has_metadata_sha256
			 ? peek(n, ".metadata", f->upstream->metadata_sha256, &size)
			 : -1;
	if (fd >= 0 && fs_read_fd(fd, f->filename, &text, &ignored) == 0)
		return read_metadata(n->of, f->filename, buf_view(&text));
	int whole = peek(n, "", f->sha256, &size);
	return whole < 0 ? NULL : read_whole(n->of, f->filename, whole, size);
}

static const struct closure_metadata *read_our_metadata(struct noted_file *n)
{
	struct err e = ERR_INIT;
	struct catalog_place place;
	struct catalog *catalog = n->of->order.catalog;
	const struct index_file *f = &n->project->files.file[n->file];
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_METADATA);
	if (catalog_find_file(catalog, f->platform, f->filename, &place, &e) < 0)
		return fail_metadata(n->of, f->filename, e.msg);
	int found = place.has_metadata ? catalog_metadata(catalog, place.metadata_sha256, &text, &e)
				       : err_set(&e, ERR_NOT_FOUND, "the catalog has no METADATA of it");
	catalog_place_release(&place);
	return found < 0 ? fail_metadata(n->of, f->filename, e.msg) : read_metadata(n->of, f->filename, buf_view(&text));
}

// Another file of the project may have the same METADATA.
static const struct closure_metadata *find_same_metadata(const struct noted_file *n)
{
	const struct known_project *p = n->project;
	const struct simplepage_file *u = p->files.file[n->file].upstream;
	for (size_t i = 0; i < p->files.count && u->has_metadata_sha256 && p->files.file[n->file].is_wheel; i++) {
		const struct simplepage_file *other = p->files.file[i].upstream;
		if (p->metadata[i] && other && other->has_metadata_sha256 &&
			memcmp(other->metadata_sha256, u->metadata_sha256, SHA256_SIZE) == 0)
			return p->metadata[i];
	}
	return NULL;
}

static void look_here(struct noted_file *n)
{
	const struct closure_metadata **out = &n->project->metadata[n->file];
	if (!n->project->files.file[n->file].upstream) {
		*out = read_our_metadata(n);
		return;
	}
	*out = find_same_metadata(n);
	if (!*out)
		*out = read_kept_metadata(n);
}

// --- upstream's METADATA ---

static void send_metadata_request(struct noted_file *n);

static const char *take_metadata_answer(struct noted_file *n, const struct fetch_result *r)
{
	uint8_t sha256[SHA256_SIZE];
	const struct index_file *f = &n->project->files.file[n->file];
	if (r->failure != FETCH_WHOLE)
		return r->why;
	if (r->answer->status != STATUS_OK)
		return "upstream does not send its METADATA";
	digest_sha256(buf_view(&r->answer->body), sha256);
	if (memcmp(sha256, f->upstream->metadata_sha256, SHA256_SIZE) != 0)
		return "its METADATA does not have the SHA-256 that upstream's page says";
	n->project->metadata[n->file] = read_metadata(n->of, f->filename, buf_view(&r->answer->body));
	return NULL;
}

static void on_metadata_done(void *ctx, const struct fetch_result *result)
{
	struct noted_file *n = ctx;
	const struct index_file *f = &n->project->files.file[n->file];
	unsigned status = result->answer ? result->answer->status : 0;
	bool is_passing = result->failure != FETCH_WHOLE || status == 429 || status >= 500;
	if (is_passing && ++n->tries < TRIES) {
		send_metadata_request(n);
		return;
	}
	const char *why = take_metadata_answer(n, result);
	if (why)
		n->project->metadata[n->file] = fail_metadata(n->of, f->filename, why);
}

static void send_metadata_request(struct noted_file *n)
{
	const struct known_origin *origin = origin_of(n);
	const struct fetch_request request = {
		.url = n->url,
		.configured_url = origin->home,
		.delay_ms = n->tries ? (uint64_t)FIRST_PAUSE_MS << n->tries : 0,
		.limit = LIMIT_METADATA,
		.on_done = on_metadata_done,
		.ctx = n,
	};
	fetch_pool_get(upstream_pool(upstreams_item(n->of->order.upstreams, origin->upstream)), &request);
}

// Of files with the same METADATA the first one asks for all.
static bool is_asked_already(const struct noted_file *n)
{
	const struct known_project *p = n->project;
	const uint8_t *sha256 = p->files.file[n->file].upstream->metadata_sha256;
	for (size_t i = n->earlier; i; i = n->of->noted[i - 1].earlier) {
		const struct noted_file *other = &n->of->noted[i - 1];
		if (other->url && memcmp(p->files.file[other->file].upstream->metadata_sha256, sha256, SHA256_SIZE) == 0)
			return true;
	}
	return false;
}

static void fetch_metadata_of_upstream(struct known_projects *k)
{
	for (size_t i = 0; i < k->notes; i++) {
		struct noted_file *n = &k->noted[i];
		const struct simplepage_file *u = n->project->files.file[n->file].upstream;
		if (n->project->metadata[n->file] || !n->project->files.file[n->file].is_wheel || !u->has_metadata_sha256 ||
			is_asked_already(n))
			continue;
		n->url = arena_printf(&k->text, "%s.metadata", u->url);
		send_metadata_request(n);
	}
	for (size_t i = 0; i < upstreams_count(k->order.upstreams); i++)
		fetch_pool_run(upstream_pool(upstreams_item(k->order.upstreams, i)));
}

// What a glance does not find stays unknown.
static void get_metadata(struct known_projects *k)
{
	for (size_t i = 0; i < k->notes; i++)
		look_here(&k->noted[i]);
	if (!k->order.options->is_offline)
		fetch_metadata_of_upstream(k);
	for (size_t i = 0; i < k->notes; i++) {
		struct noted_file *n = &k->noted[i];
		const struct closure_metadata **out = &n->project->metadata[n->file];
		if (!*out && n->project->files.file[n->file].upstream)
			*out = find_same_metadata(n);
		if (!*out && !n->is_glance)
			download_whole(n);
		n->project->note[n->file] = n->project->newest_note = 0;
	}
	k->notes = 0;
}

int known_projects_get(struct known_projects *k, struct err *e)
{
	if (get_projects(k, e) < 0)
		return -1;
	get_metadata(k);
	return check_text(k, e);
}
