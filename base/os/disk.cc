#include "base/os/disk.h"

#include <cstddef>
#include <string_view>

#include <unistd.h>

#include "base/os/file.h"

namespace edge {
namespace {

constexpr std::size_t kSome = std::size_t{1} << 20;

}  // namespace

bool has_space(const std::string& directory) {
  const std::string path = directory + "/space-" + std::to_string(::getpid());
  const std::string some(kSome, '\0');
  const bool written = write_file(path, std::string_view(some), FileAccess::kOwnerOnly).ok();
  ::unlink(path.c_str());
  return written;
}

}  // namespace edge
