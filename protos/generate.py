"""Generate the Python code of the contract beside its protos; `--check` fails where it is stale.

Run by `make protos` and `make check` with the pinned grpcio-tools of requirements.lock: the oldest
supported generator, since generated code refuses an older runtime but never a newer one.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import grpc_tools
from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent
PACKAGE = ROOT / "pegboard" / "v1"


def generate(out: Path) -> None:
    """Write `*_pb2*.py` and `.pyi` for every proto below `out`."""
    bundled = Path(grpc_tools.__file__).parent / "_proto"
    bin_dir = Path(sys.executable).parent
    arguments = [
        "protoc",
        f"--proto_path={ROOT}",
        f"--proto_path={ROOT / 'third_party'}",
        f"--proto_path={bundled}",
        f"--plugin=protoc-gen-mypy={bin_dir / 'protoc-gen-mypy'}",
        f"--plugin=protoc-gen-mypy_grpc={bin_dir / 'protoc-gen-mypy_grpc'}",
        f"--python_out={out}",
        f"--grpc_python_out={out}",
        f"--mypy_out=quiet:{out}",
        f"--mypy_grpc_out=quiet:{out}",
        *(str(path) for path in sorted(PACKAGE.glob("*.proto"))),
    ]
    if protoc.main(arguments) != 0:
        raise SystemExit("protos/generate.py: protoc failed; mend the proto named above")
    for path in (out / "pegboard" / "v1").glob("*_pb2_grpc.py*"):
        if "class" not in path.read_text(encoding="utf-8"):
            path.unlink()  # a proto without a service


def generated(root: Path) -> dict[str, bytes]:
    """Read all generated files below `root`, by name."""
    return {path.name: path.read_bytes() for path in (root / "pegboard" / "v1").glob("*_pb2*")}


def main() -> int:
    """Generate, or compare with what is checked in."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if stale")
    if not parser.parse_args().check:
        generate(ROOT)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder))
        fresh, kept = generated(Path(folder)), generated(ROOT)
    stale = sorted(name for name in fresh.keys() | kept.keys() if fresh.get(name) != kept.get(name))
    for name in stale:
        print(f"stale: protos/pegboard/v1/{name}; run `make protos`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
