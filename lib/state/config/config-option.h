// SPDX-License-Identifier: Apache-2.0
// One row for each key of the configuration (config-table.c): type, default, effect and help. The parser,
// --print-config, the warning at a reload and test-manual.py use these rows. Constant; any thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/state/config/config-type.h"

// When a running server follows a key that has changed in the file.
enum config_effect {
	CONFIG_RELOAD,  // at SIGHUP
	CONFIG_RESTART, // after a restart; not for keys of a platform, view or branch
};

// The struct that has the field of a row.
enum config_holder {
	CONFIG_HOLDER_CONFIG,
	CONFIG_HOLDER_UPSTREAM, // keys that an [upstream NAME] may have, too
	CONFIG_HOLDER_PLATFORM,
	CONFIG_HOLDER_VIEW,
	CONFIG_HOLDER_BRANCH,
	CONFIG_HOLDER_PLACE,
};

struct config_option {
	const char *section; // "platform" stands for "[platform NAME]": see config_section_is_named()
	const char *key;
	const struct config_type *setting;
	enum config_holder holder;
	size_t offset; // in the holder; for a list of platforms, 0
	uint64_t least;
	const char *fallback; // NULL: none
	enum config_effect effect;
	const char *help;
};

extern const struct config_option config_table[];
extern const size_t config_options;
// Whether all sections of this kind have names: "[platform NAME]", "[view NAME]", "[branch NAME]", "[place ADDRESS]".
bool config_section_is_named(const char *section);
// The name now of a section, or of a key of one, that may be called as one release before; borrowed. key NULL: the
// section.
struct str config_name_now(struct str section, const char *key);
