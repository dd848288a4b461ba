// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/uv-settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/os/fs.h"

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
	CLEANUP(buf_release) struct buf words;
	buf_init(&words, LIMIT_CONFIG);
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
	CLEANUP(buf_release) struct buf text;
	struct uv_reader x = {.out = out, .path = path, .prefix = prefix, .rank = rank, .is_ours = !*prefix};
	buf_init(&text, LIMIT_CONFIG);
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
