"""Typed pieces of a scenario: each becomes the keys of docs/reference."""
import dataclasses
from typing import Any, Dict, Optional, Union


def _plain(value):
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    return value


class _Section:
    def to_dict(self) -> Dict[str, Any]:
        """The section as a dict, without what is None."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        more = fields.pop("more", None) or {}
        return {**{key: _plain(value) for key, value in fields.items() if value is not None}, **more}


@dataclasses.dataclass
class Nic(_Section):
    """A GPU's NIC: ports of `port_gb_per_s` GB/s (1e9 bytes) each way, `latency_ns` over a rail."""
    ports: int = 1
    port_gb_per_s: float = 50.0
    latency_ns: float = 0.0
    message_overhead_ns: float = 0.0


@dataclasses.dataclass
class ScaleUp(_Section):
    """The fabric within a server, a GPU's GB/s each way."""
    gb_per_s: float = 450.0
    latency_ns: float = 0.0


@dataclasses.dataclass
class OpticalRail(_Section):
    """Rails of optical circuit switches: a preset's name, or {"reconfiguration_ms": 10}."""
    switch: Union[str, Dict[str, Any]] = "polatis_6000"
    kind: str = "optical"
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class ElectricalRail(_Section):
    """Rails of packet switches."""
    kind: str = "electrical"
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Cluster(_Section):
    """Servers, their GPUs, NICs and rails."""
    servers: int
    gpus_per_server: int
    rail: Any = dataclasses.field(default_factory=ElectricalRail)
    nic: Nic = dataclasses.field(default_factory=Nic)
    scale_up: Optional[ScaleUp] = None
    gpu: Any = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Controller(_Section):
    """A policy by its name; its own keys in `more`."""
    name: str
    mode: Optional[str] = None
    more: Optional[Dict[str, Any]] = None


@dataclasses.dataclass
class Scenario(_Section):
    """A whole scenario; `workload` and further sections as dicts."""
    cluster: Cluster
    workload: Dict[str, Any]
    controller: Optional[Controller] = None
    name: str = "unnamed"
    why: str = ""
    run: Optional[Dict[str, Any]] = None
    placement: Optional[Dict[str, Any]] = None
    more: Optional[Dict[str, Any]] = None
