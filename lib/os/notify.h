// SPDX-License-Identifier: Apache-2.0
// Tells the service manager about this process, by the protocol of sd_notify(3). Without a manager that asks for it
// ($NOTIFY_SOCKET) nothing is sent. Any thread.
#pragma once

// Sends lines such as "READY=1\nSTATUS=text". A failure is logged: the manager then ends the start after its time limit.
void notify_send(const char *lines);
