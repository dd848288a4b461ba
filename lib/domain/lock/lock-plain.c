// SPDX-License-Identifier: Apache-2.0
// The locks that name hashes without files: Pipfile.lock and requirements with hashes.
#include <stdlib.h>
#include <string.h>

#include "lib/domain/lock/lock-parts.h"
#include "lib/domain/text/requirements-file.h"
#include "lib/domain/text/specifier.h"
#include "lib/format/json-sax.h"

// --- Pipfile.lock ---

// _meta, and a section for each category of packages: "default", "develop", and those that the user named.
struct pipfile {
	struct lock_reading *r;
	const char *counted; // the line of what stands here is known
	unsigned line;
	bool is_failed, has_meta;
	int64_t version;
	struct str project, marker; // of the package that is read
	struct str found, source;
	struct str *hash;
	size_t hashes, hash_room;
};

static unsigned count_lines(struct pipfile *p, const char *at)
{
	const char *begin = p->r->lock->text.data;
	// Texts with escapes lie elsewhere.
	if (at < p->counted || at > begin + p->r->lock->text.len)
		return p->line;
	for (; p->counted < at; p->counted++)
		p->line += *p->counted == '\n';
	return p->line;
}

static int end_package(struct pipfile *p, struct str section)
{
	struct str version = STR("");
	CLEANUP(mem_free) char *pin = xstrndup(p->found.ptr ? p->found.ptr : "", p->found.len);
	CLEANUP(mem_free) char *group = xstrndup(section.ptr, section.len);
	if (!specifier_set_pins(str_from(pin), &version))
		version = STR("");
	if (lock_add_package(p->r, p->project, version, p->line) < 0 ||
		lock_add_wanted(p->r, strcmp(group, "default") == 0 ? NULL : group, p->marker, p->line) < 0)
		return -1;
	if (p->source.len) {
		p->r->lock->package[p->r->lock->packages - 1].source = arena_copy(&p->r->lock->room, p->source);
		p->r->lock->skipped++;
	}
	for (size_t i = 0; i < p->hashes; i++)
		if (lock_add_file(p->r, STR(""), STR(""), p->hash[i], -1, p->line) < 0)
			return -1;
	return 0;
}

static bool is_key(const struct json_sax_value *v, size_t depth, const char *key)
{
	return v->depth > depth && str_eq(v->key[depth], str_from(key));
}

static void take_field(struct pipfile *p, const struct json_sax_value *v)
{
	static const char *const sources[] = {"git", "hg", "svn", "bzr", "path", "file"};
	if (v->kind == JSON_SAX_STRING && is_key(v, 2, "version"))
		p->found = v->text;
	if (v->kind == JSON_SAX_STRING && is_key(v, 2, "markers"))
		p->marker = v->text;
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (is_key(v, 2, sources[i]))
			p->source = v->key[2];
}

static void on_value(void *ctx, const struct json_sax_value *v)
{
	struct pipfile *p = ctx;
	if (p->is_failed || !v->depth)
		return;
	if (is_key(v, 0, "_meta")) {
		p->has_meta = true;
		if (v->depth == 2 && v->kind == JSON_SAX_NUMBER && is_key(v, 1, "pipfile-spec"))
			p->version = v->text.len == 1 ? v->text.ptr[0] - '0' : -1;
		if (v->depth == 3 && v->kind == JSON_SAX_STRING && is_key(v, 1, "requires") &&
			is_key(v, 2, "python_version")) {
			CLEANUP(mem_free) char *python = xasprintf("==" STR_FMT ".*", STR_ARG(v->text));
			lock_set_python(p->r, str_from(python));
		}
		return;
	}
	if (v->depth == 2 && v->kind == JSON_SAX_OBJECT) {
		count_lines(p, v->key[1].ptr);
		p->project = v->key[1];
		p->found = p->marker = p->source = (struct str){"", 0};
		p->hashes = 0;
	} else if (v->depth == 2 && v->kind == JSON_SAX_OBJECT_END) {
		p->is_failed = end_package(p, v->key[0]) < 0;
	} else if (v->depth == 3) {
		take_field(p, v);
	} else if (v->depth == 4 && v->kind == JSON_SAX_STRING && is_key(v, 2, "hashes")) {
		GROW(p->hash, p->hashes, p->hash_room);
		p->hash[p->hashes++] = v->text;
	}
}

int lock_read_pipfile(struct lock_reading *r)
{
	struct pipfile p = {.r = r, .counted = r->lock->text.data, .line = 1};
	struct err broken = ERR_INIT;
	bool is_cut;
	int result = json_sax_read(buf_view(&r->lock->text), &r->lock->room, on_value, &p, &is_cut, &broken);
	free(p.hash);
	if (p.is_failed) // before it was broken
		return -1;
	if (result < 0) {
		*r->e = broken;
		return err_prefix(r->e, "%s: ", r->path); // the message has the line
	}
	if (!p.has_meta)
		return lock_refuse(r, 1, "JSON, but no Pipfile.lock: it has no _meta");
	if (p.version != 6)
		return lock_refuse(r, 1, "the pipfile-spec of this Pipfile.lock is not known");
	return 0;
}

// --- requirements ---

// "…#sha256=HEX&egg=NAME": pip checks it as it checks --hash.
static int add_hash_of_url(struct lock_reading *r, struct str url, unsigned line)
{
	str_cut(&url, '#');
	while (url.len) {
		struct str part = str_cut(&url, '&');
		if (!str_starts(part, STR("sha256=")))
			continue;
		CLEANUP(mem_free)
		char *hash = xasprintf("sha256:" STR_FMT, STR_ARG(str_slice(part, strlen("sha256="), part.len)));
		return lock_add_file(r, STR(""), STR(""), str_from(hash), -1, line);
	}
	return 0;
}

static int on_requirement(void *ctx, const struct requirements_line *line, struct err *e)
{
	struct lock_reading *r = ctx;
	struct lock *l = r->lock;
	struct str version = STR("");
	if (line->kind == REQUIREMENTS_LINE_INCLUDE)
		return err_set(e, ERR_INVALID, "-r in a lock is not followed: name that file too");
	l->skipped += line->kind == REQUIREMENTS_LINE_EDITABLE;
	if (line->kind != REQUIREMENTS_LINE_PROJECT)
		return 0;
	if (!specifier_set_pins(line->specifier, &version))
		version = STR("");
	if (!line->hashes && !line->url.len && !version.len)
		return err_set(e, ERR_INVALID, "%s has neither a version (==) nor a hash, so this is no lock",
			line->project);
	if (lock_add_package(r, str_from(line->project), version, line->number) < 0 ||
		lock_add_wanted(r, NULL, line->marker, line->number) < 0)
		return -1;
	if (line->url.len) {
		l->package[l->packages - 1].source = "url";
		l->skipped++;
		if (add_hash_of_url(r, line->url, line->number) < 0)
			return -1;
	}
	for (size_t i = 0; i < line->hashes; i++)
		if (lock_add_file(r, STR(""), STR(""), line->hash[i], -1, line->number) < 0)
			return -1;
	return 0;
}

int lock_read_requirements(struct lock_reading *r)
{
	r->has_prefix = true;
	if (requirements_file_read(buf_view(&r->lock->text), r->path, on_requirement, r, r->e) < 0) {
		if (r->e->kind == ERR_USAGE)
			r->e->kind = ERR_INVALID;
		return -1;
	}
	r->has_prefix = false;
	return r->lock->packages || r->lock->skipped ? 0 : lock_refuse(r, 1, "no lock: it names no project");
}
