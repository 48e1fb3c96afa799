// A body that is held whole (rule D7): in memory while it is small, else in a file (spool_file.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/buffer.h"
#include "net/socket.h"
#include "runtime/shape/body_source.h"
#include "runtime/shape/disk_thread.h"
#include "runtime/shape/spool_file.h"

namespace edge::runtime {

struct SpoolLimits {
  /// Of one body; beyond it the file takes over.
  std::uint64_t memory_each = std::uint64_t{1} << 20;
  /// Of all bodies of the process together. Without room in memory a body goes to its file at once; without room for
  /// files it cannot be held.
  std::uint64_t memory_all = std::uint64_t{256} << 20;
  std::uint64_t files_all = std::uint64_t{4} << 30;
  /// On its way to the disk, of one body and of all; beyond it who fills a body waits.
  std::uint64_t writing_each = std::uint64_t{1} << 20;
  std::uint64_t writing_all = std::uint64_t{64} << 20;
};

/// What the spools of a process share. Any thread may call.
class SpoolSpace {
 public:
  /// Empty directory: the one of the environment (`TMPDIR`), else /tmp.
  explicit SpoolSpace(std::string directory = {}, const SpoolLimits& limits = {});

  const SpoolLimits& limits() const { return limits_; }
  /// A file without a name; invalid when none can be made. May wait for the disk.
  net::Fd open_file() const;
  /// Work that may wait for it.
  DiskThread& disk() { return disk_; }
  std::uint64_t memory_used() const { return memory_.load(std::memory_order_relaxed); }
  std::uint64_t files_used() const { return files_.load(std::memory_order_relaxed); }
  /// In memory still, though it belongs to files.
  std::uint64_t writing() const { return writing_.load(std::memory_order_relaxed); }

 private:
  friend class Spool;
  friend class SpoolFile;
  static bool take(std::atomic<std::uint64_t>& used, std::uint64_t size, std::uint64_t most);

  std::string directory_;
  SpoolLimits limits_;
  std::atomic<std::uint64_t> memory_{0};
  std::atomic<std::uint64_t> files_{0};
  std::atomic<std::uint64_t> writing_{0};
  /// The last, so that it ends first.
  DiskThread disk_;
};

/// Written once from front to back, then read as often as needed. Of one thread; never waits for a disk.
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
  /// The disk is behind: no more should be appended before it has caught up.
  bool backlogged() const { return in_file() && file_->backlogged(); }
  /// False when it is not, any more; else `wake` is called once when that may have changed, from any thread.
  bool await_room(const std::function<void()>& wake) { return in_file() && file_->await_room(wake); }
  std::uint64_t size() const override { return size_; }
  std::string_view read(std::uint64_t at, std::span<char> scratch) override;
  More await(std::uint64_t at, const std::function<void()>& wake) override;
  bool in_file() const { return file_ != nullptr; }

 private:
  bool reserve_memory(std::uint64_t size);
  bool append_to_file(std::string_view bytes);
  bool reserve_file(std::uint64_t size);
  void give_back_memory();

  SpoolSpace& space_;
  std::uint64_t limit_;
  std::uint64_t size_ = 0;
  /// Taken from the space for this body.
  std::uint64_t memory_ = 0;
  std::uint64_t in_files_ = 0;
  /// All of it, or what follows the file's part.
  net::Buffer buffer_;
  std::shared_ptr<SpoolFile> file_;
};

}  // namespace edge::runtime
