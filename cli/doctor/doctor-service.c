// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor-service.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"

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
		doctor_report_add(r, DOCTOR_WARNING, "clock", "run systemd-timesyncd, chrony or ntpd",
			"no time service sets this machine's clock");
	else
		doctor_report_add(r, DOCTOR_FINE, "clock", "", "a time service sets this machine's clock");
}

void doctor_date(struct doctor_report *r, const char *other, const char *date)
{
	struct tm tm = {0};
	const char *end = strptime(date, "%a, %d %b %Y %H:%M:%S GMT", &tm);
	if (!end || *end)
		return;
	int64_t off = clock_wall_seconds() - (int64_t)timegm(&tm);
	int64_t far = off < 0 ? -off : off;
	if (far <= DOCTOR_DRIFT)
		doctor_report_add(r, DOCTOR_FINE, "clock", "", "this machine and %s have the same time", other);
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

static void look_at_memory(struct doctor_report *r, const char *cgroups)
{
	CLEANUP(buf_release) struct buf events = {0};
	CLEANUP(mem_free) char *path = xasprintf("%s/" UNIT "/memory.events", cgroups);
	const char *kills = read_kernel_file(path, &events) ? strstr(events.data, "oom_kill ") : NULL;
	if (kills && strtoull(kills + strlen("oom_kill "), NULL, 10) > 0)
		doctor_report_add(r, DOCTOR_WRONG, "memory",
			"raise MemoryMax of the unit, or lower [server] page-cache",
			"the kernel ended processes of the service for want of memory");
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
		doctor_report_add(r, DOCTOR_WARNING, "limits",
			"raise LimitNOFILE of the unit, or lower [server] connections",
			"%s may open %" PRIu64 " files; %" PRIu64 " connections need %" PRIu64, subject, files,
			c->connections, wanted);
	else
		doctor_report_add(r, DOCTOR_FINE, "limits", "", "%s may open as many files as it needs", subject);
	if (pid > 0)
		look_at_memory(r, cgroups);
}
