// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/wheel/distinfo.h"

#include <sys/stat.h>

#include "lib/base/limits.h"
#include "lib/domain/archive/memberpath.h"
#include "lib/domain/text/name.h"

bool distinfo_is_project(struct str text, const struct filename *name)
{
	if (text.len > LIMIT_FILE_NAME || !name_is_valid(text))
		return false;
	CLEANUP(buf_release) struct buf normal = buf_up_to(LIMIT_FILE_NAME);
	name_normalize(text, &normal);
	return str_eq(buf_view(&normal), str_from(name->project));
}

bool distinfo_is_version(struct str text, const struct filename *name)
{
	struct err ignored = ERR_INIT;
	struct version version;
	if (str_eq(text, str_from(name->version.text)))
		return true;
	if (text.len > LIMIT_FILE_NAME || version_parse(text, &version, &ignored) < 0)
		return false;
	bool same = version_cmp(&version, &name->version) == 0;
	version_release(&version);
	return same;
}

// Whether the stem is another spelling of "<name>-<version>". Old tools left dashes in both parts.
static bool is_other_spelling(struct str stem, const struct filename *name)
{
	for (size_t i = 1; i + 1 < stem.len; i++)
		if (stem.ptr[i] == '-' && distinfo_is_project(str_slice(stem, 0, i), name) &&
			distinfo_is_version(str_slice(stem, i + 1, stem.len), name))
			return true;
	return false;
}

int distinfo_find(const struct zipdirectory *zip, const struct filename *name, enum strictness strictness,
	struct findings *findings, struct str *folder, struct err *e)
{
	*folder = (struct str){NULL, 0};
	for (size_t i = 0; i < zip->count; i++) {
		struct str rest = zip->members[i].name, top = str_cut(&rest, '/');
		if (!rest.ptr || !str_ends(top, STR(".dist-info")))
			continue;
		if (folder->ptr && !str_eq(top, *folder))
			return err_set(e, ERR_INVALID, "two .dist-info folders: " STR_FMT " and " STR_FMT,
				STR_ARG(*folder), STR_ARG(top));
		*folder = top;
	}
	if (!folder->ptr)
		return err_set(e, ERR_INVALID, "no .dist-info folder");
	struct str stem = str_slice(*folder, 0, folder->len - STR(".dist-info").len);
	if (str_eq(stem, name->stem))
		return 0;
	if (stem.len > LIMIT_FILE_NAME || !is_other_spelling(stem, name))
		return err_set(e, ERR_INVALID, "the folder " STR_FMT " does not belong to " STR_FMT, STR_ARG(*folder),
			STR_ARG(name->stem));
	return findings_add_or_fail(findings, strictness, e, "the folder " STR_FMT " is not spelled as " STR_FMT,
		STR_ARG(*folder), STR_ARG(name->stem));
}

const struct zipmember *distinfo_member(const struct zipdirectory *zip, struct str folder, const char *name)
{
	CLEANUP(mem_free) char *path = xasprintf(STR_FMT "/%s", STR_ARG(folder), name);
	return zipdirectory_find(zip, str_from(path));
}

static int check_member_path(const struct zipmember *m, enum strictness strictness, struct findings *findings,
	struct err *e)
{
	if (memberpath_leads_out(m->name))
		return err_set(e, ERR_INVALID, "the path " STR_FMT " leads out of the wheel", STR_ARG(m->name));
	const struct {
		bool is_odd;
		const char *what;
	} oddities[] = {
		{!memberpath_is_plain(m->name), "has empty parts or \".\""},
		// APPNOTE 4.4.17.1. On Linux pip creates a file whose name contains the backslash.
		{str_find(m->name, '\\') >= 0, "has backslashes"},
		// PEP 778 is deferred. Installers write the target of the link into a regular file.
		{S_ISLNK(m->mode), "is a symbolic link"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(oddities); i++)
		if (oddities[i].is_odd && findings_add_or_fail(findings, strictness, e, "the path " STR_FMT " %s",
						  STR_ARG(m->name), oddities[i].what) < 0)
			return -1;
	return 0;
}

int distinfo_check_paths(const struct zipdirectory *zip, enum strictness strictness, struct findings *findings,
	struct err *e)
{
	for (size_t i = 0; i < zip->count; i++)
		if (check_member_path(&zip->members[i], strictness, findings, e) < 0)
			return -1;
	return 0;
}
