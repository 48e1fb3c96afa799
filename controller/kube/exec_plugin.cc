#include "controller/kube/exec_plugin.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <vector>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <unistd.h>

#include "base/text/base64.h"
#include "base/text/json.h"
#include "base/units.h"

namespace edge::kube {
namespace {

/// A process whose output and exit a loop can wait for.
class Child {
 public:
  explicit Child(net::Loop& loop) : loop_(loop) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    // The loop may still have something to tell both of in this batch.
    output->close();
    end->close();
    loop_.retire(std::move(output));
    loop_.retire(std::move(end));
    if (pid_ <= 0) return;
    ::kill(alone_ ? pid_ : -pid_, SIGKILL);
    reap();
  }

  /// 0, or an errno.
  int start(const std::vector<std::string>& words, const std::vector<std::string>& environment, bool terminal);
  /// Waits for the end; at once when `end` has been reported.
  int reap() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

  std::unique_ptr<net::Channel> output = std::make_unique<net::Channel>();
  std::unique_ptr<net::Channel> end = std::make_unique<net::Channel>();

 private:
  net::Loop& loop_;
  pid_t pid_ = -1;
  bool alone_ = false;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

/// Attributes of the child process: its standard output is `output`, its input is empty unless it has the terminal, no
/// signal is blocked or ignored, and it leads a process group of its own, so that it can be killed with its children.
class SpawnSettings {
 public:
  SpawnSettings(int output, bool terminal) {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    if (!terminal) posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    sigset_t none;
    sigset_t defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    // A group in the background could not read from the terminal.
    const int group = terminal ? 0 : POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setflags(&attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group));
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }

  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
};

int Child::start(const std::vector<std::string>& words, const std::vector<std::string>& environment, bool terminal) {
  alone_ = terminal;
  int pair[2];
  // A socket and not a pipe: it is received from as every other channel.
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return errno;
  net::Fd ours(pair[0]);
  const net::Fd theirs(pair[1]);
  ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  const SpawnSettings settings(theirs.get(), terminal);
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> variables = pointers(environment);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, words.front().c_str(), &settings.files, &settings.attributes, arguments.data(),
                                   variables.data());
  if (error != 0) return error;
  pid_ = pid;
  net::Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (!process.valid()) return errno;
  output->open(loop_, std::move(ours));
  end->open(loop_, std::move(process));
  return 0;
}

std::vector<std::string> environment_of(const ExecPlugin& plugin, std::string info) {
  std::vector<std::string> all;
  for (char** one = environ; *one != nullptr; ++one) {
    // The first of a name is the one that programs find.
    const std::string_view text = *one;
    const std::string_view name = text.substr(0, text.find('='));
    bool replaced = name == "KUBERNETES_EXEC_INFO";
    for (const auto& [key, value] : plugin.environment) replaced |= key == name;
    if (!replaced) all.emplace_back(text);
  }
  for (const auto& [key, value] : plugin.environment) all.push_back(key + "=" + value);
  all.push_back("KUBERNETES_EXEC_INFO=" + std::move(info));
  return all;
}

std::string why_not_started(const ExecPlugin& plugin, int error) {
  std::string text = "the command " + plugin.command + " cannot be run: " + std::strerror(error);
  if (error == ENOENT && !plugin.install_hint.empty()) text += "; " + plugin.install_hint.substr(0, 1024);
  return text;
}

ExecOutcome failed(std::string error) { return {.error = std::move(error)}; }

ExecOutcome interrupted(const ExecPlugin& plugin, net::Wake wake) {
  if (wake == net::Wake::kCancelled) return {.error = "cancelled", .cancelled = true};
  return failed("the command " + plugin.command + " gave no credentials in time, and was killed");
}

ExecOutcome outcome_of(const ExecPlugin& plugin, int status, const std::string& written) {
  if (WIFSIGNALED(status)) {
    return failed("the command " + plugin.command + " was ended by signal " + std::to_string(WTERMSIG(status)));
  }
  if (WEXITSTATUS(status) != 0) {
    return failed("the command " + plugin.command + " ended with status " + std::to_string(WEXITSTATUS(status)));
  }
  Result<ExecCredential> credential = read_exec_credential(written, plugin.api_version);
  if (!credential.ok()) return failed("the command " + plugin.command + ": " + credential.error().text);
  return {.credential = std::move(*credential)};
}

}  // namespace

std::string exec_info(const ExecPlugin& plugin, const Cluster& cluster, bool terminal) {
  nlohmann::json spec = {{"interactive", terminal}};
  if (plugin.provide_cluster_info) {
    std::string server = cluster.server.origin() + cluster.server.target;
    nlohmann::json reported = {{"server", std::move(server)}};
    if (!cluster.server_name.empty()) reported["tls-server-name"] = cluster.server_name;
    if (cluster.unverified) reported["insecure-skip-tls-verify"] = true;
    if (!cluster.authorities.empty()) reported["certificate-authority-data"] = to_base64(cluster.authorities);
    spec["cluster"] = std::move(reported);
  }
  const nlohmann::json info = {
      {"apiVersion", plugin.api_version}, {"kind", "ExecCredential"}, {"spec", std::move(spec)}};
  return json_line(info);
}

Result<ExecCredential> read_exec_credential(std::string_view text, std::string_view api_version) {
  const nlohmann::json answer = parse_json(text);
  if (text_in(answer, "kind") != "ExecCredential" || text_in(answer, "apiVersion") != api_version) {
    return Error{ErrorCode::kInvalidArgument, "its output is no ExecCredential of " + std::string(api_version)};
  }
  const nlohmann::json& status = member_in(answer, "status");
  ExecCredential credential{.token = text_in(status, "token"),
                            .certificate = text_in(status, "clientCertificateData"),
                            .key = text_in(status, "clientKeyData"),
                            .expires = {}};
  if (credential.token.empty() && credential.certificate.empty()) {
    return Error{ErrorCode::kInvalidArgument, "its output has neither token nor certificate"};
  }
  if (credential.certificate.empty() != credential.key.empty()) {
    return Error{ErrorCode::kInvalidArgument, "its output has a certificate without its key, or the key alone"};
  }
  for (const char c : credential.token) {
    if (c <= ' ' || c >= 0x7f) return Error{ErrorCode::kInvalidArgument, "its token has a character that no token has"};
  }
  const std::string expires = text_in(status, "expirationTimestamp");
  if (expires.empty()) return credential;
  const std::optional<std::int64_t> seconds = parse_timestamp(expires);
  if (!seconds) return Error{ErrorCode::kInvalidArgument, "its expirationTimestamp is no time"};
  // The clock counts nanoseconds in 64 bits: what lies beyond them is long over, or never comes.
  using Clock = std::chrono::system_clock;
  constexpr std::int64_t kLast =
      std::chrono::floor<std::chrono::seconds>(Clock::time_point::max()).time_since_epoch().count();
  credential.expires = Clock::time_point(std::chrono::seconds(std::clamp<std::int64_t>(*seconds, 0, kLast)));
  return credential;
}

net::Task<ExecOutcome> run_plugin(net::Loop& loop, net::Waiter& waiter, ExecPlugin plugin, std::string info,
                                  bool terminal, net::Time until) {
  if (plugin.needs_terminal && !terminal) {
    co_return failed("the command " + plugin.command + " wants to ask somebody, and nobody is there");
  }
  std::vector<std::string> words = {plugin.command};
  words.insert(words.end(), plugin.arguments.begin(), plugin.arguments.end());
  Child child(loop);
  const int error = child.start(words, environment_of(plugin, std::move(info)), terminal);
  if (error != 0) co_return failed(why_not_started(plugin, error));
  std::string written;
  for (;;) {
    std::array<char, 4096> piece;
    const net::Transfer got = child.output->receive(piece);
    if (got.kind == net::Transfer::Kind::kDone) {
      if (written.size() + got.bytes > kMaxExecOutput) {
        co_return failed("the command " + plugin.command + " writes more than any credential is");
      }
      written.append(piece.data(), got.bytes);
      continue;
    }
    if (got.kind != net::Transfer::Kind::kWouldBlock) break;
    const net::Wake wake = co_await waiter.wait(until, *child.output, net::kRead);
    if (wake != net::Wake::kReady) co_return interrupted(plugin, wake);
  }
  const net::Wake wake = co_await waiter.wait(until, *child.end, net::kRead);
  if (wake != net::Wake::kReady) co_return interrupted(plugin, wake);
  co_return outcome_of(plugin, child.reap(), written);
}

}  // namespace edge::kube
