#include "compiler/cache/disk_cache.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/owned.h"
#include "program/sha256.h"

namespace edge::compiler {
namespace {

/// Precedes the value in every file. The version changes when this header does; the key covers the inputs of the value.
struct EntryHeader {
  char magic[8];
  std::uint64_t size;
  std::uint8_t key[32];
  std::uint8_t value_hash[32];
};
static_assert(sizeof(EntryHeader) == 80);
constexpr char kMagic[8] = {'e', 'd', 'g', 'e', 'k', 'e', 'p', '1'};

/// A temporary file this old was left by a process that died.
constexpr std::time_t kAbandonedSeconds = 3600;
constexpr std::string_view kTemporary = "tmp-";

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

bool read_all(int file, void* to, std::size_t size) {
  auto* at = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t n = ::read(file, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

bool write_all(int file, const void* from, std::size_t size) {
  const auto* at = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t n = ::write(file, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

Error refusal(ErrorCode code, const std::string& directory, const std::string& why) {
  return {code, "the cache directory " + directory + " is not used: " + why};
}

Status make_directories(const std::string& directory) {
  std::error_code fault;
  for (std::filesystem::path path; const auto& part : std::filesystem::absolute(directory, fault)) {
    path /= part;
    if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST || path == "/") continue;
    return refusal(ErrorCode::kUnavailable, directory, path.string() + ": " + std::strerror(errno));
  }
  if (fault) return refusal(ErrorCode::kUnavailable, directory, fault.message());
  return {};
}

struct Kept {
  std::string name;
  std::uint64_t size;
  timespec used;
};

bool used_before(const Kept& a, const Kept& b) {
  return std::tie(a.used.tv_sec, a.used.tv_nsec, a.name) < std::tie(b.used.tv_sec, b.used.tv_nsec, b.name);
}

/// Everything in the directory, less what was left half-written, which is removed.
std::vector<Kept> list(int directory) {
  std::vector<Kept> entries;
  const int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return entries;
  const Owned<DIR, closedir> stream(fdopendir(copy));
  if (stream == nullptr) {
    close(copy);
    return entries;
  }
  while (const dirent* entry = readdir(stream.get())) {  // NOLINT(concurrency-mt-unsafe): a stream of our own
    const std::string_view name = entry->d_name;
    struct stat status{};
    if (name == "." || name == ".." || fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (name.starts_with(kTemporary)) {
      if (status.st_mtim.tv_sec + kAbandonedSeconds < std::time(nullptr)) unlinkat(directory, entry->d_name, 0);
      continue;
    }
    if (S_ISREG(status.st_mode)) {
      entries.push_back({std::string(name), static_cast<std::uint64_t>(status.st_size), status.st_mtim});
    }
  }
  return entries;
}

}  // namespace

Result<DiskCache> DiskCache::open(const std::string& directory, std::uint64_t max_bytes) {
  if (Status made = make_directories(directory); !made) return made.error();
  File opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!opened) return refusal(ErrorCode::kUnavailable, directory, std::strerror(errno));
  struct stat status{};
  if (fstat(opened.get(), &status) != 0) return refusal(ErrorCode::kUnavailable, directory, std::strerror(errno));
  if (status.st_uid != geteuid()) return refusal(ErrorCode::kPermissionDenied, directory, "it belongs to another user");
  if ((status.st_mode & 077) != 0) {
    return refusal(ErrorCode::kPermissionDenied, directory, "others may enter it; `chmod 700` it");
  }
  DiskCache cache(fcntl(opened.get(), F_DUPFD_CLOEXEC, 3), max_bytes);
  if (cache.directory_ < 0) return refusal(ErrorCode::kUnavailable, directory, std::strerror(errno));
  cache.make_room();
  return cache;
}

DiskCache::DiskCache(int directory, std::uint64_t max_bytes) : directory_(directory), max_bytes_(max_bytes) {}

DiskCache::DiskCache(DiskCache&& other) noexcept
    : directory_(std::exchange(other.directory_, -1)),
      max_bytes_(other.max_bytes_),
      used_(other.used_),
      written_(other.written_) {}

DiskCache& DiskCache::operator=(DiskCache&& other) noexcept {
  std::swap(directory_, other.directory_);
  max_bytes_ = other.max_bytes_;
  used_ = other.used_;
  written_ = other.written_;
  return *this;
}

DiskCache::~DiskCache() {
  if (directory_ >= 0) close(directory_);
}

std::optional<std::vector<std::byte>> DiskCache::find(const program::Hash& key) {
  const std::string name = program::to_hex(key);
  // O_NONBLOCK: a pipe in the place of an entry must not be waited for.
  const File file(openat(directory_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) return std::nullopt;
  auto value = read(file.get(), key);
  if (value) {
    futimens(file.get(), nullptr);
  } else {
    unlinkat(directory_, name.c_str(), 0);
  }
  return value;
}

/// The value of an open entry, when it is to be believed. It is read once and checked in memory: what another process
/// does to the file meanwhile does not matter.
std::optional<std::vector<std::byte>> DiskCache::read(int file, const program::Hash& key) const {
  struct stat status{};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid()) return std::nullopt;
  if ((status.st_mode & 022) != 0) return std::nullopt;
  EntryHeader header;
  if (!read_all(file, &header, sizeof header) || std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 ||
      std::memcmp(header.key, key.data(), key.size()) != 0 || header.size > max_bytes_ ||
      header.size + sizeof header != static_cast<std::uint64_t>(status.st_size)) {
    return std::nullopt;
  }
  std::vector<std::byte> value(header.size);
  if (!read_all(file, value.data(), value.size())) return std::nullopt;
  const program::Hash hash = program::sha256(value);
  if (std::memcmp(header.value_hash, hash.data(), hash.size()) != 0) return std::nullopt;
  return value;
}

void DiskCache::put(const program::Hash& key, std::span<const std::byte> value) {
  // One entry must not push out all others.
  if (value.size() > max_bytes_ / 4) return;
  const std::string name = std::string(kTemporary) + std::to_string(getpid()) + "-" + std::to_string(written_++);
  if (!write(name, key, value) || renameat(directory_, name.c_str(), directory_, program::to_hex(key).c_str()) != 0) {
    unlinkat(directory_, name.c_str(), 0);
    return;
  }
  used_ += sizeof(EntryHeader) + value.size();
  if (used_ > max_bytes_) make_room();
}

bool DiskCache::write(const std::string& name, const program::Hash& key, std::span<const std::byte> value) const {
  const File file(openat(directory_, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return false;
  EntryHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.size = value.size();
  std::memcpy(header.key, key.data(), key.size());
  const program::Hash hash = program::sha256(value);
  std::memcpy(header.value_hash, hash.data(), hash.size());
  // Not synced: an entry that a power cut tears fails its hash.
  return write_all(file.get(), &header, sizeof header) && write_all(file.get(), value.data(), value.size());
}

/// Counts what is there and, when that is too much, removes what was not used for longest until a quarter is free.
void DiskCache::make_room() {
  std::vector<Kept> entries = list(directory_);
  used_ = 0;
  for (const Kept& entry : entries) used_ += entry.size;
  if (used_ <= max_bytes_) return;
  std::ranges::sort(entries, used_before);
  for (const Kept& entry : entries) {
    if (used_ <= max_bytes_ / 4 * 3) break;
    if (unlinkat(directory_, entry.name.c_str(), 0) == 0 || errno == ENOENT) used_ -= entry.size;
  }
}

}  // namespace edge::compiler
