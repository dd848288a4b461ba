// SPDX-License-Identifier: Apache-2.0
#include "lib/facts/sbom.h"

#include <stdlib.h>

#include "lib/base/limits.h"
#include "lib/format/json-sax.h"

enum sbom_format { SBOM_UNKNOWN, SBOM_CYCLONEDX, SBOM_SPDX };

// A component whose object has begun.
struct open_component {
	enum sbom_format format;
	size_t index;                                 // in out->component
	struct str reference_type, reference_locator; // of the SPDX reference that is being read
};

struct sbom_reading {
	struct sbom *out;
	struct arena *text;
	enum sbom_format format;   // that the document claims
	enum sbom_format *made_of; // the format by which each component was found
	size_t made_room;
	struct open_component open[JSON_SAX_DEPTH + 1]; // by the depth of the object
	bool is_full;
};

static bool key_is(const struct json_sax_value *v, size_t at, const char *key)
{
	return at < v->depth && v->key[at].ptr && str_eq(v->key[at], str_from(key));
}

// Whether the rest of the path, from `at` on, is one of elements of arrays "components", each in the one before.
static bool is_nested(const struct json_sax_value *v, size_t at)
{
	for (; at < v->depth; at += 2)
		if (!key_is(v, at, "components") || at + 1 == v->depth || v->key[at + 1].ptr)
			return false;
	return true;
}

// The format in which an object at this path is a component.
static enum sbom_format format_of_path(const struct json_sax_value *v)
{
	if (v->depth == 2 && key_is(v, 0, "packages") && !v->key[1].ptr)
		return SBOM_SPDX;
	bool is_subject = key_is(v, 0, "metadata") && key_is(v, 1, "component");
	return v->depth >= 2 && is_nested(v, is_subject ? 2 : 0) ? SBOM_CYCLONEDX : SBOM_UNKNOWN;
}

static void begin_component(struct sbom_reading *r, const struct json_sax_value *v)
{
	struct open_component *open = &r->open[v->depth];
	*open = (struct open_component){.format = format_of_path(v), .index = r->out->count};
	if (open->format == SBOM_UNKNOWN)
		return;
	if (r->out->count == LIMIT_SBOM_COMPONENTS) {
		r->is_full = true;
		open->format = SBOM_UNKNOWN;
		return;
	}
	ARENA_GROW(r->text, r->made_of, r->out->count, r->made_room);
	ARENA_GROW(r->text, r->out->component, r->out->count, r->out->room);
	r->made_of[r->out->count] = open->format;
	r->out->component[r->out->count++] = (struct sbom_component){0};
}

static const char *copy_sbom_text(struct sbom_reading *r, struct str text)
{
	bool is_usable = text.len && text.len <= LIMIT_SBOM_STRING && str_find(text, '\0') < 0;
	return is_usable ? arena_copy(r->text, text) : NULL;
}

static void take_component_field(struct sbom_reading *r, const struct open_component *open,
	const struct json_sax_value *v)
{
	struct sbom_component *c = &r->out->component[open->index];
	const struct {
		enum sbom_format format;
		const char *key;
		const char **field;
	} fields[] = {{SBOM_CYCLONEDX, "name", &c->name}, {SBOM_CYCLONEDX, "version", &c->version},
		{SBOM_CYCLONEDX, "purl", &c->purl}, {SBOM_SPDX, "name", &c->name},
		{SBOM_SPDX, "versionInfo", &c->version}};
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].format == open->format && key_is(v, v->depth - 1, fields[i].key) && !*fields[i].field)
			*fields[i].field = copy_sbom_text(r, v->text);
}

static void take_sbom_value(void *ctx, const struct json_sax_value *v)
{
	struct sbom_reading *r = ctx;
	if (v->kind == JSON_SAX_OBJECT)
		begin_component(r, v);
	if (v->kind == JSON_SAX_OBJECT_END) {
		struct open_component *open = &r->open[2];
		if (v->depth == 4 && open->format == SBOM_SPDX && key_is(v, 2, "externalRefs")) {
			struct sbom_component *c = &r->out->component[open->index];
			if (!c->purl && str_eq(open->reference_type, STR("purl")))
				c->purl = copy_sbom_text(r, open->reference_locator);
			open->reference_type = open->reference_locator = (struct str){0};
		}
		r->open[v->depth].format = SBOM_UNKNOWN;
	}
	if (v->kind != JSON_SAX_STRING || !v->depth)
		return;
	if (v->depth == 1) {
		if (key_is(v, 0, "bomFormat") && str_eq(v->text, STR("CycloneDX")))
			r->format = SBOM_CYCLONEDX;
		if (key_is(v, 0, "spdxVersion") && str_starts(v->text, STR("SPDX-2.")))
			r->format = SBOM_SPDX;
	}
	if (r->open[v->depth - 1].format != SBOM_UNKNOWN)
		take_component_field(r, &r->open[v->depth - 1], v);
	// packages[].externalRefs[] = {"referenceType": "purl", "referenceLocator": …}, in any order.
	struct open_component *open = &r->open[2];
	if (v->depth != 5 || open->format != SBOM_SPDX || !key_is(v, 2, "externalRefs") || v->key[3].ptr)
		return;
	if (key_is(v, 4, "referenceType"))
		open->reference_type = v->text;
	if (key_is(v, 4, "referenceLocator"))
		open->reference_locator = v->text;
}

int sbom_read(struct str document, struct arena *text, struct sbom *out, struct err *e)
{
	CLEANUP(arena_release) struct arena room = {0};
	struct sbom_reading r = {.out = out, .text = text};
	struct str begin = str_trim(document);
	bool is_cut;
	*out = (struct sbom){0};
	if (!str_starts(begin, STR("{")))
		return 0;
	int result = json_sax_read(document, &room, take_sbom_value, &r, &is_cut, e);
	// Keeps the components that have a name and were found by the rules of the document's format.
	size_t kept = 0;
	for (size_t i = 0; i < r.out->count; i++)
		if (r.made_of[i] == r.format && r.out->component[i].name)
			r.out->component[kept++] = r.out->component[i];
	r.out->count = kept;
	if (result == 0 && r.is_full)
		return err_set(e, ERR_LIMIT, "more than %d components", LIMIT_SBOM_COMPONENTS);
	return result;
}
