"""Build the sdist and the wheel, look into both, and use the wheel where there is no checkout.

``python .ci/dist_check.py FOLDER`` leaves the two files in ``FOLDER``: what was checked is what can
be released.  The interpreter needs the package ``build``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "srff"

USED = """
import sys
from pathlib import Path

import srff

assert Path(srff.__file__).is_relative_to(sys.prefix), srff.__file__
srff.show_versions()

from srff.datasets import make_se1

X, y = make_se1(200, random_state=0)
srff.SRFFRegressor(effort="quick", random_state=0).fit(X, y).report("report.html")
assert "<html" in Path("report.html").read_text("utf-8")
"""
"""What must work with the wheel alone: the report reads its templates, which are no modules."""


def main(folder: Path) -> None:
    """Both files, made and tried, in a folder."""
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        build(ROOT, scratch / "both")  # the sdist, and from it the wheel
        build(ROOT, scratch / "direct", "--wheel")
        sdist, wheel = only(scratch / "both", "*.tar.gz"), only(scratch / "both", "*.whl")
        check_sdist(sdist)
        check_wheel(wheel, only(scratch / "direct", "*.whl"))
        use(wheel, scratch)
        folder.mkdir(exist_ok=True)
        for file in (sdist, wheel):
            shutil.copy(file, folder)
            print(f"checked: {folder / file.name}")


def build(source: Path, folder: Path, *options: str) -> None:
    """What ``python -m build`` makes, in an environment of its own."""
    run([sys.executable, "-m", "build", "--outdir", folder, *options, source], cwd=ROOT)


def only(folder: Path, pattern: str) -> Path:
    """The one file there is of a kind."""
    (found,) = folder.glob(pattern)
    return found


def check_sdist(sdist: Path) -> None:
    """It holds all files of the package, its licence and how it is built."""
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    needed = {f"src/srff/{name}" for name in package_files()}
    demand(held, needed | {"LICENSE", "README.md", "pyproject.toml", "PKG-INFO"}, sdist)


def check_wheel(wheel: Path, direct: Path) -> None:
    """It holds all files of the package, and is the same from the sdist and from the checkout."""
    held = contents(wheel)
    information = f"srff-{wheel.name.split('-')[1]}.dist-info"
    extra = {f"{information}/{name}" for name in ("licenses/LICENSE", "entry_points.txt")}
    demand(set(held), {f"srff/{name}" for name in package_files()} | extra, wheel)
    if differing := {name for name, _ in held.items() ^ contents(direct).items()}:
        sys.exit(f"the wheel of the sdist is not that of the checkout: {sorted(differing)}")


def package_files() -> set[str]:
    """The files of the package in the checkout; the type marker and the templates among them."""
    files = [path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    names = {path.relative_to(PACKAGE).as_posix() for path in files}
    demand(names, {"py.typed", "inspect/templates/report.html"}, PACKAGE)
    return names


def contents(wheel: Path) -> dict[str, int]:
    """The names in a wheel, with the checksum of each."""
    with ZipFile(wheel) as archive:
        return {entry.filename: entry.CRC for entry in archive.infolist()}


def demand(held: set[str], needed: set[str], where: Path) -> None:
    """End with the names that are missing, if any are."""
    if missing := needed - held:
        sys.exit(f"{where.name} lacks {sorted(missing)}")


def use(wheel: Path, scratch: Path) -> None:
    """Install the wheel in a new environment and use it from an empty folder."""
    venv.create(scratch / "venv", with_pip=True)
    python, srff = (scratch / "venv" / "bin" / name for name in ("python", "srff"))
    constraints = ROOT / "constraints.txt"
    run([python, "-m", "pip", "install", "--quiet", "-c", constraints, wheel], cwd=scratch)
    elsewhere = scratch / "elsewhere"
    elsewhere.mkdir()
    said = run([srff, "--version"], cwd=elsewhere, capture_output=True, text=True).stdout
    if said.split() != ["srff", wheel.name.split("-")[1]]:
        sys.exit(f"{wheel.name}: srff --version says {said!r}")
    run([srff, "demo", "--samples", "1000"], cwd=elsewhere)
    run([python, "-c", USED], cwd=elsewhere)


def run(command: list[str | Path], **more: object) -> subprocess.CompletedProcess[str]:
    """A command that must succeed and must not find the package in the checkout."""
    free = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(command, check=True, env=free, **more)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
