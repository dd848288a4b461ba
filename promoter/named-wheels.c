// SPDX-License-Identifier: Apache-2.0
#include "promoter/named-wheels.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/filename.h"
#include "lib/format/jsondoc.h"
#include "lib/net/url.h"

void named_wheels_release(struct named_wheels *n)
{
	free(n->item);
	arena_release(&n->text);
	*n = (struct named_wheels){0};
}

// What is no wheel says nothing.
static int add_named(struct named_wheels *n, struct str filename, struct str sha256, struct err *e)
{
	struct evidence_wheel wheel = {0};
	if (filename_kind(filename) != FILENAME_WHEEL)
		return 0;
	if (filename.len > LIMIT_FILE_NAME || !hex_decode(sha256, wheel.sha256, SHA256_SIZE))
		return err_set(e, ERR_INVALID, STR_FMT ": it has no SHA-256",
			STR_ARG(str_head(filename, LIMIT_FILE_NAME)));
	if (n->count == LIMIT_EVIDENCE_WHEELS)
		return err_set(e, ERR_LIMIT, "more than %d wheels", LIMIT_EVIDENCE_WHEELS);
	wheel.filename = arena_copy(&n->text, filename);
	GROW(n->item, n->count, n->room);
	n->item[n->count++] = wheel;
	return 0;
}

static struct str hash_of(const struct jsondoc *doc)
{
	const struct jsondoc *hashes = doc ? jsondoc_get(doc, "hashes") : NULL;
	const char *sha256 = hashes ? jsondoc_get_str(hashes, "sha256") : NULL;
	return str_from(sha256 ? sha256 : "");
}

// An entry of pip's report: {"download_info": {"url", "archive_info": {"hashes": {"sha256"}}}}.
static int add_installed(struct named_wheels *n, const struct jsondoc *entry, struct err *e)
{
	const struct jsondoc *info = entry ? jsondoc_get(entry, "download_info") : NULL;
	const char *url = info ? jsondoc_get_str(info, "url") : NULL;
	CLEANUP(buf_release) struct buf name;
	buf_init(&name, LIMIT_FILE_NAME);
	if (!url)
		return err_set(e, ERR_INVALID, "an installed package has no \"url\"");
	if (!url_filename(str_from(url), &name))
		return err_set(e, ERR_INVALID, "the URL of an installed package is none");
	return add_named(n, buf_view(&name), hash_of(jsondoc_get(info, "archive_info")), e);
}

static int add_page_file(struct named_wheels *n, const struct jsondoc *file, struct err *e)
{
	const char *name = file ? jsondoc_get_str(file, "filename") : NULL;
	return name ? add_named(n, str_from(name), hash_of(file), e)
		    : err_set(e, ERR_INVALID, "a file without \"filename\"");
}

// A page names all wheels of a project; those that were tested are of one version.
static int check_one_version(const struct named_wheels *n, size_t first, struct err *e)
{
	CLEANUP(filename_release) struct filename one = {0};
	for (size_t i = first; i < n->count; i++) {
		CLEANUP(filename_release) struct filename other = {0};
		if (filename_parse(str_from(n->item[i].filename), i == first ? &one : &other, e) < 0)
			return -1;
		if (i > first && version_cmp(&one.version, &other.version) != 0)
			return err_set(e, ERR_INVALID,
				"it has wheels of several versions: name those that were tested, as pip install "
				"--report does");
	}
	return 0;
}

static int add_entries(struct named_wheels *n, const struct jsondoc *list,
	int (*add)(struct named_wheels *, const struct jsondoc *, struct err *), struct err *e)
{
	for (size_t i = 0; i < jsondoc_count(list); i++)
		if (add(n, jsondoc_at(list, i), e) < 0)
			return -1;
	return 0;
}

static int read_named_json(struct named_wheels *n, struct str text, struct err *e)
{
	size_t first = n->count;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read_bounded(text, LIMIT_EVIDENCE_VALUES, e);
	if (!doc)
		return -1;
	if (jsondoc_get(doc, "install"))
		return add_entries(n, jsondoc_get(doc, "install"), add_installed, e);
	if (!jsondoc_get(doc, "files"))
		return err_set(e, ERR_INVALID, "it has neither \"install\" nor \"files\"");
	return add_entries(n, jsondoc_get(doc, "files"), add_page_file, e) < 0 ? -1 : check_one_version(n, first, e);
}

// "SHA256  NAME", where NAME may be a path, and "*" may stand before it.
static int read_named_lines(struct named_wheels *n, struct str text, struct err *e)
{
	while (text.len) {
		struct str line = str_trim(str_cut(&text, '\n')), name = line, hash = str_cut(&name, ' ');
		name = str_trim(name);
		if (str_starts(name, STR("*")))
			name = str_slice(name, 1, name.len);
		long slash = str_rfind(name, '/');
		name = str_slice(name, (size_t)(slash + 1), name.len);
		if (line.len && filename_kind(name) == FILENAME_OTHER)
			return err_set(e, ERR_INVALID, "a line is not \"SHA256  NAME\", as sha256sum writes it");
		if (line.len && add_named(n, name, hash, e) < 0)
			return -1;
	}
	return 0;
}

int named_wheels_read(struct named_wheels *n, const char *from, struct str text, struct err *e)
{
	size_t before = n->count;
	struct str trimmed = str_trim(text);
	int result = str_starts(trimmed, STR("{")) ? read_named_json(n, trimmed, e) : read_named_lines(n, trimmed, e);
	if (result == 0 && n->count == before)
		result = err_set(e, ERR_INVALID, "it names no wheel");
	return result < 0 ? err_prefix(e, "--wheels-from %s: ", from) : 0;
}
