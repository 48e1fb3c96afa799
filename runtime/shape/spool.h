// A buffered body (rule D7): in memory while it is small, else in a file (spool_file.h).
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
  /// Of one body in memory; the rest goes to the file.
  std::uint64_t memory_each = std::uint64_t{1} << 20;
  /// Of all bodies of the process together. A body that finds no memory goes to its file at once; one that finds no
  /// file space cannot be buffered.
  std::uint64_t memory_all = std::uint64_t{256} << 20;
  std::uint64_t files_all = std::uint64_t{4} << 30;
  /// Bytes not yet written to the disk, of one body and of all; beyond it the receiver of a body waits.
  std::uint64_t writing_each = std::uint64_t{1} << 20;
  std::uint64_t writing_all = std::uint64_t{64} << 20;
};

/// The memory, files and disk thread that all spools of a process share. Threads: any.
class SpoolSpace {
 public:
  /// Empty directory: `TMPDIR` of the environment, else /tmp.
  explicit SpoolSpace(std::string directory = {}, const SpoolLimits& limits = {});

  const SpoolLimits& limits() const { return limits_; }
  /// Opens an unnamed file; invalid when that fails. May block on the disk.
  net::Fd open_file() const;
  /// The thread for work that may block on the disk.
  DiskThread& disk() { return disk_; }
  std::uint64_t memory_used() const { return memory_.load(std::memory_order_relaxed); }
  std::uint64_t files_used() const { return files_.load(std::memory_order_relaxed); }
  /// Returns the bytes that are still in memory though they count as in files.
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
  /// Declared last, so that it is destroyed first.
  DiskThread disk_;
};

/// Written once from front to back, then read as often as needed. Used by one thread; never blocks on a disk.
class Spool final : public BodySource {
 public:
  enum class Put : std::uint8_t {
    kTaken,
    kTooLarge,  ///< filled up to the limit, the rest was dropped
    kFailed,    ///< no memory, or no file; the spool is unusable
  };

  /// `limit` in bytes, 0: only the limits of the space apply.
  Spool(SpoolSpace& space, std::uint64_t limit) : space_(space), limit_(limit) {}
  ~Spool() override;
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  Put append(std::string_view bytes);
  /// Whether the disk is behind: nothing more should be appended until it has caught up.
  bool backlogged() const { return in_file() && file_->backlogged(); }
  /// Returns false when the disk is not behind any more; else calls `wake` once when that may have changed, from any
  /// thread.
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
  /// Bytes reserved in the space for this body.
  std::uint64_t memory_ = 0;
  std::uint64_t in_files_ = 0;
  /// All of the body, or what follows the file's part.
  net::Buffer buffer_;
  std::shared_ptr<SpoolFile> file_;
};

}  // namespace edge::runtime
