"""Three nodes on one computer make a dataset by Ray and by Slurm, lose a node, and give the bytes of one process.

    make cluster                              # 6,000 rows
    make cluster CLUSTER="--count 1000 --mode text"

A node is a network namespace with a host name and an address of its own; a bridge joins the nodes and leads nowhere
else, so packets to other addresses are lost as behind a cut network. Needs root, Debian's packages `slurm-wlm` and
`munge`, and Ray in the Python that runs this file. GBXCULE names the program; all nodes see one temporary folder.
"""

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
SWITCH = "gbx-switch"
BLOCK_ROWS = 500
RAY = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled", "RAY_worker_niceness": "0"}
"""Ray asks no address outside the cluster, needs no token, and runs tasks before idle work."""

Done = set[tuple[str, str]]
"""Shards that ran, each with its node."""


def run(*command: str | Path) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


class Node:
    """A network namespace that daemons and tasks run in, as on a computer of their own."""

    def __init__(self, number: int, folder: Path) -> None:
        self.name, self.address = f"gbx-node{number}", f"10.83.0.{number + 1}"
        self.folder = folder / f"node{number}"
        self.folder.mkdir()

    def connect(self) -> None:
        run("ip", "netns", "add", self.name)
        link = f"{self.name[4:]}-up"
        run("ip", "link", "add", link, "netns", SWITCH, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        run("ip", "-n", SWITCH, "link", "set", link, "master", "bridge", "up")
        run("ip", "-n", self.name, "address", "add", f"{self.address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            run("ip", "-n", self.name, "link", "set", device, "up")
        run("ip", "-n", self.name, "route", "add", "default", "via", "10.83.0.254")

    def command(self, *words: str | Path) -> list[str]:
        enter = ["nsenter", f"--net=/run/netns/{self.name}", "unshare", "--uts", "--mount", "sh", "-c"]
        named = f'hostname {self.name} && mount --bind {self.folder.parent}/hosts /etc/hosts && exec "$@"'
        return [*enter, named, "sh", *map(str, words)]

    def start(self, *words: str | Path, **environment: str) -> "subprocess.Popen[bytes]":
        """Start a daemon, whose output goes to a file of its name."""
        with (self.folder / f"{Path(words[0]).name}.out").open("ab") as log:
            return subprocess.Popen(
                self.command(*words), env=os.environ | environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )

    def processes(self) -> dict[int, list[str]]:
        """Command lines of the processes of the node."""
        commands = {}
        for word in run("ip", "netns", "pids", self.name).split():
            with contextlib.suppress(OSError):
                commands[int(word)] = Path(f"/proc/{word}/cmdline").read_bytes().decode(errors="replace").split("\0")
        return commands

    def shards(self) -> set[str]:
        """The shards that the node makes at this moment."""
        commands = self.processes().values()
        return {words[words.index("--shard") + 1] for words in commands if "--shard" in words}

    def kill(self, name: str | None = None) -> None:
        """Kill the processes of one program, or all: the node is lost."""
        for pid, words in self.processes().items():
            if name is None or Path(words[0]).name == name:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[list[Node]]:
    """Connect three nodes; kill their processes and remove the network at the end."""
    nodes = [Node(number, folder) for number in range(3)]
    (folder / "hosts").write_text("".join(f"{node.address} {node.name}\n" for node in nodes) + "127.0.0.1 localhost\n")
    try:
        run("ip", "netns", "add", SWITCH)
        run("ip", "-n", SWITCH, "link", "add", "bridge", "type", "bridge")
        run("ip", "-n", SWITCH, "address", "add", "10.83.0.254/24", "dev", "bridge")
        run("ip", "-n", SWITCH, "link", "set", "bridge", "up")
        for node in nodes:
            node.connect()
        yield nodes
    finally:
        present = run("ip", "netns", "list").split()
        for node in nodes:
            if node.name in present:
                node.kill()
                run("ip", "netns", "del", node.name)
        if SWITCH in present:
            run("ip", "netns", "del", SWITCH)


def wait_for(what: str, is_so: Callable[[], bool], seconds: float = 600) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise SystemExit(f"{what}: not so after {seconds:.0f} s")
        time.sleep(0.5)


def lose_a_node(nodes: list[Node], is_over: Callable[[], bool], daemon: str, only_daemon: bool) -> tuple[str, Done]:
    """Kill a daemon of the last node, or all its processes, in mid-shard; return the shard and what ran where."""
    lost, seen = "", set()
    while not is_over():
        for node in nodes:
            seen |= {(shard, node.name) for shard in node.shards()}
        own = nodes[-1].shards()
        if own and not lost:
            lost = own.pop()
            seen.add((lost, nodes[-1].name))
            nodes[-1].kill(daemon if only_daemon else None)
        time.sleep(0.05)
    return lost, seen


def by_ray(nodes: list[Node], out: Path, rows: list[str], shards: int) -> tuple[str, Done]:
    python = Path(sys.executable)
    address = f"{nodes[0].address}:6379"

    def start(node: Node) -> "subprocess.Popen[bytes]":
        place = ["--head", "--port=6379", "--include-dashboard=false"] if node is nodes[0] else [f"--address={address}"]
        common = [f"--node-ip-address={node.address}", "--num-cpus=1", "--object-store-memory=80000000", "--block"]
        own = [f"--temp-dir={node.folder}"] if node is nodes[0] else []
        return node.start(python.with_name("ray"), "start", *place, *common, *own, **RAY)

    daemons = {nodes[0]: start(nodes[0])}
    wait_for("Ray's first node answers", lambda: answers(nodes[0], 6379))
    daemons |= {node: start(node) for node in nodes[1:]}
    script: list[str | Path] = [python, HERE / "ray_shards.py", "--shards", str(shards), "--out", out, "--", *rows]
    alive = "import ray, sys; ray.init(); sys.exit(sum(node['Alive'] for node in ray.nodes()) != 3)"
    environment = os.environ | RAY | {"RAY_ADDRESS": address}
    ask = nodes[0].command(python, "-c", alive)

    def has_three_nodes() -> bool:
        # On a busy computer a node may give up: Ray waits 30 s for its daemon.
        daemons.update({node: start(node) for node, daemon in daemons.items() if daemon.poll() is not None})
        return subprocess.run(ask, env=environment, capture_output=True).returncode == 0

    wait_for("Ray has three nodes", has_three_nodes)
    return driven(nodes, nodes[0].command(*script), environment, ("raylet", True))


def answers(node: Node, port: int) -> bool:
    probe = node.command("bash", "-c", f": < /dev/tcp/{node.address}/{port}")
    return subprocess.run(probe, capture_output=True).returncode == 0


def driven(nodes: list[Node], command: list[str], environment: dict[str, str], loss: tuple[str, bool]) -> tuple[str, Done]:
    """Run a command that ends with the dataset, and lose a node in the middle."""
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as driver:
        lost = lose_a_node(nodes, lambda: driver.poll() is not None, *loss)
        output = driver.stdout.read() if driver.stdout else ""
    if driver.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {driver.returncode}:\n{output}")
    return lost


def slurm_settings(nodes: list[Node], folder: Path) -> str:
    return "\n".join([
        "ClusterName=gbxcule", f"SlurmctldHost={nodes[0].name}({nodes[0].address})",
        "SlurmUser=root", "SlurmdUser=root", f"AuthInfo=socket={folder}/munge.socket",
        f"StateSaveLocation={folder}/state", f"SlurmdSpoolDir={folder}/spool-%h",
        f"SlurmctldPidFile={folder}/slurmctld.pid", f"SlurmdPidFile={folder}/slurmd-%h.pid",
        "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "MpiDefault=none", "ReturnToService=2",
        "SelectType=select/cons_tres", "SelectTypeParameters=CR_Core", "SlurmdParameters=config_overrides",
        "SlurmdTimeout=10", "MessageTimeout=5",
        *(f"NodeName={node.name} NodeAddr={node.address} CPUs=1 RealMemory=2000" for node in nodes),
        "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
    ])


def by_slurm(nodes: list[Node], out: Path, rows: list[str], shards: int) -> tuple[str, Done]:
    folder = nodes[0].folder / "slurm"
    for path in (folder, folder / "state"):
        path.mkdir(mode=0o755)
    settings, key = folder / "slurm.conf", folder / "munge.key"
    settings.write_text(slurm_settings(nodes, folder))
    settings.with_name("cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    munge = [f"--socket={folder}/munge.socket", *(f"--{each}-file={folder}/munge.{each}" for each in ("key", "pid", "log", "seed"))]
    nodes[0].start("munged", "--foreground", *munge)
    wait_for("munge has its socket", (folder / "munge.socket").exists)
    nodes[0].start("slurmctld", "-D", "-f", settings)
    for node in nodes:
        node.start("slurmd", "-D", "-f", settings)
    names = ["COUNT", "SEED", "DEVICE", "MODE"]
    options = dict(zip(rows[::2], rows[1::2], strict=True))
    given = {name: options[f"--{name.lower()}"] for name in names}
    environment = os.environ | given | {"OUT": str(out), "SLURM_CONF": str(settings)}

    def ask(*words: str | Path) -> str:
        done = subprocess.run(nodes[0].command(*words), env=environment, capture_output=True, text=True)
        return done.stdout.strip()

    wait_for("Slurm has three idle nodes", lambda: ask("sinfo", "-h", "-N", "-t", "idle", "-o", "%n").count("\n") == 2)
    job = ask("sbatch", "--parsable", f"--array=0-{shards - 1}", f"--output={folder}/%a.out", HERE / "slurm.sbatch")
    card = [f"--dependency=afterok:{job}", f"--output={folder}/card.out", "--wrap", f"{os.environ['GBXCULE']} synth card {out}"]
    return driven(nodes, nodes[0].command("sbatch", "--wait", *card), environment, ("slurmd", False))


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


MAKERS = {"ray": by_ray, "slurm": by_slurm}


def compare(folder: Path, schedulers: list[str], rows: list[str], shards: int) -> None:
    """Make the rows by one process and by each scheduler, and compare all files."""
    program, start = os.environ["GBXCULE"], time.monotonic()
    run(program, "synth", "batch", *rows, "--out", folder / "one")
    run(program, "synth", "card", folder / "one")
    one = files(folder / "one")
    print(f"one process: {rows[1]} rows, {len(one)} files, {time.monotonic() - start:.0f} s", flush=True)
    for scheduler in schedulers:
        (folder / scheduler).mkdir()
        out, start = folder / f"by_{scheduler}", time.monotonic()
        with cluster(folder / scheduler) as nodes:
            lost, seen = MAKERS[scheduler](nodes, out, rows, shards)
        if not lost and shards >= len(nodes):
            raise SystemExit(f"{scheduler}: the last node made no shard, so it was not lost: ask for a larger --count")
        places = " and ".join(sorted(node for shard, node in seen if shard == lost))
        loss = f"shard {lost} ran on {places}" if lost else "no node was lost: there are fewer shards than nodes"
        of_each = [sum(node == other.name for _, node in seen) for other in nodes]
        print(f"{scheduler}: {time.monotonic() - start:.0f} s; {loss}; shards seen on the nodes: {of_each}")
        other = files(out)
        differing = [path for path in sorted(one.keys() | other.keys()) if one.get(path) != other.get(path)]
        if differing:
            raise SystemExit(f"{scheduler}: these files differ from the process's: {', '.join(differing)}")
        print(f"{scheduler}: all {len(other)} files equal those of one process, byte for byte", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=6000, help="rows; every 500 are a shard")
    parser.add_argument("--seed", default="7")
    parser.add_argument("--device", default="both")
    parser.add_argument("--mode", default="run")
    parser.add_argument("--scheduler", choices=list(MAKERS), action="append", help="both unless given")
    given = parser.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("network namespaces need root: run this as root")
    for program, package in [("ip", "iproute2"), ("slurmctld", "slurm-wlm"), ("munged", "munge")]:
        if shutil.which(program) is None:
            raise SystemExit(f"`{program}` is not installed: apt-get install {package}")
    os.environ["GBXCULE"] = str(Path(os.environ.get("GBXCULE", "target/release/gbxcule")).resolve())
    shards = -(-given.count // BLOCK_ROWS)
    rows = ["--count", str(given.count), "--seed", given.seed, "--device", given.device, "--mode", given.mode]
    # The end of this process is the end of its nodes, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    folder = Path(tempfile.mkdtemp(prefix="gbx", dir="/tmp"))
    folder.chmod(0o755)
    try:
        compare(folder, given.scheduler or list(MAKERS), rows, shards)
    except BaseException:
        print(f"the output of daemons and tasks is in {folder}", file=sys.stderr)
        raise
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
