#include "tests/reference/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace edge::reference {

Pattern::Pattern(const std::string& pattern) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), PCRE2_DOLLAR_ENDONLY,
                                   &error, &offset, nullptr);
  if (code != nullptr)
    code_ = std::shared_ptr<void>(code, [](void* c) { pcre2_code_free(static_cast<pcre2_code*>(c)); });
}

bool Pattern::found_in(std::string_view subject) const {
  const auto* code = static_cast<const pcre2_code*>(code_.get());
  pcre2_match_data* data = pcre2_match_data_create(1, nullptr);
  const int result =
      pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(subject.data()), subject.size(), 0, 0, data, nullptr);
  pcre2_match_data_free(data);
  return result >= 0;
}

}  // namespace edge::reference
