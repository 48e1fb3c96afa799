#include "base/os/file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "base/os/huge_pages.h"

namespace edge {
namespace {

/// Closes the descriptor when it goes out of scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Error system_error(const std::string& path, int number) {
  ErrorCode code = ErrorCode::kUnavailable;
  if (number == ENOENT || number == ENOTDIR) code = ErrorCode::kNotFound;
  if (number == EACCES || number == EPERM) code = ErrorCode::kPermissionDenied;
  if (number == EISDIR || number == ENAMETOOLONG || number == ELOOP) code = ErrorCode::kInvalidArgument;
  return {code, path + ": " + std::strerror(number)};
}

template <typename Bytes>
Status read_into(const std::string& path, std::size_t limit, Bytes& bytes) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return system_error(path, errno);
  constexpr std::size_t kStep = 256 * 1024;
  struct stat info{};
  if (::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
    // One allocation; what the file grows by meanwhile still fits or is read on.
    bytes.reserve(std::min(static_cast<std::size_t>(info.st_size), limit) + kStep);
    prefer_huge_pages(bytes.data(), bytes.capacity());
  }
  std::size_t size = 0;
  for (;;) {
    bytes.resize(size + kStep);
    const ssize_t got = ::read(file.get(), bytes.data() + size, kStep);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(path, errno);
    size += static_cast<std::size_t>(got);
    if (got == 0) break;
    if (size > limit) {
      return Error{ErrorCode::kResourceExhausted, path + ": larger than " + std::to_string(limit) + " bytes"};
    }
  }
  bytes.resize(size);
  return {};
}

/// A rename is in the directory: until that is on disk, the old content may come back after a crash.
Status sync_directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const Descriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // One that may be written and not read cannot be synced; some file systems know no such thing.
  if (opened.get() < 0) return errno == EACCES ? Status() : system_error(directory, errno);
  if (::fsync(opened.get()) != 0 && errno != EINVAL) return system_error(directory, errno);
  return {};
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  std::string text;
  if (Status status = read_into(path, limit, text); !status) return status.error();
  return text;
}

Result<std::vector<std::byte>> read_file_bytes(const std::string& path, std::size_t limit) {
  std::vector<std::byte> bytes;
  if (Status status = read_into(path, limit, bytes); !status) return status.error();
  return bytes;
}

Status write_file(const std::string& path, std::span<const std::byte> bytes, FileAccess access) {
  std::string beside = path + ".XXXXXX";
  const Descriptor file(::mkostemp(beside.data(), O_CLOEXEC));
  if (file.get() < 0) return system_error(path, errno);
  const auto failed = [&](int number) -> Status {
    ::unlink(beside.c_str());
    return system_error(path, number);
  };
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = ::write(file.get(), bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return failed(errno);
    done += static_cast<std::size_t>(put);
  }
  const mode_t mode = access == FileAccess::kOwnerOnly ? 0600 : 0644;
  if (::fchmod(file.get(), mode) != 0 || ::fsync(file.get()) != 0) return failed(errno);
  if (::rename(beside.c_str(), path.c_str()) != 0) return failed(errno);
  return sync_directory_of(path);
}

Status write_file(const std::string& path, std::string_view bytes, FileAccess access) {
  return write_file(path, std::as_bytes(std::span(bytes)), access);
}

Result<std::string> set_aside(const std::string& path) {
  constexpr int kMost = 100;
  std::string to = path + ".broken";
  for (int i = 2; i <= kMost && ::access(to.c_str(), F_OK) == 0; ++i) to = path + ".broken." + std::to_string(i);
  if (::rename(path.c_str(), to.c_str()) != 0) {
    return Error{ErrorCode::kUnavailable, path + ": " + std::strerror(errno)};
  }
  return to;
}

bool has_space(const std::string& directory) {
  const std::string path = directory + "/space-" + std::to_string(::getpid());
  const std::string some(std::size_t{1} << 20, '\0');
  const bool written = write_file(path, std::string_view(some), FileAccess::kOwnerOnly).ok();
  ::unlink(path.c_str());
  return written;
}

}  // namespace edge
