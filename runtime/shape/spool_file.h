// The part of a held body that lies in a file, or is on its way there. The file has no name, so that it is gone with
// its descriptor; it is opened, written, read and closed on the thread for files, never on a loop's.
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

  // Of the owner's thread.

  /// At the end of what is there. \returns false when the file can take no more.
  bool append(std::string block);
  /// Of what was appended, written or not.
  std::uint64_t size() const { return size_; }
  /// As much as may be waits to be written: who fills the body had better wait.
  bool backlogged() const;
  /// False when it is not backlogged any more; else `wake` is called once when that may have changed, from any thread.
  bool await_room(const std::function<void()>& wake);
  /// As BodySource. Good until the next read.
  std::string_view read(std::uint64_t at, std::span<char> scratch);
  BodySource::More await(std::uint64_t at, const std::function<void()>& wake);
  /// Nobody reads it any more.
  void abandon();

 private:
  using Block = std::shared_ptr<const std::string>;

  // Of the thread for files.
  void write_next();
  bool write(std::string_view bytes, std::uint64_t at) const;
  void fetch(std::uint64_t at, std::uint64_t size);

  SpoolSpace& space_;
  std::uint64_t size_ = 0;
  /// What the last read gave a view of.
  Block lent_;

  mutable std::mutex mutex_;
  net::Fd file_;
  std::uint64_t written_ = 0;
  /// From `written_` on: on their way, or staying, where the file failed.
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
