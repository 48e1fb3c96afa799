#include "net/tls/certificate_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "net/socket.h"
#include "net/tls/certificate.h"

namespace edge::net::tls {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
/// Times of files are as coarse as two seconds (FAT): two writes within one such step leave the same stamp.
constexpr std::int64_t kCoarsest = 2 * kSecond;

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }

std::int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return nanoseconds(time);
}

std::string real_path(const std::string& path) {
  char* const resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return {};
  std::string text(resolved);
  std::free(resolved);
  return text;
}

/// Where an open file is, whatever its path meant when it was opened.
std::string path_of(int descriptor) {
  std::string path(PATH_MAX, '\0');
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
  path.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  return path;
}

bool is_below(const std::string& path, const std::string& directory) {
  if (directory == "/") return path.starts_with('/');
  return path.starts_with(directory) && path.size() > directory.size() && path[directory.size()] == '/';
}

Error failed(const std::string& path, int code) {
  return {code == ENOENT ? ErrorCode::kNotFound : ErrorCode::kPermissionDenied,
          path + ": " + std::generic_category().message(code)};
}

}  // namespace

CertificateFiles::CertificateFiles(std::vector<std::string> directories) : directories_(std::move(directories)) {}

Result<std::shared_ptr<const std::string>> CertificateFiles::read_file(const std::string& path) const {
  // A FIFO without a writer would be waited for.
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) return failed(path, errno);
  struct stat found{};
  if (::fstat(file.get(), &found) != 0) return failed(path, errno);
  if (!S_ISREG(found.st_mode)) return Error{ErrorCode::kInvalidArgument, path + ": is no file"};
  const std::string file_path = path_of(file.get());
  const bool allowed = std::ranges::any_of(directories_, [&](const std::string& directory) {
    const std::string real = real_path(directory);
    return !real.empty() && is_below(file_path, real);
  });
  if (!allowed) {
    return Error{ErrorCode::kPermissionDenied,
                 path + ": leads to " + file_path + ", below no directory of --tls-files"};
  }
  std::string text;
  for (char part[16 * 1024];;) {
    const ssize_t count = ::read(file.get(), part, sizeof(part));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(path, errno);
    if (count == 0) break;
    text.append(part, static_cast<std::size_t>(count));
    if (text.size() > kMaxPemBytes) return Error{ErrorCode::kResourceExhausted, path + ": has more than 1 MiB"};
  }
  return std::make_shared<const std::string>(std::move(text));
}

CertificateFiles::Stamp CertificateFiles::stamp_of(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return {};
  return {.device = found.st_dev,
          .inode = found.st_ino,
          .size = static_cast<std::uint64_t>(found.st_size),
          .changed = nanoseconds(found.st_ctim),
          .modified = nanoseconds(found.st_mtim)};
}

void CertificateFiles::follow(const std::set<Names>& pairs) {
  std::erase_if(pairs_, [&](const auto& entry) { return !pairs.contains(entry.first); });
  bool too_many = false;
  for (const Names& names : pairs) {
    if (pairs_.contains(names)) continue;
    if (pairs_.size() == kMostPairs) {
      too_many = true;
      break;
    }
    read(names, pairs_[names]);
  }
  if (too_many && !too_many_) {
    tell(true, "more than " + std::to_string(kMostPairs) + " pairs of files are named: the last of them are not read");
  }
  too_many_ = too_many;
}

bool CertificateFiles::look() {
  bool changed = false;
  for (auto& [names, followed] : pairs_) {
    const bool same =
        followed.settled && followed.certificate == stamp_of(names.certificate) && followed.key == stamp_of(names.key);
    const bool faulty = !followed.fault.empty();
    if (!same) changed |= read(names, followed);
    // Of two files that are written one after the other, the first is there without the second for a moment: a fault
    // is told when it is there at two looks.
    if (faulty && !followed.fault.empty() && !std::exchange(followed.reported, true)) {
      tell(true, followed.fault + "; the certificate that was read before stays in use");
    }
  }
  return changed;
}

/// \returns whether the pair is another than before.
bool CertificateFiles::read(const Names& names, Followed& followed) {
  // Before the files: what changes while they are read is then seen by the next look.
  const std::int64_t began = now();
  followed.certificate = stamp_of(names.certificate);
  followed.key = stamp_of(names.key);
  followed.settled = true;
  for (const Stamp* stamp : {&followed.certificate, &followed.key}) {
    followed.settled &= std::max(stamp->changed, stamp->modified) + kCoarsest < began;
  }
  auto certificate = read_file(names.certificate);
  auto key = certificate ? read_file(names.key) : Result<std::shared_ptr<const std::string>>(certificate.error());
  if (!key) {
    note_fault(followed, "the certificate cannot be read: " + key.error().text);
    return false;
  }
  const bool same = followed.pair.certificate != nullptr && *followed.pair.certificate == **certificate &&
                    *followed.pair.key == **key;
  if (!same) {
    if (const auto usable = Certificate::read(**certificate, **key); !usable) {
      note_fault(followed, "the certificate of the file " + names.certificate + " with the key of " + names.key +
                               " cannot be used: " + usable.error().text);
      return false;
    }
  }
  const bool first = followed.pair.certificate == nullptr;
  if (followed.reported) {
    tell(false, "the certificate of the file " + names.certificate + " can be used again");
  } else if (!same && !first) {
    tell(false, "the certificate of the file " + names.certificate + " was replaced");
  }
  followed.fault.clear();
  followed.reported = false;
  if (!same) followed.pair = {*certificate, *key};
  return !same;
}

void CertificateFiles::note_fault(Followed& followed, std::string fault) {
  const bool none = followed.pair.certificate == nullptr;
  const bool begins = followed.fault.empty();
  followed.fault = std::move(fault);
  if (none && begins) {
    followed.reported = true;
    tell(true, followed.fault + "; handshakes for names that no other certificate has are refused");
  }
}

const CertificateFiles::Pair* CertificateFiles::find(const Names& names) const {
  const auto found = pairs_.find(names);
  return found == pairs_.end() || found->second.pair.certificate == nullptr ? nullptr : &found->second.pair;
}

}  // namespace edge::net::tls
