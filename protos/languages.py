"""Generate code of the contract in six languages, and compile it with the toolchains that are there.

Run by `make protos-languages [LANGUAGES="go rust"]`. The generators are those that a kit of the
language uses, at the versions below. Nothing that is generated is checked in; all of it lies in
`build/languages`. A missing toolchain is reported, and is an error with `--strict` or in CI.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import grpc_tools

ROOT = Path(__file__).resolve().parent
GOOGLE = ROOT / "third_party"
BUNDLED = Path(grpc_tools.__file__).parent / "_proto"
BUILD = ROOT.parent / "build" / "languages"
FILES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "pegboard" / "v1").glob("*.proto"))
GOOGLE_FILES = sorted(str(path.relative_to(GOOGLE)) for path in GOOGLE.rglob("*.proto"))

PROTOC_GEN_GO = "google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.6"
PROTOC_GEN_GO_GRPC = "google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.5.1"
GRPC_GO = "google.golang.org/grpc@v1.72.0"
GENPROTO = "google.golang.org/genproto/googleapis/api@v0.0.0-20250218202821-56aae31c358a"
TONIC, PROST = "0.13.1", "0.13.5"
PROTOBUF_JAVA, GRPC_JAVA, COMMON_PROTOS_JAVA = "4.31.1", "1.72.0", "2.58.0"
PROTOBUF_ES, TYPESCRIPT = "2.5.0", "5.8.3"


class Language(NamedTuple):
    """A language: the programs that it needs, and what generates and compiles in a folder."""

    needs: tuple[str, ...]
    build: Callable[[Path], None]


def run(folder: Path, *command: str, **env: str) -> None:
    """Run a command in a folder. Raises `CalledProcessError`."""
    subprocess.run(command, cwd=folder, env={**os.environ, **env}, check=True)


def protoc(folder: Path, *arguments: str, files: list[str] = FILES, **env: str) -> None:
    """Run the protoc of grpcio-tools for the protos."""
    run(
        folder,
        *(sys.executable, "-m", "grpc_tools.protoc"),
        *(f"--proto_path={path}" for path in (ROOT, GOOGLE, BUNDLED)),
        *arguments,
        *files,
        **env,
    )


def build_go(folder: Path) -> None:
    """Messages and gRPC stubs, by protoc-gen-go and protoc-gen-go-grpc."""
    module = "github.com/pegboard/pegboard/gen/go"
    bin_dir = BUILD / "go-bin"
    env = {"GOFLAGS": "-mod=mod", "GOBIN": str(bin_dir)}
    for tool in (PROTOC_GEN_GO, PROTOC_GEN_GO_GRPC):
        if not (bin_dir / tool.rpartition("/")[2].partition("@")[0]).exists():
            run(folder, "go", "install", tool, **env)
    protoc(
        folder,
        f"--go_out={folder}",
        f"--go_opt=module={module}",
        f"--go-grpc_out={folder}",
        f"--go-grpc_opt=module={module}",
        PATH=f"{bin_dir}{os.pathsep}{os.environ['PATH']}",
    )
    run(folder, "go", "mod", "init", module, **env)
    run(folder, "go", "get", GRPC_GO, GENPROTO, **env)
    run(folder, "go", "build", "./...", **env)


def build_rust(folder: Path) -> None:
    """Messages and gRPC clients, by tonic and prost."""
    wrapper = folder / "protoc"
    wrapper.write_text(
        f'#!/bin/sh\nexec {sys.executable} -m grpc_tools.protoc -I{BUNDLED} "$@"\n',
        encoding="utf-8",
    )
    wrapper.chmod(0o755)
    (folder / "src").mkdir()
    (folder / "Cargo.toml").write_text(
        '[package]\nname = "pegboard-contract"\nversion = "0.0.0"\nedition = "2021"\n'
        "[dependencies]\n"
        f'prost = "={PROST}"\nprost-types = "={PROST}"\n'
        f'tonic = {{ version = "={TONIC}", default-features = false, '
        'features = ["codegen", "prost"] }\n'
        f'[build-dependencies]\ntonic-build = "={TONIC}"\n',
        encoding="utf-8",
    )
    (folder / "build.rs").write_text(
        "fn main() {\n    tonic_build::configure().build_transport(false)\n"
        f"        .compile_protos(&{_rust_strings(FILES)},\n"
        f"            &{_rust_strings([str(ROOT), str(GOOGLE)])})\n"
        "        .unwrap();\n}\n",
        encoding="utf-8",
    )
    (folder / "src" / "lib.rs").write_text(
        'pub mod v1 {\n    tonic::include_proto!("pegboard.v1");\n}\n', encoding="utf-8"
    )
    target = str(BUILD / "rust-target")
    run(folder, "cargo", "check", "--quiet", PROTOC=str(wrapper), CARGO_TARGET_DIR=target)


def _rust_strings(texts: list[str]) -> str:
    return "[" + ", ".join(f'"{text}"' for text in texts) + "]"


def build_java(folder: Path) -> None:
    """Messages and gRPC stubs, by protoc and protoc-gen-grpc-java as a Maven build runs them."""
    shutil.copytree(ROOT / "pegboard", folder / "src" / "main" / "proto" / "pegboard")
    (folder / "pom.xml").write_text(_POM, encoding="utf-8")
    run(folder, "mvn", "-q", "-B", "compile")


def _artifact(group: str, artifact: str, version: str) -> str:
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version></dependency>"
    )


_POM = f"""<project>
<modelVersion>4.0.0</modelVersion>
<groupId>pegboard</groupId><artifactId>contract</artifactId><version>0</version>
<properties>
<maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target>
<project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
</properties>
<dependencies>
{_artifact("com.google.protobuf", "protobuf-java", PROTOBUF_JAVA)}
{_artifact("com.google.api.grpc", "proto-google-common-protos", COMMON_PROTOS_JAVA)}
{_artifact("io.grpc", "grpc-protobuf", GRPC_JAVA)}
{_artifact("io.grpc", "grpc-stub", GRPC_JAVA)}
{_artifact("javax.annotation", "javax.annotation-api", "1.3.2")}
</dependencies>
<build>
<extensions><extension>
<groupId>kr.motd.maven</groupId><artifactId>os-maven-plugin</artifactId><version>1.7.1</version>
</extension></extensions>
<plugins><plugin>
<groupId>org.xolstice.maven.plugins</groupId><artifactId>protobuf-maven-plugin</artifactId>
<version>0.6.1</version>
<configuration>
<protocArtifact>com.google.protobuf:protoc:{PROTOBUF_JAVA}:exe:${{os.detected.classifier}}</protocArtifact>
<pluginId>grpc-java</pluginId>
<pluginArtifact>io.grpc:protoc-gen-grpc-java:{GRPC_JAVA}:exe:${{os.detected.classifier}}</pluginArtifact>
</configuration>
<executions><execution><goals><goal>compile</goal><goal>compile-custom</goal></goals></execution></executions>
</plugin></plugins>
</build>
</project>
"""


def build_typescript(folder: Path) -> None:
    """Messages and service descriptors, by protobuf-es, under tsc --strict."""
    modules = BUILD / "npm"
    modules.mkdir(exist_ok=True)
    if not (modules / "node_modules" / ".bin" / "tsc").exists():
        packages = [f"@bufbuild/{name}@{PROTOBUF_ES}" for name in ("protobuf", "protoc-gen-es")]
        run(modules, "npm", "install", "--silent", *packages, f"typescript@{TYPESCRIPT}")
    binaries = modules / "node_modules" / ".bin"
    protoc(
        folder,
        f"--plugin=protoc-gen-es={binaries / 'protoc-gen-es'}",
        f"--es_out={folder}",
        "--es_opt=target=ts",
        files=[*FILES, *GOOGLE_FILES],
    )
    (folder / "node_modules").symlink_to(modules / "node_modules")
    sources = [str(path) for path in folder.rglob("*_pb.ts")]
    options = "--noEmit --strict --target es2022 --module nodenext --moduleResolution nodenext"
    run(folder, str(binaries / "tsc"), *options.split(), *sources)


def build_cpp(folder: Path) -> None:
    """Messages and gRPC stubs, by the protoc that fits the installed libraries."""
    run(
        folder,
        "protoc",
        *(f"--proto_path={path}" for path in (ROOT, GOOGLE)),
        f"--plugin=protoc-gen-grpc={shutil.which('grpc_cpp_plugin')}",
        f"--cpp_out={folder}",
        f"--grpc_out={folder}",
        *FILES,
        *GOOGLE_FILES,
    )
    for source in sorted(folder.rglob("*.cc")):
        run(folder, "g++", "-std=c++17", "-fsyntax-only", "-I.", str(source))


def build_csharp(folder: Path) -> None:
    """Messages; not compiled."""
    paths = [f"--proto_path={path}" for path in (ROOT, GOOGLE)]
    run(folder, "protoc", *paths, f"--csharp_out={folder}", *FILES)


LANGUAGES = {
    "go": Language(("go",), build_go),
    "rust": Language(("cargo",), build_rust),
    "java": Language(("javac", "mvn"), build_java),
    "typescript": Language(("node", "npm"), build_typescript),
    "cpp": Language(("g++", "protoc", "grpc_cpp_plugin"), build_cpp),
    "csharp": Language(("protoc",), build_csharp),
}


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def outcome(name: str, strict: bool) -> bool:
    """Generate and compile one language, say how it went, and return whether that is right."""
    language = LANGUAGES[name]
    missing = [program for program in language.needs if shutil.which(program) is None]
    if missing:
        _say(f"{name}: not tried, since {', '.join(missing)} is missing")
        return not strict
    folder = BUILD / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    start = time.monotonic()
    try:
        language.build(folder)
    except (subprocess.CalledProcessError, OSError) as error:
        _say(f"{name}: FAILED: {error}")
        return False
    did = "generated" if name == "csharp" else "generated and compiled"
    _say(f"{name}: {did} in {time.monotonic() - start:.0f} s")
    return True


def main() -> int:
    """Try the languages that are named, or all; all are tried even if one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strict", action="store_true", help="a missing toolchain is an error")
    parser.add_argument("languages", nargs="*", help=f"of {', '.join(LANGUAGES)}; default: all")
    arguments = parser.parse_args()
    unknown = set(arguments.languages) - LANGUAGES.keys()
    if unknown:
        parser.error(f"no language {', '.join(sorted(unknown))}; there are {', '.join(LANGUAGES)}")
    strict = arguments.strict or bool(os.environ.get("CI"))
    results = [outcome(name, strict) for name in arguments.languages or LANGUAGES]
    return 0 if all(results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
