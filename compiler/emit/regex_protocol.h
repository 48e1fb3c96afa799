// The protocol between the compiler and its regex worker (edge-regexc): frames over one socket, each a 32-bit length
// and its bytes. Neither side trusts the other's lengths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace edge::compiler::emit {

/// A set of patterns: u32 count, then u32 size and bytes of each.
std::string encode_patterns(const std::vector<std::string>& patterns);
std::optional<std::vector<std::string>> decode_patterns(std::string_view frame);

enum class RegexReply : char { kDatabase = 'd', kPatternFault = 'p', kSetFault = 's' };

/// Reply: the kind, then the database; or u32 pattern and the message (pattern 0 for kSetFault).
struct RegexAnswer {
  RegexReply kind = RegexReply::kSetFault;
  std::uint32_t pattern = 0;
  std::string_view bytes;  ///< database or message, into the frame
};
std::string encode_fault(RegexReply kind, std::uint32_t pattern, std::string_view message);
std::optional<RegexAnswer> decode_answer(std::string_view frame);

inline constexpr std::uint32_t kMaxRequestFrame = 64 << 20;
inline constexpr std::uint32_t kMaxReplyFrame = 256 << 20;

void append_u32(std::string& out, std::uint32_t value);
std::uint32_t read_u32(const char* bytes);

}  // namespace edge::compiler::emit
