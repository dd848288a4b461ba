// SPDX-License-Identifier: Apache-2.0
// What unpacking alone costs: prints the seconds of processor time in which the ELF members of these wheels are
// unpacked, by the code that the indexer uses. The files are in memory meanwhile, and nothing is read of the members.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/base/limits.h"
#include "lib/domain/archive/zipframe.h"
#include "lib/domain/elf/elf-facts.h"
#include "lib/format/inflate.h"
#include "lib/os/fs.h"

static double processor_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double unpack_seconds(struct inflater *i, struct str wheel, const struct zipmember *m)
{
	char magic[4];
	struct err ignored = ERR_INIT;
	struct str packed = str_slice(wheel, m->data, m->data + m->packed);
	if (m->method == 0 || m->size > LIMIT_ELF_WHOLE ||
		!elf_is_elf((struct str){magic, inflater_head(i, packed, magic, sizeof(magic))}))
		return 0;
	CLEANUP(mem_free) char *room = xmalloc(m->size);
	memset(room, 1, m->size); // so that its pages are there
	double begin = processor_seconds();
	if (inflater_whole(i, packed, room, m->size, &ignored) < 0)
		fprintf(stderr, STR_FMT ": %s\n", STR_ARG(m->name), ignored.msg);
	return processor_seconds() - begin;
}

static double wheel_seconds(struct inflater *i, const char *path)
{
	double seconds = 0;
	struct err e = ERR_INIT;
	CLEANUP(findings_release) struct findings ignored;
	CLEANUP(zipdirectory_release) struct zipdirectory zip = {0};
	CLEANUP(buf_release) struct buf bytes;
	findings_init(&ignored);
	buf_init(&bytes, SIZE_MAX / 2);
	int read = fs_read_regular(path, &bytes, &e);
	struct byte_source source = byte_source_memory(buf_view(&bytes));
	if (read < 0 || zipframe_read(&source, LENIENT, &ignored, &zip, &e) < 0) {
		fprintf(stderr, "%s: %s\n", path, e.msg);
		return 0;
	}
	for (size_t k = 0; k < zip.count; k++)
		seconds += unpack_seconds(i, buf_view(&bytes), &zip.members[k]);
	return seconds;
}

int main(int argc, char **argv)
{
	double seconds = 0;
	struct inflater *i = inflater_new();
	for (int k = 1; k < argc; k++)
		seconds += wheel_seconds(i, argv[k]);
	inflater_free(i);
	printf("%.4f\n", seconds);
	return 0;
}
