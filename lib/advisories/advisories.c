// SPDX-License-Identifier: Apache-2.0
#include "lib/advisories/advisories.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/advisories/advisory-source.h"
#include "lib/advisories/osv-record.h"
#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/strset.h"
#include "lib/format/digest.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/place/record.h"
#include "lib/state/config/state-files.h"

enum { NAME_DIGITS = 32 };

struct block_source {
	char *path;
	struct advisory_list *list;
	char *error;     // NULL: the last look found nothing wrong
	enum err_kind kind; // of it, if check_source() found it
	int64_t failed;  // seconds since 1970
	uint64_t broken; // the fingerprint of what could not be read; it is not read again until it differs
};

struct block_rule { // of an upstream
	char *upstream;
	unsigned least; // severity in tenths; 0: only malware is hidden
	size_t *source;
	size_t sources;
};

struct advisories {
	_Atomic unsigned owners;
	char *folder; // in the state
	struct block_source *source;
	size_t sources, source_room;
	struct block_rule *rule;
	size_t rules;
};

struct advisories *advisories_ref(struct advisories *a)
{
	if (a)
		atomic_fetch_add(&a->owners, 1);
	return a;
}

void advisories_cleanup(struct advisories **a)
{
	advisories_unref(*a);
	*a = NULL;
}

void advisories_unref(struct advisories *a)
{
	if (!a || atomic_fetch_sub(&a->owners, 1) > 1)
		return;
	for (size_t i = 0; i < a->sources; i++) {
		free(a->source[i].path);
		free(a->source[i].error);
		advisory_list_unref(a->source[i].list);
	}
	for (size_t i = 0; i < a->rules; i++) {
		free(a->rule[i].upstream);
		free(a->rule[i].source);
	}
	free(a->source);
	free(a->rule);
	free(a->folder);
	free(a);
}

// --- which sources there are ---

static size_t add_source(struct advisories *a, struct str path)
{
	for (size_t i = 0; i < a->sources; i++)
		if (str_eq(path, str_from(a->source[i].path)))
			return i;
	GROW(a->source, a->sources, a->source_room);
	a->source[a->sources] = (struct block_source){.path = xstrndup(path.ptr, path.len)};
	return a->sources++;
}

unsigned advisory_least_severity(const char *word)
{
	static const struct {
		const char *word;
		unsigned least;
	} words[] = {{"low", 1}, {"medium", 40}, {"high", 70}, {"critical", 90}}; // section 5 of CVSS 3.1, 6 of 4.0
	for (size_t i = 0; word && i < ARRAY_SIZE(words); i++)
		if (strcmp(word, words[i].word) == 0)
			return words[i].least;
	return 0;
}

static void add_rule(struct advisories *a, const struct config_upstream *u)
{
	size_t room = 0;
	struct block_rule *rule = &a->rule[a->rules++];
	*rule = (struct block_rule){.upstream = xstrdup(u->name), .least = advisory_least_severity(u->block_severity)};
	struct str rest = str_from(u->block ? u->block : "");
	while (rest.len) {
		size_t source = add_source(a, str_cut(&rest, ' '));
		GROW(rule->source, rule->sources, room);
		rule->source[rule->sources++] = source;
	}
}

// --- the state ---

static void name_of_list(const char *path, char out[NAME_DIGITS + 1])
{
	uint8_t sha256[SHA256_SIZE];
	digest_sha256(str_from(path), sha256);
	hex_encode(sha256, NAME_DIGITS / 2, out);
	out[NAME_DIGITS] = '\0';
}

static int read_source(struct block_source *s, struct place_folder *folder, struct err *e)
{
	char name[NAME_DIGITS + 1];
	name_of_list(s->path, name);
	if (advisory_source_read(s->path, &advisory_limits, folder, name, e) < 0 || place_sync(folder, e) < 0)
		return -1;
	struct advisory_list *list = advisory_list_open(folder, name, e);
	if (!list)
		return err_prefix(e, "the list of %s in the state: ", s->path);
	advisory_list_unref(s->list);
	s->list = list;
	return 0;
}

static void log_source(const struct block_source *s)
{
	struct advisory_list_state f;
	advisory_list_state(s->list, &f);
	struct str first = str_cut(&f.notes, '\n');
	log_info("block list %s: %s", s->path, COUNTED(f.records, "record|records"));
	if (f.wrong)
		log_warn("block list %s: %s the schema, and block all versions of what they name, such as " STR_FMT,
			s->path, COUNTED(f.wrong, "record breaks|records break"), STR_ARG(first));
}

static int open_source(struct block_source *s, struct place_folder *folder, struct err *e)
{
	char name[NAME_DIGITS + 1];
	struct err why = ERR_INIT;
	name_of_list(s->path, name);
	s->list = advisory_list_open(folder, name, &why);
	if (!s->list && read_source(s, folder, e) < 0)
		return err_prefix(e, "[upstream] block: ");
	log_source(s);
	return 0;
}

static struct advisories *advisories_new(const struct config *c, const char *catalog_path, struct err *e)
{
	struct advisories *a = xcalloc(1, sizeof(*a));
	atomic_init(&a->owners, 1);
	a->folder = state_file(c, catalog_path, STATE_FILE_ADVISORIES);
	a->rule = xcalloc(c->upstreams.count + 1, sizeof(*a->rule));
	for (size_t i = 0; i < c->upstreams.count; i++)
		add_rule(a, &c->upstreams.item[i]);
	if (a->sources <= LIMIT_ADVISORY_SOURCES)
		return a;
	advisories_unref(a);
	err_set(e, ERR_USAGE, "[upstream] block: more than %d files and folders", LIMIT_ADVISORY_SOURCES);
	return NULL;
}

int advisories_open(const struct config *c, const char *catalog_path, struct advisories **out, struct err *e)
{
	struct advisories *a = *out = advisories_new(c, catalog_path, e);
	if (!a)
		return -1;
	CLEANUP(place_folder_close)
	struct place_folder *folder = a->sources ? record_secret_folder(a->folder, "", true, e) : NULL;
	int result = a->sources && !folder ? -1 : 0;
	for (size_t i = 0; i < a->sources && result == 0; i++)
		result = open_source(&a->source[i], folder, e);
	if (result < 0)
		advisories_unref(STEAL_PTR(*out));
	return result;
}

// The list in the state, if there is one.
static void find_list(struct block_source *s, struct place_folder *folder)
{
	struct err none = ERR_INIT;
	char name[NAME_DIGITS + 1];
	name_of_list(s->path, name);
	s->list = folder ? advisory_list_open(folder, name, &none) : NULL;
}

int advisories_look(const struct config *c, const char *catalog_path, struct err *e)
{
	struct err none = ERR_INIT;
	struct advisories *a = advisories_new(c, catalog_path, e);
	CLEANUP(place_folder_close)
	struct place_folder *folder = a && a->sources ? record_secret_folder(a->folder, "", false, &none) : NULL;
	int result = a ? 0 : -1;
	for (size_t i = 0; result == 0 && i < a->sources; i++) {
		bool is_settled;
		uint64_t fingerprint;
		if (access(a->source[i].path, R_OK) == 0)
			continue; // to open a list of all of PyPI takes longer than most commands
		find_list(&a->source[i], folder);
		if (!a->source[i].list && advisory_source_look(a->source[i].path, &fingerprint, &is_settled, e) < 0)
			result = err_prefix(e, "[upstream] block: ");
	}
	advisories_unref(a);
	return result;
}

static void check_source(struct block_source *s, struct place_folder *folder)
{
	bool is_settled;
	uint64_t fingerprint = 0;
	struct err e = ERR_INIT;
	struct advisory_list_state known = {0};
	find_list(s, folder);
	if (s->list)
		advisory_list_state(s->list, &known);
	if (advisory_source_look(s->path, &fingerprint, &is_settled, &e) < 0 ||
		(fingerprint != known.fingerprint &&
			advisory_source_read(s->path, &advisory_limits, NULL, NULL, &e) < 0)) {
		s->error = xstrdup(e.msg);
		s->kind = e.kind;
	}
}

int advisories_check(const struct config *c, const char *catalog_path, advisories_source_fn *fn, void *ctx,
	struct err *e)
{
	struct err none = ERR_INIT;
	struct advisories *a = advisories_new(c, catalog_path, e);
	if (!a)
		return -1;
	CLEANUP(place_folder_close) struct place_folder *folder = record_secret_folder(a->folder, "", false, &none);
	for (size_t i = 0; i < a->sources; i++) {
		struct advisories_source source;
		check_source(&a->source[i], folder);
		advisories_source(a, i, &source);
		fn(ctx, &source);
	}
	advisories_unref(a);
	return 0;
}

// --- reading again ---

// True: what is known of the source has changed.
static bool blame_source(struct block_source *s, uint64_t fingerprint, const struct err *why)
{
	bool is_new = !s->error || strcmp(s->error, why->msg) != 0;
	s->broken = fingerprint;
	if (!is_new)
		return false;
	log_error("block list %s: it is not read again, and the last one counts: %s", s->path, why->msg);
	s->failed = s->error ? s->failed : clock_wall_seconds();
	free(s->error);
	s->error = xstrdup(why->msg);
	return true;
}

static bool renew_source(struct block_source *s, struct place_folder *folder)
{
	bool is_settled;
	uint64_t fingerprint;
	struct err e = ERR_INIT;
	struct advisory_list_state known;
	advisory_list_state(s->list, &known);
	if (advisory_source_look(s->path, &fingerprint, &is_settled, &e) < 0)
		return blame_source(s, 0, &e);
	if (!is_settled || fingerprint == (s->error ? s->broken : known.fingerprint))
		return false; // it may still be written: the next look reads it
	if (fingerprint != known.fingerprint && read_source(s, folder, &e) < 0)
		return blame_source(s, fingerprint, &e);
	free(STEAL_PTR(s->error));
	s->broken = 0;
	log_source(s);
	return true;
}

static struct advisories *copy_of(const struct advisories *a)
{
	struct advisories *copy = xcalloc(1, sizeof(*copy));
	atomic_init(&copy->owners, 1);
	copy->folder = xstrdup(a->folder);
	copy->sources = a->sources;
	copy->source = xcalloc(a->sources + 1, sizeof(*copy->source));
	for (size_t i = 0; i < a->sources; i++) {
		copy->source[i] = a->source[i];
		copy->source[i].path = xstrdup(a->source[i].path);
		copy->source[i].error = a->source[i].error ? xstrdup(a->source[i].error) : NULL;
		advisory_list_ref(copy->source[i].list);
	}
	copy->rules = a->rules;
	copy->rule = xcalloc(a->rules + 1, sizeof(*copy->rule));
	for (size_t i = 0; i < a->rules; i++) {
		const struct block_rule *rule = &a->rule[i];
		copy->rule[i] = *rule;
		copy->rule[i].upstream = xstrdup(rule->upstream);
		copy->rule[i].source = xcalloc(rule->sources + 1, sizeof(*rule->source));
		if (rule->sources)
			memcpy(copy->rule[i].source, rule->source, rule->sources * sizeof(*rule->source));
	}
	return copy;
}

static int collect_list(void *ctx, const char *name, enum place_kind kind UNUSED, struct err *e UNUSED)
{
	strset_add(ctx, name);
	return 0;
}

// Removes lists of sources that are not configured any more.
static void sweep_lists(const struct advisories *a, struct place_folder *folder)
{
	struct err e = ERR_INIT;
	CLEANUP(strset_release) struct strset there = {0}, wanted = {0};
	for (size_t i = 0; i < a->sources; i++) {
		char name[NAME_DIGITS + 1];
		name_of_list(a->source[i].path, name);
		strset_add(&wanted, name);
	}
	strset_sort(&wanted);
	if (record_names(folder, collect_list, &there, &e) < 0)
		log_debug("%s", e.msg);
	for (size_t i = 0; i < there.count; i++)
		if (strlen(there.item[i]) == NAME_DIGITS && !strset_has(&wanted, there.item[i]) &&
			place_remove(folder, there.item[i], NULL, &e) < 0)
			log_debug("%s", e.msg);
}

struct advisories *advisories_renew(const struct advisories *a)
{
	bool is_changed = false;
	struct err e = ERR_INIT;
	if (!a->sources)
		return NULL;
	struct advisories *copy = copy_of(a);
	CLEANUP(place_folder_close) struct place_folder *folder = record_secret_folder(a->folder, "", true, &e);
	for (size_t i = 0; i < copy->sources; i++)
		is_changed |= folder ? renew_source(&copy->source[i], folder) : blame_source(&copy->source[i], 0, &e);
	if (is_changed && folder)
		sweep_lists(copy, folder);
	if (!is_changed)
		advisories_unref(STEAL_PTR(copy));
	return copy;
}

int advisories_open_renewed(const struct config *c, const char *catalog_path, struct advisories **out, struct err *e)
{
	if (advisories_open(c, catalog_path, out, e) < 0)
		return -1;
	struct advisories *newer = advisories_renew(*out);
	if (newer) {
		advisories_unref(*out);
		*out = newer;
	}
	return 0;
}

// --- what is hidden ---

static const struct block_rule *rule_of(const struct advisories *a, const char *upstream)
{
	for (size_t i = 0; a && i < a->rules; i++)
		if (a->rule[i].sources && strcmp(a->rule[i].upstream, upstream) == 0)
			return &a->rule[i];
	return NULL;
}

static bool is_hidden_by(const struct block_rule *rule, const struct advisory *a)
{
	return a->is_malicious || a->is_wrong || (rule->least && a->severity >= rule->least);
}

// A version, whose key is only made for projects of a list.
struct asked_version {
	struct str text, key;
	struct arena arena;
	bool has_key;
};

static struct str key_of(struct asked_version *v)
{
	if (!v->has_key)
		v->key = osv_version_key(v->text, &v->arena);
	v->has_key = true;
	return v->key;
}

bool advisories_know(const struct advisories *a, const char *upstream, struct str project)
{
	const struct block_rule *rule = rule_of(a, upstream);
	for (size_t i = 0; rule && i < rule->sources; i++)
		if (advisory_list_project(a->source[rule->source[i]].list, project))
			return true;
	return false;
}

bool advisories_concern(const struct advisories *a, const char *upstream)
{
	return rule_of(a, upstream) != NULL;
}

bool advisories_find(const struct advisories *a, const char *upstream, struct str project, struct str version,
	struct advisory *out)
{
	bool is_found = false;
	struct asked_version asked = {.text = version};
	const struct block_rule *rule = rule_of(a, upstream);
	for (size_t i = 0; rule && i < rule->sources; i++) {
		struct advisory worst;
		const struct advisory_list *list = a->source[rule->source[i]].list;
		uint32_t found = advisory_list_project(list, project);
		if (!found || !advisory_list_worst(list, found, version, key_of(&asked), &worst) ||
			!is_hidden_by(rule, &worst) || (is_found && !advisory_is_worse(&worst, out)))
			continue;
		*out = worst;
		is_found = true;
	}
	arena_release(&asked.arena);
	return is_found;
}

struct hidden_records {
	const struct block_rule *rule;
	advisory_fn *fn;
	void *ctx;
	struct advisory worst;
	size_t stretches, hidden;
};

static bool tell_hidden(void *ctx, const struct advisory *a)
{
	const struct hidden_records *h = ctx;
	return !is_hidden_by(h->rule, a) || h->fn(h->ctx, a);
}

void advisories_each(const struct advisories *a, const char *upstream, struct str project, struct str version,
	advisory_fn *fn, void *ctx)
{
	struct asked_version asked = {.text = version};
	struct hidden_records h = {.rule = rule_of(a, upstream), .fn = fn, .ctx = ctx};
	for (size_t i = 0; h.rule && i < h.rule->sources; i++) {
		const struct advisory_list *list = a->source[h.rule->source[i]].list;
		uint32_t found = advisory_list_project(list, project);
		if (found)
			advisory_list_each(list, found, version, key_of(&asked), tell_hidden, &h);
	}
	arena_release(&asked.arena);
}

void advisories_about(const struct advisories *a, struct str project, struct str version, advisory_fn *fn, void *ctx)
{
	struct asked_version asked = {.text = version};
	for (size_t i = 0; a && i < a->sources; i++) {
		const struct advisory_list *list = a->source[i].list;
		uint32_t found = advisory_list_project(list, project);
		if (found)
			advisory_list_each(list, found, version, key_of(&asked), fn, ctx);
	}
	arena_release(&asked.arena);
}

static bool count_stretch(void *ctx, const struct advisory *a)
{
	struct hidden_records *h = ctx;
	bool is_hidden = a && is_hidden_by(h->rule, a);
	h->stretches++;
	h->hidden += is_hidden;
	if (is_hidden && (!h->worst.id.len || advisory_is_worse(a, &h->worst)))
		h->worst = *a;
	return is_hidden;
}

bool advisories_cover(const struct advisories *a, const char *upstream, struct str project, struct advisory *out)
{
	const struct block_rule *rule = rule_of(a, upstream);
	for (size_t i = 0; rule && i < rule->sources; i++) {
		struct hidden_records h = {.rule = rule};
		const struct advisory_list *list = a->source[rule->source[i]].list;
		advisory_list_stretches(list, advisory_list_project(list, project), count_stretch, &h);
		if (h.stretches && h.stretches == h.hidden) {
			*out = h.worst;
			return true;
		}
	}
	return false;
}

void advisory_reason(const struct advisory *a, struct buf *out)
{
	buf_printf(out, STR_FMT ": ", STR_ARG(a->id));
	if (a->is_malicious)
		buf_puts(out, "malware");
	else if (!a->is_wrong)
		buf_printf(out, "vulnerability of severity %u.%u", a->severity / 10, a->severity % 10);
	if (a->is_wrong)
		buf_printf(out, "%sits record is malformed, so all versions are blocked",
			a->is_malicious ? ", and " : "");
}

// --- sources ---

size_t advisories_sources(const struct advisories *a)
{
	return a ? a->sources : 0;
}

const struct advisory_list *advisories_list(const struct advisories *a, size_t source)
{
	return a->source[source].list;
}

void advisories_source(const struct advisories *a, size_t source, struct advisories_source *out)
{
	const struct block_source *s = &a->source[source];
	*out = (struct advisories_source){
		.path = s->path, .error = s->error, .kind = s->kind, .failed = s->failed};
	if (s->list)
		advisory_list_state(s->list, &out->state);
}

// --- as a document ---

static struct jsondoc *source_doc(const struct advisories_source *s, bool has_folders)
{
	struct jsondoc *doc = jsondoc_new("list:s records:d loaded:T malformed:d", fs_path_as_told(s->path, has_folders),
		s->state.records, s->state.loaded, s->state.wrong);
	struct jsondoc *notes = jsondoc_array();
	for (struct str rest = s->state.notes; rest.len && has_folders;) {
		struct str line = str_cut(&rest, '\n');
		CLEANUP(mem_free) char *text = xstrndup(line.ptr, line.len);
		jsondoc_add(notes, jsondoc_of_str(text));
	}
	jsondoc_put(doc, "malformed-records", notes);
	if (s->error)
		jsondoc_set(doc, "error:s failed:T", has_folders ? s->error : "it cannot be read", s->failed);
	return doc;
}

struct jsondoc *advisories_json(const struct advisories *a, bool has_folders)
{
	struct jsondoc *doc = jsondoc_array();
	for (size_t i = 0; i < advisories_sources(a); i++) {
		struct advisories_source s;
		advisories_source(a, i, &s);
		jsondoc_add(doc, source_doc(&s, has_folders));
	}
	return doc;
}

const char *advisories_source_of(const struct advisories *a, struct str id)
{
	struct advisory ignored;
	for (size_t i = 0; i < advisories_sources(a); i++) {
		const struct advisory_list *list = advisories_list(a, i);
		if (list && advisory_list_by_id(list, id, &ignored))
			return a->source[i].path;
	}
	return NULL;
}
