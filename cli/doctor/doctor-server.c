// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor-server.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/timex.h>
#include <unistd.h>

#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/net/fetch.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/state/config/state-files.h"
#include "lib/state/upstream/holds.h"
#include "lib/state/upstream/mirror-lacks.h"
#include "lib/state/upstream/right-clock.h"
#include "server/http/tls.h"

#define UNIT "system.slice/wheelcache.service"

// Beside a connection's own: catalogs, logs, and a file of the store for each answer.
enum { FILES_A_CONNECTION = 2, OTHER_FILES = 256, SMALL_FILE = 64 << 10 };

// --- the clock ---

void doctor_clock(struct doctor_report *r)
{
	struct timex t = {0};
	int state = adjtimex(&t);
	if (state < 0)
		return;
	if (state == TIME_ERROR || t.status & STA_UNSYNC)
		doctor_warn(r, "clock", "run systemd-timesyncd, chrony or ntpd",
			"no time service sets this machine's clock");
	else
		doctor_fine(r, "clock", "a time service sets this machine's clock");
}

void doctor_offers(struct doctor_report *r, const struct config *c, const char *catalog)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *folder = state_file(c, catalog, STATE_FILE_OFFERS);
	CLEANUP(buf_release) struct buf why = buf_up_to(LIMIT_WORDS);
	struct right_clock *clock;
	struct holds holds;
	if (holds_read(folder, &holds, &e) == 0)
		holds_release(&holds);
	else
		doctor_wrong(r, "holds",
			"remove the record that is damaged, and make it anew: wheelcache hold, wheelcache waive",
			"%s; a server that runs has those before, one that starts shows nothing of upstreams", e.msg);
	e = (struct err)ERR_INIT;
	if (right_clock_open(folder, &clock, &e) < 0)
		doctor_wrong(r, "clock", "look at the folder: servers keep the time there by which they offer files of upstreams",
			"%s", e.msg);
	else if (right_clock_is_doubted(clock, &why))
		doctor_wrong(r, "clock", "set it if it is wrong; then, as the service's account: wheelcache doctor --clock-is-right",
			"%s: nothing new of upstreams is offered", why.data);
	if (!e.kind)
		right_clock_close(clock);
}

static void report_mirror(void *ctx, const struct mirror *m, const struct mirror_lacks *l)
{
	CLEANUP(buf_release) struct buf words = buf_up_to(SIZE_MAX / 2);
	mirror_lacks_words(l, &words);
	doctor_wrong(ctx, "mirror", "run wheelcache mirror fill again with its lock files", "%s: %s", m->name, words.data);
}

void doctor_mirrors(struct doctor_report *r, const struct config *c, const char *catalog)
{
	struct err e = ERR_INIT;
	if (mirror_lacks_each(c, catalog, report_mirror, r, &e) < 0)
		doctor_wrong(r, "mirror", "look at the folder and the catalog: what mirrors keep is not known", "%s", e.msg);
}

void doctor_date(struct doctor_report *r, const char *other, const char *date)
{
	int64_t there;
	if (!clock_read_http(date, &there))
		return;
	int64_t off = clock_wall_seconds() - there;
	int64_t far = off < 0 ? -off : off;
	if (far <= DOCTOR_DRIFT)
		doctor_fine(r, "clock", "this machine and %s have the same time", other);
	else
		doctor_report_add(r, far > DOCTOR_WRONG_DRIFT ? DOCTOR_WRONG : DOCTOR_WARNING, "clock",
			"set the clock: timedatectl set-ntp true",
			"this machine's clock is %" PRId64 " s %s that of %s", far, off < 0 ? "behind" : "ahead of",
			other);
}

// --- the service ---

// The text of a small file of the kernel. False where there is none.
static bool read_kernel_file(const char *path, struct buf *text)
{
	struct err ignored = ERR_INIT;
	buf_init(text, SMALL_FILE);
	return access(path, R_OK) == 0 && fs_read_file(path, text, &ignored) == 0 && text->len > 0;
}

static long first_process(const char *cgroups)
{
	CLEANUP(buf_release) struct buf text = {0};
	CLEANUP(mem_free) char *path = xasprintf("%s/" UNIT "/cgroup.procs", cgroups);
	return read_kernel_file(path, &text) ? strtol(text.data, NULL, 10) : 0;
}

// The soft limit of open files.
static uint64_t files_of_process(long pid)
{
	static const char key[] = "Max open files";
	CLEANUP(buf_release) struct buf text = {0};
	CLEANUP(mem_free) char *path = xasprintf("/proc/%ld/limits", pid);
	const char *line = read_kernel_file(path, &text) ? strstr(text.data, key) : NULL;
	return line ? strtoull(line + strlen(key), NULL, 10) : 0;
}

// The server raises the soft limit to the hard one.
static uint64_t files_of_ours(void)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_NOFILE, &limit) < 0 ? 0 : (uint64_t)limit.rlim_max;
}

void doctor_service(struct doctor_report *r, const struct config *c, const char *cgroups)
{
	long pid = first_process(cgroups);
	uint64_t files = pid > 0 ? files_of_process(pid) : files_of_ours();
	uint64_t wanted = c->connections * FILES_A_CONNECTION + OTHER_FILES;
	const char *subject = pid > 0 ? "wheelcache.service" : "this process (wheelcache.service does not run)";
	if (!files)
		return;
	if (files < wanted)
		doctor_warn(r, "limits", "raise LimitNOFILE of the unit, or lower [server] connections",
			"%s may open %s; %s %" PRIu64, subject, COUNTED(files, "file|files"),
			COUNTED(c->connections, "connection needs|connections need"), wanted);
	else
		doctor_fine(r, "limits", "%s may open as many files as it needs", subject);
	if (pid > 0) {
		CLEANUP(buf_release) struct buf events = {0};
		CLEANUP(mem_free) char *path = xasprintf("%s/" UNIT "/memory.events", cgroups);
		const char *kills = read_kernel_file(path, &events) ? strstr(events.data, "oom_kill ") : NULL;
		if (kills && strtoull(kills + strlen("oom_kill "), NULL, 10) > 0)
			doctor_wrong(r, "memory", "raise MemoryMax of the unit, or lower [server] page-cache",
				"the kernel ended processes of the service for want of memory");
	}
}

// --- the network ---

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
		doctor_wrong(r, "certificate", "correct [server] tls-cert and tls-key", "%s", e.msg);
		return;
	}
	int64_t left = (end - clock_wall_seconds()) / DAY;
	if (end <= clock_wall_seconds())
		doctor_wrong(r, "certificate", "renew it, then systemctl reload wheelcache",
			"%s has ended: no client trusts it", c->tls_cert);
	else
		doctor_report_add(r, left < DAYS_LEFT ? DOCTOR_WARNING : DOCTOR_FINE, "certificate",
			left < DAYS_LEFT ? "renew it, then systemctl reload wheelcache" : "", "%s is valid for %s",
			c->tls_cert, COUNTED((uint64_t)left, "more day|more days"));
}

static void report_upstream(struct doctor_report *r, const char *who, const char *url, const struct fetch_answer *a)
{
	struct str date = fetch_header(a, "date");
	CLEANUP(mem_free) char *text = xasprintf(STR_FMT, STR_ARG(date));
	if (a->status == 401 || a->status == 403)
		doctor_wrong(r, "upstream", "put the name and password into [upstream] url",
			"%s%s refuses this server: status %u", who, url, a->status);
	else if (a->status >= 500 || a->status == 429)
		doctor_warn(r, "upstream", "try again; pages that were read before are still used",
			"%s%s answers with status %u", who, url, a->status);
	else if (a->status >= 300 && a->status != 404)
		doctor_warn(r, "upstream", "see whether [upstream] url is that of a simple index",
			"%s%s answers with status %u", who, url, a->status);
	else
		doctor_fine(r, "upstream", "%s%s answers", who, url);
	doctor_date(r, url, text);
}

static void ask_upstream_index(struct doctor_report *r, const struct config_upstream *u, const char *who, const char *url)
{
	static const char *const headers[] = {"Accept: application/vnd.pypi.simple.v1+json, text/html;q=0.1", NULL};
	struct err e = ERR_INIT;
	CLEANUP(fetch_url_release) struct fetch_url parts = {0};
	CLEANUP(fetch_answer_release) struct fetch_answer answer;
	fetch_answer_init(&answer, LIMIT_CLIENT_PAGE);
	if (fetch_url_parse(url, &parts, &e) < 0) {
		doctor_wrong(r, "upstream", "correct [upstream] url", "%san index is %s", who, e.msg);
		return;
	}
	if (u->password_file && !parts.password && fetch_password_read(u->password_file, &parts.user, &parts.password, &e) < 0) {
		doctor_wrong(r, "upstream", "correct its password-file", "%s%s", who, e.msg);
		return;
	}
	const struct fetch_options options = {
		.ca_file = u->ca_file,
		.user = parts.user ? parts.user : "",
		.password = parts.password,
		.connect_seconds = (unsigned)u->connect_timeout,
		.stall_seconds = (unsigned)u->timeout,
	};
	struct fetch *fetch = fetch_new(&options);
	size_t len = strlen(parts.text);
	CLEANUP(mem_free)
	char *page = xasprintf("%s%spip/", parts.text, len && parts.text[len - 1] == '/' ? "" : "/");
	if (fetch_get(fetch, page, headers, &answer, &e) == 0)
		report_upstream(r, who, parts.text, &answer);
	else if (e.kind == ERR_DENIED)
		doctor_wrong(r, "upstream", "set [upstream] ca-file to the certificate of its authority",
			"%sits certificate is not trusted: %s", who, e.msg);
	else
		doctor_wrong(r, "upstream", "see whether a firewall or a proxy is between (https_proxy, no_proxy)",
			"%s%s", who, e.msg);
	fetch_free(fetch);
}

// who: its name before a colon; empty where it is the only one.
static void ask_indexes(struct doctor_report *r, const struct config_upstream *u, const char *who)
{
	for (struct str rest = str_from(u->urls); rest.len;) {
		struct str word = str_cut(&rest, ' ');
		CLEANUP(mem_free) char *url = xasprintf(STR_FMT, STR_ARG(word));
		if (word.len)
			ask_upstream_index(r, u, who, url);
	}
}

void doctor_upstream(struct doctor_report *r, const struct config *c)
{
	if (c->upstream_offline)
		doctor_fine(r, "upstream", "it is not asked: [upstream] offline = yes");
	for (size_t i = 0; i < c->upstreams.count && !c->upstream_offline; i++) {
		const struct config_upstream *u = &c->upstreams.item[i];
		CLEANUP(mem_free) char *who = c->upstreams.count > 1 ? xasprintf("%s: ", u->name) : xstrdup("");
		ask_indexes(r, u, who);
	}
}
