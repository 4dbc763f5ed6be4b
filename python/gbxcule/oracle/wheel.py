"""The origin of an installed package, from the files that its installer left."""

import hashlib
import importlib.metadata
import json


def provenance(package: str) -> dict:
    """Describe the installed wheel: its version and where it came from.

    `wheel` is the address by PEP 610, or "wheel source unknown" if the installer recorded none.
    """
    distribution = importlib.metadata.distribution(package)
    direct = direct_url(distribution)
    facts = {"package": package, "version": distribution.version, "wheel": address(direct)}
    facts["hashes"] = direct.get("archive_info", {}).get("hashes")
    wheel = (distribution.read_text("WHEEL") or "").splitlines()
    facts["tags"] = [line[5:] for line in wheel if line.startswith("Tag: ")]
    facts["installer"] = (distribution.read_text("INSTALLER") or "").strip() or None
    facts["record_sha256"] = record_hash(distribution)
    return facts


def source(package: str) -> str:
    """Return the address that the package was installed from, as PEP 610 records it."""
    return address(direct_url(importlib.metadata.distribution(package)))


def direct_url(distribution: importlib.metadata.Distribution) -> dict:
    """Read the installer's record by PEP 610; return an empty one without a record."""
    return json.loads(distribution.read_text("direct_url.json") or "{}")


def address(direct: dict) -> str:
    """Return the address in a record of PEP 610."""
    return direct.get("url", "wheel source unknown")


def record_hash(distribution: importlib.metadata.Distribution) -> "str | None":
    """Hash the files of the wheel: the lines of RECORD that carry a hash.

    Files that the installer added are left out, so the hash depends on the wheel alone.
    """
    text = distribution.read_text("RECORD")
    if text is None:
        return None
    added = ("INSTALLER", "REQUESTED", "direct_url.json", "RECORD")
    lines = [line for line in text.splitlines() if ",sha256=" in line]
    own = [line for line in lines if not line.startswith("..") and "__pycache__" not in line]
    own = [line for line in own if line.split(",")[0].split("/")[-1] not in added]
    return hashlib.sha256("\n".join(sorted(own)).encode()).hexdigest()
