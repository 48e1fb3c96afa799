// The part of a buffered body that is in a file, or queued to be written. The file is unnamed, so that it is removed
// with its descriptor; it is opened, written, read and closed on the disk thread, never on an event loop's.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "net/socket.h"
#include "runtime/shape/body_source.h"

namespace edge::runtime {

class SpoolSpace;

class SpoolFile : public std::enable_shared_from_this<SpoolFile> {
 public:
  explicit SpoolFile(SpoolSpace& space) : space_(space) {}
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;
  ~SpoolFile();

  // For the owner's thread.

  /// Appends a block. \returns false when the file cannot take more.
  bool append(std::string block);
  /// Returns the bytes appended, written or not.
  std::uint64_t size() const { return size_; }
  /// Whether the limit of unwritten bytes is reached: the receiver of the body should wait.
  bool backlogged() const;
  /// Returns false when it is not backlogged any more; else calls `wake` once when that may have changed, from any
  /// thread.
  bool await_room(const std::function<void()>& wake);
  /// As BodySource. Valid until the next read.
  std::string_view read(std::uint64_t at, std::span<char> scratch);
  BodySource::More await(std::uint64_t at, const std::function<void()>& wake);
  /// Stops all work: the body will not be read any more.
  void abandon();

 private:
  using Block = std::shared_ptr<const std::string>;

  // For the disk thread.
  void write_next();
  bool write(std::string_view bytes, std::uint64_t at) const;
  void fetch(std::uint64_t at, std::uint64_t size);

  SpoolSpace& space_;
  std::uint64_t size_ = 0;
  /// The block that the last read returned a view of.
  Block lent_;

  mutable std::mutex mutex_;
  net::Fd file_;
  std::uint64_t written_ = 0;
  /// The blocks from `written_` on: to be written, or kept here where the file failed.
  std::deque<Block> waiting_;
  std::uint64_t waiting_bytes_ = 0;
  Block fetched_;
  std::uint64_t fetched_at_ = 0;
  std::function<void()> wake_writer_;
  std::function<void()> wake_reader_;
  bool fetching_ = false;
  bool failed_ = false;
  bool abandoned_ = false;
};

}  // namespace edge::runtime
