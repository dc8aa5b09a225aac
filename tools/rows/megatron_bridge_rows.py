#!/usr/bin/env python3
"""Measured steps of NVIDIA's Megatron-Bridge performance tables as a photonrail.rows/1 file.

    megatron_bridge_rows.py FOLDER > rows.json

FOLDER has rows.json, recipes.json and models.json. A row says model, system, batch and parallelism; what else a system
does comes from the recipe of the row, or where the row names none, from a recipe of the same model on the same system, of
the same precision if there is one. Nothing here depends on the measured time.
"""
import json
import os
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


def newer(row, release):
    return tuple(map(int, row["release"].split("."))) >= tuple(map(int, release.split(".")))


def settings(row, recipes):
    if row["recipe"]:
        return recipes[row["recipe"]]["settings"], "own recipe"
    same = [r for r in recipes.values() if r["model"] == row["model"] and r["system"] == row["system"]]
    same = same or [r for r in recipes.values() if r["model"] == row["model"]]
    same.sort(key=lambda r: r["precision"] != row["precision"])
    return (same[0]["settings"], "recipe of another configuration") if same else ({}, "no recipe")


def model(row, m):
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
        predicted = 2 if row["model"] == "nemotron-3.5-lightning" else m.get("mtp_layers", 0)
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
    if moe:
        # Fused experts run as products of their own shapes; without the host, which a whole-step graph takes away, that is the same.
        how["experts"] = "one_by_one"
        if "token_drop" in (row.get("flags") or []):
            how["host"]["waits_for_routing"] = False
    # Fused kernels with learned sinks are in the releases from 26.06 on, but for one with a known regression.
    if row["model"].startswith("gpt-oss") and (not newer(row, "26.06") or "known_regression_cudnn_frontend" in row["flags"]):
        how["attention"] = "unfused"
    elif s.get("mixed_precision.fp8_dot_product_attention") and newer(row, "26.06"):
        how["scores"] = "fp8"
    if row["task"] == "lora":
        how["frozen_weights"] = True
    return how


def scenario(row, m, s):
    gpu = row["system"].replace("DGX-", "").lower()
    system = SYSTEMS[gpu]
    domain = min(system["domain"], row["gpus"])
    tp, pp, cp, vp, ep, dp = (row[k] or 1 for k in ("tp", "pp", "cp", "vp", "ep", "dp"))
    moe = bool(m.get("experts"))
    spec = model(row, m)
    training = dict(model=spec, sequence=row["seq"], global_batch=row["gbs"], micro_batch=row["mbs"], causal=True,
                    schedule="interleaved" if vp > 1 and pp > 1 else "1f1b",
                    parallelism=dict(tp=tp, pp=pp, cp=cp, dp=dp, ep=ep, virtual_stages=vp if pp > 1 else 1),
                    precision=dict(parameters="bf16", gradients="bf16"))
    if moe and ep > 1 and row.get("etp"):
        training["parallelism"]["etp"] = row["etp"]
    elif moe and tp > 1:
        training["parallelism"]["etp"] = 1
    if (spec["layers"] % (pp * vp)) and pp > 1:
        training["ends_count_as_layers"] = True
    if row["fsdp"] or s.get("ddp.use_megatron_fsdp"):
        training["parallelism"]["fsdp"] = True
    elif row["task"] != "lora":
        training["parallelism"]["zero1"] = True
        training["gradients"] = dict(overlap_parameters=True)
    if tp == 1:
        training["sequence_parallel"] = True
    overlap = {}
    if tp > 1 and not moe and s.get("comm_overlap.tp_comm_overlap") is not False:
        overlap["tensor"] = True
    if moe and s.get("comm_overlap.overlap_moe_expert_parallel_comm") and (pp == 1 or vp > 1) and (row["recipe"] or newer(row, "26.02")):
        overlap["experts"] = True
    if overlap:
        training["overlap"] = overlap
    if moe and (s.get("model.moe_token_dispatcher_type") == "flex" or s.get("model.moe_flex_dispatcher_backend") or row["model"] == "deepseek-v3"):
        training["dispatch"] = "copy_per_rank"
    across = ep > domain and training.get("dispatch") == "copy_per_rank"
    if "core_attn" in (s.get("model.recompute_modules") or []):
        training["recompute"] = "selective"
    training["operators"] = operators(row, s, gpu, moe, newer(row, "26.06"))
    if across:
        training["operators"]["ranks_a_copy"] = domain
    peak, memory, capacity = PEAKS[gpu]
    return {
        "schema": "photonrail.scenario/1",
        "name": "row",
        "cluster": {
            "servers": row["gpus"] // domain, "gpus_per_server": domain,
            "gpu": {"peak_tflops": peak, "memory_gb_per_s": memory, "memory_gb": capacity},
            "scale_up": {"gb_per_s": system["up"], "latency_us": 2},
            "nic": {"port_gb_per_s": system["nic"], "latency_us": 4},
            "rail": {"kind": "electrical"},
        },
        "collectives": {"all_gather": "hierarchical", "reduce_scatter": "hierarchical", "all_reduce": "hierarchical", "all_to_all": "direct"},
        "workload": {"training": training},
    }


def main():
    folder = sys.argv[1]
    load = lambda name: json.load(open(os.path.join(folder, name), encoding="utf-8"))
    recipes = {r["name"]: r for r in load("recipes.json")["recipes"]}
    models = load("models.json")
    rows, names = [], {}
    for row in load("rows.json")["rows"]:
        gpu = row["system"].replace("DGX-", "").lower()
        if row["model"] == "deepseek-v4-flash":  # its sparse attention has no model
            continue
        s, from_where = settings(row, recipes)
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
               "factors": {"h100": 1.1408}, "rows": rows}, sys.stdout, indent=1)


main()
