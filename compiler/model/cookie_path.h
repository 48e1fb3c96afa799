// Paths of the cookies that keep sessions: where the browser is to send them.
#pragma once

#include <string>
#include <string_view>

#include "compiler/model/route.h"

namespace edge::compiler::model {

/// Whether a cookie can have that path (RFC 6265 §4.1.1), in at most 1,024 bytes.
bool is_cookie_path(std::string_view path);

/// That of the rule's session: the one it names, else the whole segments that the paths of all matches begin with, and
/// `/` where one of them is a regular expression.
std::string cookie_path(const SessionPersistence& session, const Rule& rule);

}  // namespace edge::compiler::model
