// SPDX-License-Identifier: Apache-2.0
// The commands that mark files: yank, unyank, remove, provenance add. They find the file on the platforms, mark it and
// write the log of changes.
#include <stdio.h>
#include <string.h>

#include "cli/common/file-word.h"
#include "cli/common/record-sender.h"
#include "builder/missing/kept-locks.h"
#include "cli/common/command.h"
#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/wheel/provenance.h"
#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/state/publish/attach-ops.h"
#include "lib/state/publish/file-select.h"
#include "lib/state/publish/marking.h"
#include "lib/state/publish/sidecar-ops.h"
#include "pruner/plan/pins.h"

struct mark_kind;

struct mark_command {
	struct session s;
	const struct mark_kind *kind;
	const char *word; // FILE as it is given: a name, a path or a selection (lib/state/publish/file-select.h)
	const char *file; // the name of the file that is marked
	bool selects;     // the word is a selection
	const char *of;   // provenance --of; NULL: not given
	bool deletes, replaces, forces;
	struct record_sender server; // yank --server
	struct buf statement;        // of provenance
};

struct mark_kind {
	const char *action; // "yank", for the log of changes
	const char *done;   // "yanked", for the terminal
	// Marks m->file on one platform. ERR_NOT_FOUND: the platform does not have the file; ERR_BUSY: it is frozen.
	int (*mark)(void *m, const struct platform *p, struct catalog *c, struct err *e);
	bool needs_reason;
	// Before the first file is marked, for each platform that has it: an error means that none is marked. NULL:
	// nothing is in the way.
	int (*check)(const struct mark_command *m, const struct platform *p, struct err *e);
};

static const char waits_for_release[] = "; the pages show it once its volume is released";

// --- marking ---

// Names the command that lists the project's files. platform NULL: it was looked for on all.
static int refuse_marked_file(const struct mark_command *m, const char *platform, struct err *e)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	if (platform)
		err_set(e, ERR_NOT_FOUND, "platform %s has no file %s", platform, m->file);
	else
		err_set(e, ERR_NOT_FOUND, "no platform has a file %s", m->file);
	if (filename_parse(str_from(m->file), &name, &ignored) == 0)
		err_advise(e, "wheelcache explain %s lists the files of the project", name.project);
	return -1;
}

static bool is_wanted_platform(const struct mark_command *m, const struct file_word *word, const struct platform *p)
{
	return (!m->s.platform || strcmp(p->name, m->s.platform) == 0) && file_word_is_on(word, p);
}

static int check_marks(const struct mark_command *m, const struct file_word *word, struct err *e)
{
	const struct store *store = &m->s.store;
	for (size_t i = 0; i < store->platform_count && m->kind->check; i++) {
		const struct platform *p = &store->platform[i];
		if (p->id && is_wanted_platform(m, word, p) && m->kind->check(m, p, e) < 0)
			return -1;
	}
	return 0;
}

static int mark_on(struct mark_command *m, const struct platform *p, struct err *e)
{
	const struct marking marking = {.action = m->kind->action,
		.reason = m->s.reason,
		.who = session_account(&m->s),
		.mark = m->kind->mark,
		.ctx = m};
	if (!p->id)
		return err_set(e, ERR_NOT_FOUND, "not in the catalog");
	return marking_file(&marking, m->file, p, m->s.catalog, m->s.audit, e);
}

// A failure on one platform does not stop the others. *e is the last error.
static int mark_all(struct mark_command *m, const struct file_word *word, struct err *e)
{
	const struct store *store = &m->s.store;
	size_t found = 0;
	int result = 0;
	for (size_t i = 0; i < store->platform_count; i++) {
		struct err why = ERR_INIT;
		const struct platform *p = &store->platform[i];
		if (!is_wanted_platform(m, word, p))
			continue;
		int marked = mark_on(m, p, &why);
		if (marked < 0 && why.kind == ERR_NOT_FOUND)
			continue;
		found++;
		if (marked < 0 || session_release_volume(&m->s, p, m->kind->done, m->file, &why) < 0) {
			*e = why;
			result = -1;
		} else if (!m->s.is_quiet) {
			bool waits = store_is_split(p) && !p->release;
			printf("%s: %s %s%s\n", p->name, m->kind->done, m->file, waits ? waits_for_release : "");
		}
	}
	const char *wanted = m->s.platform ? m->s.platform : word->platform ? word->platform->name : NULL;
	return found ? result : refuse_marked_file(m, wanted, e);
}

// Every file is checked before the first one is marked.
static int mark_selected(struct mark_command *m, struct err *e)
{
	CLEANUP(strset_release) struct strset names = {0};
	const struct file_word any = {.name = m->word};
	int result = 0;
	if (file_select_names(m->word, &m->s.store, m->s.platform, m->s.catalog, &names, e) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		m->file = names.item[i];
		if (check_marks(m, &any, e) < 0)
			return -1;
	}
	for (size_t i = 0; i < names.count; i++) {
		struct err why = ERR_INIT;
		m->file = names.item[i];
		if (mark_all(m, &any, &why) < 0) {
			*e = why;
			result = -1;
		}
	}
	return result;
}

// "FILE [STORE]".
static int take_mark_words(struct mark_command *m, struct err *e)
{
	struct session *s = &m->s;
	if (!s->words)
		return err_set(e, ERR_USAGE, "no FILE is given: the name or the path of a wheel or an sdist");
	if (s->words > 2)
		return err_set(e, ERR_USAGE, "expected one FILE and at most one STORE, not also %s", s->word[2]);
	m->word = s->word[0];
	session_take_store(s, s->word[1]);
	return 0;
}

static int check_mark_words(struct mark_command *m, struct err *e)
{
	if (!m->selects && !file_word_fits(m->word))
		return err_set(e, ERR_USAGE,
			"%s is not the name of a wheel or an sdist, or its path; wheelcache explain PROJECT lists the files",
			m->word);
	if (m->kind->needs_reason && !m->s.reason)
		return err_set(e, ERR_USAGE, "--reason TEXT is missing: clients and the audit log show it");
	return 0;
}

// Marks the word on each platform that has it, or on that of --platform or of its path.
static int mark_in_store(struct mark_command *m, struct err *e)
{
	struct session *s = &m->s;
	CLEANUP(file_word_release) struct file_word word = {0};
	if (session_open(s, SESSION_LOCATE | SESSION_STORE, e) < 0 ||
		(!m->selects && file_word_read(m->word, &s->store, &word, e) < 0))
		return -1;
	m->file = word.name;
	if (s->platform && !store_platform_named(&s->store, str_from(s->platform)))
		return store_refuse_platform(&s->store, s->platform, ERR_NOT_FOUND, e);
	if (session_open(s, SESSION_CHANGE | SESSION_AUDIT | SESSION_FIND, e) < 0)
		return -1;
	if (m->selects)
		return mark_selected(m, e);
	if (file_word_check(&word, s->catalog, e) < 0 || check_marks(m, &word, e) < 0)
		return -1;
	return mark_all(m, &word, e);
}

static int mark_file(struct mark_command *m, struct err *e)
{
	if (take_mark_words(m, e) < 0)
		return -1;
	m->selects = file_select_is(m->word);
	return check_mark_words(m, e) < 0 ? -1 : mark_in_store(m, e);
}

// --- yank and unyank ---

static int write_order(const struct mark_command *x, struct buf *out, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct jsondoc *list = jsondoc_array();
	jsondoc_add_str(list, x->word);
	jsondoc_put(doc, "select", list);
	if (x->s.platform)
		jsondoc_put_str(doc, "platform", x->s.platform);
	if (x->s.reason)
		jsondoc_put_str(doc, "reason", x->s.reason);
	jsondoc_put_bool(doc, "undo", x->s.command == &command_unyank);
	jsondoc_write(doc, 0, out);
	return out->failed ? err_set(e, ERR_LIMIT, "the request has more than %d bytes", LIMIT_YANK) : 0;
}

static int report_files(const struct mark_command *x, const struct jsondoc *doc, struct err *e)
{
	const struct jsondoc *list = jsondoc_get(doc, "files");
	size_t count = list ? jsondoc_count(list) : 0;
	bool is_answer = count > 0;
	for (size_t i = 0; i < count && is_answer; i++) {
		const struct jsondoc *one = jsondoc_at(list, i);
		const char *platform = jsondoc_get_str(one, "platform"), *filename = jsondoc_get_str(one, "filename");
		is_answer = platform && filename;
		if (is_answer) {
			// Names of a server are from outside.
			bool waits = jsondoc_is_true(one, "waits_for_release");
			CLEANUP(buf_release) struct buf line = buf_up_to(SIZE_MAX / 2);
			escape_terminal(&line, str_from(platform));
			buf_printf(&line, ": %s ", x->kind->done);
			escape_terminal(&line, str_from(filename));
			if (!x->s.is_quiet)
				printf("%s%s\n", line.data, waits ? waits_for_release : "");
		}
	}
	return is_answer ? 0 : err_set(e, ERR_NET, "it is no answer to a yank");
}

static int read_answer(const struct mark_command *x, struct str body, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read_bounded(body, LIMIT_CLIENT_VALUES, e);
	if (doc && report_files(x, doc, e) == 0)
		return 0;
	e->kind = ERR_NET;
	return err_prefix(e, "%s: ", x->server.url);
}

static int run_yank_kind(struct mark_command *m, const struct mark_kind *kind, struct err *e)
{
	m->kind = kind;
	if (!m->server.url)
		return mark_file(m, e);
	if (take_mark_words(m, e) < 0)
		return -1;
	m->selects = file_select_is(m->word);
	if (check_mark_words(m, e) < 0)
		return -1;
	if (m->s.word[1])
		return err_set(e, ERR_USAGE, "--server: the server has a store of its own, so no STORE is given");
	CLEANUP(buf_release) struct buf document = buf_up_to(LIMIT_YANK);
	CLEANUP(fetch_answer_release) struct fetch_answer a;
	struct upload_client_answer answer;
	fetch_answer_init(&a, LIMIT_YANK_ANSWER);
	if (write_order(m, &document, e) < 0 ||
		record_sender_exchange(&m->server, &m->s, "-/yank/", buf_view(&document), &a, &answer, e) < 0)
		return -1;
	return answer.status == 200 ? read_answer(m, buf_view(&a.body), e)
				    : record_sender_refused(&answer, ERR_NOT_FOUND, e);
}

static int yank_file(void *self, const struct platform *p, struct catalog *c, struct err *e)
{
	const struct mark_command *m = self;
	return sidecar_ops_yank(p, c, m->file, m->s.reason, e);
}

static int run_yank(void *self, struct err *e)
{
	static const struct mark_kind kind = {"yank", "yanked", yank_file, true, NULL};
	return run_yank_kind(self, &kind, e);
}

static int unyank_file(void *self, const struct platform *p, struct catalog *c, struct err *e)
{
	return sidecar_ops_unyank(p, c, ((const struct mark_command *)self)->file, e);
}

static int run_unyank(void *self, struct err *e)
{
	static const struct mark_kind kind = {"unyank", "no longer yanked:", unyank_file, false, NULL};
	return run_yank_kind(self, &kind, e);
}

static void release_yank(void *self)
{
	record_sender_release(&((struct mark_command *)self)->server);
}

static const struct option_row yank_rows[] = {
	{"server", '\0', "URL", "let this server do it: its base URL, https://HOST/", TEXT(mark_command, server.url)},
	{"reason", 'r', "TEXT", "the reason; pages show it", TEXT(session, reason)},
};

const struct command command_yank = {
	.name = "yank",
	.arguments = "FILE [STORE]",
	.help = "yank a file: clients install it only if they ask for its exact version",
	OPTIONS(yank_rows),
	.shared =
		SHARED_BASE | SHARED(PLATFORM) | SHARED(QUIET) | SHARED(CA_FILE) | SHARED(TIMEOUT) | SHARED(TOKEN_FILE),
	.size = sizeof(struct mark_command),
	.run = run_yank,
	.release = release_yank,
};

const struct command command_unyank = {
	.name = "unyank",
	.arguments = "FILE [STORE]",
	.help = "undo yank",
	.options = yank_rows,
	.option_count = 1, // without the reason
	.shared =
		SHARED_BASE | SHARED(PLATFORM) | SHARED(QUIET) | SHARED(CA_FILE) | SHARED(TIMEOUT) | SHARED(TOKEN_FILE),
	.size = sizeof(struct mark_command),
	.run = run_unyank,
	.release = release_yank,
};

// --- remove ---

static int remove_file(void *self, const struct platform *p, struct catalog *c, struct err *e)
{
	struct mark_command *m = self;
	const struct tombstone t = {
		.reason = m->s.reason, .when = clock_wall_seconds(), .by = session_account(&m->s), .size = -1};
	return sidecar_ops_remove(p, c, m->file, NULL, &t, m->deletes, e);
}

// What a view has was released: its clients and its rollbacks need the file.
static int check_views_of_file(const struct mark_command *m, const struct platform *p, const uint8_t *sha256,
	struct err *e)
{
	const struct config *config = &m->s.config;
	struct catalog *c = m->s.catalog;
	CLEANUP(buf_release) struct buf views = buf_up_to(ERR_MSG_SIZE / 2);
	if (pins_sync(config, c, e) < 0)
		return err_advise(e, "--force removes the file nevertheless");
	if (pins_views(config, c, p->id, m->file, sha256, &views, e) < 0)
		return -1;
	if (!views.len)
		return 0;
	return err_set(e, ERR_CONFLICT,
		"%s: %s is released, in the views %s%s, whose clients would lose it. Nothing was done: wheelcache demote "
		"first, or use --force",
		p->name, m->file, views.data, views.failed ? " …" : "");
}

// An install from the lock asks for these bytes.
static int check_locks_of_file(const struct mark_command *m, const struct platform *p, const uint8_t *sha256,
	struct err *e)
{
	CLEANUP(kept_locks_release) struct kept_locks locks = {0};
	if (kept_locks_read(&m->s.config, clock_wall_seconds(), NULL, &locks, e) < 0)
		return err_advise(e, "--force removes the file nevertheless");
	const char *lock = kept_locks_find(&locks, sha256);
	return lock ? err_set(e, ERR_CONFLICT,
			      "%s: %s is " KEPT_LOCKS_WORDS
			      ": installs from it would fail. Nothing was done: --force removes it nevertheless",
			      p->name, m->file, lock)
		    : 0;
}

static int check_removal(const struct mark_command *m, const struct platform *p, struct err *e)
{
	struct err missing = ERR_INIT;
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	if (m->forces)
		return 0;
	if (catalog_find_file(m->s.catalog, p->id, m->file, &place, &missing) < 0) {
		if (missing.kind == ERR_NOT_FOUND)
			return 0;
		*e = missing;
		return err_advise(e, "--force removes the file nevertheless");
	}
	return check_views_of_file(m, p, place.sha256, e) < 0 ? -1 : check_locks_of_file(m, p, place.sha256, e);
}

static int run_remove(void *self, struct err *e)
{
	static const struct mark_kind kind = {"remove", "removed", remove_file, true, check_removal};
	struct mark_command *m = self;
	m->kind = &kind;
	return mark_file(m, e);
}

static const struct option_row remove_rows[] = {
	{"reason", 'r', "TEXT", "the reason; a later upload of the file is refused with it", TEXT(session, reason)},
	{"delete", '\0', NULL, "also delete the bytes now; lock files that name the file break",
		FLAG(mark_command, deletes)},
	{"force", '\0', NULL, "remove it although views with a membership have it, or lock files name it",
		FLAG(mark_command, forces)},
};

const struct command command_remove = {
	.name = "remove",
	.arguments = "FILE [STORE]",
	.help = "unlist a file and put a tombstone beside it",
	OPTIONS(remove_rows),
	.shared = SHARED_BASE | SHARED(PLATFORM) | SHARED(QUIET),
	.size = sizeof(struct mark_command),
	.run = run_remove,
};

// --- provenance add ---

// The name of the only subject, if it is that of a wheel or an sdist.
static int take_only_subject(struct mark_command *m, struct err *e)
{
	CLEANUP(provenance_release) struct provenance p = {0};
	if (provenance_read(buf_view(&m->statement), &p, e) < 0)
		return -1;
	const char *name = p.subjects == 1 ? p.subject[0].name : NULL;
	if (!name || filename_kind(str_from(name)) == FILENAME_OTHER || filename_check(str_from(name), e) < 0)
		return err_set(e, ERR_USAGE, "--of NAME is missing: the statement does not name one wheel or sdist");
	m->word = arena_copy(&m->s.arena, str_from(name));
	return 0;
}

static int add_statement(void *self, const struct platform *p, struct catalog *c, struct err *e)
{
	const struct mark_command *m = self;
	const struct attach_request request = {
		.filename = m->file,
		.kind = ATTACHMENT_STATEMENT,
		.text = buf_view(&m->statement),
		.waits = m->s.platform != NULL,
		.replaces = m->replaces,
	};
	return attach_ops_put(p, c, &request, e) < 0 ? err_prefix(e, "platform %s: ", p->name) : 0;
}

// FILE is the statement, which says for which file it is.
static int run_provenance_add(void *self, struct err *e)
{
	static const struct mark_kind kind = {"provenance", "added provenance of", add_statement, false, NULL};
	struct mark_command *m = self;
	m->kind = &kind;
	if (take_mark_words(m, e) < 0 || fs_read_file(m->word, &m->statement, e) < 0)
		return -1;
	const char *path = m->word;
	m->word = m->of;
	if (!m->of && take_only_subject(m, e) < 0)
		return err_prefix(e, "%s: ", path);
	return check_mark_words(m, e) < 0 ? -1 : mark_in_store(m, e);
}

static void begin_provenance(void *self)
{
	buf_init(&((struct mark_command *)self)->statement, LIMIT_STATEMENT);
}

static void release_provenance(void *self)
{
	buf_release(&((struct mark_command *)self)->statement);
}

static const struct option_row provenance_rows[] = {
	{"of", '\0', "NAME", "the file that it is about, if it is about several", TEXT(mark_command, of)},
	{"replace", '\0', NULL, "replace another statement that is there", FLAG(mark_command, replaces)},
};

static const struct command command_provenance_add = {
	.name = "provenance add",
	.arguments = "FILE [STORE]",
	.help = "put a statement of provenance beside its wheel",
	OPTIONS(provenance_rows),
	.shared = SHARED_BASE | SHARED(PLATFORM) | SHARED(QUIET),
	.size = sizeof(struct mark_command),
	.begin = begin_provenance,
	.run = run_provenance_add,
	.release = release_provenance,
};

static const struct command *const group_rows[] = {
	&command_provenance_add,
	NULL,
};

const struct command command_provenance = {
	.name = "provenance",
	.help = "say where wheels come from: add",
	.rows = group_rows,
};
