// SPDX-License-Identifier: Apache-2.0
#include "server/api/posted-object.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/str.h"

int posted_object_line(const struct posted_object *p, const char *key, size_t limit, const char **out, struct err *e)
{
	const char *value = jsondoc_get_str(p->object, key);
	if (jsondoc_is_null(p->object, key))
		return 0;
	if (!value || !*value)
		return err_set(e, ERR_INVALID, "%s: \"%s\" is no text", p->what, key);
	if (strlen(value) > limit)
		return err_set(e, ERR_INVALID, "%s: \"%s\" has more than %zu bytes", p->what, key, limit);
	for (const char *c = value; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return err_set(e, ERR_INVALID, "%s: \"%s\" has a control character", p->what, key);
	*out = value;
	return 0;
}

int posted_object_flag(const struct posted_object *p, const char *key, bool *out, struct err *e)
{
	int64_t number;
	const struct jsondoc *o = p->object;
	*out = jsondoc_is_true(o, key);
	if (jsondoc_get_str(o, key) || jsondoc_get(o, key) || jsondoc_get_int(o, key, &number))
		return err_set(e, ERR_INVALID, "%s: \"%s\" is neither true nor false", p->what, key);
	return 0;
}

int posted_object_list(const struct posted_object *p, const char *key, size_t most, const struct jsondoc **out,
	struct err *e)
{
	int64_t number;
	const struct jsondoc *o = p->object;
	*out = jsondoc_get(o, key);
	if (jsondoc_get_str(o, key) || jsondoc_is_true(o, key) || jsondoc_get_int(o, key, &number))
		return err_set(e, ERR_INVALID, "%s: \"%s\" is no array", p->what, key);
	if (*out && jsondoc_count(*out) > most)
		return err_set(e, ERR_LIMIT, "%s: \"%s\" has more than %zu entries", p->what, key, most);
	return 0;
}

// Of a path, the last part is the name of a file.
static bool is_select_word(struct str word)
{
	long slash = str_rfind(word, '/');
	size_t last = word.len - (size_t)(slash + 1);
	return last && last <= LIMIT_FILE_NAME && word.len <= LIMIT_PATH;
}

int posted_object_select(const struct posted_object *p, size_t most, const char ***out, size_t *count, struct err *e)
{
	const struct jsondoc *list;
	if (posted_object_list(p, "select", most, &list, e) < 0)
		return -1;
	*count = list ? jsondoc_count(list) : 0;
	if (list && !*count)
		return err_set(e, ERR_INVALID, "%s: \"select\" is empty", p->what);
	*out = xcalloc(*count + 1, sizeof(**out));
	for (size_t i = 0; i < *count; i++) {
		const char *word = (*out)[i] = jsondoc_at_str(list, i);
		if (!word || !is_select_word(str_from(word)))
			return err_set(e, ERR_INVALID, "%s: select[%zu] is no project, no file name and no path", p->what, i);
	}
	return 0;
}
