// One HTTP field as name and value views. Shared by the codecs, the matcher and the tests.
#pragma once

#include <string_view>

namespace edge {

/// Views into a message head; valid as long as the head's buffer is.
struct Field {
  std::string_view name;
  std::string_view value;
};

}  // namespace edge
