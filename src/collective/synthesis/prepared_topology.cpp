// Topologies and sketches: what they must be, and what a sketch makes of a topology.
#include "collective/synthesis/search.hpp"
#include "core/field.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace photonrail::synthesis {

using core::field;
using core::FieldError;

namespace {

constexpr Member kMaxNodes = 4096;

std::string arrow(MemberPair pair) { return std::to_string(pair.first) + " to " + std::to_string(pair.second); }

std::size_t reached_from_first(const SynthesisTopology& topology, bool backwards) {
  std::vector<std::vector<Member>> next(topology.nodes);
  for (const SynthesisLink& link : topology.links) {
    if (backwards) {
      next[link.to].push_back(link.from);
    } else {
      next[link.from].push_back(link.to);
    }
  }
  std::vector<bool> seen(topology.nodes);
  std::vector<Member> queue{0};
  seen[0] = true;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (const Member m : next[queue[at]]) {
      if (!seen[m]) queue.push_back(m);
      seen[m] = true;
    }
  }
  return queue.size();
}

bool connected(const SynthesisTopology& topology) {
  return reached_from_first(topology, false) == topology.nodes && reached_from_first(topology, true) == topology.nodes;
}

}  // namespace

void SynthesisTopology::validate() const {
  if (nodes < 2 || nodes > kMaxNodes) throw FieldError(field("nodes"), "must be 2 to " + std::to_string(kMaxNodes));
  std::set<MemberPair> known;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const SynthesisLink& link = links[i];
    const core::Field where = field("links[]", i);
    if (link.from >= nodes || link.to >= nodes)
      throw FieldError(where, "joins " + arrow({link.from, link.to}), "nodes are 0 to " + std::to_string(nodes - 1));
    if (link.from == link.to) throw FieldError(where, "joins node " + std::to_string(link.from) + " to itself");
    if (!known.emplace(link.from, link.to).second)
      throw FieldError(where, "there is a link from " + arrow({link.from, link.to}) + " already", "add up their rates");
    if (link.latency < Duration{}) throw FieldError(where, "the latency must not be negative");
    if (!(link.rate.bytes_per_second > 0)) throw FieldError(where, "the rate must be positive");
  }
  if (!connected(*this)) throw FieldError(field("links"), "some nodes cannot reach all others");
}

namespace {

using Links = std::map<MemberPair, const SynthesisLink*>;

Links links_of(const SynthesisTopology& topology) {
  Links links;
  for (const SynthesisLink& link : topology.links) links[{link.from, link.to}] = &link;
  return links;
}

void check_known(const Links& links, const std::vector<MemberPair>& pairs, const char* pattern) {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (!links.contains(pairs[i])) throw FieldError(field(pattern, i), "the topology has no link from " + arrow(pairs[i]));
  }
}

void keep_allowed(const SynthesisSketch& sketch, SynthesisTopology& topology) {
  const Links links = links_of(topology);
  if (sketch.only) check_known(links, *sketch.only, "sketch.only[]");
  check_known(links, sketch.without, "sketch.without[]");
  const auto listed = [](const std::vector<MemberPair>& pairs, const SynthesisLink& link) {
    return std::find(pairs.begin(), pairs.end(), MemberPair{link.from, link.to}) != pairs.end();
  };
  std::erase_if(topology.links, [&](const SynthesisLink& link) {
    return (sketch.only && !listed(*sketch.only, link)) || listed(sketch.without, link);
  });
  if (!connected(topology))
    throw FieldError(field("sketch"), "the links that are left do not let all nodes reach each other");
}

std::vector<Member> renaming(const SketchSymmetry& symmetry, Member nodes) {
  std::vector<Member> image(nodes);
  for (Member m = 0; m < nodes; ++m) {
    const Member start = m / symmetry.group * symmetry.group;
    image[m] = start + (m - start + symmetry.offset) % symmetry.group;
  }
  return image;
}

void check_symmetry(const SynthesisTopology& topology, const Links& links, const std::vector<Member>& image,
                    const core::Field& where) {
  for (const SynthesisLink& link : topology.links) {
    const MemberPair pair{image[link.from], image[link.to]};
    const auto found = links.find(pair);
    const bool same = found != links.end() && found->second->latency == link.latency && found->second->rate == link.rate;
    if (same) continue;
    throw FieldError(where, "the link from " + arrow({link.from, link.to}) + " has no equal from " + arrow(pair),
                     "the topology, without the links that the sketch forbids, must have the symmetry");
  }
}

// All renamings that the symmetries make together.
std::vector<std::vector<Member>> closure(const std::vector<std::vector<Member>>& generators, Member nodes) {
  constexpr std::size_t kMaxImages = 4096;
  std::vector<Member> identity(nodes);
  std::iota(identity.begin(), identity.end(), 0);
  std::vector<std::vector<Member>> images{identity};
  std::set<std::vector<Member>> known{identity};
  for (std::size_t at = 0; at < images.size(); ++at) {
    for (const std::vector<Member>& generator : generators) {
      std::vector<Member> next(nodes);
      for (Member m = 0; m < nodes; ++m) next[m] = generator[images[at][m]];
      if (!known.insert(next).second) continue;
      if (images.size() == kMaxImages)
        throw FieldError(field("sketch.symmetries"), "make more than " + std::to_string(kMaxImages) + " images");
      images.push_back(std::move(next));
    }
  }
  return images;
}

}  // namespace

PreparedTopology prepare(const SynthesisTopology& topology, const SynthesisSketch& sketch) {
  topology.validate();
  PreparedTopology ground{topology, sketch.switches, {}};
  keep_allowed(sketch, ground.topology);
  for (std::size_t i = 0; i < sketch.switches.size(); ++i) {
    for (const Member m : sketch.switches[i].nodes) {
      if (m >= topology.nodes)
        throw FieldError(field("sketch.switches[].nodes", i), "there is no node " + std::to_string(m));
    }
  }
  const Links links = links_of(ground.topology);
  std::vector<std::vector<Member>> generators;
  for (std::size_t i = 0; i < sketch.symmetries.size(); ++i) {
    const SketchSymmetry& symmetry = sketch.symmetries[i];
    const core::Field where = field("sketch.symmetries[]", i);
    if (symmetry.group == 0 || topology.nodes % symmetry.group != 0)
      throw FieldError(field("sketch.symmetries[].group", i),
                       "must divide the " + std::to_string(topology.nodes) + " nodes");
    generators.push_back(renaming(symmetry, topology.nodes));
    check_symmetry(ground.topology, links, generators.back(), where);
  }
  ground.images = closure(generators, topology.nodes);
  return ground;
}

PreparedTopology reversed(const PreparedTopology& ground) {
  PreparedTopology turned = ground;
  for (SynthesisLink& link : turned.topology.links) std::swap(link.from, link.to);
  std::swap(turned.topology.send_ports, turned.topology.receive_ports);
  return turned;
}

}  // namespace photonrail::synthesis
