// SPDX-License-Identifier: Apache-2.0
// File systems whose changes inotify(7) does not tell, because another machine or a program makes them. Any thread.
#pragma once

// The name of the file system of an open file or folder if it is such a one; NULL: it tells its changes, or it is not
// known.
const char *silent_fs_name(int fd);
// The same of a number of statfs(2).
const char *silent_fs_of_type(unsigned long type);
