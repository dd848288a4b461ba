// SPDX-License-Identifier: Apache-2.0
#include "builder/step/built-wheel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/domain/text/name.h"
#include "lib/os/fs.h"
#include "lib/state/store/ingest.h"

enum { SHOWN = 5 }; // names in a message

// --- the folder ---

static int list_wheels(int folder, struct strset *out, struct err *e)
{
	int listed = fcntl(folder, F_DUPFD_CLOEXEC, 0);
	CLEANUP(fs_close_dir) DIR *dir = listed < 0 ? NULL : fdopendir(listed);
	if (!dir) {
		mem_close(&listed);
		return err_errno(e, ERR_IO, "the output folder");
	}
	for (struct dirent *entry; (entry = readdir(dir));)
		if (filename_kind(str_from(entry->d_name)) == FILENAME_WHEEL)
			strset_add(out, entry->d_name);
	strset_sort(out);
	return 0;
}

static int remove_wheel_before(int folder, const char *name, struct strset *all, struct err *e)
{
	struct strset rest = {0};
	if (unlinkat(folder, name, 0) < 0)
		return err_errno(e, ERR_IO, "%s", name);
	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->item[i], name) != 0)
			strset_add(&rest, all->item[i]);
	strset_sort(&rest);
	strset_release(all);
	*all = rest;
	return 0;
}

static int report_several(const struct strset *all, struct err *e)
{
	CLEANUP(buf_release) struct buf names;
	buf_init(&names, SHOWN * LIMIT_FILE_NAME * 2);
	for (size_t i = 0; i < all->count && i < SHOWN; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", all->item[i]);
	return err_set(e, ERR_INVALID, "it left %zu wheels instead of one: %s", all->count, names.data);
}

// Opens the folder itself, not what a link in its place leads to.
static int open_output(const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? err_errno(e, ERR_IO, "the output folder") : fd;
}

static int find_only_wheel(const char *path, const char *before, char **name, struct err *e)
{
	struct stat st;
	CLEANUP(strset_release) struct strset all = {0};
	CLEANUP(mem_close) int folder = open_output(path, e);
	if (folder < 0 || list_wheels(folder, &all, e) < 0)
		return -1;
	if (all.count > 1 && before && strset_has(&all, before) && remove_wheel_before(folder, before, &all, e) < 0)
		return -1;
	if (!all.count)
		return err_set(e, ERR_INVALID, "it left no wheel");
	if (all.count > 1)
		return report_several(&all, e);
	if (fstatat(folder, all.item[0], &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(e, ERR_IO, "%s", all.item[0]);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_INVALID, "%s is no regular file", all.item[0]);
	*name = xstrdup(all.item[0]);
	return 0;
}

// --- the wheel ---

static int check_built_project(const struct built_wheel_want *want, const struct filename *name, struct err *e)
{
	CLEANUP(buf_release) struct buf normal;
	buf_init(&normal, LIMIT_FILE_NAME);
	name_normalize(str_from(want->project), &normal);
	if (!str_eq(buf_view(&normal), str_from(name->project)))
		return err_set(e, ERR_INVALID, "it made a wheel of %s instead of %s", name->project, want->project);
	return 0;
}

static int check_built_version(const struct built_wheel_want *want, const struct filename *name, struct err *e)
{
	CLEANUP(version_release) struct version version = {0};
	if (version_parse(str_from(want->version), &version, e) < 0)
		return -1;
	if (version_cmp(&version, &name->version) != 0)
		return err_set(e, ERR_INVALID, "it made version %s instead of %s", name->version.text, want->version);
	return 0;
}

static int check_built_tags(const struct built_wheel_want *want, const struct filename *name, struct err *e)
{
	long best;
	if (environment_best(want->environment, name, &best, e) < 0)
		return -1;
	if (best < 0)
		return err_set(e, ERR_INVALID, "its tag " STR_FMT "-" STR_FMT "-" STR_FMT " does not install there",
			STR_ARG(name->python), STR_ARG(name->abi), STR_ARG(name->platform));
	return 0;
}

static int check_built_filename(const struct built_wheel_want *want, const char *text, struct err *e)
{
	static int (*const checks[])(const struct built_wheel_want *, const struct filename *, struct err *) = {
		check_built_project, check_built_version, check_built_tags};
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_check(str_from(text), e) < 0 || filename_parse(str_from(text), &name, e) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		if (checks[i](want, &name, e) < 0)
			return -1;
	return 0;
}

static void ingest_cleanup(struct ingest **in)
{
	ingest_free(*in);
}

// RECORD, METADATA, WHEEL, the framing, and the hash.
static int check_built_content(struct built_wheel *wheel, struct err *e)
{
	CLEANUP(mem_close) int fd = open(wheel->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return err_errno(e, ERR_IO, "%s", wheel->filename);
	CLEANUP(ingest_cleanup) struct ingest *in = ingest_new();
	CLEANUP(ingest_facts_release) struct ingest_facts facts;
	ingest_facts_init(&facts);
	if (ingest_read(in, fd, wheel->filename, STRICT, &facts, e) < 0)
		return err_prefix(e, "%s: ", wheel->filename);
	if (facts.refusal)
		return err_set(e, ERR_INVALID, "%s: %s", wheel->filename, facts.refusal);
	hex_encode(facts.sha256, SHA256_SIZE, wheel->sha256);
	wheel->size = (uint64_t)facts.st.st_size;
	wheel->requires_python = STEAL_PTR(facts.wheel.requires_python);
	return 0;
}

int built_wheel_find(const char *folder, const struct built_wheel_want *want, struct built_wheel *wheel, struct err *e)
{
	CLEANUP(built_wheel_release) struct built_wheel found = {0};
	if (find_only_wheel(folder, wheel->filename, &found.filename, e) < 0)
		return -1;
	found.path = xasprintf("%s/%s", folder, found.filename);
	if (check_built_filename(want, found.filename, e) < 0 || check_built_content(&found, e) < 0)
		return -1;
	struct built_wheel before = *wheel;
	*wheel = found;
	found = before; // is released
	return 0;
}

bool built_wheel_is_pure(const struct built_wheel *wheel)
{
	return wheel->filename && str_ends(str_from(wheel->filename), STR("-any.whl"));
}

void built_wheel_release(struct built_wheel *wheel)
{
	free(wheel->path);
	free(wheel->filename);
	free(wheel->requires_python);
	*wheel = (struct built_wheel){0};
}
