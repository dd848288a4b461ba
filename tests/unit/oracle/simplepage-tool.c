// SPDX-License-Identifier: Apache-2.0
// Parses pages with lib/domain/index/simplepage, for tests in other languages. The arguments are groups of four:
// content type, URL of the page, project, file. Prints one line with a JSON object for each page, after packing and
// unpacking it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/index/simplepage.h"
#include "lib/format/jsondoc.h"
#include "lib/os/fs.h"

enum { PAGE_MAX = 64 << 20 };

static const char *const fault_name[] = {
	[SIMPLEPAGE_GOOD] = "good",
	[SIMPLEPAGE_NOT_A_PAGE] = "not-a-page",
	[SIMPLEPAGE_TRUNCATED] = "truncated",
	[SIMPLEPAGE_WRONG_PROJECT] = "wrong-project",
	[SIMPLEPAGE_TOO_LARGE] = "too-large",
};

static void put(struct jsondoc *out, const char *key, const char *text)
{
	if (text)
		jsondoc_put_str(out, key, text);
}

static void put_hash(struct jsondoc *out, const char *key, bool is_known, const uint8_t *sha256)
{
	char hex[SHA256_HEX + 1] = "";
	if (!is_known)
		return;
	hex_encode(sha256, SHA256_SIZE, hex);
	jsondoc_put_str(out, key, hex);
}

static struct jsondoc *file_facts(const struct simplepage_file *f)
{
	struct jsondoc *out = jsondoc_object();
	put(out, "filename", f->filename);
	put(out, "url", f->url);
	put(out, "requires-python", f->requires_python);
	put(out, "yanked", f->yanked);
	put(out, "provenance", f->provenance);
	put(out, "upload-time", f->upload_time);
	jsondoc_put_int(out, "uploaded", f->uploaded);
	jsondoc_put_int(out, "size", f->size);
	put_hash(out, "sha256", f->has_sha256, f->sha256);
	jsondoc_put_bool(out, "metadata", f->has_metadata);
	put_hash(out, "metadata-sha256", f->has_metadata_sha256, f->metadata_sha256);
	return out;
}

static void put_page(struct jsondoc *out, const struct simplepage *page)
{
	struct jsondoc *files = jsondoc_array(), *versions = jsondoc_array();
	for (size_t i = 0; i < page->files; i++)
		jsondoc_add(files, file_facts(&page->file[i]));
	for (size_t i = 0; i < page->versions; i++) {
		struct jsondoc *version = jsondoc_object();
		jsondoc_put_str(version, "version", page->version[i]);
		jsondoc_add(versions, version);
	}
	put(out, "project", page->project);
	put(out, "status", simplepage_status_name[page->status]);
	put(out, "status-reason", page->status_reason);
	jsondoc_put_int(out, "serial", (int64_t)page->serial);
	jsondoc_put(out, "versions", versions);
	jsondoc_put(out, "files", files);
}

static int parse_and_describe(char *const *argument, struct jsondoc *out, struct err *e)
{
	CLEANUP(simplepage_release) struct simplepage page = {0}, again = {0};
	CLEANUP(buf_release) struct buf body, packed;
	enum simplepage_fault fault;
	buf_init(&body, PAGE_MAX);
	buf_init(&packed, PAGE_MAX);
	if (fs_read_file(argument[3], &body, e) < 0)
		return -1;
	int result =
		simplepage_parse(buf_view(&body), str_from(argument[0]), argument[1], argument[2], &page, &fault, e);
	jsondoc_put_str(out, "fault", fault_name[fault]);
	if (result < 0) {
		jsondoc_put_str(out, "why", e->msg);
		return 0;
	}
	if (simplepage_pack(&page, &packed, e) < 0 || simplepage_unpack(buf_view(&packed), &again, e) < 0)
		return -1;
	jsondoc_put_int(out, "packed", (int64_t)packed.len);
	put_page(out, &again);
	return 0;
}

static int print_page(char *const *argument)
{
	struct err e = ERR_INIT;
	CLEANUP(jsondoc_cleanup) struct jsondoc *out = jsondoc_object();
	CLEANUP(buf_release) struct buf line;
	buf_init(&line, PAGE_MAX);
	if (parse_and_describe(argument, out, &e) < 0) {
		fprintf(stderr, "%s: %s\n", argument[3], e.msg);
		return -1;
	}
	jsondoc_write(out, 0, &line);
	return fwrite(line.data, 1, line.len, stdout) == line.len ? 0 : -1;
}

int main(int argc, char **argv)
{
	for (int i = 1; i + 3 < argc; i += 4)
		if (print_page(argv + i) < 0)
			return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
