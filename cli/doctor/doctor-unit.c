// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor-unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/os/fs.h"

#define SERVER "wheelcache.service"
// The units with processes that write the store. timeout: an init system that hangs is no reason to hang.
#define SHOW                                                                                                           \
	"timeout 10 systemctl show --property=Id,LoadState,ActiveState,Result,MainPID,ProtectSystem,ReadWritePaths,"   \
	"StateDirectory,CacheDirectory,LogsDirectory,RuntimeDirectory " SERVER                                         \
	" wheelcache-prune.service wheelcache-retain.service 2>/dev/null"

// --- what is said of a unit ---

// The value of a property; empty if it is not there.
static struct str property(struct str properties, const char *name)
{
	struct str rest = properties;
	while (rest.len) {
		struct str value = str_cut(&rest, '\n');
		if (str_eq(str_cut(&value, '='), str_from(name)))
			return value;
	}
	return STR("");
}

static bool is_path_under(const char *path, const char *folder)
{
	size_t len = strlen(folder);
	while (len && folder[len - 1] == '/')
		len--;
	return strncmp(path, folder, len) == 0 && (!path[len] || path[len] == '/');
}

// Whether the path is in one of the folders of the list, which begin with the prefix.
static bool is_in_list(const char *path, struct str list, const char *prefix)
{
	while (list.len) {
		struct err ignored = ERR_INIT;
		struct str word = str_cut(&list, ' ');
		while (word.len && strchr("-+", word.ptr[0]))
			word = str_slice(word, 1, word.len);
		CLEANUP(mem_free) char *folder = xasprintf("%s" STR_FMT, prefix, STR_ARG(word));
		CLEANUP(mem_free) char *real = fs_real_path(folder, &ignored);
		if (word.len && is_path_under(path, real ? real : folder))
			return true;
	}
	return false;
}

// systemd.exec(5): with ProtectSystem=strict only these are writable.
static bool is_permitted(struct str properties, const char *path)
{
	static const struct {
		const char *name, *prefix;
	} row[] = {
		{"ReadWritePaths", ""},
		{"StateDirectory", "/var/lib/"},
		{"CacheDirectory", "/var/cache/"},
		{"LogsDirectory", "/var/log/"},
		{"RuntimeDirectory", "/run/"},
	};
	if (!str_eq(property(properties, "ProtectSystem"), STR("strict")))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		if (is_in_list(path, property(properties, row[i].name), row[i].prefix))
			return true;
	return false;
}

// --- what its process sees ---

// A line of mountinfo: number, parent, device, root, mount point, options.
static void read_mount(struct str line, struct buf *point, bool *is_read_only)
{
	enum { BEFORE_POINT = 4 };
	for (int i = 0; i < BEFORE_POINT; i++)
		str_cut(&line, ' ');
	point->len = 0;
	// Mount points have blanks and backslashes as "\040" (proc(5)).
	struct str text = str_cut(&line, ' ');
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] == '\\' && i + 3 < text.len) {
			CLEANUP(mem_free) char *digits = xasprintf(STR_FMT, 3, text.ptr + i + 1);
			buf_putc(point, (char)strtoul(digits, NULL, 8));
			i += 3;
		} else {
			buf_putc(point, text.ptr[i]);
		}
	}
	struct str options = str_cut(&line, ' ');
	struct str word = str_cut(&options, ',');
	*is_read_only = str_eq(word, STR("ro"));
}

// The innermost mount counts; of two at one place the later.
static bool is_read_only_for_process(struct str mounts, const char *path)
{
	CLEANUP(buf_release) struct buf point = buf_up_to(LIMIT_PATH);
	size_t longest = 0;
	bool result = false;
	while (mounts.len) {
		bool is_read_only;
		read_mount(str_cut(&mounts, '\n'), &point, &is_read_only);
		if (!point.len || point.len < longest || !is_path_under(path, point.data))
			continue;
		longest = point.len;
		result = is_read_only;
	}
	return result;
}

// --- the rows ---

static void report_state(struct doctor_report *r, struct str properties, const char *unit)
{
	struct str state = property(properties, "ActiveState"), result = property(properties, "Result");
	CLEANUP(mem_free) char *journal = xasprintf("read why it ended: journalctl -u %s", unit);
	if (str_eq(state, STR("failed")))
		doctor_wrong(r, "service", journal, "%s failed: " STR_FMT, unit, STR_ARG(result));
	else if (strcmp(unit, SERVER) != 0)
		return; // a timer starts it
	else if (str_eq(state, STR("active")))
		doctor_fine(r, "service", "%s runs", unit);
	else
		doctor_warn(r, "service", "systemctl enable --now wheelcache", "%s does not run", unit);
}

static void report_write(struct doctor_report *r, const struct doctor_write *x, const char *unit, bool is_permitted)
{
	CLEANUP(mem_free)
	char *permit = xasprintf("systemctl edit %s, with the lines [Service] and ReadWritePaths=%s, then systemctl "
				 "restart %s",
		unit, x->folder, unit);
	CLEANUP(mem_free) char *again = xasprintf("systemctl restart %s", unit);
	doctor_report_add(r, x->is_needed ? DOCTOR_WRONG : DOCTOR_WARNING, "systemd", is_permitted ? again : permit,
		is_permitted ? "%s: %s is read-only for %s, although ReadWritePaths has it: it was not there at the "
			       "start"
			     : "%s: %s is read-only for %s",
		x->what, x->folder, unit);
}

void doctor_unit_judge(struct doctor_report *r, const struct doctor_writes *w, struct str properties, struct str mounts)
{
	CLEANUP(mem_free) char *unit = xasprintf(STR_FMT, STR_ARG(property(properties, "Id")));
	size_t refused = 0;
	if (!str_eq(property(properties, "LoadState"), STR("loaded")))
		return;
	report_state(r, properties, unit);
	for (size_t i = 0; i < w->count; i++) {
		const char *folder = w->item[i].folder;
		bool permitted = is_permitted(properties, folder);
		bool is_refused = mounts.len ? is_read_only_for_process(mounts, folder) : !permitted;
		if (is_refused)
			report_write(r, &w->item[i], unit, permitted);
		refused += is_refused;
	}
	if (!refused)
		doctor_fine(r, "systemd", "%s may write to all of these folders", unit);
}

// --- asking ---

// An empty line is between two units.
static void judge_units(struct doctor_report *r, const struct doctor_writes *w, struct str shown)
{
	while (shown.len) {
		long end = 0;
		while ((size_t)end + 1 < shown.len && !(shown.ptr[end] == '\n' && shown.ptr[end + 1] == '\n'))
			end++;
		struct str one = str_slice(shown, 0, (size_t)end + 1);
		CLEANUP(buf_release) struct buf mounts = buf_up_to(LIMIT_CONFIG);
		struct err ignored = ERR_INIT;
		struct str pid = property(one, "MainPID");
		CLEANUP(mem_free) char *path = xasprintf("/proc/" STR_FMT "/mountinfo", STR_ARG(pid));
		if (!pid.len || str_eq(pid, STR("0")) || fs_read_file(path, &mounts, &ignored) < 0)
			mounts.len = 0;
		doctor_unit_judge(r, w, one, buf_view(&mounts));
		shown = str_slice(shown, (size_t)end + 1 < shown.len ? (size_t)end + 2 : shown.len, shown.len);
	}
}

void doctor_unit(struct doctor_report *r, const struct doctor_writes *w)
{
	CLEANUP(buf_release) struct buf shown = buf_up_to(LIMIT_CONFIG);
	char part[BUFSIZ];
	size_t got;
	FILE *f = popen(SHOW, "re");
	if (!f)
		return;
	while ((got = fread(part, 1, sizeof(part), f)) > 0)
		buf_str(&shown, (struct str){part, got});
	if (pclose(f) == 0)
		judge_units(r, w, buf_view(&shown));
}
