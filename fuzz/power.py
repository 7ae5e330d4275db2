"""Simulates power cuts: records all file operations of a command, and resumes it from what every prefix of them leaves.

Three disks are tried for every prefix: `strict` has lost everything that was not synced, names included; `names` has
all names (creations, renames, removals), but contents only as of their last sync; `all` has lost nothing, as after a
kill. What a command that had ended has made must be there on all of them, without resuming.
"""

import random
import tempfile
from pathlib import Path

from faults import observed, shim
from scenes import SCENES, campaign, run

DISKS = ("strict", "names", "all")


class File:
    def __init__(self, content=b""):
        self.now, self.synced = bytearray(content), bytes(content)


class Disk:
    """Files and folders, as they are and as they would be after a power cut."""

    def __init__(self, root, files, folders):
        self.root = root
        self.now, self.folders = {path: File(content) for path, content in files.items()}, set(folders)
        self.synced, self.synced_folders = dict(self.now), set(self.folders)

    @staticmethod
    def of(root):
        """What is below a folder, all of it synced."""
        files = {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        return Disk(root, files, {str(path) for path in root.rglob("*") if path.is_dir()} | {str(root)})

    def after(self, operations):
        """Another disk, after some operations."""
        disk = Disk(self.root, {path: file.synced for path, file in self.now.items()}, self.folders)
        for operation in operations:
            disk.apply(*operation)
        return disk

    def apply(self, name, path, offset, data, other):
        if name in ("write", "truncate", "rename") and path not in self.now:
            return  # an open file that was removed
        if name == "create":
            self.now[path] = File()
        elif name == "write":
            content = self.now[path].now
            content.extend(b"\0" * (offset - len(content)))
            content[offset : offset + len(data)] = data
        elif name == "truncate":
            content = self.now[path].now
            del content[offset:]
            content.extend(b"\0" * (offset - len(content)))
        elif name == "rename":
            self.now[other] = self.now.pop(path)
        elif name == "unlink":
            self.now.pop(path, None)
        elif name == "mkdir":
            self.folders.add(path.rstrip("/"))
        elif name == "sync" and path in self.folders:
            self.sync_names(path)
        elif name == "sync" and path in self.now:
            self.now[path].synced = bytes(self.now[path].now)

    def sync_names(self, folder):
        def inside(path):
            return path.rsplit("/", 1)[0] == folder

        self.synced = {path: file for path, file in self.synced.items() if not inside(path)}
        self.synced.update({path: file for path, file in self.now.items() if inside(path)})
        self.synced_folders |= {path for path in self.folders if inside(path)}

    def store(self, kind, to):
        """Writes what is left to a folder."""
        names = self.synced if kind == "strict" else self.now
        folders = self.synced_folders if kind == "strict" else self.folders
        place = lambda path: to / Path(path).relative_to(self.root)  # noqa: E731
        for folder in sorted(folders):
            place(folder).mkdir(parents=True, exist_ok=True)
        for path, file in names.items():
            if place(path).parent.is_dir():
                place(path).write_bytes(file.now if kind == "all" else file.synced)


def record(scene, library):
    """The operations of a command, the folder before it, and its result."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve() / "work"
        folder.mkdir()
        scene.prepare(folder)
        disk = Disk.of(folder)
        ended, operations = observed(scene, library, folder)
        assert ended.returncode == 0, ended.stderr
        assert operations, f"{scene.name}: the library was not loaded"
        return operations, disk, scene.result(folder)


def resume(scene, disk, kind, expected, was_done):
    """What is wrong with what is left, or with the result of resuming from it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        disk.store(kind, folder)
        if was_done and scene.result(folder) != expected:
            return "the result of a command that had ended is lost"
        for model in [path.parent for path in folder.rglob("model.safetensors")]:
            shown = run(folder, ["models", str(model)])
            if shown.returncode != 0 and (model / "config.json").exists():
                return f"{model.name}: {shown.stderr.strip()}"
        ended = scene.run(folder)
        if not scene.is_done(ended):
            return f"exit code {ended.returncode}: {ended.stderr.strip()}"
        return None if scene.result(folder) == expected else "another result"


def tries(scene):
    operations, disk, expected = record(scene, shim())
    total = len(operations)

    def rounds():
        for prefix in [total, *random.sample(range(total), total)]:
            left, problems = disk.after(operations[:prefix]), []
            for kind in DISKS:
                problem = resume(scene, left, kind, expected, prefix == total)
                if problem:
                    problems.append(f"after {prefix} operations, {kind}: {problem}")
            yield len(DISKS), problems

    return f"of {total + 1} prefixes", rounds()


if __name__ == "__main__":
    campaign(__doc__, "power cuts", SCENES, tries)
