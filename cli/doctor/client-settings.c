// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/client-settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/format/ini-file.h"
#include "lib/net/fetch.h"
#include "lib/os/fs.h"
#include "lib/view/client-config.h"

enum { OF_ENVIRONMENT = 1000 };

// --- the values ---

void client_settings_take(struct client_settings *s, enum client_key key, int rank, const char *text, const char *from)
{
	const char *before = s->value[key].text;
	bool is_same_place = before && rank == s->value[key].rank && strcmp(from, s->value[key].from) == 0;
	if (before && rank < s->value[key].rank)
		return;
	s->value[key].text = is_same_place && *before ? arena_printf(&s->arena, "%s %s", before, text)
						      : arena_strdup(&s->arena, text);
	s->value[key].from = arena_strdup(&s->arena, from);
	s->value[key].rank = rank;
}

// The same of a variable of the environment that is set and not empty; its rank is above that of all files.
static void client_settings_take_variable(struct client_settings *s, enum client_key key, const char *name)
{
	const char *text = getenv(name);
	if (text && *text)
		client_settings_take(s, key, OF_ENVIRONMENT, text, name);
}

void client_settings_release(struct client_settings *s)
{
	arena_release(&s->arena);
}

// --- pip ---

enum { RANK_GLOBAL = 1, RANK_INSTALL = 100, FILES_MOST = 64 }; // a rank grows with the number of the file

static const struct pip_key {
	const char *name, *variable;
	enum client_key key;
} pip_keys[] = {
	{"index-url", "PIP_INDEX_URL", CLIENT_INDEX},
	{"extra-index-url", "PIP_EXTRA_INDEX_URL", CLIENT_EXTRA},
	{"no-index", "PIP_NO_INDEX", CLIENT_NO_INDEX},
	{"find-links", "PIP_FIND_LINKS", CLIENT_FIND_LINKS},
	{"trusted-host", "PIP_TRUSTED_HOST", CLIENT_TRUSTED_HOST},
	{"cert", "PIP_CERT", CLIENT_CERT},
};

struct pip_reader {
	struct client_settings *out;
	struct doctor_report *report;
	const char *path;
	int number; // of the file
};

// pip reads "index_url" and "Index-Url" as "index-url".
static bool is_pip_key(const char *text, const char *name)
{
	for (; *text && *name; text++, name++)
		if ((*text == '_' ? '-' : ascii_lower(*text)) != *name)
			return false;
	return *text == *name;
}

static int take_pip_line(void *ctx, const struct ini_file_line *line, struct err *e UNUSED)
{
	struct pip_reader *x = ctx;
	bool is_global = strcmp(line->section, "global") == 0;
	if (!line->key || (!is_global && strcmp(line->section, "install") != 0))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(pip_keys); i++)
		if (is_pip_key(line->key, pip_keys[i].name))
			client_settings_take(x->out, pip_keys[i].key,
				(is_global ? RANK_GLOBAL : RANK_INSTALL) + x->number, line->value, x->path);
	return 0;
}

static void read_pip_file(struct pip_reader *x, char *path)
{
	struct err e = ERR_INIT;
	x->path = path;
	x->number++;
	if (access(path, R_OK) == 0 && ini_file_read_file(path, take_pip_line, x, &e) < 0)
		doctor_warn(x->report, "pip", "correct the file: pip config debug", "%s", e.msg);
	free(path);
}

// $NAME with a path behind it; "" (which does not exist) if the variable is not set.
static char *below_variable(const char *name, const char *path)
{
	const char *folder = getenv(name);
	return folder && *folder ? xasprintf("%s/%s", folder, path) : xstrdup("");
}

// PIP_CONFIG_FILE=/dev/null: pip reads no file.
static bool reads_files(void)
{
	const char *own = getenv("PIP_CONFIG_FILE");
	return !own || strcmp(own, "/dev/null") != 0;
}

void pip_settings_read(struct client_settings *out, struct doctor_report *r)
{
	struct pip_reader x = {.out = out, .report = r};
	const char *machine = getenv("XDG_CONFIG_DIRS"), *user = getenv("XDG_CONFIG_HOME");
	*out = (struct client_settings){0};
	if (reads_files()) {
		const char *list = machine && *machine ? machine : "/etc/xdg";
		struct str rest = str_from(list);
		while (rest.len && x.number < FILES_MOST) {
			struct str folder = str_cut(&rest, ':');
			if (folder.len)
				read_pip_file(&x, xasprintf(STR_FMT "/pip/pip.conf", STR_ARG(folder)));
		}
		read_pip_file(&x, xstrdup("/etc/pip.conf"));
		read_pip_file(&x, below_variable("HOME", ".pip/pip.conf"));
		read_pip_file(&x, user && *user ? xasprintf("%s/pip/pip.conf", user)
						: below_variable("HOME", ".config/pip/pip.conf"));
		read_pip_file(&x, below_variable("VIRTUAL_ENV", "pip.conf"));
		const char *own = getenv("PIP_CONFIG_FILE");
		read_pip_file(&x, xstrdup(own ? own : ""));
	}
	for (size_t i = 0; i < ARRAY_SIZE(pip_keys); i++)
		client_settings_take_variable(out, pip_keys[i].key, pip_keys[i].variable);
	if (!out->value[CLIENT_CERT].text)
		client_settings_take_variable(out, CLIENT_CERT, "REQUESTS_CA_BUNDLE");
}

// --- uv ---

static const struct uv_key {
	const char *name; // NULL: a variable only
	const char *variable;
	enum client_key key;
} uv_keys[] = {
	{"index-url", "UV_INDEX_URL", CLIENT_INDEX},
	{NULL, "UV_DEFAULT_INDEX", CLIENT_INDEX},
	{"extra-index-url", "UV_EXTRA_INDEX_URL", CLIENT_EXTRA},
	{NULL, "UV_INDEX", CLIENT_EXTRA},
	{"no-index", "UV_NO_INDEX", CLIENT_NO_INDEX},
	{"offline", "UV_OFFLINE", CLIENT_OFFLINE},
	{"find-links", "UV_FIND_LINKS", CLIENT_FIND_LINKS},
	{"index-strategy", "UV_INDEX_STRATEGY", CLIENT_STRATEGY},
	{NULL, "SSL_CERT_FILE", CLIENT_CERT},
};

struct uv_reader {
	struct client_settings *out;
	const char *path;
	const char *prefix; // of sections: "tool.uv." in pyproject.toml
	int rank;
	bool is_ours, is_index; // the section that is read: of uv; an [[index]]
	struct str url;         // of that index
	bool is_default, is_explicit;
};

// A string without its quotes, or the text of an array; without the comment behind it.
static struct str read_toml_value(struct str value)
{
	value = str_trim(value);
	char close = value.len ? value.ptr[0] == '[' ? ']' : value.ptr[0] : '\0';
	if (close != '"' && close != '\'' && close != ']')
		return str_trim(str_cut(&value, '#'));
	struct str rest = str_slice(value, 1, value.len);
	return str_trim(str_cut(&rest, close));
}

// Of an array: its items with a blank between.
static void take_uv_text(struct uv_reader *x, enum client_key key, struct str text)
{
	CLEANUP(buf_release) struct buf words = buf_up_to(LIMIT_CONFIG);
	for (size_t i = 0; i < text.len; i++) {
		bool is_blank = strchr(" \t\"',", text.ptr[i]) != NULL;
		if (!is_blank)
			buf_putc(&words, text.ptr[i]);
		else if (words.len && words.data[words.len - 1] != ' ')
			buf_putc(&words, ' ');
	}
	CLEANUP(mem_free) char *copy = xasprintf(STR_FMT, STR_ARG(str_trim(buf_view(&words))));
	client_settings_take(x->out, key, x->rank, copy, x->path);
}

// uv uses an index that is explicit only for the projects that name it.
static void end_uv_index(struct uv_reader *x)
{
	if (x->is_index && x->url.len && !x->is_explicit)
		take_uv_text(x, x->is_default ? CLIENT_INDEX : CLIENT_EXTRA, x->url);
	x->is_index = x->is_default = x->is_explicit = false;
	x->url = (struct str){0};
}

static void begin_uv_section(struct uv_reader *x, struct str line)
{
	end_uv_index(x);
	struct str name = str_slice(line, 1, line.len);
	if (str_starts(name, STR("[")))
		name = str_slice(name, 1, name.len);
	name = str_trim(str_cut(&name, ']'));
	struct str prefix = str_from(x->prefix);
	bool is_top = prefix.len && str_eq(name, str_slice(prefix, 0, prefix.len - 1));
	struct str own = str_starts(name, prefix) ? str_slice(name, prefix.len, name.len) : STR("");
	x->is_index = str_eq(own, STR("index"));
	x->is_ours = is_top || str_eq(own, STR("pip"));
}

static void take_uv_line(struct uv_reader *x, struct str line)
{
	struct str rest = line;
	struct str key = str_trim(str_cut(&rest, '='));
	struct str value = read_toml_value(rest);
	if (x->is_index && str_eq(key, STR("url")))
		x->url = value;
	if (x->is_index && str_eq(key, STR("default")))
		x->is_default = str_eq(value, STR("true"));
	if (x->is_index && str_eq(key, STR("explicit")))
		x->is_explicit = str_eq(value, STR("true"));
	for (size_t i = 0; x->is_ours && i < ARRAY_SIZE(uv_keys); i++)
		if (uv_keys[i].name && str_eq(key, str_from(uv_keys[i].name)))
			take_uv_text(x, uv_keys[i].key, value);
}

static void read_uv_file(struct client_settings *out, int rank, const char *path, const char *prefix)
{
	struct err ignored = ERR_INIT;
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_CONFIG);
	struct uv_reader x = {.out = out, .path = path, .prefix = prefix, .rank = rank, .is_ours = !*prefix};
	if (access(path, R_OK) < 0 || fs_read_file(path, &text, &ignored) < 0)
		return;
	struct str rest = buf_view(&text);
	while (rest.len) {
		struct str line = str_trim(str_cut(&rest, '\n'));
		if (line.len && line.ptr[0] == '[')
			begin_uv_section(&x, line);
		else if (line.len && line.ptr[0] != '#' && str_find(line, '=') > 0)
			take_uv_line(&x, line);
	}
	end_uv_index(&x);
}

void uv_settings_read(struct client_settings *out)
{
	const char *own = getenv("UV_CONFIG_FILE"), *home = getenv("HOME"), *config = getenv("XDG_CONFIG_HOME");
	const char *none = getenv("UV_NO_CONFIG");
	CLEANUP(mem_free)
	char *user = config && *config ? xasprintf("%s/uv/uv.toml", config)
				       : xasprintf("%s/.config/uv/uv.toml", home ? home : "");
	*out = (struct client_settings){0};
	if (own && *own) {
		read_uv_file(out, 1, own, "");
	} else if (!none || !*none || strcmp(none, "0") == 0 || strcmp(none, "false") == 0) {
		read_uv_file(out, 1, "/etc/uv/uv.toml", "");
		read_uv_file(out, 2, user, "");
		// uv.toml takes precedence over pyproject.toml beside it.
		if (access("uv.toml", F_OK) == 0)
			read_uv_file(out, 3, "uv.toml", "");
		else
			read_uv_file(out, 3, "pyproject.toml", "tool.uv.");
	}
	for (size_t i = 0; i < ARRAY_SIZE(uv_keys); i++)
		client_settings_take_variable(out, uv_keys[i].key, uv_keys[i].variable);
}

// --- what they lead to ---

struct index_doctor {
	struct doctor_report *report;
	const char *client, *url, *ca_file;
	const struct client_settings *s;
	bool is_pip;
};

// What stands behind the host, without slashes at its end.
static struct str path_of(const struct fetch_url *u)
{
	const char *host = strstr(u->text, "://") + strlen("://");
	struct str path = str_from(host + strcspn(host, "/"));
	while (path.len && path.ptr[path.len - 1] == '/')
		path.len--;
	return path;
}

// Whatever their user and password.
static bool is_same_index(const char *a, const char *b)
{
	struct err ignored = ERR_INIT;
	CLEANUP(fetch_url_release) struct fetch_url one = {0}, other = {0};
	return fetch_url_parse(a, &one, &ignored) == 0 && fetch_url_parse(b, &other, &ignored) == 0 &&
	       fetch_url_same_origin(&one, &other) && str_eq(path_of(&one), path_of(&other));
}

static bool has_index(const char *list, const char *url)
{
	struct str rest = str_from(list);
	while (rest.len) {
		struct str word = str_cut(&rest, ' ');
		CLEANUP(mem_free) char *one = xasprintf(STR_FMT, STR_ARG(word));
		if (word.len && is_same_index(one, url))
			return true;
	}
	return false;
}

// A URL without its password, for people; the caller frees it.
static char *without_password(const char *url)
{
	struct err ignored = ERR_INIT;
	CLEANUP(fetch_url_release) struct fetch_url parts = {0};
	return fetch_url_parse(url, &parts, &ignored) < 0 ? xstrdup("something that is no URL") : xstrdup(parts.text);
}

static bool is_on(const char *text)
{
	static const char *const words[] = {"1", "true", "yes", "on", "t", "y"};
	for (size_t i = 0; text && i < ARRAY_SIZE(words); i++)
		if (str_eq_nocase(str_from(text), str_from(words[i])))
			return true;
	return false;
}

static void judge_first(const struct index_doctor *d)
{
	const char *own = d->s->value[CLIENT_INDEX].text;
	const char *how = d->is_pip ? "set index-url in pip.conf: wheelcache client-config --for pip"
				    : "set a default index in uv.toml: wheelcache client-config --for uv";
	if (!own) {
		doctor_warn(d->report, d->client, how,
			"%s has no index set: unless its command line names one, it asks PyPI", d->client);
		return;
	}
	if (is_same_index(own, d->url)) {
		doctor_fine(d->report, d->client, "%s asks this index: %s says so", d->client,
			d->s->value[CLIENT_INDEX].from);
		return;
	}
	CLEANUP(mem_free) char *shown = without_password(own);
	doctor_wrong(d->report, d->client, how, "%s asks %s instead: %s says so", d->client, shown,
		d->s->value[CLIENT_INDEX].from);
}

static bool has_word(const char *list, struct str word)
{
	struct str rest = str_from(list ? list : "");
	while (rest.len)
		if (str_eq(str_cut(&rest, ' '), word))
			return true;
	return false;
}

static void judge_trust(const struct index_doctor *d)
{
	const char *cert = d->s->value[CLIENT_CERT].text, *trusted = d->s->value[CLIENT_TRUSTED_HOST].text;
	CLEANUP(buf_release) struct buf host = buf_up_to(LIMIT_PATH);
	client_config_distrusted(str_from(d->url), &host);
	struct str whole = buf_view(&host), rest = whole;
	if (d->is_pip && host.len && !has_word(trusted, whole) && !has_word(trusted, str_cut(&rest, ':')))
		doctor_wrong(d->report, "TLS", "serve HTTPS, or set trusted-host in pip.conf",
			"pip refuses plain HTTP with " STR_FMT, STR_ARG(whole));
	if (cert && access(cert, R_OK) < 0)
		doctor_wrong(d->report, "TLS", "correct or remove the setting",
			"%s cannot read the certificates %s that %s names", d->client, cert,
			d->s->value[CLIENT_CERT].from);
	if (d->ca_file && !cert)
		doctor_warn(d->report, "TLS",
			d->is_pip ? "set cert in pip.conf, or the variable PIP_CERT" : "set the variable SSL_CERT_FILE",
			"%s does not know the certificates of %s", d->client, d->ca_file);
}

void doctor_index(struct doctor_report *r, const char *client, const struct client_settings *s, const char *url,
	const char *ca_file)
{
	const struct index_doctor d = {r, client, url, ca_file, s, strcmp(client, "pip") == 0};
	judge_first(&d);
	const char *extra = d.s->value[CLIENT_EXTRA].text, *strategy = d.s->value[CLIENT_STRATEGY].text;
	const char *advice = "name one index only; let the view merge upstream where others are needed";
	bool takes_best = d.is_pip || (strategy && strncmp(strategy, "unsafe-", 7) == 0);
	if (extra) {
		const char *finding =
			has_index(extra, d.url) ? "this index is only a further one" : "it has further indexes";
		if (takes_best)
			doctor_warn(d.report, "order", advice,
				"%s: %s (%s): it takes the highest version of all, whoever uploaded it", d.client,
				finding, d.s->value[CLIENT_EXTRA].from);
		else
			doctor_warn(d.report, "order", advice,
				"%s: %s (%s): it takes a project from the first index that has it, and these come before the "
				"default",
				d.client, finding, d.s->value[CLIENT_EXTRA].from);
	}
	static const struct {
		enum client_key key;
		const char *word;
	} row[] = {{CLIENT_NO_INDEX, "no-index"}, {CLIENT_OFFLINE, "offline"}};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		if (is_on(d.s->value[row[i].key].text))
			doctor_wrong(d.report, row[i].word, "remove the setting", "%s asks no index: %s sets %s",
				d.client, d.s->value[row[i].key].from, row[i].word);
	if (d.s->value[CLIENT_FIND_LINKS].text)
		doctor_warn(d.report, "find-links", "remove the setting if the wheels of this index are meant",
			"%s also takes files that %s names by find-links", d.client,
			d.s->value[CLIENT_FIND_LINKS].from);
	judge_trust(&d);
}
