#include <algorithm>
#include <string>

#include "compiler/model/decode_kinds.h"
#include "program/format/request_policies.h"

namespace edge::compiler::model {
namespace {

/// Of each request so many bytes may have to be held.
constexpr std::uint64_t kMostInspected = std::uint64_t{128} << 10;
constexpr std::string_view kRules[] = {"maxHeaders",         "maxHeaderSize", "maxHeadersSize", "maxBodySize",
                                       "maxQueryParameters", "methods",       "contentTypes",   "denyPaths",
                                       "denyQueries",        "denyHeaders",   "denyBodies"};

void check_size(const Fields& own, std::string_view key, std::uint64_t most, Report& report) {
  const auto size = own.size(key);
  if (!size || (size->value != 0 && size->value <= most)) return;
  const std::string field = "spec.requestFilter." + std::string(key);
  report.fault(DiagnosticCode::kInvalidValue, size->span, field,
               size->value == 0 ? "`" + std::string(key) + "` is 0" : "`" + std::string(key) + "` is above 128Ki",
               size->value == 0 ? "leave it out where there is no limit" : "");
}

}  // namespace

RequestFilter decode_request_filter(const Fields& own) {
  RequestFilter filter{.action = own.text("action"),
                       .status = own.integer("statusCode"),
                       .max_headers = own.integer("maxHeaders"),
                       .max_header_size = own.size("maxHeaderSize"),
                       .max_headers_size = own.size("maxHeadersSize"),
                       .max_body_size = own.size("maxBodySize"),
                       .max_query_parameters = own.integer("maxQueryParameters"),
                       .methods = own.strings("methods"),
                       .content_types = own.strings("contentTypes"),
                       .paths = own.strings("denyPaths"),
                       .queries = own.strings("denyQueries"),
                       .bodies = own.strings("denyBodies"),
                       .inspected_body_size = own.size("inspectedBodySize")};
  own.entries("denyHeaders", [&](const Fields& entry) {
    filter.headers.push_back({entry.text("name"), entry.needed_text("pattern")});
  });
  return filter;
}

void check_request_filter(const Fields& own, Span span, Report& report) {
  for (const std::string_view key : {"maxHeaderSize", "maxHeadersSize", "maxBodySize"}) {
    check_size(own, key, std::uint64_t(-1), report);
  }
  check_size(own, "inspectedBodySize", kMostInspected, report);
  if (std::ranges::none_of(kRules, [&](std::string_view rule) { return static_cast<bool>(own.written(rule)); })) {
    report.fault(DiagnosticCode::kMissingField, span, "spec.requestFilter", "no rule is given",
                 "set a limit, `methods`, `contentTypes`, or patterns");
  }
  for (const Located<std::string>& method : own.strings("methods")) {
    if (method.value.size() <= program::kLongestFilterText) continue;
    report.fault(DiagnosticCode::kInvalidValue, method.span, "spec.requestFilter.methods",
                 "a method is longer than 1 KiB");
  }
}

}  // namespace edge::compiler::model
