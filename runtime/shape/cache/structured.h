// Dictionaries of structured fields (RFC 8941 §3.2, with the dates of RFC 9651), as used by targeted cache control (RFC
// 9213 §2.1). Parsed member by member, without copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace edge::runtime::cache {

/// One member, without its parameters. Views into the text.
struct StructuredMember {
  enum class Type : std::uint8_t {
    kBoolean,  ///< also for a key without a value: true
    kInteger,
    kString,
    kOther,  ///< a decimal, token, date, byte sequence or inner list: no directive has these
  };

  std::string_view name;
  Type type = Type::kBoolean;
  bool boolean = true;
  std::int64_t integer = 0;
  std::string_view string;  ///< between its quotes, escapes included
};

class StructuredDictionary {
 public:
  explicit StructuredDictionary(std::string_view text);

  /// Reads the next member. False at the end, and at the first syntax error.
  bool next(StructuredMember& out);
  /// Whether a syntax error was found: members before it do not count either (§4.2).
  bool failed() const { return failed_; }

 private:
  bool fault();
  bool at(char c) const { return !rest_.empty() && rest_.front() == c; }
  bool take(char c);
  std::string_view take_while(bool (*of)(char));
  bool key(std::string_view& out);
  bool item(StructuredMember& out);
  bool inner_list();
  bool bare_item(StructuredMember& out);
  bool number(StructuredMember& out);
  bool string(StructuredMember& out);
  bool parameters();

  std::string_view rest_;
  bool failed_ = false;
  bool begun_ = false;
};

}  // namespace edge::runtime::cache
