// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor-index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/net/fetch.h"
#include "lib/view/client-config.h"

enum { OF_ENVIRONMENT = 1000 };

// --- the values ---

void client_settings_take(struct client_settings *s, enum client_key key, int rank, const char *text, const char *from)
{
	char *before = NULL;
	if (s->value[key].text && rank < s->value[key].rank)
		return;
	if (s->value[key].text && rank == s->value[key].rank && strcmp(from, s->value[key].from) == 0)
		before = STEAL_PTR(s->value[key].text);
	free(s->value[key].text);
	free(s->value[key].from);
	s->value[key].text = xasprintf("%s%s%s", before ? before : "", before && *before ? " " : "", text);
	s->value[key].from = xstrdup(from);
	s->value[key].rank = rank;
	free(before);
}

void client_settings_take_variable(struct client_settings *s, enum client_key key, const char *name)
{
	const char *text = getenv(name);
	if (text && *text)
		client_settings_take(s, key, OF_ENVIRONMENT, text, name);
}

void client_settings_release(struct client_settings *s)
{
	for (size_t i = 0; i < CLIENT_KEYS; i++) {
		free(s->value[i].text);
		free(s->value[i].from);
	}
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
		doctor_report_add(d->report, DOCTOR_WARNING, d->client, how,
			"%s has no index set: unless its command line names one, it asks PyPI", d->client);
		return;
	}
	if (is_same_index(own, d->url)) {
		doctor_report_add(d->report, DOCTOR_FINE, d->client, "", "%s asks this index: %s says so", d->client,
			d->s->value[CLIENT_INDEX].from);
		return;
	}
	CLEANUP(mem_free) char *shown = without_password(own);
	doctor_report_add(d->report, DOCTOR_WRONG, d->client, how, "%s asks %s instead: %s says so", d->client, shown,
		d->s->value[CLIENT_INDEX].from);
}

static void judge_extra(const struct index_doctor *d)
{
	const char *extra = d->s->value[CLIENT_EXTRA].text, *strategy = d->s->value[CLIENT_STRATEGY].text;
	const char *advice = "name one index only; let the view merge upstream where others are needed";
	bool takes_best = d->is_pip || (strategy && strncmp(strategy, "unsafe-", 7) == 0);
	if (!extra)
		return;
	const char *finding = has_index(extra, d->url) ? "this index is only a further one" : "it has further indexes";
	if (takes_best)
		doctor_report_add(d->report, DOCTOR_WARNING, "order", advice,
			"%s: %s (%s): it takes the highest version of all, whoever uploaded it", d->client, finding,
			d->s->value[CLIENT_EXTRA].from);
	else
		doctor_report_add(d->report, DOCTOR_WARNING, "order", advice,
			"%s: %s (%s): it takes a project from the first index that has it, and these come before the "
			"default",
			d->client, finding, d->s->value[CLIENT_EXTRA].from);
}

static void judge_switches(const struct index_doctor *d)
{
	static const struct {
		enum client_key key;
		const char *word;
	} row[] = {{CLIENT_NO_INDEX, "no-index"}, {CLIENT_OFFLINE, "offline"}};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		if (is_on(d->s->value[row[i].key].text))
			doctor_report_add(d->report, DOCTOR_WRONG, row[i].word, "remove the setting",
				"%s asks no index: %s sets %s", d->client, d->s->value[row[i].key].from, row[i].word);
	if (d->s->value[CLIENT_FIND_LINKS].text)
		doctor_report_add(d->report, DOCTOR_WARNING, "find-links",
			"remove the setting if the wheels of this index are meant",
			"%s also takes files that %s names by find-links", d->client,
			d->s->value[CLIENT_FIND_LINKS].from);
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
	CLEANUP(buf_release) struct buf host;
	buf_init(&host, LIMIT_PATH);
	client_config_distrusted(str_from(d->url), &host);
	struct str whole = buf_view(&host), rest = whole;
	if (d->is_pip && host.len && !has_word(trusted, whole) && !has_word(trusted, str_cut(&rest, ':')))
		doctor_report_add(d->report, DOCTOR_WRONG, "TLS", "serve HTTPS, or set trusted-host in pip.conf",
			"pip refuses plain HTTP with " STR_FMT, STR_ARG(whole));
	if (cert && access(cert, R_OK) < 0)
		doctor_report_add(d->report, DOCTOR_WRONG, "TLS", "correct or remove the setting",
			"%s cannot read the certificates %s that %s names", d->client, cert,
			d->s->value[CLIENT_CERT].from);
	if (d->ca_file && !cert)
		doctor_report_add(d->report, DOCTOR_WARNING, "TLS",
			d->is_pip ? "set cert in pip.conf, or the variable PIP_CERT" : "set the variable SSL_CERT_FILE",
			"%s does not know the certificates of %s", d->client, d->ca_file);
}

void doctor_index(struct doctor_report *r, const char *client, const struct client_settings *s, const char *url,
	const char *ca_file)
{
	const struct index_doctor d = {r, client, url, ca_file, s, strcmp(client, "pip") == 0};
	judge_first(&d);
	judge_extra(&d);
	judge_switches(&d);
	judge_trust(&d);
}
