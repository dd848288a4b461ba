// SPDX-License-Identifier: Apache-2.0
#include "cli/common/serve-check.h"

#include <stdlib.h>
#include <string.h>

#include "builder/missing/branch.h"
#include "cli/common/session.h"
#include "lib/advisories/advisories.h"
#include "lib/net/fetch.h"
#include "lib/os/clock.h"
#include "lib/os/path-probe.h"
#include "lib/view/site-check.h"
#include "server/http/tls.h"

int serve_check_site(const struct config *c, const struct store *store, const char *catalog_path, struct err *e)
{
	struct err ignored = ERR_INIT;
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	if (catalog_path && catalog_open_read(catalog_path, &catalog, &ignored) < 0)
		catalog = NULL; // the server makes it, or says why not
	CLEANUP(mem_free) char *before = NULL;
	return site_check(c, store, catalog, e) < 0 || (catalog && store_adopt_check(store, catalog, &before, e) < 0) ? -1 : 0;
}

// --- branches ---

// The folder of a glob, or the file. The caller frees it.
static char *branch_folder(struct str word)
{
	size_t len = 0;
	while (len < word.len && !strchr("*?[", word.ptr[len]))
		len++;
	while (len < word.len && len && word.ptr[len - 1] != '/')
		len--;
	return xasprintf("%.*s", (int)len, word.ptr);
}

static bool branch_answers(const struct config_branch *b, int64_t until)
{
	const char *const files[] = {b->constraints, b->requirements, b->locks};
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		for (struct str rest = str_from(files[i] ? files[i] : ""); rest.len;) {
			struct str word = str_cut(&rest, ' ');
			CLEANUP(mem_free) char *place = branch_folder(word);
			CLEANUP(mem_free) char *real = NULL;
			if (!(!*place || path_probe_wait(path_probe_start(place), until, &real)))
				return false;
		}
	return true;
}

void serve_check_branches(const struct config *c, serve_check_warn_fn *warn, void *ctx)
{
	int64_t until = clock_ms() + STORE_PROMPT;
	for (size_t i = 0; i < c->branch_count; i++) {
		struct err e = ERR_INIT;
		struct branches branches;
		const struct config_branch *b = &c->branches[i];
		if (!branch_answers(b, until))
			err_set(&e, ERR_IO, "[branch %s]: the file system of its files does not answer", b->name);
		else if (branches_read(c, b->name, clock_wall_seconds(), &branches, &e) == 0)
			branches_release(&branches);
		if (e.kind == ERR_NONE)
			continue;
		CLEANUP(mem_free) char *text = xasprintf("%s; it is unknown what the branch wants", e.msg);
		warn(ctx, text);
	}
}

// --- upstreams ---

// The server goes on to take what it has of the upstream.
static void check_password(const struct config_upstream *u, serve_check_warn_fn *warn, void *ctx)
{
	struct err e = ERR_INIT;
	char *user = NULL, *password = NULL;
	if (!u->password_file || fetch_password_read(u->password_file, &user, &password, &e) == 0) {
		free(user);
		free(password);
		return;
	}
	CLEANUP(mem_free)
	char *text = xasprintf("[upstream] password-file: %s; upstream %s is asked with it", e.msg, u->name);
	warn(ctx, text);
}

static void refuse_block(void *ctx, const struct advisories_source *s)
{
	struct err *e = ctx;
	if (s->error && !s->state.loaded && e->kind == ERR_NONE)
		err_set(e, s->kind, "[upstream] block: %s", s->error);
}

int serve_check_blocks(const struct config *c, struct err *e)
{
	CLEANUP(mem_free) char *catalog = cli_config_catalog(c, e);
	if (!catalog || advisories_check(c, catalog, refuse_block, e, e) < 0)
		return -1;
	return e->kind == ERR_NONE ? 0 : -1;
}

int serve_check(const struct config *c, serve_check_warn_fn *warn, void *ctx, struct tls **tls, struct err *e)
{
	CLEANUP(store_release) struct store store = {0};
	if (store_open(c, STORE_PROMPT, &store, e) < 0)
		return -1;
	CLEANUP(mem_free) char *catalog = cli_config_catalog(c, e);
	if (!catalog || serve_check_site(c, &store, catalog, e) < 0 ||
		tls_load(c->tls_cert, c->tls_key, tls, e) < 0)
		return -1;
	if (site_check_lists(c, e) < 0)
		return -1;
	for (size_t i = 0; i < c->upstreams.count; i++)
		check_password(&c->upstreams.item[i], warn, ctx);
	serve_check_branches(c, warn, ctx);
	return 0;
}
