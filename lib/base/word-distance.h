// SPDX-License-Identifier: Apache-2.0
// How many letters of a word are wrong. Pure; any thread.
#pragma once

#include "lib/base/str.h"

// The distance of Damerau and Levenshtein where no part is changed twice: bytes added, left out, changed, or exchanged with
// their neighbour. More than most: most + 1, sooner. So too for words of more than LIMIT_FILE_NAME bytes.
size_t word_distance(struct str a, struct str b, size_t most);
