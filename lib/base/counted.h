// SPDX-License-Identifier: Apache-2.0
// A number with its words, as people read it: "1 file", "2 files wait". Any thread.
#pragma once

#include <stdint.h>

#include "lib/base/str.h"

enum { COUNTED_TEXT = 160 }; // bytes

// Of the words "file|files" those that stand behind the number. Borrows words.
struct str counted_words(uint64_t n, const char *words);
// "1 file" where the words are "file|files". Returns room.
const char *counted_text(char room[COUNTED_TEXT], uint64_t n, const char *words);
// The same, for as long as the block in which it stands runs.
#define COUNTED(n, words) counted_text((char[COUNTED_TEXT]){0}, (n), (words))
