#include "program/evaluate/pattern.h"

#include <algorithm>
#include <utility>

#include <re2/re2.h>
#include <re2/set.h>

namespace edge::program {
namespace {

re2::RE2::Options options(std::size_t most_bytes) {
  re2::RE2::Options result(re2::RE2::Latin1);
  result.set_log_errors(false);
  result.set_never_capture(true);
  result.set_max_mem(static_cast<std::int64_t>(most_bytes));
  return result;
}

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

Pattern::Pattern(std::string_view text, std::size_t most_bytes)
    : regex_(std::make_unique<re2::RE2>(piece(text), options(most_bytes))) {}
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

bool Pattern::ok() const { return regex_->ok(); }
std::string Pattern::fault() const { return regex_->ok() ? std::string() : regex_->error(); }

bool Pattern::found_in(std::string_view subject) const {
  return regex_->ok() && regex_->Match(piece(subject), 0, subject.size(), re2::RE2::UNANCHORED, nullptr, 0);
}

class PatternSet::Pass {
 public:
  explicit Pass(std::span<const std::string_view> texts) : set_(options(kPassBytes), re2::RE2::UNANCHORED) {
    ok_ = std::ranges::all_of(texts, [this](std::string_view text) { return set_.Add(piece(text), nullptr) >= 0; });
    ok_ = ok_ && set_.Compile();
  }

  enum class Outcome { kFound, kNotFound, kOutOfMemory };
  bool ok() const { return ok_; }
  Outcome search(std::string_view subject) const {
    re2::RE2::Set::ErrorInfo error{};
    if (set_.Match(piece(subject), nullptr, &error)) return Outcome::kFound;
    return error.kind == re2::RE2::Set::kNoError ? Outcome::kNotFound : Outcome::kOutOfMemory;
  }

 private:
  re2::RE2::Set set_;
  bool ok_ = false;
};

PatternSet::PatternSet() = default;
PatternSet::PatternSet(PatternSet&&) noexcept = default;
PatternSet& PatternSet::operator=(PatternSet&&) noexcept = default;
PatternSet::~PatternSet() = default;

PatternSet::PatternSet(std::span<const std::string_view> texts) {
  for (const std::string_view text : texts) patterns_.emplace_back(text, kFilterPatternBytes);
  if (patterns_.size() < kOnePassFrom || !ok()) return;
  auto pass = std::make_unique<const Pass>(texts);
  if (pass->ok()) pass_ = std::move(pass);
}

bool PatternSet::ok() const { return std::ranges::all_of(patterns_, &Pattern::ok); }

bool PatternSet::finds_any(std::string_view subject) const {
  if (pass_ != nullptr) {
    const Pass::Outcome outcome = pass_->search(subject);
    // Out of memory nothing is known: what was not found must not pass for that.
    if (outcome != Pass::Outcome::kOutOfMemory) return outcome == Pass::Outcome::kFound;
  }
  return std::ranges::any_of(patterns_, [&](const Pattern& pattern) { return pattern.found_in(subject); });
}

}  // namespace edge::program
