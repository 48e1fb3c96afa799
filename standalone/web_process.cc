#include "standalone/web_process.h"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <utility>

#include <spawn.h>
#include <unistd.h>

#include "edgectl/web/web_command.h"

namespace edge::standalone {
namespace {

constexpr std::chrono::milliseconds kFirstPause{500};
constexpr std::chrono::milliseconds kLongestPause{30'000};
/// A child that ran for so long has not failed at its start.
constexpr std::chrono::seconds kStable{30};
constexpr int kUsage = 2;

constexpr std::string_view kPrefix = "web-";

/// 0, or an errno.
int spawn(const std::vector<std::string>& words, pid_t& pid) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int error = ::posix_spawn(&pid, "/proc/self/exe", nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  return error;
}

}  // namespace

std::vector<cli::Flag> web_flags() {
  // Flags have views of their names.
  static std::deque<std::string> names;
  std::vector<cli::Flag> flags = edgectl::web::server_flags();
  for (cli::Flag& flag : flags) {
    flag.name = names.emplace_back(std::string(kPrefix) + std::string(flag.name));
    // The child reads the environment itself.
    flag.environment = {};
    flag.fallback = {};
  }
  flags.front().help = "Serve the dashboard on this address, by a process of its own; without an address, 127.0.0.1";
  return flags;
}

std::vector<std::string> web_command_line(const cli::Arguments& arguments) {
  if (!arguments.has("web-listen")) return {};
  const std::string data = arguments.one("data-dir");
  std::vector<std::string> words = {"edge-standalone", edgectl::web::kWebWord, "--kubeconfig", data + "/kubeconfig"};
  words.insert(words.end(), {"--controller-class", arguments.one("controller-class")});
  for (const cli::Flag& flag : web_flags()) {
    if (!arguments.has(flag.name)) continue;
    const std::string name = "--" + std::string(flag.name.substr(kPrefix.size()));
    if (flag.value.empty()) {
      words.push_back(name);
      continue;
    }
    for (const std::string& value : arguments.all(flag.name)) words.push_back(name + "=" + value);
  }
  return words;
}

WebProcess::WebProcess(std::vector<std::string> command_line, Logger log)
    : command_line_(std::move(command_line)), log_(std::move(log)), thread_([this] { keep(); }) {}

WebProcess::~WebProcess() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
    if (pid_ > 0) ::kill(pid_, SIGTERM);
  }
  changed_.notify_all();
  thread_.join();
}

void WebProcess::keep() {
  std::chrono::milliseconds pause = kFirstPause;
  std::unique_lock lock(mutex_);
  while (!ending_) {
    const auto began = std::chrono::steady_clock::now();
    pid_t pid = -1;
    if (const int error = spawn(command_line_, pid); error != 0) {
      log_.error("the dashboard cannot be started", {{"reason", std::strerror(error)}});
    } else {
      pid_ = pid;
      lock.unlock();
      // Not reaped yet, so that the number is nobody else's while it may be sent a signal.
      siginfo_t facts{};
      while (::waitid(P_PID, static_cast<id_t>(pid), &facts, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
      }
      lock.lock();
      pid_ = -1;
      ::waitpid(pid, nullptr, 0);
      if (ending_) return;
      const bool exited = facts.si_code == CLD_EXITED;
      log_.warn("the dashboard's process has ended", {{exited ? "exit" : "signal", std::to_string(facts.si_status)}});
      if (exited && facts.si_status == kUsage) {
        log_.error("the dashboard is not started again: its flags are refused");
        return;
      }
    }
    if (std::chrono::steady_clock::now() - began >= kStable) pause = kFirstPause;
    changed_.wait_for(lock, pause, [this] { return ending_; });
    pause = std::min(2 * pause, kLongestPause);
  }
}

}  // namespace edge::standalone
