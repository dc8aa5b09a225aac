import pathlib
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

__version__: str

class Error(Exception): ...
class ConfigError(Error):
    where: str
    what: str
    hint: str
class DeadlockError(Error):
    stuck: List[str]
class ControllerError(Error): ...

class View:
    """The state of one rail, valid during decide() only."""
    now_ps: int
    rail: int
    positions: int
    ports_per_gpu: int
    requests: List[Dict[str, Any]]
    partial_requests: List[Dict[str, Any]]
    ports: np.ndarray
    port_gb_per_s: float
    reconfiguration_ps: int
    def connect(self, pairs: List[Tuple[int, int]]) -> Optional[List[Tuple[int, int]]]: ...
    def peer(self, port: int) -> int: ...
    def in_use(self, port: int) -> bool: ...
    def transmitter(self, port: int) -> int: ...

class PolicyWords:
    view: List[str]
    rank_symmetric: bool
    work_conserving: bool
    ahead: bool
    scheduled: bool
    by_pair: bool
    parameters: List[Tuple[str, Any]]

class Registries:
    def add_policy(self, name: str, summary: str, make: Callable[..., Any], words: PolicyWords) -> None: ...
    def policies(self) -> List[str]: ...

class Scenario:
    name: str
    why: str
    ranks: int
    warnings: List[str]
    infeasible: str
    def expected_s(self, registries: Registries) -> float: ...

class Timeline:
    def computes(self) -> Dict[str, np.ndarray]: ...
    def operations(self) -> Dict[str, np.ndarray]: ...
    def circuits(self) -> Dict[str, np.ndarray]: ...

class RunResult:
    name: str
    makespan_ps: int
    step_ps: int
    iterations_ps: np.ndarray
    def rank_times_ps(self) -> np.ndarray: ...
    def json(self) -> str: ...

class AstraOptions:
    system: pathlib.Path
    network: pathlib.Path
    workload: pathlib.Path
    comm_groups: pathlib.Path
    remote_memory: pathlib.Path

Set = List[Tuple[str, str]]
def read_scenario(file: pathlib.Path, set: Set, registries: Registries) -> Scenario: ...
def parse_scenario(text: str, directory: pathlib.Path, name: str, set: Set, registries: Registries) -> Scenario: ...
def simulate(scenario: Scenario, observers: List[Any], timeline: Optional[Timeline], registries: Registries) -> RunResult: ...
def add_collective(registries: Registries, name: str, summary: str, algorithm: Any) -> None: ...
def replay_problem(registries: Registries, algorithm: str, op: str, members: int, bytes: int) -> str: ...
def run_sweep_file(file: pathlib.Path, out: pathlib.Path, threads: int, registries: Registries) -> Dict[str, int]: ...
def goodput(file: pathlib.Path, overrides: List[Tuple[str, str]], seeds: int, threads: int, out: str,
            registries: Registries) -> Dict[str, Any]: ...
def plan(file: pathlib.Path, overrides: List[Tuple[str, str]], threads: int, limit_s: float, out: str,
         registries: Registries) -> Dict[str, Any]: ...
def allocate(path: pathlib.Path, text: Optional[str], directory: pathlib.Path, overrides: List[Tuple[str, str]],
             registries: Registries) -> Dict[str, Any]: ...
def law_problems(registries: Registries, policy: str) -> Dict[str, str]: ...
def fuzz_problem(registries: Registries, policy: str, cases: int, seed: int) -> str: ...
def astra_run(files: AstraOptions, aware: bool) -> Dict[str, Any]: ...
def scenario_from_astra(files: AstraOptions, directory: pathlib.Path) -> str: ...
