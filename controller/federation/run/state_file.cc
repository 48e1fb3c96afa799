#include "controller/federation/run/state_file.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/os/file.h"

namespace edge::federation {
namespace {

constexpr std::string_view kFirstLine = "edge federation state 1\n";
constexpr std::uint64_t kChecksumSeed = 0x57a7ef11e;
constexpr std::size_t kHeader = 12;
/// Fewer bytes of changes are not worth a new file.
constexpr std::uint64_t kLeastChanges = std::uint64_t{4} << 20;

Error disk_error(const std::string& path) {
  const int code = errno;
  const ErrorCode kind = code == ENOSPC || code == EDQUOT ? ErrorCode::kResourceExhausted : ErrorCode::kUnavailable;
  return {kind, path + ": " + std::strerror(code)};
}

template <typename Number>
void put_number(std::string& out, Number number) {
  for (std::size_t i = 0; i < sizeof number; ++i) out += static_cast<char>(number >> (8 * i) & 0xff);
}
template <typename Number>
Number number_at(std::string_view bytes) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) {
    number |= static_cast<Number>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return number;
}

std::string framed(const std::string& record) {
  std::string out;
  out.reserve(kHeader + record.size());
  put_number(out, static_cast<std::uint32_t>(record.size()));
  put_number(out, hash_bytes(kChecksumSeed, record));
  return out += record;
}

Status write_all(const net::Fd& file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return disk_error(path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

/// Fewer only at the end of the file.
Result<std::string> read_some(const net::Fd& file, std::size_t size, const std::string& path) {
  std::string bytes(size, '\0');
  std::size_t got = 0;
  while (got < size) {
    const ssize_t more = ::read(file.get(), bytes.data() + got, size - got);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return disk_error(path);
    if (more == 0) break;
    got += static_cast<std::size_t>(more);
  }
  bytes.resize(got);
  return bytes;
}

Status sync_directory(const std::string& path) {
  const net::Fd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid() || ::fsync(directory.get()) != 0) return disk_error(path);
  return {};
}

ClusterState empty_state(const std::string& cluster, const Signatures& signatures) {
  return ClusterState(Replica(cluster, {}, signatures));
}

/// Reads records as far as they are whole. `good`: how many bytes of the file are.
Status read_records(const net::Fd& file, const std::string& path, ClusterState& state, std::uint64_t& good) {
  for (;;) {
    auto header = read_some(file, kHeader, path);
    if (!header) return header.error();
    if (header->size() < kHeader) return {};
    const auto size = number_at<std::uint32_t>(*header);
    const auto checksum = number_at<std::uint64_t>(std::string_view(*header).substr(4));
    if (size > StateFile::kMostRecord) return {};
    auto record = read_some(file, size, path);
    if (!record) return record.error();
    if (record->size() < size || hash_bytes(kChecksumSeed, *record) != checksum) return {};
    if (Status status = apply_record(*record, state); !status) return status;
    good += kHeader + size;
  }
}

}  // namespace

Status StateFile::lock() {
  const std::string path = directory_ + "/lock";
  lock_ = net::Fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock_.valid()) return disk_error(path);
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return Error{ErrorCode::kUnavailable, path + ": another process has the state"};
    return disk_error(path);
  }
  return {};
}

Result<StateFile::Opened> StateFile::open(const std::string& directory, const std::string& cluster,
                                          Signatures signatures, const Logger& log) {
  std::unique_ptr<StateFile> file(new StateFile(directory));
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return disk_error(directory);
  if (Status status = file->lock(); !status) return status.error();
  bool is_new = false;
  auto state = file->read(cluster, signatures, log, is_new);
  if (!state) return state.error();
  // Written whole at each start: what was cut off is gone from the file, too.
  if (Status status = file->rewrite(*state); !status) return status.error();
  return Opened{std::move(file), std::move(*state), is_new};
}

Result<ClusterState> StateFile::read(const std::string& cluster, const Signatures& signatures, const Logger& log,
                                     bool& is_new) {
  const net::Fd file(::open(path().c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) {
    if (errno != ENOENT) return disk_error(path());
    is_new = true;
    return empty_state(cluster, signatures);
  }
  auto first = read_some(file, kFirstLine.size(), path());
  if (!first) return first.error();
  Status status;
  ClusterState state = empty_state(cluster, signatures);
  std::uint64_t good = first->size();
  if (*first == kFirstLine) {
    status = read_records(file, path(), state, good);
    if (!status && status.error().code != ErrorCode::kDataLoss) return status.error();
  } else {
    status = Error{ErrorCode::kDataLoss, "it does not begin as one"};
  }
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0) return disk_error(path());
  if (status && good == kFirstLine.size()) status = Error{ErrorCode::kDataLoss, "it has no record that is whole"};
  if (status) {
    const std::uint64_t cut = static_cast<std::uint64_t>(facts.st_size) - good;
    if (cut > 0)
      log.warn("the end of the federation's state is no whole record, and is dropped",
               {{"bytes", std::to_string(cut)}});
    finish_reading(state);
    return state;
  }
  auto aside = set_aside(path());
  if (!aside) return aside.error();
  log.error("the federation's state cannot be read: it begins anew, and takes from its peers what they have",
            {{"reason", status.error().text}, {"kept_as", *aside}});
  is_new = true;
  return empty_state(cluster, signatures);
}

Status StateFile::rewrite(ClusterState& state) {
  const std::string fresh = directory_ + "/state.new";
  net::Fd file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file.valid()) return disk_error(fresh);
  std::uint64_t bytes = kFirstLine.size();
  if (Status status = write_all(file, kFirstLine, fresh); !status) return status;
  Status status = records_.dump(state, [&](const std::string& record) {
    bytes += kHeader + record.size();
    return write_all(file, framed(record), fresh);
  });
  if (!status) return status;
  if (::fsync(file.get()) != 0) return disk_error(fresh);
  if (::rename(fresh.c_str(), path().c_str()) != 0) return disk_error(path());
  if (Status synced = sync_directory(directory_); !synced) return synced;
  file_ = std::move(file);
  bytes_ = dumped_ = bytes;
  return {};
}

Status StateFile::save(ClusterState& state) {
  if (bytes_ - dumped_ > std::max(kLeastChanges, dumped_)) return rewrite(state);
  const std::string record = records_.take(state);
  if (record.empty()) return {};
  if (record.size() > kMostRecord) return rewrite(state);
  if (Status status = write_all(file_, framed(record), path()); !status) return status;
  if (::fdatasync(file_.get()) != 0) return disk_error(path());
  bytes_ += kHeader + record.size();
  return {};
}

}  // namespace edge::federation
