// Runs the step kernel on states from a file, as a GPU's driver would: `main JOB RESULT`.
//
// A job is a header of 64-bit numbers (envs, steps, how often to leave results, frames, draw,
// numbers in an observation, parts), for each part bytes, strides, elements; then the parts, the
// ROM with its length, the codec's buttons and frames, and the actions of all steps. The result is
// the parts, rewards and observations, each time.
#include "step.h"
#include <stdlib.h>
#include <vector>

static std::vector<char> job;
static size_t at = 0;

static char* take(size_t bytes)
{
    char* taken = job.data() + at;
    at += bytes;
    if (at > job.size())
        abort();
    return taken;
}

static int64_t number()
{
    int64_t value;
    memcpy(&value, take(8), 8);
    return value;
}

int main(int, char** argv)
{
    FILE* file = fopen(argv[1], "rb");
    for (char buffer[65536]; size_t got = fread(buffer, 1, sizeof buffer, file);)
        job.insert(job.end(), buffer, buffer + got);
    fclose(file);
    file = fopen(argv[2], "wb");
    int64_t envs = number(), steps = number(), every = number();
    uint32_t frames = uint32_t(number()), first_frame = 0;
    bool draw_last = number() != 0, computes = true;
    int64_t numbers = number(), parts = number();
    struct Part {
        int64_t bytes, strides[2], elements;
    };
    std::vector<Part> shapes;
    for (int64_t part = 0; part < parts; ++part) {
        Part shape;
        shape.bytes = number(), shape.strides[0] = number(), shape.strides[1] = number();
        shape.elements = number();
        shapes.push_back(shape);
    }
    std::vector<Array<char, 2>> arrays;
    std::vector<std::vector<uint64_t>> memory;
    for (const Part& shape : shapes) {
        memory.emplace_back(size_t(shape.bytes / 8 + 1));
        memcpy(memory.back().data(), take(size_t(shape.bytes)), size_t(shape.bytes));
        Array<char, 2> array = {(char*)memory.back().data(), nullptr, {int(envs), int(shape.elements)}, {int(shape.strides[0]), int(shape.strides[1])}, 2, 0};
        arrays.push_back(array);
    }
    auto bytes = [](char* data, int64_t count) { return Array<char, 1>{data, nullptr, {int(count)}, {1}, 1, 0}; };
    int64_t rom_bytes = number();
    Array<char, 1> rom = bytes(take(size_t(rom_bytes)), rom_bytes), codec = bytes(take(256), 256), actions;
    Array<char, 1> frames_held = {take(1024), nullptr, {256}, {4}, 1, 0};
    std::vector<char> done_bytes(size_t(envs), 0);
    Array<char, 1> dones = bytes(done_bytes.data(), envs);
    uint32_t seed = 0;
    std::vector<int16_t> no_manual_buttons(size_t(envs), -1);
    Array<char, 1> manual_buttons = {(char*)no_manual_buttons.data(), nullptr, {int(envs)}, {2}, 1, 0};
    std::vector<float> rewards(size_t(envs), 0.0f), observations(size_t(envs * numbers), 0.0f);
    Array<float, 1> reward_array = {rewards.data(), nullptr, {int(envs)}, {4}, 1, 0};
    Array<float, 2> observation_array = {observations.data(), nullptr, {int(envs), int(numbers)}, {int(4 * numbers), 4}, 2, 0};
    std::vector<void*> args;
    for (Array<char, 2>& array : arrays)
        args.push_back(&array);
    for (void* arg : {(void*)&rom, (void*)&actions, (void*)&codec, (void*)&frames_held, (void*)&manual_buttons, (void*)&frames, (void*)&first_frame, (void*)&draw_last, (void*)&seed,
                      (void*)&computes, (void*)&reward_array, (void*)&dones, (void*)&observation_array})
        args.push_back(arg);
    gbx::Grid grid = {0, envs, {int(envs), 1, 1, 1}, 1, 0};
    for (int64_t step = 0; step < steps; ++step) {
        actions = bytes(take(size_t(envs)), envs);
        gbx::Fault fault;
        if (on_host_step(2, 2, &grid, args.data(), &fault) != 0) {
            fprintf(stderr, "fault %d in line %d: %lld of %lld\n", fault.kind, fault.line, (long long)fault.index, (long long)fault.extent);
            return 1;
        }
        if ((step + 1) % every != 0 && step + 1 != steps)
            continue;
        for (size_t part = 0; part < shapes.size(); ++part)
            fwrite(memory[part].data(), 1, size_t(shapes[part].bytes), file);
        fwrite(rewards.data(), 4, rewards.size(), file);
        fwrite(observations.data(), 4, observations.size(), file);
    }
    return fclose(file);
}
