#include "edgectl/resources/spoke.h"

#include <cstddef>
#include <memory>
#include <utility>

#include "edgectl/resources/agents.h"
#include "edgectl/resources/table.h"

namespace edge::edgectl {
namespace {

using controller::AgentAnswer;
using controller::InspectClient;

/// The page of a spoke. An error: there is no answer of its own.
Result<AgentAnswer> ask_spoke(InspectClient& controller, const std::string& name, const std::string& target) {
  auto answer = controller.ask({}, {"GET", "/clusters/" + name + target});
  if (!answer) return Error{answer.error().code, shown(answer.error().text)};
  // An older hub has no such page, and says so in the words of all its pages.
  if (answer->status == 404 && answer->body == "not found\n") {
    return Error{ErrorCode::kUnavailable, "the hub's controller is older, and does not ask its spokes"};
  }
  return answer;
}

kube::Reply reply_of(InspectClient& controller, const std::string& name, const kube::Request& request) {
  kube::Reply reply;
  if (request.method != "GET") {
    reply.failure = {.kind = kube::Failure::Kind::kRefused, .http = 405, .message = "a spoke is only read"};
    return reply;
  }
  auto answer = ask_spoke(controller, name, request.target);
  if (!answer) {
    reply.failure = {.kind = kube::Failure::Kind::kConnection, .message = answer.error().text};
    return reply;
  }
  reply.failure = {};
  reply.http = answer->status;
  if (answer->status >= 300) reply.failure = kube::read_failure(answer->status, answer->body);
  reply.content_type = std::move(answer->content_type);
  reply.body = std::move(answer->body);
  return reply;
}

}  // namespace

std::string spoke_of(const cli::Arguments& arguments) {
  std::string name = arguments.one("cluster");
  // The value of a switch.
  return name == "true" ? std::string() : name;
}

Result<std::function<kube::Reply(const kube::Request&)>> spoke_api(const cli::Arguments& arguments,
                                                                   const std::string& name) {
  auto controller = find_controller(arguments);
  if (!controller) return controller.error();
  const std::shared_ptr<InspectClient> client = std::move(*controller);
  return std::function<kube::Reply(const kube::Request&)>(
      [client, name](const kube::Request& request) { return reply_of(*client, name, request); });
}

Result<std::vector<std::byte>> spoke_program(const cli::Arguments& arguments, const std::string& name) {
  auto controller = find_controller(arguments);
  if (!controller) return controller.error();
  const auto answer = ask_spoke(**controller, name, "/program");
  if (!answer) return answer.error();
  const auto* const begin = reinterpret_cast<const std::byte*>(answer->body.data());
  if (answer->status == 200) return std::vector<std::byte>(begin, begin + answer->body.size());
  const ErrorCode code = answer->status == 404 ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
  return Error{code, "cluster `" + name + "`: " + shown(answer->body.substr(0, answer->body.find('\n')))};
}

}  // namespace edge::edgectl
