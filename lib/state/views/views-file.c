// SPDX-License-Identifier: Apache-2.0
#include "lib/state/views/views-file.h"

#include "lib/os/clock.h"
#include "lib/place/place-address.h"

static struct place *open_place(const char *folder)
{
	return place_at(folder, folder, PLACE_POSIX_OURS);
}

bool views_file_answers(const char *folder, unsigned ms, struct err *why)
{
	struct place *p = open_place(folder);
	bool answers = place_answers(p, NULL, clock_ms() + ms, why);
	place_free(p);
	return answers;
}

// --- its freeze ---

// The folder as freeze.h expects it.
struct frozen_folder {
	char name[8];
	struct platform platform;
};

static void frozen_folder_release(struct frozen_folder *f)
{
	place_free(f->platform.place);
}

static void frozen_folder_init(struct frozen_folder *f, const char *folder)
{
	struct place *place = open_place(folder);
	*f = (struct frozen_folder){.name = "(views)"};
	f->platform = (struct platform){.name = f->name, .place = place, .written = place};
}

int views_freeze(const char *folder, const char *who, const char *reason, unsigned wait_ms, struct err *e)
{
	CLEANUP(frozen_folder_release) struct frozen_folder f;
	frozen_folder_init(&f, folder);
	return place_make(f.platform.place, e) < 0 ? -1 : freeze_set(&f.platform, who, reason, wait_ms, e);
}

int views_thaw(const char *folder, bool *was_frozen, struct err *e)
{
	CLEANUP(frozen_folder_release) struct frozen_folder f;
	frozen_folder_init(&f, folder);
	struct err missing = ERR_INIT;
	*was_frozen = false;
	return freeze_clear(&f.platform, was_frozen, &missing) < 0 ? err_unless_missing(e, &missing) : 0;
}

int views_write_enter(const char *folder, struct freeze_hold *hold, struct err *e)
{
	CLEANUP(buf_release) struct buf why;
	CLEANUP(frozen_folder_release) struct frozen_folder f;
	frozen_folder_init(&f, folder);
	buf_init(&why, SIZE_MAX / 2); // the file is read up to a limit
	*hold = (struct freeze_hold){0};
	if (place_make(f.platform.place, e) < 0)
		return -1;
	int frozen = freeze_is(&f.platform, &why, e);
	if (frozen > 0)
		return err_set(e, ERR_BUSY, "the views of the store are frozen: %s", why.data);
	return frozen < 0 ? -1 : freeze_enter(&f.platform, false, hold, e);
}
