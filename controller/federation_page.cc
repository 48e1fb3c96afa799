#include "controller/federation_page.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/federation/view_json.h"
#include "net/server/target.h"

namespace edge::controller {
namespace {

using namespace federation;
using OrderedJson = nlohmann::ordered_json;

constexpr const char* kNone = "this controller takes no part in federation: no EdgeRemoteCluster has spec.federation";
constexpr std::size_t kMostText = 512;
constexpr std::size_t kMostResolver = 128;

AgentAnswer json_answer(const OrderedJson& json) { return {200, "application/json", json_line(json) + "\n"}; }
AgentAnswer refusal(int status, const std::string& text) { return {status, "text/plain", text + "\n"}; }

/// Of HTTP.
int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return 400;
    case ErrorCode::kPermissionDenied:
      return 403;
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kFailedPrecondition:
      return 409;
    case ErrorCode::kUnimplemented:
      return 501;
    case ErrorCode::kUnavailable:
      return 503;
    default:
      return 500;
  }
}

AgentAnswer refusal(const Error& error) { return refusal(status_of(error.code), error.text); }

/// The parameters of a target; each once.
class Parameters {
 public:
  /// nullopt: they cannot be read.
  static std::optional<Parameters> read(std::string_view query) {
    auto fields = net::server::decode_query(query);
    if (!fields) return std::nullopt;
    const bool bounded =
        std::ranges::all_of(*fields, [](const auto& field) { return field.second.size() <= kMostText; });
    if (!bounded) return std::nullopt;
    return Parameters(std::move(*fields));
  }
  std::string text(std::string_view name) const {
    const auto found =
        std::ranges::find(fields_, name, [](const auto& field) { return std::string_view(field.first); });
    return found == fields_.end() ? std::string() : found->second;
  }
  /// nullopt: it is no number.
  std::optional<std::uint64_t> number(std::string_view name) const { return number_of(text(name)); }
  static std::optional<std::uint64_t> number_of(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = fault == std::errc() && end == text.data() + text.size();
    return whole ? std::optional(value) : std::nullopt;
  }
  /// nullopt: there is no kind, or no name.
  std::optional<ObjectKey> key() const {
    ObjectKey key{.kind = text("kind"), .name_space = text("namespace"), .name = text("name")};
    if (key.kind.empty() || key.name.empty()) return std::nullopt;
    return key;
  }
  std::size_t limit() const {
    const auto asked = number("limit");
    return asked && *asked > 0 ? std::min<std::size_t>(*asked, kMostViewed) : kMostViewed;
  }

 private:
  explicit Parameters(net::server::FieldList fields) : fields_(std::move(fields)) {}
  net::server::FieldList fields_;
};

/// CLUSTER.INCARNATION.COUNTER, as JSON has it.
std::optional<Dot> dot_of(std::string_view text) {
  const std::size_t last = text.rfind('.');
  if (last == std::string_view::npos || last == 0) return std::nullopt;
  const std::size_t first = text.rfind('.', last - 1);
  if (first == std::string_view::npos || first == 0) return std::nullopt;
  const auto incarnation = Parameters::number_of(text.substr(first + 1, last - first - 1));
  const auto counter = Parameters::number_of(text.substr(last + 1));
  if (!incarnation || !counter) return std::nullopt;
  return Dot{{std::string(text.substr(0, first)), *incarnation}, *counter};
}

template <typename Value>
AgentAnswer page_of(const Result<Value>& value) {
  return value ? json_answer(json_of(*value)) : refusal(value.error());
}

template <typename Value>
AgentAnswer page_of(const Result<std::vector<Value>>& values) {
  if (!values) return refusal(values.error());
  OrderedJson items = OrderedJson::array();
  for (const Value& value : *values) items.push_back(json_of(value));
  return json_answer({{"items", std::move(items)}});
}

AgentAnswer conflicts_page(const federation::View& view, const Parameters& parameters) {
  return page_of(view.conflicts({.key = parameters.key(),
                                 .contents = parameters.text("contents") == "1",
                                 .limit = parameters.limit(),
                                 .after = parameters.text("after")}));
}

/// Whether it can stand in a log and an event as it is.
bool is_name(std::string_view text) {
  return text.size() <= kMostResolver &&
         std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

AgentAnswer resolve_page(const federation::View& view, const Parameters& parameters, const std::string& asker) {
  const auto key = parameters.key();
  const auto chosen = dot_of(parameters.text("keep"));
  if (!key || !chosen) return refusal(400, "kind, name and keep say which version of which object stays");
  const std::string named = parameters.text("by");
  if (!is_name(named)) return refusal(400, "by is a name of at most 128 bytes");
  // The certificate is known, and says for whom it asks.
  const Status status = view.resolve(*key, *chosen, named.empty() ? asker : named + " (" + asker + ")");
  return status ? json_answer({{"resolved", true}}) : refusal(status.error());
}

AgentAnswer read_page(const federation::View& view, std::string_view page, const Parameters& parameters) {
  if (page == "status") return page_of(view.status());
  if (page == "peers") return page_of(view.peers());
  if (page == "conflicts") return conflicts_page(view, parameters);
  if (page == "preview") {
    return page_of(view.preview(
        {.peer = parameters.text("peer"), .limit = parameters.limit(), .after = parameters.text("after")}));
  }
  if (page != "clock") return refusal(404, "there is no such page");
  const auto key = parameters.key();
  return key ? page_of(view.clock(*key)) : refusal(400, "kind and name say which object");
}

}  // namespace

AgentAnswer federation_page(const federation::View& view, const AgentQuestion& question) {
  std::string_view target = question.target;
  target.remove_prefix(std::min(kFederationPages.size(), target.size()));
  const std::size_t mark = std::min(target.find('?'), target.size());
  const std::string_view page = target.substr(0, mark);
  const auto parameters = Parameters::read(target.substr(std::min(mark + 1, target.size())));
  if (!parameters) return refusal(400, "the parameters cannot be read");
  if (!view.status) return refusal(501, kNone);
  const bool changes = page == "sync" || page == "resolve";
  if (question.method != (changes ? "POST" : "GET")) return refusal(405, changes ? "only POST" : "only GET");
  if (page == "sync") return page_of(view.sync(parameters->text("peer")));
  if (page == "resolve") return resolve_page(view, *parameters, question.asker);
  return read_page(view, page, *parameters);
}

}  // namespace edge::controller
