#include "agent/observe/grpc_span_sender.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <vector>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "base/os/file.h"
#include "base/text/ascii.h"
#include "base/text/protobuf_reader.h"
#include "runtime/observe/trace/otlp.h"

namespace edge::agent {
namespace {

using runtime::trace::Message;
using runtime::trace::SenderFields;
using runtime::trace::Sent;
using runtime::trace::SpanSender;

constexpr const char* kMethod = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
/// gRPC takes no more than one file in place of its own.
constexpr const char* kSystemAuthorities = "/etc/ssl/certs/ca-certificates.crt";
constexpr std::size_t kMaxAuthorities = std::size_t{4} << 20;
constexpr int kMaxAnswer = 64 << 10;
constexpr std::size_t kMaxWords = 200;
/// A collector that is gone without a word is noticed after so long, and at the latest with the call's own deadline.
constexpr int kKeepaliveMilliseconds = 20'000;

std::shared_ptr<grpc::Channel> channel_to(const GrpcCollector& collector) {
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  if (collector.secure) {
    grpc::SslCredentialsOptions options;
    const auto system = read_file(kSystemAuthorities, kMaxAuthorities);
    if (system) options.pem_root_certs = *system;
    options.pem_root_certs += collector.authorities;
    credentials = grpc::SslCredentials(options);
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxAnswer);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMilliseconds);
  // The exporter waits and tries again by itself.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(collector.address, credentials, arguments);
}

std::string text_of(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string text;
  if (!buffer.Dump(&slices).ok()) return text;
  for (const grpc::Slice& slice : slices) text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return text;
}

/// RetryInfo among the details of a status (google/rpc/error_details.proto); nullopt: there is none.
std::optional<std::chrono::nanoseconds> retry_info(std::string_view details) {
  constexpr std::string_view kType = "google.rpc.RetryInfo";
  ProtobufReader status(details);
  while (const auto detail = status.next()) {
    if (detail->number != 3 || !detail->is_bytes) continue;
    std::string_view type;
    std::string_view value;
    ProtobufReader any(detail->bytes);
    while (const auto field = any.next()) {
      if (field->number == 1) type = field->bytes;
      if (field->number == 2) value = field->bytes;
    }
    if (!type.ends_with(kType)) continue;
    std::chrono::nanoseconds delay{};
    ProtobufReader info(value);
    while (const auto field = info.next()) {
      ProtobufReader duration(field->number == 1 ? field->bytes : std::string_view{});
      while (const auto part = duration.next()) {
        // Bounded before they are multiplied; the exporter has a bound of its own.
        if (part->number == 1) delay += std::chrono::seconds(std::min<std::uint64_t>(part->value, 3600));
        if (part->number == 2) delay += std::chrono::nanoseconds(std::min<std::uint64_t>(part->value, 999'999'999));
      }
    }
    return delay;
  }
  return std::nullopt;
}

/// What the specification of OTLP says of each code.
Sent failed(const grpc::Status& status) {
  Sent sent;
  const std::string words = status.error_message().substr(0, kMaxWords);
  sent.why = "gRPC status " + std::to_string(status.error_code()) + (words.empty() ? "" : ": " + words);
  const auto asked = retry_info(status.error_details());
  sent.after = asked.value_or(std::chrono::nanoseconds{});
  switch (status.error_code()) {
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::ABORTED:
    case grpc::StatusCode::OUT_OF_RANGE:
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DATA_LOSS:
      sent.how = Sent::How::kLater;
      break;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      sent.how = asked ? Sent::How::kLater : Sent::How::kRefused;
      break;
    default:
      sent.how = Sent::How::kRefused;
  }
  return sent;
}

class GrpcSender final : public SpanSender {
 public:
  explicit GrpcSender(const GrpcCollector& collector) : stub_(channel_to(collector)), fields_(collector.fields) {
    // Metadata has lower-case names (RFC 9113 §8.2.1).
    for (auto& [name, value] : fields_) name = ascii_lower(name);
  }

  Sent send(const Message& message, Time until) override {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + (until - std::chrono::steady_clock::now()));
    for (const auto& [name, value] : fields_) context.AddMetadata(name, value);
    const Entered entered(*this, context);

    const std::array<grpc::Slice, 2> slices = {grpc::Slice(message.head.data(), message.head.size()),
                                               grpc::Slice(message.spans.data(), message.spans.size())};
    const grpc::ByteBuffer request(slices.data(), slices.size());
    grpc::ByteBuffer reply;
    grpc::Status status;
    grpc::CompletionQueue queue;
    const auto call = stub_.PrepareUnaryCall(&context, kMethod, request, &queue);
    call->StartCall();
    call->Finish(&reply, &status, this);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    if (!status.ok()) return failed(status);
    runtime::trace::PartialSuccess success = runtime::trace::read_answer(text_of(reply));
    return {Sent::How::kTaken, success.rejected, {}, std::move(success.why)};
  }
  void cancel() override {
    const std::scoped_lock lock(mutex_);
    if (context_ != nullptr) context_->TryCancel();
  }

 private:
  /// Lets a call be cancelled for as long as it lasts.
  class Entered {
   public:
    Entered(GrpcSender& sender, grpc::ClientContext& context) : sender_(sender) { set(&context); }
    ~Entered() { set(nullptr); }
    Entered(const Entered&) = delete;
    Entered& operator=(const Entered&) = delete;

   private:
    void set(grpc::ClientContext* context) {
      const std::scoped_lock lock(sender_.mutex_);
      sender_.context_ = context;
    }
    GrpcSender& sender_;
  };

  grpc::GenericStub stub_;
  SenderFields fields_;
  std::mutex mutex_;
  grpc::ClientContext* context_ = nullptr;  ///< guarded by it
};

}  // namespace

std::unique_ptr<SpanSender> make_grpc_sender(const GrpcCollector& collector) {
  return std::make_unique<GrpcSender>(collector);
}

}  // namespace edge::agent
