// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-name.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/domain/text/mark.h"

static int find_holder(struct catalog *c, enum statement id, const char *filename, int64_t platform, struct holder *out,
	struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, id, e);
	out->id = 0;
	query_bind_text(q, 1, filename);
	query_bind_int(q, 2, platform);
	int row = query_step(q, e);
	if (row <= 0)
		return row;
	const uint8_t *sha256 = query_sha256(q, 2);
	struct str folder = str_from(query_text(q, 1));
	if (!sha256 || folder.len > LIMIT_PATH)
		return err_set(e, ERR_DB, "catalog %s: the row of %s is damaged", catalog_path(c), filename);
	out->id = query_int(q, 0);
	memcpy(out->folder, folder.ptr, folder.len);
	out->folder[folder.len] = '\0';
	memcpy(out->sha256, sha256, SHA256_SIZE);
	return 0;
}

int catalog_name_look(struct catalog *c, const char *filename, int64_t platform, struct holder *out, bool *is_listed,
	uint8_t *sha256, struct err *e)
{
	if (find_holder(c, FILE_LISTED, filename, platform, out, e) < 0)
		return -1;
	*is_listed = out->id != 0;
	if (out->id)
		memcpy(sha256, out->sha256, SHA256_SIZE);
	return 0;
}

int catalog_name_set_state(struct catalog *c, int64_t id, enum catalog_state state, const char *reason, struct err *e)
{
	return catalog_run_by(c, FILE_STATE, BY(SQL_INT(id), SQL_INT(state), SQL_TEXT(reason)), e);
}

int catalog_name_promote(struct catalog *c, const char *filename, int64_t platform, struct err *e)
{
	struct holder next_owner;
	if (find_holder(c, FILE_NEXT_OWNER, filename, platform, &next_owner, e) < 0)
		return -1;
	return next_owner.id ? catalog_name_set_state(c, next_owner.id, FILE_IS_LISTED, NULL, e) : 0;
}

static char *duplicate_reason(const char *winner)
{
	return xasprintf("the same file name is in %s%s, which comes first", *winner ? "the folder " : "the top folder",
		winner);
}

// Whether the path a/X sorts before b/X.
static bool comes_first(const char *a, const char *b)
{
	CLEANUP(mem_free) char *left = xasprintf("%s/", a), *right = xasprintf("%s/", b);
	return strcmp(left, right) < 0;
}

int catalog_name_claim(struct catalog *c, int64_t id, const char *folder, const struct holder *competitor,
	enum catalog_state *state, char **reason, struct err *e)
{
	bool has_competitor = competitor->id && competitor->id != id;
	*state = FILE_IS_LISTED;
	*reason = NULL;
	if (has_competitor && comes_first(competitor->folder, folder)) {
		*state = FILE_IS_DUPLICATE;
		*reason = duplicate_reason(competitor->folder);
		return 0;
	}
	CLEANUP(mem_free) char *why = has_competitor ? duplicate_reason(folder) : NULL;
	return has_competitor ? catalog_name_set_state(c, competitor->id, FILE_IS_DUPLICATE, why, e) : 0;
}

int catalog_name_row(struct catalog *c, int64_t folder, const char *filename, struct name_row *out, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, FILE_FIND, BY(SQL_INT(folder), SQL_TEXT(filename)), e);
	*out = (struct name_row){0};
	int row = query_step(q, e);
	if (row > 0)
		*out = (struct name_row){query_int(q, 0), (enum catalog_state)query_int(q, 1), query_int(q, 2)};
	return row < 0 ? -1 : 0;
}

int catalog_name_set_time(struct catalog *c, int64_t folder, const char *filename, const char *text, struct err *e)
{
	int64_t uploaded = 0;
	uint8_t sha256[SHA256_SIZE] = {0};
	if (!text || !mark_time_read(text, &uploaded, sha256))
		uploaded = 0;
	return catalog_run_by(c, FILE_SET_UPLOADED, BY(SQL_INT(folder), SQL_TEXT(filename), SQL_INT(uploaded),
		SQL_BYTES(sha256, SHA256_SIZE)), e);
}
