#include "base/text/json_sax.h"

namespace edge {

bool parse_events(std::string_view text, nlohmann::json_sax<nlohmann::json>& events) {
  return nlohmann::json::sax_parse(text.begin(), text.end(), &events);
}

}  // namespace edge
