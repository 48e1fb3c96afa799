#include "controller/resource_api/storage/wal_check.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <span>
#include <vector>

namespace edge::resource_api {
namespace {

constexpr std::size_t kHeaderBytes = 32;
constexpr std::size_t kFrameHeaderBytes = 24;
constexpr std::uint32_t kMagic = 0x377f0682;  ///< the lowest bit: checksums are of big-endian words
constexpr std::uint32_t kSmallestPage = 512;
constexpr std::uint32_t kLargestPage = 65536;

using Bytes = std::span<const unsigned char>;

std::uint32_t big_endian(Bytes bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}
std::uint32_t little_endian(Bytes bytes) {
  return std::uint32_t{bytes[3]} << 24 | std::uint32_t{bytes[2]} << 16 | std::uint32_t{bytes[1]} << 8 | bytes[0];
}

class Checksum {
 public:
  explicit Checksum(bool big) : big_(big) {}
  /// A multiple of eight bytes.
  void add(Bytes bytes) {
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      first_ += word(bytes.subspan(at)) + second_;
      second_ += word(bytes.subspan(at + 4)) + first_;
    }
  }
  bool is(Bytes stored) const { return first_ == big_endian(stored) && second_ == big_endian(stored.subspan(4)); }

 private:
  std::uint32_t word(Bytes bytes) const { return big_ ? big_endian(bytes) : little_endian(bytes); }
  bool big_;
  std::uint32_t first_ = 0;
  std::uint32_t second_ = 0;
};

bool fill(std::ifstream& file, std::span<unsigned char> into) {
  return static_cast<bool>(file.read(reinterpret_cast<char*>(into.data()), std::ssize(into)));
}

}  // namespace

Result<WalLoss> check_wal(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    if (errno == ENOENT) return WalLoss{};
    return Error{ErrorCode::kUnavailable, path + ": " + std::strerror(errno)};
  }
  std::array<unsigned char, kHeaderBytes> header{};
  // One that was not begun, or whose beginning is not whole: SQLite takes nothing from it, and cannot tell either.
  if (!fill(file, header) || (big_endian(header) & ~1U) != kMagic) return WalLoss{};
  const std::uint32_t page_bytes = big_endian(Bytes(header).subspan(8));
  if (page_bytes < kSmallestPage || page_bytes > kLargestPage || page_bytes % 8 != 0) return WalLoss{};
  Checksum checksum((big_endian(header) & 1) != 0);
  checksum.add(Bytes(header).first(24));
  bool sound = checksum.is(Bytes(header).subspan(24));
  WalLoss loss;
  std::array<unsigned char, kFrameHeaderBytes> frame{};
  std::vector<unsigned char> page(page_bytes);
  while (fill(file, frame) && fill(file, page)) {
    // Frames of the log before this one, which began anew, have other salts.
    const bool ours = std::memcmp(frame.data() + 8, header.data() + 16, 8) == 0;
    if (sound) {
      checksum.add(Bytes(frame).first(8));
      checksum.add(page);
      sound = ours && checksum.is(Bytes(frame).subspan(16));
    }
    const bool commits = ours && big_endian(Bytes(frame).subspan(4)) != 0;
    if (commits) ++(sound ? loss.kept : loss.lost);
  }
  return loss;
}

}  // namespace edge::resource_api
