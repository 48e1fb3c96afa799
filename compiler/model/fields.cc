#include "compiler/model/fields.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/units.h"
#include "compiler/model/validate.h"

namespace edge::compiler::model {
namespace {

using yaml::Node;

std::int64_t number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Located<std::string> located(Node node) { return {std::string(node.text()), node.span()}; }

/// Every entry of a list through `read`, which gives an optional.
template <typename T, typename Read>
std::vector<Located<T>> read_list(Node list, Read read) {
  std::vector<Located<T>> values;
  if (!list) return values;
  values.reserve(list.size());
  for (const Node entry : list) {
    if (auto value = read(entry.text())) values.push_back({*std::move(value), entry.span()});
  }
  return values;
}

template <typename T, typename Read>
Maybe<T> read_one(Node node, Read read) {
  if (!node) return std::nullopt;
  auto value = read(node.text());
  if (!value) return std::nullopt;
  return Located<T>{*std::move(value), node.span()};
}

Reference named(Located<std::string> text) {
  const std::size_t slash = text.value.find('/');
  if (slash == std::string::npos) return {.name = std::move(text)};
  return {.name = {text.value.substr(slash + 1), text.span}, .name_space = text.value.substr(0, slash)};
}

/// `0.5%` as 500: validated, so there are at most three decimals.
std::int64_t thousandths(std::string_view text) {
  const std::size_t dot = std::min(text.find('.'), text.size() - 1);
  std::int64_t value = number(text.substr(0, dot));
  for (std::size_t i = 1; i <= 3; ++i) {
    const char c = dot + i < text.size() ? text[dot + i] : '0';
    value = value * 10 + (c >= '0' && c <= '9' ? c - '0' : 0);
  }
  return value;
}

}  // namespace

Node Fields::node(std::string_view key) const { return map_ ? given(map_, key) : Node(); }

Maybe<std::string> Fields::text(std::string_view key) const {
  const Node value = node(key);
  if (!value) return std::nullopt;
  return located(value);
}

Maybe<bool> Fields::boolean(std::string_view key) const {
  const Node value = node(key);
  if (!value) return std::nullopt;
  return Located<bool>{value.text().starts_with('t') || value.text().starts_with('T'), value.span()};
}

Maybe<std::int64_t> Fields::integer(std::string_view key) const {
  const Node value = node(key);
  if (!value) return std::nullopt;
  return Located<std::int64_t>{number(value.text()), value.span()};
}

Maybe<std::chrono::nanoseconds> Fields::duration(std::string_view key) const {
  return read_one<std::chrono::nanoseconds>(node(key), parse_duration);
}
Maybe<std::uint64_t> Fields::size(std::string_view key) const { return read_one<std::uint64_t>(node(key), parse_size); }
Maybe<HostPattern> Fields::hostname(std::string_view key) const {
  return read_one<HostPattern>(node(key), HostPattern::parse);
}
Maybe<IpAddress> Fields::ip(std::string_view key) const { return read_one<IpAddress>(node(key), parse_ip); }

std::vector<Located<std::string>> Fields::strings(std::string_view key) const {
  return read_list<std::string>(node(key), [](std::string_view text) { return std::optional(std::string(text)); });
}
std::vector<Located<std::int64_t>> Fields::integers(std::string_view key) const {
  return read_list<std::int64_t>(node(key), [](std::string_view text) { return std::optional(number(text)); });
}
std::vector<Located<HostPattern>> Fields::hostnames(std::string_view key) const {
  return read_list<HostPattern>(node(key), HostPattern::parse);
}
std::vector<Located<Cidr>> Fields::cidrs(std::string_view key) const { return read_list<Cidr>(node(key), parse_cidr); }

Maybe<std::int64_t> Fields::percent(std::string_view key) const {
  return read_one<std::int64_t>(node(key), [](std::string_view text) { return std::optional(thousandths(text)); });
}

std::vector<NameValue> Fields::string_map(std::string_view key) const {
  std::vector<NameValue> values;
  const Node map = node(key);
  if (!map) return values;
  for (const Node entry : map) {
    values.push_back({.name = {std::string(entry.key()), entry.key_span()}, .value = located(entry)});
  }
  return values;
}

Located<std::string> Fields::needed_text(std::string_view key) const {
  const Node value = node(key);
  return value ? located(value) : Located<std::string>();
}
Located<std::int64_t> Fields::needed_integer(std::string_view key) const {
  return integer(key).value_or(Located<std::int64_t>());
}

PortRef Fields::port(std::string_view key) const {
  const Node value = node(key);
  if (!value) return {};
  PortRef port;
  const std::string_view text = value.text();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port.number);
  const bool is_number =
      value.data().style == yaml::Style::kPlain && error == std::errc() && end == text.data() + text.size();
  if (!is_number) port = {.number = 0, .name = std::string(text)};
  return port;
}

Reference Fields::reference() const {
  Reference reference{.name = needed_text("name")};
  if (auto name_space = text("namespace")) reference.name_space = std::move(name_space->value);
  return reference;
}

std::optional<Reference> Fields::named_reference(std::string_view key) const {
  auto value = text(key);
  if (!value) return std::nullopt;
  return named(*std::move(value));
}

std::vector<Reference> Fields::named_references(std::string_view key) const {
  std::vector<Reference> references;
  for (Located<std::string>& value : strings(key)) references.push_back(named(std::move(value)));
  return references;
}

std::vector<NameValue> name_values(const Fields& fields, std::string_view key) {
  std::vector<NameValue> values;
  fields.entries(key, [&](const Fields& entry) {
    values.push_back({.name = entry.needed_text("name"), .value = entry.needed_text("value")});
  });
  return values;
}

}  // namespace edge::compiler::model
