#!/usr/bin/env python3
"""Averages the weights of networks that have been trained from each other: models/average.py OUT FOLDER=WEIGHT...

The configuration is that of the first one. `bqnco convert OUT -o FOLDER` stores the result in half precision.
"""

import json
import struct
import sys
import zlib
from pathlib import Path

FORMATS = {"F32": ("f", 4), "F16": ("e", 2)}


def read(folder):
    """Shapes and numbers of all tensors (https://github.com/huggingface/safetensors#format)."""
    data = Path(folder, "model.safetensors").read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, about in json.loads(data[8:start]).items():
        if name != "__metadata__":
            letter, size = FORMATS[about["dtype"]]
            begin, end = (start + offset for offset in about["data_offsets"])
            tensors[name] = about["shape"], struct.unpack(f"<{(end - begin) // size}{letter}", data[begin:end])
    return tensors


def packed(tensors):
    """The tensors as a file, in single precision."""
    header, body = {}, b""
    for name, (shape, numbers) in sorted(tensors.items()):
        bytes_ = struct.pack(f"<{len(numbers)}f", *numbers)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(body), len(body) + len(bytes_)]}
        body += bytes_
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + body


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    parts = [(folder, float(weight)) for folder, _, weight in (part.rpartition("=") for part in sys.argv[2:])]
    total = sum(weight for _, weight in parts)
    networks = [(read(folder), weight / total) for folder, weight in parts]
    shapes = {name: shape for name, (shape, _) in networks[0][0].items()}
    if any({name: shape for name, (shape, _) in tensors.items()} != shapes for tensors, _ in networks):
        sys.exit("the networks have different tensors")
    weights = [weight for _, weight in networks]
    mean = {}
    for name, shape in shapes.items():
        columns = zip(*(tensors[name][1] for tensors, _ in networks))
        mean[name] = shape, [sum(w * x for w, x in zip(weights, column)) for column in columns]
    file = packed(mean)
    config = json.loads(Path(parts[0][0], "config.json").read_text())
    checksums = [json.loads(Path(folder, "config.json").read_text())["checksum"] for folder, _ in parts]
    config["checksum"] = f"crc32:{zlib.crc32(file):08x}"
    config["provenance"]["mean of"] = ", ".join(f"{sum_} x {weight:g}" for sum_, (_, weight) in zip(checksums, parts))
    out = Path(sys.argv[1])
    out.mkdir(parents=True)
    (out / "model.safetensors").write_bytes(file)
    (out / "config.json").write_text(json.dumps(config, indent=2))


if __name__ == "__main__":
    main()
