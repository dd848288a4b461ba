// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/sidecar.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/domain/text/filename.h"

const char *const sidecar_ending[MARK_COUNT] = {
	[MARK_YANKED] = ".yanked",
	[MARK_PRUNED] = ".pruned",
};

bool sidecar_is(struct str name, struct str *filename, enum mark *mark)
{
	for (int i = 0; i < MARK_COUNT; i++) {
		struct str ending = str_from(sidecar_ending[i]);
		if (!str_ends(name, ending))
			continue;
		*filename = str_slice(name, 0, name.len - ending.len);
		*mark = (enum mark)i;
		return filename_kind(*filename) != FILENAME_OTHER;
	}
	return false;
}

bool sidecar_fits(const char *filename)
{
	size_t longest = 0;
	for (int i = 0; i < MARK_COUNT; i++)
		longest = strlen(sidecar_ending[i]) > longest ? strlen(sidecar_ending[i]) : longest;
	return strlen(filename) + longest <= LIMIT_FILE_NAME;
}

// The caller frees it; NULL with *e set: the name would be too long.
static char *sidecar_name(const char *filename, enum mark mark, struct err *e)
{
	char *name = xasprintf("%s%s", filename, sidecar_ending[mark]);
	if (strlen(name) <= LIMIT_FILE_NAME)
		return name;
	err_set(e, ERR_LIMIT, "%s: too long to have a \"%s\" beside it", filename, sidecar_ending[mark]);
	mem_free(&name);
	return NULL;
}

// Does not block: a FIFO of that name is not a sidecar.
int sidecar_read(struct place_folder *folder, const char *filename, enum mark mark, struct buf *out, struct err *e)
{
	struct err why = ERR_INIT;
	struct place_info info;
	CLEANUP(mem_free) char *name = xasprintf("%s%s", filename, sidecar_ending[mark]);
	if (strlen(name) > LIMIT_FILE_NAME)
		return 0;
	CLEANUP(place_file_close) struct place_file *file = place_open_in(folder, name, &why);
	if (!file && why.kind == ERR_NOT_FOUND)
		return 0;
	if (file && place_file_info(file, &info, &why) == 0 && info.kind != PLACE_FILE)
		return 0;
	if (!file || place_file_read(file, LIMIT_SIDECAR, out, &why) < 0) {
		*e = why;
		return file ? err_prefix(e, "%s: ", name) : -1;
	}
	return 1;
}

int sidecar_write(struct place_folder *folder, const char *filename, enum mark mark, struct str text, struct err *e)
{
	CLEANUP(mem_free) char *name = sidecar_name(filename, mark, e);
	CLEANUP(place_write_free) struct place_write *w = name ? place_write_begin(folder, name, e) : NULL;
	if (!w || place_write_add(w, text, e) < 0 || place_replace(w, NULL, e) < 0)
		return -1;
	return place_sync(folder, e);
}

int sidecar_remove(struct place_folder *folder, const char *filename, enum mark mark, struct err *e)
{
	CLEANUP(mem_free) char *name = xasprintf("%s%s", filename, sidecar_ending[mark]);
	if (strlen(name) <= LIMIT_FILE_NAME && place_remove(folder, name, NULL, e) < 0)
		return -1;
	return place_sync(folder, e);
}
