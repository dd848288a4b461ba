// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/pip-settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/format/ini-file.h"

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
		doctor_report_add(x->report, DOCTOR_WARNING, "pip", "correct the file: pip config debug", "%s", e.msg);
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

static void read_folders_of(struct pip_reader *x, const char *list)
{
	struct str rest = str_from(list);
	while (rest.len && x->number < FILES_MOST) {
		struct str folder = str_cut(&rest, ':');
		if (folder.len)
			read_pip_file(x, xasprintf(STR_FMT "/pip/pip.conf", STR_ARG(folder)));
	}
}

void pip_settings_read(struct client_settings *out, struct doctor_report *r)
{
	struct pip_reader x = {.out = out, .report = r};
	const char *machine = getenv("XDG_CONFIG_DIRS"), *user = getenv("XDG_CONFIG_HOME");
	*out = (struct client_settings){0};
	if (reads_files()) {
		read_folders_of(&x, machine && *machine ? machine : "/etc/xdg");
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
