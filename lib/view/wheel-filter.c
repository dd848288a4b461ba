// SPDX-License-Identifier: Apache-2.0
#include "lib/view/wheel-filter.h"

#include "lib/domain/text/filename.h"

void fitting_init(struct fitting *f, const struct platform *const *platform, size_t count)
{
	*f = (struct fitting){.is_wanted = true};
	for (size_t i = 0; i < count && !f->unknown; i++)
		if (!platform[i]->profile.environment_count)
			f->unknown = platform[i];
	if (f->unknown || !count)
		return;
	names_add(&f->tag, "any");
	for (size_t i = 0; i < count; i++) {
		const struct environment *env = platform[i]->profile.environment; // its platform tags are those of all others
		for (size_t n = 0; n < env->platforms; n++)
			names_add(&f->tag, env->platform[n]);
	}
	names_sort(&f->tag);
}

void fitting_release(struct fitting *f)
{
	names_release(&f->tag);
}

static bool has_tag(const struct fitting *f, struct str tag)
{
	char text[sizeof(*((struct environment *)0)->platform)]; // what is longer is none of them
	if (tag.len >= sizeof(text))
		return false;
	for (size_t i = 0; i < tag.len; i++)
		text[i] = ascii_lower(tag.ptr[i]);
	text[tag.len] = '\0';
	return names_has(&f->tag, text);
}

bool fitting_admits(const struct fitting *f, const char *filename)
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
