# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a checkout of spack-packages, without Spack: whether it has the packages, versions and variants that a recipe or
an environment asks for. Used by check_spack.py."""
import ast
import re

# The parts of a word of a spec.
NAME, VERSIONS, SWITCHES = re.compile(r"\^?([\w-]*)"), re.compile(r"@([\w.:,=-]+)"), re.compile(r"[+~]([\w-]+)")


def numbers(version):
    return [int(part) for part in re.findall(r"\d+", version)]


def packages_of(spec):
    """(package, versions, variants) for each package of a spec such as 'kokkos@4.6: +cuda ^hdf5 ~mpi'; the package that has
    no name in a condition is ''. `*` stands for text that is not known."""
    found = [["", "", set()]]
    for word in spec.split():
        if "=" in word and "@" not in word:
            found[-1][2].add(word.split("=")[0].lstrip("+~"))
            continue
        name = NAME.match(word)[1]
        if name and (word.startswith("^") or not re.match(r"[+~@%]", word)):
            found.append([name, "", set()])
        if versions := VERSIONS.search(word):
            found[-1][1] = versions[1]
        found[-1][2] |= set(SWITCHES.findall(word))
    return [tuple(one) for one in found if one != ["", "", set()]]


class Package:
    """What a recipe says of its versions, variants and virtual packages."""

    def __init__(self, text):
        self.versions, self.variants, self.provided, self.bases = [], set(), set(), []
        self.is_virtual = bool(re.search(r"^    virtual = True$", text, re.M))
        tree = ast.parse(text)
        computed = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                self.bases += [base.id for base in node.bases if isinstance(base, ast.Name)]
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name, literal = getattr(node.func, "id", ""), getattr(node.args[0], "value", None)
            if name in ("version", "variant") and not isinstance(literal, str):
                computed.add(name)
            elif name == "version":
                self.versions.append(literal)
            elif name == "variant":
                self.variants.add(literal)
            elif name == "provides":
                self.provided |= {re.match(r"[\w-]+", argument.value)[0] for argument in node.args if isinstance(argument, ast.Constant)}
        # In a loop: over the keys of a dictionary, or the values of a tuple.
        names = {constant.value for node in ast.walk(tree) if isinstance(node, (ast.Dict, ast.Tuple))
                 for constant in (node.keys if isinstance(node, ast.Dict) else node.elts)
                 if isinstance(constant, ast.Constant) and isinstance(constant.value, str)}
        self.versions += [name for name in sorted(names) if "version" in computed and re.match(r"\d+\.", name)]
        self.variants |= {name for name in names if "variant" in computed}

    def has_version(self, versions):
        """Whether one of its versions is in the range `versions`: 'a:', 'a:b', ':b' or 'a'."""
        least, colon, most = versions.partition(":")
        most = most if colon else least
        return any((not least or numbers(version) >= numbers(least)) and (not most or numbers(version)[:len(numbers(most))] <= numbers(most))
                   for version in self.versions if numbers(version))


class Repository:
    def __init__(self, checkout):
        self.folder = checkout / "repos/spack_repo/builtin"
        if not (self.folder / "packages").is_dir():
            raise FileNotFoundError(f"{checkout} is no checkout of spack-packages: it has no repos/spack_repo/builtin/packages")
        self.known = {}
        self.virtuals = None

    def api(self):
        return re.search(r"api: v([\d.]+)", (self.folder / "repo.yaml").read_text())[1]

    def read(self, path):
        if path not in self.known:
            self.known[path] = Package(path.read_text(encoding="utf-8")) if path.exists() else None
        return self.known[path]

    def package(self, name):
        return self.read(self.folder / "packages" / re.sub("-", "_", name if not name[:1].isdigit() else f"_{name}") / "package.py")

    def is_provided(self, name):
        if self.virtuals is None:
            texts = (path.read_text(encoding="utf-8") for path in sorted((self.folder / "packages").glob("*/package.py")))
            self.virtuals = set().union(*(Package(text).provided for text in texts if "provides(" in text))
        return name in self.virtuals

    def has_build_system(self, module):
        return (self.folder / "build_systems" / f"{module}.py").exists()

    def variants(self, package):
        """Also those of its build systems."""
        found = set(package.variants)
        for path in sorted((self.folder / "build_systems").glob("*.py")):
            if any(f"class {base}(" in path.read_text(encoding="utf-8") for base in package.bases):
                found |= self.read(path).variants
        return found

    def faults_of(self, spec):
        """A sentence for each package, version or variant of a spec that the repository lacks."""
        for name, versions, variants in packages_of(spec):
            if not name or "*" in name:
                continue
            package = self.package(name)
            if package is None or package.is_virtual:
                if not self.is_provided(name):
                    yield f"'{spec}': spack-packages has no {name}"
                continue
            if versions and not package.has_version(versions):
                yield f"'{spec}': spack-packages has no {name}@{versions}"
            for variant in sorted(variants - self.variants(package)):
                yield f"'{spec}': {name} has no variant {variant} in spack-packages"
