// SPDX-License-Identifier: Apache-2.0
// The document of what is missing: what is accepted is safe to build from, and is written and read again as the same.
#include "builder/missing/missing-json.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/machine/platform.h"
#include "lib/domain/text/name.h"
#include "builder/missing/ci-matrix.h"
#include "tests/fuzz/fuzz.h"

static void check_word(const char *text)
{
	HOLDS(*text);
	for (; *text; text++)
		HOLDS(*text > ' ' && *text <= '~');
}

static void check_sdist(const struct missing_row *row)
{
	if (!row->sdist.filename)
		return;
	HOLDS(version_is_valid(str_from(row->version)));
	HOLDS(!strchr(row->sdist.filename, '/'));
	bool is_ours = strncmp(row->sdist.url, "file:", 5) == 0;
	HOLDS(is_ours || strncmp(row->sdist.url, "http", 4) == 0);
	HOLDS(!is_ours || (row->sdist.url[5] != '/' && !strstr(row->sdist.url, "/../")));
	HOLDS(!row->sdist.sha256 || strlen(row->sdist.sha256) == 64);
	HOLDS(row->sdist.size >= -1);
	check_word(row->sdist.url);
}

static void check_missing_row(const struct missing *m, const struct missing_row *row)
{
	HOLDS(platform_name_is_valid(str_from(row->platform)));
	HOLDS(name_is_valid(str_from(row->project)) && name_is_normal(str_from(row->project)));
	HOLDS(row->status < WHEEL_STATUS_COUNT && row->branches <= m->branches);
	HOLDS(row->status != WHEEL_MISSING || row->sdist.filename);
	check_word(row->python);
	if (row->version)
		check_word(row->version);
	for (const char *at = row->why; *at; at++)
		HOLDS((unsigned char)*at >= ' ' && *at != 0x7f);
	check_sdist(row);
}

static void write_again(const struct missing *m, struct buf *out)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = missing_json(m);
	jsondoc_write(doc, 0, out);
}

static void check_forms(const struct missing *m)
{
	const struct missing_shard all = {0};
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, LIMIT_MISSING);
	HOLDS(ci_matrix_requirements(m, &all, &out, &e) == 0);
	HOLDS(ci_matrix_jenkins(m, &all, &out, &e) == 0);
	HOLDS(ci_matrix_zuul(m, &all, &out, &e) == 0);
	HOLDS(ci_matrix_github(m, &all, &out, &e) == 0 || e.kind == ERR_LIMIT);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct err e = ERR_INIT;
	CLEANUP(missing_release) struct missing m = {0}, again = {0};
	CLEANUP(buf_release) struct buf one, other;
	buf_init(&one, LIMIT_MISSING);
	buf_init(&other, LIMIT_MISSING);
	if (missing_json_read(fuzz_text(bytes, size), &m, &e) < 0) {
		HOLDS(e.kind == ERR_INVALID && *e.msg);
		return 0;
	}
	for (size_t i = 0; i < m.rows; i++)
		check_missing_row(&m, &m.row[i]);
	write_again(&m, &one);
	HOLDS(missing_json_read(buf_view(&one), &again, &e) == 0);
	write_again(&again, &other);
	HOLDS(str_eq(buf_view(&one), buf_view(&other)));
	check_forms(&m);
	return 0;
}
