#include "daemon/grpc_log.h"

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <utility>

#include <grpc/support/log.h>

namespace edge::daemon {
namespace {

constexpr unsigned kLinesAtOnce = 5;
constexpr auto kInterval = std::chrono::seconds(10);
constexpr std::size_t kMaxReason = 300;

struct Target {
  std::mutex mutex;
  std::optional<Logger> log;  ///< under the mutex
  LogLimit limit{kLinesAtOnce, kInterval};
};

/// gRPC takes a plain function for the whole process, and may call it after main has returned: never destroyed.
Target& target() {
  static auto* const only = new Target;
  return *only;
}

void take_line(gpr_log_func_args* line) {
  Target& to = target();
  const std::lock_guard lock(to.mutex);
  if (!to.log) return;
  const auto held = to.limit.admit();
  if (!held) return;
  GrpcLine ours = read_grpc_line(line->message);
  LogFields fields = {{"reason", std::move(ours.reason)}};
  if (*held > 0) fields.push_back({"held_back", std::to_string(*held)});
  to.log->write(line->severity == GPR_LOG_SEVERITY_ERROR ? LogLevel::kWarn : LogLevel::kDebug, std::move(ours.text),
                std::move(fields));
}

/// `error:0A0000C7:SSL routines::peer did not return a certificate` has its words at the end; of several the first is
/// the cause.
std::string_view openssl_reason(std::string_view text) {
  const std::size_t begin = text.find("error:");
  if (begin == std::string_view::npos) return text;
  text.remove_prefix(begin);
  text = text.substr(0, text.find(": error:", 1));
  return text.substr(text.rfind(':') + 1);
}

}  // namespace

GrpcLine read_grpc_line(std::string_view message) {
  struct Known {
    std::string_view part;
    std::string_view text;
  };
  static constexpr Known kKnown[] = {
      {"Handshake failed", "a gRPC connection ended in its TLS handshake"},
      {"Failed accept", "a gRPC connection cannot be accepted"},
  };
  for (const Known& known : kKnown) {
    if (message.find(known.part) == std::string_view::npos) continue;
    return {std::string(known.text), std::string(openssl_reason(message).substr(0, kMaxReason))};
  }
  return {"gRPC says", std::string(message.substr(0, kMaxReason))};
}

GrpcLog::GrpcLog(Logger log) {
  if (std::getenv("GRPC_VERBOSITY") != nullptr) return;
  {
    const std::lock_guard lock(target().mutex);
    target().log = std::move(log);
  }
  ::gpr_set_log_function(take_line);
}

GrpcLog::~GrpcLog() {
  const std::lock_guard lock(target().mutex);
  target().log.reset();
}

}  // namespace edge::daemon
