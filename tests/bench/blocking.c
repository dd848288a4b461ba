// SPDX-License-Identifier: Apache-2.0
// Reads a block list (read SOURCE FOLDER), or opens the one that was read and looks files up (find FOLDER PROJECTS):
// prints the seconds, or the nanoseconds of a look-up, and the memory in KB: before, now, and the most.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/advisories/advisory-list.h"
#include "lib/advisories/advisory-source.h"
#include "lib/advisories/osv-record.h"
#include "lib/base/arena.h"
#include "lib/place/record.h"

enum { LOOK_UPS = 1000000 };

static double seconds(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static long resident(void)
{
	long pages = 0, kept = 0;
	FILE *f = fopen("/proc/self/statm", "re");
	if (f && fscanf(f, "%ld %ld", &pages, &kept) != 2)
		kept = 0;
	if (f)
		fclose(f);
	return kept * 4;
}

// Not of getrusage(), which begins with the parent's.
static long most(void)
{
	char line[256];
	long kilobytes = 0;
	FILE *f = fopen("/proc/self/status", "re");
	while (f && !kilobytes && fgets(line, sizeof(line), f))
		if (strncmp(line, "VmHWM:", 6) == 0)
			kilobytes = strtol(line + 6, NULL, 10);
	if (f)
		fclose(f);
	return kilobytes;
}

static int read_list(const char *source, struct place_folder *folder, struct err *e)
{
	double begin = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
	if (advisory_source_read(source, &advisory_limits, folder, "list", e) < 0)
		return -1;
	printf("%.3f %.3f %ld\n", seconds(CLOCK_MONOTONIC) - begin, seconds(CLOCK_THREAD_CPUTIME_ID) - cpu, most());
	return 0;
}

// Every second project is none of the list; of the others every second version is hit.
static int find_files(struct place_folder *folder, unsigned projects, struct err *e)
{
	long before = resident();
	double begin = seconds(CLOCK_THREAD_CPUTIME_ID);
	struct advisory_list *l = advisory_list_open(folder, "list", e);
	if (!l)
		return -1;
	double opened = seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
	uint64_t hits = 0;
	uint32_t random = 1;
	char (*name)[32] = malloc(sizeof(*name) * 4096);
	for (unsigned i = 0; i < 4096; i++) {
		random = random * 1664525u + 1013904223u;
		snprintf(name[i], sizeof(*name), i % 2 ? "project-%06u" : "others-%06u", (random >> 8) % projects);
	}
	begin = seconds(CLOCK_THREAD_CPUTIME_ID);
	for (unsigned i = 0; i < LOOK_UPS; i++) {
		struct advisory found;
		uint32_t project = advisory_list_project(l, str_from(name[i % 4096]));
		if (!project)
			continue;
		struct arena arena = {0};
		struct str version = i % 4 == 1 ? STR("1.0.0") : STR("2.0+cu118");
		hits += advisory_list_worst(l, project, version, osv_version_key(version, &arena), &found);
		arena_release(&arena);
	}
	double took = seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
	printf("%.0f %.3f %ld %ld %" PRIu64 "\n", took / LOOK_UPS * 1e9, opened, resident() - before, most(), hits);
	free(name);
	advisory_list_unref(l);
	return 0;
}

int main(int count, char **arg)
{
	struct err e = ERR_INIT;
	if (count != 4)
		return 2;
	bool reads = strcmp(arg[1], "read") == 0;
	CLEANUP(place_folder_close) struct place_folder *folder = record_secret_folder(arg[reads ? 3 : 2], "", true, &e);
	int result = !folder ? -1
		     : reads ? read_list(arg[2], folder, &e)
			     : find_files(folder, (unsigned)strtoul(arg[3], NULL, 10), &e);
	if (result < 0)
		fprintf(stderr, "%s\n", e.msg);
	return result < 0;
}
