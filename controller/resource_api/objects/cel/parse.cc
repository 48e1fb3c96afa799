// A recursive-descent parser of the CEL grammar, without the parts that validation rules do not use (maps, bytes,
// optional values, user types).
#include <algorithm>
#include <charconv>
#include <span>

#include <nlohmann/json.hpp>

#include "controller/resource_api/objects/cel/node.h"

namespace edge::resource_api::objects {
namespace {

using Node = CelRule::Node;
using Kind = Node::Kind;
using NodePtr = std::unique_ptr<const Node>;

constexpr std::size_t kMaxText = 16'384;
constexpr int kMaxDepth = 64;

constexpr std::string_view kMacros[] = {"all", "exists", "exists_one", "filter", "map"};
constexpr std::string_view kFunctions[] = {"size", "duration", "string", "int"};
constexpr std::string_view kMethods[] = {"size", "startsWith", "endsWith", "contains", "matches"};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  for (const std::string_view one : names) {
    if (one == name) return true;
  }
  return false;
}

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

/// How Kubernetes writes names in CEL that CEL could not have: `__namespace__`, `a__dash__b`.
std::string unescaped(std::string name) {
  constexpr std::pair<std::string_view, std::string_view> kParts[] = {
      {"__underscores__", "__"}, {"__dot__", "."}, {"__dash__", "-"}, {"__slash__", "/"}};
  if (name.size() > 4 && name.starts_with("__") && name.ends_with("__") && name.find("__", 2) == name.size() - 2) {
    return name.substr(2, name.size() - 4);
  }
  for (const auto& [escaped, plain] : kParts) {
    for (std::size_t at = name.find(escaped); at != std::string::npos; at = name.find(escaped, at + plain.size())) {
      name.replace(at, escaped.size(), plain);
    }
  }
  return name;
}

NodePtr make(Kind kind, std::string text, NodePtr a = nullptr, NodePtr b = nullptr, NodePtr c = nullptr) {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  node->text = std::move(text);
  for (NodePtr* child : {&a, &b, &c}) {
    if (*child != nullptr) node->children.push_back(std::move(*child));
  }
  return node;
}

NodePtr literal(Json value) {
  auto node = std::make_unique<Node>();
  node->value = std::make_shared<const Json>(std::move(value));
  return node;
}

/// Recursive-descent parser. After an error every function returns nullptr.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  NodePtr whole() {
    NodePtr node = conditional();
    spaces();
    return rest_.empty() ? std::move(node) : nullptr;
  }

 private:
  void spaces() {
    while (!rest_.empty() &&
           (rest_.front() == ' ' || rest_.front() == '\n' || rest_.front() == '\t' || rest_.front() == '\r')) {
      rest_.remove_prefix(1);
    }
  }
  bool take(std::string_view token) {
    spaces();
    if (!rest_.starts_with(token)) return false;
    if (letter(token.back()) && rest_.size() > token.size() &&
        (letter(rest_[token.size()]) || digit(rest_[token.size()]))) {
      return false;
    }
    rest_.remove_prefix(token.size());
    return true;
  }
  std::string name() {
    spaces();
    std::size_t end = 0;
    while (end < rest_.size() && (letter(rest_[end]) || (end > 0 && digit(rest_[end])))) ++end;
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return text;
  }

  NodePtr conditional();
  NodePtr disjunction();
  NodePtr conjunction();
  NodePtr relation();
  NodePtr sum();
  NodePtr unary();
  NodePtr member();
  NodePtr primary();
  NodePtr method(NodePtr receiver, const std::string& called);
  NodePtr call(const std::string& called);
  NodePtr list();
  NodePtr number();
  NodePtr quoted_text();

  std::string_view rest_;
  int depth_ = 0;
};

NodePtr Parser::conditional() {
  if (++depth_ > kMaxDepth) return nullptr;
  NodePtr node = disjunction();
  if (node != nullptr && take("?")) {
    NodePtr then = conditional();
    if (then == nullptr || !take(":")) return nullptr;
    NodePtr otherwise = conditional();
    if (otherwise == nullptr) return nullptr;
    node = make(Kind::kConditional, "", std::move(node), std::move(then), std::move(otherwise));
  }
  --depth_;
  return node;
}

NodePtr Parser::disjunction() {
  NodePtr node = conjunction();
  while (node != nullptr && take("||")) {
    NodePtr right = conjunction();
    node = right == nullptr ? nullptr : make(Kind::kOr, "", std::move(node), std::move(right));
  }
  return node;
}

NodePtr Parser::conjunction() {
  NodePtr node = relation();
  while (node != nullptr && take("&&")) {
    NodePtr right = relation();
    node = right == nullptr ? nullptr : make(Kind::kAnd, "", std::move(node), std::move(right));
  }
  return node;
}

NodePtr Parser::relation() {
  NodePtr node = sum();
  while (node != nullptr) {
    const char* found = nullptr;
    for (const char* op : {"==", "!=", "<=", ">=", "<", ">", "in"}) {
      if (found == nullptr && take(op)) found = op;
    }
    if (found == nullptr) break;
    NodePtr right = sum();
    node = right == nullptr ? nullptr : make(Kind::kBinary, found, std::move(node), std::move(right));
  }
  return node;
}

NodePtr Parser::sum() {
  NodePtr node = unary();
  while (node != nullptr) {
    const char* found = take("+") ? "+" : take("-") ? "-" : nullptr;
    if (found == nullptr) break;
    NodePtr right = unary();
    node = right == nullptr ? nullptr : make(Kind::kBinary, found, std::move(node), std::move(right));
  }
  return node;
}

NodePtr Parser::unary() {
  if (++depth_ > kMaxDepth) return nullptr;
  NodePtr node;
  spaces();
  if (!rest_.starts_with("!=") && take("!")) {
    NodePtr inner = unary();
    if (inner != nullptr) node = make(Kind::kNot, "", std::move(inner));
  } else if (take("-")) {
    NodePtr inner = unary();
    if (inner != nullptr) node = make(Kind::kNegative, "", std::move(inner));
  } else {
    node = member();
  }
  --depth_;
  return node;
}

NodePtr Parser::member() {
  NodePtr node = primary();
  while (node != nullptr) {
    if (take("[")) {
      NodePtr index = conditional();
      if (index == nullptr || !take("]")) return nullptr;
      node = make(Kind::kIndex, "", std::move(node), std::move(index));
    } else if (take(".")) {
      const std::string selected = name();
      if (selected.empty()) return nullptr;
      node = take("(") ? method(std::move(node), selected) : make(Kind::kField, unescaped(selected), std::move(node));
    } else {
      break;
    }
  }
  return node;
}

NodePtr Parser::method(NodePtr receiver, const std::string& called) {
  if (is_one_of(called, kMacros)) {
    auto node = std::make_unique<Node>();
    node->kind = Kind::kMacro;
    node->text = called;
    node->variable = name();
    if (node->variable.empty() || !take(",")) return nullptr;
    NodePtr body = conditional();
    if (body == nullptr || !take(")")) return nullptr;
    node->children.push_back(std::move(receiver));
    node->children.push_back(std::move(body));
    return node;
  }
  if (!is_one_of(called, kMethods)) return nullptr;
  if (take(")")) return called == "size" ? make(Kind::kCall, called, std::move(receiver)) : nullptr;
  NodePtr argument = conditional();
  if (argument == nullptr || called == "size" || !take(")")) return nullptr;
  return make(Kind::kCall, called, std::move(receiver), std::move(argument));
}

NodePtr Parser::call(const std::string& called) {
  NodePtr argument = conditional();
  if (argument == nullptr || !take(")")) return nullptr;
  if (called == "has") {
    return argument->kind == Kind::kField ? make(Kind::kHas, "", std::move(argument)) : nullptr;
  }
  return is_one_of(called, kFunctions) ? make(Kind::kCall, called, std::move(argument)) : nullptr;
}

NodePtr Parser::list() {
  auto node = std::make_unique<Node>();
  node->kind = Kind::kList;
  while (!take("]")) {
    if (!node->children.empty() && !take(",")) return nullptr;
    NodePtr item = conditional();
    if (item == nullptr) return nullptr;
    node->children.push_back(std::move(item));
  }
  return node;
}

NodePtr Parser::number() {
  std::size_t end = 0;
  while (end < rest_.size() && (digit(rest_[end]) || rest_[end] == '.')) ++end;
  const std::string_view text = rest_.substr(0, end);
  rest_.remove_prefix(end);
  // Hexadecimal, unsigned and exponents are not written in rules.
  if (!rest_.empty() && letter(rest_.front())) return nullptr;
  if (text.find('.') == std::string_view::npos) {
    std::int64_t value = 0;
    const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && last == text.data() + text.size() ? literal(value) : nullptr;
  }
  double value = 0;
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && last == text.data() + text.size() ? literal(value) : nullptr;
}

NodePtr Parser::quoted_text() {
  const bool raw = rest_.front() == 'r';
  if (raw) rest_.remove_prefix(1);
  const char quote = rest_.front();
  if (rest_.size() > 2 && rest_[1] == quote && rest_[2] == quote) return nullptr;
  std::string text;
  for (std::size_t i = 1; i < rest_.size(); ++i) {
    if (rest_[i] == quote) {
      rest_.remove_prefix(i + 1);
      return literal(std::move(text));
    }
    if (rest_[i] != '\\' || raw) {
      text += rest_[i];
      continue;
    }
    if (++i == rest_.size()) return nullptr;
    constexpr std::string_view kEscapes = "nrt\\'\"";
    constexpr std::string_view kMeant = "\n\r\t\\'\"";
    const std::size_t which = kEscapes.find(rest_[i]);
    if (which == std::string_view::npos) return nullptr;
    text += kMeant[which];
  }
  return nullptr;
}

NodePtr Parser::primary() {
  spaces();
  if (rest_.empty()) return nullptr;
  if (take("(")) {
    NodePtr inner = conditional();
    return inner != nullptr && take(")") ? std::move(inner) : nullptr;
  }
  if (take("[")) return list();
  const char first = rest_.front();
  const bool raw = first == 'r' && rest_.size() > 1 && (rest_[1] == '\'' || rest_[1] == '"');
  if (first == '\'' || first == '"' || raw) return quoted_text();
  if (digit(first)) return number();
  if (take("true")) return literal(true);
  if (take("false")) return literal(false);
  if (take("null")) return literal(nullptr);
  const std::string named = name();
  if (named.empty()) return nullptr;
  return take("(") ? call(named) : make(Kind::kName, named);
}

/// Names that nothing gives a value to are a fault of the rule.
bool names_are_known(const Node& node, std::vector<std::string_view>& known) {
  if (node.kind == Kind::kName && std::ranges::find(known, node.text) == known.end()) return false;
  if (node.kind == Kind::kMacro) {
    if (!names_are_known(*node.children[0], known)) return false;
    known.push_back(node.variable);
    const bool good = names_are_known(*node.children[1], known);
    known.pop_back();
    return good;
  }
  return std::ranges::all_of(node.children, [&](const auto& child) { return names_are_known(*child, known); });
}

}  // namespace

NodePtr parse_cel(std::string_view text) {
  if (text.size() > kMaxText) return nullptr;
  NodePtr node = Parser(text).whole();
  std::vector<std::string_view> known = {"self", "oldSelf"};
  return node != nullptr && names_are_known(*node, known) ? std::move(node) : nullptr;
}

bool names_variable(const Node& node, std::string_view name) {
  return (node.kind == Kind::kName && node.text == name) ||
         std::ranges::any_of(node.children, [&](const auto& child) { return names_variable(*child, name); });
}

}  // namespace edge::resource_api::objects
