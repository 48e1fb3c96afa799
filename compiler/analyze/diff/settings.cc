#include "compiler/analyze/diff/settings.h"

#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ip.h"
#include "compiler/analyze/explain/explain_words.h"
#include "compiler/analyze/explain/treatment.h"
#include "program/dump/route_tree.h"
#include "program/dump/settings_tree.h"

namespace edge::compiler::analyze {
namespace {

using program::kNone;

class Reader {
 public:
  explicit Reader(const program::ProgramView& program) : program_(program) {}

  Settings run() {
    const program::SectionView& view = program_.listeners().view;
    const auto binds = view.array(view.header<program::ListenersHeader>().binds);
    for (std::uint32_t i = 0; i < binds.size(); ++i) add_bind(i, binds[i]);
    for (const program::TreeGateway& gateway : program::gateways_of(program_)) {
      add_all("gateway " + gateway.name, gateway.settings);
    }
    for (const program::TreeBackendSettings& backend : program::backends_of(program_)) {
      add_all("backend " + backend.name, backend.settings);
      add_block("", backend.limits);
    }
    for (const program::TreePolicy& policy : program::policies_of(program_)) {
      add_all("policy " + policy.name, {});
      add(", type", policy.type);
      add_block("", policy.settings);
    }
    return std::move(out_);
  }

 private:
  void add(const std::string& name, std::string value) {
    if (!value.empty()) out_.emplace(subject_ + name, std::move(value));
  }
  void add_block(const std::string& name, const program::TreeSettings& settings) {
    for (const auto& [field, value] : settings.fields) {
      add(", " + name + (name.empty() ? "" : ".") + field, program::value_text(value));
    }
  }
  void add_all(std::string subject, const std::vector<program::TreeSettings>& blocks) {
    subject_ = std::move(subject);
    add("", "defined");
    for (const program::TreeSettings& block : blocks) {
      add(", " + block.name, "given");
      add_block(block.name, block);
    }
  }

  static std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
    return text;
  }

  // A listener is named by what reaches it: its own name, and its gateway's, are seen by no request.
  void add_bind(std::uint32_t index, const program::BindRecord& bind) {
    const program::SectionView& view = program_.listeners().view;
    const std::string position = bind_text(program_, index);
    subject_ = "listener " + position;
    add("", program::protocol_name(bind.protocol));
    for (const program::NameEntry& entry : view.array(bind.listeners.entries)) {
      const std::string name(view.string(entry.name));
      add_listener(position + " " + name, entry.exact);
      add_listener(position + " *." + name, entry.wildcard);
    }
    add_listener(position + " *", bind.listeners.fallback);
  }

  void add_listener(const std::string& position, std::uint32_t index) {
    if (index == kNone) return;
    const program::SectionView& view = program_.listeners().view;
    const auto& header = view.header<program::ListenersHeader>();
    const program::ListenerRecord& listener = view.array(header.listeners)[index];
    subject_ = "listener " + position;
    add("", "served");
    if (listener.max_request_body != 0) add(", maxRequestBodySize", std::to_string(listener.max_request_body));
    for (const program::TreeSettings& block : program::settings_of(view, listener)) add_block(block.name, block);
    std::vector<std::string> proxies;
    for (const program::CidrRecord& record :
         view.array(view.array(header.gateways)[listener.gateway].trusted_proxies)) {
      Cidr block;
      std::memcpy(block.address.bytes.data(), record.address, sizeof(record.address));
      block.prefix_length = record.prefix_length;
      proxies.push_back(to_string(block));
    }
    add(", trustedProxies", joined(proxies));
    add(", without a route", joined(parts_without_route(program_, index)));
  }

  const program::ProgramView& program_;
  std::string subject_;
  Settings out_;
};

}  // namespace

Settings settings_of(const program::ProgramView& program) { return Reader(program).run(); }

}  // namespace edge::compiler::analyze
