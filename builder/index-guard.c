// SPDX-License-Identifier: Apache-2.0
#include "builder/index-guard.h"

#include <string.h>

#include "builder/build-server.h"
#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/base/str.h"
#include "lib/format/jsondoc.h"

// The first upstream of the default view that is asked for all projects; if there is none, the first.
static const char *urls_of_builds(const struct config *c)
{
	struct config_order order;
	config_default_order(c, &order);
	for (size_t i = 0; i < order.count; i++)
		if (!c->upstreams.item[order.item[i]].projects)
			return c->upstreams.item[order.item[i]].urls;
	return c->upstreams.item[order.item[0]].urls;
}

char *index_guard_index(const struct config *c)
{
	struct str urls = str_from(c->build_index ? c->build_index : urls_of_builds(c));
	struct str first = str_cut(&urls, ' ');
	return xstrndup(first.ptr, first.len);
}

// The server of an index, and the name of its view: "" is the default view.
struct index_place {
	char *base; // with "/" at its end
	char *view;
};

static void release_place(struct index_place *p)
{
	mem_free(&p->base);
	mem_free(&p->view);
}

// Reads BASE/simple/ and BASE/NAME/simple/. base: where the server is known to be; empty: the view is the last part of
// the path. False if the URL has another form.
static bool read_place(struct str url, struct str base, struct index_place *out)
{
	if (str_ends(url, STR("/")))
		url.len--;
	if (!str_ends(url, STR("/simple")))
		return false;
	url.len -= strlen("simple");
	if (!base.len) {
		struct str path = url;
		str_cut(&path, '/');
		str_cut(&path, '/');
		str_cut(&path, '/'); // behind the host
		path.len -= path.len > 0;
		base = str_slice(url, 0, url.len - (path.len ? path.len - (size_t)(str_rfind(path, '/') + 1) + 1 : 0));
	}
	if (!str_starts(url, base))
		return false;
	struct str view = str_slice(url, base.len, url.len);
	view.len -= view.len > 0;
	if (str_find(view, '/') >= 0)
		return false;
	*out = (struct index_place){xstrndup(base.ptr, base.len), xstrndup(view.ptr, view.len)};
	return true;
}

// --- our own configuration ---

static bool view_of_config_holds(const struct config *c, const char *name, const char *platform)
{
	for (size_t i = 0; i < c->view_count; i++) {
		const struct config_view *v = &c->views[i];
		if (strcmp(v->name, name) != 0)
			continue;
		for (size_t k = 0; k < v->platform_count; k++)
			if (strcmp(v->platforms[k], platform) == 0)
				return true;
		return false;
	}
	return strcmp(name, platform) == 0;
}

static bool own_view_holds(const struct config *c, const char *view, const char *platform)
{
	if (*view)
		return view_of_config_holds(c, view, platform);
	return !c->default_view || view_of_config_holds(c, c->default_view, platform); // else all platforms, merged
}

// --- a server ---

static int read_view(const struct fetch_answer *a, const char *platform, bool *holds, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read(buf_view(&a->body), e);
	const struct jsondoc *list = doc ? jsondoc_get(doc, "platforms") : NULL;
	if (!doc)
		return -1;
	if (!list)
		return err_set(e, ERR_INVALID, "the answer names no platforms");
	*holds = false;
	for (size_t i = 0; i < jsondoc_count(list); i++) {
		const char *name = jsondoc_at_str(list, i);
		*holds |= name && strcmp(name, platform) == 0;
	}
	return 0;
}

static int ask_view(const struct index_guard *g, const struct index_place *place, bool *holds, struct err *e)
{
	static const char *const headers[] = {"Accept: application/json", NULL};
	CLEANUP(mem_free) char *url = xasprintf("%s-/view/%s", place->base, *place->view ? place->view : "simple");
	CLEANUP(fetch_answer_release) struct fetch_answer a;
	fetch_answer_init(&a, LIMIT_ANSWER);
	struct fetch *f = fetch_new(g->fetch);
	int result = fetch_get(f, url, headers, &a, e);
	fetch_free(f);
	if (result < 0 || server_answer_check(&a, url, e) < 0)
		return -1;
	return read_view(&a, g->platform, holds, e) < 0 ? err_prefix(e, "%s: ", url) : 0;
}

// --- the verdict ---

static bool is_same_host(const char *a, const char *b)
{
	CLEANUP(fetch_url_release) struct fetch_url x = {0}, y = {0};
	struct err ignored = ERR_INIT;
	return fetch_url_parse(a, &x, &ignored) == 0 && fetch_url_parse(b, &y, &ignored) == 0 &&
	       strcmp(x.host, y.host) == 0;
}

static bool is_below(const char *url, const char *base)
{
	return *base && str_starts(str_from(url), str_from(base));
}

static int refuse_index(const struct index_guard *g, struct err *e)
{
	return err_set(e, ERR_USAGE,
		"[build] index = %s holds %s, the platform that is fed: builds would take the wheels that they are to "
		"replace. Use an index without it, or set index-holds-platform = yes",
		g->index, g->platform);
}

// An index of a server that is fed: it must tell.
static int check_fed(const struct index_guard *g, const char *base, struct err *e)
{
	CLEANUP(release_place) struct index_place place = {0};
	bool holds = false;
	if (!read_place(str_from(g->index), str_from(base), &place))
		return err_set(e, ERR_USAGE, "[build] index = %s is not a simple index of %s", g->index, base);
	if (ask_view(g, &place, &holds, e) < 0) {
		e->kind = e->kind == ERR_NET ? ERR_NET : ERR_USAGE;
		return err_prefix(e,
			"whether [build] index holds %s is not known (index-holds-platform = yes permits it): ",
			g->platform);
	}
	return holds ? refuse_index(g, e) : 0;
}

static int check_own(const struct index_guard *g, const char *own, struct err *e)
{
	CLEANUP(release_place) struct index_place place = {0};
	if (!read_place(str_from(g->index), str_from(own), &place))
		return err_set(e, ERR_USAGE, "[build] index = %s is not a simple index of %s", g->index, own);
	return own_view_holds(g->config, place.view, g->platform) ? refuse_index(g, e) : 0;
}

// As libcurl spells it, without user and password. An empty one for no URL.
static char *plain_url(const char *url)
{
	CLEANUP(fetch_url_release) struct fetch_url parts = {0};
	struct err ignored = ERR_INIT;
	return xstrdup(url && fetch_url_parse(url, &parts, &ignored) == 0 ? parts.text : "");
}

int index_guard_check(const struct index_guard *g, char **note, struct err *e)
{
	*note = NULL;
	if (g->config->build_index_holds_platform)
		return 0;
	CLEANUP(mem_free) char *index = plain_url(g->index);
	CLEANUP(mem_free) char *from = plain_url(g->from);
	CLEANUP(mem_free) char *to = plain_url(g->to);
	CLEANUP(mem_free) char *own = plain_url(g->config->url);
	struct index_guard plain = *g;
	plain.index = index;
	plain.from = from;
	plain.to = to;
	if (is_below(plain.index, plain.to))
		return check_fed(&plain, plain.to, e);
	if (is_below(plain.index, plain.from))
		return check_fed(&plain, plain.from, e);
	if (is_below(plain.index, own))
		return check_own(&plain, own, e);
	// Another server, perhaps on the same host: if it tells, that counts.
	CLEANUP(release_place) struct index_place place = {0};
	struct err ignored = ERR_INIT;
	bool holds = false, is_near = is_same_host(plain.index, plain.from) || is_same_host(plain.index, plain.to) ||
				      is_same_host(plain.index, own);
	if (is_near && read_place(str_from(plain.index), (struct str){0}, &place) &&
		ask_view(&plain, &place, &holds, &ignored) == 0)
		return holds ? refuse_index(&plain, e) : 0;
	*note = xasprintf("[build] index = %s is of another server: nobody knows whether it holds %s", plain.index,
		plain.platform);
	return 0;
}
