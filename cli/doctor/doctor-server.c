// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor-server.h"

#include <inttypes.h>
#include <string.h>

#include "cli/doctor/doctor-service.h"
#include "lib/base/limits.h"
#include "lib/net/fetch.h"
#include "lib/os/clock.h"
#include "server/http/tls.h"

enum { DAY = 86400, DAYS_LEFT = 21 };

static void tls_cleanup(struct tls **t)
{
	tls_free(*t);
}

void doctor_certificate(struct doctor_report *r, const struct config *c)
{
	struct err e = ERR_INIT;
	CLEANUP(tls_cleanup) struct tls *tls = NULL;
	int64_t end;
	if (!c->tls_cert && !c->tls_key)
		return;
	if (tls_load(c->tls_cert, c->tls_key, &tls, &e) < 0 || tls_certificate_end(c->tls_cert, &end, &e) < 0) {
		doctor_report_add(r, DOCTOR_WRONG, "certificate", "correct [server] tls-cert and tls-key", "%s", e.msg);
		return;
	}
	int64_t left = (end - clock_wall_seconds()) / DAY;
	if (end <= clock_wall_seconds())
		doctor_report_add(r, DOCTOR_WRONG, "certificate", "renew it, then systemctl reload wheelcache",
			"%s has ended: no client trusts it", c->tls_cert);
	else
		doctor_report_add(r, left < DAYS_LEFT ? DOCTOR_WARNING : DOCTOR_FINE, "certificate",
			left < DAYS_LEFT ? "renew it, then systemctl reload wheelcache" : "",
			"%s is valid for %" PRId64 " more days", c->tls_cert, left);
}

static void report_upstream(struct doctor_report *r, const char *url, const struct fetch_answer *a)
{
	struct str date = fetch_header(a, "date");
	CLEANUP(mem_free) char *text = xasprintf(STR_FMT, STR_ARG(date));
	if (a->status == 401 || a->status == 403)
		doctor_report_add(r, DOCTOR_WRONG, "upstream", "put the name and password into [upstream] url",
			"%s refuses this server: status %u", url, a->status);
	else if (a->status >= 500 || a->status == 429)
		doctor_report_add(r, DOCTOR_WARNING, "upstream",
			"try again; pages that were read before are still used", "%s answers with status %u", url,
			a->status);
	else if (a->status >= 300 && a->status != 404)
		doctor_report_add(r, DOCTOR_WARNING, "upstream", "see whether [upstream] url is that of a simple index",
			"%s answers with status %u", url, a->status);
	else
		doctor_report_add(r, DOCTOR_FINE, "upstream", "", "%s answers", url);
	doctor_date(r, url, text);
}

static void ask_upstream_index(struct doctor_report *r, const struct config *c, const char *url)
{
	static const char *const headers[] = {"Accept: application/vnd.pypi.simple.v1+json, text/html;q=0.1", NULL};
	struct err e = ERR_INIT;
	CLEANUP(fetch_url_release) struct fetch_url parts = {0};
	CLEANUP(fetch_answer_release) struct fetch_answer answer;
	fetch_answer_init(&answer, LIMIT_CLIENT_PAGE);
	if (fetch_url_parse(url, &parts, &e) < 0) {
		doctor_report_add(r, DOCTOR_WRONG, "upstream", "correct [upstream] url", "an index is %s", e.msg);
		return;
	}
	const struct fetch_options options = {
		.ca_file = c->upstream_ca_file,
		.user = parts.user ? parts.user : "",
		.password = parts.password,
		.connect_seconds = (unsigned)c->upstream_connect_timeout,
		.stall_seconds = (unsigned)c->upstream_timeout,
	};
	struct fetch *fetch = fetch_new(&options);
	size_t len = strlen(parts.text);
	CLEANUP(mem_free)
	char *page = xasprintf("%s%spip/", parts.text, len && parts.text[len - 1] == '/' ? "" : "/");
	if (fetch_get(fetch, page, headers, &answer, &e) == 0)
		report_upstream(r, parts.text, &answer);
	else if (e.kind == ERR_DENIED)
		doctor_report_add(r, DOCTOR_WRONG, "upstream",
			"set [upstream] ca-file to the certificate of its authority",
			"its certificate is not trusted: %s", e.msg);
	else
		doctor_report_add(r, DOCTOR_WRONG, "upstream",
			"see whether a firewall or a proxy is between (https_proxy, no_proxy)", "%s", e.msg);
	fetch_free(fetch);
}

void doctor_upstream(struct doctor_report *r, const struct config *c)
{
	struct str rest = str_from(c->upstream_urls ? c->upstream_urls : "");
	if (c->upstream_offline) {
		doctor_report_add(r, DOCTOR_FINE, "upstream", "", "it is not asked: [upstream] offline = yes");
		return;
	}
	while (rest.len) {
		struct str word = str_cut(&rest, ' ');
		CLEANUP(mem_free) char *url = xasprintf(STR_FMT, STR_ARG(word));
		if (word.len)
			ask_upstream_index(r, c, url);
	}
}
