#include "edgectl/reports/request_line.h"

#include <string_view>
#include <utility>

#include "base/text/ascii.h"
#include "program/claim_field.h"

namespace edge::edgectl {
namespace {

Error invalid(const std::string& text) { return {ErrorCode::kInvalidArgument, text}; }

}  // namespace

Result<compiler::analyze::TypedRequest> parse_request(const std::string& line, const std::vector<std::string>& fields,
                                                      const std::vector<std::string>& claims,
                                                      const std::string& source) {
  compiler::analyze::TypedRequest typed;
  std::string_view rest = trim_blanks(line);
  if (const std::size_t space = rest.find(' '); space != std::string_view::npos) {
    if (Status status = typed.set_method(rest.substr(0, space)); !status) return status.error();
    rest = trim_blanks(rest.substr(space + 1));
  }
  if (Status status = typed.set_url(rest); !status) return status.error();
  for (const std::string& field : fields) {
    const std::size_t colon = field.find(':');
    const std::string_view name = std::string_view(field).substr(0, colon);
    if (colon == std::string::npos || !compiler::analyze::is_token(name)) {
      return invalid("-H takes `name: value`, not `" + field + "`");
    }
    const std::string_view value = trim_blanks(std::string_view(field).substr(colon + 1));
    if (Status status = typed.add_header(name, value); !status) return status.error();
  }
  std::vector<std::pair<std::string, std::string>> verified;
  for (const std::string& claim : claims) {
    const std::size_t equals = claim.find('=');
    if (equals == std::string::npos || equals == 0) return invalid("--claim takes `name=value`, not `" + claim + "`");
    verified.emplace_back(claim.substr(0, equals), claim.substr(equals + 1));
  }
  for (auto& field : program::claim_fields(verified)) typed.request.headers.push_back(std::move(field));
  const auto address = parse_ip(source);
  if (!address) return invalid("--source takes an IP address, not `" + source + "`");
  typed.request.source = *address;
  return typed;
}

}  // namespace edge::edgectl
