#!/bin/sh
# The gates for a machine with an NVIDIA GPU and its driver, with what lies beside this file: `sh gates.sh`.
# STEPS, ENVS and REFERENCE make it shorter; PyBoy comes from `wheels`, or from the network if that is not there.
set -e
cd "$(dirname "$0")"
export GBXCULE_NVRTC="$PWD/nvrtc"
steps=${STEPS:-1024}
reference=${REFERENCE:-pyboy_single}

if [ "$reference" = pyboy_single ] && [ ! -f .venv/ready ]; then
    python3 -m venv .venv
    from=""
    [ -d wheels ] && from="--no-index --find-links wheels"
    # shellcheck disable=SC2086
    .venv/bin/pip install --quiet --require-hashes $from --requirement oracle.txt
    touch .venv/ready
fi

./gbxcule doctor
gate() {
    ./gbxcule verify --ref-backend "$reference" --dut-backend warp_vec_cuda --verify-steps "$steps" \
        --compare-every 1 --frames-per-step 1 "$@"
}
gate --rom ALU_LOOP
gate --rom MEM_RWB --mem-region C000:C100
./gbxcule verify --ref-backend warp_vec_cpu --dut-backend warp_vec_cuda --verify-steps "$steps" \
    --rom JOY_DIVERGE_PERSIST --num-envs 64 --stage full_step --mem-region C000:C100
for rom in ALU_LOOP MEM_RWB JOY_DIVERGE_PERSIST "PEARL_DRIFT --draw-last"; do
    # shellcheck disable=SC2086
    ./gbxcule bench --backend warp_vec_cuda --rom $rom --steps "$steps" --longest-window 2 --repeats 3 \
        --env-counts "${ENVS:-1,64,1024,8192,16384,32768,65536}"
done
