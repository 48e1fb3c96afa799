#include "compiler/expr/regex_matcher.h"

#include <memory>
#include <unordered_map>

#include "program/evaluate/pattern.h"

namespace edge::compiler::expr {
namespace {

constexpr std::size_t kMaxKept = 8'192;

class Store {
 public:
  const program::Pattern& find(std::string_view pattern) {
    const auto known = compiled_.find(std::string(pattern));
    if (known != compiled_.end()) return known->second;
    if (compiled_.size() >= kMaxKept) compiled_.clear();
    return compiled_.emplace(std::string(pattern), program::Pattern(pattern)).first->second;
  }

 private:
  std::unordered_map<std::string, program::Pattern> compiled_;
};

}  // namespace

std::optional<std::string> re2_refusal(std::string_view pattern) {
  const program::Pattern compiled(pattern);
  if (compiled.ok()) return std::nullopt;
  return compiled.fault();
}

std::function<bool(std::string_view, std::string_view)> regex_matcher() {
  return [store = std::make_shared<Store>()](std::string_view pattern, std::string_view subject) {
    return store->find(pattern).found_in(subject);
  };
}

}  // namespace edge::compiler::expr
