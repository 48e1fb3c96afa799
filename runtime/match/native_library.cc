#include "runtime/match/native_library.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

namespace edge::runtime {
namespace {

bool write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(descriptor, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

Error unsound(const std::string& what) { return {ErrorCode::kDataLoss, "native section: " + what}; }

}  // namespace

Result<std::shared_ptr<const NativeLibrary>> NativeLibrary::open(std::span<const std::byte> shared_object) {
  const std::shared_ptr<NativeLibrary> library(new NativeLibrary);
  library->descriptor_ = memfd_create("edge-native", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (library->descriptor_ < 0 || !write_all(library->descriptor_, shared_object) ||
      fcntl(library->descriptor_, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return Error{ErrorCode::kResourceExhausted, std::string("no memory for native code: ") + strerror(errno)};
  }
  // The descriptor stays open as long as the library: the loader tells libraries apart by path, and a number that was
  // given to another memfd would find the old one.
  const std::string path = "/proc/self/fd/" + std::to_string(library->descriptor_);
  library->handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library->handle_ == nullptr) {
    const char* const reason = dlerror();
    return unsound(reason == nullptr ? "cannot be opened" : reason);
  }
  const auto* index = static_cast<const program::NativeIndex*>(dlsym(library->handle_, program::kNativeIndexSymbol));
  if (index == nullptr) return unsound("no index");
  if (index->abi_version != program::kAbiVersion) return unsound("another ABI");
  if (index->host_count > 0 && index->hosts == nullptr) return unsound("no hosts");
  library->hosts_ = {index->hosts, index->host_count};
  const auto not_ascending = [](const auto& a, const auto& b) { return a.host_id >= b.host_id; };
  if (std::adjacent_find(library->hosts_.begin(), library->hosts_.end(), not_ascending) != library->hosts_.end()) {
    return unsound("hosts out of order");
  }
  return std::shared_ptr<const NativeLibrary>(library);
}

NativeLibrary::~NativeLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
  if (descriptor_ >= 0) close(descriptor_);
}

const program::NativeHost* NativeLibrary::find(std::uint64_t host_id) const {
  const auto found = std::lower_bound(hosts_.begin(), hosts_.end(), host_id,
                                      [](const auto& host, std::uint64_t id) { return host.host_id < id; });
  return found != hosts_.end() && found->host_id == host_id ? &*found : nullptr;
}

}  // namespace edge::runtime
