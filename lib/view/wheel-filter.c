// SPDX-License-Identifier: Apache-2.0
#include "lib/view/wheel-filter.h"

#include "lib/domain/text/filename.h"

void wheel_filter_init(struct wheel_filter *f, const struct platform *const *platform, size_t count)
{
	*f = (struct wheel_filter){.is_enabled = true};
	for (size_t i = 0; i < count && !f->unknown; i++)
		if (!platform[i]->profile.environment_count)
			f->unknown = platform[i];
	if (f->unknown || !count)
		return;
	strset_add(&f->tag, "any");
	for (size_t i = 0; i < count; i++) {
		const struct environment *env =
			platform[i]->profile.environment; // all environments of a platform have the same platform tags
		for (size_t n = 0; n < env->platforms; n++)
			strset_add(&f->tag, env->platform[n]);
	}
	strset_sort(&f->tag);
}

void wheel_filter_release(struct wheel_filter *f)
{
	strset_release(&f->tag);
}

static bool has_tag(const struct wheel_filter *f, struct str tag)
{
	char text[sizeof(*((struct environment *)0)->platform)]; // no tag is longer
	if (tag.len >= sizeof(text))
		return false;
	for (size_t i = 0; i < tag.len; i++)
		text[i] = ascii_lower(tag.ptr[i]);
	text[tag.len] = '\0';
	return strset_has(&f->tag, text);
}

bool wheel_filter_admits(const struct wheel_filter *f, const char *filename)
{
	struct str name = str_from(filename);
	if (!f->tag.count || filename_kind(name) != FILENAME_WHEEL)
		return true;
	struct str rest = str_slice(name, (size_t)(str_rfind(name, '-') + 1), name.len - strlen(".whl"));
	while (rest.len)
		if (has_tag(f, str_cut(&rest, '.')))
			return true;
	return false;
}
