#!/usr/bin/env python3
"""Measured steps of NVIDIA's Megatron-Bridge performance tables as a photonrail.rows/1 file.

    megatron_bridge_rows.py FOLDER > rows.json

FOLDER has rows.json, recipes.json and models.json. A row says model, system, batch and parallelism; what else a system
does comes from the recipe of the row, or where the row names none, from a recipe of the same model on the same system, of
the same precision if there is one; where an earlier release is known to have had other settings, from there. A row's note names
the settings that are not modelled, and standard error each of them once. Rows of an unknown system, precision or model, and
those with a regression that the publisher names, are left out, by name. Nothing here depends on the measured time.
"""
import json
import os
import re
import sys

# GPUs that share scale-up links, and bandwidth of a GPU, GB/s each direction: scale-up as NCCL's all-gather on 8 GPUs
# reaches it at 512 MiB (335 of 450 on H100, 617 of 900 on B200), NICs as their data sheets less 8 % for headers.
SYSTEMS = {
    "h100": dict(domain=8, up=335, nic=46),
    "b200": dict(domain=8, up=617, nic=46),
    "gb200": dict(domain=64, up=617, nic=46),
    "b300": dict(domain=8, up=617, nic=92),
    "gb300": dict(domain=64, up=617, nic=92),
}
CURVES = {"h100": "h100", "b200": "b200", "b300": "b200"}
# Data sheets of GPUs without tables, TFLOP/s dense and GB/s, and whose table they borrow.
BORROWED = {
    "b300": ("b200", dict(bf16_tflops=2250, fp8_tflops=4500, fp4_tflops=13500, memory_gb_per_s=8000)),
    "gb300": ("gb200", dict(bf16_tflops=2500, fp8_tflops=5000, fp4_tflops=15000, memory_gb_per_s=8000)),
}
PEAKS = {"h100": (989, 3350, 80), "b200": (2250, 8000, 180), "gb200": (2500, 8000, 186), "b300": (2250, 8000, 270), "gb300": (2500, 8000, 279)}
PRECISIONS = {"BF16": "bf16", "FP8": "fp8", "MXFP8": "mxfp8", "NVFP4": "nvfp4"}
# At most four dense rows of a GPU, newest releases, to which its factor is fitted.
FITTED = {
    "gb200": ["llama3-70b 26.04.01 fp8", "llama3.1-405b 26.06 fp8", "llama3.1-405b 26.06 mxfp8", "llama3-8b 25.11 fp8"],
    "gb300": ["llama3-70b 26.04.01 fp8", "llama3.1-405b 26.06 fp8", "llama3-70b 26.04.01 mxfp8", "llama3-8b 25.11 fp8"],
    "b200": ["llama3-8b 25.11 fp8", "llama3-8b 25.11 mxfp8", "llama3.1-405b 25.11 fp8"],
}


# Products that stay in higher precision where the others have four bits: the last layers and the predictions of further tokens in
# BF16, and a list by module (NVIDIA-NeMo/Megatron-Bridge, nemotron_3_super_bf16_with_nvfp4_mixed, te_quant.cfg of pull request 3095).
KEPT = {
    "nemotron-3-super": dict(
        bf16_layers=dict(last=14, predictions=True),
        precision_of={"attention": "bf16", "experts.latent_down": "bf16", "experts.latent_up": "bf16", "mamba.out": "mxfp8"}),
}

# Streaming multiprocessors of a GPU (data sheets).
MULTIPROCESSORS = {"h100": 132, "b200": 148, "gb200": 148, "b300": 160, "gb300": 160}
# Those that a dispatcher takes where the recipe does not say: DeepEP's default; HybridEP's in most recipes that name one; NCCL's
# all-to-all has a block of threads for each of its "32 p2p channels", as it logs on servers of 8 of these GPUs.
DISPATCHER_SMS = {"deepep": 20, "hybridep": 32, "alltoall": 32}

# A call of the framework on the Arm host of these systems takes 2.75 times as long as on x86 (8 us here): 37.1 us against 13.5
# for PyTorch's linear layer (NVIDIA/TransformerEngine, issue 2053).
GRACE_CALL_US = 22

# What recipes said in earlier releases where the present ones differ, from the history of scripts/performance/configs in the
# publisher's repository (files, commits and pull requests in docs/validation.md). Each: model, systems, precisions (None: all), first and
# last release, settings that replace those of the present recipe.
NO_GRAPHS = {"model.cuda_graph_impl": "none"}
ALL_TO_ALL = {"model.moe_token_dispatcher_type": "alltoall", "model.moe_flex_dispatcher_backend": None}
IN_TURN = {"comm_overlap.overlap_moe_expert_parallel_comm": False}
IN_PAIRS = {"comm_overlap.overlap_moe_expert_parallel_comm": True, "comm_overlap.delay_wgrad_compute": True}
DEEP = {"model.moe_token_dispatcher_type": "flex", "model.moe_flex_dispatcher_backend": "deepep", "model.moe_hybridep_num_sms": None}
HYBRID = {"model.moe_token_dispatcher_type": "flex", "model.moe_flex_dispatcher_backend": "hybridep", "model.moe_hybridep_num_sms": None}
LAYER_GRAPHS = {"model.cuda_graph_impl": "transformer_engine"}
NOTHING_AGAIN = {"model.recompute_modules": []}
PAST = [
    ("qwen3-235b-a22b", ("b200",), None, "25.11", "25.11", {**NO_GRAPHS, **ALL_TO_ALL, **IN_PAIRS}),
    ("qwen3-235b-a22b", ("b200",), None, "25.09", "26.04.01", {**NO_GRAPHS, **ALL_TO_ALL, **IN_TURN}),
    ("qwen3-235b-a22b", ("b300",), None, "26.04", "26.04", {**NO_GRAPHS, **ALL_TO_ALL, **IN_TURN}),
    ("qwen3-235b-a22b", ("b300",), None, "26.04.01", "26.04.01", {**NO_GRAPHS, **HYBRID, **IN_TURN}),
    ("qwen3-235b-a22b", ("b300",), None, "26.02", "26.02.01",
     {**NO_GRAPHS, **ALL_TO_ALL, **IN_PAIRS}),
    ("qwen3-235b-a22b", ("gb200", "gb300"), None, "25.11", "26.04.01", {**LAYER_GRAPHS, **HYBRID, **IN_TURN}),
    ("qwen3-235b-a22b", ("gb200",), None, "25.09", "25.09", {**NO_GRAPHS, **ALL_TO_ALL, **IN_TURN}),
    ("qwen3-30b-a3b", ("b200", "gb200", "gb300", "h100"), None, "25.09", "25.09", {**NO_GRAPHS, **ALL_TO_ALL, **IN_TURN}),
    ("qwen3-30b-a3b", ("b200", "gb200", "gb300"), None, "25.11", "25.11", {**LAYER_GRAPHS, **ALL_TO_ALL, **IN_TURN}),
    ("qwen3-30b-a3b", ("b200",), None, "26.02", "26.02.01", {**LAYER_GRAPHS, **ALL_TO_ALL, **IN_TURN}),
    ("qwen3-30b-a3b", ("gb200", "gb300"), None, "26.02", "26.04.01", {**LAYER_GRAPHS, **HYBRID, **IN_TURN}),
    ("qwen3-30b-a3b", ("h100",), ("FP8",), "25.11", "26.02.01", {**NO_GRAPHS, **ALL_TO_ALL, **IN_PAIRS}),
    ("deepseek-v3", ("b200", "gb200", "gb300"), None, "25.09", "25.09",  # drops tokens, which excluded DeepEP
     {**NO_GRAPHS, **ALL_TO_ALL, **IN_TURN, "model.recompute_modules": ["mla_up_proj"]}),
    ("deepseek-v3", ("h100",), None, "25.09", "25.11",
     {**NO_GRAPHS, **DEEP, **IN_PAIRS, "model.recompute_modules": ["mla_up_proj", "mlp"], "comm_overlap.overlap_grad_reduce": False}),
    ("deepseek-v3", ("b200",), None, "26.02", "26.04", {**NO_GRAPHS, **HYBRID, **IN_TURN, "model.recompute_modules": ["mla_up_proj"]}),
    ("deepseek-v3", ("b300",), None, "26.02", "26.06.01",
     {**LAYER_GRAPHS, **HYBRID, **IN_TURN, "model.recompute_modules": ["mla_up_proj"]}),
    ("deepseek-v3", ("gb300",), ("BF16", "FP8"), "25.11", "25.11",
     {**LAYER_GRAPHS, **HYBRID, **IN_TURN, "model.recompute_modules": ["mlp", "moe_act"]}),
    ("deepseek-v3", ("gb300",), ("MXFP8",), "25.11", "25.11",
     {**NO_GRAPHS, **HYBRID, **IN_TURN, "model.recompute_modules": ["mla_up_proj"]}),
    ("deepseek-v3", ("gb200",), ("MXFP8",), "25.11", "25.11",
     {**NO_GRAPHS, **HYBRID, **IN_TURN, "model.recompute_modules": ["mla_up_proj", "mlp"]}),
    ("gpt-oss-120b", ("b200",), None, "26.02.01", "26.04", {**NO_GRAPHS, **HYBRID, **IN_TURN}),
    ("gpt-oss-120b", ("b200", "h100"), None, "25.11", "26.04.01", {**NO_GRAPHS, **ALL_TO_ALL, **IN_TURN}),
    ("gpt-oss-120b", ("gb200",), None, "26.02", "26.02.01", {**ALL_TO_ALL, **IN_TURN}),
    ("gpt-oss-120b", ("gb200",), None, "26.04", "26.04", {**HYBRID, **IN_PAIRS}),
    # The presets of these releases name no modules for these, and the library's recipe of the model has none. The recipes of August 2026
    # inherit a list that the library's recipe got for 16 H100; Megatron-LM refuses to compute experts and core_attn again beside
    # the graphs of these recipes (attn, moe_router), so that it is not what was run.
    ("nemotron-3-super", ("b300", "gb200", "gb300"), ("MXFP8",), "26.04", "26.08", NOTHING_AGAIN),
    ("nemotron-3-super", ("gb200", "gb300"), ("BF16", "NVFP4"), "26.04", "26.08", NOTHING_AGAIN),
    ("nemotron-3-super", ("b300",), ("BF16", "NVFP4"), "26.04", "26.06.01", {"model.recompute_modules": ["moe_act", "layernorm"]}),
]
# Layers of virtual stages: the recipes of DeepSeek-V3 and Kimi K2 name a layout for each (pp, vp).
DEEPSEEK_STAGES = {4: [16, 16, 16, 13], 8: [8] * 7 + [5], 16: [4] * 15 + [1], 32: [1] + [2] * 30 + [0]}


# Settings that the scenario is made of, and those that change nothing that is simulated (names, checks, buffers of the library).
MODELLED = re.compile(r"""mixed_precision$|mixed_precision\.fp8_dot_product_attention|train\.|env\.NUM_OF_HYBRID|env\.NVLINK_DOMAIN
  |model\.(recompute_modules|moe_router_force_load_balancing|tensor_model_parallel|pipeline_model_parallel|virtual_pipeline|context_parallel
    |expert_model_parallel|expert_tensor_parallel|sequence_parallel|moe_flex_dispatcher|moe_token_dispatcher|moe_hybridep_num_sms
    |moe_paged_stash|cuda_graph_impl|mtp_|seq_length|fp8_output_proj|attention_backend)
  |comm_overlap\.(tp_comm_overlap$|overlap_moe_expert|delay_wgrad|overlap_grad_reduce|overlap_param_gather$)
  |ddp\.(use_megatron_fsdp|overlap_|use_distributed_optimizer|data_parallel_sharding|grad_reduce)|peft\.""", re.X)
NEUTRAL = re.compile(r"""env\.|of_release|.*grad_reduce_in_fp32|.*tp_comm_overlap_cfg|ddp\.(average_in_collective|suggested_communication)|.*warmup_steps
  |model\.(recompute_granularity|cuda_graph_scope|high_priority_a2a|moe_a2a_overlap|moe_deepep_num_sms|batch_p2p|overlap_p2p
    |account_for_|num_layers_in_|gradient_accumulation_fusion|use_transformer_engine_op_fuser|recompute_method|offload_modules
    |moe_expert_rank_capacity)|mixed_precision\.(fp8_param_gather|reuse_grad_buf)|.*align_param_gather|.*precision_aware|optimizer\.main_grads_dtype""", re.X)
OFF = (None, False, "none", "None", [], 0, 0.0)


def not_modelled(row, s):
    """Settings by name that the scenario leaves out, and flags of the row."""
    names = [k for k, v in s.items() if v not in OFF and not MODELLED.match(k) and not NEUTRAL.match(k)]
    names += ["model.recompute_granularity full"] if s.get("model.recompute_granularity") == "full" else []
    return sorted(n for n in names if not n.startswith("optimizer.") or "cpu" in n or "bf" in str(s.get(n))) + [
        flag for flag in row.get("flags") or [] if flag in ("muon_optimizer", "published_ga_inconsistent")]


def stages_of(layout):
    """Layers of the virtual stages of a layout such as Et*2|(t*2|)*34,t*3|tL; None: it is not written so."""
    if not layout or re.search(r"[^EtmL|*(),0-9]", layout):
        return None
    text = re.sub(r"\(([^()]*)\)\*(\d+)", lambda g: g[1] * int(g[2]), layout)
    return [sum(int(n or 1) for n in re.findall(r"t(?:\*(\d+))?", stage)) for stage in text.split("|")]


def newer(row, release):
    return tuple(map(int, row["release"].split("."))) >= tuple(map(int, release.split(".")))


def newer_than(row, release):
    return tuple(map(int, row["release"].split("."))) > tuple(map(int, release.split(".")))


def settings(row, recipes):
    found, where = present_settings(row, recipes)
    for name, systems, precisions, first, last, changes in PAST:
        same = row["model"] == name and row["system"].replace("DGX-", "").lower() in systems
        if same and (precisions is None or row["precision"] in precisions) and newer(row, first) and not newer_than(row, last):
            return {**found, **changes, "of_release": True}, "recipe of its release"
    return found, where


def present_settings(row, recipes):
    if row["recipe"]:
        return recipes[row["recipe"]]["settings"], "own recipe"
    same = [r for r in recipes.values() if r["model"] == row["model"] and r["system"] == row["system"]]
    same = same or [r for r in recipes.values() if r["model"] == row["model"]]
    same.sort(key=lambda r: r["precision"] != row["precision"])
    return (same[0]["settings"], "recipe of another configuration") if same else ({}, "no recipe")


def flexible(s):
    return s.get("model.moe_token_dispatcher_type") == "flex" or s.get("model.moe_flex_dispatcher_backend")


def model(row, m, s):
    spec = dict(layers=m["layers"], hidden=m["hidden"], ffn=m.get("ffn") or m["moe_ffn"], heads=m["heads"], vocabulary=m["vocab"])
    if m.get("attention") == "mla":
        spec["latent_attention"] = dict(query_rank=m["q_lora_rank"], kv_rank=m["kv_lora_rank"], nope_head=m["qk_nope_head_dim"],
                                        rope_head=m["qk_rope_head_dim"], value_head=m["v_head_dim"])
    else:
        spec["kv_heads"] = m["kv_heads"]
        spec["head_dim"] = m["head_dim"]
    if not m["gated_ffn"]:
        spec["mlp"] = "squared_relu"
    if m.get("sliding_window"):
        spec["window"], spec["window_every"] = m["sliding_window"], 2
    if m.get("biases"):
        spec["biases"] = True
    if row["model"].startswith("qwen3"):
        spec["query_key_norm"] = True
    if m.get("experts"):
        spec["moe"] = dict(experts=m["experts"], top_k=m["top_k"], ffn=m["moe_ffn"], shared=m["shared_experts"],
                           dense_layers=m.get("dense_layers", 0))
        if m.get("shared_expert_ffn"):
            spec["moe"]["shared_ffn"] = m["shared_expert_ffn"]
        if m.get("moe_latent_size"):
            spec["moe"]["latent"] = m["moe_latent_size"]
    if m.get("layer_pattern"):
        spec["pattern"] = m["layer_pattern"]
        spec["mamba"] = dict(heads=m["mamba_heads"], head_dim=m["mamba_head_dim"], state=m["ssm_state"], groups=m["mamba_groups"],
                             convolution=m["conv_kernel"], chunk=m["chunk"])
        # A repeated layer computes as often as its copies would.
        predicted = s.get("model.mtp_num_layers") or (2 if row["model"] == "nemotron-3.5-lightning" else m.get("mtp_layers", 0))
    else:
        predicted = 1 if row.get("mtp") else 0
    if predicted:
        spec["predicted_tokens"] = predicted
    return spec


def operators(row, s, gpu, moe, release_has_step_graphs):
    modules = s.get("model.recompute_modules") or []
    how = dict(times="tables", precision=PRECISIONS[row["precision"]])
    if gpu in BORROWED:
        how["gpu"], how["borrowed_by"] = BORROWED[gpu]
    else:
        how["gpu"] = gpu
    if row["precision"] == "NVFP4" and row["model"] in KEPT:
        how.update(KEPT[row["model"]])
    again = [word for key, word in (("layernorm", "norms"), ("moe_act", "activations"), ("mla_up_proj", "up_projections"),
                                    ("mlp", "mlp"), ("moe", "experts")) if key in modules]
    if again:
        how["recompute"] = again
    graphs = s.get("model.cuda_graph_impl")
    if graphs == "local" or (graphs == "full_iteration" and release_has_step_graphs):
        graphs = "step"
    elif graphs in ("transformer_engine", "full_iteration"):
        graphs = "layers"
    else:
        graphs = "none"
    how["host"] = dict(graphs=graphs)
    if row["system"].startswith("DGX-GB") and graphs != "step":
        how["host"]["operator_call_us"] = GRACE_CALL_US
    if moe:
        # Fused experts run as products of their own shapes; without the host, which a whole-step graph takes away, that is the same.
        how["experts"] = "one_by_one"
        if "token_drop" in (row.get("flags") or []):
            how["host"]["waits_for_routing"] = False
    if s.get("mixed_precision.fp8_dot_product_attention") and newer(row, "26.06"):
        how["scores"] = "fp8"
    # Clamps and biases of experts are in the fused kernels that the fuser of operators brings, and in no others (TEGroupedMLP of
    # Megatron-LM). The router names no precision: bf16, but DeepEP and HybridEP take and deliver probabilities in fp32.
    if row["model"].startswith("gpt-oss") and not s.get("model.use_transformer_engine_op_fuser"):
        how["expert_biases"] = "fp32" if flexible(s) else "bf16"
    if moe and s.get("model.moe_paged_stash") and release_has_step_graphs:
        how["stash_experts"] = True
    if row["task"] == "lora":
        how["frozen_weights"] = True
    return how


def scenario(row, m, s):
    gpu = row["system"].replace("DGX-", "").lower()
    system = SYSTEMS[gpu]
    domain = min(system["domain"], row["gpus"])
    tp, pp, cp, vp, ep, dp = (row[k] or 1 for k in ("tp", "pp", "cp", "vp", "ep", "dp"))
    moe = bool(m.get("experts"))
    spec = model(row, m, s)
    training = dict(model=spec, sequence=row["seq"], global_batch=row["gbs"], micro_batch=row["mbs"], causal=True,
                    schedule="interleaved" if vp > 1 and pp > 1 else "1f1b",
                    parallelism=dict(tp=tp, pp=pp, cp=cp, dp=dp, ep=ep, virtual_stages=vp if pp > 1 else 1),
                    precision=dict(parameters="bf16", gradients="bf16"))
    if moe and ep > 1 and row.get("etp"):
        training["parallelism"]["etp"] = row["etp"]
    elif moe and tp > 1:
        training["parallelism"]["etp"] = 1
    layout = stages_of(s.get("model.pipeline_model_parallel_layout") or "")
    if layout and len(layout) == pp * vp and sum(layout) == spec["layers"]:
        training["stage_layers"] = layout
    elif row["model"] in ("deepseek-v3", "kimi-k2") and pp > 1 and pp * vp in DEEPSEEK_STAGES:
        training["stage_layers"] = DEEPSEEK_STAGES[pp * vp]
    elif (spec["layers"] % (pp * vp)) and pp > 1:
        training["ends_count_as_layers"] = True
    if row["fsdp"] or s.get("ddp.use_megatron_fsdp"):
        training["parallelism"]["fsdp"] = True
    elif row["task"] != "lora":
        training["parallelism"]["zero1"] = True
        training["gradients"] = dict(overlap_parameters=True)
    if s.get("comm_overlap.overlap_grad_reduce") is False:
        training.setdefault("gradients", {})["overlap"] = False
    if tp == 1:
        training["sequence_parallel"] = True
    overlap = {}
    if tp > 1 and not moe and s.get("comm_overlap.tp_comm_overlap") is not False:
        overlap["tensor"] = True
    if moe and s.get("comm_overlap.overlap_moe_expert_parallel_comm") and (pp == 1 or vp > 1) and (
            row["recipe"] or s.get("of_release") or newer(row, "26.02")):
        overlap["experts"] = True
    if overlap.get("experts") and not s.get("comm_overlap.delay_wgrad_compute"):
        overlap["delay_weights"] = False
    if overlap:
        training["overlap"] = overlap
    if moe and (flexible(s) or (row["model"] == "deepseek-v3" and not s.get("of_release"))):
        backend = s.get("model.moe_flex_dispatcher_backend") or ("hybridep" if domain > 8 else "deepep")
        training["dispatch"] = "hybrid_ep" if backend == "hybridep" else "copy_per_rank"
    else:
        backend = "alltoall"
    across = ep > domain and "dispatch" in training
    if "core_attn" in (s.get("model.recompute_modules") or []):
        training["recompute"] = "selective"
    training["operators"] = operators(row, s, gpu, moe, newer(row, "26.06"))
    if across:
        training["operators"]["ranks_a_copy"] = domain
    # Plain all-to-alls among the GPUs of a server of 8 are what the measured curves of these servers are of, in rounds of pairs
    # (docs/validation.md, "Collectives inside a server"); dispatchers and overlapped exchanges have kernels of their own.
    measured = moe and 1 < ep <= system["domain"] == 8 and backend == "alltoall"
    scale_up = CURVES[gpu] if measured else {"gb_per_s": system["up"], "latency_us": 2}
    peak, memory, capacity = PEAKS[gpu]
    executor = {}
    if moe and ep > 1:
        sms = (s.get("model.moe_hybridep_num_sms") if backend == "hybridep" else None) or DISPATCHER_SMS[backend]
        executor["sm_share"] = {"ep": round(sms / MULTIPROCESSORS[gpu], 3)}
    return {
        "schema": "photonrail.scenario/1",
        "name": "row",
        "cluster": {
            "servers": row["gpus"] // domain, "gpus_per_server": domain,
            "gpu": {"peak_tflops": peak, "memory_gb_per_s": memory, "memory_gb": capacity},
            "scale_up": scale_up,
            "nic": {"port_gb_per_s": system["nic"], "latency_us": 4},
            "rail": {"kind": "electrical"},
        },
        "collectives": {"all_gather": "hierarchical", "reduce_scatter": "hierarchical", "all_reduce": "hierarchical",
                        "all_to_all": "pairwise" if measured else "direct"},
        "executor": executor,
        "workload": {"training": training},
    }


def why_left_out(row, gpu, models):
    if row["model"] not in models:
        return f"model {row['model']} is not in models.json"
    if models[row["model"]].get("compress_ratios"):
        return f"model {row['model']}: its sparse attention is not modelled"
    if gpu not in SYSTEMS:
        return f"system {row['system']} is unknown"
    if row["precision"] not in PRECISIONS:
        return f"precision {row['precision']} is unknown"
    if "known_regression_cudnn_frontend" in row["flags"]:
        return "a kernel of the experts was ten times as slow in this release as in the one before (NVIDIA/cudnn-frontend, issue 256)"
    return None


def main():
    folder = sys.argv[1]
    load = lambda name: json.load(open(os.path.join(folder, name), encoding="utf-8"))
    recipes = {r["name"]: r for r in load("recipes.json")["recipes"]}
    models = load("models.json")
    rows, names, left_out, missing = [], {}, {}, {}
    for row in load("rows.json")["rows"]:
        gpu = row["system"].replace("DGX-", "").lower()
        reason = why_left_out(row, gpu, models)
        if reason:
            left_out[reason] = left_out.get(reason, 0) + 1
            continue
        s, from_where = settings(row, recipes)
        absent = not_modelled(row, s)
        for name in absent:
            missing[name] = missing.get(name, 0) + 1
        if absent:
            from_where += "; not modelled: " + ", ".join(absent)
        shape = " ".join(f"{k}{row[k]}" for k in ("tp", "pp", "cp", "vp", "ep") if row[k] and row[k] > 1)
        precision = PRECISIONS[row["precision"]]
        name = f"{row['model']} {gpu} {row['gpus']} {precision} mbs{row['mbs']} {shape} {row['release']}" + ("" if row["task"] == "pretrain" else " " + row["task"])
        names[name] = names.get(name, 0) + 1
        if names[name] > 1:
            name += f" #{names[name]}"
        per_pass = row["dp"] * row["mbs"]
        # B300 has no dense row here: it takes the factor of GB300, the same die.
        out = dict(name=name, gpu="gb300" if gpu == "b300" else gpu, group=row["model"], note=from_where, measured_step_s=row["step_s"], scenario=scenario(row, models[row["model"]], s))
        key = f"{row['model']} {row['release']} {precision}"
        if key in FITTED.get(gpu, []) and row["task"] == "pretrain":
            out["fit"] = True
        many = row["gbs"] // per_pass
        unit = max(row["pp"], 2)
        if many > 4 * unit:
            out["line"] = [2 * unit * per_pass, 3 * unit * per_pass]
        rows.append(out)
    json.dump({"schema": "photonrail.rows/1", "name": "Megatron-Bridge", "source": "NVIDIA-NeMo/Megatron-Bridge, docs/performance-summary.md and its archive, Apache-2.0",
               # H100 has no dense row here: configs/rows/published-steps.json has.
               "factors": {"h100": 1.1835}, "rows": rows}, sys.stdout, indent=1)
    for what, lines in (("left out", left_out), ("not modelled", missing)):
        for name, count in sorted(lines.items()):
            print(f"{what}: {name} ({count} rows)", file=sys.stderr)


main()
