// SPDX-License-Identifier: Apache-2.0
#include "server/api/handlers.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/format/digest.h"
#include "lib/format/jsondoc.h"
#include "lib/state/catalog/catalog-attachment.h"
#include "lib/state/publish/publish.h"
#include "lib/state/store/freeze.h"
#include "lib/state/store/quota.h"
#include "lib/state/store/volume-release.h"
#include "lib/state/store/reservation.h"
#include "lib/audit/wheel-gate.h"
#include "lib/view/view.h"
#include "server/core/auth.h"
#include "server/api/upload-form.h"
#include "server/api/sender.h"
#include "server/message/body-handler.h"
#include "server/message/reply.h"
#include "server/message/multipart.h"

enum { RESERVED_AHEAD = 8 << 20 }; // bytes

// One upload, from its header to its answer.
struct upload {
	struct body_handler handler; // first
	struct sender sender;
	struct multipart body;
	struct upload_form form;
	enum upload_form_field field; // of the part that arrives; UPLOAD_FORM_COUNT: it is ignored
	bool in_content, in_attachment;
	struct buf text; // of the field
	char *file;
	struct publish *publish;
	struct wheel_gate *gate;         // NULL: wheels are not audited
	struct quota_use use;            // of the platform, when the file's first bytes arrived
	uint64_t announced;              // Content-Length; 0: not known
	struct reservation *reservation; // NULL: the platform has no quota
	// the platform is full, and lists this file with so many bytes; 0: it is not full
	uint64_t sent_again;
	struct reply *refusal; // set while a part arrives
};

// --- answers ---

enum { FINDINGS_SENT = 20 };

// As text, or as JSON. uv shows the JSON's "code", and accepts no charset in the type.
static struct reply *make_reply(const struct upload *u, const struct error_status *a, const char *message,
	const char *sha256)
{
	const struct audit_report *refusal = u->publish ? publish_refusal(u->publish) : NULL;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	CLEANUP(mem_free) char *code = xasprintf("%u %s", a->status, message);
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_METADATA);
	if (refusal && refusal->errors)
		buf_printf(&text, "%s: the audit finds %s:", u->file, COUNTED(refusal->errors, "error|errors"));
	else
		buf_puts(&text, message);
	jsondoc_set(doc, "message:s title:s", message, a->title);
	if (a->status >= 400)
		jsondoc_put_str(doc, "code", code);
	if (sha256)
		jsondoc_put_str(doc, "sha256", sha256);
	if (refusal) {
		// The findings by which the audit refused the wheel: in the JSON, and a line for each in the text.
		struct jsondoc *findings = jsondoc_array();
		size_t sent = refusal->count < FINDINGS_SENT ? refusal->count : FINDINGS_SENT;
		for (size_t i = 0; i < sent; i++) {
			jsondoc_add(findings, audit_finding_json(&refusal->finding[i]));
			buf_putc(&text, '\n');
			wheel_gate_print(&refusal->finding[i], &text);
		}
		if (refusal->count > sent)
			buf_printf(&text, "\n… and %zu more", refusal->count - sent);
		jsondoc_set(doc, "errors:d warnings:d findings:j", refusal->errors, refusal->warnings, findings);
	}
	return sender_answer(&u->sender, a, text.data, doc);
}

static void write_audit(const struct upload *u, const char *result, const char *sha256, const char *reason)
{
	sender_audit(&u->sender, (struct audit_entry){
						.project = u->publish ? publish_project(u->publish) : NULL,
						.file = u->file,
						.sha256 = sha256,
						.result = result,
						.reason = reason,
					});
}

// If the server is at fault, only the logs get the message, because it names our paths.
static struct reply *upload_failed(struct upload *u, const struct err *why)
{
	const struct error_status *answer = error_status(why->kind, ERROR_OF_UPLOAD);
	if (answer->is_fault)
		log_error("upload to %s: %s", u->sender.platform->name,
			u->file && u->sender.platform->is_private ? "it failed, and the audit log says why" : why->msg);
	write_audit(u, answer->status >= 500 ? "failed" : "refused", NULL, why->msg);
	return make_reply(u, answer, answer->detail ? answer->detail : why->msg, NULL);
}

static struct reply *upload_succeeded(struct upload *u, const struct publish_receipt *receipt)
{
	static const struct error_status ok = {.status = 200, .title = "OK"};
	static const char *const words[] = {
		[PUBLISH_NEW] = "published",
		[PUBLISH_SAME] = "the same bytes were published before: nothing changed",
		[PUBLISH_EQUAL] = "a build of the same contents was published before, and stays",
	};
	static const char *const results[] = {
		[PUBLISH_NEW] = "done", [PUBLISH_SAME] = "same", [PUBLISH_EQUAL] = "equal"};
	char hex[SHA256_HEX + 1] = "";
	hex_encode(receipt->sha256, SHA256_SIZE, hex);
	write_audit(u, results[receipt->result], hex, NULL);
	CLEANUP(mem_free)
	char *message = xasprintf("%s: %s%s", u->file, words[receipt->result],
		receipt->is_listed ? "" : "; it is durable, and will be listed once its volume is released");
	return make_reply(u, &ok, message, hex);
}

// --- the content part ---

// The catalog is asked for the platform's sums only if it has a quota. The bytes that have arrived are on the disk
// already, so they are added to the free space.
static int read_quota_use(struct upload *u, struct catalog *c, struct err *e)
{
	const struct platform *p = u->sender.platform;
	struct catalog_usage held = {0};
	struct volume_release_backlog waiting = {0};
	if ((p->quota_bytes || p->quota_files) &&
		(catalog_usage(c, p->id, &held, e) < 0 ||
			volume_release_backlog(u->sender.context->catalog_path, p, &waiting, e) < 0))
		return -1;
	u->use = (struct quota_use){.files = held.files + waiting.files, .bytes = held.bytes + waiting.bytes};
	if (place_room(p->written, &u->use.free, e) < 0)
		return -1;
	uint64_t written = u->publish ? publish_size(u->publish) : 0;
	u->use.free = u->use.free < UINT64_MAX - written ? u->use.free + written : UINT64_MAX;
	return 0;
}

static int check_upload_quota(const struct upload *u, uint64_t bytes, struct err *e)
{
	return quota_check(u->sender.platform, server_context_site(u->sender.context)->max_file, &u->use, bytes, e);
}

struct quota_query {
	struct upload *upload;
	struct catalog *catalog;
};

static int get_quota_use(void *ctx, struct quota_use *use, struct err *e)
{
	const struct quota_query *q = ctx;
	if (read_quota_use(q->upload, q->catalog, e) < 0)
		return -1;
	*use = q->upload->use;
	return 0;
}

// The platform is full. A file that it lists already is taken, because it adds nothing to the quota. Its bytes are on
// the disk until they are compared, so the disk must have room.
static int reserve_again(struct upload *u, struct catalog *c, uint64_t bytes, struct err *e)
{
	struct err unlisted = ERR_INIT;
	struct platform unlimited = *u->sender.platform;
	unlimited.quota_bytes = unlimited.quota_files = 0;
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	if (catalog_find_file(c, u->sender.platform->id, u->file, &place, &unlisted) < 0 ||
		(u->publish && bytes > place.size))
		return -1;
	if (quota_check(&unlimited, server_context_site(u->sender.context)->max_file, &u->use, place.size, e) < 0 ||
		reservation_set_again(u->reservation, e) < 0)
		return -1;
	u->sent_again = place.size;
	return 0;
}

// Reserves so many bytes of the quota, if there is one.
static int reserve_upload(struct upload *u, struct catalog *c, uint64_t bytes, struct err *e)
{
	const struct platform *p = u->sender.platform;
	if (!p->quota_bytes && !p->quota_files)
		return read_quota_use(u, c, e) < 0 ? -1 : check_upload_quota(u, bytes, e);
	if (!u->reservation && reservation_open(u->sender.context->catalog_path, p, &u->reservation, e) < 0)
		return -1;
	struct quota_query query = {u, c};
	struct err full = ERR_INIT;
	if (reservation_set(u->reservation, server_context_site(u->sender.context)->max_file, bytes, get_quota_use,
		    &query, &full) == 0 ||
		(full.kind == ERR_FULL && reserve_again(u, c, bytes, &full) == 0))
		return 0;
	*e = full;
	return -1;
}

// More bytes arrive than were announced. Reserves many at once, if there is room.
static int reserve_more(struct upload *u, uint64_t bytes, struct err *e)
{
	struct catalog_lease reader;
	struct err why = ERR_INIT;
	if (catalog_pool_take(u->sender.context->catalog_pool, &reader, e) < 0)
		return -1;
	int result = reserve_upload(u, reader.catalog, bytes + RESERVED_AHEAD, &why);
	if (result < 0 && (why.kind == ERR_FULL || why.kind == ERR_LIMIT))
		result = reserve_upload(u, reader.catalog, bytes, e);
	else if (result < 0)
		*e = why;
	catalog_pool_give(u->sender.context->catalog_pool, &reader);
	return result;
}

// Whether the platform takes a file of so many bytes now; if so, reserves them.
static int check_room(struct upload *u, struct catalog *c, uint64_t bytes, struct err *e)
{
	if (freeze_check(u->sender.platform, e) < 0) {
		if (e->kind == ERR_DENIED)
			e->kind = ERR_IO; // the platform's folder has become a link that leads out: the server's fault
		return -1;
	}
	return reserve_upload(u, c, bytes, e);
}

// Whether the token may still write this project. It may be revoked while the file arrives.
static bool may_write(struct upload *u, const char *project)
{
	const char *own = u->publish ? publish_project(u->publish) : NULL;
	u->refusal = sender_check_project(&u->sender, project, (struct audit_entry){.project = own, .file = u->file});
	return !u->refusal;
}

static int open_content(struct upload *u, struct catalog *c, struct err *e)
{
	CLEANUP(mem_free) char *project = publish_project_of(u->file, u->form.value[UPLOAD_FORM_NAME], e);
	if (!project)
		return -1;
	if (!may_write(u, project))
		return 0;
	if (check_room(u, c, multipart_expected(&u->body, u->announced), e) < 0)
		return -1;
	u->publish = publish_begin(u->sender.platform, c, u->file, project, e);
	if (u->publish && atomic_load(&u->sender.context->takes_facts))
		publish_take_facts(u->publish);
	if (u->publish)
		publish_audit(u->publish, u->gate);
	return u->publish ? 0 : -1;
}

static int begin_content(struct upload *u, const char *filename, struct err *e)
{
	struct catalog_lease reader;
	if (u->file)
		return err_set(e, ERR_INVALID, "the form has two parts \"content\"");
	if (!filename || !*filename)
		return err_set(e, ERR_INVALID, "the part \"content\" has no filename");
	u->file = xstrdup(filename);
	u->in_content = true;
	if (upload_form_check(&u->form, e) < 0 || catalog_pool_take(u->sender.context->catalog_pool, &reader, e) < 0)
		return -1;
	int result = open_content(u, reader.catalog, e);
	catalog_pool_give(u->sender.context->catalog_pool, &reader);
	return result;
}

// --- the parts ---

static int on_part(void *ctx, const struct multipart_part *part, struct err *e)
{
	struct upload *u = ctx;
	buf_clear(&u->text);
	u->in_content = false;
	u->field = upload_form_find(str_from(part->name));
	int attached = upload_form_attach(&u->form, part->name, e);
	u->in_attachment = attached > 0;
	if (attached)
		return attached < 0 ? -1 : 0;
	return strcmp(part->name, "content") == 0 ? begin_content(u, part->filename, e) : 0;
}

static int on_bytes(void *ctx, struct str bytes, struct err *e)
{
	struct upload *u = ctx;
	if (u->in_content) {
		if (u->refusal)
			return 0;
		uint64_t size = publish_size(u->publish) + bytes.len;
		bool is_more = u->reservation && size > reservation_bytes(u->reservation) && size > u->sent_again;
		if (is_more ? reserve_more(u, size, e) < 0 : !u->reservation && check_upload_quota(u, size, e) < 0)
			return err_prefix(e, "%s: ", u->file);
		return publish_write(u->publish, bytes, e);
	}
	if (u->in_attachment)
		return upload_form_attach_more(&u->form, bytes, e);
	if (u->field == UPLOAD_FORM_COUNT)
		return 0;
	buf_str(&u->text, bytes);
	if (u->text.failed)
		return err_set(e, ERR_INVALID, "a field of the form is longer than %d bytes", LIMIT_FORM_VALUE);
	return 0;
}

static int on_part_end(void *ctx, struct err *e)
{
	struct upload *u = ctx;
	if (u->in_content || u->field == UPLOAD_FORM_COUNT)
		return 0;
	return upload_form_put(&u->form, u->field, buf_view(&u->text), e);
}

// --- the body handler ---

static struct reply *take_bytes(struct body_handler *r, struct str bytes)
{
	struct err e = ERR_INIT;
	struct upload *u = (struct upload *)r;
	if (multipart_add(&u->body, bytes, &e) < 0)
		return upload_failed(u, &e);
	return STEAL_PTR(u->refusal);
}

// A file that is sent again adds nothing to the quota, but attachments that it does not have yet do.
static int measure_attachments(const struct upload *u, struct catalog *c, uint64_t *size, struct err *e)
{
	*size = upload_form_attached(&u->form);
	for (int kind = 0; u->sent_again && kind < ATTACHMENT_COUNT; kind++) {
		struct catalog_attached there;
		CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_STATEMENT);
		int found =
			catalog_attached(c, u->sender.platform->id, u->file, (enum attachment)kind, &there, &text, e);
		if (found < 0)
			return -1;
		*size -= found ? u->form.attachment[kind].len : 0;
	}
	return 0;
}

static int publish_upload(struct upload *u, struct publish_receipt *receipt, struct err *e)
{
	struct catalog_lease reader;
	struct declared claims = upload_form_declared(&u->form);
	if (multipart_end(&u->body, e) < 0 || upload_form_check(&u->form, e) < 0)
		return -1;
	if (!u->publish)
		return err_set(e, ERR_INVALID, "the form has no part \"content\"");
	if (upload_form_put_attachments(&u->form, u->file, u->publish, e) < 0 ||
		catalog_pool_take(u->sender.context->catalog_pool, &reader, e) < 0)
		return -1;
	uint64_t attached;
	int result = measure_attachments(u, reader.catalog, &attached, e);
	if (result == 0)
		result = check_room(u, reader.catalog, publish_size(u->publish) + attached, e);
	if (result == 0 && u->reservation)
		result = reservation_take(u->reservation, e);
	if (result == 0)
		result = publish_end(u->publish, reader.catalog, &claims,
			atomic_load_explicit(&u->sender.context->upload_policy, memory_order_acquire), receipt, e);
	catalog_pool_give(u->sender.context->catalog_pool, &reader);
	reservation_close(STEAL_PTR(u->reservation)); // the catalog counts the file now, or it was not published
	return result;
}

static struct reply *end_upload(struct body_handler *r)
{
	struct err e = ERR_INIT;
	struct upload *u = (struct upload *)r;
	struct publish_receipt receipt;
	if (u->publish && !may_write(u, publish_project(u->publish)))
		return STEAL_PTR(u->refusal);
	return publish_upload(u, &receipt, &e) < 0 ? upload_failed(u, &e) : upload_succeeded(u, &receipt);
}

static void upload_free(struct body_handler *r)
{
	struct upload *u = (struct upload *)r;
	publish_free(u->publish);
	wheel_gate_unref(u->gate);
	reservation_close(u->reservation);
	if (u->body.ops)
		multipart_release(&u->body);
	upload_form_release(&u->form);
	buf_release(&u->text);
	reply_unref(u->refusal);
	free(u->file);
	sender_release(&u->sender);
	free(u);
}

static const struct body_handler_ops ops = {.take = take_bytes, .end = end_upload, .free = upload_free};
static const struct multipart_ops parts = {.begin = on_part, .data = on_bytes, .end = on_part_end};

static struct reply *prepare_upload(struct upload *u, const struct request *r)
{
	struct err e = ERR_INIT;
	struct sender *s = &u->sender;
	struct reply *refusal = auth_check(s->context, r, TOKEN_UPLOAD, s->platform->name, NULL, &s->token_name);
	u->handler.token = s->token_name;
	if (sender_admit(s, &refusal, &e) < 0)
		return upload_failed(u, &e);
	if (refusal)
		return refusal;
	if (multipart_init(&u->body, r->header[HEADER_CONTENT_TYPE], &parts, u, &e) < 0)
		return upload_failed(u, &e);
	return NULL;
}

// A view with a membership takes no uploads. Who may not read the view is not told that it exists; and its source is
// only named where everybody may read that. NULL: it is no such view.
static struct reply *refuse_view(struct server_context *s, const struct route_match *match)
{
	struct str when;
	const struct view *v = match->platform.len ? view_time_split(match->site, match->platform, &when) : NULL;
	const struct config_view *own = v && v->membership ? config_view(&match->site->config, v->membership) : NULL;
	struct reply *refused =
		own && v->is_private ? auth_unknown(s, match->request, TOKEN_UPLOAD, match->platform, NULL) : NULL;
	if (!own || refused)
		return refused;
	const struct view *from = site_view(match->site, str_from(own->from));
	return reply_text(403,
		"403 Forbidden: files come into %s by promotion%s%s (wheelcache promote): upload to the platform",
		own->name, from && !from->is_private ? " from " : "", from && !from->is_private ? own->from : "");
}

struct body_handler *upload_receive(struct server_context *s, const struct route_match *match, struct reply **refusal)
{
	const struct request *r = match->request;
	*refusal = refuse_view(s, match);
	if (*refusal)
		return NULL;
	struct upload *u = xcalloc(1, sizeof(*u));
	u->handler.ops = &ops;
	u->form.handler = &u->handler;
	u->gate = server_context_gate(s);
	u->announced = request_content_length(r);
	buf_init(&u->text, LIMIT_FORM_VALUE);
	sender_begin(&u->sender, s, r, "upload");
	*refusal = sender_find_platform(&u->sender, match);
	if (!*refusal)
		*refusal = prepare_upload(u, r);
	// Else it is not known yet which names are taken or removed.
	if (!*refusal && u->sender.platform->scanned != CATALOG_SCANNED)
		*refusal = server_context_not_filled();
	if (!*refusal)
		return &u->handler;
	upload_free(&u->handler);
	return NULL;
}
