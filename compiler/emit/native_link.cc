#include "compiler/emit/native_link.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>

#include <fcntl.h>
#include <lld/Common/Driver.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

namespace edge::compiler::emit {
namespace {

/// An anonymous file. lld takes paths only; this one leaves nothing behind, whatever happens.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("edge-native", MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  bool ok() const { return descriptor_ >= 0; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  bool write(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
    return true;
  }

  bool read(std::vector<std::byte>& bytes) const {
    struct stat status{};
    if (fstat(descriptor_, &status) != 0) return false;
    bytes.resize(static_cast<std::size_t>(status.st_size));
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t n = pread(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      done += static_cast<std::size_t>(n);
    }
    return true;
  }

 private:
  int descriptor_;
};

/// lld's globals belong to one link at a time. After a crash inside it they belong to none.
struct Linker {
  std::mutex mutex;
  bool usable = true;
};

Linker& linker() {
  static Linker instance;
  return instance;
}

}  // namespace

Result<std::vector<std::byte>> link_shared(program::Target target, std::span<const std::byte> object) {
  const MemoryFile input;
  const MemoryFile output;
  if (!input.ok() || !output.ok() || !input.write(object)) {
    return Error{ErrorCode::kResourceExhausted, std::string("cannot keep an object in memory: ") + strerror(errno)};
  }
  const std::string input_path = input.path();
  const std::string output_path = output.path();
  // Written through one descriptor, without a rename, which /proc does not have; without threads, so that the bytes and
  // the process stay as they were.
  const char* const arguments[] = {"ld.lld",
                                   "-m",
                                   target == program::Target::kAarch64 ? "aarch64linux" : "elf_x86_64",
                                   "-shared",
                                   "--build-id=none",
                                   "--hash-style=gnu",
                                   "--strip-all",
                                   "--threads=1",
                                   "--no-mmap-output-file",
                                   "-z",
                                   "noexecstack",
                                   "-z",
                                   "now",
                                   "-o",
                                   output_path.c_str(),
                                   input_path.c_str()};
  std::string message;
  llvm::raw_string_ostream messages(message);
  {
    const std::lock_guard lock(linker().mutex);
    if (!linker().usable) return Error{ErrorCode::kInternal, "lld failed before and cannot run again"};
    const lld::Result result = lld::lldMain(arguments, messages, messages, {{lld::Gnu, &lld::elf::link}});
    linker().usable = result.canRunAgain;
    if (result.retCode != 0) return Error{ErrorCode::kInternal, "lld: " + message};
  }
  std::vector<std::byte> linked;
  if (!output.read(linked) || linked.empty()) return Error{ErrorCode::kInternal, "lld wrote nothing. " + message};
  return linked;
}

}  // namespace edge::compiler::emit
