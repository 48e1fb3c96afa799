// Signals that end a daemon.
#pragma once

namespace edge::daemon {

/// Blocks SIGTERM and SIGINT for `await_ending_signal`, in this thread and in all that it starts: to be called before
/// others exist. Ignores SIGPIPE and SIGXFSZ: these are then errors of writes.
void block_ending_signals();
/// Blocks until one of them arrives. \returns its number.
int await_ending_signal();
/// The same, ignoring signals that this process sent to itself, which do not count as an operator's second signal.
int await_ending_signal_of_others();
/// From then on they end the process at once.
void release_ending_signals();

/// Keeps OpenSSL initialised until the process has ended. By default it is cleaned up when `main` returns, while a
/// thread of gRPC, which cannot be joined, may still use it. To be called first in `main`, before any use of OpenSSL.
void keep_openssl_up();

}  // namespace edge::daemon
