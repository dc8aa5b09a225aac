// The keys of a pod in `photonrail.allocation/1`, shapes of slices and names of allocators.
#include "core/counted.hpp"
#include "studies/slices/reader.hpp"

namespace photonrail::slices {

namespace {

using fields::Field;
using fields::Reading;

constexpr Field kPodFields[] = {
    fields::count<&PodSpec::block>("block", 1, 1024, "Side of a cube, whose faces go to optical switches.").or_else("4"),
    fields::own(
        "server", kBoxShape, [](const Reading& at) { into<PodSpec>(at).server = read_shape(at.value); },
        "Accelerators that share a server: what fails together, and what `aligned` and `photonic` give.")
        .or_else("[2, 2, 1]"),
    fields::count<&PodSpec::fibres>("fibres", 1, 1U << 20U,
                                    "Circuits that fit through a boundary between two servers: `photonic`.")
        .or_else("no limit"),
    fields::count<&PodSpec::reach>("reach", 1, 64, "Next servers that a server reaches on both sides: `k_hop`.")
        .or_else("2"),
    fields::count<&PodSpec::domain>("domain", 1, kMaxAccelerators, "Accelerators of a scale-up domain: `switched`.")
        .or_else("72"),
    fields::then([](const Reading& at) {
      try {
        into<PodSpec>(at).check();
      } catch (const ConfigError& e) {
        at.section.fail(e.where() + ": " + e.problem(), e.hint());
      }
    }),
};

}  // namespace

constexpr Section kPodSection{kPodFields};

std::vector<std::string> allocator_words(const Registries& /*known*/) {
  std::vector<std::string> words;
  const AllocatorRegistry builtin = AllocatorRegistry::builtin();
  for (const AllocatorFactory& factory : builtin.all()) words.push_back(factory.name);
  return words;
}

Shape read_shape(const JsonReader& value) {
  std::vector<std::uint32_t> sides;
  for (const JsonReader& side : value.elements()) sides.push_back(side.count(1, kMaxAccelerators));
  try {
    return Shape::of(sides);
  } catch (const ConfigError& e) {
    value.fail(e.problem(), e.hint());
  }
}

Shape read_shape(const JsonReader& value, const Shape& torus) {
  const Shape shape = read_shape(value);
  if (const std::string problem = too_many_dimensions(shape, torus); !problem.empty()) {
    value.fail(problem, "a shape of " + core::counted(torus.dimensions, "side"));
  }
  return shape;
}

std::string too_many_dimensions(const Shape& shape, const Shape& torus) {
  for (std::uint32_t d = torus.dimensions; d < shape.dimensions; ++d) {
    if (shape[d] != 1) return shape.text() + " has more dimensions than the torus " + torus.text();
  }
  return {};
}

std::string read_policy(const JsonReader& value, const AllocatorRegistry& known, const PodSpec& pod) {
  const AllocatorFactory& factory =
      value.lookup([&](const std::string& word) -> const AllocatorFactory& { return known.find(word); });
  try {
    static_cast<void>(factory.make(pod));
  } catch (const ConfigError& e) {
    value.fail(e.where() + ": " + e.problem(), e.hint());
  }
  return factory.name;
}

}  // namespace photonrail::slices
