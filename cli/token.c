// SPDX-License-Identifier: Apache-2.0
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/name-choice.h"
#include "lib/base/nearest.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "lib/state/access/audit.h"
#include "lib/state/access/tokens.h"
#include "lib/state/config/config-type.h"

enum { MAX_SECRET = 100 }; // bytes

struct token_command {
	struct cli_config settings;
	struct config config;
	const char *platform, *project, *note; // NULL: not given
	unsigned rights;                       // 1 << enum token_right, each
	struct command_words views;            // globs
	uint64_t lifetime;                     // seconds; 0: no expiry
	const char *only_add;                  // the last given option that only "add" has; NULL: none
	char *path;                            // the token file
	char *who;                             // the account that runs the command
};

// The first word after "token".
struct verb {
	const char *name;
	const char *id; // the name of the argument before STORE; NULL: none
	int (*run)(struct token_command *x, const char *id, struct err *e);
};

static const struct option_row options[] = {
	{"platform", 'p', "GLOB", "add: for platforms that match GLOB; all", NO_KEY},
	{"project", '\0', "GLOB", "add: for projects whose normalized name matches GLOB; all", NO_KEY},
	{"expires", '\0', "TIME", "add: valid for TIME, such as 12h or 90d; for ever", NO_KEY},
	{"note", '\0', "TEXT", "add: the owner, for the list and the audit log", NO_KEY},
	{"right", '\0', "RIGHT", "add: upload (the default), read, yank, evidence, promote or override; several times",
		NO_KEY},
	{"view", '\0', "GLOB", "add: its rights evidence, promote, override are for these views; all", NO_KEY},
	{"upload", '\0', NULL, "add: the same as --right upload", NO_KEY},
	{"read", '\0', NULL, "add: the same as --right read: it may read private platforms", NO_KEY},
};

// The name of a right, or of an option that stands for it.
static int take_right(struct token_command *x, const char *name, struct err *e)
{
	for (int i = 0; i < TOKEN_RIGHT_COUNT; i++)
		if (strcmp(name, token_right_name[i]) == 0) {
			x->rights |= 1u << i;
			return 0;
		}
	return err_set(e, ERR_USAGE, "--right: expected upload, read, yank, evidence, promote or override, not \"%s\"", name);
}

static int take_token_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct token_command *x = ctx;
	const struct command_text texts[] = {{"platform", &x->platform}, {"project", &x->project}, {"note", &x->note}};
	const struct cli_config_number numbers[] = {{"expires", &config_type_seconds, &x->lifetime}};
	x->only_add = name;
	if (strcmp(name, "right") == 0 || !value)
		return take_right(x, value ? value : name, e);
	if (strcmp(name, "view") == 0) {
		command_words_add(&x->views, value);
		return 0;
	}
	if (command_take_text(texts, ARRAY_SIZE(texts), name, value))
		return 0;
	if (cli_config_take_number(numbers, ARRAY_SIZE(numbers), name, value, e) < 0)
		return -1;
	return x->lifetime ? 0 : err_set(e, ERR_USAGE, "--expires: %s is not more than 0", value);
}

static int write_audit(struct token_command *x, struct audit *a, const struct audit_entry *what, int result,
	struct err *e)
{
	struct audit_entry entry = *what;
	entry.who = x->who;
	entry.result = result < 0 ? "failed" : "done";
	if (result == 0)
		return audit_write(a, &entry, e);
	struct err unwritten = ERR_INIT;
	entry.reason = e->msg;
	if (audit_write(a, &entry, &unwritten) < 0)
		log_error("%s", unwritten.msg);
	return -1;
}

static char *rights_text(const struct token *t)
{
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, LIMIT_NOTE);
	token_write_rights(t->rights, &out);
	return buf_steal(&out);
}

// --- add ---

static void log_added(const struct token *t)
{
	char until[CLOCK_TEXT + sizeof("until ")] = "for ever";
	CLEANUP(buf_release) struct buf rights;
	buf_init(&rights, LIMIT_NOTE);
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
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, SIZE_MAX / 2);
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

static void check_platform_glob(const struct config *c, const char *glob)
{
	CLEANUP(name_choice_release) struct name_choice names;
	bool is_match = c->platform_count == 0;
	name_choice_init(&names, str_from(glob));
	for (size_t i = 0; i < c->platform_count; i++) {
		name_choice_offer(&names, c->platforms[i].name);
		is_match |= fnmatch(glob, c->platforms[i].name, 0) == 0;
	}
	if (!is_match)
		warn_of_name(&names, "the configuration has no platform");
}

static void check_view_glob(const struct config *c, const char *glob)
{
	CLEANUP(name_choice_release) struct name_choice names;
	bool is_match = c->view_count == 0;
	name_choice_init(&names, str_from(glob));
	for (size_t i = 0; i < c->view_count; i++) {
		name_choice_offer(&names, c->views[i].name);
		is_match |= fnmatch(glob, c->views[i].name, 0) == 0;
	}
	if (!is_match)
		warn_of_name(&names, "the configuration has no view");
}

static int add_token(struct token_command *x, const char *id UNUSED, struct err *e)
{
	unsigned rights = x->rights ? x->rights : 1u << TOKEN_UPLOAD;
	CLEANUP(audit_cleanup) struct audit *audit = NULL;
	CLEANUP(buf_release) struct buf secret;
	CLEANUP(token_release)
	struct token t = {
		.rights = rights,
		.platform = xstrdup(x->platform ? x->platform : "*"),
		.project = xstrdup(x->project ? x->project : "*"),
		.views = join_views(x, rights),
		.note = xstrdup(x->note ? x->note : ""),
		.expires = x->lifetime ? clock_wall_seconds() + (int64_t)x->lifetime : 0,
	};
	buf_init(&secret, MAX_SECRET);
	if (cli_config_audit(&x->config, &audit, e) < 0)
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
	if (write_audit(x, audit, &entry, result, e) < 0)
		return -1;
	check_platform_glob(&x->config, t.platform);
	for (size_t i = 0; i < x->views.count; i++)
		check_view_glob(&x->config, x->views.item[i]);
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

static void print_json(const struct tokenfile *f)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct jsondoc *all = jsondoc_array();
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
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, SIZE_MAX / 2);
	jsondoc_write(doc, 2, &text);
	fputs(text.data, stdout);
}

enum token_column { COLUMN_ID, COLUMN_RIGHTS, COLUMN_PLATFORM, COLUMN_PROJECT, COLUMN_VIEWS, COLUMN_EXPIRES, COLUMNS };

struct token_cells {
	char *text[COLUMNS]; // owned
};

static void fill_cells(const struct token *t, struct token_cells *out)
{
	char expires[CLOCK_TEXT] = "never";
	if (t->expires)
		clock_write(t->expires, expires);
	out->text[COLUMN_ID] = xstrdup(t->id);
	out->text[COLUMN_RIGHTS] = rights_text(t);
	out->text[COLUMN_PLATFORM] = xstrdup(t->platform);
	out->text[COLUMN_PROJECT] = xstrdup(t->project);
	out->text[COLUMN_VIEWS] = xstrdup(t->views[0] ? t->views : "-");
	out->text[COLUMN_EXPIRES] = xstrdup(expires);
}

static void print_cells(const char *const cell[COLUMNS], const size_t width[COLUMNS])
{
	for (int i = 0; i < COLUMNS; i++)
		printf("%-*s  ", (int)width[i], cell[i]);
}

static void print_table(const struct tokenfile *f)
{
	static const char *const heading[COLUMNS] = {"ID", "RIGHTS", "PLATFORM", "PROJECT", "VIEWS", "EXPIRES"};
	CLEANUP(mem_free) struct token_cells *row = xcalloc(f->count + 1, sizeof(*row));
	size_t width[COLUMNS];
	for (int c = 0; c < COLUMNS; c++)
		width[c] = strlen(heading[c]);
	for (size_t i = 0; i < f->count; i++) {
		fill_cells(&f->token[i], &row[i]);
		for (int c = 0; c < COLUMNS; c++)
			width[c] = strlen(row[i].text[c]) > width[c] ? strlen(row[i].text[c]) : width[c];
	}
	print_cells(heading, width);
	puts("NOTE");
	for (size_t i = 0; i < f->count; i++) {
		print_cells((const char *const *)row[i].text, width);
		printf("%s%s\n", token_is_expired(&f->token[i], clock_wall_seconds()) ? "(expired) " : "",
			f->token[i].note);
		for (int c = 0; c < COLUMNS; c++)
			free(row[i].text[c]);
	}
}

static int list_tokens(struct token_command *x, const char *id UNUSED, struct err *e)
{
	CLEANUP(tokenfile_release) struct tokenfile f = {0};
	if (tokenfile_read(x->path, &f, e) < 0)
		return -1;
	(x->settings.is_json ? print_json : print_table)(&f);
	if (fflush(stdout) < 0)
		return err_errno(e, ERR_IO, "cannot write the list");
	for (size_t i = 0; i < f.damage_count; i++)
		log_error("%s", f.damage[i]);
	return f.damage_count ? err_set(e, ERR_INVALID, "%zu damaged lines; they grant no rights", f.damage_count) : 0;
}

// --- revoke ---

static int revoke_token(struct token_command *x, const char *id, struct err *e)
{
	CLEANUP(audit_cleanup) struct audit *audit = NULL;
	CLEANUP(mem_free) char *name = NULL;
	if (cli_config_audit(&x->config, &audit, e) < 0)
		return -1;
	int result = tokenfile_revoke(x->path, id, &name, e);
	CLEANUP(mem_free) char *words = xasprintf("%s %s", id, name ? name : "");
	const struct audit_entry entry = {.action = "token revoke", .reason = words};
	if (write_audit(x, audit, &entry, result, e) < 0)
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
	struct nearest n;
	nearest_init(&n, str_from(word));
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		nearest_offer(&n, verbs[i].name);
	err_set(e, ERR_USAGE, "token: expected add, list or revoke, not \"%s\"%s%s%s", word,
		n.word ? "; did you mean " : "", n.word ? n.word : "", n.word ? "?" : "");
}

static int check_options(const struct token_command *x, const struct verb *v, struct err *e)
{
	const char *wrong = v->run != add_token ? x->only_add : NULL;
	if (!wrong && v->run != list_tokens && x->settings.is_json)
		wrong = "json";
	return wrong ? err_set(e, ERR_USAGE, "--%s is not an option of token %s", wrong, v->name) : 0;
}

// Expects ID if the verb has one, then at most one STORE.
static int take_token_words(struct token_command *x, const struct verb *v, char **words, const char **id, struct err *e)
{
	if (v->id) {
		if (!*words)
			return err_set(e, ERR_USAGE, "token %s: no %s is given", v->name, v->id);
		*id = *words++;
	}
	if (*words && words[1])
		return err_set(e, ERR_USAGE, "one STORE at most, not also %s", words[1]);
	if (*words)
		cli_config_take_store(&x->settings, *words);
	return check_options(x, v, e);
}

static int run_verb(struct token_command *x, const struct verb *v, char **words, struct err *e)
{
	const char *id = NULL;
	if (take_token_words(x, v, words, &id, e) < 0 || cli_config_read(&x->settings, &x->config, e) < 0)
		return -1;
	CLEANUP(mem_free) char *catalog = cli_config_catalog(&x->config, e);
	if (!catalog)
		return -1;
	x->path = tokens_path(&x->config, catalog);
	x->who = audit_account();
	return v->run(x, id, e);
}

static void token_command_release(struct token_command *x)
{
	config_release(&x->config);
	command_words_release(&x->views);
	free(x->path);
	free(x->who);
}

static int run_token(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(token_command_release) struct token_command x = {0};
	config_init(&x.config);
	int first = cli_config_options(&x.settings, self, argc, argv, take_token_option, &x, e);
	if (first < 0)
		return err_exit_code(e->kind);
	const struct verb *v = find_verb(argv[first]);
	if (!v)
		refuse_verb(argv[first] ? argv[first] : "", e);
	return v && run_verb(&x, v, argv + first + 1, e) == 0 ? 0 : err_exit_code(e->kind);
}

const struct command command_token = {
	.name = "token",
	.arguments = "add|list|revoke ID [STORE]",
	.help = "manage tokens, which allow uploads, private reads and promotions",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(JSON),
	.run = run_token,
};
