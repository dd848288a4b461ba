// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "cli/common/command.h"
#include "lib/base/counted.h"
#include "lib/base/log.h"
#include "lib/base/suggest.h"
#include "lib/net/url.h"
#include "lib/state/store/store.h"
#include "lib/view/client-config.h"

struct client_command {
	struct session s;
	const char *client, *url;
	struct client_index index;
	struct session_list platforms; // of an index of all that are public
};

static const struct config_platform *platform_of_config(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->platform_count; i++)
		if (strcmp(c->platforms[i].name, name) == 0)
			return &c->platforms[i];
	return NULL;
}

static bool has_private_platform(const struct config *c, const struct config_view *v)
{
	for (size_t i = 0; i < v->platform_count; i++) {
		const struct config_platform *p = platform_of_config(c, v->platforms[i]);
		if (p && p->is_private)
			return true;
	}
	return false;
}

static int refuse_index(const struct config *c, const char *name, struct err *e)
{
	CLEANUP(name_choice_release) struct name_choice names;
	name_choice_init(&names, str_from(name));
	for (size_t i = 0; i < c->view_count; i++)
		name_choice_add(&names, c->views[i].name);
	for (size_t i = 0; i < c->platform_count; i++)
		name_choice_add(&names, c->platforms[i].name);
	return name_choice_refuse(&names, ERR_NOT_FOUND, "the configuration has no view or platform", e);
}

static void warn_of_several(const char *what, const char *name, size_t platforms)
{
	log_warn("%s%s shows the wheels of %s as one: with --platform NAME a job gets those of its own platform "
		 "alone",
		what, name, COUNTED(platforms, "platform|platforms"));
}

// The default view where the configuration names none: the public platforms, which are those of the configuration, else
// the store's folders where this machine can read them.
static int look_at_all_platforms(struct client_command *x, struct err *e)
{
	struct err unread = ERR_INIT;
	const struct config *c = &x->s.config;
	const struct store *store = &x->s.store;
	CLEANUP(name_choice_release) struct name_choice names;
	CLEANUP(buf_release) struct buf hint = buf_up_to(ERR_MSG_SIZE);
	name_choice_init(&names, STR(""));
	if (!c->platform_count && c->store && store_open(c, STORE_PROMPT, &x->s.store, &unread) < 0)
		x->s.store = (struct store){0};
	for (size_t i = 0; i < c->platform_count + store->platform_count; i++) {
		const char *name = c->platform_count ? c->platforms[i].name : store->platform[i].name;
		name_choice_add(&names, name);
		if (!c->platform_count || !c->platforms[i].is_private)
			session_list_add(&x->s, &x->platforms, name);
	}
	name_choice_hint(&names, &hint);
	if (c->default_view && names.count != 1)
		return err_set(e, ERR_USAGE,
			"there is no index of all platforms ([store] default-view = none): --platform NAME says on which "
			"one the job runs%s",
			hint.len ? hint.data : "");
	if (x->platforms.count < 2)
		return 0;
	x->index.platforms = x->platforms.item;
	x->index.platform_count = x->platforms.count;
	warn_of_several("/simple/", "", x->platforms.count);
	return 0;
}

// The index of one platform of a view: v NULL: of the default view, which is all platforms, or of a platform.
static int look_at_part(struct client_command *x, const struct config_view *v, struct err *e)
{
	struct client_index *i = &x->index;
	if (v && i->platform && !config_view_has(v, i->platform)) {
		CLEANUP(name_choice_release) struct name_choice names;
		CLEANUP(mem_free) char *what = xasprintf("view %s has no platform", v->name);
		name_choice_init(&names, str_from(i->platform));
		for (size_t k = 0; k < v->platform_count; k++)
			name_choice_add(&names, v->platforms[k]);
		return name_choice_refuse(&names, ERR_NOT_FOUND, what, e);
	}
	if (i->platform && !v && !i->view) {
		i->view = i->platform;
		i->platform = NULL;
	}
	if (!i->platform && v && v->platform_count > 1) {
		i->platforms = (const char *const *)v->platforms;
		i->platform_count = v->platform_count;
		i->whole = v->name;
		warn_of_several("view ", v->name, v->platform_count);
	}
	return 0;
}

// Without platforms in the configuration, any name may be one of the store's folders, and these are public.
static int look_at_view(struct client_command *x, struct err *e)
{
	const struct config *c = &x->s.config;
	const char *configured = c->default_view;
	if (configured && strcmp(configured, CONFIG_NO_VIEW) == 0 && !config_view(c, configured))
		configured = NULL;
	if (!configured && !x->index.view && !x->index.platform)
		return look_at_all_platforms(x, e);
	const char *name = x->index.view ? x->index.view : configured;
	const struct config_view *v = name ? config_view(c, name) : NULL;
	if (x->index.platform && v)
		x->index.view = name;
	if (look_at_part(x, v, e) < 0)
		return -1;
	name = x->index.view ? x->index.view : configured;
	if (!name || !c->platform_count)
		return 0;
	const struct config_platform *p = platform_of_config(c, name);
	if (!v && !p)
		return refuse_index(c, name, e);
	x->index.needs_token |= v ? has_private_platform(c, v) : p->is_private;
	return 0;
}

static void put_client_files(const struct client_command *x, struct buf *out)
{
	for (size_t i = 0; i < client_template_count; i++) {
		const struct client_template *t = &client_template[i];
		if ((x->client && strcmp(x->client, t->client) != 0) || !client_config_needs(&x->index, t))
			continue;
		if (out->len)
			buf_putc(out, '\n');
		client_config_write(&x->index, t, out);
	}
}

static int run_client_config(void *self, struct err *e)
{
	struct client_command *x = self;
	if (x->s.words)
		return err_set(e, ERR_USAGE, "expected options only, not %s", x->s.word[0]);
	if (x->client && !client_config_has(x->client))
		return err_set(e, ERR_USAGE,
			"--for %s: it is one of pip, uv, poetry, pdm, tox, github, gitlab, jenkins, zuul, docker",
			x->client);
	if (session_read(&x->s, &x->s.config, e) < 0 || look_at_view(x, e) < 0)
		return -1;
	const char *url = x->url ? x->url : x->s.config.url;
	if (!url)
		return err_set(e, ERR_USAGE, "the URL of the server is not known: give --url URL, or set [server] url");
	CLEANUP(mem_free) char *base = url_base(str_from(url));
	if (!base)
		return err_set(e, ERR_USAGE, "--url: it is no URL such as https://wheels.example.org/");
	x->index.base = base;
	if (x->s.is_json)
		session_json(&x->s, client_config_json(&x->index, x->client));
	else
		put_client_files(x, &x->s.out);
	return 0;
}

static const struct option_row options[] = {
	{"for", '\0', "CLIENT", "pip, uv, poetry, pdm, tox, github, gitlab, jenkins, zuul or docker; all of them",
		TEXT(client_command, client)},
	{"view", '\0', "NAME", "the view or platform; the default view", TEXT(client_command, index.view)},
	{"platform", 'p', "NAME", "only what the view shows of this platform: for a job that runs on it",
		TEXT(client_command, index.platform)},
	{"url", '\0', "URL", "the URL of the server, as clients reach it; [server] url", TEXT(client_command, url)},
	{"token", '\0', NULL, "for an index that needs a token; as the configuration says",
		FLAG(client_command, index.needs_token)},
};

const struct command command_client_config = {
	.name = "client-config",
	.arguments = "",
	.help = "print the configuration of pip, uv or a CI system",
	OPTIONS(options),
	.shared = SHARED(CONFIG) | SHARED(LOG_LEVEL) | SHARED(JSON),
	.size = sizeof(struct client_command),
	.run = run_client_config,
};
