#include "edgectl/traces/find_source.h"

#include <memory>
#include <string_view>
#include <utility>

#include "controller/distribute/inspect_client.h"
#include "edgectl/agents/web_client.h"
#include "edgectl/resources/agents.h"
#include "edgectl/resources/client_config.h"
#include "edgectl/resources/target.h"

namespace edge::edgectl {
namespace {

constexpr const char* kLocalTraces = "http://127.0.0.1:16686";
constexpr std::string_view kNoStore = "it keeps no traces, or is older than this";

/// An endpoint without a scheme is http's; a path stands before that of the API, as behind a proxy.
Result<TraceSource> source_at(std::string base, const std::string& token) {
  if (base.find("://") == std::string::npos) base.insert(0, "http://");
  while (base.ends_with('/')) base.pop_back();
  const Fetch fetch = [base, token](const std::string& target, const std::string& accept) -> Result<Fetched> {
    auto answer = web_get(base + target, {.accept = accept, .token = token});
    if (!answer) return answer.error();
    if (answer->status == 401) {
      return Error{ErrorCode::kUnavailable,
                   base + ": " + (token.empty() ? "needs a token: --trace-token-file" : "does not take this token")};
    }
    return Fetched{answer->status, std::move(answer->content_type), std::move(answer->body)};
  };
  auto source = TraceSource::recognise(fetch);
  if (!source && source.error().code == ErrorCode::kUnavailable && !source.error().text.starts_with(base)) {
    return Error{source.error().code, base + ": " + source.error().text};
  }
  return source;
}

/// Pages of the controller below `prefix`, by the way that administrators have to them.
Fetch pages_of(std::shared_ptr<controller::InspectClient> controller, const std::string& prefix) {
  return [controller = std::move(controller), prefix](const std::string& target,
                                                      const std::string&) -> Result<Fetched> {
    auto answer = controller->ask("", {.method = "GET", .target = prefix + target});
    if (!answer) return Error{ErrorCode::kUnavailable, answer.error().text};
    if (!answer->content_type.starts_with("text/plain")) {
      return Fetched{answer->status, std::move(answer->content_type), std::move(answer->body)};
    }
    // It speaks for the store.
    const std::string words = answer->body.substr(0, answer->body.find('\n'));
    return Error{ErrorCode::kUnavailable, "the controller: " + (answer->status == 404 ? std::string(kNoStore) : words)};
  };
}

}  // namespace

Result<TraceSource> find_trace_source(std::string endpoint, const std::string& token, const cli::Arguments& arguments) {
  const bool named = arguments.has("controller") || arguments.has("credentials");
  if (endpoint.empty() && !named) {
    const auto config = ClientConfig::read(client_config_path());
    if (!config) return config.error();
    const auto target = target_of(arguments, *config);
    if (!target) return target.error();
    endpoint = target->traces;
  }
  if (!endpoint.empty()) return source_at(std::move(endpoint), token);
  auto controller = find_controller(arguments);
  if (controller) return TraceSource::recognise(pages_of(std::move(*controller), "/traces"));
  if (named || controller.error().code == ErrorCode::kInvalidArgument) return controller.error();
  return source_at(kLocalTraces, token);
}

Result<TraceSource> spoke_trace_source(const std::string& spoke, const cli::Arguments& arguments) {
  auto controller = find_controller(arguments);
  if (!controller) return controller.error();
  return TraceSource::with_jaegers_api(pages_of(std::move(*controller), "/clusters/" + spoke + "/traces"));
}

}  // namespace edge::edgectl
