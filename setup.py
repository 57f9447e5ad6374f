"""What pyproject.toml cannot say: lessons and exercises, kept at the top of the repository, go into the wheel, and what two
programs read is installed under a name of its own, as no program imports bugzoo."""

import shutil
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

FOLDERS = ("notebooks", "exercises", "solutions")


class WithMaterial(build_py):
    """Copies the folders into the package that is built; an editable install reads them where they are."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib) / "bugzoo"
        for folder in FOLDERS:
            shutil.rmtree(target / folder, ignore_errors=True)
            for file in sorted(Path(folder).rglob("*")):
                hidden = any(part.startswith(".") or part == "__pycache__" for part in file.parts)
                if file.is_file() and not hidden:
                    copy = target / file
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, copy)


READ = "film_reviews"
setup(
    cmdclass={"build_py": WithMaterial},
    packages=[name for name in find_packages(include=["bugzoo*"]) if READ not in name] + [READ],
    package_dir={READ: f"bugzoo/programs/{READ}"},
)
