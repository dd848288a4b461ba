// SPDX-License-Identifier: Apache-2.0
#include "lib/view/site-check.h"

#include <string.h>

#include "lib/base/suggest.h"
#include "lib/domain/machine/platform.h"
#include "lib/advisories/advisories.h"
#include "lib/audit/wheel-gate.h"
#include "lib/state/upstream/upstream.h"

// A folder of a platform may be away, and its pages stay.
static bool is_platform(const struct store *store, struct catalog *catalog, const char *name)
{
	struct err ignored = ERR_INIT;
	int64_t id;
	if (store_platform_named(store, str_from(name)))
		return true;
	return store->is_detected && catalog && platform_is_slug(str_from(name)) &&
	       catalog_platform_find(catalog, name, &id, &ignored) == 0;
}

static int check_view_names(const struct config_view *v, const struct store *store, struct catalog *catalog, struct err *e)
{
	if (is_platform(store, catalog, v->name))
		return err_set(e, ERR_USAGE, "view %s: a platform has that name", v->name);
	for (size_t i = 0; i < v->platform_count; i++)
		if (!is_platform(store, catalog, v->platforms[i])) {
			store_refuse_platform(store, v->platforms[i], ERR_USAGE, e);
			return err_prefix(e, "[view %s] platforms: ", v->name);
		}
	return 0;
}

static int refuse_view_name(const struct config *c, const struct store *store, const char *name, struct err *e)
{
	CLEANUP(name_choice_release) struct name_choice names;
	name_choice_init(&names, str_from(name));
	for (size_t i = 0; i < store->platform_count; i++)
		name_choice_add(&names, store->platform[i].name);
	for (size_t i = 0; i < c->view_count; i++)
		name_choice_add(&names, c->views[i].name);
	return name_choice_refuse(&names, ERR_USAGE, "there is no view or platform", e);
}

int site_check_names(const struct config *c, const struct store *store, struct catalog *catalog, struct err *e)
{
	for (size_t i = 0; i < c->view_count; i++)
		if (check_view_names(&c->views[i], store, catalog, e) < 0)
			return -1;
	if (c->default_view && strcmp(c->default_view, CONFIG_NO_VIEW) != 0 && !config_view(c, c->default_view) &&
		!is_platform(store, catalog, c->default_view))
		return refuse_view_name(c, store, c->default_view, e) < 0 ? err_prefix(e, "[store] default-view: ")
									  : -1;
	// A word with a glob may match nothing yet.
	const char *list = c->prune_clients_have_upstream ? c->prune_clients_have_upstream : "no";
	if (strcmp(list, "yes") == 0 || strcmp(list, "no") == 0)
		return 0;
	for (struct str rest = str_from(list); rest.len;) {
		struct str word = str_cut(&rest, ' ');
		CLEANUP(mem_free) char *name = xstrndup(word.ptr, word.len);
		if (strpbrk(name, "*?[") || strcmp(name, VIEW_DEFAULT_PATH) == 0 || config_view(c, name) ||
			is_platform(store, catalog, name))
			continue;
		refuse_view_name(c, store, name, e);
		return err_prefix(e, "[prune] clients-have-upstream: ");
	}
	return 0;
}

int site_check(const struct config *c, const struct store *store, struct catalog *catalog, struct err *e)
{
	struct wheel_gate *gate = NULL;
	if (site_check_names(c, store, catalog, e) < 0 || wheel_gate_new(c, &gate, e) < 0)
		return -1;
	wheel_gate_unref(gate);
	return 0;
}

// The first that cannot be read.
static void refuse_list(void *ctx, const struct upstreams_list *l)
{
	struct err *e = ctx;
	if (l->error && e->kind == ERR_NONE)
		err_set(e, ERR_USAGE, "%s", l->error);
}

int site_check_lists(const struct config *c, struct err *e)
{
	struct err why = ERR_INIT;
	upstreams_check_lists(c, refuse_list, &why);
	if (why.kind == ERR_NONE)
		return 0;
	*e = why;
	return -1;
}

static int check_for_command(const struct config *c, const struct store *store, struct catalog *catalog, struct err *e)
{
	return site_check(c, store, catalog, e) < 0 || site_check_lists(c, e) < 0 ||
			       advisories_look(c, catalog_path(catalog), e) < 0
		       ? -1
		       : 0;
}

int site_check_find(const struct config *c, struct store *store, struct catalog *catalog, struct err *e)
{
	return check_for_command(c, store, catalog, e) < 0 ? -1 : store_find(store, catalog, e);
}

int site_check_register(const struct config *c, struct store *store, struct catalog *catalog, struct err *e)
{
	return check_for_command(c, store, catalog, e) < 0 ? -1 : store_register(store, catalog, e);
}
