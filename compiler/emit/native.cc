#include "compiler/emit/native.h"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>

#include "compiler/emit/native_link.h"
#include "compiler/emit/native_loops.h"
#include "compiler/emit/native_plan.h"

namespace edge::compiler::emit {
namespace {

using llvm::BasicBlock;
using llvm::Value;
using program::GroupRecord;
using program::HostHeader;
using program::NodeRecord;
using program::Op;

/// Shards over this many predicates or functions are compiled without optimisation: every function costs LLVM's hundred
/// passes half a millisecond, against some 50 us without them, and a shard is rebuilt while its user waits.
constexpr std::size_t kOptimisedPredicates = 64;
constexpr std::size_t kOptimisedFunctions = 16;
/// Values up to this size are compared by inline words, longer ones by a loop over constant data.
constexpr std::size_t kInlineBytes = 128;
/// Tests emitted for one shard, shared nodes counted as often as they are used. Far above what a shard's expressions
/// can hold; a bound on the memory that LLVM may take.
constexpr std::size_t kMaxEmittedTests = std::size_t{1} << 21;

/// Names of the triple and the CPU. LLVM aborts the process on an unknown name: only these are ever passed.
struct TargetName {
  const char* triple;
  const char* cpu;
};

TargetName target_name(program::Target target) {
  switch (target) {
    case program::Target::kX8664:
      return {"x86_64-unknown-linux-gnu", "x86-64"};
    case program::Target::kX8664V2:
      return {"x86_64-unknown-linux-gnu", "x86-64-v2"};
    case program::Target::kX8664V3:
      return {"x86_64-unknown-linux-gnu", "x86-64-v3"};
    case program::Target::kAarch64:
      return {"aarch64-unknown-linux-gnu", "generic"};
    case program::Target::kTablesOnly:
      break;
  }
  return {nullptr, nullptr};
}

bool group_needs_code(const program::SectionView& host, const GroupRecord& group) {
  const auto candidates = host.array(host.header<HostHeader>().candidates).subspan(group.first, group.count);
  return std::any_of(candidates.begin(), candidates.end(),
                     [](const auto& candidate) { return candidate.predicate != program::kNone; });
}

/// Types and constants of program/evaluate/abi.h in LLVM's terms.
struct Abi {
  explicit Abi(llvm::LLVMContext& context)
      : i8(llvm::Type::getInt8Ty(context)),
        i32(llvm::Type::getInt32Ty(context)),
        i64(llvm::Type::getInt64Ty(context)),
        pointer(llvm::PointerType::get(context, 0)),
        native_host(llvm::StructType::get(i64, pointer, i64)),
        native_index(llvm::StructType::get(i64, i64, pointer)) {}

  llvm::IntegerType* i8;
  llvm::IntegerType* i32;
  llvm::IntegerType* i64;
  llvm::PointerType* pointer;
  llvm::StructType* native_host;
  llvm::StructType* native_index;
};

/// Writes the functions of one host into a module.
class HostEmitter {
 public:
  HostEmitter(llvm::Module& module, const Abi& abi, const program::SectionView& host, std::size_t& tests)
      : module_(module),
        context_(module.getContext()),
        abi_(abi),
        builder_(context_),
        host_(host),
        nodes_(host.array(host.header<HostHeader>().nodes)),
        operands_(host.array(host.header<HostHeader>().operands)),
        cidrs_(host.array(host.header<HostHeader>().cidrs)),
        tests_(tests) {}

  llvm::Function* group(const GroupRecord& record) {
    auto* type = llvm::FunctionType::get(abi_.i32, {abi_.pointer}, false);
    function_ = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "", module_);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    builder_.SetInsertPoint(block());
    input_ = function_->getArg(0);
    slots_ = load(abi_.pointer, input_, offsetof(program::MatchInput, slots));
    const Exit exit = make_exit();
    emit_plan(plan_group(host_, record), index(program::kNoCandidate), exit);
    enter(exit);
    builder_.CreateRet(exit.best);
    return function_;
  }

 private:
  /// Where a part of the tree goes on, with the smallest candidate that won so far.
  struct Exit {
    BasicBlock* block;
    llvm::PHINode* best;
  };

  BasicBlock* block() { return BasicBlock::Create(context_, "", function_); }
  Value* index(std::uint32_t value) { return llvm::ConstantInt::get(abi_.i32, value); }
  Value* number(std::uint64_t value) { return llvm::ConstantInt::get(abi_.i64, value); }

  Exit make_exit() {
    BasicBlock* exit = BasicBlock::Create(context_);
    return {exit, llvm::PHINode::Create(abi_.i32, 2, "", exit)};
  }
  void leave(const Exit& exit, Value* best) {
    exit.best->addIncoming(best, builder_.GetInsertBlock());
    builder_.CreateBr(exit.block);
  }
  void enter(const Exit& exit) {
    function_->insert(function_->end(), exit.block);
    builder_.SetInsertPoint(exit.block);
  }

  Value* at(Value* base, std::uint64_t offset) {
    return offset == 0 ? base : builder_.CreateConstInBoundsGEP1_64(abi_.i8, base, offset);
  }
  Value* load(llvm::Type* type, Value* base, std::uint64_t offset) {
    return builder_.CreateAlignedLoad(type, at(base, offset), llvm::Align(8));
  }
  Value* load_unaligned(llvm::Type* type, Value* base, std::uint64_t offset) {
    return builder_.CreateAlignedLoad(type, at(base, offset), llvm::Align(1));
  }
  Value* slot_data(std::uint32_t slot) { return load(abi_.pointer, slots_, slot * sizeof(program::SlotValue)); }
  Value* slot_size(std::uint32_t slot) {
    return load(abi_.i64, slots_, slot * sizeof(program::SlotValue) + offsetof(program::SlotValue, size));
  }
  Value* window(Value* data, Window where) {
    Value* word = load_unaligned(llvm::IntegerType::get(context_, where.width * 8), data, where.offset);
    return builder_.CreateZExt(word, abi_.i64);
  }

  // ---- The split tree ---------------------------------------------------------------------------------------------

  /// Decides the plan; `best` is the smallest candidate found before.
  void emit_plan(const Plan& plan, Value* best, const Exit& exit) {
    if (plan.split == nullptr && plan.chain.empty()) return leave(exit, best);
    if (!llvm::isa<llvm::ConstantInt>(best)) {
      // Nothing below can be smaller than `first`.
      BasicBlock* look = block();
      BasicBlock* skip = block();
      builder_.CreateCondBr(builder_.CreateICmpUGT(best, index(plan.first)), look, skip);
      builder_.SetInsertPoint(skip);
      leave(exit, best);
      builder_.SetInsertPoint(look);
    }
    if (plan.split != nullptr) return emit_split(*plan.split, best, exit);
    for (const PlannedCandidate& candidate : plan.chain) {
      BasicBlock* next = candidate.tests.empty() ? nullptr : block();
      for (const std::uint32_t test : candidate.tests) {
        BasicBlock* held = block();
        emit_test(test, held, next);
        builder_.SetInsertPoint(held);
      }
      leave(exit, smaller(best, candidate.index));
      if (next == nullptr) return;
      builder_.SetInsertPoint(next);
    }
    leave(exit, best);
  }

  Value* smaller(Value* best, std::uint32_t candidate) {
    if (llvm::isa<llvm::ConstantInt>(best)) return index(candidate);
    return builder_.CreateSelect(builder_.CreateICmpULT(best, index(candidate)), best, index(candidate));
  }

  using Bucket = std::pair<std::string_view, Plan>;
  using Buckets = std::vector<const Bucket*>;

  void emit_split(const Split& split, Value* best, const Exit& exit) {
    Exit middle = split.rest != nullptr ? make_exit() : exit;
    BasicBlock* miss = block();
    Value* data = slot_data(split.slot);
    Value* size = slot_size(split.slot);
    BasicBlock* present = block();
    builder_.CreateCondBr(builder_.CreateIsNull(data), miss, present);
    builder_.SetInsertPoint(present);

    std::map<std::uint64_t, Buckets> by_size;
    for (const Bucket& bucket : split.buckets) by_size[bucket.first.size()].push_back(&bucket);
    search<Buckets>(size, by_size, miss, [&](const Buckets& buckets) {
      const std::vector<Window> open = windows(buckets.front()->first.size());
      emit_buckets(buckets, open, data, best, middle, miss);
    });
    builder_.SetInsertPoint(miss);
    leave(middle, best);
    if (split.rest == nullptr) return;
    enter(middle);
    emit_plan(*split.rest, middle.best, exit);
  }

  /// Tells values of one size apart by the window in which most of them differ, until one is left, then compares the
  /// windows that were not looked at yet.
  void emit_buckets(const Buckets& buckets, std::vector<Window> open, Value* data, Value* best, const Exit& exit,
                    BasicBlock* miss) {
    if (buckets.size() == 1) {
      const auto& [text, plan] = *buckets.front();
      BasicBlock* equal = block();
      emit_compare(data, text, open, equal, miss);
      builder_.SetInsertPoint(equal);
      return emit_plan(plan, best, exit);
    }
    std::size_t chosen = 0;
    std::map<std::uint64_t, Buckets> by_word;
    for (std::size_t i = 0; i < open.size() && by_word.size() < buckets.size(); ++i) {
      std::map<std::uint64_t, Buckets> words;
      for (const Bucket* bucket : buckets) words[window_word(bucket->first, open[i])].push_back(bucket);
      if (words.size() <= by_word.size()) continue;
      by_word = std::move(words);
      chosen = i;
    }
    Value* word = window(data, open[chosen]);
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(chosen));
    search<Buckets>(word, by_word, miss,
                    [&](const Buckets& same) { emit_buckets(same, open, data, best, exit, miss); });
  }

  /// Binary search of `key` among the cases, `found` at its case's place, else to `miss`. A switch instruction would
  /// become a linear search where nothing is optimised.
  template <typename Case>
  void search(Value* key, const std::map<std::uint64_t, Case>& cases, BasicBlock* miss,
              const std::function<void(const Case&)>& found) {
    std::vector<const std::pair<const std::uint64_t, Case>*> sorted;
    for (const auto& entry : cases) sorted.push_back(&entry);
    search_in<Case>(key, sorted, miss, found);
  }
  template <typename Case>
  void search_in(Value* key, std::span<const std::pair<const std::uint64_t, Case>* const> cases, BasicBlock* miss,
                 const std::function<void(const Case&)>& found) {
    if (cases.size() == 1) {
      BasicBlock* hit = block();
      builder_.CreateCondBr(builder_.CreateICmpEQ(key, number(cases.front()->first)), hit, miss);
      builder_.SetInsertPoint(hit);
      return found(cases.front()->second);
    }
    const std::size_t half = cases.size() / 2;
    BasicBlock* low = block();
    BasicBlock* high = block();
    builder_.CreateCondBr(builder_.CreateICmpULT(key, number(cases[half]->first)), low, high);
    builder_.SetInsertPoint(low);
    search_in<Case>(key, cases.first(half), miss, found);
    builder_.SetInsertPoint(high);
    search_in<Case>(key, cases.subspan(half), miss, found);
  }

  // ---- Single tests -----------------------------------------------------------------------------------------------

  /// Branches by one node. Or and And stop at the first operand that decides.
  void emit_test(std::uint32_t node_index, BasicBlock* yes, BasicBlock* no) {
    const NodeRecord& node = nodes_[node_index];
    if (++tests_ > kMaxEmittedTests) {  // build_native looks at the count and fails; the rest need only be valid
      builder_.CreateBr(no);
      return;
    }
    switch (node.op) {
      case Op::kAnd:
      case Op::kOr:
        return emit_connective(node, yes, no);
      case Op::kNot:
        return emit_test(node.a, no, yes);
      case Op::kPresent:
        builder_.CreateCondBr(builder_.CreateIsNull(slot_data(node.slot)), no, yes);
        return;
      case Op::kEquals:
        return emit_equals(node.slot, host_.string(node.a, node.b), yes, no);
      case Op::kPathPrefix:
        return emit_path_prefix(node.slot, host_.string(node.a, node.b), yes, no);
      case Op::kContains:
        return emit_contains(node.slot, host_.string(node.a, node.b), yes, no);
      case Op::kSourceIn:
        return emit_source_in(cidrs_[node.a], yes, no);
      case Op::kRegex:
        return emit_regex(node.a, yes, no);
      case Op::kFalse:
        break;
    }
    builder_.CreateBr(no);
  }

  void emit_connective(const NodeRecord& node, BasicBlock* yes, BasicBlock* no) {
    const bool conjunction = node.op == Op::kAnd;
    for (const std::uint32_t operand : operands_.subspan(node.a, node.b)) {
      BasicBlock* next = block();
      emit_test(operand, conjunction ? next : yes, conjunction ? no : next);
      builder_.SetInsertPoint(next);
    }
    builder_.CreateBr(conjunction ? yes : no);
  }

  void emit_equals(std::uint32_t slot, std::string_view text, BasicBlock* yes, BasicBlock* no) {
    Value* data = slot_data(slot);
    BasicBlock* present = block();
    BasicBlock* sized = block();
    builder_.CreateCondBr(builder_.CreateIsNull(data), no, present);
    builder_.SetInsertPoint(present);
    builder_.CreateCondBr(builder_.CreateICmpEQ(slot_size(slot), number(text.size())), sized, no);
    builder_.SetInsertPoint(sized);
    emit_compare(data, text, windows(text.size()), yes, no);
  }

  /// Compares the `open` windows of a value that is known to be as long as `text`.
  void emit_compare(Value* data, std::string_view text, std::span<const Window> open, BasicBlock* yes, BasicBlock* no) {
    if (open.empty()) {
      builder_.CreateBr(yes);
      return;
    }
    if (open.size() * 8 > kInlineBytes) {
      builder_.CreateCondBr(call_equal(data, text), yes, no);
      return;
    }
    Value* difference = nullptr;
    for (const Window where : open) {
      Value* part = builder_.CreateXor(window(data, where), number(window_word(text, where)));
      difference = difference == nullptr ? part : builder_.CreateOr(difference, part);
    }
    builder_.CreateCondBr(builder_.CreateICmpEQ(difference, number(0)), yes, no);
  }

  /// Whole segments: the path is the prefix, or goes on with a slash.
  void emit_path_prefix(std::uint32_t slot, std::string_view text, BasicBlock* yes, BasicBlock* no) {
    Value* data = slot_data(slot);
    Value* size = slot_size(slot);
    BasicBlock* present = block();
    BasicBlock* sized = block();
    BasicBlock* same = block();
    BasicBlock* longer = block();
    builder_.CreateCondBr(builder_.CreateIsNull(data), no, present);
    builder_.SetInsertPoint(present);
    builder_.CreateCondBr(builder_.CreateICmpUGE(size, number(text.size())), sized, no);
    builder_.SetInsertPoint(sized);
    emit_compare(data, text, windows(text.size()), same, no);
    builder_.SetInsertPoint(same);
    builder_.CreateCondBr(builder_.CreateICmpEQ(size, number(text.size())), yes, longer);
    builder_.SetInsertPoint(longer);
    Value* next = load_unaligned(abi_.i8, data, text.size());
    builder_.CreateCondBr(builder_.CreateICmpEQ(next, llvm::ConstantInt::get(abi_.i8, '/')), yes, no);
  }

  void emit_contains(std::uint32_t slot, std::string_view text, BasicBlock* yes, BasicBlock* no) {
    Value* data = slot_data(slot);
    BasicBlock* present = block();
    builder_.CreateCondBr(builder_.CreateIsNull(data), no, present);
    builder_.SetInsertPoint(present);
    if (text.empty()) {
      builder_.CreateBr(yes);
      return;
    }
    Value* found =
        builder_.CreateCall(contains_function(module_), {data, slot_size(slot), constant(text), number(text.size())});
    builder_.CreateCondBr(builder_.CreateICmpNE(found, index(0)), yes, no);
  }

  void emit_source_in(const program::CidrRecord& cidr, BasicBlock* yes, BasicBlock* no) {
    Value* source = load(abi_.pointer, input_, offsetof(program::MatchInput, source));
    Value* difference = number(0);
    for (unsigned half = 0; half < 2; ++half) {
      const unsigned from = half * 64;
      const unsigned bits = cidr.prefix_length <= from ? 0 : std::min<unsigned>(cidr.prefix_length - from, 64);
      if (bits == 0) continue;
      std::uint8_t mask_bytes[8] = {};
      for (unsigned bit = 0; bit < bits; ++bit) mask_bytes[bit / 8] |= static_cast<std::uint8_t>(0x80 >> (bit % 8));
      const std::uint64_t mask = window_word({reinterpret_cast<const char*>(mask_bytes), 8}, {0, 8});
      const std::uint64_t net = window_word({reinterpret_cast<const char*>(cidr.address), 16}, {half * 8, 8});
      Value* part = builder_.CreateXor(load_unaligned(abi_.i64, source, half * 8), number(net));
      difference = builder_.CreateOr(difference, builder_.CreateAnd(part, number(mask)));
    }
    builder_.CreateCondBr(builder_.CreateICmpEQ(difference, number(0)), yes, no);
  }

  void emit_regex(std::uint32_t bit, BasicBlock* yes, BasicBlock* no) {
    Value* hits = load(abi_.pointer, input_, offsetof(program::MatchInput, regex_hits));
    Value* word = load(abi_.i64, hits, bit / 64 * 8);
    Value* masked = builder_.CreateAnd(word, number(std::uint64_t{1} << (bit % 64)));
    builder_.CreateCondBr(builder_.CreateICmpNE(masked, number(0)), yes, no);
  }

  // ---- Calls of the module's loops ------------------------------------------------------------------

  llvm::Constant* constant(std::string_view text) {
    auto* data = llvm::ConstantDataArray::getString(context_, {text.data(), text.size()}, false);
    auto* global =
        new llvm::GlobalVariable(module_, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data, "");
    global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    return global;
  }

  Value* call_equal(Value* data, std::string_view text) {
    Value* result = builder_.CreateCall(equal_function(module_), {data, constant(text), number(text.size())});
    return builder_.CreateICmpNE(result, index(0));
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  const Abi& abi_;
  llvm::IRBuilder<> builder_;
  const program::SectionView& host_;
  std::span<const NodeRecord> nodes_;
  std::span<const std::uint32_t> operands_;
  std::span<const program::CidrRecord> cidrs_;
  std::size_t& tests_;
  llvm::Function* function_ = nullptr;
  Value* input_ = nullptr;
  Value* slots_ = nullptr;
};

/// Groups that have code, by what it was made from.
using SharedCode = std::map<std::string, llvm::Function*>;

/// The host's entry of the index, its functions written to the module.
llvm::Constant* emit_host_code(llvm::Module& module, const Abi& abi, const NativeInput& input, SharedCode& shared,
                               std::size_t& tests) {
  std::vector<llvm::Constant*> functions;
  for (const GroupRecord& group : input.host.array(input.host.header<HostHeader>().groups)) {
    if (!group_needs_code(input.host, group)) {
      functions.push_back(llvm::ConstantPointerNull::get(abi.pointer));
      continue;
    }
    const std::string key = group_text(input.host, group);
    llvm::Function* function = nullptr;
    if (const auto known = key.empty() ? shared.end() : shared.find(key); known != shared.end()) {
      function = known->second;
    } else {
      function = HostEmitter(module, abi, input.host, tests).group(group);
      if (!key.empty()) shared.emplace(key, function);
    }
    functions.push_back(function);
  }
  auto* type = llvm::ArrayType::get(abi.pointer, functions.size());
  auto* table = new llvm::GlobalVariable(module, type, true, llvm::GlobalValue::InternalLinkage,
                                         llvm::ConstantArray::get(type, functions), "");
  return llvm::ConstantStruct::get(abi.native_host, {llvm::ConstantInt::get(abi.i64, input.host_id), table,
                                                     llvm::ConstantInt::get(abi.i64, functions.size())});
}

void emit_index(llvm::Module& module, const Abi& abi, const std::vector<llvm::Constant*>& hosts) {
  auto* type = llvm::ArrayType::get(abi.native_host, hosts.size());
  auto* table = new llvm::GlobalVariable(module, type, true, llvm::GlobalValue::InternalLinkage,
                                         llvm::ConstantArray::get(type, hosts), "");
  auto* index = llvm::ConstantStruct::get(abi.native_index, {llvm::ConstantInt::get(abi.i64, program::kAbiVersion),
                                                             llvm::ConstantInt::get(abi.i64, hosts.size()), table});
  auto* symbol = new llvm::GlobalVariable(module, abi.native_index, true, llvm::GlobalValue::ExternalLinkage, index,
                                          program::kNativeIndexSymbol);
  symbol->setVisibility(llvm::GlobalValue::DefaultVisibility);
}

void initialise_targets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
}

llvm::CodeGenOptLevel level_for(const std::vector<NativeInput>& hosts) {
  std::size_t predicates = 0;
  std::size_t functions = 0;
  for (const NativeInput& input : hosts) {
    const auto& header = input.host.header<HostHeader>();
    for (const auto& candidate : input.host.array(header.candidates)) {
      predicates += candidate.predicate != program::kNone;
    }
    functions += header.groups.count;
  }
  const bool large = predicates > kOptimisedPredicates || functions > kOptimisedFunctions;
  return large ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Less;
}

Result<std::vector<std::byte>> emit_object(program::Target target, const std::vector<NativeInput>& hosts) {
  const TargetName name = target_name(target);
  if (name.triple == nullptr) return Error{ErrorCode::kInvalidArgument, "no native code for this target"};
  initialise_targets();
  std::string message;
  const llvm::Target* backend = llvm::TargetRegistry::lookupTarget(name.triple, message);
  if (backend == nullptr) return Error{ErrorCode::kInternal, "LLVM: " + message};
  const std::unique_ptr<llvm::TargetMachine> machine(backend->createTargetMachine(
      name.triple, name.cpu, "", llvm::TargetOptions(), llvm::Reloc::PIC_, llvm::CodeModel::Small, level_for(hosts)));
  if (machine == nullptr) return Error{ErrorCode::kInternal, "LLVM has no machine for " + std::string(name.triple)};

  llvm::LLVMContext context;
  llvm::Module module("edge", context);
  module.setTargetTriple(name.triple);
  module.setDataLayout(machine->createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);
  const Abi abi(context);
  std::vector<llvm::Constant*> entries;
  SharedCode shared;
  std::size_t tests = 0;
  for (const NativeInput& input : hosts) entries.push_back(emit_host_code(module, abi, input, shared, tests));
  if (tests > kMaxEmittedTests) return Error{ErrorCode::kResourceExhausted, "predicates too large for native code"};
  emit_index(module, abi, entries);

  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    return Error{ErrorCode::kInternal, "LLVM cannot write objects for " + std::string(name.triple)};
  }
  passes.run(module);
  const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
  return std::vector<std::byte>(first, first + bytes.size());
}

}  // namespace

bool needs_code(const program::SectionView& host) {
  const auto candidates = host.array(host.header<HostHeader>().candidates);
  return std::any_of(candidates.begin(), candidates.end(),
                     [](const auto& candidate) { return candidate.predicate != program::kNone; });
}

Result<NativeShard> build_native(program::Target target, std::vector<NativeInput> hosts) {
  std::sort(hosts.begin(), hosts.end(), [](const auto& a, const auto& b) { return a.host_id < b.host_id; });
  for (std::size_t i = 1; i < hosts.size(); ++i) {
    if (hosts[i - 1].host_id == hosts[i].host_id) return Error{ErrorCode::kInvalidArgument, "a host id twice"};
  }
  NativeShard shard;
  Result<std::vector<std::byte>> object = emit_object(target, hosts);
  if (!object.ok()) return object.error();
  shard.object = std::move(object).value();
  Result<std::vector<std::byte>> linked = link_shared(target, shard.object);
  if (!linked.ok()) return linked.error();
  shard.shared_object = std::move(linked).value();
  return shard;
}

}  // namespace edge::compiler::emit
