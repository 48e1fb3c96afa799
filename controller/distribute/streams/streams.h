// The streams of schemas/agent.proto, each a gRPC reactor that lives until its call is done. At most one message per
// stream is in progress.
#pragma once

#include "controller/authority/certificates.h"
#include "controller/distribute/hub.h"

namespace grpc {
class CallbackServerContext;
class Service;
template <class Request, class Response>
class ServerBidiReactor;
template <class Request>
class ServerReadReactor;
}  // namespace grpc

namespace edge::agent::v1 {
class ProgramsUp;
class ProgramsDown;
class ValuesUp;
class ValuesDown;
class Report;
class AddressesUp;
class AddressesDown;
class LinksUp;
class LinksDown;
class LimitsUp;
class LimitsDown;
class AnswersUp;
class QuestionsDown;
class ProgrammedRequest;
class ProgrammedReply;
}  // namespace edge::agent::v1

namespace edge::controller {

using ProgramReactor = grpc::ServerBidiReactor<agent::v1::ProgramsUp, agent::v1::ProgramsDown>;
using ValueReactor = grpc::ServerBidiReactor<agent::v1::ValuesUp, agent::v1::ValuesDown>;
using QuestionReactor = grpc::ServerBidiReactor<agent::v1::AnswersUp, agent::v1::QuestionsDown>;
using AddressReactor = grpc::ServerBidiReactor<agent::v1::AddressesUp, agent::v1::AddressesDown>;
using LinkReactor = grpc::ServerBidiReactor<agent::v1::LinksUp, agent::v1::LinksDown>;
using LimitReactor = grpc::ServerBidiReactor<agent::v1::LimitsUp, agent::v1::LimitsDown>;
using ReportReactor = grpc::ServerReadReactor<agent::v1::Report>;

ProgramReactor* new_program_stream(Hub& hub, grpc::CallbackServerContext& context, CertificateFacts peer);
ValueReactor* new_value_stream(Hub& hub, grpc::CallbackServerContext& context, CertificateFacts peer);
AddressReactor* new_address_stream(Hub& hub, grpc::CallbackServerContext& context, CertificateFacts peer);
LinkReactor* new_link_stream(Hub& hub, grpc::CallbackServerContext& context, CertificateFacts peer);
LimitReactor* new_limit_stream(Hub& hub, grpc::CallbackServerContext& context, CertificateFacts peer);
ReportReactor* new_report_stream(Hub& hub, grpc::CallbackServerContext& context, CertificateFacts peer);
QuestionReactor* new_question_stream(Hub& hub, grpc::CallbackServerContext& context, CertificateFacts peer);

std::unique_ptr<grpc::Service> make_agent_service(Hub& hub);
std::unique_ptr<grpc::Service> make_inspect_service(Hub& hub);

/// kUnimplemented: there is no source of progress; kInvalidArgument: too many objects.
Status answer_progress(Hub& hub, const agent::v1::ProgrammedRequest& request, agent::v1::ProgrammedReply& reply);

}  // namespace edge::controller
