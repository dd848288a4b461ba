// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/kept-metadata.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/wheel/wheel.h"
#include "lib/os/byte-source.h"

static int read_wheel_metadata(const char *filename, const struct file_cache_file *file, const uint8_t *expected,
	struct wheel *wheel, struct err *e)
{
	struct byte_source bytes = byte_source_file(file->fd, file->size);
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(filename), &name, e) < 0)
		return -1;
	if (wheel_examine(&bytes, &name, LENIENT, wheel, e) < 0)
		return -1;
	if (expected && memcmp(wheel->metadata_sha256, expected, SHA256_SIZE) != 0)
		return err_set(e, ERR_INVALID, "%s: its METADATA does not have the hash that upstream's page says",
			filename);
	return 0;
}

int kept_metadata_add(struct file_cache *d, const char *project, const char *filename,
	const struct file_cache_file *file,
	const uint8_t *expected, uint8_t sha256[SHA256_SIZE], struct err *e)
{
	CLEANUP(wheel_release) struct wheel wheel;
	CLEANUP(mem_free) char *name = xasprintf("%s.metadata", filename);
	wheel_init(&wheel);
	if (read_wheel_metadata(filename, file, expected, &wheel, e) < 0)
		return -1;
	struct file_cache_writer *a =
		file_cache_begin(d, project, name, wheel.metadata_sha256, wheel.metadata.len, e);
	if (!a)
		return -1;
	int kept = file_cache_writer_write(a, wheel.metadata.data, wheel.metadata.len, e) < 0 ||
				   file_cache_writer_check(a, sha256, e) < 0 || file_cache_writer_keep(a, sha256, e) < 0
			   ? -1
			   : 0;
	file_cache_writer_free(a);
	return kept;
}
