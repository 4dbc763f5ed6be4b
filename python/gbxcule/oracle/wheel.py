"""Origin of an installed package, by the files that its installer left beside it."""

import hashlib
import importlib.metadata
import json


def provenance(package: str) -> dict:
    """Describe the installed wheel: its version and where it came from.

    That is the address by PEP 610 if the installer was given one, else what pip and others record
    of every wheel.
    """
    found = importlib.metadata.distribution(package)
    facts = {"package": package, "version": found.version, "wheel": source(package)}
    direct = json.loads(found.read_text("direct_url.json") or "{}")
    facts["hashes"] = direct.get("archive_info", {}).get("hashes")
    facts["tags"] = [line[5:] for line in (found.read_text("WHEEL") or "").splitlines() if line.startswith("Tag: ")]
    facts["installer"] = (found.read_text("INSTALLER") or "").strip() or None
    facts["record_sha256"] = record_hash(found)
    return facts


def source(package: str) -> str:
    """Return the address that the package was installed from, as PEP 610 records it."""
    text = importlib.metadata.distribution(package).read_text("direct_url.json")
    return json.loads(text).get("url", "wheel source unknown") if text else "wheel source unknown"


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
    kept = [line for line in lines if not line.split(",")[0].endswith(added) and not line.startswith("..")]
    kept = [line for line in kept if "__pycache__" not in line]
    return hashlib.sha256("\n".join(sorted(kept)).encode()).hexdigest()
