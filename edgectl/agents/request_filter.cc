#include "edgectl/agents/request_filter.h"

#include <algorithm>
#include <cctype>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "base/units.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

Error wrong(const std::string& flag, const std::string& takes, const std::string& value) {
  return {ErrorCode::kInvalidArgument, "--" + flag + " takes " + takes + ", not `" + value + "`"};
}

bool is_named(const std::string& wanted, const std::string& name) {
  return wanted == name || (wanted.find('/') == std::string::npos && name.ends_with("/" + wanted));
}

}  // namespace

Result<RequestFilter> RequestFilter::read(const Text& text) {
  RequestFilter filter;
  filter.method_ = text.method;
  std::ranges::transform(filter.method_, filter.method_.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (!text.path.empty() && !text.path.starts_with('/'))
    return wrong("path", "a path such as /cart or /api/", text.path);
  filter.path_ = text.path;
  filter.backend_ = text.backend;
  if (!text.client.empty()) {
    filter.client_ = parse_cidr(text.client);
    if (!filter.client_) return wrong("client", "an address or a network such as 10.0.0.0/8", text.client);
  }
  if (!text.min_duration.empty()) {
    filter.min_duration_ = parse_duration(text.min_duration);
    if (!filter.min_duration_) return wrong("min-duration", "a duration such as 250ms", text.min_duration);
  }
  return filter;
}

bool RequestFilter::all() const {
  return method_.empty() && path_.empty() && backend_.empty() && !client_ && !min_duration_;
}

bool RequestFilter::wants(const Json& line) const {
  if (!line.is_object()) return false;
  if (!method_.empty() && text_in(line, "method") != method_) return false;
  if (!backend_.empty() && !is_named(backend_, text_in(line, "backend"))) return false;
  const std::string path = text_in(line, "path");
  if (!path_.empty() && (path_.ends_with('/') ? !path.starts_with(path_) : path != path_)) return false;
  if (client_) {
    const auto client = parse_ip(text_in(line, "client"));
    if (!client || !client_->contains(*client)) return false;
  }
  if (!min_duration_) return true;
  const auto total = line.find("total_ms");
  if (total == line.end() || !total->is_number()) return false;
  return std::chrono::duration<double, std::milli>(total->get<double>()) >= *min_duration_;
}

}  // namespace edge::edgectl
