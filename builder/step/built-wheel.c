// SPDX-License-Identifier: Apache-2.0
#include "builder/step/built-wheel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/strset.h"
#include "lib/domain/text/name.h"
#include "lib/os/fs.h"
#include "lib/place/place-posix.h"
#include "lib/state/access/audit.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/publish/publish.h"
#include "lib/state/store/ingest.h"
#include "lib/state/store/volume-release.h"
#include "lib/state/store/reservation.h"
#include "uploader/push.h"

enum { SHOWN = 5 }; // names in a message

// --- the folder ---

static int list_wheels(int folder, struct strset *out, struct err *e)
{
	int listed = fcntl(folder, F_DUPFD_CLOEXEC, 0);
	CLEANUP(fs_close_dir) DIR *dir = listed < 0 ? NULL : fdopendir(listed);
	if (!dir) {
		mem_close(&listed);
		return err_errno(e, ERR_IO, "the output folder");
	}
	for (struct dirent *entry; (entry = readdir(dir));)
		if (filename_kind(str_from(entry->d_name)) == FILENAME_WHEEL)
			strset_add(out, entry->d_name);
	strset_sort(out);
	return 0;
}

static int remove_wheel_before(int folder, const char *name, struct strset *all, struct err *e)
{
	struct strset rest = {0};
	if (unlinkat(folder, name, 0) < 0)
		return err_errno(e, ERR_IO, "%s", name);
	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->item[i], name) != 0)
			strset_add(&rest, all->item[i]);
	strset_sort(&rest);
	strset_release(all);
	*all = rest;
	return 0;
}

static int find_only_wheel(const char *path, const char *before, char **name, struct err *e)
{
	struct stat st;
	CLEANUP(strset_release) struct strset all = {0};
	// Opens the folder itself, not what a link in its place leads to.
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP(mem_close) int folder = fd < 0 ? err_errno(e, ERR_IO, "the output folder") : fd;
	if (folder < 0 || list_wheels(folder, &all, e) < 0)
		return -1;
	if (all.count > 1 && before && strset_has(&all, before) && remove_wheel_before(folder, before, &all, e) < 0)
		return -1;
	if (!all.count)
		return err_set(e, ERR_INVALID, "it left no wheel");
	if (all.count > 1) {
		CLEANUP(buf_release) struct buf names = buf_up_to(SHOWN * LIMIT_FILE_NAME * 2);
		for (size_t i = 0; i < all.count && i < SHOWN; i++)
			buf_printf(&names, "%s%s", i ? ", " : "", all.item[i]);
		return err_set(e, ERR_INVALID, "it left %s instead of one: %s", COUNTED(all.count, "wheel|wheels"),
			names.data);
	}
	if (fstatat(folder, all.item[0], &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(e, ERR_IO, "%s", all.item[0]);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_INVALID, "%s is no regular file", all.item[0]);
	*name = xstrdup(all.item[0]);
	return 0;
}

// --- the wheel ---

static int check_built_project(const struct built_wheel_want *want, const struct filename *name, struct err *e)
{
	CLEANUP(buf_release) struct buf normal = buf_up_to(LIMIT_FILE_NAME);
	name_normalize(str_from(want->project), &normal);
	if (!str_eq(buf_view(&normal), str_from(name->project)))
		return err_set(e, ERR_INVALID, "it made a wheel of %s instead of %s", name->project, want->project);
	return 0;
}

static int check_built_version(const struct built_wheel_want *want, const struct filename *name, struct err *e)
{
	CLEANUP(version_release) struct version version = {0};
	if (version_parse(str_from(want->version), &version, e) < 0)
		return -1;
	if (version_cmp(&version, &name->version) != 0)
		return err_set(e, ERR_INVALID, "it made version %s instead of %s", name->version.text, want->version);
	return 0;
}

static int check_built_tags(const struct built_wheel_want *want, const struct filename *name, struct err *e)
{
	long best;
	if (environment_best(want->environment, name, &best, e) < 0)
		return -1;
	if (best < 0)
		return err_set(e, ERR_INVALID, "its tag " STR_FMT "-" STR_FMT "-" STR_FMT " does not install there",
			STR_ARG(name->python), STR_ARG(name->abi), STR_ARG(name->platform));
	return 0;
}

// RECORD, METADATA, WHEEL, the framing, and the hash.
static int check_built_content(struct built_wheel *wheel, struct err *e)
{
	int fd = open(wheel->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return err_errno(e, ERR_IO, "%s", wheel->filename);
	CLEANUP(place_file_close) struct place_file *file = place_posix_file(fd);
	CLEANUP(ingest_cleanup) struct ingest *in = ingest_new();
	CLEANUP(ingest_facts_release) struct ingest_facts facts;
	ingest_facts_init(&facts);
	if (ingest_read(in, file, wheel->filename, STRICT, &facts, e) < 0)
		return err_prefix(e, "%s: ", wheel->filename);
	if (facts.refusal)
		return err_set(e, ERR_INVALID, "%s: %s", wheel->filename, facts.refusal);
	hex_encode(facts.sha256, SHA256_SIZE, wheel->sha256);
	wheel->size = facts.version.size;
	wheel->requires_python = STEAL_PTR(facts.wheel.requires_python);
	return 0;
}

int built_wheel_find(const char *folder, const struct built_wheel_want *want, struct built_wheel *wheel, struct err *e)
{
	CLEANUP(built_wheel_release) struct built_wheel found = {0};
	if (find_only_wheel(folder, wheel->filename, &found.filename, e) < 0)
		return -1;
	found.path = xasprintf("%s/%s", folder, found.filename);
	const char *text = found.filename;
	static int (*const checks[])(const struct built_wheel_want *, const struct filename *, struct err *) = {
		check_built_project, check_built_version, check_built_tags};
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_check(str_from(text), e) < 0 || filename_parse(str_from(text), &name, e) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		if (checks[i](want, &name, e) < 0)
			return -1;
	if (check_built_content(&found, e) < 0)
		return -1;
	struct built_wheel before = *wheel;
	*wheel = found;
	found = before; // is released
	return 0;
}

bool built_wheel_is_pure(const struct built_wheel *wheel)
{
	return wheel->filename && str_ends(str_from(wheel->filename), STR("-any.whl"));
}

void built_wheel_release(struct built_wheel *wheel)
{
	free(wheel->path);
	free(wheel->filename);
	free(wheel->requires_python);
	*wheel = (struct built_wheel){0};
}

enum { RETRIES = 5, BLOCK = 1 << 18 };

// --- to a server ---

static const enum wheel_push_end end_of_outcome[PUSH_REPORT_COUNT] = {
	[PUSH_REPORT_NEW] = WHEEL_PUSH_DONE,
	[PUSH_REPORT_THERE] = WHEEL_PUSH_DONE,
	[PUSH_REPORT_KEPT] = WHEEL_PUSH_DONE,
	[PUSH_REPORT_CONFLICT] = WHEEL_PUSH_TAKEN,
	[PUSH_REPORT_REFUSED] = WHEEL_PUSH_REFUSED,
	[PUSH_REPORT_BAD] = WHEEL_PUSH_REFUSED,
	[PUSH_REPORT_FAILED] = WHEEL_PUSH_FAILED,
	[PUSH_REPORT_NOT_TRIED] = WHEEL_PUSH_HOPELESS,
};

static enum wheel_push_end push_to_server(const struct wheel_target *t, const struct built_wheel *wheel,
	const char *statement, struct err *why)
{
	CLEANUP(push_report_release) struct push_report report;
	const struct push_options options = {
		.target = t->server, .jobs = 1, .retries = RETRIES, .statement = statement, .fetch = t->fetch};
	char *path = wheel->path;
	push_run(&options, &path, 1, &report);
	enum wheel_push_end end = end_of_outcome[report.file[0].outcome];
	if (end != WHEEL_PUSH_DONE)
		*why = report.stop.kind != ERR_NONE ? report.stop : report.file[0].why;
	return report.stop.kind != ERR_NONE ? WHEEL_PUSH_HOPELESS : end;
}

// --- into our store ---

struct store_push {
	const struct wheel_target *target;
	const struct built_wheel *wheel;
	const char *statement;
	struct catalog *catalog;
	struct reservation *reservation;
	struct publish *publish;
};

static void store_push_release(struct store_push *s)
{
	publish_free(s->publish);
	reservation_close(s->reservation);
	catalog_close(s->catalog);
}

static int get_store_use(void *ctx, struct quota_use *use, struct err *e)
{
	const struct store_push *s = ctx;
	const struct platform *p = s->target->platform;
	struct catalog_usage held = {0};
	struct volume_release_backlog waiting = {0};
	if (catalog_usage(s->catalog, p->id, &held, e) < 0 ||
		volume_release_backlog(s->target->catalog, p, &waiting, e) < 0)
		return -1;
	*use = (struct quota_use){.files = held.files + waiting.files, .bytes = held.bytes + waiting.bytes};
	return place_room(p->written, &use->free, e);
}

static int write_wheel(struct store_push *s, struct err *e)
{
	CLEANUP(mem_free) char *block = xmalloc(BLOCK);
	CLEANUP(mem_close) int fd = open(s->wheel->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_errno(e, ERR_IO, "%s", s->wheel->filename);
	for (ssize_t n; (n = read(fd, block, BLOCK)) != 0;)
		if (n < 0 && errno != EINTR)
			return err_errno(e, ERR_IO, "%s", s->wheel->filename);
		else if (n > 0 && publish_write(s->publish, (struct str){block, (size_t)n}, e) < 0)
			return -1;
	return 0;
}

static int publish_wheel(struct store_push *s, struct publish_receipt *receipt, struct err *e)
{
	const struct declared claims = {.filetype = "bdist_wheel", .digest[DIGEST_SHA256] = s->wheel->sha256};
	CLEANUP(mem_free) char *project = publish_project_of(s->wheel->filename, NULL, e);
	if (!project || catalog_open(s->target->catalog, &s->catalog, e) < 0)
		return -1;
	const struct platform *p = s->target->platform;
	if (reservation_open(s->target->catalog, p, &s->reservation, e) < 0)
		return -1;
	if (reservation_set(s->reservation, s->target->config->max_file, s->wheel->size, get_store_use, s, e) < 0)
		return -1;
	s->publish = publish_begin(s->target->platform, s->catalog, s->wheel->filename, project, e);
	if (!s->publish)
		return -1;
	publish_attach(s->publish, ATTACHMENT_STATEMENT, str_from(s->statement));
	if (write_wheel(s, e) < 0 || reservation_take(s->reservation, e) < 0)
		return -1;
	if (s->target->config->takes_facts)
		publish_take_facts(s->publish);
	return publish_end(s->publish, s->catalog, &claims, NULL, receipt, e);
}

static enum wheel_push_end end_of_error(enum err_kind kind)
{
	static const enum wheel_push_end ends[ERR_COUNT] = {
		[ERR_INVALID] = WHEEL_PUSH_REFUSED,
		[ERR_CONFLICT] = WHEEL_PUSH_TAKEN,
		[ERR_DENIED] = WHEEL_PUSH_REFUSED,
		[ERR_LIMIT] = WHEEL_PUSH_REFUSED,
		[ERR_FULL] = WHEEL_PUSH_HOPELESS,
	};
	return ends[kind] == WHEEL_PUSH_DONE ? WHEEL_PUSH_FAILED : ends[kind];
}

static enum wheel_push_end push_to_store(const struct wheel_target *t, const struct built_wheel *wheel,
	const char *statement, struct err *why)
{
	CLEANUP(store_push_release) struct store_push s = {.target = t, .wheel = wheel, .statement = statement};
	CLEANUP(audit_cleanup) struct audit *audit = NULL;
	CLEANUP(audit_place_release) struct audit_place place;
	struct publish_receipt receipt;
	audit_place_init(&place, t->config, t->catalog);
	if (audit_open(&place, &audit, why) < 0) // before the change: one that cannot be logged is not made
		return WHEEL_PUSH_HOPELESS;
	enum wheel_push_end end = publish_wheel(&s, &receipt, why) == 0 ? WHEEL_PUSH_DONE : end_of_error(why->kind);
	static const char *const results[] = {[WHEEL_PUSH_DONE] = "done",
		[WHEEL_PUSH_TAKEN] = "refused",
		[WHEEL_PUSH_REFUSED] = "refused",
		[WHEEL_PUSH_FAILED] = "failed",
		[WHEEL_PUSH_HOPELESS] = "failed"};
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *who = audit_account();
	const struct audit_entry entry = {
		.who = who,
		.action = "build",
		.platform = t->platform->name,
		.file = wheel->filename,
		.sha256 = wheel->sha256,
		.result = results[end],
		.reason = end == WHEEL_PUSH_DONE ? NULL : why->msg,
	};
	if (audit_write(audit, &entry, &e) < 0)
		log_error("%s", e.msg);
	return end;
}

enum wheel_push_end wheel_push(const struct wheel_target *target, const struct built_wheel *wheel,
	const char *statement, struct err *why)
{
	return target->server ? push_to_server(target, wheel, statement, why)
			      : push_to_store(target, wheel, statement, why);
}
