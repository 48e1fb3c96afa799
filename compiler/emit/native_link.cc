#include "compiler/emit/native_link.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

#include <fcntl.h>
#include <lld/Common/Driver.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

namespace edge::compiler::emit {
namespace {

/// An anonymous file to read from. lld accepts only paths; this file leaves nothing behind after a crash.
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

 private:
  int descriptor_;
};

/// Collects the output that is written to a path. lld writes regular files through a temporary file next to them, which
/// would remain after a crash; it writes to a pipe directly.
class PipeReader {
 public:
  PipeReader() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    write_end_ = ends[1];
    reader_ = std::thread([this, from = ends[0]] { drain(from); });
  }
  ~PipeReader() { finish(); }
  PipeReader(const PipeReader&) = delete;
  PipeReader& operator=(const PipeReader&) = delete;

  bool ok() const { return write_end_ >= 0; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(write_end_); }
  /// Everything that was written. Call after the last writer is done.
  std::vector<std::byte> take() {
    finish();
    return std::move(bytes_);
  }

 private:
  void drain(int from) {
    std::byte buffer[16384];
    for (;;) {
      const ssize_t n = ::read(from, buffer, sizeof buffer);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      bytes_.insert(bytes_.end(), buffer, buffer + n);
    }
    close(from);
  }
  void finish() {
    if (write_end_ < 0) return;
    close(write_end_);
    write_end_ = -1;
    reader_.join();
  }

  int write_end_ = -1;
  std::vector<std::byte> bytes_;
  std::thread reader_;
};

/// lld's global state, which one link uses at a time; after a crash inside lld, none may.
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
  PipeReader output;
  if (!input.ok() || !output.ok() || !input.write(object)) {
    return Error{ErrorCode::kResourceExhausted, std::string("cannot keep an object in memory: ") + strerror(errno)};
  }
  const std::string input_path = input.path();
  const std::string output_path = output.path();
  // Without threads: a link this small is done before they start.
  const char* const arguments[] = {"ld.lld",
                                   "-m",
                                   target == program::Target::kAarch64 ? "aarch64linux" : "elf_x86_64",
                                   "-shared",
                                   "--build-id=none",
                                   "--hash-style=gnu",
                                   "--strip-all",
                                   "--threads=1",
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
  std::vector<std::byte> linked = output.take();
  if (linked.empty()) return Error{ErrorCode::kInternal, "lld wrote nothing. " + message};
  return linked;
}

}  // namespace edge::compiler::emit
