#include "edgectl/reports/conformance_report.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "compiler/model/node_json.h"
#include "compiler/yaml/read.h"

namespace edge::edgectl {
namespace {

std::uint64_t count_in(const nlohmann::json& object, const char* name) {
  const nlohmann::json& count = member_in(object, name);
  return count.is_number_integer() ? static_cast<std::uint64_t>(std::max<std::int64_t>(count.get<std::int64_t>(), 0))
                                   : 0;
}

ConformanceReport::Tests tests_of(const nlohmann::json& object) {
  const nlohmann::json& counts = member_in(object, "statistics");
  return {text_in(object, "result"), count_in(counts, "Passed"), count_in(counts, "Failed"),
          count_in(counts, "Skipped")};
}

std::vector<std::string> names_in(const nlohmann::json& object, const char* name) {
  std::vector<std::string> names;
  for (const nlohmann::json& entry : list_in(object, name)) {
    if (entry.is_string()) names.push_back(entry.get<std::string>());
  }
  return names;
}

}  // namespace

Result<ConformanceReport> read_conformance_report(std::string_view text) {
  SourceMap sources;
  const std::uint32_t source = sources.add("report", std::string(text));
  Diagnostics diagnostics;
  const auto documents = compiler::yaml::read_documents(sources, source, diagnostics);
  if (documents.size() != 1) return Error{ErrorCode::kInvalidArgument, "a report is one document"};
  const nlohmann::json json = compiler::model::json_of(documents.front().root());
  ConformanceReport report{text_in(json, "gatewayAPIVersion"), text_in(json, "gatewayAPIChannel"),
                           text_in(json, "date")};
  for (const nlohmann::json& profile : list_in(json, "profiles")) {
    const nlohmann::json& extended = member_in(profile, "extended");
    report.profiles.push_back({text_in(profile, "name"), tests_of(member_in(profile, "core")), tests_of(extended),
                               names_in(extended, "supportedFeatures"), names_in(extended, "unsupportedFeatures")});
  }
  std::ranges::sort(report.profiles, {}, &ConformanceReport::Profile::name);
  return report;
}

}  // namespace edge::edgectl
