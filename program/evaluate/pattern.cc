#include "program/evaluate/pattern.h"

#include <re2/re2.h>

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

}  // namespace edge::program
