// SPDX-License-Identifier: Apache-2.0
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/output.h"
#include "cli/common/command.h"
#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/suggest.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "lib/state/access/audit.h"
#include "lib/state/access/tokens.h"
#include "lib/state/config/state-files.h"

enum { MAX_SECRET = 100 }; // bytes

struct token_command {
	struct session s;
	const char *platform, *project, *note; // NULL: not given
	unsigned rights;                       // 1 << enum token_right, each
	struct session_list views;             // globs
	uint64_t lifetime;                     // seconds; 0: no expiry
	char *path;                            // the token file
};

// The first word after "token".
struct verb {
	const char *name;
	const char *id; // the name of the argument before STORE; NULL: none
	int (*run)(struct token_command *x, const char *id, struct err *e);
};

// The name of a right, or of an option that stands for it.
static int take_right(void *self, const struct option_row *row, const char *value, struct err *e)
{
	struct token_command *x = self;
	const char *name = value ? value : row->name;
	for (int i = 0; i < TOKEN_RIGHT_COUNT; i++)
		if (strcmp(name, token_right_name[i]) == 0) {
			x->rights |= 1u << i;
			return 0;
		}
	return err_set(e, ERR_USAGE, "--right: expected upload, read, yank, evidence, promote or override, not \"%s\"",
		name);
}

static int take_lifetime(void *self, const struct option_row *row UNUSED, const char *value, struct err *e)
{
	struct token_command *x = self;
	if (!config_type_seconds.set(&x->lifetime, value))
		return err_set(e, ERR_USAGE, "--expires: \"%s\" is not %s", value, config_type_seconds.wants);
	if (x->lifetime > config_type_seconds.most)
		return err_set(e, ERR_USAGE, "--expires: %s is more than %llu", value,
			(unsigned long long)config_type_seconds.most);
	return x->lifetime ? 0 : err_set(e, ERR_USAGE, "--expires: %s is not more than 0", value);
}

static int write_audit(struct token_command *x, const struct audit_entry *what, int result, struct err *e)
{
	struct audit_entry entry = *what;
	entry.who = session_account(&x->s);
	entry.result = result < 0 ? "failed" : "done";
	if (result == 0)
		return audit_write(x->s.audit, &entry, e);
	struct err unwritten = ERR_INIT;
	entry.reason = e->msg;
	if (audit_write(x->s.audit, &entry, &unwritten) < 0)
		log_error("%s", unwritten.msg);
	return -1;
}

static char *rights_text(const struct token *t)
{
	CLEANUP(buf_release) struct buf out = buf_up_to(LIMIT_NOTE);
	token_write_rights(t->rights, &out);
	return buf_steal(&out);
}

// --- add ---

static void log_added(const struct token *t)
{
	char until[CLOCK_TEXT + sizeof("until ")] = "for ever";
	CLEANUP(buf_release) struct buf rights = buf_up_to(LIMIT_NOTE);
	token_write_rights(t->rights, &rights);
	if (t->expires) {
		memcpy(until, "until ", sizeof("until "));
		clock_write(t->expires, until + strlen("until "));
	}
	log_info("token %s has the right %s: projects %s, platforms %s%s%s, %s; it is printed only once", t->id,
		rights.data, t->project, t->platform, t->views[0] ? ", views " : "", t->views, until);
}

static int print_secret(const struct token *t, const struct buf *secret, struct err *e)
{
	if (printf("%s\n", secret->data) < 0 || fflush(stdout) < 0)
		return err_errno(e, ERR_IO, "the token cannot be printed, so revoke %s", t->id);
	return 0;
}

// The globs of --view, with blanks between.
static char *join_views(const struct token_command *x, unsigned rights)
{
	CLEANUP(buf_release) struct buf out = buf_up_to(SIZE_MAX / 2);
	for (size_t i = 0; i < x->views.count; i++)
		buf_printf(&out, "%s%s", i ? " " : "", x->views.item[i]);
	if (!x->views.count && rights & TOKEN_RIGHTS_OF_VIEWS)
		buf_puts(&out, "*");
	return xstrndup(out.data ? out.data : "", out.len);
}

// A token for a platform or view that is not there yet is good, and mostly a typing error.
static void warn_of_name(const struct name_choice *names, const char *what)
{
	struct err why = ERR_INIT;
	name_choice_refuse(names, ERR_NOT_FOUND, what, &why);
	log_warn("%s", why.msg);
}

static void check_view_glob(const struct config *c, const char *glob)
{
	CLEANUP(name_choice_release) struct name_choice names;
	bool is_match = c->view_count == 0;
	name_choice_init(&names, str_from(glob));
	for (size_t i = 0; i < c->view_count; i++) {
		name_choice_add(&names, c->views[i].name);
		is_match |= fnmatch(glob, c->views[i].name, 0) == 0;
	}
	if (!is_match)
		warn_of_name(&names, "the configuration has no view");
}

static void check_platform_glob(const struct config *c, const char *glob)
{
	CLEANUP(name_choice_release) struct name_choice names;
	bool is_match = c->platform_count == 0;
	name_choice_init(&names, str_from(glob));
	for (size_t i = 0; i < c->platform_count; i++) {
		name_choice_add(&names, c->platforms[i].name);
		is_match |= fnmatch(glob, c->platforms[i].name, 0) == 0;
	}
	if (!is_match)
		warn_of_name(&names, "the configuration has no platform");
}

static int add_token(struct token_command *x, const char *id UNUSED, struct err *e)
{
	unsigned rights = x->rights ? x->rights : 1u << TOKEN_UPLOAD;
	CLEANUP(buf_release) struct buf secret = buf_up_to(MAX_SECRET);
	CLEANUP(token_release)
	struct token t = {
		.rights = rights,
		.platform = xstrdup(x->platform ? x->platform : "*"),
		.project = xstrdup(x->project ? x->project : "*"),
		.views = join_views(x, rights),
		.note = xstrdup(x->note ? x->note : ""),
		.expires = x->lifetime ? clock_wall_seconds() + (int64_t)x->lifetime : 0,
	};
	if (session_audit(&x->s, e) < 0)
		return -1;
	int result = tokenfile_add(x->path, &t, &secret, e);
	CLEANUP(mem_free) char *granted = rights_text(&t);
	CLEANUP(mem_free)
	char *words = xasprintf("%s%s%s: %s%s%s", t.id, t.note[0] ? " " : "", t.note, granted,
		t.views[0] ? " for " : "", t.views);
	const struct audit_entry entry = {
		.action = "token add", .platform = t.platform, .project = t.project, .reason = words};
	if (result == 0)
		result = print_secret(&t, &secret, e);
	explicit_bzero(secret.data, secret.len);
	if (write_audit(x, &entry, result, e) < 0)
		return -1;
	check_platform_glob(&x->s.config, t.platform);
	for (size_t i = 0; i < x->views.count; i++)
		check_view_glob(&x->s.config, x->views.item[i]);
	log_added(&t);
	return 0;
}

// --- list ---

// The words of a text, as an array.
static struct jsondoc *words_json(const char *text, char separator)
{
	struct jsondoc *all = jsondoc_array();
	struct str rest = str_from(text);
	while (rest.len) {
		struct str one = str_cut(&rest, separator);
		CLEANUP(mem_free) char *word = xstrndup(one.ptr, one.len);
		jsondoc_add_str(all, word);
	}
	return all;
}

static struct jsondoc *tokens_json(const struct tokenfile *f)
{
	struct jsondoc *doc = jsondoc_object(), *all = jsondoc_array();
	for (size_t i = 0; i < f->count; i++) {
		const struct token *t = &f->token[i];
		struct jsondoc *one = jsondoc_object();
		char when[CLOCK_TEXT];
		CLEANUP(mem_free) char *rights = rights_text(t);
		jsondoc_put_str(one, "id", t->id);
		jsondoc_put(one, "rights", words_json(rights, ','));
		jsondoc_put(one, "views", words_json(t->views, ' '));
		jsondoc_put_bool(one, "upload", t->rights & 1u << TOKEN_UPLOAD);
		jsondoc_put_bool(one, "read", t->rights & 1u << TOKEN_READ);
		jsondoc_put_str(one, "platform", t->platform);
		jsondoc_put_str(one, "project", t->project);
		clock_write(t->created, when);
		jsondoc_put_str(one, "created", when);
		clock_write(t->expires, when);
		if (t->expires)
			jsondoc_put_str(one, "expires", when);
		jsondoc_put_bool(one, "expired", token_is_expired(t, clock_wall_seconds()));
		jsondoc_put_str(one, "note", t->note);
		jsondoc_add(all, one);
	}
	jsondoc_put(doc, "tokens", all);
	jsondoc_put_int(doc, "damaged", (int64_t)f->damage_count);
	return doc;
}

static void put_tokens(const struct tokenfile *f, struct arena *arena, struct buf *out)
{
	static const char *const head[] = {"ID", "RIGHTS", "PLATFORM", "PROJECT", "VIEWS", "EXPIRES", "NOTE"};
	struct output_table table = {.columns = ARRAY_SIZE(head)};
	output_table_add(arena, &table, head);
	for (size_t i = 0; i < f->count; i++) {
		const struct token *t = &f->token[i];
		CLEANUP(mem_free) char *rights = rights_text(t);
		char expires[CLOCK_TEXT] = "never";
		if (t->expires)
			clock_write(t->expires, expires);
		const char *const cell[] = {t->id, arena_copy(arena, str_from(rights)), t->platform, t->project,
			t->views[0] ? t->views : "-", arena_copy(arena, str_from(expires)),
			arena_printf(arena, "%s%s", token_is_expired(t, clock_wall_seconds()) ? "(expired) " : "",
				t->note)};
		output_table_add(arena, &table, cell);
	}
	output_table_print(&table, out);
}

static int list_tokens(struct token_command *x, const char *id UNUSED, struct err *e)
{
	CLEANUP(tokenfile_release) struct tokenfile f = {0};
	if (tokenfile_read(x->path, &f, e) < 0)
		return -1;
	if (x->s.is_json)
		session_json(&x->s, tokens_json(&f));
	else
		put_tokens(&f, &x->s.arena, &x->s.out);
	if (session_print(&x->s, e) < 0)
		return -1;
	for (size_t i = 0; i < f.damage_count; i++)
		log_error("%s", f.damage[i]);
	return f.damage_count ? err_set(e, ERR_INVALID, "%s no rights",
					COUNTED(f.damage_count, "damaged line grants|damaged lines grant"))
			      : 0;
}

// --- revoke ---

static int revoke_token(struct token_command *x, const char *id, struct err *e)
{
	CLEANUP(mem_free) char *name = NULL;
	if (session_audit(&x->s, e) < 0)
		return -1;
	int result = tokenfile_revoke(x->path, id, &name, e);
	CLEANUP(mem_free) char *words = xasprintf("%s %s", id, name ? name : "");
	const struct audit_entry entry = {.action = "token revoke", .reason = words};
	if (write_audit(x, &entry, result, e) < 0)
		return result < 0 && e->kind == ERR_NOT_FOUND ? err_advise(e, "wheelcache token list has the IDs") : -1;
	log_info("token %s (%s) is revoked", id, name);
	return 0;
}

// --- the command ---

static const struct verb verbs[] = {
	{"add", NULL, add_token}, {"list", NULL, list_tokens}, {"revoke", "ID", revoke_token}};

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(verbs); i++)
		if (strcmp(name, verbs[i].name) == 0)
			return &verbs[i];
	return NULL;
}

static void refuse_verb(const char *word, struct err *e)
{
	struct suggest n;
	suggest_init(&n, str_from(word));
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		suggest_add(&n, verbs[i].name);
	err_set(e, ERR_USAGE, "token: expected add, list or revoke, not \"%s\"%s%s%s", word,
		n.word ? "; did you mean " : "", n.word ? n.word : "", n.word ? "?" : "");
}

// Expects ID if the verb has one, then at most one STORE.
static int take_token_words(struct token_command *x, const struct verb *v, const char **id, struct err *e)
{
	struct session *s = &x->s;
	char **words = s->word + 1;
	const char *wrong = v->run != add_token ? s->own_option : NULL;
	if (v->id && !*words)
		return err_set(e, ERR_USAGE, "token %s: no %s is given", v->name, v->id);
	*id = v->id ? *words++ : NULL;
	if (*words && words[1])
		return err_set(e, ERR_USAGE, "one STORE at most, not also %s", words[1]);
	session_take_store(s, *words);
	if (!wrong && v->run != list_tokens && s->is_json)
		wrong = "json";
	return wrong ? err_set(e, ERR_USAGE, "--%s is not an option of token %s", wrong, v->name) : 0;
}

static int run_token(void *self, struct err *e)
{
	struct token_command *x = self;
	struct session *s = &x->s;
	const struct verb *v = find_verb(s->word[0]);
	const char *id = NULL;
	if (!v) {
		refuse_verb(s->words ? s->word[0] : "", e);
		return -1;
	}
	if (take_token_words(x, v, &id, e) < 0 || session_read(s, &s->config, e) < 0 ||
		session_locate(s, v->run != list_tokens, e) < 0)
		return -1;
	x->path = state_file(&s->config, s->catalog_path, STATE_FILE_TOKENS);
	return v->run(x, id, e);
}

static void release_token(void *self)
{
	free(((struct token_command *)self)->path);
}

static const struct option_row options[] = {
	{"platform", 'p', "GLOB", "add: for platforms that match GLOB; all", TEXT(token_command, platform)},
	{"project", '\0', "GLOB", "add: for projects whose normalized name matches GLOB; all",
		TEXT(token_command, project)},
	{"expires", '\0', "TIME", "add: valid for TIME, such as 12h or 90d; for ever", CALL(take_lifetime)},
	{"note", '\0', "TEXT", "add: the owner, for the list and the audit log", TEXT(token_command, note)},
	{"right", '\0', "RIGHT", "add: upload (the default), read, yank, evidence, promote or override; several times",
		CALL(take_right)},
	{"view", '\0', "GLOB", "add: its rights evidence, promote, override are for these views; all",
		LIST(token_command, views)},
	{"upload", '\0', NULL, "add: the same as --right upload", CALL(take_right)},
	{"read", '\0', NULL, "add: the same as --right read: it may read private platforms", CALL(take_right)},
};

const struct command command_token = {
	.name = "token",
	.arguments = "add|list|revoke ID [STORE]",
	.help = "manage tokens, which allow uploads, private reads and promotions",
	OPTIONS(options),
	.shared = SHARED_BASE | SHARED(JSON),
	.size = sizeof(struct token_command),
	.run = run_token,
	.release = release_token,
};
