// The only file that includes ANTLR's headers: parses text to a tree. ANTLR may throw and recover inside; only the
// first error is reported.
#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include <antlr4-runtime.h>

#include "RouteExprLexer.h"
#include "RouteExprParser.h"
#include "base/hostname.h"
#include "base/path.h"
#include "base/text/ascii.h"
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
    {Grammar::CLAIM, "claim:<name>"},
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
/// What only a claim may say.
constexpr Spelling kClaimSpellings[] = {
    {Grammar::IMPLIES, "implies"},   {Grammar::HOST, "host"},     {Grammar::GATEWAY, "gateway"},
    {Grammar::LISTENER, "listener"}, {Grammar::ROUTE, "route"},   {Grammar::BACKEND, "backend"},
    {Grammar::POLICY, "policy"},     {Grammar::STATUS, "status"}, {Grammar::DENIED, "denied"},
    {Grammar::WORD, "a name"},
};

enum class Language : bool { kExpression, kClaim };

/// `a`, `b` or `c`: the tokens that could have stood here.
std::string expected_text(const antlr4::misc::IntervalSet& expected, Language language) {
  std::vector<std::string> words;
  const auto add = [&](const Spelling& spelling) {
    if (!expected.contains(spelling.token)) return;
    const bool plain =
        spelling.token == static_cast<std::size_t>(antlr4::Token::EOF) || spelling.token == Grammar::WORD;
    words.push_back(plain ? spelling.text : "`" + std::string(spelling.text) + "`");
  };
  if (language == Language::kClaim) std::ranges::for_each(kClaimSpellings, add);
  std::ranges::for_each(kSpellings, add);
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

/// Keywords are short: near means one slip in a short word, two in a longer one. base's nearest_name decides.
std::string did_you_mean(std::string_view found, const antlr4::misc::IntervalSet& expected, Language language) {
  const std::string lower = ascii_lower(found);
  if (lower == "=") return "compare with `==` or `!=`";
  if (lower == "&" || lower == "&&") return "write `AND`";
  if (lower == "|" || lower == "||") return "write `OR`";
  if (lower == "!") return "write `NOT` before a comparison, `!=` between its sides";
  if (lower == "'") return "strings stand in double quotes";
  if (lower == "jwt" || lower == "claims") return "write `claim:<name>` for a claim of a verified token";
  static constexpr std::pair<std::size_t, std::string_view> kWords[] = {
      {Grammar::AND, "and"},
      {Grammar::OR, "or"},
      {Grammar::NOT, "not"},
      {Grammar::HEADER, "header"},
      {Grammar::QUERY, "query"},
      {Grammar::METHOD, "method"},
      {Grammar::CLAIM, "claim"},
      {Grammar::PATH, "path"},
      {Grammar::EXACT, "exact"},
      {Grammar::PREFIX, "prefix"},
      {Grammar::CONTAINS, "contains"},
      {Grammar::IN, "in"},
      {Grammar::SOURCE_IP, "source_ip"},
  };
  std::vector<std::string_view> candidates;
  for (const auto& [token, word] : kWords) {
    if (expected.contains(token)) candidates.push_back(word);
  }
  for (const Spelling& spelling : kClaimSpellings) {
    const bool word = language == Language::kClaim && spelling.token != Grammar::WORD;
    if (word && expected.contains(spelling.token)) candidates.emplace_back(spelling.text);
  }
  if (lower == "header" || lower == "query" || lower == "claim")
    return "write `" + lower + ":<name>`, without spaces around the colon";
  const std::string_view nearest = nearest_name(lower, candidates);
  if (nearest.empty()) return {};
  if (nearest == "header" || nearest == "query" || nearest == "claim")
    return "did you mean `" + std::string(nearest) + ":<name>`?";
  std::string shown(nearest);
  if (nearest == "and" || nearest == "or" || nearest == "not") {
    std::transform(shown.begin(), shown.end(), shown.begin(), [](char c) { return c & ~0x20; });
  }
  return "did you mean `" + shown + "`?";
}

/// Records the first syntax error, in the project's own wording.
class FirstError : public antlr4::BaseErrorListener {
 public:
  FirstError(std::string_view text, Language language) : text_(text), language_(language) {}

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
    std::string message = "expected " + expected_text(expected, language_) + ", found ";
    message += at_end ? "the end" : "`" + std::string(found) + "`";
    fault_ = fault(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), std::move(message),
                   did_you_mean(found, expected, language_));
  }

  const std::optional<TextFault>& get() const { return fault_; }

 private:
  std::string_view text_;
  Language language_;
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

/// Builds the expression from ANTLR's tree. Operands without meaning are errors; only the first is recorded.
class Builder {
 public:
  /// `policy_types`: what `policy` takes. Without them it is no claim, and has no facts.
  Builder(std::string_view text, std::optional<std::span<const std::string_view>> policy_types)
      : text_(text), policy_types_(policy_types) {}

  Expression claim(Grammar::ClaimContext* context) {
    Expression first = disjunction(context->disjunction(0));
    if (context->IMPLIES() == nullptr) return first;
    Expression all = node(Expression::Kind::kOr);
    append(all, negate(std::move(first)));
    append(all, disjunction(context->disjunction(1)));
    return all;
  }

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
    if (context->fact() != nullptr) return fact(context->fact());
    Expression leaf;
    const std::string_view quoted = bytes_of(context->STRING());
    leaf.value = unescape(quoted);
    if (context->HEADER() != nullptr) {
      leaf.kind = Expression::Kind::kHeader;
      header(context->HEADER(), leaf);
    } else if (context->QUERY() != nullptr) {
      leaf.kind = Expression::Kind::kQuery;
      leaf.name = name_of(context->QUERY());
    } else if (context->CLAIM() != nullptr) {
      claim_condition(context, leaf);
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
    leaf.name = ascii_lower(leaf.name);
    if (!is_token(leaf.name)) {
      operand_fault(token, "`" + leaf.name + "` is no header name: it must be a token (RFC 9110 §5.1)");
    }
  }

  void claim_condition(Grammar::ComparisonContext* context, Expression& leaf) {
    const bool contains = context->CONTAINS() != nullptr;
    leaf.kind = contains ? Expression::Kind::kClaimContains : Expression::Kind::kClaim;
    leaf.name = name_of(context->CLAIM());
    if (leaf.name.empty()) operand_fault(context->CLAIM(), "the claim has no name");
    if (contains && leaf.value.empty()) operand_fault(context->STRING(), "no element of a claim is empty");
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

  Expression fact(Grammar::FactContext* context) {
    auto* const keyword = static_cast<antlr4::tree::TerminalNode*>(context->children.front());
    auto* const operand = context->STRING() != nullptr ? context->STRING() : context->WORD();
    Expression leaf = node(Expression::Kind::kFact);
    if (!policy_types_) {
      operand_fault(keyword, "`" + std::string(bytes_of(keyword)) + "` is no part of a route's expression",
                    "name hosts in `spec.hostnames` and gateways in `spec.parentRefs`");
      return leaf;
    }
    if (operand != nullptr) {
      leaf.value = context->STRING() != nullptr ? unescape(bytes_of(operand)) : std::string(bytes_of(operand));
    }
    switch (keyword->getSymbol()->getType()) {
      case Grammar::HOST:
        host(operand, context->IN() != nullptr, leaf);
        break;
      case Grammar::GATEWAY:
        leaf.fact = Fact::kGateway;
        qualified(operand, leaf.value);
        break;
      case Grammar::LISTENER:
        leaf.fact = Fact::kListener;
        break;
      case Grammar::ROUTE:
      case Grammar::BACKEND:
        leaf.fact = keyword->getSymbol()->getType() == Grammar::ROUTE ? Fact::kRoute : Fact::kBackend;
        qualified(operand, leaf.value);
        break;
      case Grammar::POLICY:
        leaf.fact = Fact::kPolicy;
        policy(operand, leaf.value);
        break;
      case Grammar::STATUS:
        leaf.fact = Fact::kStatus;
        status(operand, leaf.value);
        break;
      default:
        leaf.fact = Fact::kDenied;
    }
    return context->DIFFERS() != nullptr ? negate(std::move(leaf)) : leaf;
  }

  void host(antlr4::tree::TerminalNode* operand, bool within, Expression& leaf) {
    leaf.fact = Fact::kHost;
    const auto pattern = HostPattern::parse(leaf.value);
    if (!pattern) return operand_fault(operand, "`" + leaf.value + "` is no host name");
    if (pattern->wildcard() && !within)
      operand_fault(operand, "a host is no wildcard", "write `host in " + leaf.value + "`");
    leaf.value = pattern->text();
  }

  void qualified(antlr4::tree::TerminalNode* operand, const std::string& name) {
    const std::size_t slash = name.find('/');
    const bool fine = slash != std::string::npos && slash > 0 && slash + 1 < name.size() &&
                      name.find('/', slash + 1) == std::string::npos;
    if (!fine) operand_fault(operand, "`" + name + "` is no `namespace/name`");
  }

  void policy(antlr4::tree::TerminalNode* operand, std::string& type) {
    for (const std::string_view known : *policy_types_) {
      if (!equals_ignoring_case(known, type)) continue;
      type = known;
      return;
    }
    const std::string_view nearest = nearest_name(type, {policy_types_->begin(), policy_types_->end()});
    operand_fault(operand, "`" + type + "` is no type of policy",
                  nearest.empty() ? std::string() : "did you mean `" + std::string(nearest) + "`?");
  }

  void status(antlr4::tree::TerminalNode* operand, const std::string& value) {
    const bool digits = value.size() == 3 && std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
    if (value == "redirect" || (digits && value >= "100" && value <= "599")) return;
    operand_fault(operand, "`" + value + "` is no status: write `redirect` or a number such as `404`");
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

  void operand_fault(antlr4::tree::TerminalNode* node, std::string message, std::string fix = {}) {
    if (fault_) return;
    const antlr4::Token* token = node->getSymbol();
    fault_ = TextFault{DiagnosticCode::kExpressionOperand, static_cast<std::uint32_t>(token->getStartIndex()),
                       static_cast<std::uint32_t>(token->getStopIndex() + 1), std::move(message), std::move(fix)};
  }

  std::string_view text_;
  std::optional<std::span<const std::string_view>> policy_types_;
  std::optional<TextFault> fault_;
};

std::size_t depth_of(const Expression& expression) {
  std::size_t deepest = 0;
  for (const Expression& operand : expression.operands) deepest = std::max(deepest, depth_of(operand));
  return deepest + 1;
}

using PolicyTypes = std::optional<std::span<const std::string_view>>;

ParsedExpression parse_checked(std::string_view text, const PolicyTypes& policy_types) {
  antlr4::ANTLRInputStream input(bytes_as_code_points(text));
  RouteExprLexer lexer(&input);
  lexer.removeErrorListeners();
  antlr4::CommonTokenStream tokens(&lexer);
  RouteExprParser parser(&tokens);
  parser.removeErrorListeners();
  FirstError errors(text, policy_types ? Language::kClaim : Language::kExpression);
  parser.addErrorListener(&errors);

  Grammar::ClaimContext* const claim = policy_types ? parser.claim() : nullptr;
  Grammar::ExpressionContext* const root = policy_types ? nullptr : parser.expression();
  if (errors.get()) return {std::nullopt, errors.get()};
  Builder builder(text, policy_types);
  Expression expression = claim != nullptr ? builder.claim(claim) : builder.disjunction(root->disjunction());
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

ParsedExpression parse(std::string_view text, const PolicyTypes& policy_types) {
  if (auto found = prescan(text)) return {std::nullopt, std::move(found)};
  try {
    return parse_checked(text, policy_types);
  } catch (const std::exception& error) {
    return {std::nullopt, fault(0, static_cast<std::uint32_t>(text.size()),
                                std::string("the expression cannot be read: ") + error.what())};
  }
}

}  // namespace

ParsedExpression parse_expression(std::string_view text) { return parse(text, std::nullopt); }

ParsedExpression parse_claim(std::string_view text, std::span<const std::string_view> policy_types) {
  return parse(text, policy_types);
}

}  // namespace edge::compiler::expr
