// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/wheel/provenance.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/filename.h"
#include "lib/format/json-sax.h"

enum { PATHS = 32 }; // rows of path_table, at most

struct statement_reader {
	struct provenance *out;
	const char *type;           // "_type"
	struct buf builder_version; // "wheelcache 1.0"
	size_t row_texts;           // bytes of joined lists, in all rows
	bool seen[PATHS];           // by row of path_table
	bool in_dependency;         // the last row is the dependency that is being read
	struct err *e;              // ERR_NONE until the first fault
};

// --- values ---

static void reject(struct statement_reader *r, enum err_kind kind, const char *what)
{
	if (r->e->kind == ERR_NONE)
		err_set(r->e, kind, "provenance: %s", what);
}

// The text of a string, number or bool; ptr NULL: another value, or one with NUL.
static struct str scalar_of(const struct json_sax_value *v)
{
	static const struct str none = {NULL, 0};
	if (v->kind == JSON_SAX_TRUE)
		return STR("true");
	if (v->kind == JSON_SAX_FALSE)
		return STR("false");
	bool is_text = v->kind == JSON_SAX_STRING || v->kind == JSON_SAX_NUMBER;
	return is_text && !memchr(v->text.ptr, '\0', v->text.len) ? v->text : none;
}

static const char *copy_statement_text(struct statement_reader *r, struct str text)
{
	return arena_copy(&r->out->text, text);
}

// A string without which the statement is not valid. An empty one counts as one.
static void take_required(struct statement_reader *r, const struct json_sax_value *v, const char **field)
{
	struct str text = v->kind == JSON_SAX_STRING ? scalar_of(v) : (struct str){NULL, 0};
	if (!text.ptr)
		reject(r, ERR_INVALID, "a value is no string, or has a NUL");
	else if (*field)
		reject(r, ERR_INVALID, "a value is there twice");
	else
		*field = copy_statement_text(r, text);
}

// A string that is only shown.
static void take_optional(struct statement_reader *r, const struct json_sax_value *v, const char **field)
{
	struct str text = scalar_of(v);
	if (text.len && *field)
		reject(r, ERR_INVALID, "a value is there twice");
	else if (text.len)
		*field = copy_statement_text(r, text);
}

// Appends a word to a text that is joined by blanks. A long list is cut: each word copies those before it.
static void join_text(struct statement_reader *r, struct str word, const char **field)
{
	size_t length = word.len + (*field ? strlen(*field) + 1 : 0);
	if (!word.len)
		return;
	if (length > LIMIT_STATEMENT_LIST || r->row_texts + length > LIMIT_STATEMENT_LISTS) {
		r->out->is_cut = true;
		return;
	}
	r->row_texts += length;
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_STATEMENT_LIST);
	buf_printf(&text, "%s%s", *field ? *field : "", *field ? " " : "");
	buf_str(&text, word);
	*field = copy_statement_text(r, buf_view(&text));
}

// --- the header, the subjects ---

static void take_type(struct statement_reader *r, const struct json_sax_value *v)
{
	take_required(r, v, &r->type);
}

static void take_predicate_type(struct statement_reader *r, const struct json_sax_value *v)
{
	take_required(r, v, &r->out->predicate_type);
}

static void begin_subject(struct statement_reader *r, const struct json_sax_value *v)
{
	struct provenance *p = r->out;
	if (v->kind == JSON_SAX_OBJECT_END)
		return;
	if (v->kind != JSON_SAX_OBJECT) {
		reject(r, ERR_INVALID, "a subject is no object");
		return;
	}
	if (p->subjects == LIMIT_STATEMENT_SUBJECTS) {
		reject(r, ERR_LIMIT, "it has too many subjects");
		return;
	}
	GROW(p->subject, p->subjects, p->subject_room);
	p->subject[p->subjects++] = (struct provenance_subject){0};
}

static void take_subject_name(struct statement_reader *r, const struct json_sax_value *v)
{
	if (r->out->subjects)
		take_required(r, v, &r->out->subject[r->out->subjects - 1].name);
}

static void take_subject_digest(struct statement_reader *r, const struct json_sax_value *v)
{
	struct provenance_subject *s = r->out->subjects ? &r->out->subject[r->out->subjects - 1] : NULL;
	if (!s)
		return;
	if (s->has_sha256)
		reject(r, ERR_INVALID, "a value is there twice");
	else if (v->kind != JSON_SAX_STRING || !hex_decode(v->text, s->sha256, SHA256_SIZE))
		reject(r, ERR_INVALID, "the sha256 of a subject is no SHA-256");
	s->has_sha256 = true;
}

static void enter(struct statement_reader *r UNUSED, const struct json_sax_value *v UNUSED)
{
}

// --- rows ---

// NULL: the limit is reached.
static struct provenance_row *add_row(struct statement_reader *r, enum provenance_kind kind)
{
	struct provenance *p = r->out;
	if (p->rows == LIMIT_STATEMENT_ROWS) {
		p->is_cut = true;
		return NULL;
	}
	GROW(p->row, p->rows, p->row_room);
	p->row[p->rows] = (struct provenance_row){.kind = kind};
	return &p->row[p->rows++];
}

static struct provenance_row *last_dependency(struct statement_reader *r)
{
	return r->in_dependency ? &r->out->row[r->out->rows - 1] : NULL;
}

static void take_dependency(struct statement_reader *r, const struct json_sax_value *v)
{
	struct provenance_row *row = last_dependency(r);
	if (row && !row->component) {
		// A dependency without a name has the last part of its URI as name; one without both is no row.
		struct str uri = str_from(row->source ? row->source : "");
		while (uri.len && uri.ptr[uri.len - 1] == '/')
			uri.len--;
		struct str last = str_slice(uri, (size_t)(str_rfind(uri, '/') + 1), uri.len);
		if (last.len)
			row->component = copy_statement_text(r, last);
		else
			r->out->rows--;
	}
	r->in_dependency = v->kind == JSON_SAX_OBJECT && add_row(r, PROVENANCE_DEPENDENCY);
}

static void take_dependency_digest(struct statement_reader *r, const struct json_sax_value *v)
{
	struct provenance_row *row = last_dependency(r);
	struct str kind = v->key[v->depth - 1], text = scalar_of(v);
	bool is_best = str_eq(kind, STR("sha256"));
	if (row && str_eq(kind, STR("gitCommit"))) {
		// Two commits of one dependency are none that counts; the statement is valid all the same.
		CLEANUP(buf_release) struct buf lower = buf_up_to(PROVENANCE_COMMIT);
		for (size_t i = 0; i < text.len && i < PROVENANCE_COMMIT + 1; i++)
			buf_putc(&lower,
				text.ptr[i] >= 'A' && text.ptr[i] <= 'F' ? text.ptr[i] + ('a' - 'A') : text.ptr[i]);
		if (row->commit)
			row->commit = "";
		else if (!lower.failed && provenance_commit_is_valid(buf_view(&lower)))
			row->commit = copy_statement_text(r, buf_view(&lower));
	}
	if (!row || !text.len || (row->digest && !is_best))
		return;
	CLEANUP(mem_free) char *digest = xasprintf(STR_FMT ":" STR_FMT, STR_ARG(kind), STR_ARG(text));
	row->digest = copy_statement_text(r, str_from(digest));
}

static void take_dependency_text(struct statement_reader *r, const struct json_sax_value *v)
{
	static const struct {
		struct str key;
		size_t field;
	} fields[] = {
		{STR("name"), offsetof(struct provenance_row, component)},
		{STR("uri"), offsetof(struct provenance_row, source)},
		{STR("version"), offsetof(struct provenance_row, version)},
		{STR("prefix"), offsetof(struct provenance_row, path)},
		{STR("how"), offsetof(struct provenance_row, how)},
		{STR("options"), offsetof(struct provenance_row, options)},
	};
	struct provenance_row *row = last_dependency(r);
	for (size_t i = 0; row && i < ARRAY_SIZE(fields); i++)
		if (str_eq(v->key[v->depth - 1], fields[i].key))
			take_optional(r, v, (const char **)(void *)((char *)row + fields[i].field));
}

static void take_dependency_option(struct statement_reader *r, const struct json_sax_value *v)
{
	struct provenance_row *row = last_dependency(r);
	if (row)
		join_text(r, scalar_of(v), &row->options);
}

// Adds a value to the row of its name, if that is the last row; else a row.
static void add_named_value(struct statement_reader *r, enum provenance_kind kind, struct str component,
	struct str value)
{
	struct provenance *p = r->out;
	if (!value.len || !component.len || memchr(component.ptr, '\0', component.len))
		return;
	struct provenance_row *row = p->rows ? &p->row[p->rows - 1] : NULL;
	if (!row || row->kind != kind || !str_eq(str_from(row->component), component)) {
		row = add_row(r, kind);
		if (!row)
			return;
		row->component = copy_statement_text(r, component);
	}
	join_text(r, value, &row->version);
}

// A parameter, an item of a list, or "key.key" of an object in it.
static void take_parameter(struct statement_reader *r, const struct json_sax_value *v, enum provenance_kind kind)
{
	struct str first = v->key[3], second = v->depth > 4 ? v->key[4] : (struct str){NULL, 0};
	if (!second.ptr) {
		add_named_value(r, kind, first, scalar_of(v));
		return;
	}
	CLEANUP(mem_free) char *name = xasprintf(STR_FMT "." STR_FMT, STR_ARG(first), STR_ARG(second));
	add_named_value(r, kind, str_from(name), scalar_of(v));
}

static void take_external(struct statement_reader *r, const struct json_sax_value *v)
{
	take_parameter(r, v, PROVENANCE_PARAMETER);
}

static void take_internal(struct statement_reader *r, const struct json_sax_value *v)
{
	if (v->depth == 5 && v->key[4].ptr && str_eq(v->key[3], STR("toolchain")))
		add_named_value(r, PROVENANCE_TOOL, v->key[4], scalar_of(v));
	else
		take_parameter(r, v, PROVENANCE_MACHINE);
}

// --- the run ---

static void take_build_type(struct statement_reader *r, const struct json_sax_value *v)
{
	take_optional(r, v, &r->out->build_type);
}

static void take_builder(struct statement_reader *r, const struct json_sax_value *v)
{
	take_optional(r, v, &r->out->builder);
}

static void take_builder_version(struct statement_reader *r, const struct json_sax_value *v)
{
	struct buf *out = &r->builder_version;
	struct str text = scalar_of(v), key = v->key[v->depth - 1];
	if (text.len && !memchr(key.ptr, '\0', key.len))
		buf_printf(out, "%s" STR_FMT " " STR_FMT, out->len ? ", " : "", STR_ARG(key), STR_ARG(text));
}

static void take_run_text(struct statement_reader *r, const struct json_sax_value *v)
{
	struct str key = v->key[v->depth - 1];
	if (str_eq(key, STR("invocationId")))
		take_optional(r, v, &r->out->invocation);
	else if (str_eq(key, STR("startedOn")))
		take_optional(r, v, &r->out->started);
	else if (str_eq(key, STR("finishedOn")))
		take_optional(r, v, &r->out->finished);
}

// --- paths ---

// "#": an item of an array; "*": any key. once: a second value there is an error, because other readers take the last.
static const struct path_row {
	const char *path;
	void (*take)(struct statement_reader *r, const struct json_sax_value *v);
	bool once;
} path_table[] = {
	{"_type", take_type, true},
	{"predicateType", take_predicate_type, true},
	{"subject", enter, true},
	{"subject/#", begin_subject, false},
	{"subject/#/name", take_subject_name, false},
	{"subject/#/digest/sha256", take_subject_digest, false},
	{"predicate", enter, true},
	{"predicate/buildDefinition", enter, true},
	{"predicate/buildDefinition/buildType", take_build_type, true},
	{"predicate/buildDefinition/externalParameters", enter, true},
	{"predicate/buildDefinition/externalParameters/*", take_external, false},
	{"predicate/buildDefinition/externalParameters/*/*", take_external, false},
	{"predicate/buildDefinition/externalParameters/*/#", take_external, false},
	{"predicate/buildDefinition/internalParameters", enter, true},
	{"predicate/buildDefinition/internalParameters/*", take_internal, false},
	{"predicate/buildDefinition/internalParameters/*/*", take_internal, false},
	{"predicate/buildDefinition/internalParameters/*/#", take_internal, false},
	{"predicate/buildDefinition/resolvedDependencies", enter, true},
	{"predicate/buildDefinition/resolvedDependencies/#", take_dependency, false},
	{"predicate/buildDefinition/resolvedDependencies/#/*", take_dependency_text, false},
	{"predicate/buildDefinition/resolvedDependencies/#/digest/*", take_dependency_digest, false},
	{"predicate/buildDefinition/resolvedDependencies/#/annotations/*", take_dependency_text, false},
	{"predicate/buildDefinition/resolvedDependencies/#/annotations/options/#", take_dependency_option, false},
	{"predicate/runDetails", enter, true},
	{"predicate/runDetails/builder", enter, true},
	{"predicate/runDetails/builder/id", take_builder, true},
	{"predicate/runDetails/builder/version/*", take_builder_version, false},
	{"predicate/runDetails/metadata/*", take_run_text, false},
};
_Static_assert(ARRAY_SIZE(path_table) <= PATHS, "PATHS is too small");

static bool is_at(const struct json_sax_value *v, const char *path)
{
	struct str rest = str_from(path);
	size_t depth = 0;
	for (; rest.len && depth < v->depth; depth++) {
		struct str part = str_cut(&rest, '/'), key = v->key[depth];
		bool is_item = str_eq(part, STR("#"));
		if (is_item != !key.ptr || (!is_item && !str_eq(part, STR("*")) && !str_eq(part, key)))
			return false;
	}
	return depth == v->depth && !rest.len;
}

static void on_value(void *ctx, const struct json_sax_value *v)
{
	struct statement_reader *r = ctx;
	bool is_end = v->kind == JSON_SAX_OBJECT_END || v->kind == JSON_SAX_ARRAY_END;
	if (r->e->kind != ERR_NONE || !v->depth)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(path_table); i++) {
		if (!is_at(v, path_table[i].path))
			continue;
		if (path_table[i].once && !is_end && r->seen[i])
			reject(r, ERR_INVALID, "a value is there twice");
		r->seen[i] = true;
		if (!is_end || v->kind == JSON_SAX_OBJECT_END)
			path_table[i].take(r, v);
	}
}

// --- the whole ---

static void add_builder_row(struct statement_reader *r)
{
	struct provenance *p = r->out;
	if (!p->builder && !r->builder_version.len)
		return;
	struct provenance_row *row = add_row(r, PROVENANCE_BUILDER);
	if (!row)
		return;
	row->component = "builder";
	row->source = p->builder;
	row->version = r->builder_version.len ? copy_statement_text(r, buf_view(&r->builder_version)) : NULL;
}

// Equal rows stay in the order of the statement.
static int compare_rows(const void *a, const void *b)
{
	const struct provenance_row *x = *(const struct provenance_row *const *)a;
	const struct provenance_row *y = *(const struct provenance_row *const *)b;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	int order = strcmp(x->component, y->component);
	return order ? order : (x > y) - (x < y);
}

static void forget_predicate(struct provenance *p)
{
	p->rows = 0;
	p->is_cut = false;
	p->build_type = p->builder = p->invocation = p->started = p->finished = NULL;
}

static int check_statement_head(const struct statement_reader *r, struct err *e)
{
	const struct provenance *p = r->out;
	if (r->e->kind != ERR_NONE) {
		*e = *r->e;
		return -1;
	}
	if (!r->type || strcmp(r->type, PROVENANCE_STATEMENT) != 0)
		return err_set(e, ERR_INVALID, "provenance: it is no in-toto statement v1: its _type is not \"%s\"",
			PROVENANCE_STATEMENT);
	if (!p->predicate_type || !*p->predicate_type)
		return err_set(e, ERR_INVALID, "provenance: it has no predicateType");
	if (!p->subjects)
		return err_set(e, ERR_INVALID, "provenance: it has no subject");
	return 0;
}

static int read_statement(struct str text, struct provenance *p, struct err *e)
{
	bool is_cut = false;
	struct err fault = ERR_INIT;
	struct statement_reader r = {.out = p, .e = &fault};
	CLEANUP(arena_release) struct arena room = {0};
	buf_init(&r.builder_version, LIMIT_STATEMENT);
	int result = json_sax_read(text, &room, on_value, &r, &is_cut, e);
	if (result < 0)
		err_prefix(e, "provenance: ");
	else
		result = check_statement_head(&r, e);
	p->is_slsa = result == 0 && strcmp(p->predicate_type, PROVENANCE_SLSA) == 0;
	if (p->is_slsa)
		add_builder_row(&r);
	else
		forget_predicate(p);
	buf_release(&r.builder_version);
	if (p->rows) {
		CLEANUP(mem_free)
		const struct provenance_row **order = xcalloc(p->rows, sizeof(struct provenance_row *));
		struct provenance_row *sorted = xcalloc(p->rows, sizeof(*sorted));
		for (size_t i = 0; i < p->rows; i++)
			order[i] = &p->row[i];
		qsort(order, p->rows, sizeof(*order), compare_rows);
		for (size_t i = 0; i < p->rows; i++)
			sorted[i] = *order[i];
		free(p->row);
		p->row = sorted;
		p->row_room = p->rows;
	}
	return result;
}

int provenance_read(struct str text, struct provenance *out, struct err *e)
{
	struct provenance p = {0};
	if (text.len > LIMIT_STATEMENT)
		return err_set(e, ERR_LIMIT, "provenance: it has more than %d bytes", LIMIT_STATEMENT);
	if (read_statement(text, &p, e) < 0) {
		provenance_release(&p);
		return -1;
	}
	*out = p;
	return 0;
}

const char *const provenance_kind_name[PROVENANCE_KIND_COUNT] = {
	[PROVENANCE_BUILDER] = "builder",
	[PROVENANCE_DEPENDENCY] = "dependency",
	[PROVENANCE_TOOL] = "tool",
	[PROVENANCE_MACHINE] = "machine",
	[PROVENANCE_PARAMETER] = "parameter",
};

void provenance_release(struct provenance *p)
{
	free(p->subject);
	free(p->row);
	arena_release(&p->text);
	*p = (struct provenance){0};
}

// --- the file ---

static bool names_mean_same(const char *one, const struct filename *parsed, const char *other)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename b = {0};
	if (strcmp(one, other) == 0)
		return true;
	if (!parsed->project || filename_parse(str_from(other), &b, &ignored) < 0)
		return false;
	return parsed->kind == b.kind && strcmp(parsed->project, b.project) == 0 &&
	       version_cmp(&parsed->version, &b.version) == 0 && str_eq(parsed->build, b.build) &&
	       str_eq(parsed->python, b.python) && str_eq(parsed->abi, b.abi) && str_eq(parsed->platform, b.platform);
}

// The subject of this name; NULL: none, or (*is_again) several.
static const struct provenance_subject *find_subject(const struct provenance *p, const char *filename, bool *is_again)
{
	struct err ignored = ERR_INIT;
	const struct provenance_subject *found = NULL;
	CLEANUP(filename_release) struct filename parsed = {0};
	if (filename_parse(str_from(filename), &parsed, &ignored) < 0)
		parsed = (struct filename){0};
	if (p->subjects == 1 && !p->subject[0].name)
		return &p->subject[0];
	for (size_t i = 0; i < p->subjects; i++) {
		if (!p->subject[i].name || !names_mean_same(filename, &parsed, p->subject[i].name))
			continue;
		*is_again = found != NULL;
		if (found)
			return NULL;
		found = &p->subject[i];
	}
	return found;
}

int provenance_digest(const struct provenance *p, const char *filename, uint8_t sha256[SHA256_SIZE], struct err *e)
{
	bool is_again = false;
	const struct provenance_subject *s = find_subject(p, filename, &is_again);
	if (is_again)
		return err_set(e, ERR_INVALID, "provenance: several subjects are %s", filename);
	if (!s)
		return err_set(e, ERR_INVALID, "provenance: %s is not among its subjects", filename);
	if (!s->has_sha256)
		return err_set(e, ERR_INVALID, "provenance: the subject %s has no sha256", filename);
	memcpy(sha256, s->sha256, SHA256_SIZE);
	return 0;
}

// --- its source ---

bool provenance_commit_is_valid(struct str commit)
{
	for (size_t i = 0; i < commit.len; i++)
		if (!ascii_is_digit(commit.ptr[i]) && !(commit.ptr[i] >= 'a' && commit.ptr[i] <= 'f'))
			return false;
	return commit.len == 40 || commit.len == PROVENANCE_COMMIT;
}

// The only commit of the dependencies that are the source, or of all.
static const char *only_commit(const struct provenance *p, bool of_source)
{
	const char *found = NULL;
	for (size_t i = 0; i < p->rows; i++) {
		const struct provenance_row *row = &p->row[i];
		if (!row->commit || (of_source && strcmp(row->component, "source") != 0))
			continue;
		if (found && strcmp(found, row->commit) != 0)
			return NULL;
		found = row->commit;
	}
	return found;
}

static bool has_source(const struct provenance *p)
{
	for (size_t i = 0; i < p->rows; i++)
		if (p->row[i].commit && strcmp(p->row[i].component, "source") == 0)
			return true;
	return false;
}

const char *provenance_commit(const struct provenance *p)
{
	const char *found = p->is_cut ? NULL : only_commit(p, has_source(p));
	return found && *found ? found : NULL;
}
