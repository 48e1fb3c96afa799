#include "controller/acme/order_state.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::controller::acme {

using compiler::ChallengeKind;
using nlohmann::json;

namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 10;
constexpr std::int64_t kMostCount = 1'000'000;

std::uint32_t count_in(const json& object, std::string_view name) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(integer_in(object, name), 0, kMostCount));
}

}  // namespace

std::string write_order_state(const OrderState& state) {
  json object = {{"host", state.host},         {"directory", state.directory},
                 {"key", state.key},           {"url", state.url},
                 {"owner", state.owner},       {"created", state.created},
                 {"failures", state.failures}, {"authority", state.authority},
                 {"staging", state.staging},   {"notBefore", state.not_before},
                 {"fault", state.fault},       {"waitsFor", state.waits_for},
                 {"failed", json::array()}};
  for (const ChallengeKind kind : state.failed) object["failed"].push_back(static_cast<int>(kind));
  return json_line(object);
}

std::optional<OrderState> read_order_state(std::string_view text) {
  if (text.size() > kMostBytes) return std::nullopt;
  const json object = parse_json(text);
  if (!object.is_object()) return std::nullopt;
  OrderState state{.host = text_in(object, "host"), .directory = text_in(object, "directory")};
  state.key = text_in(object, "key");
  state.url = text_in(object, "url");
  state.owner = text_in(object, "owner");
  state.created = integer_in(object, "created");
  state.failures = count_in(object, "failures");
  state.authority = count_in(object, "authority");
  state.staging = member_in(object, "staging") == json(true);
  state.not_before = integer_in(object, "notBefore");
  state.fault = text_in(object, "fault");
  state.waits_for = text_in(object, "waitsFor");
  for (const json& kind : list_in(object, "failed")) {
    if (kind.is_number_integer() && kind >= 0 && kind <= 2) {
      state.failed.insert(static_cast<ChallengeKind>(kind.get<int>()));
    }
  }
  if (state.host.empty() || state.directory.empty()) return std::nullopt;
  return state;
}

}  // namespace edge::controller::acme
