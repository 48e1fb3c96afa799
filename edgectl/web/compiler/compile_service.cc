#include "edgectl/web/compiler/compile_service.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/web/compiler/compile_calls.h"
#include "edgectl/web/compiler/frames.h"

namespace edge::edgectl::web {
namespace {

/// Of data in memory; what would take more ends the process, and the server says so.
constexpr rlim_t kMostMemory = rlim_t{2} << 30;
constexpr int kNice = 5;

/// The server decides when it has waited long enough, and ends this process.
FrameDeadline no_deadline() { return std::chrono::steady_clock::now() + std::chrono::hours(24 * 365); }

Result<std::string> answer(std::unique_ptr<CompileState>& state, std::string_view message) {
  const std::size_t line = std::min(message.find('\n'), message.size());
  const nlohmann::json head = parse_json(message.substr(0, line));
  const std::string& controller_class = text_in(head, "controllerClass");
  if (state == nullptr || state->controller_class != controller_class) {
    state = std::make_unique<CompileState>(controller_class);
  }
  message.remove_prefix(std::min(line + 1, message.size()));
  if (Status status = state->configuration.update(member_in(head, "changes"), message); !status) return status.error();
  const auto calls = compile_calls();
  const auto call = std::ranges::find(calls, std::string_view(text_in(head, "call")), &CompileCall::name);
  if (call == calls.end()) return Error{ErrorCode::kUnimplemented, "no such call of the compiler"};
  // Libraries throw; the server is to hear of it, and the next call may do better.
  try {
    return call->run(*state, member_in(head, "parameters"));
  } catch (const std::exception& fault) {
    return Error{ErrorCode::kInternal, std::string("the compiler failed: ") + fault.what()};
  }
}

void bound_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !(defined(__has_feature) && __has_feature(address_sanitizer))
  // Its shadow memory counts too.
  const rlimit most{.rlim_cur = kMostMemory, .rlim_max = kMostMemory};
  if (::setrlimit(RLIMIT_DATA, &most) != 0) std::perror("web-compiler: setrlimit");
#endif
}

}  // namespace

std::optional<int> serve_compiler(int argc, const char* const* argv) {
  if (argc != 2 || std::string_view(argv[1]) != kCompilerWord) return std::nullopt;
  bound_memory();
  ::prctl(PR_SET_NAME, kCompilerWord);
  // Requests of the proxy and of the dashboard go first.
  if (::setpriority(PRIO_PROCESS, 0, kNice) != 0) std::perror("web-compiler: setpriority");
  std::unique_ptr<CompileState> state;
  while (true) {
    const auto message = read_frame(kCompilerSocket, kMostFrame, no_deadline());
    if (!message) return message.error().code == ErrorCode::kUnavailable ? 0 : 1;
    const Result<std::string> done = answer(state, *message);
    std::string reply(1, static_cast<char>(done ? 0 : static_cast<int>(done.error().code)));
    reply += done ? *done : done.error().text;
    if (!write_frame(kCompilerSocket, reply, no_deadline())) return 0;
  }
}

}  // namespace edge::edgectl::web
