// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.hpp"
#include "device/device.hpp"
#include "reference/trial.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cudal1::reference {

// Device memory for one plan: a region for each of its buffers. On a GPU each lies between guard zones filled with
// words that nobody could have known; the simulator checks bounds itself. Released by the destructor; must not outlive
// the device or the plan.
class Buffers {
 public:
  Buffers(device::Device& device, const kernel::Plan& plan, base::Random& random);
  // The same memory for the task's own buffers as `shared`, which must outlive this object; scratch of its own. Where
  // memory lies changes a kernel's time, so kernels are compared on the same.
  Buffers(device::Device& device, const kernel::Plan& plan, base::Random& random, const Buffers& shared);
  ~Buffers();
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  // Writes inputs and inouts, `inputs` as reference::inputs() gives them; they must outlive this object.
  void load(const std::vector<Bytes>& inputs);
  // The same from memory of the device that no kernel runs on; it must outlive this object.
  void load(const Buffers& pristine);
  // Inputs that somebody else wrote count as loaded: from now on they must stay as they are.
  void adopt_inputs();
  void restore_inouts();
  const device::Region& region(std::size_t buffer) const { return places_[buffer].region; }

  enum class Fill {
    nan,      // a random NaN payload (random words for integers): a kernel that leaves elements out shows
    finite,   // plausible but wrong values: a kernel that looks for NaN in its outputs shows
  };
  // Overwrites outputs, and scratch memory that the plan does not initialise.
  void poison(Fill fill);
  // True for an output's element that still holds what poison() left there.
  bool untouched(std::size_t buffer, const Bytes& bytes, std::size_t element) const;

  // Which of a buffer's bytes a run wrote, where the device noted that (device::RunOptions::notes_writes).
  std::vector<bool> written(std::size_t buffer) const;

  device::BoundPlan bind(const device::Module& module) const;
  Bytes read(std::size_t buffer) const;

  // What was written although it must not be: "input A was changed", "memory behind C was written"; empty when intact.
  std::string damage() const;

 private:
  struct Place {
    device::Region region;           // of the buffer itself
    std::size_t total = 0;           // bytes of the memory it lies in
    std::size_t guard = 0;           // bytes on both sides
    std::uint32_t guard_word = 0, poison_word = 0;
    bool poisoned = false, owned = true;
    std::uint64_t digest = 0, front_digest = 0, behind_digest = 0;  // of an input's bytes, of the guard zones
  };
  Place place_for(const kernel::PlanBuffer& buffer);
  // Members of structures lie in each other's memory.
  bool leads(std::size_t buffer) const { return kernel::memory_of(plan_.buffers, buffer) == buffer; }
  template <typename Element>
  Bytes laid_out(std::size_t buffer, Element byte_of) const;
  Bytes structures(std::size_t buffer, const std::vector<Bytes>& inputs) const;
  const std::string& name_of(std::size_t buffer) const { return plan_.buffers[buffer].stride == 0 ? plan_.buffers[buffer].name : plan_.buffers[buffer].memory; }
  static std::size_t behind_bytes(const Place& place);
  std::string guard_damage(std::size_t buffer) const;

  device::Device& device_;
  const kernel::Plan& plan_;
  base::Random& random_;
  std::vector<Place> places_;
  const std::vector<Bytes>* inputs_ = nullptr;
  const Buffers* pristine_ = nullptr;
  bool adopted_ = false;
};

// A word that is NaN in every floating type of its width when repeated, with a random payload; random for integers.
std::uint32_t nan_word(tensor::Dtype dtype, base::Random& random);

}  // namespace cudal1::reference
