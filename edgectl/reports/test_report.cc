#include "edgectl/reports/test_report.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "compiler/analyze/explain/explain.h"
#include "compiler/analyze/space/witness.h"
#include "edgectl/reports/diagnostics_output.h"

namespace edge::edgectl {
namespace {

using OrderedJson = nlohmann::ordered_json;
namespace analyze = compiler::analyze;
namespace route_test = compiler::route_test;

/// Explanations cost a run of every engine; whoever has more failures than this mends the first ones first.
constexpr std::size_t kMaxExplained = 20;

std::string place_text(const Span& span, const SourceMap& sources) {
  if (!span.somewhere()) return "?";
  const SourceText& source = sources[span.source];
  return source.name() + ":" + std::to_string(source.position(span.begin).line);
}

std::string name_of(const route_test::Case& one) {
  return one.name.empty() ? analyze::witness_text(one.request.request) : one.name;
}

std::string rule_text(const route_test::RuleName& rule) {
  return rule.route + " rules[" + std::to_string(rule.rule) + "]";
}

std::string indented(const std::string& text, std::string_view indent) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out.append(indent).append(text, begin, end - begin).append("\n");
    begin = end + 1;
  }
  return out;
}

std::string differences_text(const route_test::CaseResult& result, std::string_view indent) {
  std::size_t width = 0;
  for (const auto& difference : result.differences) width = std::max(width, difference.what.size());
  std::string out;
  for (const auto& difference : result.differences) {
    out.append(indent).append(difference.what).append(width - difference.what.size(), ' ');
    out += "  expected " + difference.expected + ", got " + difference.actual + "\n";
  }
  return out;
}

std::string explained(const TestReport& report, std::size_t i) {
  if (!report.results[i].bind) return {};
  const analyze::WitnessView view(report.cases[i].request.request);
  return analyze::explanation_text(analyze::explain(report.program, *report.results[i].bind, view.view()), false);
}

/// For an attribute or text of XML 1.0; what XML cannot hold becomes `?`.
std::string xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f ? '?' : c;
    }
  }
  return out;
}

}  // namespace

std::size_t TestReport::failed() const {
  return static_cast<std::size_t>(std::ranges::count_if(results, [](const auto& result) { return !result.passed(); }));
}

std::string test_report_text(const TestReport& report, bool list_missed) {
  std::string out;
  std::size_t explanations = 0;
  for (std::size_t i = 0; i < report.results.size(); ++i) {
    if (report.results[i].passed()) continue;
    const route_test::Case& one = report.cases[i];
    out += "FAIL " + place_text(one.span, report.sources) + ": " + name_of(one) + "\n";
    if (!one.name.empty()) out += "  request: " + analyze::witness_text(one.request.request) + "\n";
    out += differences_text(report.results[i], "  ");
    if (explanations++ < kMaxExplained) out += indented(explained(report, i), "  | ");
    out += "\n";
  }
  const std::size_t failed = report.failed();
  out += counted(report.cases.size(), "test") + ": " + std::to_string(report.cases.size() - failed) + " passed, " +
         std::to_string(failed) + " failed; " + std::to_string(report.coverage.covered()) + " of " +
         counted(report.coverage.rules, "rule") + " covered (" + std::to_string(report.coverage.percent()) + "%)\n";
  if (!list_missed) return out;
  for (const route_test::RuleName& rule : report.coverage.missed) out += "not covered: " + rule_text(rule) + "\n";
  return out;
}

std::string test_report_json(const TestReport& report) {
  OrderedJson cases = OrderedJson::array();
  for (std::size_t i = 0; i < report.results.size(); ++i) {
    const route_test::Case& one = report.cases[i];
    OrderedJson differences = OrderedJson::array();
    for (const auto& difference : report.results[i].differences) {
      differences.push_back(
          {{"what", difference.what}, {"expected", difference.expected}, {"actual", difference.actual}});
    }
    OrderedJson entry = {{"name", name_of(one)},
                         {"request", analyze::witness_text(one.request.request)},
                         {"passed", report.results[i].passed()},
                         {"differences", differences}};
    if (one.span.somewhere()) {
      entry["file"] = report.sources[one.span.source].name();
      entry["line"] = report.sources[one.span.source].position(one.span.begin).line;
    }
    cases.push_back(std::move(entry));
  }
  OrderedJson missed = OrderedJson::array();
  for (const auto& rule : report.coverage.missed) missed.push_back({{"route", rule.route}, {"rule", rule.rule}});
  const OrderedJson document = {{"tests", report.cases.size()},
                                {"failed", report.failed()},
                                {"cases", cases},
                                {"coverage",
                                 {{"rules", report.coverage.rules},
                                  {"covered", report.coverage.covered()},
                                  {"percent", report.coverage.percent()},
                                  {"missed", missed}}}};
  return indented_json(document);
}

std::string test_report_junit(const TestReport& report) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"edgectl test\" tests=\"" +
                    std::to_string(report.cases.size()) + "\" failures=\"" + std::to_string(report.failed()) + "\">\n";
  for (std::size_t i = 0; i < report.results.size(); ++i) {
    const route_test::Case& one = report.cases[i];
    out += "  <testcase classname=\"" + xml(place_text(one.span, report.sources)) + "\" name=\"" + xml(name_of(one)) +
           "\"";
    if (report.results[i].passed()) {
      out += "/>\n";
      continue;
    }
    const std::string text = differences_text(report.results[i], "");
    out += ">\n    <failure message=\"" + xml(text.substr(0, text.find('\n'))) + "\">" + xml(text) +
           "</failure>\n  </testcase>\n";
  }
  return out + "</testsuite>\n";
}

}  // namespace edge::edgectl
