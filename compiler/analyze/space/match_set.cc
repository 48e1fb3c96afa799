#include "compiler/analyze/space/match_set.h"

#include <utility>
#include <vector>

#include "program/claim_field.h"

namespace edge::compiler::analyze {
namespace {

using expr::Expression;

constexpr Test test_of(MatchType type) {
  return type == MatchType::kExact ? Test::kEquals : type == MatchType::kRegex ? Test::kMatches : Test::kPresent;
}

Set path_set(Space& space, const PathMatch& path) {
  const Subject subject{Subject::Kind::kPath};
  const std::string& value = path.value.value;
  switch (path.type) {
    case PathMatch::Type::kExact:
      return space.where(subject, Test::kEquals, value);
    case PathMatch::Type::kPrefix:
      return space.where(subject, Test::kBelow, value == "/" ? std::string() : value);
    case PathMatch::Type::kRegex:
      return space.where(subject, Test::kMatches, value);
    case PathMatch::Type::kNone:
      break;
  }
  return space.everything();
}

/// Depth: at most expr::kMaxExpressionDepth.
void name_matched_fields(Expression& expression, const LinkedListener& listener) {
  if (expression.kind == Expression::Kind::kHeader) expression.name = matched_field(listener, expression.name);
  for (Expression& operand : expression.operands) name_matched_fields(operand, listener);
}

}  // namespace

/// Depth: at most expr::kMaxExpressionDepth.
Set expression_set(Space& space, const Expression& expression, const FactSet& facts) {
  const Subject path{Subject::Kind::kPath};
  switch (expression.kind) {
    case Expression::Kind::kHeader:
      return space.where({Subject::Kind::kHeader, expression.name}, Test::kEquals, expression.value);
    case Expression::Kind::kQuery:
      return space.where({Subject::Kind::kQuery, expression.name}, Test::kEquals, expression.value);
    case Expression::Kind::kClaim:
      return space.where({Subject::Kind::kHeader, program::claim_field(expression.name)}, Test::kEquals,
                         expression.value);
    case Expression::Kind::kClaimContains:
      return space.where({Subject::Kind::kHeader, program::claim_item_field(expression.name, expression.value)},
                         Test::kPresent);
    case Expression::Kind::kMethod:
      return space.where({Subject::Kind::kMethod}, Test::kEquals, expression.value);
    case Expression::Kind::kPathExact:
      return space.where(path, Test::kEquals, expression.value);
    case Expression::Kind::kPathPrefix:
      return space.where(path, Test::kBelow, expression.value);
    case Expression::Kind::kPathContains:
      return space.where(path, Test::kContains, expression.value);
    case Expression::Kind::kSourceIn:
      return space.source_in(expression.cidr);
    case Expression::Kind::kFact:
      return facts ? facts(expression) : space.nothing();
    case Expression::Kind::kAnd:
    case Expression::Kind::kOr:
    case Expression::Kind::kNot:
      break;
  }
  std::vector<Set> operands;
  for (const Expression& operand : expression.operands) operands.push_back(expression_set(space, operand, facts));
  if (expression.kind == Expression::Kind::kNot) return space.complement(operands.front());
  return expression.kind == Expression::Kind::kAnd ? space.all_of(std::move(operands))
                                                   : space.any_of(std::move(operands));
}

Set match_set(Space& space, const LinkedListener& listener, const LinkedRoute& route, std::size_t rule,
              std::size_t match) {
  const RuleMatch& written = route.rules[rule].matches[match];
  std::vector<Set> all = {path_set(space, written.path)};
  if (written.method) all.push_back(space.where({Subject::Kind::kMethod}, Test::kEquals, written.method->value));
  const auto add = [&](Subject subject, const FieldMatch& field) {
    all.push_back(space.where(subject, test_of(field.type), field.value.value));
  };
  for (const FieldMatch& header : written.headers) {
    add({Subject::Kind::kHeader, matched_field(listener, header.name.value)}, header);
  }
  for (const FieldMatch& query : written.query) add({Subject::Kind::kQuery, query.name.value}, query);
  if (route.expression && !route.rules[rule].implied) {
    auto parsed = expr::parse_expression(route.expression->value);
    if (parsed.expression) name_matched_fields(*parsed.expression, listener);
    all.push_back(parsed.expression ? expression_set(space, *parsed.expression) : space.nothing());
  }
  return space.all_of(std::move(all));
}

}  // namespace edge::compiler::analyze
