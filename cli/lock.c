// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "cli/common/command.h"
#include "cli/common/output.h"
#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/lock/lock-read.h"
#include "lib/domain/lock/lock-rewrite.h"
#include "lib/format/escape.h"
#include "lib/net/fetch.h"
#include "lib/os/fs.h"
#include "lib/state/upstream/upstream-download.h"

// The groups, or the extras, of the project in which each package stands, by package.
struct named {
	struct jsondoc **groups, **extras; // arrays; NULL: none
};

static void add_group_name(struct jsondoc **list, const char *name)
{
	if (!name)
		return;
	if (!*list)
		*list = jsondoc_array();
	for (size_t i = 0; i < jsondoc_count(*list); i++)
		if (strcmp(jsondoc_at_str(*list, i), name) == 0)
			return;
	jsondoc_add_str(*list, name);
}

static void find_names(const struct lock *l, struct session *s, struct named *out)
{
	out->groups = ARENA_NEW(&s->arena, struct jsondoc *, l->packages);
	out->extras = ARENA_NEW(&s->arena, struct jsondoc *, l->packages);
	for (size_t i = 0; i < l->slots; i++)
		for (size_t k = 0; l->slot[i].is_root && k < l->slot[i].edges; k++) {
			size_t package = l->slot[l->edge[l->slot[i].edge + k].to].package;
			add_group_name(&out->groups[package], l->slot[i].group);
			add_group_name(&out->extras[package], l->slot[i].extra);
		}
}

static struct jsondoc *lock_file_json(const struct lock_file *f)
{
	struct jsondoc *doc = jsondoc_new("filename:k url:k line:d", f->filename, f->url, (int64_t)f->line);
	if (f->has_sha256)
		jsondoc_put_sha256(doc, "sha256", f->sha256);
	if (f->size >= 0)
		jsondoc_put_int(doc, "size", f->size);
	return doc;
}

static void put_package(const struct lock *l, size_t number, struct named *names, struct buf *out)
{
	const struct lock_package *p = &l->package[number];
	struct jsondoc *files = jsondoc_array();
	CLEANUP(jsondoc_cleanup)
	struct jsondoc *doc = jsondoc_new("project:s version:s line:d marker:s requires-python:k source:k", p->project,
		p->version, (int64_t)p->line, p->marker, p->requires_python, p->source);
	for (size_t i = 0; i < p->files; i++)
		jsondoc_add(files, lock_file_json(&l->file[p->file + i]));
	struct jsondoc **lists[] = {&names->groups[number], &names->extras[number]};
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		jsondoc_put(doc, i ? "extras" : "groups", *lists[i] ? STEAL_PTR(*lists[i]) : jsondoc_array());
	jsondoc_put(doc, "files", files);
	jsondoc_write_compact(doc, out);
}

// A package a line, without a tree of the whole: a lock may have a million files.
static void put_json(const struct lock *l, const char *path, struct session *s)
{
	struct buf *out = &s->out;
	struct named names;
	find_names(l, s, &names);
	buf_puts(out, "{\"lock\": ");
	escape_json(out, str_from(path));
	buf_printf(out, ", \"kind\": \"%s\", \"requires-python\": ", lock_kind_name[l->kind]);
	if (l->requires_python)
		escape_json(out, str_from(l->requires_python));
	else
		buf_puts(out, "null");
	buf_printf(out, ", \"skipped\": %zu, \"rows\": [", l->skipped);
	for (size_t i = 0; i < l->packages; i++) {
		buf_puts(out, i ? ",\n" : "\n");
		put_package(l, i, &names, out);
	}
	buf_puts(out, "\n]}\n");
}

static void put_table(const struct lock *l, const char *path, struct buf *out)
{
	escape_terminal_line(out, "%s: %s, %s, %s%s", path, lock_kind_name[l->kind],
		COUNTED(l->packages, "package|packages"), COUNTED(l->files, "file or hash|files or hashes"),
		l->requires_python ? ", for Python " : "");
	if (l->requires_python) {
		out->len--; // the line goes on
		escape_terminal_line(out, "%s", l->requires_python);
	}
	for (size_t i = 0; i < l->packages; i++) {
		const struct lock_package *p = &l->package[i];
		escape_terminal_line(out, "  %s %s  %s%s%s%s%s", p->project, p->version ? p->version : "?",
			COUNTED(p->files, "file|files"), p->source ? ", not of an index: " : "",
			p->source ? p->source : "", p->marker ? "  ; " : "", p->marker ? p->marker : "");
	}
}

static int run_lock_show(void *self, struct err *e)
{
	struct session *s = self;
	CLEANUP(lock_release) struct lock l = {0};
	if (s->words != 1)
		return err_set(e, ERR_USAGE, "expected one FILE: a lock file");
	if (lock_read(s->word[0], &l, e) < 0)
		return -1;
	if (s->is_json)
		put_json(&l, s->word[0], s);
	else
		put_table(&l, s->word[0], &s->out);
	return 0;
}

static const struct command command_lock_show = {
	.name = "lock show",
	.arguments = "FILE",
	.help = "print the packages and files that a lock file names",
	.shared = SHARED(JSON),
	.run = run_lock_show,
};

// --- rewrite ---

struct rewrite_command {
	struct session s;
	const char *index; // --index
	struct config config;
	struct upstreams *upstreams;
	// The files of the project that was asked for last.
	const char *project;
	struct simplepage page;
	struct arena text;
};

// A page is borrowed for the call.
static int take_new_page(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct rewrite_command *x = ctx;
	if (answer->result != UPSTREAM_KNOWN)
		return err_set(e, answer->result == UPSTREAM_NOT_FOUND ? ERR_NOT_FOUND : ERR_NET, "%s: %s%s%s",
			answer->project, upstream_result_name[answer->result], *answer->why ? ": " : "", answer->why);
	x->page.file = ARENA_NEW(&x->text, struct simplepage_file, answer->page->files);
	for (; x->page.files < answer->page->files; x->page.files++) {
		struct simplepage_file *to = &x->page.file[x->page.files];
		*to = answer->page->file[x->page.files];
		to->filename = arena_strdup(&x->text, to->filename);
		to->url = arena_strdup(&x->text, to->url);
	}
	return 0;
}

static int know_page(struct rewrite_command *x, const char *project, struct err *e)
{
	if (x->project && strcmp(x->project, project) == 0)
		return 0;
	arena_release(&x->text);
	x->page = (struct simplepage){0};
	x->project = NULL;
	if (upstream_ask(x->upstreams, NULL, project, take_new_page, x, e) < 0)
		return -1;
	x->project = arena_strdup(&x->text, project);
	return 0;
}

static int find_new_url(void *ctx, const char *project, const char *filename, const uint8_t *sha256, struct buf *url,
	struct err *e)
{
	struct rewrite_command *x = ctx;
	if (know_page(x, project, e) < 0)
		return -1;
	const struct simplepage_file *f = simplepage_find(&x->page, filename);
	if (!f)
		return err_set(e, ERR_NOT_FOUND, "the new index does not list %s", filename);
	if (sha256 && f->has_sha256 && memcmp(sha256, f->sha256, SHA256_SIZE) != 0)
		return err_set(e, ERR_INVALID, "the new index has another SHA-256 of %s than the lock", filename);
	buf_puts(url, f->url);
	return 0;
}

static int open_new_index(struct rewrite_command *x, struct err *e)
{
	const char *ca_file = fetch_ca_file(x->s.ca_file);
	if (config_set(&x->config, "upstream", "url", x->index, e) < 0 ||
		(ca_file && config_set(&x->config, "upstream", "ca-file", ca_file, e) < 0))
		return err_prefix(e, "--index: ");
	return upstreams_new(&x->config, &x->upstreams, e);
}

static int run_lock_rewrite(void *self, struct err *e)
{
	struct rewrite_command *x = self;
	struct session *s = &x->s;
	struct lock_rewritten done;
	CLEANUP(fetch_url_release) struct fetch_url shown = {0};
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_LOCK);
	if (s->words != 1)
		return err_set(e, ERR_USAGE, "expected one FILE: a lock file");
	if (!x->index)
		return err_set(e, ERR_USAGE, "--index URL is missing: the simple index that the copy is for");
	if (fetch_url_parse(x->index, &shown, e) < 0)
		return err_prefix(e, "--index: ");
	const struct lock_rewriting how = {s->word[0], shown.text, find_new_url, x}; // no password comes into a lock
	if (fs_read_regular(s->word[0], &text, e) < 0 || open_new_index(x, e) < 0 ||
		lock_rewrite(buf_view(&text), &how, &s->out, &done, e) < 0)
		return -1;
	if (s->output && output_write_file("--output", s->output, buf_view(&s->out), e) < 0)
		return -1;
	if (s->output)
		buf_clear(&s->out);
	log_info("%s: %zu URLs of files and %zu of indexes are replaced", s->word[0], done.files, done.indexes);
	return 0;
}

static void begin_rewrite(void *self)
{
	config_init(&((struct rewrite_command *)self)->config);
}

static void release_rewrite(void *self)
{
	struct rewrite_command *x = self;
	upstreams_free(x->upstreams);
	config_release(&x->config);
	arena_release(&x->text);
}

static const struct option_row rewrite_options[] = {
	{"index", '\0', "URL", "the simple index that the copy is for", TEXT(rewrite_command, index)},
};

static const struct command command_lock_rewrite = {
	.name = "lock rewrite",
	.arguments = "FILE",
	.help = "print a lock file with the URLs of another index",
	OPTIONS(rewrite_options),
	.shared = SHARED(OUTPUT) | SHARED(CA_FILE),
	.size = sizeof(struct rewrite_command),
	.begin = begin_rewrite,
	.run = run_lock_rewrite,
	.release = release_rewrite,
};

static const struct command *const rows[] = {&command_lock_show, &command_lock_rewrite, NULL};

const struct command command_lock = {
	.name = "lock",
	.help = "lock files of Python projects: show, rewrite",
	.rows = rows,
};
