// The answer to one request from a stored response: all of it, one or several ranges, or 304.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "net/http1/write.h"
#include "runtime/shape/cache/entry.h"

namespace edge::runtime::cache {

/// The body of an answer: ranges of the stored body, with the text of multipart/byteranges between them.
class AnswerBody {
 public:
  struct Part {
    std::string text;  ///< precedes the bytes
    std::uint64_t first = 0;
    std::uint64_t size = 0;
  };

  void add(Part part) {
    size_ += part.text.size() + part.size;
    parts_.push_back(std::move(part));
  }
  std::uint64_t size() const { return size_; }
  const std::vector<Part>& parts() const { return parts_; }
  /// Returns the contiguous bytes from `at` on; empty at the end, and where `stored` has not grown that far.
  std::string_view read(const Body& stored, std::uint64_t at) const;
  /// Returns the position in the stored body of byte `at` of the answer. Precondition: it is not a byte of a part's
  /// `text`.
  std::uint64_t stored_at(std::uint64_t at) const;

 private:
  std::vector<Part> parts_;
  std::uint64_t size_ = 0;
};

/// Writes the head of the answer to `request`, to the empty line: as stored, 304, 206 or 416. Omits the fields that
/// every answer is given anew (Connection, Via).
AnswerBody write_answer(const Entry& entry, const Request& request, Seconds now, net::http1::HeadWriter& out);

}  // namespace edge::runtime::cache
