#include "edgectl/agents/federation_pages.h"

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/agents/web_client.h"
#include "edgectl/resources/table.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;
using controller::InspectClient;

/// Lists are read in pages; what a controller says without an end is not followed for ever.
constexpr std::size_t kMostPages = 1000;

}  // namespace

Result<Json> ask_federation(InspectClient& controller, const std::string& method, const std::string& page,
                            const PageParameters& parameters) {
  std::string target = "/federation/" + page;
  char mark = '?';
  for (const auto& [name, value] : parameters) {
    if (value.empty()) continue;
    target += std::exchange(mark, '&') + name + "=" + url_encoded(value);
  }
  const auto answer = controller.ask({}, {method, target});
  if (!answer) return answer.error();
  if (answer->status == 200) {
    Json json = parse_json(answer->body);
    if (json.is_object()) return json;
    return Error{ErrorCode::kDataLoss, "the controller's answer cannot be read"};
  }
  std::string text = shown(answer->body.substr(0, answer->body.find('\n')));
  if (answer->status == 404 && text == "not found") {
    return Error{ErrorCode::kFailedPrecondition, "the controller is older, and has no federation"};
  }
  switch (answer->status) {
    case 400:
      return Error{ErrorCode::kInvalidArgument, text};
    case 404:
      return Error{ErrorCode::kNotFound, text};
    case 409:
    case 501:
      return Error{ErrorCode::kFailedPrecondition, text};
    default:
      return Error{ErrorCode::kUnavailable, text};
  }
}

Result<Json> ask_federation_list(InspectClient& controller, const std::string& page, PageParameters parameters) {
  Json items = Json::array();
  parameters.emplace_back("after", "");
  for (std::size_t pages = 0; pages < kMostPages; ++pages) {
    auto answer = ask_federation(controller, "GET", page, parameters);
    if (!answer) return answer.error();
    for (const Json& item : list_in(*answer, "items")) items.push_back(item);
    std::string next = text_in(*answer, "next");
    if (next.empty() || next == parameters.back().second) return items;
    parameters.back().second = std::move(next);
  }
  return items;
}

}  // namespace edge::edgectl
