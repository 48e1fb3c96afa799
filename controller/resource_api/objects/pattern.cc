#include "controller/resource_api/objects/pattern.h"

#include <cstdint>
#include <utility>

#include <re2/re2.h>

namespace edge::resource_api::objects {
namespace {

constexpr std::int64_t kMemory = std::int64_t{1} << 20;

}  // namespace

Pattern::Pattern(std::string text) : text_(std::move(text)) {}
Pattern::~Pattern() = default;

const re2::RE2& Pattern::compiled() const {
  std::call_once(once_, [this] {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(kMemory);
    compiled_ = std::make_unique<const re2::RE2>(text_, options);
  });
  return *compiled_;
}

std::string Pattern::fault() const { return compiled().ok() ? std::string() : compiled().error(); }

bool Pattern::is_in(std::string_view value) const {
  return compiled().ok() && re2::RE2::PartialMatch(re2::StringPiece(value.data(), value.size()), *compiled_);
}

}  // namespace edge::resource_api::objects
