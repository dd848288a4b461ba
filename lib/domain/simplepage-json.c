// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/simplepage-json.h"

#include "lib/base/jsondoc.h"

// ptr is NULL where there is no such string.
static struct str text(const struct jsondoc *object, const char *key)
{
	const char *s = object ? jsondoc_get_str(object, key) : NULL;
	return s ? str_from(s) : (struct str){0};
}

// The key of PEP 714, the one before it, and PyPI's own; the first that says something.
static void read_metadata(const struct jsondoc *file, struct simplepage_link *link)
{
	static const char *const keys[] = {"core-metadata", "dist-info-metadata", "data-dist-info-metadata"};
	size_t i = 0;
	while (i < ARRAY_SIZE(keys) && !jsondoc_has(file, keys[i]))
		i++;
	if (i == ARRAY_SIZE(keys))
		return;
	const struct jsondoc *hashes = jsondoc_get(file, keys[i]);
	link->has_metadata = hashes || jsondoc_is_true(file, keys[i]);
	link->metadata = text(hashes, "sha256");
}

static void read_file(struct simplepage_make *m, const struct jsondoc *file)
{
	struct simplepage_link link = {
		.filename = text(file, "filename"),
		.url = text(file, "url"),
		.requires_python = text(file, "requires-python"),
		.provenance = text(file, "provenance"),
		.upload_time = text(file, "upload-time"),
		.sha256 = text(jsondoc_get(file, "hashes"), "sha256"),
		.is_yanked = jsondoc_has(file, "yanked") && !jsondoc_is_false(file, "yanked"),
		.reason = text(file, "yanked"),
		.size = -1,
	};
	read_metadata(file, &link);
	if (jsondoc_get_int(file, "size", &link.size) && link.size < 0)
		link.size = -1;
	simplepage_make_link(m, &link);
}

static void read_files(struct simplepage_make *m, const struct jsondoc *files)
{
	for (size_t i = 0; i < jsondoc_count(files); i++)
		if (jsondoc_is_object(jsondoc_at(files, i)))
			read_file(m, jsondoc_at(files, i));
}

static void read_rest(struct simplepage_make *m, const struct jsondoc *page, const struct jsondoc *meta)
{
	int64_t serial;
	if (jsondoc_get_int(meta, "_last-serial", &serial) && serial > 0)
		m->page.serial = (uint64_t)serial;
	const struct jsondoc *status = jsondoc_get(page, "project-status");
	if (status && text(status, "status").ptr)
		simplepage_make_status(m, text(status, "status"), text(status, "reason"));
	const struct jsondoc *versions = jsondoc_get(page, "versions");
	for (size_t i = 0; versions && i < jsondoc_count(versions); i++) {
		const char *version = jsondoc_at_str(versions, i);
		simplepage_make_version(m, version ? str_from(version) : (struct str){0});
	}
}

enum simplepage_fault simplepage_read_json(struct simplepage_make *m, struct str body, struct err *e)
{
	bool is_cut = false;
	CLEANUP(arena_release) struct arena room = {0};
	const struct jsondoc *page = jsondoc_read_into(&room, body, &is_cut, e);
	if (!page)
		return is_cut ? SIMPLEPAGE_TRUNCATED : SIMPLEPAGE_NOT_A_PAGE;
	const struct jsondoc *meta = jsondoc_get(page, "meta"), *files = jsondoc_get(page, "files");
	struct str name = text(page, "name");
	if (!meta || !files || !jsondoc_is_array(files) || !name.ptr) {
		err_set(e, ERR_INVALID, "JSON, but no simple page: it has no meta, name and files");
		return SIMPLEPAGE_NOT_A_PAGE;
	}
	if (simplepage_make_api(text(meta, "api-version"), e) < 0)
		return SIMPLEPAGE_NOT_A_PAGE;
	if (!simplepage_make_is_named(m, name)) {
		err_set(e, ERR_INVALID, "the page is another project's: %.100s", name.ptr);
		return SIMPLEPAGE_WRONG_PROJECT;
	}
	read_files(m, files);
	read_rest(m, page, meta);
	return SIMPLEPAGE_GOOD;
}
