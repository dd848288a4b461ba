// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/wheel/installed-content.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/search.h"
#include "lib/domain/archive/memberpath.h"
#include "lib/domain/archive/zipwire.h"

static int check_clear_name(const struct zipmember *m, struct err *e)
{
	struct str path = m->is_folder ? str_slice(m->name, 0, m->name.len - 1) : m->name;
	if (str_find(m->name, '\n') >= 0)
		return err_set(e, ERR_INVALID, "the name of a member has a line end");
	// Python reads it as code page 437, uv as UTF-8.
	if (!(m->flags & ZIP_FLAG_UTF8) && !str_is_ascii(m->name))
		return err_set(e, ERR_INVALID, "the name " STR_FMT " is neither ASCII nor marked as UTF-8",
			STR_ARG(m->name));
	if (memberpath_leads_out(path) || !memberpath_is_plain(path) || str_find(path, '\\') >= 0)
		return err_set(e, ERR_INVALID, "the path " STR_FMT " has other spellings", STR_ARG(m->name));
	return 0;
}

static bool is_member_before(const void *element, const void *key)
{
	return str_cmp((*(const struct zipmember *const *)element)->name, *(const struct str *)key) < 0;
}

// What is in a folder stands behind it, by name.
static bool is_empty_folder(const struct zipdirectory *zip, const struct zipmember *m)
{
	size_t at = lower_bound(&m->name, zip->by_name, zip->count, sizeof(zip->by_name[0]), is_member_before);
	return at + 1 == zip->count || !str_starts(zip->by_name[at + 1]->name, m->name);
}

static const char *mark_of(const struct zipmember *m)
{
	static const char *const mark[2][2] = {{"", "u"}, {"p", "x"}};
	bool with_pip = S_ISREG(m->attributes) && (m->attributes & 0111), with_uv = m->mode & 0111;
	return m->is_folder ? "" : mark[with_pip][with_uv];
}

// "purelib" of "NAME-VERSION.data/purelib/…". Empty: the member is not in a .data folder.
static struct str scheme_of(const struct zipmember *m)
{
	struct str rest = m->name, top = str_cut(&rest, '/');
	return rest.ptr && str_ends(top, STR(".data")) ? str_cut(&rest, '/') : STR("");
}

// Whether there are members of several schemes; order becomes the digest of their names.
static bool mixes_schemes(const struct zipdirectory *zip, uint8_t order[SHA256_SIZE])
{
	CLEANUP(digest_cleanup) struct digest *digest = digest_new();
	struct str first = STR("");
	bool mixes = false;
	digest_begin(digest);
	for (size_t i = 0; i < zip->count; i++) {
		struct str scheme = scheme_of(&zip->members[i]);
		if (!scheme.len || zip->members[i].is_folder)
			continue;
		first = first.len ? first : scheme;
		mixes |= !str_eq(first, scheme);
		digest_add(digest, zip->members[i].name.ptr, zip->members[i].name.len);
		digest_add(digest, "\n", 1);
	}
	digest_end(digest, order);
	return mixes;
}

int installed_content_digest(const struct member_hashes *c, const struct zipdirectory *zip, uint8_t out[SHA256_SIZE],
	struct err *e)
{
	uint8_t order[SHA256_SIZE];
	CLEANUP(mem_free) struct member_line *line = xcalloc(zip->count + 1, sizeof(*line));
	size_t count = 0;
	for (size_t i = 0; i < zip->count; i++) {
		const struct zipmember *m = &zip->members[i];
		if (check_clear_name(m, e) < 0)
			return -1;
		if (!m->is_folder || is_empty_folder(zip, m))
			line[count++] = (struct member_line){c->sha256[i], mark_of(m), m->name};
	}
	if (mixes_schemes(zip, order))
		line[count++] = (struct member_line){order, "o", STR(".data")};
	member_lines_digest(line, count, out);
	return 0;
}
