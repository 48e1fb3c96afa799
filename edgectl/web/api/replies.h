// JSON replies of the API.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "net/server/message.h"

namespace edge::edgectl::web {

net::server::Reply json_reply(std::string json);
/// `{"error": text}`
std::string error_text(std::string_view text);
net::server::Reply error_reply(int status, std::string_view text);
/// Status by the error's code.
net::server::Reply error_reply(const Error& error);

}  // namespace edge::edgectl::web
