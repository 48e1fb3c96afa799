#include "daemon/ending.h"

#include <csignal>

#include <openssl/crypto.h>
#include <pthread.h>
#include <unistd.h>

namespace edge::daemon {
namespace {

sigset_t ending_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

void block_ending_signals() {
  const sigset_t set = ending_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

int await_ending_signal() {
  const sigset_t set = ending_signals();
  int number = 0;
  while (::sigwait(&set, &number) != 0) {
  }
  return number;
}

int await_ending_signal_of_others() {
  const sigset_t set = ending_signals();
  for (;;) {
    siginfo_t info{};
    const int number = ::sigwaitinfo(&set, &info);
    if (number > 0 && (info.si_code != SI_USER || info.si_pid != ::getpid())) return number;
  }
}

void release_ending_signals() {
  const sigset_t set = ending_signals();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

// Where it cannot be had nothing that is encrypted works, and says so.
void keep_openssl_up() { (void)::OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr); }

}  // namespace edge::daemon
