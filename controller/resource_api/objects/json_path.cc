// JSONPath as used by printer columns and `-o jsonpath`.
#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "controller/resource_api/objects/table.h"
#include "controller/resource_api/objects/words.h"

namespace edge::resource_api::objects {

struct JsonPath::Step {
  enum class Kind { kField, kSlice, kAll, kFilter, kDescent } kind = Kind::kField;
  std::string name{};                 ///< of a field
  std::vector<std::string> others{};  ///< of a union of fields: the names behind the first
  /// Of a slice, below 0: from the end. An index is a slice of one.
  std::int64_t begin = 0;
  std::optional<std::int64_t> end{};
  std::int64_t stride = 1;
  std::vector<std::string> tested{};       ///< of a filter: the path behind `@`
  std::string compared{};                  ///< `==`, `!=`, or empty: it exists
  std::shared_ptr<const Json> expected{};  ///< what with
};

namespace {

constexpr std::size_t kMaxPath = 1024;
constexpr std::size_t kMaxSteps = 64;
constexpr std::size_t kMaxFound = 1000;
/// Values that all `..` of a path look at together.
constexpr std::size_t kMaxVisited = 200'000;

bool name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '/' || c == '$';
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  bool take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void spaces() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }
  /// `\.` within a name is a dot of it.
  std::string name() {
    std::string out;
    while (!rest_.empty()) {
      if (rest_.front() == '\\' && rest_.size() > 1) {
        out += rest_[1];
        rest_.remove_prefix(2);
      } else if (name_char(rest_.front())) {
        out += rest_.front();
        rest_.remove_prefix(1);
      } else {
        break;
      }
    }
    return out;
  }
  std::optional<std::string> quoted_text() {
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) return std::nullopt;
    const char quote = rest_.front();
    std::string out;
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == quote) {
        rest_.remove_prefix(i + 1);
        return out;
      }
      if (rest_[i] == '\\' && i + 1 < rest_.size()) ++i;
      out += rest_[i];
    }
    return std::nullopt;
  }
  std::optional<std::int64_t> number() {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

 private:
  std::string_view rest_;
};

/// A value to compare with: a quoted text, a number, true or false.
std::shared_ptr<const Json> literal(Scanner& scanner) {
  if (auto text = scanner.quoted_text()) return std::make_shared<const Json>(std::move(*text));
  if (scanner.take("true")) return std::make_shared<const Json>(true);
  if (scanner.take("false")) return std::make_shared<const Json>(false);
  if (const auto number = scanner.number()) return std::make_shared<const Json>(*number);
  return nullptr;
}

}  // namespace

JsonPath::JsonPath() = default;
JsonPath::~JsonPath() = default;

namespace {

/// `2`, `1:3`, `:2`, `-2:`, `::2`.
bool slice(Scanner& scanner, JsonPath::Step& step) {
  step.kind = JsonPath::Step::Kind::kSlice;
  const auto begin = scanner.number();
  step.begin = begin.value_or(0);
  if (!scanner.take(":")) {
    if (!begin || *begin == std::numeric_limits<std::int64_t>::max()) return false;
    // The last one ends where the list does.
    if (*begin != -1) step.end = *begin + 1;
    return true;
  }
  step.end = scanner.number();
  if (!scanner.take(":")) return true;
  step.stride = scanner.number().value_or(1);
  return step.stride > 0;
}

/// What stands behind `[`, up to and with `]`.
bool bracket(Scanner& scanner, JsonPath::Step& step) {
  using Kind = JsonPath::Step::Kind;
  if (scanner.take("*")) {
    step.kind = Kind::kAll;
  } else if (auto text = scanner.quoted_text()) {
    step.name = std::move(*text);
    for (scanner.spaces(); scanner.take(","); scanner.spaces()) {
      scanner.spaces();
      auto other = scanner.quoted_text();
      if (!other) return false;
      step.others.push_back(std::move(*other));
    }
  } else if (scanner.take("?(@")) {
    step.kind = Kind::kFilter;
    while (scanner.take(".")) {
      step.tested.push_back(scanner.name());
      if (step.tested.back().empty()) return false;
    }
    scanner.spaces();
    for (const char* compared : {"==", "!="}) {
      if (!scanner.take(compared)) continue;
      step.compared = compared;
      scanner.spaces();
      step.expected = literal(scanner);
      if (step.expected == nullptr) return false;
      break;
    }
    scanner.spaces();
    if (!scanner.take(")")) return false;
  } else if (!slice(scanner, step)) {
    return false;
  }
  return scanner.take("]");
}

const Json* at(const Json& object, const std::vector<std::string>& path) {
  const Json* value = &object;
  for (const std::string& name : path) {
    if (!value->is_object()) return nullptr;
    const auto found = value->find(name);
    if (found == value->end()) return nullptr;
    value = &*found;
  }
  return value;
}

bool passes(const JsonPath::Step& step, const Json& item) {
  const Json* value = at(item, step.tested);
  if (step.compared.empty()) return value != nullptr;
  if (value == nullptr) return false;
  return (*value == *step.expected) == (step.compared == "==");
}

/// Itself and every object and list below it, outer ones first.
void descend(const Json& from, std::size_t& visited, std::vector<const Json*>& to) {
  std::vector<const Json*> waiting = {&from};
  while (!waiting.empty() && visited < kMaxVisited && to.size() < kMaxVisited) {
    const Json* const value = waiting.back();
    waiting.pop_back();
    ++visited;
    to.push_back(value);
    if (!value->is_structured()) continue;
    const std::size_t before = waiting.size();
    for (const Json& below : *value) {
      if (below.is_structured()) waiting.push_back(&below);
    }
    std::reverse(waiting.begin() + static_cast<std::ptrdiff_t>(before), waiting.end());
  }
}

void follow(const JsonPath::Step& step, const Json& from, std::size_t& visited, std::vector<const Json*>& to) {
  using Kind = JsonPath::Step::Kind;
  const auto add = [&](const Json& value) {
    if (to.size() < kMaxFound) to.push_back(&value);
  };
  switch (step.kind) {
    case Kind::kField:
      if (from.is_object()) {
        if (const auto found = from.find(step.name); found != from.end()) add(*found);
        for (const std::string& name : step.others) {
          if (const auto found = from.find(name); found != from.end()) add(*found);
        }
      }
      return;
    case Kind::kSlice:
      if (from.is_array()) {
        const auto size = static_cast<std::int64_t>(from.size());
        const auto position = [size](std::int64_t index) { return index < 0 ? size + index : index; };
        const std::int64_t end = std::min(size, step.end ? position(*step.end) : size);
        std::int64_t index = position(step.begin);
        // An index before the first is none; a slice begins there.
        if (index < 0 && step.end && *step.end == step.begin + 1) return;
        for (index = std::max<std::int64_t>(index, 0); index < end && to.size() < kMaxFound;) {
          add(from[static_cast<std::size_t>(index)]);
          if (step.stride >= end - index) break;
          index += step.stride;
        }
      }
      return;
    case Kind::kAll:
      if (from.is_structured()) {
        for (const Json& value : from) add(value);
      }
      return;
    case Kind::kDescent:
      return descend(from, visited, to);
    case Kind::kFilter:
      if (from.is_array()) {
        for (const Json& value : from) {
          if (passes(step, value)) add(value);
        }
      }
      return;
  }
}

}  // namespace

std::shared_ptr<const JsonPath> JsonPath::parse(std::string_view text, std::string& fault) {
  if (text.starts_with('{') && text.ends_with('}')) text = text.substr(1, text.size() - 2);
  if (text.starts_with('$')) text.remove_prefix(1);
  if (text.empty() || text.size() > kMaxPath) {
    fault = "must not be empty nor longer than 1024 bytes";
    return nullptr;
  }
  std::shared_ptr<JsonPath> path(new JsonPath());
  Scanner scanner(text);
  bool dotted = false;  ///< behind `..`, a name needs no dot of its own
  while (!scanner.done()) {
    Step step;
    bool good = path->steps_.size() < kMaxSteps;
    if (scanner.take("[")) {
      dotted = false;
      good = good && bracket(scanner, step);
    } else if (!dotted && scanner.take("..")) {
      // What stands behind it is asked of every value.
      step.kind = Step::Kind::kDescent;
      good = good && !scanner.done();
      dotted = true;
    } else if (std::exchange(dotted, false) || scanner.take(".")) {
      if (scanner.take("[")) {
        good = good && bracket(scanner, step);
      } else if (scanner.take("*")) {
        step.kind = Step::Kind::kAll;
      } else {
        step.name = scanner.name();
        good = good && !step.name.empty();
      }
    } else {
      good = false;
    }
    if (!good) {
      fault = words({"is not a JSON path of fields, indices, slices and filters: ", in_quotes(text)});
      return nullptr;
    }
    path->steps_.push_back(std::move(step));
  }
  return path;
}

std::vector<const Json*> JsonPath::find(const Json& object) const {
  std::vector<const Json*> found = {&object};
  std::size_t visited = 0;
  for (const Step& step : steps_) {
    std::vector<const Json*> next;
    for (const Json* value : found) follow(step, *value, visited, next);
    found = std::move(next);
  }
  return found;
}

}  // namespace edge::resource_api::objects
