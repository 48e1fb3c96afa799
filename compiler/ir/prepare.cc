#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/expr/regex_matcher.h"
#include "compiler/ir/prepared.h"
#include "program/claim_field.h"

namespace edge::compiler::ir {
namespace {

/// What the program's records number with 16 bits.
constexpr std::size_t kMaxRules = 10'000;
constexpr std::size_t kMaxMatches = 10'000;

std::size_t segments(std::string_view prefix) {
  return static_cast<std::size_t>(std::count(prefix.begin(), prefix.end(), '/'));
}

class Preparer {
 public:
  Preparer(const LinkedRoute& route, Diagnostics& diagnostics) : route_(route), diagnostics_(diagnostics) {}

  PreparedRoute run() {
    PreparedRoute result;
    result.usable = true;
    if (route_.expression) {
      expr::ParsedExpression parsed = expr::parse_expression(route_.expression->value);
      if (parsed.fault) report(*route_.expression, "spec.expression", *parsed.fault, Severity::kError);
      if (parsed.expression) parts().expression = std::move(parsed.expression);
    }
    if (route_.rules.size() > kMaxRules) too_many("spec.rules", route_.rules.size(), kMaxRules);
    for (std::size_t r = 0; !failed_ && r < route_.rules.size(); ++r) {
      const std::size_t matches = route_.rules[r].matches.size();
      if (matches > kMaxMatches) too_many("spec.rules[" + std::to_string(r) + "].matches", matches, kMaxMatches);
      for (std::size_t m = 0; m < std::min(matches, kMaxMatches); ++m) prepare_match(r, m);
    }
    result.usable = !failed_;
    if (result.usable) result.parts = std::move(parts_);
    return result;
  }

 private:
  PreparedParts& parts() {
    if (!parts_) parts_ = std::make_unique<PreparedParts>();
    return *parts_;
  }

  void prepare_match(std::size_t rule, std::size_t index) {
    const RuleMatch& match = route_.rules[rule].matches[index];
    key_ = static_cast<std::uint32_t>(rule << 16 | index);
    const auto field = [&] {
      return "spec.rules[" + std::to_string(rule) + "].matches[" + std::to_string(index) + "]";
    };
    if (match.path.type == PathMatch::Type::kPrefix && segments(match.path.value.value) > program::kMaxPathDepth) {
      report(match.path.value, field() + ".path.value",
             expr::TextFault{DiagnosticCode::kTooDeep,
                             0,
                             static_cast<std::uint32_t>(match.path.value->size()),
                             "the prefix has more than " + std::to_string(program::kMaxPathDepth) + " segments",
                             {}},
             Severity::kError);
    }
    if (match.path.type == PathMatch::Type::kRegex) {
      pattern(match.path.value, field() + ".path.value", true);
    }
    const auto headers = static_cast<std::size_t>(std::ranges::count_if(
        match.headers, [](const FieldMatch& header) { return !program::is_claim_field(header.name.value); }));
    for (std::size_t i = 0; i < match.headers.size(); ++i) {
      if (match.headers[i].type != MatchType::kRegex) continue;
      // Claims stand behind the headers.
      const bool claim = program::is_claim_field(match.headers[i].name.value);
      const std::size_t place = claim ? i - headers : i;
      pattern(match.headers[i].value, field() + (claim ? ".claims[" : ".headers[") + std::to_string(place) + "].value",
              false);
    }
    for (std::size_t i = 0; i < match.query.size(); ++i) {
      if (match.query[i].type != MatchType::kRegex) continue;
      pattern(match.query[i].value, field() + ".queryParams[" + std::to_string(i) + "].value", false);
    }
  }

  void pattern(const Located<std::string>& text, const std::string& field, bool on_path) {
    expr::ParsedRegex parsed = expr::parse_regex(text.value);
    if (!parsed.fault) {
      if (const auto refusal = expr::re2_refusal(parsed.regex->pattern)) {
        parsed.fault = expr::TextFault{DiagnosticCode::kRegexSyntax,
                                       0,
                                       static_cast<std::uint32_t>(text->size()),
                                       "the portable engine refuses the pattern: " + *refusal,
                                       {}};
      }
    }
    if (parsed.fault) return report(text, field, *parsed.fault, Severity::kError);
    const expr::Regex& regex = *parsed.regex;
    if (on_path && !regex.starts_at_begin && !regex.always) {
      report(text, field,
             expr::TextFault{DiagnosticCode::kRegexUnanchored, 0, static_cast<std::uint32_t>(text->size()),
                             "the pattern is searched anywhere in the path, as it has no `^` at its start",
                             "write `^" + text.value + "`, or begin it with `^.*` to search anywhere on purpose"},
             Severity::kWarning);
    }
    parts().patterns[key_].push_back({regex.pattern, regex.always});
  }

  void too_many(const std::string& field, std::size_t count, std::size_t limit) {
    Located<std::string> whole;
    whole.span = route_.identity.span;
    report(whole, field,
           expr::TextFault{DiagnosticCode::kTooMany,
                           0,
                           0,
                           std::to_string(count) + " entries, at most " + std::to_string(limit) + " are allowed",
                           {}},
           Severity::kError);
  }

  void report(const Located<std::string>& text, const std::string& field, const expr::TextFault& fault,
              Severity severity) {
    Diagnostic diagnostic{.code = fault.code};
    diagnostic.severity = severity;
    diagnostic.resource = route_.identity.text();
    diagnostic.field = field;
    diagnostic.span = text.span;
    if (fault.end - fault.begin < text->size()) diagnostic.within = Within{fault.begin, fault.end};
    diagnostic.message = fault.message;
    diagnostic.fix = fault.fix;
    if (severity == Severity::kError) {
      diagnostic.notes.emplace_back("the whole route is left out: a route is never widened by a fault in it");
      failed_ = true;
    }
    diagnostics_.add(std::move(diagnostic));
  }

  const LinkedRoute& route_;
  Diagnostics& diagnostics_;
  std::unique_ptr<PreparedParts> parts_;
  std::uint32_t key_ = 0;
  bool failed_ = false;
};

}  // namespace

PreparedRoutes::PreparedRoutes() : impl_(std::make_unique<Impl>()) {}
PreparedRoutes::~PreparedRoutes() = default;
PreparedRoutes::PreparedRoutes(PreparedRoutes&&) noexcept = default;
PreparedRoutes& PreparedRoutes::operator=(PreparedRoutes&&) noexcept = default;

void PreparedRoutes::prepare(const LinkedConfig& config, Diagnostics& diagnostics) {
  impl_->routes.clear();
  impl_->routes.reserve(config.routes.size());
  for (const LinkedRoute& route : config.routes) impl_->routes.push_back(Preparer(route, diagnostics).run());
}

void PreparedRoutes::prepare_one(const LinkedConfig& config, std::uint32_t route, Diagnostics& diagnostics) {
  if (impl_->routes.size() <= route) impl_->routes.resize(route + 1);
  impl_->routes[route] = Preparer(config.routes[route], diagnostics).run();
}

void PreparedRoutes::refuse(std::uint32_t route) { impl_->routes[route] = PreparedRoute{}; }

bool PreparedRoutes::usable(std::uint32_t route) const {
  return route < impl_->routes.size() && impl_->routes[route].usable;
}

}  // namespace edge::compiler::ir
