// SPDX-License-Identifier: Apache-2.0
#include "lib/state/views/views-freeze.h"

#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/state/views/views-file.h"

// The folder as freeze.h expects it.
struct frozen_folder {
	char name[8], here[2];
	char *path;
	struct platform platform;
};

static void frozen_folder_release(struct frozen_folder *f)
{
	mem_free(&f->path);
}

static void frozen_folder_init(struct frozen_folder *f, const char *folder)
{
	*f = (struct frozen_folder){.name = "(views)", .here = ".", .path = xstrdup(folder)};
	f->platform = (struct platform){.name = f->name, .path = f->path, .root = f->path, .folder = f->here};
}

static int make_folder(const char *folder, struct err *e)
{
	CLEANUP(mem_close) int fd = views_file_folder(folder, "", true, e);
	return fd < 0 ? -1 : 0;
}

int views_freeze(const char *folder, const char *who, const char *reason, unsigned wait_ms, struct err *e)
{
	CLEANUP(frozen_folder_release) struct frozen_folder f;
	frozen_folder_init(&f, folder);
	return make_folder(folder, e) < 0 ? -1 : freeze_set(&f.platform, who, reason, wait_ms, e);
}

int views_thaw(const char *folder, bool *was_frozen, struct err *e)
{
	CLEANUP(frozen_folder_release) struct frozen_folder f;
	frozen_folder_init(&f, folder);
	*was_frozen = false;
	return access(folder, F_OK) < 0 ? 0 : freeze_clear(&f.platform, was_frozen, e);
}

int views_write_enter(const char *folder, struct freeze_hold *hold, struct err *e)
{
	CLEANUP(buf_release) struct buf why;
	CLEANUP(frozen_folder_release) struct frozen_folder f;
	frozen_folder_init(&f, folder);
	buf_init(&why, SIZE_MAX / 2); // the file is read up to a limit
	*hold = (struct freeze_hold){0};
	if (make_folder(folder, e) < 0)
		return -1;
	int frozen = freeze_is(&f.platform, &why, e);
	if (frozen > 0)
		return err_set(e, ERR_BUSY, "the views of the store are frozen: %s", why.data);
	return frozen < 0 ? -1 : freeze_enter(&f.platform, false, hold, e);
}
