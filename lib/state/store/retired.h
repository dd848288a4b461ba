// SPDX-License-Identifier: Apache-2.0
// The one rule of what is built for: every platform but those that are retired (`wheelcache platform retire`), which
// their freeze says. Nothing is missing on a retired platform, no matrix has it, and the pages for people leave it out.
// Its index and its files stay what they are: who still installs from it is not concerned.
#pragma once

#include "lib/state/store/store.h"

// Whether the platform was retired, as it was last noted. False if nobody has looked. Any thread; waits for nothing.
bool retired_is(const struct platform *p);
// If a platform that the globs of --platform name is retired: sets the error that nothing is built for it, for a
// command that found no other. Returns -1 then, otherwise 0.
int retired_refuse(const struct store *s, const char *const *glob, size_t globs, struct err *e) MUST_CHECK;
// Looks at the freeze of each platform whose folder has answered, and notes it. For a command, and for a server before
// it starts. A folder that cannot be read is left as it was noted.
void retired_look(const struct store *s);
// Notes it, for all readers of this store. True: that is new. Any thread.
bool retired_note(const struct platform *p, bool is_retired);
