// SPDX-License-Identifier: Apache-2.0
#include "builder/step/wheel-push.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/log.h"
#include "lib/state/access/audit.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/publish/publish.h"
#include "lib/state/store/release.h"
#include "lib/state/store/reservation.h"
#include "uploader/push.h"

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
	struct release_backlog waiting = {0};
	if (catalog_usage(s->catalog, p->id, &held, e) < 0 || release_backlog(s->target->catalog, p, &waiting, e) < 0)
		return -1;
	CLEANUP(mem_close) int fd = store_open_writable_folder(p, "", e);
	if (fd < 0)
		return -1;
	*use = (struct quota_use){.files = held.files + waiting.files, .bytes = held.bytes + waiting.bytes};
	quota_free(fd, use);
	return 0;
}

static int reserve_room(struct store_push *s, struct err *e)
{
	const struct platform *p = s->target->platform;
	if (reservation_open(s->target->catalog, p, &s->reservation, e) < 0)
		return -1;
	return reservation_set(s->reservation, s->target->config->max_file, s->wheel->size, get_store_use, s, e);
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
	if (!project || catalog_open(s->target->catalog, &s->catalog, e) < 0 || reserve_room(s, e) < 0)
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

static void write_audit_line(struct audit *audit, const struct wheel_target *t, const struct built_wheel *wheel,
	enum wheel_push_end end, const struct err *why)
{
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
	write_audit_line(audit, t, wheel, end, why);
	return end;
}

enum wheel_push_end wheel_push(const struct wheel_target *target, const struct built_wheel *wheel,
	const char *statement, struct err *why)
{
	return target->server ? push_to_server(target, wheel, statement, why)
			      : push_to_store(target, wheel, statement, why);
}
