#include "compiler/emit/native_loops.h"

#include <cstdint>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace edge::compiler::emit {
namespace {

using llvm::BasicBlock;
using llvm::Value;

/// A function of the module under construction, with its IR builder and types.
struct Loop {
  Loop(llvm::Module& module, const char* name, std::initializer_list<bool> pointers)
      : builder(module.getContext()), i8(builder.getInt8Ty()), i64(builder.getInt64Ty()) {
    llvm::SmallVector<llvm::Type*, 4> parameters;
    for (const bool pointer : pointers) {
      parameters.push_back(pointer ? static_cast<llvm::Type*>(builder.getPtrTy()) : i64);
    }
    function = llvm::Function::Create(llvm::FunctionType::get(builder.getInt32Ty(), parameters, false),
                                      llvm::GlobalValue::InternalLinkage, name, module);
    function->addFnAttr(llvm::Attribute::NoUnwind);
  }

  BasicBlock* block() { return BasicBlock::Create(builder.getContext(), "", function); }
  Value* number(std::uint64_t value) { return builder.getInt64(value); }
  Value* load(llvm::Type* type, Value* base, Value* offset) {
    return builder.CreateAlignedLoad(type, builder.CreateInBoundsGEP(i8, base, offset), llvm::Align(1));
  }
  void answer(BasicBlock* block, bool result) {
    builder.SetInsertPoint(block);
    builder.CreateRet(builder.getInt32(result ? 1 : 0));
  }

  llvm::IRBuilder<> builder;
  llvm::IntegerType* i8;
  llvm::IntegerType* i64;
  llvm::Function* function;
};

}  // namespace

/// Words of eight bytes, the last one overlapping.
llvm::Function* equal_function(llvm::Module& module) {
  if (auto* known = module.getFunction("equal")) return known;
  Loop loop(module, "equal", {true, true, false});
  auto& b = loop.builder;
  Value* const n = loop.function->getArg(2);
  BasicBlock* const entry = loop.block();
  BasicBlock* const word = loop.block();
  BasicBlock* const same = loop.block();
  BasicBlock* const yes = loop.block();
  BasicBlock* const no = loop.block();
  b.SetInsertPoint(entry);
  Value* const last = b.CreateSub(n, loop.number(8));
  b.CreateBr(word);

  b.SetInsertPoint(word);
  llvm::PHINode* const i = b.CreatePHI(loop.i64, 2);
  Value* const left = loop.load(loop.i64, loop.function->getArg(0), i);
  Value* const right = loop.load(loop.i64, loop.function->getArg(1), i);
  b.CreateCondBr(b.CreateICmpEQ(left, right), same, no);

  b.SetInsertPoint(same);
  Value* const step = b.CreateAdd(i, loop.number(8));
  Value* const next = b.CreateSelect(b.CreateICmpULT(step, last), step, last);
  b.CreateCondBr(b.CreateICmpEQ(i, last), yes, word);
  i->addIncoming(loop.number(0), entry);
  i->addIncoming(next, same);
  loop.answer(yes, true);
  loop.answer(no, false);
  return loop.function;
}

/// The plain search: needles are short, and written by whoever writes the routes.
llvm::Function* contains_function(llvm::Module& module) {
  if (auto* known = module.getFunction("contains")) return known;
  Loop loop(module, "contains", {true, false, true, false});
  auto& b = loop.builder;
  Value* const text = loop.function->getArg(0);
  Value* const n = loop.function->getArg(1);
  Value* const needle = loop.function->getArg(2);
  Value* const m = loop.function->getArg(3);
  BasicBlock* const entry = loop.block();
  BasicBlock* const fits = loop.block();
  BasicBlock* const loop_block = loop.block();
  BasicBlock* const byte = loop.block();
  BasicBlock* const same = loop.block();
  BasicBlock* const shift = loop.block();
  BasicBlock* const yes = loop.block();
  BasicBlock* const no = loop.block();
  b.SetInsertPoint(entry);
  b.CreateCondBr(b.CreateICmpULT(n, m), no, fits);
  b.SetInsertPoint(fits);
  Value* const last = b.CreateSub(n, m);
  b.CreateBr(loop_block);

  b.SetInsertPoint(loop_block);
  llvm::PHINode* const start = b.CreatePHI(loop.i64, 2);
  b.CreateBr(byte);

  b.SetInsertPoint(byte);
  llvm::PHINode* const i = b.CreatePHI(loop.i64, 2);
  Value* const left = loop.load(loop.i8, text, b.CreateAdd(start, i));
  Value* const right = loop.load(loop.i8, needle, i);
  b.CreateCondBr(b.CreateICmpEQ(left, right), same, shift);

  b.SetInsertPoint(same);
  Value* const following = b.CreateAdd(i, loop.number(1));
  b.CreateCondBr(b.CreateICmpEQ(following, m), yes, byte);

  b.SetInsertPoint(shift);
  Value* const next = b.CreateAdd(start, loop.number(1));
  b.CreateCondBr(b.CreateICmpEQ(start, last), no, loop_block);

  start->addIncoming(loop.number(0), fits);
  start->addIncoming(next, shift);
  i->addIncoming(loop.number(0), loop_block);
  i->addIncoming(following, same);
  loop.answer(yes, true);
  loop.answer(no, false);
  return loop.function;
}

}  // namespace edge::compiler::emit
