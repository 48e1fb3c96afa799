// Programs on their way to a relay: one after the other, each as the difference to what the site has.
#include <grpcpp/grpcpp.h>

#include "controller/distribute/caller.h"
#include "controller/distribute/relay/relay_stream.h"
#include "controller/distribute/relay/site_programs.h"
#include "schemas/relay.pb.h"

namespace edge::controller {
namespace {

class RelayProgramStream final : public RelayStream<edge::relay::v1::ProgramsUp, edge::relay::v1::ProgramsDown> {
 public:
  explicit RelayProgramStream(RelayCall call) : RelayStream(std::move(call)), programs_(hub_, granted()) {}

 private:
  Status heard(const edge::relay::v1::ProgramsUp& up) override {
    const bool greets = !programs_.greeted();
    if (Status status = programs_.hear(up); !status || !greets) return status;
    hub_.end_older(*this);
    hub_.log().info("a relay is connected",
                    {{"cluster", cluster()}, {"from", peer_address(context_)}, {"version", programs_.version()}});
    return {};
  }

  bool waits_for_answer() const override { return programs_.waits_for_answer(); }
  bool is_overtaken() const override { return programs_.is_overtaken(); }

  void advance() override {
    if (!may_write()) return;
    down_.Clear();
    if (programs_.next(down_)) write();
  }

  void gone() override {
    if (programs_.greeted()) hub_.log().info("a relay is connected no longer", {{"cluster", cluster()}});
  }

  SitePrograms programs_;
};

}  // namespace

RelayProgramReactor* new_relay_programs(RelayCall call) {
  const auto stream = std::make_shared<RelayProgramStream>(std::move(call));
  stream->start(stream);
  return stream.get();
}

}  // namespace edge::controller
