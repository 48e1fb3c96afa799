#include "program/values/address_list.h"

#include <algorithm>
#include <optional>
#include <string>

namespace edge::program {
namespace {

/// Of a line at fault.
constexpr std::size_t kShown = 60;

std::string_view trimmed(std::string_view line) {
  line = line.substr(0, line.find('#'));
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = line.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(kBlank) - begin + 1);
}

/// A control byte would be read by whoever looks at the log.
std::string shown(std::string_view line) {
  std::string text(line.substr(0, kShown));
  std::ranges::replace_if(text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

}  // namespace

Result<std::vector<Cidr>> read_address_list(std::string_view text) {
  const auto invalid = [](std::string what) { return Error{ErrorCode::kInvalidArgument, std::move(what)}; };
  if (text.size() > kMaxAddressListBytes) return invalid("larger than 64 MiB");
  std::vector<Cidr> networks;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = trimmed(text.substr(begin, end - begin));
    begin = end + 1;
    ++number;
    if (line.empty()) continue;
    const std::optional<Cidr> network = parse_cidr(line);
    if (!network) return invalid("line " + std::to_string(number) + ": `" + shown(line) + "` is no address or network");
    if (networks.size() == kMaxListedNetworks) return invalid("more than 1,000,000 networks");
    networks.push_back(*network);
  }
  return networks;
}

}  // namespace edge::program
