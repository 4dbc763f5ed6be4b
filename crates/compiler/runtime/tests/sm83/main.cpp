// Runs the kernel on cases from a file, all in one launch, as a GPU's driver would:
// `main CASES BYTES RESULT`, where BYTES is the size of a case.
#include "cases.h"
#include <stdlib.h>
#include <vector>

int main(int, char** argv)
{
    std::vector<char> cases;
    FILE* file = fopen(argv[1], "rb");
    for (char buffer[65536]; size_t got = fread(buffer, 1, sizeof buffer, file);)
        cases.insert(cases.end(), buffer, buffer + got);
    fclose(file);
    int size = atoi(argv[2]), count = int(cases.size()) / size;
    Array<char, 1> array = {cases.data(), nullptr, {count}, {size}, 1, 0}, nothing = {nullptr, nullptr, {0}, {1}, 1, 0};
    void* args[] = {&array, &nothing, &nothing};
    gbx::Grid grid = {0, count, {count, 1, 1, 1}, 1, 0};
    gbx::Fault fault;
    unsigned threads = 128, blocks = (unsigned(count) + threads - 1) / threads;
    if (on_host_run_cases(blocks, threads, &grid, args, &fault) != 0) {
        fprintf(stderr, "fault %d in line %d: %lld of %lld\n", fault.kind, fault.line, (long long)fault.index, (long long)fault.extent);
        return 1;
    }
    file = fopen(argv[3], "wb");
    fwrite(cases.data(), 1, cases.size(), file);
    return fclose(file);
}
