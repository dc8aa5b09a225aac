# Made by `photonrail schema --python` from the tables of keys. Not edited by hand.
import dataclasses
from typing import Any, Dict, List, Optional, Union

from ._section import Section


@dataclasses.dataclass
class Delay(Section):
    """A distribution of times, in the unit of its key."""
    #: The law of the delay. `"uniform"`, `"normal"`, `"log_normal"`, `"empirical"`.
    distribution: str
    #: *Only with `distribution` `uniform`.* The shortest delay.
    least: Optional[float] = None
    #: *Only with `distribution` `uniform`.* The longest delay.
    greatest: Optional[float] = None
    #: *Only with `distribution` `normal`.* The mean; negative draws are rejected.
    mean: Optional[float] = None
    #: *Only with `distribution` `normal`.* The standard deviation.
    deviation: Optional[float] = None
    #: *Only with `distribution` `log_normal`.* The median.
    median: Optional[float] = None
    #: *Only with `distribution` `log_normal`.* The deviation of the logarithm. 0 to 2.
    sigma: Optional[float] = None
    #: *Only with `distribution` `empirical`.* An array of times, or the path of a JSON file that holds one; a draw is
    #: one of them.
    samples: Optional[Union[List[float], str]] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Stragglers(Section):
    """The key `stragglers` of Jobs."""
    #: The ranks, all of them, or one a step, drawn anew.
    ranks: Union[List[int], str]
    #: GPU computations take this many times as long. 1 to 1000000. Default: 1.
    slowdown: Optional[float] = None
    #: Before the rank's first task of a step; an array has one for each step and begins again; a distribution is drawn
    #: for each rank and step. Default: none.
    delay_us: Optional[Union["Delay", List[float], float]] = None
    #: A failure of these GPUs, listed or all, at that time; computations in progress feel it. No delay beside it.
    #: Default: of all steps.
    at_ms: Optional[float] = None
    #: With `at`: until the repair. Default: for good.
    lasts_ms: Optional[float] = None
    #: With `at`, in place of `slowdown`: the GPUs compute nothing. Default: false.
    stops: Optional[bool] = None
    #: *Only with `stops` `true`.* For this time nothing knows it; at most `lasts`. It changes the accounts of the ranks
    #: alone. Default: 0.
    detection_ms: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Jobs(Section):
    """The key `jobs` of Scenario."""
    #: As at the top; the cluster that it sees has the job's servers only.
    workload: Any
    #: Among the job's servers. Default: rank r on its GPU r.
    placement: Optional[Any] = None
    #: Of the job. Default: that at the top.
    controller: Optional[Any] = None
    #: Of the job. Default: that at the top.
    executor: Optional[Any] = None
    #: Of the job. Default: that at the top.
    collectives: Optional[Any] = None
    #: Of the job. Default: none.
    stragglers: Optional[List["Stragglers"]] = None
    #: No two alike. Default: `"job N"`.
    name: Optional[str] = None
    #: When it begins. Default: 0.
    start_s: Optional[float] = None
    #: Steps in a row. whole, 1 to 1000000. Default: `/run/iterations`.
    iterations: Optional[int] = None
    #: Those of the job, in its own order. Default: all.
    servers: Optional[List[int]] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Calibration(Section):
    """The key `calibration` of Gpu."""
    #: The step that was measured. above 0, to 1e9.
    measured_step_s: Optional[float] = None
    #: The step that the fitted efficiency gives. above 0, to 1e9.
    simulated_step_s: Optional[float] = None
    #: Where the measurement comes from.
    source: Optional[str] = None
    #: The version that fitted it.
    photonrail_version: Optional[str] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Gpu(Section):
    """The key `gpu` of Cluster."""
    #: The GPU whose values the other keys change: `photonrail list gpus`. `"a100"`, `"h100"`, `"h200"`, `"b200"`,
    #: `"gb200"`, `"gb200_opus"`. Default: none.
    preset: Optional[str] = None
    #: Dense, at the precision of the job. above 0, to 1e9. Default: required, without `preset`.
    peak_tflops: Optional[float] = None
    #: Bandwidth of its memory. above 0, to 1e9. Default: required, without `preset`.
    memory_gb_per_s: Optional[float] = None
    #: Capacity of its memory; 0: unknown. 0 to 1e9. Default: of the preset, else 0.
    memory_gb: Optional[float] = None
    #: The share of the peak that kernels reach. above 0, to 1. Default: 1.
    compute_efficiency: Optional[float] = None
    #: Power while it computes, for the energy of a step; 0: unknown. 0 to 1000000. Default: of the preset, else 0.
    power_w: Optional[float] = None
    #: Where the efficiency comes from; nothing depends on it. Default: none.
    calibration: Optional["Calibration"] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Curve(Section):
    """The key `curve` of ScaleUp."""
    #: What its bytes have. above 0, to 1e9.
    gb_per_s: float
    #: What a message of any size takes. Default: 0.
    step_ns: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Torus(Section):
    """The key `torus` of ScaleUp."""
    #: One to three sides, which multiply to `gpus_per_server`; GPUs are in row-major order.
    sides: List[int]
    #: Which sides are closed. Default: true.
    wrap: Optional[Union[List[bool], bool]] = None
    #: Sides k, k, 2k or k, 2k, 2k, k from 3 on: the links that close a side k are shifted by k along each side of 2k.
    #: Default: false.
    twisted: Optional[bool] = None
    #: Side of a cube: links between cubes, and those that close a side, are optical circuits. whole, 1 to 65536.
    #: Default: no cubes.
    cube: Optional[int] = None
    #: Two sides, a `cube`, 1 or an odd number of cubes a side: each rail of a row or column of cubes is a ring of its
    #: own. Default: false.
    rail_rings: Optional[bool] = None
    #: Added for each link between cubes. Default: 0.
    face_latency_ns: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Ring(Section):
    """The key `ring` of ScaleUp."""
    #: Fibres to this many next GPUs on both sides. whole, 1 to 64. Default: 2.
    reach: Optional[int] = None
    #: GPUs that the ring skips; less than `reach` in a row, or one longer row, which leaves a line. Default: none.
    bypassed: Optional[List[int]] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Switch(Section):
    """The key `switch` of Faults."""
    #: The dimension of the faces. whole, 0 to 2.
    dimension: int
    #: The place of the face, the other dimensions in order.
    at: List[int]
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Faults(Section):
    """The key `faults` of ScaleUp."""
    #: The server. whole, 0 to 1e9. Default: every server.
    server: Optional[int] = None
    #: The GPU all of whose links fail, by its local index. whole, 0 to 1e9. Default: of `gpu` and `switch` one is
    #: needed.
    gpu: Optional[int] = None
    #: The neighbour of `gpu` to which the link fails, in both directions. whole, 0 to 1e9. Default: all.
    to: Optional[int] = None
    #: With `cube`: an optical switch of the faces of one dimension.
    switch: Optional["Switch"] = None
    #: Of their rate that the links keep; below 1, and 0: they fail. 0 to 1. Default: 0.
    rate: Optional[float] = None
    #: When it begins. Default: 0.
    at_ms: Optional[float] = None
    #: How long it lasts. Default: to the end.
    lasts_ms: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class ScaleUp(Section):
    """The key `scale_up` of Cluster."""
    #: A measured fabric whose values the other keys change. `"a100"`, `"h100"`, `"h200"`, `"b200"`, `"gb200"`,
    #: `"nccl_tuner_h100"`, `"nccl_tuner_a100"`. Default: none.
    preset: Optional[str] = None
    #: Per GPU; with `torus` or `ring` per link. above 0, to 1e9. Default: 450.
    gb_per_s: Optional[float] = None
    #: GPU to GPU; with `torus` or `ring` of each link on the way. Default: 0.
    latency_ns: Optional[float] = None
    #: Crossbar: a message takes the protocol that is fastest for its size, step + bytes / rate, and `latency`, then the
    #: launch, is of an exchange's first messages alone; `"flat"`: `latency` for every size. Default: `"measured"` with
    #: a preset whose rate and latency stand, else `"flat"`.
    curve: Optional[Union[List["Curve"], str]] = None
    #: Links between neighbours. Default: a crossbar.
    torus: Optional["Torus"] = None
    #: A ring of the GPUs of a server, not with `torus`. Default: a crossbar.
    ring: Optional["Ring"] = None
    #: `gb_per_s` is all egress of a GPU, divided over the links that it has. Default: false.
    pooled: Optional[bool] = None
    #: With `torus` or `ring`: links that fail, or are slow. Default: none.
    faults: Optional[List["Faults"]] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Nic(Section):
    """The key `nic` of Cluster."""
    #: Ports of a NIC, which every GPU has. whole, 1 to 64. Default: 1.
    ports: Optional[int] = None
    #: Rate of a port in each direction. above 0, to 1e9. Default: 50.
    port_gb_per_s: Optional[float] = None
    #: From GPU to GPU over a rail with one switch. Default: 0.
    latency_ns: Optional[float] = None
    #: The port's gap between messages; scale-up messages pay it too. Default: 0.
    message_overhead_ns: Optional[float] = None
    #: Neighbouring GPUs of a server that share a NIC and its ports (72 GPUs with 18 NICs: 4); a divisor of
    #: `gpus_per_server`, above 1 on electrical rails only. whole, 1 to 65536. Default: 1.
    gpus: Optional[int] = None
    #: Loss that a pair of transceivers bridges; on optical rails with `insertion_loss_db` or `pip`. above 0, to 1000.
    #: Default: not checked.
    optical_budget_db: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class UnlikeGpus(Section):
    """The key `unlike_gpus` of Cluster."""
    #: The servers of these GPUs.
    servers: List[int]
    #: Their local indices. Default: all of a server.
    gpus: Optional[List[int]] = None
    #: Their model: its roofline times FLOPs and bytes, its tables the operators of a training job. A time that a trace
    #: gives stays, with a warning. Default: that of the cluster.
    gpu: Optional[Union["Gpu", str]] = None
    #: Computations take 1 / speed of the time on their GPU, those whose time is given too; 0.001 or more. above 0, to
    #: 1000. Default: required, without `gpu`.
    speed: Optional[float] = None
    #: A job has to fit the smallest. 0 to 1e9. Default: that of their GPU.
    memory_gb: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Links(Section):
    """The key `links` of Sites."""
    #: The two sites that it joins, numbered from 0.
    between: List[int]
    #: Its rate in each direction, which all rails share. above 0, to 1e9.
    gb_per_s: float
    #: Added to what crosses it. Default: 0.
    latency_us: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Sites(Section):
    """The key `sites` of Cluster."""
    #: Servers of each site, which are consecutive; they add up to the cluster's.
    servers: List[int]
    #: Links between two sites each; a message crosses the fewest that lead to its end. Default: none: of one site.
    links: Optional[List["Links"]] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Uplinks(Section):
    """The key `uplinks` of Rail."""
    #: Uplinks of every leaf; uplink u leads to spine u, and down again over those of u. whole, 1 to 4096. Default: as
    #: many as `gb_per_s` has, else cables of the NIC ports' rate for the leaf's bandwidth up.
    count: Optional[int] = None
    #: Rates of the uplinks by number, each direction; `oversubscription` then only says how many ports are below a
    #: leaf. Default: equal parts of the leaf's bandwidth up.
    gb_per_s: Optional[List[float]] = None
    #: Over which uplinks a message between leaves goes: all as one capacity, one by a hash, equal parts over all
    #: whatever their rates, the one whose bytes still to send take least time, or `shares` over all. `"fluid"`,
    #: `"hash"`, `"equal"`, `"least_loaded"`, `"shares"`. Default: `"fluid"`.
    routing: Optional[str] = None
    #: *Only with `routing` `hash`.* A draw for each message, or one for all between two NICs. `"message"`, `"flow"`.
    #: Default: `"message"`.
    hash_by: Optional[str] = None
    #: *Only with `routing` `shares`.* Of the bytes of a message, by uplink; they add up to 1. Equal ones are routing
    #: `equal`. With 0 an uplink is not used. Default: in proportion to the rates, so that all parts end together.
    shares: Optional[List[float]] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Pip(Section):
    """The key `pip` of RailSwitch."""
    #: Rows of hexagons. whole, 1 to 64.
    rows: int
    #: Hexagons of a row; n x m have 4 (n + m) + 4 open ends for two ports of each NIC port of a plane. whole, 1 to 64.
    columns: int
    #: Of one pass of a cell. 0.01 to 20. Default: 0.25.
    cell_loss_db: Optional[float] = None
    #: Between a fibre and the mesh. 0 to 20. Default: 1.
    port_loss_db: Optional[float] = None
    #: Of a cell: leaked to passed power. -100 to -3. Default: -30.
    crosstalk_db: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class RailSwitch(Section):
    """The key `switch` of Rail."""
    #: The switch whose values the other keys change: `photonrail list switches`. name. Default: none.
    preset: Optional[str] = None
    #: At least 2 x servers x NIC ports / planes; with pods 4 x servers of a pod x NIC ports / planes. whole, 1 to 1e9.
    #: Default: as many as needed; a warning where that is more than any switch that is known has, or than the preset's.
    ports: Optional[int] = None
    #: Switching, without settling and link bring-up; a number or a distribution. Default: required, without `preset`.
    reconfiguration_ms: Optional[Union["Delay", float]] = None
    #: After switching. Default: 0.
    settle_ms: Optional[float] = None
    #: Link bring-up after that. Default: 0.
    link_up_ms: Optional[float] = None
    #: What has no light while the switch re-points: the fibres that change, or all. `"ports"`, `"switch"`. Default:
    #: `"ports"`.
    dark: Optional[str] = None
    #: The switch collects commands for this time and carries them out as one. Default: 0.
    batching_us: Optional[float] = None
    #: The most commands that a switch begins. 0.001 to 1e12. Default: no limit.
    commands_per_s: Optional[float] = None
    #: Of one pass; 0: unknown. 0 to 1000. Default: 0.
    insertion_loss_db: Optional[float] = None
    #: A mesh of programmable photonics, which blocks; not with `insertion_loss_db`, `forwarding` or pods. Default:
    #: none: a crossbar.
    pip: Optional["Pip"] = None
    #: For the cost; required for it of a mesh. 0 to 1e9. Default: 0: the catalogue's.
    power_w: Optional[float] = None
    #: For the cost; required for it of a mesh. 0 to 1e9. Default: 0: the catalogue's.
    usd_per_port: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Pods(Section):
    """The key `pods` of Rail."""
    #: Servers of a pod, which has switches of its own; fewer than the cluster has. whole, 1 to 1000000.
    servers: int
    #: The layer between pods. `"electrical"`, `"optical"`.
    joined_by: str
    #: *Only with `joined_by` `electrical`.* Bandwidth of a pod's NIC ports / bandwidth between pods. 1 to 1000000.
    #: Default: 1.
    oversubscription: Optional[float] = None
    #: Added to a circuit between pods. Default: 0.
    latency_ns: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class RailFaults(Section):
    """The key `faults` of Rail."""
    #: No light, not to be re-pointed any more, or less of its rate. Electrical rails have `failed` (what the NIC
    #: carries stands still) and `slow`, of whole NICs. `"failed"`, `"stuck"`, `"slow"`.
    kind: str
    #: *Only with `kind` `slow`.* The share of its rate that the port has left, in both directions; shares of one port
    #: multiply, and a circuit has that of its slower end. 1e-06 to 1.
    rate: Optional[float] = None
    #: The rail; with a server a NIC, with a plane an OCS. whole, 0 to 1e9. Default: all.
    rail: Optional[int] = None
    #: The server. whole, 0 to 1e9. Default: all.
    server: Optional[int] = None
    #: The port of the NIC; not with `plane`. whole, 0 to 1e9. Default: all.
    port: Optional[int] = None
    #: The plane; alone it is that plane of every rail. whole, 0 to 1e9. Default: all.
    plane: Optional[int] = None
    #: Electrical rails of two tiers: the fault is of uplinks of this leaf; not with `server`. whole, 0 to 1e9. Default:
    #: all, with `uplink`.
    leaf: Optional[int] = None
    #: The uplink of each such leaf, both directions; without `leaf` it is a spine. whole, 0 to 1e9. Default: all, with
    #: `leaf`.
    uplink: Optional[int] = None
    #: The fault is of this link of `sites`, both directions; given alone. whole, 0 to 1e9. Default: none.
    site_link: Optional[int] = None
    #: `failed` on optical rails only: from the loss of light until the control plane knows it (a time-out, a
    #: heartbeat). Default: 0.
    detection_ms: Optional[float] = None
    #: When it begins. Default: 0.
    at_ms: Optional[float] = None
    #: Until it is repaired, and its circuits are lit again. Default: for good.
    lasts_ms: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Rail(Section):
    """The key `rail` of Cluster."""
    #: Packet switches, or optical circuit switches. `"electrical"`, `"optical"`.
    kind: str
    #: *Only with `kind` `electrical`.* Ports of a rail switch; more NIC ports than this make leaves and spines. whole,
    #: 2 to 1000000. Default: 64.
    radix: Optional[int] = None
    #: *Only with `kind` `electrical`.* Bandwidth down / bandwidth up of a leaf. 1 to 1000000. Default: 1.
    oversubscription: Optional[float] = None
    #: *Only with `oversubscription`.* Leaves keep half of their ports down whatever the oversubscription is: the same
    #: switches, with ports to spare, and fewer spines. Default: false.
    fewer_spines: Optional[bool] = None
    #: *Only with `kind` `electrical`.* Added to a path over leaf, spine and leaf. Default: 0.
    tier_latency_ns: Optional[float] = None
    #: *Only with `kind` `electrical`.* The uplinks of a leaf one by one. Default: one capacity each way.
    uplinks: Optional["Uplinks"] = None
    #: *Only with `kind` `optical`.* The OCS: a name of `photonrail list switches`, or its values.
    switch: Optional[Union["RailSwitch", str]] = None
    #: *Only with `kind` `optical`.* A send may hop over other GPUs of its rail. Default: false.
    forwarding: Optional[bool] = None
    #: *Only with `kind` `optical`.* What becomes of bytes on a circuit that a controller darkens. `"error"`, `"pause"`.
    #: Default: `"error"`.
    on_dark: Optional[str] = None
    #: *Only with `kind` `optical`.* Switches side by side, a divisor of the NIC's ports; NIC port p is on plane p
    #: modulo planes. whole, 1 to 1000000. Default: 1.
    planes: Optional[int] = None
    #: *Only with `kind` `optical`.* Servers with switches of their own, joined by a layer. Default: no pods.
    pods: Optional["Pods"] = None
    #: NIC ports that fail; what is not given is every rail, server or port. Default: none.
    faults: Optional[List["RailFaults"]] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Cluster(Section):
    """The key `cluster` of Scenario."""
    #: Servers, each a scale-up domain. whole, 1 to 1000000.
    servers: int
    #: GPUs of a server, and rails; above 1024 with a torus or a ring and electrical rails only. whole, 1 to 65536.
    gpus_per_server: int
    #: The GPUs: a name of `photonrail list gpus`, or their values. Default: 989 TFLOP/s, 4800 GB/s, 141 GB.
    gpu: Optional[Union["Gpu", str]] = None
    #: What joins the GPUs of a server: a measured fabric by its name, or its values. Default: 450 GB/s.
    scale_up: Optional[Union["ScaleUp", str]] = None
    #: The NIC of each GPU.
    nic: Optional["Nic"] = None
    #: GPUs that differ from `gpu`, by one factor or by a model of their own, each entry for some servers. Default:
    #: none.
    unlike_gpus: Optional[List["UnlikeGpus"]] = None
    #: Sites of the cluster, joined by links that messages share. Default: one site.
    sites: Optional["Sites"] = None
    #: The switches of the rails. Default: electrical rails.
    rail: Optional["Rail"] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Chakra(Section):
    """The key `chakra` of Workload."""
    #: Files are `PREFIX.RANK.et`, ranks from 0.
    prefix: str
    #: JSON of groups: name to ranks. Default: none.
    comm_groups: Optional[str] = None
    #: Of communication sizes in the trace. `"bytes"`, `"elements"`. Default: `"bytes"`.
    size_unit: Optional[str] = None
    #: With `"elements"` only. whole, 1 to 64. Default: 2.
    element_bytes: Optional[int] = None
    #: From the GPU model, or as recorded. `"roofline"`, `"trace"`. Default: `"roofline"`.
    compute_time: Optional[str] = None
    #: Of groups. Inferred from places, strides and operations: inside a server tp, along a rail dp, FSDP over all ranks
    #: dp, mostly all-to-alls ep; sends are pp. Default: inferred.
    dimensions: Optional[Dict[str, str]] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Kineto(Section):
    """The key `kineto` of Workload."""
    #: A folder of `rankN_trace.json` (or `.json.gz`), or a pattern with one `*` for the rank, from 0.
    files: str
    #: Only the kernels that begin in `ProfilerStep#N`. whole, 0 to 2^53. Default: all.
    iteration: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class LatentAttention(Section):
    """The key `latent_attention` of Model."""
    #: Width of the latent of keys and values. whole, 1 to 1e7.
    kv_rank: int
    #: Of a query and a key head, without position. whole, 1 to 1e7.
    nope_head: int
    #: The part with position; its key is shared by all heads. whole, 1 to 1e7.
    rope_head: int
    #: Of a value head. whole, 1 to 1e7.
    value_head: int
    #: Width of the latent of queries; 0: queries come from the hidden state. whole, 0 to 1e7. Default: 0.
    query_rank: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Moe(Section):
    """The key `moe` of Model."""
    #: Routed experts. whole, 1 to 1e7.
    experts: int
    #: Experts that a token chooses. whole, 1 to 1e7.
    top_k: int
    #: Width of one expert; 0: that of the model. whole, 0 to 1e7. Default: 0.
    ffn: Optional[int] = None
    #: Experts that every token passes. whole, 0 to 1e7. Default: 0.
    shared: Optional[int] = None
    #: The first layers, which have an MLP. whole, 0 to 1e7. Default: 0.
    dense_layers: Optional[int] = None
    #: Of the other layers this many-th has experts. whole, 1 to 1e7. Default: 1.
    every: Optional[int] = None
    #: Width of the MLP of the shared experts; 0: `shared` x `ffn`. whole, 0 to 1e7. Default: 0.
    shared_ffn: Optional[int] = None
    #: Width of a token between projections around the routed experts; 0: none. whole, 0 to 1e7. Default: 0.
    latent: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Mamba(Section):
    """The key `mamba` of Model."""
    #: Heads of a layer. whole, 1 to 100000.
    heads: int
    #: Channels of a head. whole, 1 to 100000.
    head_dim: int
    #: Elements of a head's state for each channel. whole, 1 to 100000.
    state: int
    #: Groups of heads that share projections. whole, 1 to 100000.
    groups: int
    #: Taps of the causal convolution. whole, 0 to 1000. Default: 4.
    convolution: Optional[int] = None
    #: Tokens that are computed together. whole, 0 to 1000000. Default: 128.
    chunk: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Model(Section):
    """The key `model` of Training."""
    #: A name or the path of a model whose dimensions the other keys change. name or path. Default: none.
    preset: Optional[str] = None
    #: The path of a config.json of Hugging Face's transformers whose dimensions the other keys change. Default: none.
    huggingface: Optional[str] = None
    #: Multi-head latent attention. Default: none.
    latent_attention: Optional["LatentAttention"] = None
    #: Experts in place of the MLP. Default: none.
    moe: Optional["Moe"] = None
    #: Layers. whole, 1 to 10000. Default: required, without `preset`, without `huggingface`.
    layers: Optional[int] = None
    #: Width of the hidden state. whole, 1 to 1000000. Default: required, without `preset`, without `huggingface`.
    hidden: Optional[int] = None
    #: Width of the MLP. whole, 1 to 1e7. Default: required, without `preset`, without `huggingface`.
    ffn: Optional[int] = None
    #: Query heads. whole, 1 to 100000. Default: required, without `preset`, without `huggingface`.
    heads: Optional[int] = None
    #: *Only without `latent_attention`.* KV heads. whole, 1 to 100000. Default: required, without `preset`, without
    #: `huggingface`.
    kv_heads: Optional[int] = None
    #: Tokens of the vocabulary. whole, 1 to 1e8. Default: required, without `preset`, without `huggingface`.
    vocabulary: Optional[int] = None
    #: Width of a head; 0: `hidden` / `heads`. whole, 0 to 1000000. Default: 0.
    head_dim: Optional[int] = None
    #: The activation of the MLP. `"swiglu"`, `"gelu"`, `"squared_relu"`. Default: `"swiglu"`.
    mlp: Optional[str] = None
    #: Rows of a table of learned positions; 0: none. whole, 0 to 1e8. Default: 0.
    positions: Optional[int] = None
    #: Every matrix product in a layer has a bias. Default: false.
    biases: Optional[bool] = None
    #: Norms have a bias too. Default: false.
    layer_norm: Optional[bool] = None
    #: A norm on each head of queries and keys. Default: false.
    query_key_norm: Optional[bool] = None
    #: The output projection is the embedding. Default: false.
    tied_embeddings: Optional[bool] = None
    #: Tokens that a query of a layer with a sliding window sees; 0: none has one. whole, 0 to 1e8. Default: 0.
    window: Optional[int] = None
    #: Each layer of this number has the window, the first of a group. whole, 0 to 10000. Default: 1.
    window_every: Optional[int] = None
    #: Further tokens that modules after the layers predict. whole, 0 to 16. Default: 0.
    predicted_tokens: Optional[int] = None
    #: State space layers. Default: none.
    mamba: Optional["Mamba"] = None
    #: A letter for each layer of a hybrid model. Default: none.
    pattern: Optional[str] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Parallelism(Section):
    """The key `parallelism` of Training."""
    #: Tensor parallel. whole, 1 to 1000000. Default: 1.
    tp: Optional[int] = None
    #: Context parallel. whole, 1 to 1000000. Default: 1.
    cp: Optional[int] = None
    #: Pipeline stages. whole, 1 to 1000000. Default: 1.
    pp: Optional[int] = None
    #: Data parallel. whole, 1 to 1000000. Default: 1.
    dp: Optional[int] = None
    #: Experts over tp x cp x dp; etp x ep divides these. whole, 1 to 1000000. Default: 1.
    ep: Optional[int] = None
    #: Ranks that share the matrices of an expert, a divisor of tp. whole, 1 to 1000000. Default: `tp`.
    etp: Optional[int] = None
    #: Model chunks of a pipeline stage: 2 or more for `"interleaved"`, any number for `"bfs"`, else 1. whole, 1 to
    #: 1000000. Default: 1.
    virtual_stages: Optional[int] = None
    #: With `fsdp`: replicas of the sharded model, a divisor of dp. whole, 1 to 1000000. Default: 1.
    dp_replicate: Optional[int] = None
    #: Shard parameters over cp x dp. Default: false.
    fsdp: Optional[bool] = None
    #: Shard the optimizer over cp x dp. Default: false.
    zero1: Optional[bool] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Precision(Section):
    """The key `precision` of Training."""
    #: Of parameters and activations. `"fp8"`, `"bf16"`, `"fp16"`, `"fp32"`. Default: `"bf16"`.
    parameters: Optional[str] = None
    #: Of gradients. `"fp8"`, `"bf16"`, `"fp16"`, `"fp32"`. Default: `"fp32"`.
    gradients: Optional[str] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Router(Section):
    """The key `router` of TrainingMoe."""
    #: How choices spread. `"uniform"`, `"zipf"`, `"dirichlet"`, `"weights"`.
    kind: str
    #: *Only with `kind` `zipf`.* The r-th most popular expert has weight r^-exponent. 0 to 100. Default: 1.
    exponent: Optional[float] = None
    #: *Only with `kind` `dirichlet`.* Of each expert. 1e-06 to 1000000. Default: 1.
    concentration: Optional[float] = None
    #: *Only with `kind` `zipf` or `dirichlet`.* Every layer has a draw of its own. Default: false.
    fresh_layers: Optional[bool] = None
    #: *Only with `kind` `weights`.* Rows of a number for each expert, or the path of such a JSON file.
    weights: Optional[Union[List[List[float]], str]] = None
    #: *Only with `kind` `weights`.* What a row is for; layer or rank i has row i modulo rows. `"layers"`, `"members"`.
    #: Default: `"layers"`.
    rows: Optional[str] = None
    #: Deviation of a step of every expert's log-popularity from layer to layer. 0 to 100. Default: 0.
    layer_drift: Optional[float] = None
    #: The same from iteration to iteration, in each layer apart. 0 to 100. Default: 0.
    iteration_drift: Optional[float] = None
    #: Deviation of a rank's log-popularities from the layer's. 0 to 100. Default: 0.
    source_spread: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class TrainingMoe(Section):
    """The key `moe` of Training."""
    #: How tokens choose experts: a kind, or its values. Default: `"uniform"`.
    router: Optional[Union["Router", str]] = None
    #: A rank sends an expert at most factor x `top_k` x `tokens` / `experts` tokens, rounded up. 0 to 1000000. Default:
    #: 0: dropless.
    capacity_factor: Optional[float] = None
    #: Always send the whole capacity. Default: false.
    padded: Optional[bool] = None
    #: Of an element on the way to the expert. `"fp8"`, `"bf16"`, `"fp16"`, `"fp32"`. Default: `"bf16"`.
    dispatch: Optional[str] = None
    #: Of an element on the way back. `"fp8"`, `"bf16"`, `"fp16"`, `"fp32"`. Default: `"bf16"`.
    combine: Optional[str] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Fsdp(Section):
    """The key `fsdp` of Training."""
    #: Gathered again for the backward pass. Default: true.
    reshard_after_forward: Optional[bool] = None
    #: Units that are gathered ahead of the one in use. whole, 0 to 1000. Default: 1.
    prefetch: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Gradients(Section):
    """The key `gradients` of Training."""
    #: With `fsdp`: reduced after each backward pass, else after the last. Default: true.
    every_micro_batch: Optional[bool] = None
    #: Reduced beside the backward pass, else after it. Default: true.
    overlap: Optional[bool] = None
    #: With `zero1`: parameters are gathered before their first use, else after the optimizer. Default: false.
    overlap_parameters: Optional[bool] = None
    #: Without `fsdp`: reduced in buckets of this many 10^6 bytes; 0: layer by layer. 0 to 1e9. Default: 0.
    bucket_mb: Optional[float] = None
    #: All-reduce the norm of the gradients before the optimizer. Default: false.
    clip: Optional[bool] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Overlap(Section):
    """The key `overlap` of Training."""
    #: Exchanges of sequence parallelism run beside the products next to them. Default: false.
    tensor: Optional[bool] = None
    #: `1f1b` and `interleaved`: forward and backward passes in pairs, so that the all-to-alls of one run beside the
    #: other. Default: false.
    experts: Optional[bool] = None
    #: With `experts`: layer by layer of both passes, so that each exchange has a computation of the other pass beside
    #: it; or part by part in turn, which hides about half of the exchanges. `"by_layer"`, `"turn_by_turn"`. Default:
    #: `"by_layer"`.
    pairing: Optional[str] = None
    #: With `experts`: gradients of experts' weights are computed once the tokens' gradients have left. Default: true.
    delay_weights: Optional[bool] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class BorrowedBy(Section):
    """The key `borrowed_by` of Operators."""
    #: Its peak in bf16. above 0, to 1e9.
    bf16_tflops: Optional[float] = None
    #: Its peak in fp8. above 0, to 1e9.
    fp8_tflops: Optional[float] = None
    #: Its peak in fp4. above 0, to 1e9.
    fp4_tflops: Optional[float] = None
    #: Bandwidth of its memory. above 0, to 1e9.
    memory_gb_per_s: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Bf16Layers(Section):
    """The key `bf16_layers` of Operators."""
    #: Layers at the beginning of the model. whole, 0 to 1000000. Default: 0.
    first: Optional[int] = None
    #: Layers at its end. whole, 0 to 1000000. Default: 0.
    last: Optional[int] = None
    #: Also modules that predict further tokens. Default: false.
    predictions: Optional[bool] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Host(Section):
    """The key `host` of Operators."""
    #: Of the host for a kernel that is in no graph and that a library launches in a loop: the products of experts one
    #: by one. Default: 8 us.
    kernel_launch_ns: Optional[float] = None
    #: Of the host for any other kernel in no graph, which the framework calls by itself; 22 us on Grace. Default: as
    #: `kernel_launch`.
    operator_call_ns: Optional[float] = None
    #: CUDA graphs: the host launches every kernel; those of routed experts only; none. `"none"`, `"layers"`, `"step"`.
    #: Default: `"step"`.
    graphs: Optional[str] = None
    #: The host reads how many tokens each expert has before it launches them, so that its time adds up; else the longer
    #: of host and GPU counts. Default: true.
    waits_for_routing: Optional[bool] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Unlike(Section):
    """The key `unlike` of Operators."""
    #: Whose tables. Default: its own.
    tables: Optional[str] = None
    #: A GPU without tables takes the other's share of the roofline under its own data sheet; all its times count as
    #: extrapolated. Default: none.
    borrowed_by: Optional["BorrowedBy"] = None
    #: Of the products of layers, casts included; head and router are bf16. A GPU whose tables lack it computes in the
    #: next wider one that it has, without casts, and a warning says so. `"bf16"`, `"fp8"`, `"mxfp8"`, `"nvfp4"`.
    #: Default: `"bf16"`.
    precision: Optional[str] = None
    #: Of one product by its name (`attention.qkv`, `mamba.out`, `experts.latent_down`, `shared.up`; a wrong one lists
    #: them all), or of all that begin with it and a dot (`attention`); the longest name counts. Default: none.
    precision_of: Optional[Dict[str, str]] = None
    #: Layers that have all products in bf16. Default: none.
    bf16_layers: Optional["Bf16Layers"] = None
    #: Of the core of attention. `"bf16"`, `"fp8"`. Default: `"bf16"`.
    scores: Optional[str] = None
    #: Every time that comes from a table is this many times the table's: what `calibrate --rows` fits. above 0, to 100.
    #: Default: 1.
    factor: Optional[float] = None
    #: What the host takes to launch kernels.
    host: Optional["Host"] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Operators(Section):
    """The key `operators` of Training."""
    #: Measured tables, with the roofline where they have nothing near; or the roofline of the cluster's GPU alone.
    #: `"tables"`, `"roofline"`.
    times: str
    #: A folder with tables of one's own, which go first. Default: none.
    folder: Optional[str] = None
    #: Whose tables (`photonrail operators info`). Default: the cluster's GPU.
    gpu: Optional[str] = None
    #: A GPU without tables takes the other's share of the roofline under its own data sheet; all its times count as
    #: extrapolated. Default: none.
    borrowed_by: Optional["BorrowedBy"] = None
    #: Of the products of layers, casts included; head and router are bf16. A GPU whose tables lack it computes in the
    #: next wider one that it has, without casts, and a warning says so. `"bf16"`, `"fp8"`, `"mxfp8"`, `"nvfp4"`.
    #: Default: `"bf16"`.
    precision: Optional[str] = None
    #: Of one product by its name (`attention.qkv`, `mamba.out`, `experts.latent_down`, `shared.up`; a wrong one lists
    #: them all), or of all that begin with it and a dot (`attention`); the longest name counts. Default: none.
    precision_of: Optional[Dict[str, str]] = None
    #: Layers that have all products in bf16. Default: none.
    bf16_layers: Optional["Bf16Layers"] = None
    #: Of the core of attention. `"bf16"`, `"fp8"`. Default: `"bf16"`.
    scores: Optional[str] = None
    #: Every time that comes from a table is this many times the table's: what `calibrate --rows` fits. above 0, to 100.
    #: Default: 1.
    factor: Optional[float] = None
    #: What the host takes to launch kernels.
    host: Optional["Host"] = None
    #: Only adapters learn: no products for the gradients of weights, no reduction of them, no optimizer. Default:
    #: false.
    frozen_weights: Optional[bool] = None
    #: Unfused: scores go to memory and back; with dropout masks. `"fused"`, `"unfused"`, `"unfused_dropout"`. Default:
    #: `"fused"`.
    attention: Optional[str] = None
    #: Of latent attention, which alone may have it: rotary embedding and the joins of heads in a kernel, or in
    #: operators of the framework. `"fused"`, `"framework"`. Default: `"fused"`.
    rotary: Optional[str] = None
    #: One kernel for all experts of a rank, or one for each product of each. `"grouped"`, `"one_by_one"`. Default:
    #: `"grouped"`.
    experts: Optional[str] = None
    #: Clamps and biases of routed experts in the kernels, or operators of the framework, the second bias in that
    #: precision. `"fused"`, `"bf16"`, `"fp32"`. Default: `"fused"`.
    expert_biases: Optional[str] = None
    #: What routed experts keep for their backward pass is copied out of buffers of a fixed size and back, as whole-step
    #: graphs without a capacity need. Default: false.
    stash_experts: Optional[bool] = None
    #: With `dispatch` `"copy_per_rank"` or `"hybrid_ep"`: the neighbouring ranks, those of a server, that share one
    #: copy; a divisor of `ep`. whole, 1 to 1000000. Default: 1.
    ranks_a_copy: Optional[int] = None
    #: Computed again in the backward pass, beside `recompute` of the job; up-projections of latent attention; experts
    #: with their exchanges. Default: `[]`.
    recompute: Optional[List[str]] = None
    #: What differs on GPUs of `/cluster/unlike_gpus`, by their name (`custom` where they have none; presets that the
    #: cluster has not are passed over). Default: none.
    unlike: Optional[Dict[str, "Unlike"]] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Training(Section):
    """The key `training` of Workload."""
    #: A name of `photonrail list models`, the path of a model, or its dimensions.
    model: Union["Model", str]
    #: The sizes of the dimensions.
    parallelism: "Parallelism"
    #: Tokens. whole, 1 to 1e8.
    sequence: int
    #: Sequences in a step; a multiple of dp x `micro_batch`. whole, 1 to 1e8.
    global_batch: int
    #: Sequences in a micro-batch of one data-parallel rank. whole, 1 to 1e8. Default: 1.
    micro_batch: Optional[int] = None
    #: Of the pipeline. `"gpipe"`, `"1f1b"`, `"interleaved"`, `"bfs"`, `"zb_h1"`, `"zb_h2"`, `"dualpipe"`. Default:
    #: `"1f1b"`.
    schedule: Optional[str] = None
    #: Activations: nothing, the core of attention, or every layer again. `"none"`, `"selective"`, `"full"`. Default:
    #: `"none"`.
    recompute: Optional[str] = None
    #: Tp traffic as all-gather and reduce-scatter instead of all-reduce. Default: true.
    sequence_parallel: Optional[bool] = None
    #: Pp without `sequence_parallel`: a tp rank sends a tp-th of an activation, and the next stage gathers it; else
    #: each sends all of it. Default: false.
    scatter_messages: Optional[bool] = None
    #: Count half of the attention scores. Default: false.
    causal: Optional[bool] = None
    #: The embedding and the head take the place of a layer each in the split over stages. Default: false.
    ends_count_as_layers: Optional[bool] = None
    #: All-reduce the loss once a step. Default: false.
    average_loss: Optional[bool] = None
    #: Layers of each virtual stage, in forward order, `pp` x `virtual_stages` of them; they add up to the model's. The
    #: embedding is on the first, predictions and the head on the last. Default: split evenly.
    stage_layers: Optional[List[int]] = None
    #: Formats of numbers.
    precision: Optional["Precision"] = None
    #: How the tokens of the model's experts move. Default: even routing.
    moe: Optional["TrainingMoe"] = None
    #: With `parallelism/fsdp`: how parameters are gathered.
    fsdp: Optional["Fsdp"] = None
    #: How gradients are reduced.
    gradients: Optional["Gradients"] = None
    #: What runs beside each other.
    overlap: Optional["Overlap"] = None
    #: Even routing: a token is sent once to each of its experts, or once to each rank that has some of them;
    #: `"hybrid_ep"`: before that every rank gathers and scans which experts the tokens of the group chose.
    #: `"copy_per_expert"`, `"copy_per_rank"`, `"hybrid_ep"`. Default: `"copy_per_expert"`.
    dispatch: Optional[str] = None
    #: Operators one by one, each with a time. Default: the GPU's roofline times whole parts of a layer.
    operators: Optional["Operators"] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class CollectiveMoe(Section):
    """The key `moe` of Collective."""
    #: Routed experts, a multiple of the ranks; expert e is on rank e / (experts / ranks). whole, 1 to 1000000.
    experts: int
    #: Experts that a token chooses. whole, 1 to 1000000.
    top_k: int
    #: Of a rank. whole, 1 to 2^32.
    tokens: int
    #: Elements of a token. whole, 1 to 1000000.
    hidden: int
    #: How tokens choose experts: a kind, or its values. Default: `"uniform"`.
    router: Optional[Union["Router", str]] = None
    #: A rank sends an expert at most factor x `top_k` x `tokens` / `experts` tokens, rounded up. 0 to 1000000. Default:
    #: 0: dropless.
    capacity_factor: Optional[float] = None
    #: Always send the whole capacity. Default: false.
    padded: Optional[bool] = None
    #: Of an element on the way to the expert. `"fp8"`, `"bf16"`, `"fp16"`, `"fp32"`. Default: `"bf16"`.
    dispatch: Optional[str] = None
    #: Of an element on the way back. `"fp8"`, `"bf16"`, `"fp16"`, `"fp32"`. Default: `"bf16"`.
    combine: Optional[str] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class RefitTraining(Section):
    """The key `training` of Refit."""
    #: How many. whole, 1 to 2^20.
    ranks: int
    #: Pipeline stages, which divide the layers evenly. whole, 1 to 2^20. Default: 1.
    pp: Optional[int] = None
    #: Tensor parallel, innermost. whole, 1 to 2^20. Default: 1.
    tp: Optional[int] = None
    #: Experts over the ranks of a stage. whole, 1 to 2^20. Default: 1.
    ep: Optional[int] = None
    #: Ranks that share the matrices of an expert. whole, 1 to 2^20. Default: 1.
    etp: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Refit(Section):
    """The key `refit` of Collective."""
    #: A name of `photonrail list models`, or the path of a model. name or path.
    model: str
    #: Ranks that hold the weights, from rank 0.
    training: "RefitTraining"
    #: Ranks of one engine.
    engine: "RefitTraining"
    #: Of a weight on the wire. `"fp8"`, `"bf16"`, `"fp16"`, `"fp32"`. Default: `"bf16"`.
    precision: Optional[str] = None
    #: Of the bytes; below 1: a delta to the weights before. above 0, to 1. Default: 1.
    share: Optional[float] = None
    #: How many engines. whole, 1 to 2^20. Default: 1.
    engines: Optional[int] = None
    #: Engines are on the training ranks from rank 0, else on the ranks behind them. Default: false.
    colocated: Optional[bool] = None
    #: One rank collects and sends all; a ring over all ranks; a ring of servers on each rail with a gather inside; each
    #: shard from a holder, all at once or in matchings. `"funnel"`, `"ring"`, `"ring_per_rail"`, `"sharded"`,
    #: `"sharded_matchings"`. Default: `"ring_per_rail"`.
    by: Optional[str] = None
    #: That what a rail carries is cut into, so that hops follow each other. whole, 1 to 1000000. Default: 64.
    pieces: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Algorithm(Section):
    """The key `algorithm` of Collective."""
    #: A file of MSCCL XML. Default: one of the three.
    msccl: Optional[str] = None
    #: An algorithm of TACCL, as JSON.
    taccl: Optional[str] = None
    #: The prefix of a collective written as sends and receives.
    chakra: Optional[str] = None
    #: The size that the trace was written for, counted as in `workload/collective/bytes`. whole, 1 to 2^50. Default:
    #: required, with `chakra`.
    bytes: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Collective(Section):
    """The key `collective` of Workload."""
    #: The collective. name.
    op: str
    #: All-to-all: a square array of arrays of bytes, row = sender, column = receiver, the diagonal stays, or the path
    #: of such a JSON file; its size is the number of ranks. Default: none.
    demand: Optional[Union[List[List[int]], str]] = None
    #: All-to-all: the dispatch and combine of a mixture of experts, one expert-parallel group of all ranks. Default:
    #: none.
    moe: Optional["CollectiveMoe"] = None
    #: All-to-all: the weights of a trained model go to the engines that generate with it; their layouts say how many
    #: ranks. Default: none.
    refit: Optional["Refit"] = None
    #: *Only not with `op` `barrier`, without `demand`, without `moe`, without `refit`.* All-gather, gather: a member's
    #: shard; all-to-all: a member's input; else the full tensor. whole, 1 to 2^50.
    bytes: Optional[int] = None
    #: How many; at most the GPUs of the cluster. whole, 2 to 4294967294. Default: all GPUs.
    ranks: Optional[int] = None
    #: A name, `"auto"`, or a file, as in `/collectives`, which it goes before. Default: from `/collectives`.
    algorithm: Optional[Union["Algorithm", str]] = None
    #: *Only with `op` `reduce` or `gather` or `scatter` or `broadcast`.* The rank of a reduce, gather, scatter or
    #: broadcast. whole, 0 to 4294967294. Default: 0.
    root: Optional[int] = None
    #: Calls, one after another; with `moe`: layers. whole, 1 to 1000000. Default: 1.
    repeat: Optional[int] = None
    #: Of ranks that are late for the first call. Default: none.
    arrival_delay_us: Optional[Dict[str, float]] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class MoeLayer(Section):
    """The key `moe_layer` of Workload."""
    #: Routed experts, a multiple of the ranks; expert e is on rank e / (experts / ranks). whole, 1 to 1000000.
    experts: int
    #: Experts that a token chooses. whole, 1 to 1000000.
    top_k: int
    #: Of a rank. whole, 1 to 2^32.
    tokens: int
    #: Elements of a token. whole, 1 to 1000000.
    hidden: int
    #: Width of an expert's hidden layer. whole, 1 to 1e7.
    ffn: int
    #: Dispatch, experts, combine one after another, or as one pipeline. `"bulk"`, `"pipelined"`.
    execution: str
    #: How tokens choose experts: a kind, or its values. Default: `"uniform"`.
    router: Optional[Union["Router", str]] = None
    #: A rank sends an expert at most factor x `top_k` x `tokens` / `experts` tokens, rounded up. 0 to 1000000. Default:
    #: 0: dropless.
    capacity_factor: Optional[float] = None
    #: Always send the whole capacity. Default: false.
    padded: Optional[bool] = None
    #: Of an element on the way to the expert. `"fp8"`, `"bf16"`, `"fp16"`, `"fp32"`. Default: `"bf16"`.
    dispatch: Optional[str] = None
    #: Of an element on the way back. `"fp8"`, `"bf16"`, `"fp16"`, `"fp32"`. Default: `"bf16"`.
    combine: Optional[str] = None
    #: Two matrices up instead of one. Default: false.
    gated: Optional[bool] = None
    #: One after another. whole, 1 to 1000000. Default: 1.
    layers: Optional[int] = None
    #: Tokens of a tile. whole, 1 to 1000000. Default: 128.
    tile_rows: Optional[int] = None
    #: Elements of a tile. whole, 1 to 1000000. Default: 64.
    tile_columns: Optional[int] = None
    #: Of a GPU that compute tiles. whole, 1 to 65535. Default: 131.
    processors: Optional[int] = None
    #: `pipelined`: how signals stay behind messages to other servers. `"none"`, `"each_message"`, `"each_destination"`,
    #: `"nic"`. Default: `"none"`.
    fences: Optional[str] = None
    #: What a fence takes. Default: 0.
    fence_us: Optional[float] = None
    #: How many; at most the GPUs of the cluster. whole, 2 to 4294967294. Default: all GPUs.
    ranks: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Agent(Section):
    """The key `agent` of Workload."""
    #: `photonrail list agents`. `"repeat"`, `"arrivals"`.
    name: str
    #: Of the job that the agent has. whole, 1 to 2^24. Default: those of the step; `arrivals`, and without a step: all
    #: GPUs.
    ranks: Optional[int] = None
    #: An agent that is told of so many, and has not finished, ends the run with status 3. whole, 1 to 2^53. Default:
    #: 100000000.
    most_events: Optional[int] = None
    #: When jobs arrive, ascending; of agents that have a use for times, as `arrivals`. Default: none.
    at_s: Optional[List[float]] = None
    #: *Only with `name` `repeat` or `arrivals`.* Of a job, in a row. whole, 1 to 1000000.
    steps: Optional[int] = None
    #: *Only with `name` `arrivals`.* How many arrive; of a Poisson process. whole, 0 to 1e7.
    jobs: Optional[int] = None
    #: *Only with `name` `arrivals`.* Jobs a second on average. 0 to 1e9.
    per_s: Optional[float] = None
    #: *Only with `name` `arrivals`.* Which free ranks a job gets. `"lowest_ranks"`, `"whole_servers"`.
    placement: Optional[str] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Stages(Section):
    """The key `stages` of Arrivals."""
    #: Requests a second. above 0, to 1e7.
    per_s: float
    #: How long.
    lasts_s: float
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Arrivals(Section):
    """The key `arrivals` of Requests."""
    #: The law of the gaps between requests. `"poisson"`, `"gamma"`, `"weibull"`, `"constant"`. Default: `"poisson"`.
    process: Optional[str] = None
    #: *Only with `process` `gamma`.* Deviation of gaps over their mean. 0.01 to 100.
    cv: Optional[float] = None
    #: *Only with `process` `weibull`.* Of the law. 0.05 to 100.
    shape: Optional[float] = None
    #: Requests a second. above 0, to 1e7. Default: required, without `stages`.
    per_s: Optional[float] = None
    #: Rates one after another in place of one; no requests come after the last. Default: none.
    stages: Optional[List["Stages"]] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Input(Section):
    """The key `input` of Requests."""
    #: The law of the number. `"uniform"`, `"normal"`, `"log_normal"`.
    distribution: str
    #: *Only with `distribution` `uniform`.* The smallest. 1 to 2^24.
    least: Optional[float] = None
    #: *Only with `distribution` `uniform`.* The greatest. 1 to 2^24.
    greatest: Optional[float] = None
    #: *Only with `distribution` `normal`.* Before cuts. 1 to 2^24.
    mean: Optional[float] = None
    #: *Only with `distribution` `normal`.* Before cuts. 0 to 2^24.
    deviation: Optional[float] = None
    #: *Only with `distribution` `log_normal`.* Before cuts. 1 to 2^24.
    median: Optional[float] = None
    #: *Only with `distribution` `log_normal`.* Of the logarithm. 0 to 4.
    sigma: Optional[float] = None
    #: Longer ones are cut to this. whole, 1 to 2^24. Default: 2^24.
    most: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Prefix(Section):
    """The key `prefix` of Requests."""
    #: Different beginnings, each as likely. whole, 1 to 1e9.
    groups: int
    #: Of a beginning, at most the prompt. whole, 1 to 2^24.
    tokens: int
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Classes(Section):
    """The key `classes` of Requests."""
    #: In results.
    name: str
    #: Of arrivals, in proportion to the others. above 0, to 1000000. Default: 1.
    share: Optional[float] = None
    #: With `order` `priority`: less is sooner. whole, 0 to 1000000. Default: 0.
    priority: Optional[int] = None
    #: In place of that of `slo`. Default: that of `slo`.
    ttft_ms: Optional[float] = None
    #: In place of that of `slo`. Default: that of `slo`.
    tpot_ms: Optional[float] = None
    #: Refused where so many wait at its engine. whole, 1 to 1e9. Default: never.
    shed_above: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Requests(Section):
    """The key `requests` of Serving."""
    #: A trace: Azure's, BurstGPT's or Mooncake's columns, or `arrival_ms,input_tokens,output_tokens`. Default: none.
    trace: Optional[str] = None
    #: *Only without `concurrency`.* So many times the rate of the trace or of `arrivals`: times are divided by it.
    #: above 0, to 1000000. Default: 1.
    rate_factor: Optional[float] = None
    #: *Only without `trace`.* Clients, each with one request at a time. whole, 1 to 1e7. Default: none.
    concurrency: Optional[int] = None
    #: *Only without `trace`, without `concurrency`.* When requests come, whatever becomes of those before. Default:
    #: required, without `trace`, without `concurrency`.
    arrivals: Optional["Arrivals"] = None
    #: Of a client or session, between an answer and its next request. Default: 0.
    think_ms: Optional[Union["Delay", float]] = None
    #: *Only without `trace`.* Requests of a session; each prompt begins with all before it. whole, 1 to 1000000.
    #: Default: 1.
    turns: Optional[int] = None
    #: *Only without `trace`.* Tokens of a prompt; in a session those that are new. Default: required, without `trace`.
    input: Optional[Union["Input", int]] = None
    #: *Only without `trace`.* Tokens of an answer. Default: required, without `trace`.
    output: Optional[Union["Input", int]] = None
    #: *Only without `trace`.* Prompts that begin alike. Default: none.
    prefix: Optional["Prefix"] = None
    #: Kinds of requests with limits and priorities of their own. Default: none.
    classes: Optional[List["Classes"]] = None
    #: How many; of a trace at most its rows. whole, 1 to 1e12. Default: 1000, or the whole trace.
    count: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Offload(Section):
    """The key `offload` of Pools."""
    #: `host`, or the name of a pool whose engines lend blocks that they can spare, and take them back where they lack
    #: some. Default: `"host"`.
    to: Optional[str] = None
    #: Of an engine, at most. whole, 1 to 4e9. Default: 2^20.
    blocks: Optional[int] = None
    #: *Only not with `to` `host` or ``.* Of its blocks that a donor keeps free. 0 to 1. Default: 0.1.
    keep: Optional[float] = None
    #: *Only with `to` `host` or ``.* Host: of the link to it, each direction. above 0, to 1e9. Default: 64.
    link_gb_per_s: Optional[float] = None
    #: *Only with `to` `host` or ``.* Host: neighbouring GPUs behind one link, of which each transfer gets an equal
    #: part. whole, 1 to 1024. Default: 1.
    gpus_per_link: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Scaling(Section):
    """The key `scaling` of Pools."""
    #: Engines that are always there. whole, 1 to 1000000. Default: 1.
    least: Optional[int] = None
    #: Above so many requests an engine one starts, and loads its weights from another one over the fabric. 0 to 1e9.
    #: Default: 32.
    up: Optional[float] = None
    #: Below so many the last one takes no more, and stops when it has none. 0 to 1e9. Default: 4.
    down: Optional[float] = None
    #: Between two decisions. Default: 0.
    cool_down_s: Optional[float] = None
    #: From the end of loading until it takes requests. Default: 0.
    start_s: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Speculation(Section):
    """The key `speculation` of Engine."""
    #: Tokens that are proposed a step. whole, 1 to 64.
    drafts: int
    #: Of one, after those before it. 0 to 1.
    acceptance: float
    #: To propose one, for the whole batch. Default: 0.
    draft_us: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Engine(Section):
    """The key `engine` of Pools."""
    #: Requests that run at once. whole, 1 to 1000000. Default: 256.
    max_sequences: Optional[int] = None
    #: Tokens of a step. whole, 1 to 1000000. Default: 8192.
    token_budget: Optional[int] = None
    #: Greatest chunk of one prompt; 0: the budget. whole, 0 to 1000000. Default: 0.
    long_prefill_tokens: Optional[int] = None
    #: Tokens of a KV block. whole, 1 to 65536. Default: 16.
    block_tokens: Optional[int] = None
    #: KV blocks of an engine. whole, 1 to 4e9. Default: from the GPU's memory.
    blocks: Optional[int] = None
    #: Of the GPU's memory that the engine takes. 0.01 to 1. Default: 0.9.
    memory_share: Optional[float] = None
    #: Of this, for activations and the framework. 0 to 1000000. Default: 2.
    reserved_gb: Optional[float] = None
    #: Blocks with the same content are shared. Default: true.
    prefix_caching: Optional[bool] = None
    #: What becomes of the KV of a preempted request. `"recompute"`, `"swap"`. Default: `"recompute"`.
    preemption: Optional[str] = None
    #: *Only with `preemption` `swap`.* From an engine to its host and back. above 0, to 1e9. Default: of a pool with
    #: `offload` that says it.
    swap_gb_per_s: Optional[float] = None
    #: For what blocks must be free before a request begins. `"first_chunk"`, `"prompt"`, `"prompt_and_output"`.
    #: Default: `"first_chunk"`.
    admission: Optional[str] = None
    #: Which waiting request is next. `"arrival"`, `"priority"`, `"shortest"`. Default: `"arrival"`.
    order: Optional[str] = None
    #: After so many tokens a request gives way to one that waits, and goes to the end of the queue. whole, 1 to
    #: 1000000. Default: none gives way.
    slice_tokens: Optional[int] = None
    #: A step is decided when the one before it begins (overlap, asynchronous scheduling): who comes meanwhile waits for
    #: the one after it. Default: false.
    decide_ahead: Optional[bool] = None
    #: New requests are looked for after so many steps of decodes, and after each with prompts (SGLang's
    #: `scheduler-recv-interval`). whole, 1 to 1000000. Default: 1.
    poll_steps: Optional[int] = None
    #: Beside decodes, requests are held back for so many steps (TensorRT-LLM's `batch_wait_timeout_iters`). whole, 0 to
    #: 1000000. Default: 0.
    wait_steps: Optional[int] = None
    #: Of a step, with which they are not held back. whole, 1 to 1000000. Default: `token_budget`.
    wait_tokens: Optional[int] = None
    #: Steps with prompts have no decodes (SGLang). Default: false.
    prompts_alone: Optional[bool] = None
    #: Drafts that a step verifies. Default: none.
    speculation: Optional["Speculation"] = None
    #: Decides the steps, in place of vLLM's rules: a name of `photonrail list schedulers`. `"shortest_first"`. Default:
    #: vLLM's rules.
    scheduler: Optional[str] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Law(Section):
    """The key `law` of Times."""
    #: Of every step.
    fixed_us: float
    #: Each token of a prompt. Default: 0.
    prefill_token_us: Optional[float] = None
    #: Each token that is decoded. Default: 0.
    decode_us: Optional[float] = None
    #: Each token that a decode reads. Default: 0.
    cached_token_ns: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class TimesHost(Section):
    """The key `host` of Times."""
    #: Each step. Default: 0.
    step_us: Optional[float] = None
    #: Each request of a step. Default: 0.
    request_us: Optional[float] = None
    #: Each token of a step. Default: 0.
    token_us: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Times(Section):
    """The key `times` of Pools."""
    #: Four constants. Default: none.
    law: Optional["Law"] = None
    #: *Only without `law`.* A profile of one's own: a folder with `dense.csv`, `per_sequence.csv`, `attention.csv` and,
    #: with experts, `moe.csv`. Default: none.
    kernels: Optional[str] = None
    #: *Only without `law`, without `kernels`.* Without a profile: the GPU's tables of operators, or its roofline.
    #: `"roofline"`, `"tables"`. Default: `"roofline"`.
    operators: Optional[str] = None
    #: *Only without `law`, without `kernels`.* Rotary embedding and the write of KV: in the kernel of attention, as in
    #: TensorRT-LLM, or kernels of their own, as in vLLM and SGLang. `"in_attention"`, `"apart"`. Default:
    #: `"in_attention"`.
    rotary: Optional[str] = None
    #: *Only without `law`.* With `tp`: an all-reduce, two a layer, beside its bytes. Default: by tables, that of the
    #: engines' own kernel on such GPUs; else 8 us; and messages between servers.
    reduce_us: Optional[float] = None
    #: *Only without `law`.* Bytes of the tensor over this. above 0, to 1e9. Default: as `reduce`; else that of a ring
    #: over the scale-up ports, and between servers over the NICs.
    reduce_gb_per_s: Optional[float] = None
    #: *Only without `law`.* Steps of at most so many tokens run as CUDA graphs, of sizes as vLLM captures them: their
    #: tokens are padded, but for attention and the head; 0: none. whole, 0 to 1e9. Default: twice `max_sequences`, at
    #: most 512.
    graph_tokens: Optional[int] = None
    #: *Only without `law`.* Each layer of steps with more than `graph_tokens` takes at least this: the host launches
    #: their kernels one by one. Default: 0.
    eager_layer_us: Optional[float] = None
    #: *Only without `law`.* What the host adds. Default: 0.
    host: Optional["TimesHost"] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Pools(Section):
    """The key `pools` of Serving."""
    #: In results. Default: its role.
    name: Optional[str] = None
    #: What it computes. `"mixed"`, `"prefill"`, `"decode"`. Default: `"mixed"`.
    role: Optional[str] = None
    #: Numbers of servers, whose GPUs are divided among its engines in order. Default: those of no other pool.
    servers: Optional[List[int]] = None
    #: GPUs that divide each layer of an engine; in one server where `collectives` are `timed`. whole, 1 to 65536.
    #: Default: that of the section.
    tp: Optional[int] = None
    #: Stages of an engine, each of `tp` GPUs; as many batches, with equal parts of its blocks, follow each other
    #: through them. whole, 1 to 1024. Default: that of the section.
    pp: Optional[int] = None
    #: Engines that step together, as long as the slowest of them (attention DP); experts are divided among them. whole,
    #: 1 to 65536. Default: that of the section.
    dp: Optional[int] = None
    #: GPUs of the `tp` x `dp` that have experts of their own; those that are left divide each expert. whole, 1 to
    #: 65536. Default: `dp`.
    ep: Optional[int] = None
    #: Where KV goes with `preemption` `swap`, as traffic of the job that steps wait for. Default: to the host at
    #: `swap_gb_per_s`.
    offload: Optional["Offload"] = None
    #: Its engines start and stop with the load. Default: all are there.
    scaling: Optional["Scaling"] = None
    #: Where it differs from `engine` of the section. Default: none.
    engine: Optional["Engine"] = None
    #: In place of `times` of the section. Default: none.
    times: Optional["Times"] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Routing(Section):
    """The key `routing` of Serving."""
    #: To which engine a request goes. `"round_robin"`, `"random"`, `"least_requests"`, `"least_blocks"`, `"prefix"`,
    #: `"nearest"`, `"sticky"`. Default: `"least_requests"`.
    arrivals: Optional[str] = None
    #: To which engine its KV goes. `"round_robin"`, `"random"`, `"least_requests"`, `"least_blocks"`, `"prefix"`,
    #: `"nearest"`, `"sticky"`. Default: `"least_blocks"`.
    decode: Optional[str] = None
    #: Blocks are known as at the last multiple of it. Default: 0.
    signal_age_ms: Optional[float] = None
    #: An engine that has so many waiting refuses another. whole, 1 to 1e9. Default: none is refused.
    max_waiting: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Transfer(Section):
    """The key `transfer` of Serving."""
    #: When KV goes: whole after prefill, or all layers but the last from the beginning of the last chunk on.
    #: `"at_end"`, `"layer_by_layer"`. Default: `"at_end"`.
    when: Optional[str] = None
    #: Those of one engine to several at once (to the same in turn), or one after another. `"fair"`, `"fifo"`. Default:
    #: `"fair"`.
    order: Optional[str] = None
    #: When its circuits are asked for: when it goes, or, by controllers that provision, when prefill begins.
    #: `"when_sent"`, `"at_prefill"`. Default: `"when_sent"`.
    open: Optional[str] = None
    #: Which engine gives it. `"decode"`, `"prefill"`. Default: `"decode"`.
    first_token: Optional[str] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Slo(Section):
    """The key `slo` of Serving."""
    #: Greatest time to the first token. Default: none.
    ttft_ms: Optional[float] = None
    #: Greatest mean time between later tokens. Default: none.
    tpot_ms: Optional[float] = None
    #: Of requests that should keep them, for `find_rate`. 0.01 to 1. Default: 0.9.
    share: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class FindRate(Section):
    """The key `find_rate` of Serving."""
    #: Ends where it is known to this share. 0.0001 to 1. Default: 0.02.
    within: Optional[float] = None
    #: Ends after so many runs. whole, 2 to 1000. Default: 40.
    most_runs: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Serving(Section):
    """The key `serving` of Workload."""
    #: The model that is served.
    model: Union["Model", str]
    #: What is asked for.
    requests: "Requests"
    #: Of its weights, and of its products where the GPU has it; head and router are bf16. `fp8`: a scale a tensor,
    #: known before; `fp8_block`: of blocks; `fp4`: NVFP4, of a model with experts without its attention. `"fp4"`,
    #: `"fp8"`, `"fp8_block"`, `"bf16"`, `"fp16"`, `"fp32"`. Default: `"bf16"`.
    precision: Optional[str] = None
    #: Of its KV. `"fp8"`, `"bf16"`, `"fp16"`, `"fp32"`. Default: `"bf16"`.
    kv_precision: Optional[str] = None
    #: First requests, whose times do not count. whole, 0 to 1e12. Default: 0.
    warm_up: Optional[int] = None
    #: Engines that are alike. Default: one mixed pool on all servers.
    pools: Optional[List["Pools"]] = None
    #: Of pools that say no `tp`. whole, 1 to 65536. Default: 1.
    tp: Optional[int] = None
    #: Of pools that say no `pp`. whole, 1 to 1024. Default: 1.
    pp: Optional[int] = None
    #: Of pools that say no `dp`. whole, 1 to 65536. Default: 1.
    dp: Optional[int] = None
    #: How an engine batches.
    engine: Optional["Engine"] = None
    #: How long a step takes. Default: the GPU's roofline.
    times: Optional["Times"] = None
    #: Those of a step: in its time, or traffic of the job behind it: all-reduces of `tp`, and with experts all-to-alls
    #: of `dp`. `"timed"`, `"flows"`. Default: `"timed"`.
    collectives: Optional[str] = None
    #: Who serves what.
    routing: Optional["Routing"] = None
    #: How KV goes from prefill to decode.
    transfer: Optional["Transfer"] = None
    #: What a good request keeps. Default: none.
    slo: Optional["Slo"] = None
    #: Runs at several rates, and gives the greatest at which the share of `slo` keeps its limits (`photonrail serve
    #: --find-rate`); needs `slo`, and arrivals or a trace. Default: none.
    find_rate: Optional["FindRate"] = None
    #: From the arrival of a request until its engine's queue has it: HTTP, tokenizer. Default: 0.
    request_host_ms: Optional[float] = None
    #: No step begins after it: the run ends with what is on its way, whatever is unfinished. Default: none.
    horizon_s: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Lengths(Section):
    """The key `lengths` of Prompts."""
    #: Tokens, after the cut. 1 to 2^24.
    mean: float
    #: The law. `"constant"`, `"uniform"`, `"log_normal"`. Default: `"log_normal"`.
    distribution: Optional[str] = None
    #: *Only not with `distribution` `constant` or `uniform`.* Deviation of the logarithm, before the cut. 0 to 3.
    #: Default: 0.6.
    sigma: Optional[float] = None
    #: Tokens at which a response is cut; 0: what an engine's KV holds. whole, 0 to 2^24. Default: 0.
    most: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Prompts(Section):
    """The key `prompts` of Rl."""
    #: Prompts of a step. whole, 1 to 1000000.
    count: int
    #: To each prompt. whole, 1 to 100000.
    responses: int
    #: Of responses.
    lengths: "Lengths"
    #: Of a prompt. whole, 1 to 2^24. Default: 100.
    tokens: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Failures(Section):
    """The key `failures` of Generation."""
    #: Its number, from 0. whole, 0 to 2^20.
    engine: int
    #: When it stops.
    at_s: float
    #: Until it is there again, with weights. Default: for good.
    lasts_s: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Generation(Section):
    """The key `generation` of Rl."""
    #: How many. whole, 1 to 2^20.
    engines: int
    #: Ranks of one: `ranks` = `tp` x `pp`. Experts are divided in either way; a step takes as long.
    engine: "RefitTraining"
    #: How an engine batches, as `workload/serving/engine`.
    batching: Optional["Engine"] = None
    #: Of weights. `"fp4"`, `"fp8"`, `"bf16"`, `"fp32"`. Default: `"bf16"`.
    precision: Optional[str] = None
    #: Of KV. `"fp4"`, `"fp8"`, `"bf16"`, `"fp32"`. Default: `"bf16"`.
    kv_precision: Optional[str] = None
    #: How long a step takes, as `workload/serving/times`. Default: the GPU's roofline.
    times: Optional["Times"] = None
    #: Asynchronous: decode steps after which an engine takes what has come. whole, 1 to 1000000. Default: 64.
    longest_run: Optional[int] = None
    #: Messages inside an engine: in the times, or traffic behind each run of steps. `"timed"`, `"flows"`. Default:
    #: `"timed"`.
    collectives: Optional[str] = None
    #: Engines that stop: other ones make their responses again from the beginning. Default: none.
    failures: Optional[List["Failures"]] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class RlTraining(Section):
    """The key `training` of Rl."""
    #: The sizes of the dimensions.
    parallelism: "Parallelism"
    #: Of the pipeline. `"gpipe"`, `"1f1b"`, `"interleaved"`, `"bfs"`, `"zb_h1"`, `"zb_h2"`, `"dualpipe"`. Default:
    #: `"1f1b"`.
    schedule: Optional[str] = None
    #: Activations: nothing, the core of attention, or every layer again. `"none"`, `"selective"`, `"full"`. Default:
    #: `"none"`.
    recompute: Optional[str] = None
    #: Tp traffic as all-gather and reduce-scatter instead of all-reduce. Default: true.
    sequence_parallel: Optional[bool] = None
    #: Pp without `sequence_parallel`: a tp rank sends a tp-th of an activation, and the next stage gathers it; else
    #: each sends all of it. Default: false.
    scatter_messages: Optional[bool] = None
    #: Count half of the attention scores. Default: false.
    causal: Optional[bool] = None
    #: The embedding and the head take the place of a layer each in the split over stages. Default: false.
    ends_count_as_layers: Optional[bool] = None
    #: All-reduce the loss once a step. Default: false.
    average_loss: Optional[bool] = None
    #: Layers of each virtual stage, in forward order, `pp` x `virtual_stages` of them; they add up to the model's. The
    #: embedding is on the first, predictions and the head on the last. Default: split evenly.
    stage_layers: Optional[List[int]] = None
    #: Formats of numbers.
    precision: Optional["Precision"] = None
    #: How the tokens of the model's experts move. Default: even routing.
    moe: Optional["TrainingMoe"] = None
    #: With `parallelism/fsdp`: how parameters are gathered.
    fsdp: Optional["Fsdp"] = None
    #: How gradients are reduced.
    gradients: Optional["Gradients"] = None
    #: What runs beside each other.
    overlap: Optional["Overlap"] = None
    #: Even routing: a token is sent once to each of its experts, or once to each rank that has some of them;
    #: `"hybrid_ep"`: before that every rank gathers and scans which experts the tokens of the group chose.
    #: `"copy_per_expert"`, `"copy_per_rank"`, `"hybrid_ep"`. Default: `"copy_per_expert"`.
    dispatch: Optional[str] = None
    #: Operators one by one, each with a time. Default: the GPU's roofline times whole parts of a layer.
    operators: Optional["Operators"] = None
    #: Micro-batches are filled with responses; else each has one, padded to the longest. Default: true.
    packing: Optional[bool] = None
    #: *Only not with `packing` `false`.* With `packing`: that a micro-batch holds at most. whole, 1 to 2^24. Default:
    #: the longest response of the batch and its prompt.
    micro_batch_tokens: Optional[int] = None
    #: Forward passes before training: log-probabilities of the policy, of a reference. whole, 0 to 100. Default: 2.
    passes: Optional[int] = None
    #: A second model of this size values the responses in a pass of its own, and is trained. Default: false.
    critic: Optional[bool] = None
    #: Optimizer steps, a divisor of the responses. whole, 1 to 1000000. Default: 1.
    mini_batches: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Rewards(Section):
    """The key `rewards` of Rl."""
    #: Of a response. Default: 0.
    response_ms: Optional[float] = None
    #: That score at once; 0: any number. whole, 0 to 1000000. Default: 0.
    workers: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Tools(Section):
    """The key `tools` of Rl."""
    #: What a call runs; the same call after the same history always as long.
    call_s: Union["Delay", float]
    #: Mean of a response; their number is geometric. 0 to 1000. Default: 3.
    calls: Optional[float] = None
    #: Probabilities of the calls that a response may make next. Default: one call.
    choices: Optional[List[float]] = None
    #: That a result adds to the context. whole, 0 to 2^24. Default: 0.
    result_tokens: Optional[int] = None
    #: Who answers what was asked before. `"none"`, `"prefix_tree"`. Default: `"none"`.
    cache: Optional[str] = None
    #: Sandboxes that a task's tree keeps. whole, 1 to 1000000. Default: 50.
    budget: Optional[int] = None
    #: Of what the tree knows, since it was made. Default: for good.
    time_to_live_s: Optional[float] = None
    #: A call that another response of the task has running. `"wait"`, `"run_twice"`. Default: `"wait"`.
    in_flight: Optional[str] = None
    #: Of a sandbox. Default: 0.
    build_ms: Optional[float] = None
    #: Of a copy of one that is kept. Default: 0.
    fork_ms: Optional[float] = None
    #: Copies are made before they are asked for. Default: false.
    forks_ahead: Optional[bool] = None
    #: That run at once; 0: any number. whole, 0 to 1000000. Default: 0.
    sandboxes: Optional[int] = None
    #: Of the cache, each with its tasks. whole, 1 to 1000000. Default: 1.
    servers: Optional[int] = None
    #: On a server, one after another. Default: 0.
    look_up_us: Optional[float] = None
    #: To a server and back. Default: 0.
    network_us: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class RlRefit(Section):
    """The key `refit` of Rl."""
    #: As `collective/refit/by`. `"funnel"`, `"ring"`, `"ring_per_rail"`, `"sharded"`, `"sharded_matchings"`. Default:
    #: `"ring_per_rail"`.
    by: Optional[str] = None
    #: Of a weight on the wire. `"fp4"`, `"fp8"`, `"bf16"`, `"fp32"`. Default: `"bf16"`.
    precision: Optional[str] = None
    #: As `collective/refit/share`. above 0, to 1. Default: 1.
    share: Optional[float] = None
    #: As `collective/refit/pieces`. whole, 1 to 1000000. Default: 64.
    pieces: Optional[int] = None
    #: The weights of a pipeline stage go when it has trained, while others still train; else all when all have.
    #: Default: false.
    overlap: Optional[bool] = None
    #: The KV of responses in flight under new weights. `"kept"`, `"recomputed"`. Default: `"kept"`.
    kv_after: Optional[str] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Rl(Section):
    """The key `rl` of Workload."""
    #: A name of `photonrail list models`, or the path of a model. name or path.
    model: str
    #: What is asked.
    prompts: "Prompts"
    #: The engines.
    generation: "Generation"
    #: Ranks that train, from rank 0.
    training: "RlTraining"
    #: Generation and training take turns; or a batch is generated while the one before is trained; or both go on all
    #: the time, with new weights for responses in flight. `"on_policy"`, `"one_step_off"`, `"async"`. Default:
    #: `"on_policy"`.
    mode: Optional[str] = None
    #: *Only with `mode` `async`.* Batches that may be begun beyond what the engines' weights are due for. 0 to 1000.
    #: Default: 1.
    ahead: Optional[float] = None
    #: *Only with `mode` `async`.* A training step takes the responses that are complete first, or those that were begun
    #: first (NeMo RL). `"as_completed"`, `"in_order"`. Default: `"as_completed"`.
    batches: Optional[str] = None
    #: Versions; older samples are made again. whole, 0 to 1000000. Default: 1000.
    oldest: Optional[int] = None
    #: Engines are on the training ranks, else on the ranks behind them. Default: false.
    colocated: Optional[bool] = None
    #: Training steps. whole, 1 to 1000000. Default: 3.
    steps: Optional[int] = None
    #: How responses are scored.
    rewards: Optional["Rewards"] = None
    #: Calls that responses make. Default: none.
    tools: Optional["Tools"] = None
    #: KV of a response that waits for a tool: held; on the host or a peer until the answer; or free for others, and
    #: what they took is computed again. `"stays"`, `"swapped"`, `"dropped"`. Default: `"stays"`.
    waiting_kv: Optional[str] = None
    #: *Only with `waiting_kv` `swapped`.* From an engine, all its ranks together, and back. above 0, to 1e9. Default:
    #: 25.
    swap_gb_per_s: Optional[float] = None
    #: How new weights reach the engines.
    refit: Optional["RlRefit"] = None
    #: *Only with `colocated` `true`.* With `colocated`: parameters and optimizer of training go to the host for
    #: generation, and back. Default: false.
    offload: Optional[bool] = None
    #: With `colocated`: what a GPU moves beside that, each way. 0 to 1e15. Default: 0.
    offload_bytes: Optional[float] = None
    #: Each way. above 0, to 1e9. Default: 25.
    offload_gb_per_s: Optional[float] = None
    #: *Only with `colocated` `true`.* Neighbouring GPUs that share one link to their host. whole, 1 to 1024. Default:
    #: 1.
    offload_gpus_per_link: Optional[int] = None
    #: Of each step: data, scheduling. Default: 0.
    other_s: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Communicators(Section):
    """The key `communicators` of Graph."""
    #: Two or more ranks, or `"all"`.
    ranks: Union[List[int], str]
    #: `tp`, `cp`, `ep`, `dp`, `pp` or `other`. Default: inferred from the placement.
    dimension: Optional[str] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Tasks(Section):
    """The key `tasks` of Graph."""
    #: The rank or ranks that have this task, or `"all"`.
    rank: Union[List[int], str, int]
    #: For `after`; unique on a rank. Default: none.
    id: Optional[str] = None
    #: For people. Default: the id.
    name: Optional[str] = None
    #: Tasks of the same rank that must be done, wherever they are written, by their ids. Default: `[]`.
    after: Optional[List[str]] = None
    #: *Only without `compute_us`, without `flops`, without `memory_bytes`, without `send_to`, without `receive_from`.*
    #: A collective of the communicator. name. Default: of these five kinds exactly one.
    collective: Optional[str] = None
    #: *Only with `collective`.* Its name.
    communicator: Optional[str] = None
    #: *Only without `compute_us`, without `flops`, without `memory_bytes`, without `demand`.* Its size, which a barrier
    #: has not; or of the message. whole, 0 to 2^50. Default: required, not with `collective` `barrier`.
    bytes: Optional[int] = None
    #: *Only with `collective`, without `demand`.* The root of a collective. whole, 0 to 4294967294. Default: the first
    #: of the communicator.
    root: Optional[int] = None
    #: A computation of a fixed time. 0 to 1e12.
    compute_us: Optional[float] = None
    #: A computation by the GPU model, alone or with `memory_bytes`. 0 to 1e21.
    flops: Optional[float] = None
    #: The bytes of memory that it moves. whole, 0 to 2^50.
    memory_bytes: Optional[int] = None
    #: A message to this rank. whole, 0 to 4294967294.
    send_to: Optional[int] = None
    #: Tells messages of a pair of ranks apart. whole, 0 to 4294967295. Default: 0.
    tag: Optional[int] = None
    #: A message from this rank. whole, 0 to 4294967294.
    receive_from: Optional[int] = None
    #: *Only with `collective` `all_to_all`.* All-to-all, in place of `bytes`: row = sender, in order of the
    #: communicator's ranks.
    demand: Optional[List[List[int]]] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Graph(Section):
    """The key `graph` of Workload."""
    #: How many. whole, 1 to 2^20.
    ranks: int
    #: In the order of issue.
    tasks: List["Tasks"]
    #: Groups of ranks by name. Default: none.
    communicators: Optional[Dict[str, "Communicators"]] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Checkpoint(Section):
    """The key `checkpoint` of Workload."""
    #: Into the memory of the GPU at the same place in another server of the job, or to hosts of storage, both through
    #: the NIC and its rail; or over a network of its own. `"peer"`, `"storage"`, `"own_network"`.
    to: str
    #: After the step's work, or beside it. `"blocking"`, `"asynchronous"`. Default: `"blocking"`.
    mode: Optional[str] = None
    #: What each rank saves. whole, 0 to 1e15. Default: of a training job the state of its optimizer, of which ranks
    #: that have the same save equal parts.
    bytes_per_rank: Optional[int] = None
    #: *Only with `mode` `asynchronous`.* Each step sends such a part. whole, 1 to 1000000. Default: 1.
    over_steps: Optional[int] = None
    #: First a copy to the host's memory, for which the GPU stops. 1e-09 to 1e9. Default: no such copy.
    host_gb_per_s: Optional[float] = None
    #: *Only with `to` `peer`.* How many servers of the job further, in a circle. whole, 1 to 1000000. Default: 1.
    distance: Optional[int] = None
    #: *Only with `to` `storage`.* The last servers of the cluster, which run no ranks, are the hosts. whole, 1 to
    #: 1000000. Default: 1.
    servers: Optional[int] = None
    #: *Only with `to` `own_network`.* Of each rank. 1e-09 to 1e9.
    gb_per_s: Optional[float] = None
    #: *Only with `to` `own_network`.* Of each rank. Default: 0.
    latency_us: Optional[float] = None
    #: *Only with `to` `own_network`.* Of all ranks, of which each has an equal part. 1e-09 to 1e9. Default: no bound.
    total_gb_per_s: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Workload(Section):
    """The key `workload` of Scenario."""
    #: A trace of Chakra.
    chakra: Optional["Chakra"] = None
    #: Traces of PyTorch's profiler.
    kineto: Optional["Kineto"] = None
    #: A training job.
    training: Optional["Training"] = None
    #: One collective.
    collective: Optional["Collective"] = None
    #: Forward passes through layers of a mixture of experts, all ranks one expert-parallel group.
    moe_layer: Optional["MoeLayer"] = None
    #: Decides while the run goes on; the job beside it, where there is one, is the step that it launches.
    agent: Optional["Agent"] = None
    #: Requests that engines serve.
    serving: Optional["Serving"] = None
    #: Reinforcement learning: engines generate, training ranks train, and weights go back to the engines.
    rl: Optional["Rl"] = None
    #: A `photonrail.graph/1` file, or what would be in it.
    graph: Optional[Union["Graph", str]] = None
    #: Puts a checkpoint into each step of the run. Default: none.
    checkpoint: Optional["Checkpoint"] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Placement(Section):
    """The key `placement` of Scenario."""
    #: The GPU of each rank, none twice. Default: of `rank_to_gpu` and `order` one is needed.
    rank_to_gpu: Optional[List[int]] = None
    #: How GPUs are filled: dimensions, innermost first. A training workload takes it alone, a permutation of `"tp"`,
    #: `"cp"`, `"dp"`, `"pp"` (those of size 1 may be left out): its ranks are numbered in that order, and rank r runs
    #: on GPU r. Every other workload needs `rank_order` and `sizes` too.
    order: Optional[List[str]] = None
    #: *Only with `order`.* The size of each dimension; their product is the number of ranks. Default: required, with
    #: `rank_order`.
    sizes: Optional[Dict[str, int]] = None
    #: *Only with `order`.* How the trace numbers its ranks: dimensions, innermost first. Default: required, with
    #: `sizes`.
    rank_order: Optional[List[str]] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Messages(Section):
    """The key `messages` of Controller."""
    #: Probability that a message is lost. 0 to 0.99. Default: 0.
    loss: Optional[float] = None
    #: Of every message, on top of its own time; a number or a distribution. Default: 0.
    delay_us: Optional[Union["Delay", float]] = None
    #: After which a message that has not arrived is sent again. Default: never sent again; required with `loss`.
    timeout_us: Optional[float] = None
    #: How often it is sent again. whole, 0 to 1000000. Default: no limit.
    retries: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Restarts(Section):
    """The key `restarts` of Controller."""
    #: When the controllers stop.
    at_ms: float
    #: How long they are away.
    down_ms: float
    #: The rail; not with `"placement": "one"`. whole, 0 to 4294967294. Default: all.
    rail: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Shims(Section):
    """The key `shims` of Controller."""
    #: The ranks with a different shim; of several entries the last counts.
    ranks: List[int]
    #: Their mode, of a controller that has modes. `"on_demand"`, `"provisioned"`. Default: as the others.
    mode: Optional[str] = None
    #: Their message to the controller. Default: as the others.
    request_us: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Circuits(Section):
    """The key `circuits` of Controller."""
    #: The GPU that sends. whole, 0 to 4294967294.
    from_: int
    #: The GPU that receives. whole, 0 to 4294967294.
    to: int
    #: A port of its NIC. whole, 0 to 4294967294. Default: 0.
    from_port: Optional[int] = None
    #: A port of its NIC. whole, 0 to 4294967294. Default: 0.
    to_port: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Matrix(Section):
    """The key `matrix` of Controller."""
    #: Servers that send. Default: all.
    from_: Optional[List[int]] = None
    #: Servers that receive. Default: all.
    to: Optional[List[int]] = None
    #: A row for each server that sends: a number for each that receives. Default: all equal.
    shares: Optional[List[List[float]]] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Controller(Section):
    """The key `controller` of Scenario."""
    #: `photonrail list controllers`; `electrical` is for electrical rails, the others are for optical ones. name.
    name: str
    #: A rank's message to the controller. Default: 0.
    request_us: Optional[float] = None
    #: The controller's work on a request; one queue per rail. Default: 0.
    service_us: Optional[float] = None
    #: From the decision until the switch begins. Default: 0.
    command_us: Optional[float] = None
    #: From lit until the ranks know. Default: 0.
    acknowledgement_us: Optional[float] = None
    #: A request that holds up its members for longer is an error that names it. Default: 0: none.
    starvation_ms: Optional[float] = None
    #: Which queues serve requests. `"per_rail"`, `"one"`, `"hierarchical"`. Default: `"per_rail"`.
    placement: Optional[str] = None
    #: *Only with `placement` `hierarchical`.* A message from a rail's controller to the root. Default: 0.
    root_request_us: Optional[float] = None
    #: *Only with `placement` `hierarchical`.* The root's work on it. Default: 0.
    root_service_us: Optional[float] = None
    #: What goes wrong with messages.
    messages: Optional["Messages"] = None
    #: When controllers stop and come back. Default: none.
    restarts: Optional[List["Restarts"]] = None
    #: Ranks with a different shim. Default: none.
    shims: Optional[List["Shims"]] = None
    #: *Only with `name` `static`.* The circuits that are lit. Default: required, without `matrix`.
    circuits: Optional[List["Circuits"]] = None
    #: *Only with `name` `static`.* Circuits by shares of what servers send: each pair with a share gets one on every
    #: rail, further ports go to the pairs with the largest share a circuit. Default: `circuits`.
    matrix: Optional["Matrix"] = None
    #: *Only with `name` `opus` or `opus_artifact`.* when the ranks ask `"on_demand"`, `"provisioned"`.
    mode: Optional[str] = None
    #: *Only with `name` `opus` or `opus_artifact`.* the order of a rank's rail operations `"scheduled"`, `"free"`.
    order: Optional[str] = None
    #: *Only with `name` `opus` or `coalesce`.* try several ways on the job, those of Opus among them, and take the best
    rehearse: Optional[bool] = None
    #: *Only with `name` `opus_artifact`.* what a request re-points `"stage"`, `"circuit"`.
    granularity: Optional[str] = None
    #: *Only with `name` `opus_artifact`.* what must be idle for it `"fabric"`, `"rail"`, `"none"`.
    lock: Optional[str] = None
    #: *Only with `name` `opus_artifact`.* when a refused request is looked at again `"own_event"`, `"release"`.
    retry: Optional[str] = None
    #: *Only with `name` `opus_artifact`.* after so long it is in any case; 0: never (the testbed's shim: 10 s)
    retry_timeout_us: Optional[float] = None
    #: *Only with `name` `oracle`.* also of policies that send over circuits of other GPUs, as on rails with forwarding
    forwarding: Optional[bool] = None
    #: *Only with `name` `coalesce`.* switch one delay before the last member is expected to ask
    foresee: Optional[bool] = None
    #: *Only with `name` `coalesce`.* how many delays circuits are kept for somebody who is later than expected 0 to
    #: 1000.
    patience: Optional[float] = None
    #: *Only with `name` `coalesce`.* communication lanes take the operation that is due first
    lanes_by_due: Optional[bool] = None
    #: *Only with `name` `static_split`.* over other GPUs, where a pair has no circuit of its own
    forward: Optional[bool] = None
    #: *Only with `name` `rotor`.* share of a slot in which circuits are lit 0.01 to 0.9999.
    duty: Optional[float] = None
    #: *Only with `name` `rotor`.* 0: as the duty cycle says
    slot_us: Optional[float] = None
    #: *Only with `name` `rotor`.* circuits on the way of a send `"direct"`, `"two_hop"`.
    paths: Optional[str] = None
    #: *Only with `name` `max_weight`.* how much more a lit pair weighs 0 to 1000000.
    hysteresis: Optional[float] = None
    #: *Only with `name` `max_weight`.* weight of the bytes that could have been sent while a pair waited 0 to 1000000.
    age: Optional[float] = None
    #: *Only with `name` `max_weight` or `mixnet` or `lru`.* circuits of one pair at the most; 0: as its ports allow
    #: whole, 0 to 1024.
    width: Optional[int] = None
    #: *Only with `name` `mixnet`.* what the sizes are taken from `"layer"`, `"iteration"`.
    refresh: Optional[str] = None
    #: *Only with `name` `mixnet`.* servers of a region; 0: the whole rail whole, 0 to 2^20.
    region: Optional[int] = None
    #: *Only with `name` `harvest`.* rounds after the present one whole, 0 to 1024.
    look_ahead: Optional[int] = None
    #: *Only with `name` `harvest`.* switches to the circuits of other rounds too
    other_rounds: Optional[bool] = None
    #: *Only with `name` `phases`.* circuits that are lit when a refit has ended: of all pairs by their bytes, of KV, or
    #: none `"static_split"`, `"kv_only"`, `"on_demand"`.
    generation: Optional[str] = None
    #: *Only with `name` `phases`.* who decides the circuits of training `"opus"`, `"lru"`.
    training: Optional[str] = None
    #: *Only with `name` `phases` or `polling`.* circuits of what is announced are set before it begins
    provisioned: Optional[bool] = None
    #: *Only with `name` `polling`.* how long an idle circuit stays although others wait
    linger_us: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class SmShare(Section):
    """The key `sm_share` of Executor."""
    #: The share that exchanges of this dimension hold. 0 to 0.9. Default: 0.
    tp: Optional[float] = None
    #: The share that exchanges of this dimension hold. 0 to 0.9. Default: 0.
    cp: Optional[float] = None
    #: The share that exchanges of this dimension hold. 0 to 0.9. Default: 0.
    ep: Optional[float] = None
    #: The share that exchanges of this dimension hold. 0 to 0.9. Default: 0.
    dp: Optional[float] = None
    #: The share that exchanges of this dimension hold. 0 to 0.9. Default: 0.
    pp: Optional[float] = None
    #: The share that exchanges of this dimension hold. 0 to 0.9. Default: 0.
    other: Optional[float] = None
    #: The share that exchanges of this dimension hold. 0 to 0.9. Default: 0.
    kv: Optional[float] = None
    #: The share that exchanges of this dimension hold. 0 to 0.9. Default: 0.
    refit: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Executor(Section):
    """The key `executor` of Scenario."""
    #: Communication lanes of a GPU. `"per_communicator"`, `"one"`. Default: `"per_communicator"`.
    comm_lanes: Optional[str] = None
    #: Collectives of one communicator that are ready at the same time run one after another, or share the links chunk
    #: by chunk. `"in_turn"`, `"together"`. Default: `"in_turn"`.
    concurrent_collectives: Optional[str] = None
    #: A send up to this size is done for its sender at once. whole, 0 to 2^50. Default: 4194304.
    buffered_send_bytes: Optional[int] = None
    #: Share of a GPU's multiprocessors that exchanges of a dimension hold while they have bytes on their way:
    #: computations go on with the rest (20 of 132: 0.152); 0: copy engines, or the switch reduces.
    sm_share: Optional["SmShare"] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Collectives(Section):
    """The key `collectives` of Scenario."""
    #: Its algorithm: a name of `photonrail list collectives`, `"auto"` (whichever is predicted to be the fastest, call
    #: by call), or a file. Default: `"ring"`.
    all_reduce: Optional[Union["Algorithm", str]] = None
    #: Its algorithm: a name of `photonrail list collectives`, `"auto"` (whichever is predicted to be the fastest, call
    #: by call), or a file. Default: `"ring"`.
    reduce: Optional[Union["Algorithm", str]] = None
    #: Its algorithm: a name of `photonrail list collectives`, `"auto"` (whichever is predicted to be the fastest, call
    #: by call), or a file. Default: `"ring"`.
    all_gather: Optional[Union["Algorithm", str]] = None
    #: Its algorithm: a name of `photonrail list collectives`, `"auto"` (whichever is predicted to be the fastest, call
    #: by call), or a file. Default: `"direct"`.
    gather: Optional[Union["Algorithm", str]] = None
    #: Its algorithm: a name of `photonrail list collectives`, `"auto"` (whichever is predicted to be the fastest, call
    #: by call), or a file. Default: `"direct"`.
    scatter: Optional[Union["Algorithm", str]] = None
    #: Its algorithm: a name of `photonrail list collectives`, `"auto"` (whichever is predicted to be the fastest, call
    #: by call), or a file. Default: `"ring"`.
    broadcast: Optional[Union["Algorithm", str]] = None
    #: Its algorithm: a name of `photonrail list collectives`, `"auto"` (whichever is predicted to be the fastest, call
    #: by call), or a file. Default: `"pairwise"`.
    all_to_all: Optional[Union["Algorithm", str]] = None
    #: Its algorithm: a name of `photonrail list collectives`, `"auto"` (whichever is predicted to be the fastest, call
    #: by call), or a file. Default: `"ring"`.
    reduce_scatter: Optional[Union["Algorithm", str]] = None
    #: Its algorithm: a name of `photonrail list collectives`, `"auto"` (whichever is predicted to be the fastest, call
    #: by call), or a file. Default: `"ring"`.
    barrier: Optional[Union["Algorithm", str]] = None
    #: Pipelined pieces of a collective. whole, 1 to 1000000. Default: 1.
    chunks: Optional[int] = None
    #: The member that `stragglar` takes to be late: a rank (groups without it: as eager), the one that is missing last,
    #: or the one that came last before. Default: `"eager"`.
    straggler: Optional[Union[str, int]] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Cost(Section):
    """The key `cost` of Scenario."""
    #: A name of `photonrail list catalogues`, or the path of a `photonrail.catalogue/1` file. name or path. Default:
    #: the slowest whose ports carry the NIC's rate, else the fastest.
    catalogue: Optional[str] = None
    #: How parts are counted. `"physical"`, `"opus_artifact"`. Default: `"physical"`.
    rule: Optional[str] = None
    #: Spares over what is installed, rounded up. 0 to 1. Default: the catalogue's.
    spare_share: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Run(Section):
    """The key `run` of Scenario."""
    #: Steps in a row. whole, 1 to 1000000. Default: 1.
    iterations: Optional[int] = None
    #: Of everything random. whole, 0 to 2^64. Default: 1.
    seed: Optional[int] = None
    #: One flow per collective where circuits are exclusive, or every send. `"stream"`, `"exact"`. Default: `"stream"`.
    fidelity: Optional[str] = None
    #: Where something is drawn: how many seeds the `spread` of the result is over, the run's own and those that
    #: `repetitions` of a sweep have; 0 and 1: no spread. whole, 0 to 10000. Default: of `photonrail run`: 5 where the
    #: run took up to 100,000 events; else 1.
    spread_seeds: Optional[int] = None
    #: Ranks that nothing tells apart are simulated once; no result changes. Default: true.
    folding: Optional[bool] = None
    #: The result says what bounds the run, part by part. Default: of `photonrail run`: true where the run takes less
    #: than a quarter of a second by estimate; else false.
    critical_path: Optional[bool] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Network(Section):
    """The key `network` of Scenario."""
    #: Flows of a crowd may end by up to about this share of their duration too early or too late; 0: exact; above 0, no
    #: folding. 0 to 0.1. Default: 0.
    accuracy: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class ServerFaults(Section):
    """The key `server_faults` of Scenario."""
    #: All its GPUs stop, and all its NICs fail. whole, 0 to 4294967294.
    server: int
    #: When it begins. Default: 0.
    at_ms: Optional[float] = None
    #: Until the repair. Default: for good.
    lasts_ms: Optional[float] = None
    #: Until it is known, at most `lasts`; of the NICs on optical rails. Default: 0.
    detection_ms: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Job(Section):
    """The key `job` of Reliability."""
    #: Servers of the job. whole, 1 to 1000000. Default: required with `step_s`; else those of the simulated job.
    servers: Optional[int] = None
    #: GPUs of a server. whole, 1 to 1024. Default: 8.
    gpus_per_server: Optional[int] = None
    #: Data-parallel replicas of whole servers, one after another; a divisor of the servers. whole, 1 to 1000000.
    #: Default: 1.
    replicas: Optional[int] = None
    #: With fewer replicas the job cannot go on. whole, 1 to 1000000. Default: 1.
    min_replicas: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Spares(Section):
    """The key `spares` of Reliability."""
    #: Servers of the job in a rack; 0: one rack. whole, 0 to 1000000. Default: 0.
    servers_per_rack: Optional[int] = None
    #: Spare servers in each rack. whole, 0 to 1000. Default: 0.
    per_rack: Optional[int] = None
    #: Spare servers in racks of their own. whole, 0 to 1000000. Default: 0.
    anywhere: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Of(Section):
    """The key `of` of ReliabilityFailures."""
    #: Servers of a group that fails together. whole, 1 to 1000000.
    servers: Optional[int] = None
    #: How many such parts the cluster has. whole, 1 to 2^24.
    parts: Optional[int] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class ReliabilityFailuresLaw(Section):
    """The key `law` of ReliabilityFailures."""
    #: The shape of Weibull's law. 0.1 to 100.
    weibull: Optional[float] = None
    #: The deviation of the logarithm. 0 to 5.
    log_normal: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Degrade(Section):
    """The key `degrade` of ReliabilityFailures."""
    #: Computations take this many times as long. 1 to 1000000.
    compute: Optional[float] = None
    #: Those of one pipeline stage do. 1 to 1000000.
    stage_compute: Optional[float] = None
    #: The uplinks have 1 / this of their rate. 1 to 1000000.
    uplinks: Optional[float] = None
    #: A NIC has 1 / this of its rate. 1 to 1000000.
    nic_rate: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Detection(Section):
    """A distribution of times, in the unit of its key."""
    #: The law of the time. `"constant"`, `"exponential"`, `"weibull"`, `"log_normal"`, `"uniform"`, `"samples"`.
    distribution: str
    #: *Only with `distribution` `uniform`.* The shortest time.
    least: Optional[float] = None
    #: *Only with `distribution` `uniform`.* The longest time.
    greatest: Optional[float] = None
    #: *Only with `distribution` `samples`.* An array of times, or the path of a JSON file that holds one.
    values: Optional[Union[List[float], str]] = None
    #: *Only with `distribution` `constant` or `exponential` or `weibull` or `log_normal`.* The mean.
    mean: Optional[float] = None
    #: *Only with `distribution` `weibull`.* Of Weibull's law. 0.1 to 100.
    shape: Optional[float] = None
    #: *Only with `distribution` `log_normal`.* Deviation of the logarithm. 0 to 5.
    sigma: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class ReliabilityFailures(Section):
    """The key `failures` of Reliability."""
    #: What fails; a group is `{"servers": N}`, N parts of the cluster are `{"parts": N}`.
    of: Union["Of", str]
    #: Its name in results. Default: `of`.
    name: Optional[str] = None
    #: Failures of 1,000 servers in a day. 0 to 1e12. Default: of these four exactly one.
    per_1000_server_days: Optional[float] = None
    #: Failures of a part in 10^9 hours. 0 to 1e15.
    fit: Optional[float] = None
    #: Mean time between failures of a part. above 0, to 277777777778.
    mtbf_h: Optional[float] = None
    #: Share of the parts that fail in a day. 0 to 1000000.
    share_per_day: Optional[float] = None
    #: The law of the time to a failure. Default: `"exponential"`.
    law: Optional[Union["ReliabilityFailuresLaw", str]] = None
    #: The job stops, is slow, or computes wrong results. `"stop"`, `"slow"`, `"silent"`. Default: `"stop"`.
    effect: Optional[str] = None
    #: With the effect `slow`: what is slow. Default: none.
    degrade: Optional[Union["Degrade", str]] = None
    #: Until the failure is known. Default: 0.
    detection_s: Optional[Union["Detection", float]] = None
    #: Until the part is back. Default: 0.
    repair_h: Optional[Union["Detection", float]] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Trace(Section):
    """The key `trace` of Reliability."""
    #: A CSV or JSON file of faults.
    file: str
    #: Causes that are left out. Default: `[]`.
    without: Optional[List[str]] = None
    #: Other places for each seed. Default: true.
    shuffle: Optional[bool] = None
    #: Until a fault is known. Default: 0.
    detection_s: Optional[Union["Detection", float]] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class ReliabilityCheckpoint(Section):
    """The key `checkpoint` of Reliability."""
    #: From checkpoint to checkpoint. above 0, to 1e9. Default: of `interval_s` and `interval` one is needed; without
    #: the section 3600.
    interval_s: Optional[float] = None
    #: The rule of the interval. `"young"`, `"daly"`, `"optimal"`.
    interval: Optional[str] = None
    #: The job stands still for it. 0 to 1e9. Default: 0.
    stall_s: Optional[float] = None
    #: Until the checkpoint is of use. 0 to 1e9. Default: 0.
    copy_s: Optional[float] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class RecoveryStages(Section):
    """The key `stages` of Recovery."""
    #: How long it takes.
    time_s: Union["Detection", float]
    #: Its name in results. Default: none.
    name: Optional[str] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Recovery(Section):
    """The key `recovery` of Reliability."""
    #: What is done about the failure. `"restart"`, `"swap_in_rack"`, `"swap"`, `"move_rack"`, `"drop_replica"`,
    #: `"wait"`.
    action: str
    #: Its name in results. Default: `action`.
    name: Optional[str] = None
    #: What is lost: the step, or all since a checkpoint. `"step"`, `"checkpoint"`. Default: `"checkpoint"`.
    rollback: Optional[str] = None
    #: What it takes, one after another. Default: `[]`.
    stages: Optional[List["RecoveryStages"]] = None
    #: *Only with `action` `drop_replica`.* What the way back takes. Default: `[]`.
    rejoin: Optional[List["RecoveryStages"]] = None
    #: Failures that it is for, by their names. Default: all.
    sources: Optional[List[str]] = None
    #: Also for slow parts, once detected. Default: false.
    for_slow: Optional[bool] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Maintenance(Section):
    """The key `maintenance` of Reliability."""
    #: From one to the next. above 0, to 36500.
    every_d: float
    #: How long it takes. Default: 0.
    lasts_h: Optional[Union["Detection", float]] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Reliability(Section):
    """The key `reliability` of Scenario."""
    #: The options of a recovery; one of them is `wait` for all failures.
    recovery: List["Recovery"]
    #: The length of a step, in place of a simulated one. Default: simulated.
    step_s: Optional[float] = None
    #: The size of the job.
    job: Optional["Job"] = None
    #: Length of a history. above 0, to 36500. Default: 30.
    days: Optional[float] = None
    #: A history ends when these are done. whole, 1 to 1e12. Default: none.
    steps: Optional[int] = None
    #: How many histories. whole, 1 to 1e7. Default: 100.
    seeds: Optional[int] = None
    #: The seed of the first. whole, 0 to 2^63. Default: 1.
    first_seed: Optional[int] = None
    #: Servers that wait for failures. Default: none.
    spares: Optional["Spares"] = None
    #: What fails, how often, with what effect. Default: none.
    failures: Optional[List["ReliabilityFailures"]] = None
    #: Faults that were recorded. Default: none.
    trace: Optional["Trace"] = None
    #: Shape of the gamma distribution of servers' rates, 0.01 or more; 0: all alike. 0 to 1000000. Default: 0.
    server_spread: Optional[float] = None
    #: How often the job saves its state.
    checkpoint: Optional["ReliabilityCheckpoint"] = None
    #: Which recovery is taken: a name of the page on goodput. Default: `in_order`.
    policy: Optional[str] = None
    #: Which spare is taken. Default: `same_rack_first`.
    spare_placement: Optional[str] = None
    #: Times when the job stands still. Default: none.
    maintenance: Optional["Maintenance"] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Scenario(Section):
    """The whole file."""
    #: The hardware.
    cluster: "Cluster"
    #: Its name in results. Default: `"unnamed"`.
    name: Optional[str] = None
    #: What the scenario is for. Default: `""`.
    why: Optional[str] = None
    #: Several jobs in place of one, 1 to 255 that share the cluster. Default: none.
    jobs: Optional[List["Jobs"]] = None
    #: *Only without `jobs`.* The job.
    workload: Optional["Workload"] = None
    #: *Only without `jobs`.* Which GPU runs which rank. Default: rank r on GPU r.
    placement: Optional["Placement"] = None
    #: What re-points circuits. Default: `electrical` on electrical rails, required on optical rails.
    controller: Optional["Controller"] = None
    #: How a GPU issues its tasks.
    executor: Optional["Executor"] = None
    #: Which algorithm does which collective.
    collectives: Optional["Collectives"] = None
    #: *Only without `jobs`.* Ranks that are late or slow; delays add up and slowdowns multiply. Default: `[]`.
    stragglers: Optional[List["Stragglers"]] = None
    #: Prices of the network.
    cost: Optional["Cost"] = None
    #: How often, with which seed.
    run: Optional["Run"] = None
    #: How exact crowds of flows are.
    network: Optional["Network"] = None
    #: Servers that stop, with all their GPUs and NICs. Default: `[]`.
    server_faults: Optional[List["ServerFaults"]] = None
    #: Failures and recoveries over months, for `photonrail goodput`. A run checks it and has no other use for it.
    #: Default: none.
    reliability: Optional["Reliability"] = None
    #: ASTRA-sim's inputs, which give every section that the scenario does not. Default: none.
    astra: Optional[Any] = None
    more: Optional[Dict[str, Any]] = None
