// SPDX-License-Identifier: Apache-2.0
#include "lib/state/publish/upload-policy.h"

#include <stdlib.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/install/replacement.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/requirement.h"
#include "lib/os/fs.h"
#include "lib/state/upstream/name-owner.h"
#include "lib/state/upstream/upstream.h"

enum {
	STALE_SECONDS = 7 * 86400, // older facts about upstream are not used
};

struct upload_policy {
	struct config config; // a copy
	struct upstreams *upstreams;
};

int upload_policy_new(const struct config *c, struct upload_policy **out, struct err *e)
{
	*out = NULL;
	if (!c->refuses_covered)
		return 0;
	struct upload_policy *a = xcalloc(1, sizeof(*a));
	config_copy(c, &a->config);
	if (upstreams_new(&a->config, &a->upstreams, e) < 0) {
		upload_policy_free(a);
		return -1;
	}
	*out = a;
	return 0;
}

void upload_policy_use_lists(struct upload_policy *a, struct advisories *lists)
{
	if (a)
		upstreams_use_lists(a->upstreams, lists);
}

void upload_policy_free(struct upload_policy *a)
{
	if (!a)
		return;
	upstreams_free(a->upstreams);
	config_release(&a->config);
	free(a);
}

// --- lists of files to keep ---

static int read_list(struct requirements *list, const char *path, enum requirement_form form, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_REQUIREMENTS);
	return fs_read_file(path, &text, e) < 0 ? -1 : requirements_parse(list, buf_view(&text), path, form, e);
}

static int read_lists(const struct config *c, struct requirements *list, struct err *e)
{
	struct str rest = str_from(c->prune_constraints ? c->prune_constraints : "");
	if (c->prune_packages && read_list(list, c->prune_packages, REQUIREMENT_PACKAGES, e) < 0)
		return -1;
	while (rest.len) {
		struct str word = str_cut(&rest, ' ');
		CLEANUP(mem_free) char *path = xstrndup(word.ptr, word.len);
		size_t before = list->count;
		if (read_list(list, path, REQUIREMENT_CONSTRAINTS, e) < 0)
			return -1;
		if (list->count == before) // for example after a failed download
			return err_set(e, ERR_USAGE, "%s: it pins nothing", path);
	}
	return 0;
}

// The lists are small and read each time. A list that cannot be read may have the file, so the file is accepted.
static bool is_listed(const struct config *c, const struct filename *name, const char *platform)
{
	struct err e = ERR_INIT;
	CLEANUP(requirements_release) struct requirements list = {0};
	if (read_lists(c, &list, &e) == 0)
		return requirements_find(&list, name->project, &name->version, platform) != NULL;
	log_warn("uploads that upstream covers are accepted: %s", e.msg);
	return true;
}

// --- the files of upstream ---

struct question {
	const struct upload_policy *upload_policy;
	struct catalog *catalog;
	const struct platform *platform;
	const struct ingest_facts *file;
	int64_t now;
	struct buf why; // empty: the file is accepted
};

static void question_release(struct question *q)
{
	buf_release(&q->why);
}

static int take_answer(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct question *q = ctx;
	struct err unsaid = ERR_INIT;
	struct replacement_answer a;
	const struct filename *name = &q->file->name;
	enum name_age age;
	if (answer->result != UPSTREAM_KNOWN || q->now - answer->fetched > STALE_SECONDS)
		return 0;
	if (name_owner_find_age(q->upload_policy->upstreams, q->catalog, answer, &age, e) < 0)
		return -1;
	if (age != NAME_AGE_OLDER)
		return 0;
	CLEANUP(replacement_cleanup) struct replacement *replacement = replacement_new(answer->page, answer->project);
	const struct replacement_file ours = {.filename = q->file->filename,
		.name = name->kind == FILENAME_WHEEL ? name : NULL,
		.requires_python = q->file->wheel.requires_python};
	int64_t until = q->now - (int64_t)q->upload_policy->config.prune_upstream_min_age;
	if (replacement_compute(replacement, &q->platform->profile, &ours, until, &a, &unsaid) < 0)
		return 0;
	if (replacement_is_complete(&a)) {
		const struct simplepage_file *other = a.places ? a.place[0].file : NULL;
		if (a.kind == REPLACEMENT_SAME)
			buf_printf(&q->why, "%s: not taken, because upstream has it: %s", q->file->filename,
				a.same->url);
		else
			buf_printf(&q->why, "%s: not taken, because what upstream (%s) has does the same on %s: %s",
				q->file->filename, answer->index, q->platform->name, other ? other->url : "");
	}
	replacement_answer_release(&a);
	return 0;
}

int upload_policy_check(const struct upload_policy *a, struct catalog *c, const struct platform *p,
	const struct ingest_facts *file, int64_t now, struct err *e)
{
	if (!a || p->is_private)
		return 0;
	CLEANUP(question_release)
	struct question q = {.upload_policy = a, .catalog = c, .platform = p, .file = file, .now = now};
	buf_init(&q.why, LIMIT_PATH);
	upstreams_look(a->upstreams);
	if (upstream_load_cached(a->upstreams, c, file->name.project, take_answer, &q, e) < 0)
		return err_prefix(e, "%s: ", file->filename);
	if (!q.why.len || is_listed(&a->config, &file->name, p->name))
		return 0;
	return err_set(e, ERR_DENIED, "%s", q.why.data);
}
