#include "compiler/emit/regex_protocol.h"

#include <cstring>

namespace edge::compiler::emit {

void append_u32(std::string& out, std::uint32_t value) {
  char bytes[4];
  std::memcpy(bytes, &value, 4);
  out.append(bytes, 4);
}

std::uint32_t read_u32(const char* bytes) {
  std::uint32_t value;
  std::memcpy(&value, bytes, 4);
  return value;
}

std::string encode_patterns(const std::vector<std::string>& patterns) {
  std::string frame;
  append_u32(frame, static_cast<std::uint32_t>(patterns.size()));
  for (const std::string& pattern : patterns) {
    append_u32(frame, static_cast<std::uint32_t>(pattern.size()));
    frame += pattern;
  }
  return frame;
}

std::optional<std::vector<std::string>> decode_patterns(std::string_view frame) {
  if (frame.size() < 4) return std::nullopt;
  const std::uint32_t count = read_u32(frame.data());
  frame.remove_prefix(4);
  if (count > frame.size() / 4) return std::nullopt;
  std::vector<std::string> patterns;
  patterns.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (frame.size() < 4) return std::nullopt;
    const std::uint32_t size = read_u32(frame.data());
    frame.remove_prefix(4);
    if (size > frame.size()) return std::nullopt;
    patterns.emplace_back(frame.substr(0, size));
    frame.remove_prefix(size);
  }
  if (!frame.empty()) return std::nullopt;
  return patterns;
}

std::string encode_fault(RegexReply kind, std::uint32_t pattern, std::string_view message) {
  std::string frame(1, static_cast<char>(kind));
  append_u32(frame, pattern);
  frame += message.substr(0, 4096);
  return frame;
}

std::optional<RegexAnswer> decode_answer(std::string_view frame) {
  if (frame.empty()) return std::nullopt;
  RegexAnswer answer;
  answer.kind = static_cast<RegexReply>(frame.front());
  frame.remove_prefix(1);
  if (answer.kind == RegexReply::kDatabase) {
    answer.bytes = frame;
    return answer;
  }
  if ((answer.kind != RegexReply::kPatternFault && answer.kind != RegexReply::kSetFault) || frame.size() < 4) {
    return std::nullopt;
  }
  answer.pattern = read_u32(frame.data());
  answer.bytes = frame.substr(4);
  return answer;
}

}  // namespace edge::compiler::emit
