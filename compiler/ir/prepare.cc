#include <string>
#include <utility>

#include "compiler/expr/regex_matcher.h"
#include "compiler/ir/prepared.h"

namespace edge::compiler::ir {
namespace {

/// The place of `[begin, end)` of a decoded value in the user's file. Exact for plain and simply quoted scalars; the
/// whole value where escapes or block indentation stand between.
Span place_of(const Located<std::string>& value, std::uint32_t begin, std::uint32_t end) {
  const Span& span = value.span;
  if (!span.somewhere()) return span;
  const std::size_t written = span.end - span.begin;
  const std::size_t quotes = written == value->size() + 2 ? 1 : 0;
  if (written != value->size() + 2 * quotes) return span;
  const auto base = span.begin + static_cast<std::uint32_t>(quotes);
  // A fault at the end of the text is shown under its last byte.
  if (begin == end && begin > 0) --begin;
  return Span{span.source, base + begin, base + std::max(end, begin + 1)};
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
    for (std::size_t r = 0; r < route_.rules.size(); ++r) {
      for (std::size_t m = 0; m < route_.rules[r].matches.size(); ++m) prepare_match(r, m);
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
    if (match.path.type == PathMatch::Type::kRegex) {
      pattern(match.path.value, field() + ".path.value", match.path.value.value.size() > 0);
    }
    for (std::size_t i = 0; i < match.headers.size(); ++i) {
      if (match.headers[i].type != MatchType::kRegex) continue;
      pattern(match.headers[i].value, field() + ".headers[" + std::to_string(i) + "].value", false);
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
                             "write `^" + text.value + "`, or `^.*` before it to say that it is meant"},
             Severity::kWarning);
    }
    parts().patterns[key_].push_back({regex.pattern, regex.always});
  }

  void report(const Located<std::string>& text, const std::string& field, const expr::TextFault& fault,
              Severity severity) {
    Diagnostic diagnostic{.code = fault.code};
    diagnostic.severity = severity;
    diagnostic.resource = route_.identity.text();
    diagnostic.field = field;
    diagnostic.span = place_of(text, fault.begin, fault.end);
    diagnostic.message = fault.message;
    diagnostic.fix = fault.fix;
    if (severity == Severity::kError) {
      if (diagnostic.span == text.span) {
        diagnostic.notes.push_back("at byte " + std::to_string(fault.begin + 1) + " of the value");
      }
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
