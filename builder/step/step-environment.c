// SPDX-License-Identifier: Apache-2.0
#include "builder/step/step-environment.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/net/fetch.h"

struct variables {
	char **item; // "NAME=value"
	size_t count, room;
};

static void append_variable(struct variables *v, char *text)
{
	GROW(v->item, v->count, v->room);
	v->item[v->count++] = text;
}

static const char *value_of(const struct variables *v, const char *name)
{
	size_t len = strlen(name);
	for (size_t i = 0; i < v->count; i++)
		if (strncmp(v->item[i], name, len) == 0 && v->item[i][len] == '=')
			return v->item[i] + len + 1;
	return NULL;
}

static void set_variable(struct variables *v, const char *name, const char *value)
{
	if (value && !value_of(v, name))
		append_variable(v, xasprintf("%s=%s", name, value));
}

static void inherit_variables(struct variables *v, const char *names)
{
	for (struct str rest = str_from(names ? names : ""); rest.len;) {
		struct str word = str_cut(&rest, ' ');
		CLEANUP(mem_free) char *name = xstrndup(word.ptr, word.len);
		if (*name)
			set_variable(v, name, getenv(name));
	}
}

// One variable serves all: uv and Python take SSL_CERT_FILE, pip and others have names of their own.
static void trust_certificates(struct variables *v)
{
	static const char *const names[] = {
		"PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "CARGO_HTTP_CAINFO", "GIT_SSL_CAINFO"};
	const char *given = value_of(v, "SSL_CERT_FILE");
	CLEANUP(mem_free) char *file = xstrdup(given ? given : "");
	for (size_t i = 0; *file && i < ARRAY_SIZE(names); i++)
		set_variable(v, names[i], file);
}

// pip takes an index by http: only from a host that is named so.
static void trust_index(struct variables *v, const char *index)
{
	struct err ignored = ERR_INIT;
	CLEANUP(fetch_url_release) struct fetch_url url = {0};
	if (fetch_url_parse(index, &url, &ignored) < 0 || strcmp(url.scheme, "http") != 0)
		return;
	CLEANUP(mem_free) char *host = xasprintf("%s:%s", url.host, url.port);
	set_variable(v, "PIP_TRUSTED_HOST", host);
}

char **step_environment_make(const struct config *config, const char *folder, const char *index)
{
	CLEANUP(mem_free) char *home = xasprintf("%s/home", folder);
	CLEANUP(mem_free) char *tmp = xasprintf("%s/tmp", folder);
	CLEANUP(mem_free) char *report = xasprintf("%s/" STEP_ENVIRONMENT_REPORT, folder);
	const char *const fixed[][2] = {
		{"PIP_REPORT", report}, // of `pip install`, which makes the build environment
		{"PIP_CONFIG_FILE", "/dev/null"},
		{"PIP_INDEX_URL", index},
		{"PIP_NO_CACHE_DIR", "1"},
		{"PIP_NO_INPUT", "1"},
		{"PIP_DISABLE_PIP_VERSION_CHECK", "1"},
		{"PIP_NO_COLOR", "1"},
		{"UV_NO_CONFIG", "1"},
		{"UV_DEFAULT_INDEX", index},
		{"PYTHONNOUSERSITE", "1"},
		{"PYTHONUNBUFFERED", "1"}, // a log that ends with the reason
		// The earliest time that a ZIP file can have: two builds of one sdist do not differ by their times
		// (reproducible-builds.org, SOURCE_DATE_EPOCH).
		{"SOURCE_DATE_EPOCH", "315532800"},
	};
	struct variables v = {0};
	set_variable(&v, "HOME", home);
	set_variable(&v, "TMPDIR", tmp);
	inherit_variables(&v, config->build_environment);
	trust_certificates(&v);
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		set_variable(&v, fixed[i][0], fixed[i][1]);
	trust_index(&v, index);
	append_variable(&v, NULL);
	return v.item;
}
