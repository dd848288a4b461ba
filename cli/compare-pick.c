// SPDX-License-Identifier: Apache-2.0
#include "cli/compare-pick.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/domain/text/name.h"
#include "lib/os/fs.h"
#include "lib/state/catalog/catalog-attachment.h"
#include "lib/state/upstream/upstream-download.h"

#define UPSTREAM_PREFIX STR("upstream:")

// --- the spelling ---

static bool is_wheel_name(struct str name)
{
	return filename_kind(name) == FILENAME_WHEEL;
}

static int parse_release(struct compare_pick *p, const char *text, struct err *e)
{
	const char *equals = strstr(text, "==");
	struct str project = {text, (size_t)(equals - text)};
	CLEANUP(buf_release) struct buf normal;
	buf_init(&normal, LIMIT_FILE_NAME);
	p->kind = PICK_RELEASE;
	p->version = equals + strlen("==");
	if (!name_is_valid(project))
		return err_set(e, ERR_USAGE, "%s: not the name of a project before ==", p->text);
	if (!version_is_valid(str_from(p->version)))
		return err_set(e, ERR_USAGE, "%s: not a version behind ==", p->text);
	name_normalize(project, &normal);
	p->project = buf_steal(&normal);
	return 0;
}

static int parse_stored(struct compare_pick *p, const char *text, struct err *e)
{
	const char *slash = strchr(text, '/');
	p->kind = PICK_STORE;
	p->filename = slash ? slash + 1 : text;
	p->platform = slash ? xstrndup(text, (size_t)(slash - text)) : NULL;
	if (strchr(p->filename, '/') || !is_wheel_name(str_from(p->filename)) || (slash && p->is_upstream))
		return err_set(e, ERR_USAGE,
			"%s: expected a wheel: an existing FILE, PLATFORM/FILENAME, PROJECT==VERSION, or one of these "
			"of upstream: upstream:FILENAME, upstream:PROJECT==VERSION",
			p->text);
	return 0;
}

// A file that exists comes first, so that a path is never taken for something else.
int compare_pick_parse(const char *text, struct compare_pick *out, struct err *e)
{
	struct stat st;
	*out = (struct compare_pick){.text = text};
	if (str_starts(str_from(text), UPSTREAM_PREFIX)) {
		out->is_upstream = true;
		text += UPSTREAM_PREFIX.len;
	} else if (stat(text, &st) == 0 && S_ISREG(st.st_mode)) {
		const char *slash = strrchr(text, '/');
		out->kind = PICK_PATH;
		out->filename = slash ? slash + 1 : text;
		return is_wheel_name(str_from(out->filename)) ? 0 : err_set(e, ERR_USAGE, "%s: no wheel", text);
	}
	return strstr(text, "==") ? parse_release(out, text, e) : parse_stored(out, text, e);
}

void compare_pick_release(struct compare_pick *p)
{
	free(p->project);
	free(p->platform);
	*p = (struct compare_pick){0};
}

// --- opening ---

void picked_wheel_release(struct picked_wheel *w)
{
	mem_close(&w->fd);
	free(w->filename);
	free(w->label);
	buf_release(&w->provenance);
}

// A statement that is absent is no error.
static int open_path(const char *path, struct picked_wheel *out, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(mem_free) char *beside = xasprintf("%s%s", path, attachment_ending[ATTACHMENT_STATEMENT]);
	out->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (out->fd < 0)
		return err_errno(e, ERR_IO, "%s", path);
	if (fs_read_regular(beside, &out->provenance, &why) == 0 || why.kind == ERR_NOT_FOUND)
		return 0;
	*e = why;
	return -1;
}

static int open_stored(const struct platform *p, struct catalog *c, const char *filename, struct picked_wheel *out,
	struct err *e)
{
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	if (catalog_find_file(c, p->id, filename, &place, e) < 0)
		return e->kind == ERR_NOT_FOUND
			       ? err_set(e, ERR_NOT_FOUND, "the catalog has no %s/%s", p->name, filename)
			       : -1;
	struct catalog_attached attached;
	out->fd = store_open_file(p, place.path, e);
	if (out->fd < 0)
		return -1;
	return catalog_attached(c, p->id, filename, ATTACHMENT_STATEMENT, &attached, &out->provenance, e) < 0 ? -1 : 0;
}

static int open_upstream(const struct pick_place *place, const char *filename, struct picked_wheel *out, struct err *e)
{
	struct upstream_download got;
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(filename), &name, e) < 0)
		return err_prefix(e, "%s: ", filename);
	if (upstream_download(place->config, place->upstream, place->catalog, name.project, filename, &got, e) < 0)
		return -1;
	out->fd = got.fd;
	return 0;
}

static int open_choice(const struct pick_choice *choice, const struct pick_place *place, struct picked_wheel *out,
	struct err *e)
{
	const char *where = choice->platform ? choice->platform->name : "upstream";
	out->filename = xstrdup(choice->filename);
	out->label = xasprintf(choice->platform ? "%s/%s" : "%s:%s", where, choice->filename);
	return choice->platform ? open_stored(choice->platform, place->catalog, choice->filename, out, e)
				: open_upstream(place, choice->filename, out, e);
}

static int pick_one(const struct compare_pick *p, const struct pick_place *place, struct picked_wheel *out,
	struct err *e)
{
	CLEANUP(pick_choices_release) struct pick_choices choices = {0};
	if (pick_choices_list(p, place, &choices, e) < 0)
		return -1;
	if (!choices.count)
		return err_set(e, ERR_NOT_FOUND,
			"%s: there is no such wheel; wheelcache explain PROJECT lists those that there are", p->text);
	if (!pick_choices_are_same(&choices)) {
		pick_choices_print(&choices, stderr);
		return err_set(e, ERR_USAGE, "%s: %zu wheels: name one of them, or choose with --platform and --python",
			p->text, choices.count);
	}
	return open_choice(&choices.item[0], place, out, e);
}

static int refuse_pick(const struct store *store, const struct compare_pick *p, struct err *e)
{
	store_refuse_platform(store, p->platform, ERR_NOT_FOUND, e);
	return err_prefix(e, "%s: no such file, and ", p->text);
}

int compare_pick_open(const struct compare_pick *p, const struct pick_place *place, struct picked_wheel *out,
	struct err *e)
{
	*out = (struct picked_wheel){.fd = -1};
	buf_init(&out->provenance, LIMIT_STATEMENT);
	if (p->kind == PICK_RELEASE || (p->kind == PICK_STORE && !p->platform && !p->is_upstream))
		return pick_one(p, place, out, e);
	out->filename = xstrdup(p->filename);
	out->label = xstrdup(p->text);
	if (p->kind == PICK_PATH)
		return open_path(p->text, out, e);
	if (p->is_upstream)
		return open_upstream(place, p->filename, out, e);
	const struct platform *found = store_platform_named(place->store, str_from(p->platform));
	if (!found)
		return refuse_pick(place->store, p, e);
	return open_stored(found, place->catalog, p->filename, out, e);
}
