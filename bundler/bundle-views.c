// SPDX-License-Identifier: Apache-2.0
#include "bundler/bundle-views.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/place/record.h"
#include "lib/state/views/evidence-file.h"
#include "lib/state/views/membership.h"
#include "lib/state/views/views-file.h"
#include "lib/state/views/views-sync.h"

const char *bundle_rename(const struct bundle_renames *all, const char *platform)
{
	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->item[i].from, platform) == 0)
			return all->item[i].to;
	return platform;
}

void bundle_views_release(struct bundle_views *v)
{
	free(v->folder);
	free(v->view);
}

// 1: it is there with these bytes; 0: it is not there. ERR_CONFLICT: it has other bytes.
static int look_at_record(struct bundle_views *v, const char *below, const char *name, struct str text, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(buf_release) struct buf there = buf_up_to(LIMIT_MEMBERSHIP);
	if (!v->folder && views_folder(v->config, &v->folder, e) < 0)
		return -1;
	CLEANUP(place_folder_close) struct place_folder *folder = record_folder(v->folder, below, false, &why);
	if (!folder || record_read(folder, name, LIMIT_MEMBERSHIP, &there, &why) < 0)
		return err_unless_missing(e, &why) < 0 ? err_prefix(e, "%s/%s/%s: ", v->folder, below, name) : 0;
	return str_eq(buf_view(&there), text)
		       ? 1
		       : err_set(e, ERR_CONFLICT, "%s/%s/%s is there, with other contents than in the bundle",
				 v->folder, below, name);
}

// Another process may write the same at the same time.
static int store_record(struct bundle_views *v, const char *below, const char *name, struct str text, struct err *e)
{
	struct err taken = ERR_INIT;
	int found = look_at_record(v, below, name, text, e);
	if (found)
		return found < 0 ? -1 : 0;
	CLEANUP(freeze_leave) struct freeze_hold hold = {0};
	if (views_write_enter(v->folder, &hold, e) < 0)
		return -1;
	CLEANUP(place_folder_close) struct place_folder *folder = record_folder(v->folder, below, true, e);
	if (!folder)
		return -1;
	v->has_new = true;
	if (record_create(folder, name, text, &taken) == 0)
		return 0;
	if (taken.kind == ERR_CONFLICT)
		return look_at_record(v, below, name, text, e) < 0 ? -1 : 0;
	*e = taken;
	return -1;
}

// --- generations ---

static const struct membership_file *rename_files(const struct bundle_views *v, const struct membership_file *file,
	size_t count, struct arena *text)
{
	struct membership_file *out = ARENA_NEW(text, struct membership_file, count);
	for (size_t i = 0; i < count; i++) {
		out[i] = file[i];
		out[i].platform = bundle_rename(v->renames, file[i].platform);
	}
	return out;
}

// Appends what the generation is here.
static void write_here(const struct bundle_views *v, struct membership_change *m, struct str text, struct buf *out)
{
	if (!v->renames->count) {
		buf_str(out, text);
		return;
	}
	m->add = rename_files(v, m->add, m->adds, &m->text);
	m->remove = rename_files(v, m->remove, m->removes, &m->text);
	memcpy(m->previous, v->sha256, SHA256_SIZE);
	membership_write(m, out);
}

static int begin_view(struct bundle_views *v, const char *name, struct err *e)
{
	const struct config_view *own = config_view(v->config, name);
	if (!own)
		return config_refuse_view(v->config, name, ERR_USAGE, e);
	if (!own->from)
		return err_set(e, ERR_USAGE, "the bundle has a membership of the view %s, which has no `from` here",
			name);
	free(v->view);
	v->view = xstrdup(name);
	v->generation = 0;
	return 0;
}

// Each generation continues the one before, which the rows of a bundle have in their order.
static int check_next_generation(const struct bundle_views *v, const struct bundle_row *r,
	const struct membership_change *m, struct err *e)
{
	if (strcmp(m->view, r->in) != 0 || m->generation != membership_number(r->name) ||
		m->generation != v->generation + 1)
		return err_set(e, ERR_INVALID, "it is not generation %" PRId64 " of the view %s", v->generation + 1,
			r->in);
	if (m->has_previous && !digest_equal(m->previous, v->previous))
		return err_set(e, ERR_INVALID, "it does not continue the generation before");
	return 0;
}

static int take_generation_text(struct bundle_views *v, const struct bundle_row *r, struct membership_change *m,
	struct str text, bool stores, struct err *e)
{
	CLEANUP(buf_release) struct buf here = buf_up_to(LIMIT_MEMBERSHIP);
	write_here(v, m, text, &here);
	if (here.failed)
		return err_set(e, ERR_LIMIT, "with the names of platforms here it has more than %d bytes",
			LIMIT_MEMBERSHIP);
	int taken = stores ? store_record(v, r->in, r->name, buf_view(&here), e)
			   : look_at_record(v, r->in, r->name, buf_view(&here), e);
	digest_sha256(buf_view(&here), v->sha256);
	memcpy(v->previous, r->sha256, SHA256_SIZE);
	v->generation = m->generation;
	return taken < 0 ? -1 : 0;
}

int bundle_views_generation(struct bundle_views *v, const struct bundle_row *r, struct str text, bool stores,
	struct err *e)
{
	CLEANUP(membership_release) struct membership_change m = {0};
	if ((!v->view || strcmp(v->view, r->in) != 0) && begin_view(v, r->in, e) < 0)
		return -1;
	if (membership_read(text, &m, e) < 0 || check_next_generation(v, r, &m, e) < 0)
		return err_prefix(e, "%s/%s: ", r->in, r->name);
	return take_generation_text(v, r, &m, text, stores, e);
}

// --- evidence ---

static int take_evidence_text(struct bundle_views *v, const struct bundle_row *r, struct str text, bool stores,
	struct err *e)
{
	uint8_t id[SHA256_SIZE], own[SHA256_SIZE];
	char below[EVIDENCE_FILE_FOLDER];
	struct evidence_file file;
	if (evidence_file_read(text, &file, e) < 0)
		return -1;
	memcpy(own, file.row.id, SHA256_SIZE);
	evidence_file_release(&file);
	if (!evidence_file_is(r->name, id) || !digest_equal(id, own))
		return err_set(e, ERR_INVALID, "it is another record than its name says");
	evidence_file_folder(id[0], below);
	return (stores ? store_record(v, below, r->name, text, e) : look_at_record(v, below, r->name, text, e)) < 0 ? -1
														    : 0;
}

// A record that came here by itself has another time. It stays.
int bundle_views_evidence(struct bundle_views *v, const struct bundle_row *r, struct str text, bool stores,
	struct err *e)
{
	struct err why = ERR_INIT;
	if (take_evidence_text(v, r, text, stores, &why) == 0 || why.kind == ERR_CONFLICT)
		return 0;
	*e = why;
	return err_prefix(e, "evidence %s: ", r->name);
}

// --- the catalog ---

static void warn_of_damage(void *ctx UNUSED, const char *path, const char *reason)
{
	log_warn("%s: %s", path, reason);
}

int bundle_views_end(struct bundle_views *v, struct catalog *c, struct err *e)
{
	struct views_sync_counts counts;
	return v->has_new ? views_sync(v->folder, c, warn_of_damage, NULL, &counts, e) : 0;
}
