// The one file with ANTLR's headers: text to tree. ANTLR may throw and recover as it likes in here; the first error it
// reports is the one that is told.
#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include <antlr4-runtime.h>

#include "RouteExprLexer.h"
#include "RouteExprParser.h"
#include "base/path.h"
#include "compiler/expr/expression.h"
#include "compiler/expr/prescan.h"

namespace edge::compiler::expr {
namespace {

using Grammar = RouteExprParser;

/// ANTLR counts code points. Every byte becomes one, so that its positions are ours, whatever the strings hold.
std::string bytes_as_code_points(std::string_view text) {
  std::string utf8;
  utf8.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      utf8 += c;
    } else {
      utf8 += static_cast<char>(0xc0 | byte >> 6);
      utf8 += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return utf8;
}

TextFault fault(std::uint32_t begin, std::uint32_t end, std::string message, std::string fix = {}) {
  return TextFault{DiagnosticCode::kExpressionSyntax, begin, end, std::move(message), std::move(fix)};
}

struct Spelling {
  std::size_t token;
  const char* text;
};
constexpr Spelling kSpellings[] = {
    {Grammar::AND, "AND"},
    {Grammar::OR, "OR"},
    {Grammar::NOT, "NOT"},
    {Grammar::HEADER, "header:<Name>"},
    {Grammar::METHOD, "method"},
    {Grammar::PATH, "path"},
    {Grammar::QUERY, "query:<key>"},
    {Grammar::SOURCE_IP, "source_ip"},
    {Grammar::EXACT, "exact"},
    {Grammar::PREFIX, "prefix"},
    {Grammar::CONTAINS, "contains"},
    {Grammar::IN, "in"},
    {Grammar::EQUAL, "=="},
    {Grammar::DIFFERS, "!="},
    {Grammar::OPEN, "("},
    {Grammar::CLOSE, ")"},
    {Grammar::STRING, "\"…\""},
    {static_cast<std::size_t>(antlr4::Token::EOF), "the end"},
};

/// `a`, `b` or `c`: the tokens that could have stood here.
std::string expected_text(const antlr4::misc::IntervalSet& expected) {
  std::vector<std::string> words;
  for (const Spelling& spelling : kSpellings) {
    if (!expected.contains(spelling.token)) continue;
    words.push_back(spelling.token == static_cast<std::size_t>(antlr4::Token::EOF)
                        ? spelling.text
                        : "`" + std::string(spelling.text) + "`");
  }
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

/// Keywords are short: near means one slip in a short word, two in a longer one. base's nearest_name decides.
std::string did_you_mean(std::string_view found, const antlr4::misc::IntervalSet& expected) {
  std::string lower(found);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c | 0x20 : c; });
  if (lower == "=") return "compare with `==` or `!=`";
  if (lower == "&" || lower == "&&") return "write `AND`";
  if (lower == "|" || lower == "||") return "write `OR`";
  if (lower == "!") return "write `NOT` before a comparison, `!=` between its sides";
  if (lower == "'") return "strings stand in double quotes";
  static constexpr std::pair<std::size_t, std::string_view> kWords[] = {
      {Grammar::AND, "and"},           {Grammar::OR, "or"},       {Grammar::NOT, "not"},
      {Grammar::HEADER, "header"},     {Grammar::QUERY, "query"}, {Grammar::METHOD, "method"},
      {Grammar::PATH, "path"},         {Grammar::EXACT, "exact"}, {Grammar::PREFIX, "prefix"},
      {Grammar::CONTAINS, "contains"}, {Grammar::IN, "in"},       {Grammar::SOURCE_IP, "source_ip"},
  };
  std::vector<std::string_view> candidates;
  for (const auto& [token, word] : kWords) {
    if (expected.contains(token)) candidates.push_back(word);
  }
  if (lower == "header" || lower == "query") return "write `" + lower + ":<name>`, without spaces around the colon";
  const std::string_view nearest = nearest_name(lower, candidates);
  if (nearest.empty()) return {};
  if (nearest == "header" || nearest == "query") return "did you mean `" + std::string(nearest) + ":<name>`?";
  std::string shown(nearest);
  if (nearest == "and" || nearest == "or" || nearest == "not") {
    std::transform(shown.begin(), shown.end(), shown.begin(), [](char c) { return c & ~0x20; });
  }
  return "did you mean `" + shown + "`?";
}

/// Keeps the first syntax error in our own words.
class FirstError : public antlr4::BaseErrorListener {
 public:
  explicit FirstError(std::string_view text) : text_(text) {}

  void syntaxError(antlr4::Recognizer* recognizer, antlr4::Token* token, std::size_t, std::size_t, const std::string&,
                   std::exception_ptr) override {
    if (fault_ || token == nullptr) return;
    auto expected = static_cast<antlr4::Parser*>(recognizer)->getExpectedTokens();
    // Where an operand may end it may also go on; the loops of AND and OR have been left when ANTLR asks.
    if (expected.contains(std::size_t{Grammar::CLOSE}) ||
        expected.contains(static_cast<std::size_t>(antlr4::Token::EOF))) {
      expected.add(Grammar::AND);
      expected.add(Grammar::OR);
    }
    const bool at_end = token->getType() == antlr4::Token::EOF;
    const std::size_t begin = at_end ? text_.size() : token->getStartIndex();
    const std::size_t end = at_end ? text_.size() : token->getStopIndex() + 1;
    const std::string_view found = text_.substr(begin, end - begin);
    std::string message = "expected " + expected_text(expected) + ", found ";
    message += at_end ? "the end" : "`" + std::string(found) + "`";
    fault_ = fault(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), std::move(message),
                   did_you_mean(found, expected));
  }

  const std::optional<TextFault>& get() const { return fault_; }

 private:
  std::string_view text_;
  std::optional<TextFault> fault_;
};

std::string unescape(std::string_view quoted) {
  std::string value;
  for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
    if (quoted[i] == '\\') ++i;
    value += quoted[i];
  }
  return value;
}

bool is_token(std::string_view text) {
  if (text.empty()) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

/// Walks ANTLR's tree. Operands that make no sense are faults; the first is kept.
class Builder {
 public:
  explicit Builder(std::string_view text) : text_(text) {}

  Expression disjunction(Grammar::DisjunctionContext* context) {
    Expression all = node(Expression::Kind::kOr);
    for (auto* part : context->conjunction()) append(all, conjunction(part));
    return single(std::move(all));
  }

  const std::optional<TextFault>& fault() const { return fault_; }

 private:
  Expression conjunction(Grammar::ConjunctionContext* context) {
    Expression all = node(Expression::Kind::kAnd);
    for (auto* part : context->negation()) append(all, negation(part));
    return single(std::move(all));
  }

  Expression negation(Grammar::NegationContext* context) {
    if (context->NOT() != nullptr) return negate(negation(context->negation()));
    if (context->disjunction() != nullptr) return disjunction(context->disjunction());
    return comparison(context->comparison());
  }

  Expression comparison(Grammar::ComparisonContext* context) {
    Expression leaf;
    const std::string_view quoted = bytes_of(context->STRING());
    leaf.value = unescape(quoted);
    if (context->HEADER() != nullptr) {
      leaf.kind = Expression::Kind::kHeader;
      header(context->HEADER(), leaf);
    } else if (context->QUERY() != nullptr) {
      leaf.kind = Expression::Kind::kQuery;
      leaf.name = name_of(context->QUERY());
    } else if (context->METHOD() != nullptr) {
      leaf.kind = Expression::Kind::kMethod;
      if (!is_token(leaf.value)) {
        operand_fault(context->STRING(), "`" + leaf.value + "` is no method: it must be a token (RFC 9110 §9.1)");
      }
    } else if (context->PATH() != nullptr) {
      path(context, leaf);
    } else {
      leaf.kind = Expression::Kind::kSourceIn;
      source(context->STRING(), leaf);
    }
    return context->DIFFERS() != nullptr ? negate(std::move(leaf)) : leaf;
  }

  void header(antlr4::tree::TerminalNode* token, Expression& leaf) {
    leaf.name = name_of(token);
    for (char& c : leaf.name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    if (!is_token(leaf.name)) {
      operand_fault(token, "`" + leaf.name + "` is no header name: it must be a token (RFC 9110 §5.1)");
    }
  }

  void path(Grammar::ComparisonContext* context, Expression& leaf) {
    antlr4::tree::TerminalNode* operand = context->STRING();
    if (context->CONTAINS() != nullptr) {
      leaf.kind = Expression::Kind::kPathContains;
      if (leaf.value.empty()) operand_fault(operand, "`path contains` needs at least one byte to look for");
      return;
    }
    leaf.kind = context->EXACT() != nullptr ? Expression::Kind::kPathExact : Expression::Kind::kPathPrefix;
    std::string buffer(leaf.value.size() + 1, '\0');
    const auto normal = leaf.value.starts_with('/') ? normalise_path(leaf.value, buffer.data()) : std::nullopt;
    if (!normal) {
      operand_fault(operand, "`" + leaf.value +
                                 "` is no path: it must start with `/`, may not climb above it, and has what is no "
                                 "plain path byte percent-encoded");
      return;
    }
    // One slash at the end of a prefix means nothing; two would be a segment without a name.
    if (leaf.kind == Expression::Kind::kPathPrefix && normal->ends_with("//")) {
      operand_fault(operand, "the prefix `" + leaf.value + "` ends in an empty segment");
      return;
    }
    std::string value(*normal);
    if (leaf.kind == Expression::Kind::kPathPrefix && value.ends_with('/')) value.pop_back();
    leaf.value = std::move(value);
  }

  void source(antlr4::tree::TerminalNode* operand, Expression& leaf) {
    const auto cidr = parse_cidr(leaf.value);
    if (!cidr) operand_fault(operand, "`" + leaf.value + "` is no address block such as `10.0.0.0/8` or `fd00::/8`");
    leaf.cidr = cidr.value_or(Cidr{});
    leaf.value.clear();
  }

  static Expression node(Expression::Kind kind) {
    Expression result;
    result.kind = kind;
    return result;
  }

  /// AND and OR chains, however they are parenthesised, are one node each.
  static void append(Expression& all, Expression part) {
    if (part.kind != all.kind) {
      all.operands.push_back(std::move(part));
      return;
    }
    std::move(part.operands.begin(), part.operands.end(), std::back_inserter(all.operands));
  }

  static Expression single(Expression all) {
    if (all.operands.size() != 1) return all;
    Expression only = std::move(all.operands.front());
    return only;
  }

  static Expression negate(Expression operand) {
    if (operand.kind == Expression::Kind::kNot) {
      Expression inner = std::move(operand.operands.front());
      return inner;
    }
    Expression result = node(Expression::Kind::kNot);
    result.operands.push_back(std::move(operand));
    return result;
  }

  std::string_view bytes_of(antlr4::tree::TerminalNode* node) const {
    const antlr4::Token* token = node->getSymbol();
    return text_.substr(token->getStartIndex(), token->getStopIndex() + 1 - token->getStartIndex());
  }

  /// `header:Name` and `header:"Name"` alike.
  std::string name_of(antlr4::tree::TerminalNode* node) const {
    std::string_view name = bytes_of(node);
    name.remove_prefix(name.find(':') + 1);
    return name.starts_with('"') ? unescape(name) : std::string(name);
  }

  void operand_fault(antlr4::tree::TerminalNode* node, std::string message) {
    if (fault_) return;
    const antlr4::Token* token = node->getSymbol();
    fault_ = TextFault{DiagnosticCode::kExpressionOperand,
                       static_cast<std::uint32_t>(token->getStartIndex()),
                       static_cast<std::uint32_t>(token->getStopIndex() + 1),
                       std::move(message),
                       {}};
  }

  std::string_view text_;
  std::optional<TextFault> fault_;
};

std::size_t depth_of(const Expression& expression) {
  std::size_t deepest = 0;
  for (const Expression& operand : expression.operands) deepest = std::max(deepest, depth_of(operand));
  return deepest + 1;
}

ParsedExpression parse_checked(std::string_view text) {
  antlr4::ANTLRInputStream input(bytes_as_code_points(text));
  RouteExprLexer lexer(&input);
  lexer.removeErrorListeners();
  antlr4::CommonTokenStream tokens(&lexer);
  RouteExprParser parser(&tokens);
  parser.removeErrorListeners();
  FirstError errors(text);
  parser.addErrorListener(&errors);

  Grammar::ExpressionContext* root = parser.expression();
  if (errors.get()) return {std::nullopt, errors.get()};
  Builder builder(text);
  Expression expression = builder.disjunction(root->disjunction());
  if (builder.fault()) return {std::nullopt, builder.fault()};
  if (depth_of(expression) > kMaxExpressionDepth) {
    return {std::nullopt,
            TextFault{DiagnosticCode::kExpressionTooLarge,
                      0,
                      static_cast<std::uint32_t>(text.size()),
                      "AND, OR and NOT alternate more than " + std::to_string(kMaxExpressionDepth) + " levels deep",
                      {}}};
  }
  return {std::move(expression), std::nullopt};
}

}  // namespace

ParsedExpression parse_expression(std::string_view text) {
  if (auto found = prescan(text)) return {std::nullopt, std::move(found)};
  try {
    return parse_checked(text);
  } catch (const std::exception& error) {
    return {std::nullopt, fault(0, static_cast<std::uint32_t>(text.size()),
                                std::string("the expression cannot be read: ") + error.what())};
  }
}

}  // namespace edge::compiler::expr
