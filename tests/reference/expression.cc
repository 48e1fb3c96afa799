#include "tests/reference/expression.h"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/ip.h"
#include "base/text/ascii.h"

namespace edge::reference {
namespace {

class Test : public Expression {
 public:
  explicit Test(std::function<bool(const Facts&)> test) : test_(std::move(test)) {}
  bool holds(const Facts& facts) const override { return test_(facts); }

 private:
  std::function<bool(const Facts&)> test_;
};

using Tree = std::shared_ptr<const Expression>;
Tree make(std::function<bool(const Facts&)> test) { return std::make_shared<Test>(std::move(test)); }

/// Words: bare ones, strings (kept with a leading quote, escapes undone), and ( ) == !=.
std::optional<std::vector<std::string>> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++i;
    } else if (c == '(' || c == ')') {
      words.emplace_back(1, c);
      ++i;
    } else if (text.substr(i, 2) == "==" || text.substr(i, 2) == "!=") {
      words.emplace_back(text.substr(i, 2));
      i += 2;
    } else if (c == '"') {
      std::string word = "\"";
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\') ++i;
        if (i < text.size()) word += text[i];
      }
      if (i >= text.size()) return std::nullopt;
      ++i;
      words.push_back(word);
    } else {
      const std::size_t end = std::min(text.find_first_of(" \t\r\n()\"=!", i), text.size());
      if (end == i) return std::nullopt;
      words.emplace_back(text.substr(i, end - i));
      i = end;
    }
  }
  return words;
}

/// Recursive descent: OR of ANDs of NOTs. The reference is fed by the tests' generator, whose depth is small.
class Parser {
 public:
  explicit Parser(std::vector<std::string> words) : words_(std::move(words)) {}

  Tree whole() {
    Tree tree = disjunction();
    return at_ == words_.size() ? tree : nullptr;
  }

 private:
  bool keyword(const char* word) {
    if (at_ >= words_.size() || ascii_lower(words_[at_]) != word) return false;
    ++at_;
    return true;
  }
  std::optional<std::string> string() {
    if (at_ >= words_.size() || words_[at_][0] != '"') return std::nullopt;
    return words_[at_++].substr(1);
  }

  Tree disjunction() {
    Tree left = conjunction();
    while (left && keyword("or")) {
      Tree right = conjunction();
      if (!right) return nullptr;
      left = make([left, right](const Facts& f) { return left->holds(f) || right->holds(f); });
    }
    return left;
  }
  Tree conjunction() {
    Tree left = negation();
    while (left && keyword("and")) {
      Tree right = negation();
      if (!right) return nullptr;
      left = make([left, right](const Facts& f) { return left->holds(f) && right->holds(f); });
    }
    return left;
  }
  Tree negation() {
    if (keyword("not")) {
      Tree operand = negation();
      return operand ? make([operand](const Facts& f) { return !operand->holds(f); }) : nullptr;
    }
    if (keyword("(")) {
      Tree inner = disjunction();
      return inner && keyword(")") ? inner : nullptr;
    }
    return term();
  }

  /// `== "x"` or `!= "x"` on a value that may be absent: an absent one differs from every value.
  Tree comparison(std::function<std::optional<std::string_view>(const Facts&)> value) {
    const bool equal = keyword("==");
    if (!equal && !keyword("!=")) return nullptr;
    const auto text = string();
    if (!text) return nullptr;
    return make([value = std::move(value), text = *text, equal](const Facts& f) {
      const auto found = value(f);
      return (found && *found == text) == equal;
    });
  }

  Tree path_test() {
    if (keyword("exact")) {
      const auto text = string();
      return text ? make([text = *text](const Facts& f) { return f.path_is(text); }) : nullptr;
    }
    if (keyword("prefix")) {
      const auto text = string();
      return text ? make([text = *text](const Facts& f) { return f.path_below(text); }) : nullptr;
    }
    if (keyword("contains")) {
      const auto text = string();
      return text ? make([text = *text](const Facts& f) { return f.request().path.find(text) != std::string::npos; })
                  : nullptr;
    }
    return nullptr;
  }

  Tree term() {
    if (at_ >= words_.size()) return nullptr;
    const std::string word = words_[at_++];
    const std::string lowered = ascii_lower(word);
    if (lowered == "path") return path_test();
    if (lowered == "method") {
      return comparison([](const Facts& f) { return std::optional<std::string_view>(f.request().method); });
    }
    if (lowered.starts_with("header:")) {
      return comparison([name = lowered.substr(7)](const Facts& f) { return f.header(name); });
    }
    if (lowered.starts_with("claim:")) {
      const std::string claim = word.substr(6);
      if (keyword("contains")) {
        const auto item = string();
        if (!item) return nullptr;
        return make([claim, item = *item](const Facts& f) { return f.has_item(claim, item); });
      }
      return comparison([claim](const Facts& f) { return f.claim(claim); });
    }
    if (lowered.starts_with("query:")) {
      return comparison([key = word.substr(6)](const Facts& f) { return f.query(key); });
    }
    if (lowered == "source_ip" && keyword("in")) {
      const auto text = string();
      const auto cidr = text ? parse_cidr(*text) : std::nullopt;
      return cidr ? make([cidr = *cidr](const Facts& f) { return cidr.contains(f.request().source); }) : nullptr;
    }
    return nullptr;
  }

  std::vector<std::string> words_;
  std::size_t at_ = 0;
};

}  // namespace

std::shared_ptr<const Expression> Expression::parse(std::string_view text) {
  auto words = words_of(text);
  return words ? Parser(std::move(*words)).whole() : nullptr;
}

}  // namespace edge::reference
