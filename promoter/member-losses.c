// SPDX-License-Identifier: Apache-2.0
#include "promoter/member-losses.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/text/filename.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-view.h"

// A row of the catalog, and what has become of it.
struct known_loss {
	struct member_loss was; // project "": not known
	enum { LOSS_LEFT, LOSS_REMAINS, LOSS_ENDED } now; // LEFT: it is no member any more
};

struct loss_reader {
	struct member_losses *out;
	struct known_loss *known; // sorted
	size_t knowns, room;
};

// --- reading ---

static int compare_losses(const void *a, const void *b)
{
	const struct member_loss *x = a, *y = b;
	int order = strcmp(x->platform, y->platform);
	order = order ? order : strcmp(x->filename, y->filename);
	return order ? order : memcmp(x->sha256, y->sha256, SHA256_SIZE);
}

static int keep_known(void *ctx, const struct catalog_lost *row, struct err *e UNUSED)
{
	struct loss_reader *r = ctx;
	struct arena *text = &r->out->text;
	ARENA_GROW(text, r->known, r->knowns, r->room);
	struct known_loss *k = &r->known[r->knowns++];
	*k = (struct known_loss){.was = {.platform = arena_strdup(text, row->platform),
					 .project = "",
					 .filename = arena_strdup(text, row->filename),
					 .since = row->since}};
	memcpy(k->was.sha256, row->sha256, SHA256_SIZE);
	return 0;
}

static void add_loss(struct member_losses *to, const struct member_loss *from)
{
	ARENA_GROW(&to->text, to->item, to->count, to->room);
	struct member_loss *l = &to->item[to->count++];
	*l = *from;
	l->platform = arena_strdup(&to->text, from->platform);
	l->project = arena_strdup(&to->text, from->project);
	l->filename = arena_strdup(&to->text, from->filename);
}

static int note_lost_member(void *ctx, const struct catalog_member *m, struct err *e UNUSED)
{
	struct loss_reader *r = ctx;
	struct member_loss l = {m->platform_name, m->project, m->filename, {0}, m->since, 0};
	if (m->is_listed && !r->knowns)
		return 0;
	memcpy(l.sha256, m->sha256, SHA256_SIZE);
	struct known_loss *known =
		r->knowns ? bsearch(&l, r->known, r->knowns, sizeof(*r->known), compare_losses) : NULL;
	if (known) {
		known->now = m->is_listed ? LOSS_ENDED : LOSS_REMAINS;
		known->was.project = arena_strdup(&r->out->text, m->project);
		l.since = known->was.since;
	}
	if (!m->is_listed)
		add_loss(r->out, &l);
	return 0;
}

static int read_losses(struct loss_reader *r, struct catalog *c, const char *view, const char *project, struct err *e)
{
	*r->out = (struct member_losses){0};
	if (catalog_lost_list(c, view, keep_known, r, e) < 0)
		return -1;
	return catalog_view_members(c, view, GENERATION_NEWEST, project, note_lost_member, r, e);
}

int member_losses_read(struct catalog *c, const char *view, const char *project, struct member_losses *out, struct err *e)
{
	struct loss_reader r = {.out = out};
	return read_losses(&r, c, view, project, e);
}

void member_losses_release(struct member_losses *l)
{
	arena_release(&l->text);
	*l = (struct member_losses){0};
}

// --- telling ---

// Losses of a view that wait for the command join, as they are often of one cause.
static void tell_loss(const struct config_view *v, const struct member_loss *l, bool is_lost, struct hook_queue *queue)
{
	char since[CLOCK_TEXT], sha256[SHA256_HEX + 1] = "";
	CLEANUP(arena_release) struct arena a = {0};
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	bool is_known = filename_parse(str_from(l->filename), &name, &ignored) == 0;
	const char *version = is_known ? name.version.text : "-", *word = is_lost ? "lost" : "back";
	clock_write(l->since, since);
	hex_encode(l->sha256, SHA256_SIZE, sha256);
	const char *about = arena_printf(&a, "%s/%s in %s", l->platform, l->filename, v->name);
	const char *joins = arena_printf(&a, "lost files of %s", v->name);
	const char *line = arena_printf(
		&a, "%s %s %s %s %s %s", word, v->name, l->platform, l->project, version, l->filename);
	const char *const variables[][2] = {{"CHANGE", word}, {"VIEW", v->name}, {"PLATFORM", l->platform},
		{"PROJECT", l->project}, {"VERSION", version}, {"FILE", l->filename}, {"SHA256", sha256},
		{"SINCE", since}};
	const struct hook_value values[] = {{'p', l->platform}, {'v', ""}, {'n', l->project}, {'r', version}};
	const struct hook_job job = {
		v->on_change, about, joins, line, values, ARRAY_SIZE(values), variables, ARRAY_SIZE(variables)};
	hook_queue_add(queue, &job);
}

static void log_losses(const struct config_view *v, const struct member_losses *l, bool are_lost)
{
	for (size_t i = 0; i < l->count && i < LIMIT_LOST_NAMED; i++) {
		if (are_lost)
			log_warn("view %s: lost: %s/%s: the store does not list these bytes any more", v->name,
				l->item[i].platform, l->item[i].filename);
		else
			log_info("view %s: %s/%s is back", v->name, l->item[i].platform, l->item[i].filename);
	}
	if (l->count > LIMIT_LOST_NAMED)
		log_warn("view %s: and %zu more that are %s", v->name, l->count - LIMIT_LOST_NAMED,
			are_lost ? "lost" : "back");
}

static struct catalog_lost loss_row(const struct config_view *v, const struct member_loss *l)
{
	struct catalog_lost row = {v->name, l->platform, l->filename, {0}, l->since};
	memcpy(row.sha256, l->sha256, SHA256_SIZE);
	return row;
}

// lost, back: what this server is to tell of. Another one may have kept and told it meanwhile, and a file that is no
// member any more is not back.
static int keep_losses(const struct config_view *v, struct catalog *c, int64_t now, struct loss_reader *r,
	struct member_losses *lost, struct member_losses *back, struct err *e)
{
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(c, &t, e) < 0)
		return -1;
	for (size_t i = 0; i < r->out->count; i++) {
		struct member_loss *l = &r->out->item[i];
		if (l->since)
			continue;
		l->since = now;
		const struct catalog_lost row = loss_row(v, l);
		int is_new = catalog_lost_put(c, &row, e);
		if (is_new < 0)
			return -1;
		if (is_new)
			add_loss(lost, l);
	}
	for (size_t i = 0; i < r->knowns; i++) {
		const struct known_loss *k = &r->known[i];
		const struct catalog_lost row = loss_row(v, &k->was);
		int was_known = k->now == LOSS_REMAINS ? 0 : catalog_lost_remove(c, &row, e);
		if (was_known < 0)
			return -1;
		if (was_known && k->now == LOSS_ENDED)
			add_loss(back, &k->was);
	}
	return catalog_commit(&t, e);
}

static bool has_changed(const struct loss_reader *r)
{
	for (size_t i = 0; i < r->out->count; i++)
		if (!r->out->item[i].since)
			return true;
	for (size_t i = 0; i < r->knowns; i++)
		if (r->known[i].now != LOSS_REMAINS)
			return true;
	return false;
}

int member_losses_note(const struct config_view *v, struct catalog *c, int64_t now, struct hook_queue *queue,
	struct member_losses *out, struct err *e)
{
	struct loss_reader r = {.out = out};
	CLEANUP(member_losses_release) struct member_losses lost = {0};
	CLEANUP(member_losses_release) struct member_losses back = {0};
	if (read_losses(&r, c, v->name, NULL, e) < 0)
		return -1;
	if (!has_changed(&r))
		return 0;
	if (keep_losses(v, c, now, &r, &lost, &back, e) < 0)
		return -1;
	log_losses(v, &lost, true);
	log_losses(v, &back, false);
	for (size_t i = 0; i < lost.count; i++)
		tell_loss(v, &lost.item[i], true, queue);
	for (size_t i = 0; i < back.count; i++)
		tell_loss(v, &back.item[i], false, queue);
	return 0;
}
