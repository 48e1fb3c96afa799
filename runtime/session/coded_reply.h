// Bodies of the program that the proxy answers with (FixedResponse, Maintenance, ErrorPages), compressed where the
// gateway compresses responses and the client takes it (rule D6).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/shape/response_rules.h"
#include "runtime/shape/worker_parts.h"

namespace edge::runtime {

/// What was compressed, of one program on one thread: a body is compressed once for each coding, up to a bound for all.
class CodedBodies {
 public:
  /// Bytes of all bodies that are kept; others are compressed for each answer.
  static constexpr std::size_t kMostKept = std::size_t{1} << 20;

  /// `body` is the program's. Returns a view of what is kept, or of `room`; empty: it failed.
  std::string_view encode(std::string_view body, program::ContentCoding coding, Encoder& encoder, std::string& room);

 private:
  std::map<std::pair<const char*, program::ContentCoding>, std::string> kept_;
  std::size_t bytes_ = 0;
};

struct CodedReply {
  std::string head;
  std::string room;
  std::string_view body;  ///< in `room` or `CodedBodies`; empty for HEAD
};

/// Makes the reply with `body`, which is the program's, as the gateway compresses it. `head` is its head, complete.
/// Overwrites the thread's scratch response. \returns false: it is sent as it is.
bool code_reply(std::string_view head, std::string_view body, const ResponseRules& rules, const WorkerParts& worker,
                CodedBodies& bodies, CodedReply& coded);

}  // namespace edge::runtime
