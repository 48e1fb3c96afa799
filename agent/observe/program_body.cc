#include "agent/observe/program_body.h"

#include <algorithm>
#include <span>

namespace edge::agent {
namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10;

}  // namespace

ProgramBody::Next ProgramBody::next(std::string& out) {
  const std::span<const std::byte> rest = program_->view().bytes().subspan(at_);
  const std::size_t size = std::min(kPiece, rest.size());
  out.append(reinterpret_cast<const char*>(rest.data()), size);
  at_ += size;
  return size == rest.size() ? Next::kEnd : Next::kMore;
}

}  // namespace edge::agent
