// A body that is held whole (rule D7): in memory while it is small, else in a file that has no name, so that it is gone
// with its descriptor.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "net/buffer.h"
#include "net/socket.h"
#include "runtime/shape/body_source.h"

namespace edge::runtime {

struct SpoolLimits {
  /// Of one body; beyond it the file takes over.
  std::uint64_t memory_each = std::uint64_t{1} << 20;
  /// Of all bodies of the process together. Without room in memory a body goes to its file at once; without room for
  /// files it cannot be held.
  std::uint64_t memory_all = std::uint64_t{256} << 20;
  std::uint64_t files_all = std::uint64_t{4} << 30;
};

/// What the spools of a process share. Any thread may call.
class SpoolSpace {
 public:
  /// Empty directory: the one of the environment (`TMPDIR`), else /tmp.
  explicit SpoolSpace(std::string directory = {}, const SpoolLimits& limits = {});

  const SpoolLimits& limits() const { return limits_; }
  /// A file without a name; invalid when none can be made.
  net::Fd open_file() const;
  std::uint64_t memory_used() const { return memory_.load(std::memory_order_relaxed); }
  std::uint64_t files_used() const { return files_.load(std::memory_order_relaxed); }

 private:
  friend class Spool;
  static bool take(std::atomic<std::uint64_t>& used, std::uint64_t size, std::uint64_t most);

  std::string directory_;
  SpoolLimits limits_;
  std::atomic<std::uint64_t> memory_{0};
  std::atomic<std::uint64_t> files_{0};
};

/// Written once from front to back, then read as often as needed. Writing to a file is a system call that copies to the
/// page cache: it waits for a disk only when the kernel throttles who writes.
class Spool final : public BodySource {
 public:
  enum class Put : std::uint8_t {
    kTaken,
    kTooLarge,  ///< taken up to the limit, the rest is not
    kFailed,    ///< no room, or no file; the spool is of no use any more
  };

  /// `limit` in bytes, 0: that of the space alone.
  Spool(SpoolSpace& space, std::uint64_t limit) : space_(space), limit_(limit) {}
  ~Spool() override;
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  Put append(std::string_view bytes);
  std::uint64_t size() const override { return size_; }
  std::string_view read(std::uint64_t at, std::span<char> scratch) override;
  bool in_file() const { return file_.valid(); }

 private:
  bool reserve_memory(std::uint64_t size);
  bool spill();
  bool write_file(std::string_view bytes);

  SpoolSpace& space_;
  std::uint64_t limit_;
  std::uint64_t size_ = 0;
  /// Taken from the space for this body.
  std::uint64_t memory_ = 0;
  std::uint64_t in_files_ = 0;
  net::Buffer buffer_;
  net::Fd file_;
};

}  // namespace edge::runtime
