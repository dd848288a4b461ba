// SPDX-License-Identifier: Apache-2.0
#include "uploader/dist-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/domain/wheel/attachment.h"
#include "lib/os/fs.h"
#include "lib/place/place-posix.h"
#include "lib/state/store/ingest.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static int open_dist_file(const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return err_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "cannot open");
	return fd;
}

static char *copy_str(struct str s)
{
	return xstrndup(s.ptr, s.len);
}

static int set_facts(struct dist_file *d, const struct ingest_facts *f, struct err *e)
{
	if (f->refusal)
		return err_set(e, ERR_INVALID, "%s", f->refusal);
	bool is_wheel = f->name.kind == FILENAME_WHEEL;
	d->read = f->version;
	hex_encode(f->sha256, SHA256_SIZE, d->sha256);
	d->project = xstrdup(f->name.project);
	d->filetype = is_wheel ? "bdist_wheel" : "sdist";
	d->pyversion = is_wheel ? copy_str(f->name.python) : xstrdup("source");
	// The form takes these fields from METADATA. An sdist without PKG-INFO has only its file name.
	CLEANUP(findings_release) struct findings ignored;
	struct metadata m;
	struct str text = buf_view(&f->wheel.metadata);
	findings_init(&ignored);
	if (!text.len) {
		d->name = xstrdup(f->name.project);
		d->version = xstrdup(f->name.version.text);
		d->metadata_version = xstrdup("1.0");
		return 0;
	}
	if (metadata_parse(text, LENIENT, &ignored, &m, e) < 0)
		return -1;
	d->name = copy_str(m.name);
	d->version = copy_str(m.version);
	d->metadata_version = copy_str(m.metadata_version);
	return 0;
}

static int check_statement(const struct dist_file *d, const uint8_t sha256[SHA256_SIZE], struct err *e)
{
	return d->statement ? attachment_check(ATTACHMENT_STATEMENT, str_from(d->statement), d->filename, sha256, e)
			    : 0;
}

void dist_file_init(struct dist_file *d, const char *path)
{
	*d = (struct dist_file){.path = path, .filename = base_name(path)};
}

int dist_file_read(struct dist_file *d, struct err *e)
{
	int fd = open_dist_file(d->path, e);
	if (fd < 0)
		return -1;
	CLEANUP(place_file_close) struct place_file *file = place_posix_file(fd);
	CLEANUP(ingest_cleanup) struct ingest *in = ingest_new();
	CLEANUP(ingest_facts_release) struct ingest_facts facts;
	ingest_facts_init(&facts);
	if (ingest_read(in, file, d->filename, STRICT, &facts, e) < 0)
		return -1;
	if (set_facts(d, &facts, e) == 0 && check_statement(d, facts.sha256, e) == 0)
		return 0;
	const char *path = d->path, *statement = d->statement;
	dist_file_release(d);
	dist_file_init(d, path);
	d->statement = statement;
	return -1;
}

bool dist_file_is_wheel(const struct dist_file *d)
{
	return strcmp(d->filetype, "bdist_wheel") == 0;
}

void dist_file_release(struct dist_file *d)
{
	free(d->project);
	free(d->pyversion);
	free(d->name);
	free(d->version);
	free(d->metadata_version);
	*d = (struct dist_file){0};
}

int dist_file_open(const struct dist_file *d, struct err *e)
{
	struct stat st;
	int fd = open_dist_file(d->path, e);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return err_errno(e, ERR_IO, "fstat");
	if ((uint64_t)st.st_size != d->read.size || fs_mtime_ns(&st) != d->read.time_ns)
		return err_set(e, ERR_BUSY, "changed since it was read");
	return mem_steal_fd(&fd);
}

size_t dist_file_form(const struct dist_file *d, struct fetch_field field[DIST_FILE_FIELDS])
{
	const struct fetch_field all[DIST_FILE_FIELDS] = {
		{":action", "file_upload"},
		{"protocol_version", "1"},
		{"filetype", d->filetype},
		{"pyversion", d->pyversion},
		{"metadata_version", d->metadata_version},
		{"name", d->name},
		{"version", d->version},
		{"sha256_digest", d->sha256},
		{"build_provenance", d->statement},
	};
	memcpy(field, all, sizeof(all));
	return d->statement ? DIST_FILE_FIELDS : DIST_FILE_FIELDS - 1;
}
