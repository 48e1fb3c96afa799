#include "edgectl/web/compiler/explainer.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "compiler/analyze/explain/explain.h"
#include "compiler/analyze/explain/passage.h"
#include "compiler/analyze/space/witness.h"
#include "edgectl/agents/redact.h"
#include "edgectl/reports/explain_report.h"
#include "edgectl/reports/request_line.h"

namespace edge::edgectl::web {

namespace analyze = compiler::analyze;

Explainer::Explainer(std::string controller_class)
    : controller_class_(std::move(controller_class)), compiler_(compiler::CompileOptions{}) {}
Explainer::~Explainer() = default;

Status Explainer::compile(const SourceMap& sources) {
  program_.reset();
  Diagnostics diagnostics;
  const compiler::LinkedConfig config = compiler::read_config(sources, diagnostics, controller_class_);
  const auto artifact = compiler_.compile(config, diagnostics);
  if (!artifact) return Error{ErrorCode::kFailedPrecondition, "no program could be compiled: see `edgectl validate`"};
  auto view = program::read(artifact->bytes);
  if (!view) return view.error();
  program_ = std::move(*view);
  ordered_ = compiler::ordered_certificates(config);
  return {};
}

Result<std::string> Explainer::explain(const ExplainRequest& request) const {
  const auto typed = parse_request(request.request, request.headers, request.claims, request.source);
  if (!typed) return typed.error();
  const bool written = typed->port_written || request.port != 0;
  const std::uint16_t port = request.port != 0 ? request.port : typed->request.port;
  const auto bind = analyze::bind_of_port(*program_, port, written);
  if (!bind) return Error{ErrorCode::kInvalidArgument, bind.error().text};
  const analyze::WitnessView view(typed->request);
  const analyze::Handshake handshake{typed->server_name, &ordered_};
  nlohmann::ordered_json explanation = explanation_json(analyze::explain(*program_, *bind, view.view(), &handshake));
  redact_explanation(explanation);
  return json_line(explanation);
}

}  // namespace edge::edgectl::web
