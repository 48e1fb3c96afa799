// Unit tests of routing: requests with what is to become of each. Documents `kind: RouteTest` among the configuration,
// read by `edgectl test` alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/source.h"
#include "compiler/analyze/explain/passage.h"
#include "compiler/analyze/explain/typed_request.h"

namespace edge::compiler::route_test {

/// What a test asks for; what is not given is not asked.
struct Expectation {
  std::optional<int> status;  ///< of the proxy's own answer
  std::optional<std::string> location;
  std::optional<std::string> reason;
  std::optional<std::string> listener;
  std::optional<std::string> route;  ///< namespace/name
  std::optional<std::uint32_t> rule;
  std::optional<std::uint32_t> match;
  std::optional<std::vector<std::string>> policies;  ///< `Type namespace/name`, in the order of rule D4
  std::optional<std::vector<std::string>> backends;  ///< namespace/name, sorted: exactly those that may take it
  std::optional<std::string> path;
  std::optional<std::string> host;
  analyze::NameValues headers;  ///< names in lower case
  std::vector<std::string> absent_headers;
  analyze::NameValues response_headers;
  std::vector<std::string> removed_response_headers;
};

struct Case {
  std::string name;
  Span span;  ///< of the case in its document
  analyze::TypedRequest request;
  std::string written_host;  ///< another spelling of the request's host, to be written; empty: none
  Expectation expect;
};

/// The cases of every RouteTest in `sources`. Faults become diagnostics; a case with a fault is left out.
std::vector<Case> read_cases(const SourceMap& sources, Diagnostics& diagnostics);

/// One thing that a test asked for and did not get.
struct Difference {
  std::string what;  ///< `route`, `header x-env`, ...
  std::string expected;
  std::string actual;
};
std::vector<Difference> differences(const Expectation& expect, const analyze::Passage& actual);

/// All that is known of a passage, as a test would ask for it.
Expectation expectation_of(const analyze::Passage& passage);
/// Documents that `read_cases` reads back as the same cases, named `name`.
std::string write_cases(const std::vector<Case>& cases, std::string_view name);

}  // namespace edge::compiler::route_test
