// JSONPath as printer columns use it.
#include <charconv>
#include <optional>

#include <nlohmann/json.hpp>

#include "controller/resource_api/objects/table.h"
#include "controller/resource_api/objects/words.h"

namespace edge::resource_api::objects {

struct JsonPath::Step {
  enum class Kind { kField, kIndex, kAll, kFilter } kind = Kind::kField;
  std::string name{};                      ///< of a field
  std::int64_t index = 0;                  ///< below 0: from the end
  std::vector<std::string> tested{};       ///< of a filter: the path behind `@`
  std::string compared{};                  ///< `==`, `!=`, or empty: it exists
  std::shared_ptr<const Json> expected{};  ///< what with
};

namespace {

constexpr std::size_t kMaxPath = 1024;
constexpr std::size_t kMaxSteps = 64;
constexpr std::size_t kMaxFound = 1000;

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

/// What stands behind `[`, up to and with `]`.
bool bracket(Scanner& scanner, JsonPath::Step& step) {
  using Kind = JsonPath::Step::Kind;
  if (scanner.take("*")) {
    step.kind = Kind::kAll;
  } else if (auto text = scanner.quoted_text()) {
    step.name = std::move(*text);
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
  } else if (const auto index = scanner.number()) {
    step.kind = Kind::kIndex;
    step.index = *index;
  } else {
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

void follow(const JsonPath::Step& step, const Json& from, std::vector<const Json*>& to) {
  using Kind = JsonPath::Step::Kind;
  const auto add = [&](const Json& value) {
    if (to.size() < kMaxFound) to.push_back(&value);
  };
  switch (step.kind) {
    case Kind::kField:
      if (from.is_object()) {
        if (const auto found = from.find(step.name); found != from.end()) add(*found);
      }
      return;
    case Kind::kIndex:
      if (from.is_array()) {
        const auto size = static_cast<std::int64_t>(from.size());
        const std::int64_t index = step.index < 0 ? size + step.index : step.index;
        if (index >= 0 && index < size) add(from[static_cast<std::size_t>(index)]);
      }
      return;
    case Kind::kAll:
      if (from.is_structured()) {
        for (const Json& value : from) add(value);
      }
      return;
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
  while (!scanner.done()) {
    Step step;
    bool good = path->steps_.size() < kMaxSteps;
    if (scanner.take("[")) {
      good = good && bracket(scanner, step);
    } else if (scanner.take(".")) {
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
      fault = words({"is not a JSON path of fields, indices and filters: ", in_quotes(text)});
      return nullptr;
    }
    path->steps_.push_back(std::move(step));
  }
  return path;
}

std::vector<const Json*> JsonPath::find(const Json& object) const {
  std::vector<const Json*> found = {&object};
  for (const Step& step : steps_) {
    std::vector<const Json*> next;
    for (const Json* value : found) follow(step, *value, next);
    found = std::move(next);
  }
  return found;
}

}  // namespace edge::resource_api::objects
