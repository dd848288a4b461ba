// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/sidecar.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/name.h"

const char *const sidecar_ending[MARK_COUNT] = {
	[MARK_YANKED] = ".yanked",
	[MARK_PRUNED] = ".pruned",
	[MARK_STATUS] = PLACE_STATUS,
	[MARK_TIME] = ".time",
};

bool sidecar_is(struct str name, struct str *filename, enum mark *mark)
{
	for (int i = 0; i < MARK_COUNT; i++) {
		struct str ending = str_from(sidecar_ending[i]);
		if (!str_ends(name, ending))
			continue;
		*filename = str_slice(name, 0, name.len - ending.len);
		*mark = (enum mark)i;
		return i == MARK_STATUS ? !filename->len : filename_kind(*filename) != FILENAME_OTHER;
	}
	return false;
}

char *sidecar_subject(struct str filename, enum mark mark, const char *folder)
{
	if (mark != MARK_STATUS)
		return xstrndup(filename.ptr, filename.len);
	const char *slash = strrchr(folder, '/');
	struct str last = str_from(slash ? slash + 1 : folder);
	CLEANUP(buf_release) struct buf normal = buf_up_to(LIMIT_FILE_NAME);
	if (!name_is_valid(last))
		return NULL;
	name_normalize(last, &normal);
	return buf_steal(&normal);
}

bool sidecar_fits(const char *filename)
{
	size_t longest = 0;
	for (int i = 0; i < MARK_COUNT; i++)
		longest = strlen(sidecar_ending[i]) > longest ? strlen(sidecar_ending[i]) : longest;
	return strlen(filename) + longest <= LIMIT_FILE_NAME;
}

static char *plain_name(const char *filename, enum mark mark)
{
	return xasprintf("%s%s", mark == MARK_STATUS ? "" : filename, sidecar_ending[mark]);
}

// The caller frees it; NULL with *e set: the name would be too long.
static char *sidecar_name(const char *filename, enum mark mark, struct err *e)
{
	char *name = plain_name(filename, mark);
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
	CLEANUP(mem_free) char *name = plain_name(filename, mark);
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
	CLEANUP(mem_free) char *name = plain_name(filename, mark);
	if (strlen(name) <= LIMIT_FILE_NAME && place_remove(folder, name, NULL, e) < 0)
		return -1;
	return place_sync(folder, e);
}
