"""Origin of an installed package, by the files that its installer left beside it."""

import hashlib
import importlib.metadata
import json


def provenance(package: str) -> dict:
    """Describe the installed wheel: its version and where it came from.

    `wheel` is the address by PEP 610, or "wheel source unknown" if the installer recorded none.
    """
    found = importlib.metadata.distribution(package)
    direct = direct_url(found)
    facts = {"package": package, "version": found.version, "wheel": address(direct)}
    facts["hashes"] = direct.get("archive_info", {}).get("hashes")
    facts["tags"] = [line[5:] for line in (found.read_text("WHEEL") or "").splitlines() if line.startswith("Tag: ")]
    facts["installer"] = (found.read_text("INSTALLER") or "").strip() or None
    facts["record_sha256"] = record_hash(found)
    return facts


def source(package: str) -> str:
    """Return the address that the package was installed from, as PEP 610 records it."""
    return address(direct_url(importlib.metadata.distribution(package)))


def direct_url(found: importlib.metadata.Distribution) -> dict:
    """Read what PEP 610 has an installer record; nothing, if it recorded nothing."""
    return json.loads(found.read_text("direct_url.json") or "{}")


def address(direct: dict) -> str:
    """Return the address in such a record."""
    return direct.get("url", "wheel source unknown")


def record_hash(found: importlib.metadata.Distribution) -> "str | None":
    """Hash the files of the wheel: the lines of RECORD that carry a hash.

    Files that the installer adds are left out, so a wheel gives the same hash wherever it is
    installed.
    """
    text = found.read_text("RECORD")
    if text is None:
        return None
    added = ("INSTALLER", "REQUESTED", "direct_url.json", "RECORD")
    lines = [line for line in text.splitlines() if ",sha256=" in line]
    kept = [line for line in lines if line.split(",")[0].split("/")[-1] not in added and not line.startswith("..")]
    kept = [line for line in kept if "__pycache__" not in line]
    return hashlib.sha256("\n".join(sorted(kept)).encode()).hexdigest()
