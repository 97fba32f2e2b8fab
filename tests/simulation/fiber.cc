#include "simulation/fiber.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "core/executor.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace glaive::simulation {
namespace {

constexpr size_t kStackBytes = size_t{1} << 20;

// Stacks that are in no use. A run needs a few, and there are many runs.
std::vector<void*>& SpareStacks() {
  static auto* const stacks = new std::vector<void*>;
  return *stacks;
}

void* TakeStack() {
  if (!SpareStacks().empty()) {
    void* const stack = SpareStacks().back();
    SpareStacks().pop_back();
    return stack;
  }
  void* const stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) std::abort();
  return stack;
}

}  // namespace

struct Fiber::State {
  std::function<void()> body;
  void* stack = nullptr;
  ucontext_t inside{};
  ucontext_t outside{};
  bool has_begun = false;
  bool has_ended = false;
  bool inside_unit = false;  // the executor's mark of the thread, which is each stack's own
  void* fake_stack = nullptr;
  const void* outer_stack = nullptr;
  size_t outer_size = 0;

  // The sanitizer has to be told which stack the thread is on.
  static void Leave([[maybe_unused]] void** fake, [[maybe_unused]] const void* stack,
                    [[maybe_unused]] size_t size) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(fake, stack, size);
#endif
  }
  static void Arrive([[maybe_unused]] void* fake, [[maybe_unused]] const void** stack,
                     [[maybe_unused]] size_t* size) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake, stack, size);
#endif
  }

  void Enter() {
    Arrive(nullptr, &outer_stack, &outer_size);
    body();
    has_ended = true;
    Leave(nullptr, outer_stack, outer_size);
  }

  static void Begin(unsigned low, unsigned high) {
    const uintptr_t address = static_cast<uintptr_t>(low) | static_cast<uintptr_t>(high) << 32;
    reinterpret_cast<State*>(address)->Enter();  // NOLINT: makecontext passes ints alone
  }
};

Fiber::Fiber(std::function<void()> body) : state_(std::make_unique<State>()) {
  state_->body = std::move(body);
}

Fiber::~Fiber() {
  if (state_->has_begun && !state_->has_ended) std::abort();
  if (state_->stack != nullptr) SpareStacks().push_back(state_->stack);
}

void Fiber::Resume() {
  State& state = *state_;
  if (!state.has_begun) {
    state.has_begun = true;
    state.stack = TakeStack();
    getcontext(&state.inside);
    state.inside.uc_stack.ss_sp = state.stack;
    state.inside.uc_stack.ss_size = kStackBytes;
    state.inside.uc_link = &state.outside;
    const auto address = reinterpret_cast<uintptr_t>(&state);
    makecontext(&state.inside, reinterpret_cast<void (*)()>(&State::Begin), 2,
                static_cast<unsigned>(address), static_cast<unsigned>(address >> 32));
  }
  const bool was_inside = ExchangeInsideUnit(state.inside_unit);
  void* fake = nullptr;
  State::Leave(&fake, state.stack, kStackBytes);
  swapcontext(&state.outside, &state.inside);
  State::Arrive(fake, nullptr, nullptr);
  state.inside_unit = ExchangeInsideUnit(was_inside);
}

void Fiber::Suspend() {
  State& state = *state_;
  State::Leave(&state.fake_stack, state.outer_stack, state.outer_size);
  swapcontext(&state.inside, &state.outside);
  State::Arrive(state.fake_stack, &state.outer_stack, &state.outer_size);
}

bool Fiber::has_ended() const { return state_->has_ended; }

}  // namespace glaive::simulation
