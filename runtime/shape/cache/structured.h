// Dictionaries of structured fields (RFC 8941 §3.2, with the dates of RFC 9651), as targeted cache control has them
// (RFC 9213 §2.1). Read member by member, without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace edge::runtime::cache {

/// One member, less its parameters. Views into the text.
struct StructuredMember {
  enum class Type : std::uint8_t {
    kBoolean,  ///< also of a name that stands alone: true
    kInteger,
    kString,
    kOther,  ///< a decimal, token, date, byte sequence or inner list: of no directive
  };

  std::string_view name;
  Type type = Type::kBoolean;
  bool boolean = true;
  std::int64_t integer = 0;
  std::string_view string;  ///< between its quotes, as it came
};

class StructuredDictionary {
 public:
  explicit StructuredDictionary(std::string_view text);

  /// False at the end, and at the first fault.
  bool next(StructuredMember& out);
  /// What stood before a fault does not count either (§4.2).
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
