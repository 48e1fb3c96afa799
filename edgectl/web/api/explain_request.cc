#include "edgectl/web/api/explain_request.h"

#include <cstdint>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::edgectl::web {

using nlohmann::json;

namespace {

constexpr std::size_t kMostHeaders = 64;

}  // namespace

json read_explain_request(const std::string& body) {
  const json asked = parse_json(body);
  if (!asked.is_object() || !member_in(asked, "request").is_string()) return nullptr;
  json headers = json::array();
  for (const json& header : list_in(asked, "headers")) {
    if (!header.is_string() || headers.size() == kMostHeaders) return nullptr;
    headers.push_back(header);
  }
  json claims = json::array();
  for (const json& claim : list_in(asked, "claims")) {
    if (!claim.is_string() || claims.size() == kMostHeaders) return nullptr;
    claims.push_back(claim);
  }
  const std::string& source = text_in(asked, "source");
  const std::int64_t port = integer_in(asked, "port");
  if (port < 0 || port > 65535) return nullptr;
  return {{"request", text_in(asked, "request")},
          {"headers", std::move(headers)},
          {"claims", std::move(claims)},
          {"source", source.empty() ? "127.0.0.1" : source},
          {"port", port}};
}

}  // namespace edge::edgectl::web
