// SPDX-License-Identifier: Apache-2.0
#include "lib/state/views/membership.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "lib/state/views/views-file.h"
#include "lib/state/views/views-freeze.h"
#include "lib/state/views/views-sync.h"

char *views_folder_or_none(const struct config *c)
{
	if (c->views_path)
		return xstrdup(c->views_path);
	return c->store ? xasprintf("%s/.wheelcache-views", c->store) : NULL;
}

int views_folder(const struct config *c, char **out, struct err *e)
{
	*out = NULL;
	if (!c->views_path && !c->store)
		return err_set(e, ERR_USAGE,
			"memberships of views need [store] views, or a store for all platforms ([store] path)");
	*out = views_folder_or_none(c);
	return 0;
}

// Brings the catalog up to date, and checks that the caller has decided on its newest generation.
static int check_newest(const char *folder, struct catalog *c, const struct membership_change *m,
	struct catalog_view *newest, struct err *e)
{
	struct views_sync_counts counts = {0};
	int whole = views_sync_view(folder, m->view, c, NULL, NULL, &counts, e);
	if (whole < 0 || catalog_view_find(c, m->view, newest, e) < 0)
		return -1;
	if (!whole)
		return err_set(e, ERR_INVALID,
			"the membership of view %s is damaged; \"wheelcache index\" says which file", m->view);
	if (newest->generation != m->generation - 1)
		return err_set(e, ERR_CONFLICT, "view %s has generation %" PRId64 " already", m->view,
			newest->generation);
	if (m->generation > LIMIT_GENERATIONS)
		return err_set(e, ERR_LIMIT, "view %s has %d generations", m->view, LIMIT_GENERATIONS);
	return 0;
}

static void follow_newest(struct membership_change *m, const struct catalog_view *newest)
{
	int64_t now = clock_wall_seconds();
	m->made = m->times || now > newest->made ? now : newest->made;
	m->has_previous = newest->generation > 0;
	memcpy(m->previous, newest->sha256, SHA256_SIZE);
}

// A file that cannot be read again would damage the view.
static int write_checked(const struct membership_change *m, struct buf *text, struct err *e)
{
	CLEANUP(membership_release) struct membership_change again = {0};
	membership_write(m, text);
	if (text->failed)
		return err_set(e, ERR_LIMIT, "view %s: a generation of more than %d bytes", m->view, LIMIT_MEMBERSHIP);
	if (membership_read(buf_view(text), &again, e) < 0)
		return err_prefix(e, "view %s: ", m->view);
	return 0;
}

static int create_generation(const char *folder, const struct membership_change *m, struct err *e)
{
	char name[MEMBERSHIP_NAME];
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_MEMBERSHIP);
	membership_name(m->generation, name);
	CLEANUP(freeze_leave) struct freeze_hold hold = {0};
	if (write_checked(m, &text, e) < 0 || views_write_enter(folder, &hold, e) < 0)
		return -1;
	CLEANUP(mem_close) int dirfd = views_file_folder(folder, m->view, true, e);
	return dirfd < 0 ? -1 : views_file_create(dirfd, name, buf_view(&text), e);
}

// What is in the store by now, also if another writer was faster.
static int read_store(const char *folder, struct catalog *c, const struct membership_change *m, struct err *e)
{
	struct views_sync_counts counts = {0};
	int whole = views_sync_view(folder, m->view, c, NULL, NULL, &counts, e);
	if (whole == 0)
		return err_set(e, ERR_INVALID, "the membership of view %s is damaged", m->view);
	return whole < 0 ? -1 : 0;
}

int membership_append(const char *folder, struct catalog *c, struct membership_change *m, struct err *e)
{
	struct catalog_view newest;
	struct err why = ERR_INIT;
	if (check_newest(folder, c, m, &newest, e) < 0)
		return -1;
	follow_newest(m, &newest);
	int created = create_generation(folder, m, &why);
	if (created < 0 && why.kind != ERR_CONFLICT) {
		*e = why;
		return -1;
	}
	if (read_store(folder, c, m, e) < 0)
		return -1;
	if (created < 0)
		return err_set(e, ERR_CONFLICT, "view %s: another writer made generation %" PRId64, m->view,
			m->generation);
	return 0;
}
