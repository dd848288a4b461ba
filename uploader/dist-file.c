// SPDX-License-Identifier: Apache-2.0
#include "uploader/dist-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/os/fs.h"
#include "lib/state/store/ingest.h"

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static int open_file(const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return err_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "cannot open");
	return fd;
}

static void ingest_cleanup(struct ingest **in)
{
	ingest_free(*in);
}

static char *copy(struct str s)
{
	return xstrndup(s.ptr, s.len);
}

// METADATA names what is in the form; an sdist without a PKG-INFO has its file name only.
static int take_names(struct dist_file *p, const struct ingest_facts *f, struct err *e)
{
	CLEANUP(findings_release) struct findings ignored;
	struct metadata m;
	struct str text = buf_view(&f->wheel.metadata);
	findings_init(&ignored);
	if (!text.len) {
		p->name = xstrdup(f->name.project);
		p->version = xstrdup(f->name.version.text);
		p->metadata_version = xstrdup("1.0");
		return 0;
	}
	if (metadata_parse(text, LENIENT, &ignored, &m, e) < 0)
		return -1;
	p->name = copy(m.name);
	p->version = copy(m.version);
	p->metadata_version = copy(m.metadata_version);
	return 0;
}

static int take_facts(struct dist_file *p, const struct ingest_facts *f, struct err *e)
{
	if (f->refusal)
		return err_set(e, ERR_INVALID, "%s", f->refusal);
	bool is_wheel = f->name.kind == FILENAME_WHEEL;
	p->st = f->st;
	hex_encode(f->sha256, SHA256_SIZE, p->sha256);
	p->project = xstrdup(f->name.project);
	p->filetype = is_wheel ? "bdist_wheel" : "sdist";
	p->pyversion = is_wheel ? copy(f->name.python) : xstrdup("source");
	return take_names(p, f, e);
}

void dist_file_init(struct dist_file *p, const char *path)
{
	*p = (struct dist_file){.path = path, .filename = last_part(path)};
}

int dist_file_read(struct dist_file *p, struct err *e)
{
	CLEANUP(mem_close) int fd = open_file(p->path, e);
	if (fd < 0)
		return -1;
	CLEANUP(ingest_cleanup) struct ingest *in = ingest_new();
	CLEANUP(ingest_facts_release) struct ingest_facts facts;
	ingest_facts_init(&facts);
	if (ingest_read(in, fd, p->filename, STRICT, &facts, e) < 0)
		return -1;
	if (take_facts(p, &facts, e) == 0)
		return 0;
	const char *path = p->path;
	dist_file_release(p);
	dist_file_init(p, path);
	return -1;
}

void dist_file_release(struct dist_file *p)
{
	free(p->project);
	free(p->pyversion);
	free(p->name);
	free(p->version);
	free(p->metadata_version);
	*p = (struct dist_file){0};
}

int dist_file_open(const struct dist_file *p, struct err *e)
{
	struct stat st;
	CLEANUP(mem_close) int fd = open_file(p->path, e);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return err_errno(e, ERR_IO, "fstat");
	if (st.st_size != p->st.st_size || fs_mtime_ns(&st) != fs_mtime_ns(&p->st))
		return err_set(e, ERR_BUSY, "changed since it was read");
	return mem_steal_fd(&fd);
}

void dist_file_form(const struct dist_file *p, struct fetch_field field[DIST_FILE_FIELDS])
{
	const struct fetch_field all[DIST_FILE_FIELDS] = {
		{":action", "file_upload"},
		{"protocol_version", "1"},
		{"filetype", p->filetype},
		{"pyversion", p->pyversion},
		{"metadata_version", p->metadata_version},
		{"name", p->name},
		{"version", p->version},
		{"sha256_digest", p->sha256},
	};
	memcpy(field, all, sizeof(all));
}
