// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor-install.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/domain/machine/profile.h"
#include "lib/domain/text/specifier.h"
#include "lib/install/nearest.h"

enum { ANSWER_MOST = 512, ANY_MICRO = -1 };

// Prints VERSION MICRO ARCH LIBC, such as "3.13t 2 x86_64 glibc 2.36". $PYTHON_OF_DOCTOR: the program.
#define ASK                                                                                                            \
	"timeout 20 \"$PYTHON_OF_DOCTOR\" -I -c '"                                                                     \
	"import glob, platform, sys, sysconfig\n"                                                                      \
	"v, l = sys.version_info, platform.libc_ver()\n"                                                               \
	"l = l if l[0] == \"glibc\" else (\"musl\", \"1.2\") if glob.glob(\"/lib/ld-musl-*\") else (\"none\", \"0\")\n" \
	"n = \"pp%d%d\" if sys.implementation.name == \"pypy\" else \"%d.%d\"\n"                                       \
	"t = \"t\" if sysconfig.get_config_var(\"Py_GIL_DISABLED\") else \"\"\n"                                       \
	"print(n % v[:2] + t, v[2], platform.machine(), *l)' 2>/dev/null"

// The Python that is judged, or the machine alone.
struct client_python {
	char version[16], arch[32], libc[32];
	int micro;
	char *from; // where it was found; NULL: there is none. Owned
	struct profile profile;
};

static void client_python_release(struct client_python *p)
{
	free(p->from);
	profile_release(&p->profile);
}

// --- which Python ---

static bool ask_program(const char *program, struct client_python *out)
{
	char answer[ANSWER_MOST] = "", kind[16], number[16];
	setenv("PYTHON_OF_DOCTOR", program, 1);
	FILE *f = popen(ASK, "re");
	if (!f)
		return false;
	bool has_line = fgets(answer, sizeof(answer), f) != NULL;
	if (pclose(f) != 0 || !has_line ||
		sscanf(answer, "%15s %d %31s %15s %15s", out->version, &out->micro, out->arch, kind, number) != 5)
		return false;
	snprintf(out->libc, sizeof(out->libc), "%s %s", kind, number);
	out->from = xstrdup(program);
	return true;
}

static bool find_program(struct client_python *out)
{
	const char *venv = getenv("VIRTUAL_ENV");
	CLEANUP(mem_free) char *own = venv && *venv ? xasprintf("%s/bin/python", venv) : NULL;
	return (own && ask_program(own, out)) || ask_program("python3", out) || ask_program("python", out);
}

// By the kernel and our own libc.
static void take_machine(struct client_python *out)
{
	struct utsname name;
	if (uname(&name) == 0)
		snprintf(out->arch, sizeof(out->arch), "%.31s", name.machine);
	if (!confstr(_CS_GNU_LIBC_VERSION, out->libc, sizeof(out->libc))) // "glibc 2.36"
		snprintf(out->libc, sizeof(out->libc), "musl 1.2");
}

// *is_known: the Python; otherwise its machine alone is.
static bool find_python(struct doctor_report *r, const char *wanted, struct client_python *out, bool *is_known)
{
	struct python ignored;
	struct err e = ERR_INIT;
	out->micro = ANY_MICRO;
	bool is_version = wanted && python_parse(str_from(wanted), &ignored, &e) == 0;
	*is_known = is_version || (wanted ? ask_program(wanted, out) : find_program(out));
	if (wanted && !*is_known) {
		doctor_report_add(r, DOCTOR_WRONG, "python", "give a version such as 3.12, or a program",
			"--python %s: it is no version of Python, and no program that is one", wanted);
		return false;
	}
	if (!*is_known || is_version)
		take_machine(out);
	if (is_version)
		snprintf(out->version, sizeof(out->version), "%.15s", wanted);
	const struct profile_keys keys = {*is_known ? out->version : "3.12", out->arch, out->libc};
	if (profile_init(&out->profile, "this machine", &keys, &e) == 0)
		return true;
	doctor_report_add(r, DOCTOR_WARNING, "python", "look with pip debug --verbose",
		"it is not known which wheels install on this machine (%s, %s): %s", out->arch, out->libc, e.msg);
	return false;
}

// --- which file ---

struct install_judge {
	const struct client_python *python;
	const char *wanted; // a specifier set; "": none
	struct fits fits;
	struct offers offers;
};

static bool installs(struct install_judge *j, const struct offer *o)
{
	uint64_t micros = fits_micros(&j->fits, o->python, 0);
	bool has_micro = j->python->micro == ANY_MICRO || j->python->micro >= SPECIFIER_MICROS
				 ? micros != 0
				 : micros >> j->python->micro & 1;
	return o->is_wheel && !o->is_yanked && has_micro && fits_rank(&j->fits, o->tags, 0) >= 0;
}

// Of the final releases, or if there is none of all; NULL: none.
static const struct offers_release *newest_release(const struct install_judge *j, const struct offers_release *list,
	size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!j->offers.offer[list[i].first].version.is_prerelease)
			return &list[i];
	return count ? list : NULL;
}

static const struct offer *find_file(struct install_judge *j, const struct offers_release *list, size_t count,
	bool takes_pre)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = list[i].first; k < list[i].end; k++)
			if ((takes_pre || !j->offers.offer[k].version.is_prerelease) &&
				installs(j, &j->offers.offer[k]))
				return &j->offers.offer[k];
	return NULL;
}

static bool has_sdist(const struct install_judge *j, const struct offers_release *release)
{
	for (size_t i = release->first; i < release->end; i++)
		if (!j->offers.offer[i].is_wheel && !j->offers.offer[i].is_yanked)
			return true;
	return false;
}

static void say_why_not(struct doctor_report *r, struct install_judge *j, const struct offers_release *newest,
	const struct offer *older, const char *here)
{
	CLEANUP(buf_release) struct buf why;
	buf_init(&why, ERR_MSG_SIZE);
	const struct environment *env = &j->python->profile.environment[0];
	const struct nearest_place place = {0, 0, &j->python->profile.machine, &env->python};
	const char *version = j->offers.offer[newest->first].version.text;
	nearest_describe(&j->offers, &place, newest, &why);
	if (has_sdist(j, newest))
		doctor_report_add(r, DOCTOR_WARNING, "install",
			"pip builds the sdist here, with the compilers that it needs; or have a wheel built",
			"no wheel of %s %s installs on %s, but it has an sdist: %s", j->offers.project, version, here,
			why.data);
	else if (older)
		doctor_report_add(r, DOCTOR_WARNING, "install", "have a wheel built, if the newest version is wanted",
			"pip takes %s on %s; of %s: %s", older->filename, here, version, why.data);
	else
		doctor_report_add(r, DOCTOR_WRONG, "install",
			"use a Python and a machine for which there is a wheel, or have one built: wheelcache missing",
			"no file of %s installs on %s; the nearest of %s: %s", j->offers.project, here, version, why.data);
}

static void judge_install(struct doctor_report *r, struct install_judge *j, const char *here)
{
	size_t count;
	const struct offers_release *list = offers_admitted(&j->offers, j->wanted, &count);
	const struct offers_release *newest = newest_release(j, list, count);
	if (!newest) {
		doctor_report_add(r, DOCTOR_WRONG, "install", "look at its page", "%s%s has neither a wheel nor an sdist",
			j->offers.project, j->wanted);
		return;
	}
	const struct offer *found =
		find_file(j, list, count, j->offers.offer[newest->first].version.is_prerelease);
	bool is_newest = found && found >= &j->offers.offer[newest->first] && found < &j->offers.offer[newest->end];
	if (is_newest)
		doctor_report_add(r, DOCTOR_FINE, "install", "", "%s installs on %s", found->filename, here);
	else
		say_why_not(r, j, newest, found, here);
}

static void judge_python(struct doctor_report *r, const struct client_python *p, const char *wanted,
	const struct simplepage *page)
{
	CLEANUP(buf_release) struct buf here;
	const struct environment *const environment[] = {&p->profile.environment[0]};
	struct install_judge j = {.python = p, .wanted = wanted};
	buf_init(&here, LIMIT_PATH);
	profile_describe(&p->profile, &here);
	fits_init(&j.fits, environment, 1);
	offers_init(&j.offers, page->project, &j.fits);
	offers_add_page(&j.offers, page);
	judge_install(r, &j, here.data);
	offers_release(&j.offers);
	fits_release(&j.fits);
}

static bool fits_machine(const struct client_python *p, const char *filename)
{
	struct err ignored = ERR_INIT;
	struct filename name;
	if (filename_parse(str_from(filename), &name, &ignored) < 0)
		return false;
	bool fits = profile_fits_machine(&p->profile, &name, &ignored);
	filename_release(&name);
	return fits;
}

static void judge_machine(struct doctor_report *r, const struct client_python *p, const struct simplepage *page)
{
	size_t fitting = 0;
	for (size_t i = 0; i < page->files; i++)
		fitting += fits_machine(p, page->file[i].filename);
	doctor_report_add(r, fitting ? DOCTOR_WARNING : DOCTOR_WRONG, "install",
		"put a Python into PATH, or name one: --python 3.12",
		"no Python is found here; of %zu files of %s %zu are for this machine, %s with %s", page->files,
		page->project, fitting, p->arch, p->libc);
}

void doctor_install(struct doctor_report *r, const char *python, const char *wanted, const struct simplepage *page)
{
	CLEANUP(client_python_release) struct client_python p = {.from = NULL};
	bool is_known;
	if (!find_python(r, python, &p, &is_known))
		return;
	if (!is_known) {
		judge_machine(r, &p, page);
		return;
	}
	if (p.from)
		doctor_report_add(r, DOCTOR_FINE, "python", "", "%s is Python %s", p.from, p.version);
	judge_python(r, &p, wanted, page);
}
