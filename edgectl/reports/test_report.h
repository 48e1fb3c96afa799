// The outcome of `edgectl test` in the forms of its -o.
#pragma once

#include <string>
#include <vector>

#include "base/source.h"
#include "compiler/route_test/route_test.h"
#include "compiler/route_test/run.h"
#include "program/read.h"

namespace edge::edgectl {

struct TestReport {
  const SourceMap& sources;
  const program::ProgramView& program;
  const std::vector<compiler::route_test::Case>& cases;
  const std::vector<compiler::route_test::CaseResult>& results;  ///< one a case
  const compiler::route_test::Coverage& coverage;

  std::size_t failed() const;
};

/// Each failing case with what differs and why (as `edgectl explain` says it), then a summary. `list_missed`: with the
/// rules that no case reaches.
std::string test_report_text(const TestReport& report, bool list_missed);
std::string test_report_json(const TestReport& report);
/// The XML that continuous integration services read as JUnit's.
std::string test_report_junit(const TestReport& report);

}  // namespace edge::edgectl
