#include "controller/acme/name_faults.h"

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::controller::acme {
namespace {

using nlohmann::json;

/// One that lasts is repeated so often, and counts as somebody's for three times as long.
constexpr std::int64_t kRepeated = 600;
constexpr std::int64_t kFresh = 3 * kRepeated;
constexpr std::size_t kMostText = 300;

constexpr std::array<std::string_view, 3> kTexts = {
    "onDemand.askURL gives no answer: names that onDemand.allow does not have get no certificate",
    "the list of names is full (onDemand.maxNames): further names get no certificate",
    "clients ask for more names than onDemand.askURL is asked about: some get no certificate yet",
};

}  // namespace

std::string NameFaults::text(std::int64_t now) const {
  for (std::size_t i = 0; i < met_.size(); ++i) {
    // A clock that was set back leaves times to come, which are over.
    if (met_[i] != 0 && met_[i] <= now && now - met_[i] < kHolds) return std::string(kTexts[i]);
  }
  return {};
}

std::string write_fault(const KeptFault& fault) {
  if (fault.text.empty()) return {};
  return json_line(json{{"by", fault.by}, {"text", fault.text}, {"at", fault.at}});
}

KeptFault read_fault(std::string_view text) {
  const json object = parse_json(text);
  KeptFault fault{.by = text_in(object, "by"), .text = text_in(object, "text"), .at = integer_in(object, "at")};
  if (fault.text.size() > kMostText) return {};
  return fault.text.empty() ? KeptFault{} : fault;
}

KeptFault next_fault(const KeptFault& kept, std::string_view by, std::string_view own, std::int64_t now) {
  const bool fresh = !kept.text.empty() && kept.at <= now && now - kept.at < kFresh;
  if (fresh && kept.by != by) return kept;
  if (own.empty()) return {};
  const bool same = fresh && kept.text == own && now - kept.at < kRepeated;
  return same ? kept : KeptFault{std::string(by), std::string(own), now};
}

}  // namespace edge::controller::acme
