# Everything from a clean clone; the Python that a target needs is set up in .venv by itself.
#
#   make check       the CPU gate: format, lints, tests, the micro-ROM suite against PyBoy; two minutes after the build
#   make test-python the Python package: a wheel, its tests, its types
#   make test-learners   the same beside PyTorch, Stable-Baselines3, Ray and PufferLib (6 GB)
#   make test        the Rust tests, those against PyBoy and the test data, on Linux those with NVRTC; no GPU
#   make wheels      wheels for Linux (x86-64 and aarch64), the static command, the source, checksums, a bill of materials
#   make fuzz        random inputs for what reads foreign data, FUZZ_SECONDS (60) for each of FUZZ_TARGETS (fuzz/README.md)
#   make sanitize    tests of the crates with unsafe code under the address sanitizer, SANITIZER=thread under that for threads
#   make miri        arrays, their views and memory of others under Miri, which runs no machine code; needs a nightly toolchain
#   make audit       known vulnerabilities of the pinned Python packages; needs pip-audit and a network
#   make deny        licences, doubled versions and sources of all dependencies; needs cargo-deny, no network
#   make attack      hostile programs, texts and rows, and processes that are killed at any moment; a share is in make test
#   make test-dataset    the sample in examples/dataset, loaded with pyarrow and with the `datasets` library
#   make cluster     Ray and Slurm on three nodes of this computer make the rows of one process, byte for byte, and lose a
#                    node; needs root, Debian's slurm-wlm and munge; CLUSTER="--count 300"
#   make warp        every kernel of NVIDIA Warp's own tests and examples, run by Warp and by us, and from disk: some ten minutes
#   make warp-nvrtc  the CUDA text of all of them, and of their reverses, through NVRTC and ptxas: some five minutes
#   make warp-share  every twentieth of them in both, rows of a dataset
#   make warp-algorithms every algorithm of the library of templates, run by Warp and by us
#   make conformance what of Warp's public interface behaves as Warp's, and 376 patterns of gradients by both: the tables of
#                    docs/conformance.md; some ten minutes
#   make warp-programs   example programs of NVIDIA Warp's wheel, run by Warp and by gbxcule.warp: every array equal
#   make verify      the two gates against PyBoy, 1024 steps each, and the suite
#   make nvrtc       all CUDA text through NVRTC and ptxas for sm_80, sm_90 and sm_100; no GPU; part of make test on Linux
#   make gpu-sim     the machine code of NVIDIA's own assembler, run by warps of 32 lanes (crates/testing/gpu-sim): each form, launches,
#                    gradients, the step of the swarm, for three generations of GPUs; no GPU; a share is part of make test
#   make corpus      answers in CUDA, right and wrong, graded by NVRTC and the simulator (docs/grading.md); a share is part of make test
#   make gpu-sim-all     the same for everything that the swarm does on a device: many minutes
#   make colors      everything that the swarm does with Color machines in kernels: machine code, CUDA text; some ten minutes
#   make gpu-counts  what warps issue for each ROM, counted on executed machine code; the table of docs/gpu-results.md
#   make levels      scripted players play 400 levels of each game; half an hour of a core (GAME=KEEP_OF_KEYS plays one game's)
#   make rom-suites  how many ROMs of each public suite pass (GBXCULE_TEST_ROMS, docs/testing.md)
#   make bench       PyBoy at its best beside the swarm; a report in runs/reports/
#   make speed       one machine beside PyBoy, libmgba and SameBoy (GBXCULE_SAMEBOY, its source): the table of
#                    docs/performance.md and the chart of the README; SPEED="--programs PEARL_DRIFT"; ten minutes
#   make host-gpu    stand-ins for NVIDIA's driver and NVRTC that run CUDA text on the host, in runs/host_gpu
#   make equivalence the CUDA text on the host against the native swarm: long random programs, thousands of frames
#   make roms        the built-in ROMs as files in runs/roms/
#   make mutants     the front end that reads the machine, broken in hundreds of ways: do tests notice? cargo-mutants; hours
#   make mutants-machine, make mutants-passes   the same for the machine, and for the passes that its kernels need
#   make test-browser   the live view in a headless Chromium (Debian's package `chromium`, or GBXCULE_CHROMIUM), and videos
#   make book        the pages of docs/ as a book with a search, in runs/book; needs mdbook
#   make pictures    the pictures in docs/ anew; needs Chromium and ffmpeg too
#   make gpu-folder  all that a GPU machine needs besides its driver, machine code with it: runs/gpu.tar.xz, at most 45 MB
#   make gpu-rehearsal   what run.py does on that machine, small, on the stand-ins; STEPS="meeting first second"; some
#                    fifteen minutes; GPU_TORCH=FOLDER names packages with PyTorch for its Python
#   make verify-gpu, make check-gpu, make bench-gpu   the same on an NVIDIA GPU
#   make verify-gpu GPU=sim      the two gates on NVIDIA's machine code, simulated: three minutes

PYTHON ?= python3
VENV := .venv
# PROFILE=dev builds the command in a fraction of the time; the machine is optimised all the same.
PROFILE ?= release
ifeq ($(PROFILE),dev)
# As tests are built, so that nothing is compiled twice.
run = cargo build --quiet --workspace --bin gbxcule $(1) && target/debug/gbxcule
else
run = cargo run --quiet --profile $(PROFILE) --package gbxcule-cli $(1) --
endif
GBXCULE := $(call run,)
# cargo-nextest if it is there, else cargo's own runner.
TEST := $(shell cargo nextest --version >/dev/null 2>&1 && echo "cargo nextest run" || echo "cargo test")
TEST_IGNORED := $(shell cargo nextest --version >/dev/null 2>&1 && echo "--run-ignored only" || echo "-- --ignored")
# Tests are chosen by names, not by packages: features of dependencies follow from the packages that are asked for, and
# each other choice of packages compiles half of the workspace anew.
TEST_ONE := $(TEST) --workspace --test
TEST_DATA := $(or $(GBXCULE_TEST_DATA),$(wildcard ../shared/data))

.PHONY: cluster levels conformance speed book colors warp-algorithms warp-programs wheels gpu-folder gpu-rehearsal host-gpu equivalence mutants mutants-machine mutants-passes check test nvrtc gpu-sim gpu-sim-all gpu-sim-share gpu-sim-library corpus corpus-share gpu-counts warp warp-nvrtc warp-share verify bench roms verify-gpu check-gpu bench-gpu test-browser pictures test-python test-learners test-dataset attack rom-suites deny audit fuzz sanitize miri

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# The Python packages that a target needs, by its name; every wheel is pinned by its hash.
$(VENV)/%.txt: requirements/%.txt | $(VENV)/bin/python
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement $<
	cp $< $@

check: $(VENV)/oracle.txt
	cargo fmt --all --check
	rustfmt --check --edition 2024 games/*/*.rs
	cargo clippy --workspace --all-targets -- --deny warnings
	$(TEST) --workspace
	$(GBXCULE) verify --suite

test: $(VENV)/oracle.txt
	$(TEST) --workspace
	cargo test --quiet --workspace --doc
	$(TEST_ONE) pyboy $(TEST_IGNORED)
	$(TEST_ONE) cuda long:: $(TEST_IGNORED)
ifneq ($(TEST_DATA),)
	GBXCULE_TEST_DATA=$(abspath $(TEST_DATA)) $(TEST_ONE) sm83 $(TEST_IGNORED)
else
	@echo "GBXCULE_TEST_DATA is not set: the SM83 cases were not run"
endif
ifeq ($(shell uname),Linux)
	$(MAKE) --jobs 2 --output-sync nvrtc gpu-sim-share corpus-share
else
	@echo "NVRTC is for Linux and Windows: the CUDA text was not compiled"
endif

nvrtc: $(VENV)/nvrtc.txt
	GBXCULE_NVRTC=$(abspath $(VENV)) $(TEST_ONE) nvrtc $(TEST_IGNORED)

# Tests find the library beside their own program.
gpu-sim-library:
	cargo build --quiet --workspace --lib

SIMULATED := GBXCULE_NVRTC=$(abspath $(VENV)) $(TEST_ONE)

gpu-sim: $(VENV)/nvrtc.txt gpu-sim-library
	$(SIMULATED) ptx machine::everything $(TEST_IGNORED)
	$(SIMULATED) cuda on_sass $(TEST_IGNORED)
	$(SIMULATED) device share_of_it_is_so_on_machine_code $(TEST_IGNORED)
	$(SIMULATED) device more_of_it_is_so_on_machine_code $(TEST_IGNORED)

# All forms on all three generations, each in one order of lanes; of launches one, and of the swarm the step of the ROMs.
gpu-sim-share: $(VENV)/nvrtc.txt gpu-sim-library
	$(SIMULATED) ptx on_machine_code $(TEST_IGNORED)
	GBXCULE_ARCHS=sm_90 $(SIMULATED) cuda on_sass $(TEST_IGNORED)
	$(SIMULATED) device share_of_it_is_so_on_machine_code $(TEST_IGNORED)

# Answers in CUDA, right and wrong, by NVRTC and the simulator: the whole is three hundred of each.
corpus: $(VENV)/nvrtc.txt
	$(SIMULATED) corpus all_of_the_corpus $(TEST_IGNORED)
	GBXCULE_SHARE=1/1 $(SIMULATED) sample_kernels ordinary_kernels $(TEST_IGNORED)

corpus-share: $(VENV)/nvrtc.txt
	$(SIMULATED) corpus share_of_the_corpus $(TEST_IGNORED)
	$(SIMULATED) sample_kernels $(TEST_IGNORED)
	$(SIMULATED) own_cuda $(TEST_IGNORED)
	$(SIMULATED) cuda_cost $(TEST_IGNORED)

colors:
	$(TEST_ONE) device all_colors $(TEST_IGNORED)

gpu-sim-all: $(VENV)/nvrtc.txt gpu-sim-library
	$(SIMULATED) device all_of_it_is_so_on_machine_code $(TEST_IGNORED)

# One warp of 32 machines. ROMS="ALU_LOOP PEARL_DRIFT" counts those alone.
COUNTED = LD_LIBRARY_PATH=$(CURDIR)/runs/host_gpu HOST_GPU_ARCH=90 \
    GBXCULE_NVRTC=$$(find -L $(abspath $(VENV)) -name 'libnvrtc.so*' | head -n 1) \
    HOST_NVDISASM=$$(find -L $(abspath $(VENV)) -name nvdisasm -type f | head -n 1) \
    HOST_GPU_SASS=$(abspath target/debug/libgbxcule_gpu_sim.so) HOST_GPU_PROCESSORS=1 \
    HOST_GPU_COUNTS=$(CURDIR)/runs/gpu_counts GBXCULE_CACHE=$(CURDIR)/runs/host_gpu/cache

gpu-counts: $(VENV)/nvrtc.txt gpu-sim-library host-gpu
	$(COUNTED) HOST_GPU_WARPS=1 cargo run --package gbxcule-swarm --example warp_counts -- $(ROMS)

WARP := GBXCULE_PYTHON=$(abspath $(VENV))/bin/python GBXCULE_THREADS=1 \
    cargo test --quiet --workspace --test warp -- --ignored --nocapture

warp: $(VENV)/warp.txt
	$(WARP) agrees_with_warp
	$(WARP) same_from_disk

warp-nvrtc: $(VENV)/warp.txt $(VENV)/nvrtc.txt
	GBXCULE_NVRTC=$(abspath $(VENV)) $(WARP) compiles_for_gpus

warp-share: $(VENV)/warp.txt
	GBXCULE_SHARE=1/20 $(WARP) agrees_with_warp --skip every_row
	GBXCULE_SHARE=1/60 $(WARP) same_from_disk
ifeq ($(shell uname),Linux)
	GBXCULE_SHARE=1/20 $(MAKE) warp-nvrtc
endif
	GBXCULE_PYTHON=$(abspath $(VENV))/bin/python cargo test --quiet --workspace --test warp -- --ignored nvidia its sandbox

# Nothing untrusted runs, nothing is lost: see SECURITY.md. The longer loops are those that other tests leave out.
deny:
	cargo deny --offline check bans licenses sources

audit:
	for list in requirements/*.txt; do \
	    pip-audit --require-hashes --disable-pip --requirement $$list || exit 1; \
	done

# The stable toolchain has libFuzzer's coverage and the sanitizers' libraries, behind a switch for its own bootstrap.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= rom state foreign_state dialect import bundle message row
FUZZ_FLAGS := --cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Zsanitizer=address -Ccodegen-units=16
NATIVE := $(shell rustc -vV | sed -n 's/^host: //p')
FUZZ_PROGRAMS := target/fuzz/$(NATIVE)/release

fuzz:
	RUSTC_BOOTSTRAP=1 RUSTFLAGS="$(FUZZ_FLAGS)" cargo build --quiet --release --bins --target $(NATIVE) \
	    --manifest-path fuzz/Cargo.toml --target-dir target/fuzz
	$(FUZZ_PROGRAMS)/seeds runs/fuzz
	$(GBXCULE) roms --out runs/roms
	for target in $(FUZZ_TARGETS); do \
	    $(FUZZ_PROGRAMS)/$$target runs/fuzz/$$target -max_total_time=$(FUZZ_SECONDS) -timeout=60 -rss_limit_mb=4096 \
	        -print_final_stats=1 -verbosity=0 -artifact_prefix=runs/fuzz/$$target- || exit 1; \
	done
	PYTHONPATH=python $(PYTHON) fuzz/symbol.py $(FUZZ_SECONDS) runs/roms

# Thread sanitizing needs the standard library's source, for a library that is sanitized too.
SANITIZER ?= address
SANITIZE_STD := $(if $(filter thread,$(SANITIZER)),-Zbuild-std,)

# Properties that run random programs draw fewer of them under a sanitizer.
sanitize: export PROPTEST_CASES ?= 2
sanitize:
	RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=$(SANITIZER) cargo test --quiet --tests $(SANITIZE_STD) --target $(NATIVE) \
	    --target-dir target/$(SANITIZER) --package gbxcule-runtime --package gbxcule-sandbox --package gbxcule-recompiler

miri:
	PROPTEST_CASES=2 MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test --package gbxcule-runtime --lib -- \
	    array device:: exclusive external_memory stream

attack:
	GBXCULE_MUTANT_ROWS=20 GBXCULE_KILLS=40 $(TEST_ONE) attack --test attacks --test hostile --test writer \
	    --test shared_folder --test grade --test mutants --test forged --test harvest --test killed_processes \
	    --test full_disk --test interrupted_calls --test standard_output --test live_view
	$(TEST_ONE) cuda disk_cache

test-dataset: $(VENV)/dataset.txt
	$(VENV)/bin/python -m pytest crates/foundry/rows/tests

cluster: $(VENV)/cluster.txt
	cargo build --quiet --profile $(PROFILE) --package gbxcule-cli
	GBXCULE=target/$(PROFILE:dev=debug)/gbxcule $(VENV)/bin/python examples/scale/cluster.py $(CLUSTER)

PYTHON_VENV := .venv-python
WHEELS := runs/wheels

$(PYTHON_VENV)/python.txt: requirements/python.txt
	$(PYTHON) -m venv $(PYTHON_VENV)
	$(PYTHON_VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement $<
	cp $< $@

$(PYTHON_VENV)/learn.txt: requirements/learn.txt $(PYTHON_VENV)/python.txt
	$(PYTHON_VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement $<
	cp $< $@

$(PYTHON_VENV)/puffer.txt: requirements/puffer.txt $(PYTHON_VENV)/learn.txt
	$(PYTHON_VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --require-hashes \
	    --requirement $<
	cp $< $@

# The unoptimised build, whose machine is optimised all the same, shares what the tests compiled already.
define TEST_PYTHON
	rm -rf $(WHEELS)
	$(PYTHON_VENV)/bin/maturin build --quiet --locked --profile dev --out $(WHEELS)
	$(PYTHON_VENV)/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps $(WHEELS)/*.whl
	$(PYTHON_VENV)/bin/mypy
	$(PYTHON_VENV)/bin/python -m pytest --numprocesses auto --dist loadfile
endef

test-python: $(PYTHON_VENV)/python.txt
	$(TEST_PYTHON)

test-learners: $(PYTHON_VENV)/puffer.txt
	$(TEST_PYTHON)

warp-algorithms: $(VENV)/warp.txt
	GBXCULE_SHARE=1/1 GBXCULE_PYTHON=$(abspath $(VENV))/bin/python cargo test --quiet --package gbxcule-rows --test warp \
	    -- --ignored --nocapture algorithms

# The package beside Warp, in Warp's Python: NumPy is all that it asks for. Runs apart: one process has one `warp`.
conformance: export PYTHONPATH := $(CURDIR)/python
conformance: $(VENV)/warp.txt
	cargo build --quiet --release --package gbxcule-python
	ln -sf $(CURDIR)/target/release/libgbxcule_native.so python/gbxcule/_native.abi3.so
	$(VENV)/bin/python examples/conformance/api.py --hold
	$(VENV)/bin/python examples/conformance/run.py --with gbxcule.warp --hold
	$(VENV)/bin/python examples/conformance/run.py --with warp --hold

warp-programs: $(PYTHON_VENV)/python.txt $(VENV)/warp.txt
	GBXCULE_WARP_PYTHON=$(abspath $(VENV))/bin/python $(PYTHON_VENV)/bin/python -m pytest python/tests/test_warp_programs.py

# WHEEL_TARGETS=x86_64-unknown-linux-gnu builds that one alone.
WHEEL_TARGETS ?=

wheels: $(VENV)/wheels.txt
	$(VENV)/bin/python python/packaging/wheels.py $(addprefix --target ,$(WHEEL_TARGETS))

GATE := --ref-backend pyboy_single --compare-every 1 --frames-per-step 1

levels:
	GBXCULE_GAME=$(GAME) cargo test --release -p gbxcule-games --test games scripted_players_win_every -- --ignored --nocapture

verify: $(VENV)/oracle.txt
	$(GBXCULE) verify $(GATE) --dut-backend warp_vec_cpu --rom ALU_LOOP --verify-steps 1024
	$(GBXCULE) verify $(GATE) --dut-backend warp_vec_cpu --rom MEM_RWB --verify-steps 1024 --mem-region C000:C100
	$(GBXCULE) verify --suite
ifneq ($(wildcard /usr/include/mgba/core/core.h),)
	$(call run,--features gbxcule-cli/mgba) verify --suite --ref-backend libmgba
else
	@echo "libmgba-dev is not installed: the suite was not run against libmgba"
endif

bench: $(VENV)/oracle.txt
	$(GBXCULE) bench --backend pyboy_vec_mp --backend warp_vec_cpu --rom MEM_RWB --env-counts 1,8,64,512,2048 \
	    --longest-window 2 --repeats 3

speed: $(VENV)/oracle.txt roms
	cargo build --quiet --release --package gbxcule-recompiler --package gbxcule-recompiler-color --examples
	$(VENV)/bin/python examples/speed/speed.py $(if $(GBXCULE_SAMEBOY),--sameboy $(GBXCULE_SAMEBOY)) $(SPEED)

roms:
	$(GBXCULE) roms --out runs/roms

test-browser:
	$(TEST_ONE) live_view $(TEST_IGNORED)
ifneq ($(shell command -v ffmpeg),)
	$(TEST_ONE) pictures $(TEST_IGNORED)
else
	@echo "ffmpeg is not installed: the video was not looked at"
endif

book:
ifeq ($(shell command -v mdbook),)
	@echo "mdbook is not installed: cargo install mdbook --locked" && exit 1
else
	rm -rf runs/book_pages && mkdir -p runs/book_pages
	git ls-files '*.md' '*.png' Makefile 'LICENSE-*' 'docs/*' | tar -cf - -T - | tar -xf - -C runs/book_pages
	sed -e 's#](\.\./#](#' -e t -e 's#](#](docs/#' docs/SUMMARY.md > runs/book_pages/SUMMARY.md
	mdbook build
endif

pictures:
	$(GBXCULE) record --num-envs 18 --columns 6 --steps 60 --out games/pearl_drift/picture.png
	$(GBXCULE) demo --env-counts 1
	ffmpeg -loglevel error -y -i runs/demo/mosaic.png -vf crop=1144:440:0:444 docs/games.png
	GBXCULE_SCREENSHOTS=$(CURDIR)/runs/screenshots $(MAKE) test-browser
	cp runs/screenshots/watch-enlarged-dark.png docs/watch.png
	cp runs/screenshots/finder-light.png docs/finder.png

# Everything that a GPU machine needs besides its driver, for its Python: runs/gpu and runs/gpu.tar.xz. Machine code is
# made once by two versions of NVRTC and kept in runs/gpu_code.
GPU_PYTHON ?= 3.12
NVRTC130 := runs/nvrtc130

$(NVRTC130)/nvrtc130.txt: requirements/nvrtc130.txt | $(VENV)/bin/python
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes --target $(NVRTC130) \
	    --requirement $<
	cp $< $@

gpu-folder: $(VENV)/oracle.txt $(VENV)/nvrtc.txt $(NVRTC130)/nvrtc130.txt host-gpu
	$(VENV)/bin/python python/packaging/gpu/folder.py --python $(GPU_PYTHON) \
	    --nvrtc $$(find -L $(abspath $(VENV)) -name libnvrtc.so.13 | head -n 1) \
	    --nvrtc130 $$(find -L $(abspath $(NVRTC130)) -name libnvrtc.so.13 | head -n 1)

# Machine code that a rehearsal had to make is in the archive that is made next.
STEPS ?= meeting first second
gpu-rehearsal: $(VENV)/nvrtc.txt host-gpu
	cargo build --quiet --release --package gbxcule-gpu-sim --lib
	$(VENV)/bin/python python/packaging/gpu/rehearse.py --python $(GPU_PYTHON) \
	    --nvidia $$(dirname $$(dirname $$(find -L $(abspath $(VENV)) -name libnvrtc.so.13 | head -n 1))) \
	    $(if $(GPU_TORCH),--torch $(GPU_TORCH)) $(STEPS)

# GPU=sim: on the machine code that NVIDIA's assembler makes, run on the host.
ifeq ($(GPU),sim)
verify-gpu: export LD_LIBRARY_PATH := $(CURDIR)/runs/host_gpu
verify-gpu: export HOST_GPU_ARCH := 90
verify-gpu: export HOST_GPU_SASS := $(abspath target/debug/libgbxcule_gpu_sim.so)
verify-gpu: export GBXCULE_CACHE := $(CURDIR)/runs/host_gpu/cache
verify-gpu: export GBXCULE_NVRTC = $(shell find -L $(abspath $(VENV)) -name 'libnvrtc.so*' | head -n 1)
verify-gpu: export HOST_NVDISASM = $(shell find -L $(abspath $(VENV)) -name nvdisasm -type f | head -n 1)
verify-gpu: $(VENV)/nvrtc.txt gpu-sim-library host-gpu
endif

verify-gpu: $(VENV)/oracle.txt
	$(GBXCULE) verify $(GATE) --dut-backend warp_vec_cuda --rom ALU_LOOP --verify-steps 1024
	$(GBXCULE) verify $(GATE) --dut-backend warp_vec_cuda --rom MEM_RWB --verify-steps 1024 --mem-region C000:C100

check-gpu: $(VENV)/oracle.txt
	$(TEST_ONE) cuda needs_cuda $(TEST_IGNORED)
	$(TEST_ONE) device needs_cuda $(TEST_IGNORED)
	$(GBXCULE) verify $(GATE) --dut-backend warp_vec_cuda --rom ALU_LOOP --verify-steps 64
	$(GBXCULE) verify $(GATE) --dut-backend warp_vec_cuda --rom MEM_RWB --verify-steps 64 --mem-region C000:C100

SWEEP := $(GBXCULE) bench --backend warp_vec_cuda --longest-window 2 --repeats 3 --env-counts 1,64,1024,8192,16384,32768,65536

bench-gpu: $(VENV)/oracle.txt
	$(GBXCULE) bench --backend pyboy_vec_mp --backend warp_vec_cuda --rom MEM_RWB \
	    --longest-window 2 --repeats 3 --env-counts 1,8,64,512,2048,8192,16384,32768,65536
	$(SWEEP) --rom ALU_LOOP
	$(SWEEP) --rom JOY_DIVERGE_PERSIST
	$(SWEEP) --rom PEARL_DRIFT --draw-last

# The stand-ins that tests build by themselves, for trying things by hand.
host-gpu:
	mkdir -p runs/host_gpu
	cp crates/compiler/back-cxx/src/host_cuda.h runs/host_gpu
	c++ -std=c++17 -O1 -shared -fPIC -pthread -o runs/host_gpu/libcuda.so.1 \
	    $(addprefix crates/testing/testkit/src/stand_in/,device.cpp driver.cpp module.cpp) -ldl
	c++ -std=c++17 -O1 -shared -fPIC -o runs/host_gpu/libnvrtc.so.13 crates/testing/testkit/src/stand_in/compiler.cpp -ldl
	c++ -std=c++17 -O1 -shared -fPIC -o runs/host_gpu/libnvrtc_edited.so crates/testing/testkit/src/stand_in/edited_compiler.cpp -ldl
	cp runs/host_gpu/libcuda.so.1 runs/host_gpu/libcuda.so
	@echo "LD_LIBRARY_PATH=$(CURDIR)/runs/host_gpu GBXCULE_NVRTC=$(CURDIR)/runs/host_gpu gbxcule doctor"

mutants:
	mkdir -p runs
	cargo mutants --package gbxcule-front-rust --output runs

rom-suites:
	cargo test --quiet --package gbxcule-gameboy --test rom_suites -- --ignored --exact --nocapture original::table
	cargo test --quiet --package gbxcule-gameboy-color --test rom_suites -- --ignored --exact --nocapture color::table
	cargo test --quiet --package gbxcule-recompiler --test equal -- --ignored --exact --nocapture suite::rom_suites_run_alike

# Cases that a property test found for one change must not be tried first for the next.
mutants-machine:
	mkdir -p runs/machine
	GBXCULE_TEST_DATA=$(abspath $(TEST_DATA)) PROPTEST_DISABLE_FAILURE_PERSISTENCE=1 PROPTEST_MAX_SHRINK_ITERS=0 \
	    cargo mutants --config .cargo/mutants-machine.toml --package gbxcule-apu --package gbxcule-chips \
	    --package gbxcule-gameboy --output runs/machine

mutants-passes:
	mkdir -p runs/passes
	cargo mutants --config .cargo/mutants-passes.toml --package gbxcule-passes --output runs/passes

# Minutes to hours of both, every byte compared.
equivalence:
	$(TEST_ONE) device long_runs_are_so_on_a_stand_in $(TEST_IGNORED)
