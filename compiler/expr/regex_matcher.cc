#include "compiler/expr/regex_matcher.h"

#include <memory>
#include <unordered_map>

#include <re2/re2.h>

namespace edge::compiler::expr {
namespace {

constexpr std::size_t kMaxKept = 8'192;

RE2::Options options() {
  RE2::Options result(RE2::Latin1);
  result.set_log_errors(false);
  result.set_never_capture(true);
  result.set_max_mem(32 << 20);
  return result;
}

class Store {
 public:
  const RE2& find(std::string_view pattern) {
    const auto known = compiled_.find(std::string(pattern));
    if (known != compiled_.end()) return *known->second;
    if (compiled_.size() >= kMaxKept) compiled_.clear();
    auto fresh = std::make_unique<RE2>(re2::StringPiece(pattern.data(), pattern.size()), options());
    return *compiled_.emplace(pattern, std::move(fresh)).first->second;
  }

 private:
  std::unordered_map<std::string, std::unique_ptr<RE2>> compiled_;
};

}  // namespace

std::optional<std::string> re2_refusal(std::string_view pattern) {
  const RE2 regex(re2::StringPiece(pattern.data(), pattern.size()), options());
  if (regex.ok()) return std::nullopt;
  return regex.error();
}

std::function<bool(std::string_view, std::string_view)> regex_matcher() {
  return [store = std::make_shared<Store>()](std::string_view pattern, std::string_view subject) {
    const RE2& regex = store->find(pattern);
    return regex.ok() && regex.Match(re2::StringPiece(subject.data(), subject.size()), 0, subject.size(),
                                     RE2::UNANCHORED, nullptr, 0);
  };
}

}  // namespace edge::compiler::expr
