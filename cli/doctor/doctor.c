// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "cli/common/serve-check.h"
#include "cli/common/command.h"
#include "cli/doctor/doctor-client.h"
#include "cli/doctor/doctor-server.h"
#include "cli/doctor/doctor-store.h"
#include "cli/doctor/doctor-unit.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/state/config/state-files.h"
#include "lib/state/upstream/right-clock.h"
#include "server/http/tls.h"

enum { TIMEOUT_SECONDS = 20 };
#define CGROUPS "/sys/fs/cgroup"

struct doctor_command {
	struct session s;
	struct doctor_report report;
	struct doctor_client_options client;
	bool checks_config;  // and looks at nothing else
	bool settles_clock; // the same
};

static void look_at_folders(struct doctor_report *r, const struct config *c)
{
	struct err e = ERR_INIT;
	CLEANUP(doctor_writes_release) struct doctor_writes writes = {0};
	CLEANUP(mem_free) char *catalog = cli_config_catalog(c, &e);
	doctor_store(r, c, catalog, &writes);
	if (catalog) {
		doctor_state(r, c, catalog, &writes);
		doctor_offers(r, c, catalog);
		doctor_mirrors(r, c, catalog);
	} else
		doctor_wrong(r, "catalog", "set [catalog] path", "%s", e.msg);
	doctor_writes_report(&writes, r);
	doctor_unit(r, &writes);
}

// A configuration that cannot be read is a row, and the rest is not looked at.
static void examine_server(struct doctor_command *x)
{
	struct err e = ERR_INIT;
	struct doctor_report *r = &x->report;
	if (session_read(&x->s, &x->s.config, &e) < 0) {
		doctor_wrong(r, "configuration", "correct this line: man wheelcache.conf", "%s", e.msg);
		return;
	}
	doctor_fine(r, "configuration", "%s", x->s.file ? x->s.file : "no file is given: the defaults");
	if (geteuid() == 0)
		doctor_warn(r, "account",
			"run it as the account of the service: runuser -u wheelcache -- wheelcache doctor",
			"root may read and write everything, so the rights of the service are not tried");
	look_at_folders(r, &x->s.config);
	doctor_clock(r);
	doctor_upstream(r, &x->s.config);
	doctor_certificate(r, &x->s.config);
	doctor_service(r, &x->s.config, CGROUPS);
}

static void log_warning(void *ctx UNUSED, const char *text)
{
	log_warn("%s", text);
}

// The operator says so; the change log has it.
static int settle_clock(struct doctor_command *x, struct err *e)
{
	struct session *s = &x->s;
	char now[CLOCK_TEXT];
	if (session_read(s, &s->config, e) < 0 || session_locate(s, true, e) < 0 || session_audit(s, e) < 0)
		return -1;
	CLEANUP(mem_free) char *folder = state_file(&s->config, s->catalog_path, STATE_FILE_OFFERS);
	int settled = right_clock_settle(folder, e);
	if (settled < 0)
		return -1;
	clock_write(clock_wall_seconds(), now);
	const struct audit_entry entry = {
		.who = session_account(s), .action = "clock is right", .result = "done", .reason = now};
	if (audit_write(s->audit, &entry, e) < 0)
		return -1;
	buf_printf(&s->out, "%s is right%s\n", now, settled ? "" : "; it was not doubted");
	return 0;
}

static int run_doctor(void *self, struct err *e)
{
	struct doctor_command *x = self;
	if (!x->s.timeout)
		return err_set(e, ERR_USAGE, "--timeout is not 1 or more");
	if ((x->client.project || x->s.ca_file) && !x->client.url)
		return err_set(e, ERR_USAGE, "--%s is for --client URL", x->client.project ? "project" : "ca-file");
	if (x->client.python && !x->client.project)
		return err_set(e, ERR_USAGE, "--python is for --project NAME");
	if (x->checks_config && (x->client.url || x->s.is_json))
		return err_set(e, ERR_USAGE, "--check-config is not for --%s", x->client.url ? "client" : "json");
	x->client.ca_file = x->s.ca_file;
	x->client.timeout = (unsigned)x->s.timeout;
	if (x->settles_clock && (x->client.url || x->s.is_json || x->checks_config))
		return err_set(e, ERR_USAGE, "--clock-is-right is for no other option");
	if (x->settles_clock)
		return settle_clock(x, e);
	if (x->checks_config) {
		// Says what `serve` would say, and has its exit code.
		struct tls *tls = NULL;
		bool is_good = session_read(&x->s, &x->s.config, e) == 0 &&
			       serve_check(&x->s.config, log_warning, NULL, &tls, e) == 0;
		tls_free(tls);
		return is_good ? serve_check_blocks(&x->s.config, e) : -1;
	}
	if (x->client.url)
		doctor_client(&x->report, &x->client);
	else
		examine_server(x);
	if (x->s.is_json)
		session_json(&x->s, doctor_report_json(&x->report));
	else
		doctor_report_text(&x->report, x->s.is_quiet, &x->s.out);
	return x->report.count[DOCTOR_WRONG] ? 1 : 0;
}

static void begin_doctor(void *self)
{
	struct doctor_command *x = self;
	x->s.timeout = TIMEOUT_SECONDS;
	doctor_report_init(&x->report);
}

static void release_doctor(void *self)
{
	doctor_report_release(&((struct doctor_command *)self)->report);
}

static const struct option_row options[] = {
	{"client", '\0', "URL", "look from a client at the index of this URL, such as https://HOST/simple/",
		TEXT(doctor_command, client.url)},
	{"project", '\0', "NAME", "with --client: also ask for this project, or one version: NAME==VERSION",
		TEXT(doctor_command, client.project)},
	{"python", '\0', "PYTHON", "with --project: judge its files for this Python, such as 3.12 or a program",
		TEXT(doctor_command, client.python)},
	{"check-config", '\0', NULL, "say only whether the server would start with this configuration",
		FLAG(doctor_command, checks_config)},
	{"clock-is-right", '\0', NULL, "end the doubt about this machine's clock, so that files of upstreams are offered again",
		FLAG(doctor_command, settles_clock)},
};

const struct command command_doctor = {
	.name = "doctor",
	.arguments = "[STORE]",
	.help = "diagnose server and client problems",
	OPTIONS(options),
	.shared = SHARED_BASE | SHARED(CA_FILE) | SHARED(TIMEOUT) | SHARED(JSON) | SHARED(QUIET),
	.follow = FOLLOW_STORE,
	.size = sizeof(struct doctor_command),
	.begin = begin_doctor,
	.run = run_doctor,
	.release = release_doctor,
};
